"""The slash commands of the chat itself, in a session of this process."""

import asyncio
import io
import os
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import pytest
from tests.hubs import collect, hub_for

from trunkline.agents.interface import AgentCard
from trunkline.cli.chat.client_commands import ClientCommands, Edit, GoTo, Leave, Send
from trunkline.cli.journals import NAME_KEY
from trunkline.cli.terminal.plain_screen import PlainScreen
from trunkline.commands import Prompt
from trunkline.errors import InvalidCommand
from trunkline.events import CommandInfo
from trunkline.options import Choice, ConfigOption
from trunkline.session.context import TurnContext
from trunkline.session.hub import Hub
from trunkline.session.session import Session

MODE = ConfigOption(
    option_id="mode",
    name="Mode",
    value="ask",
    category="mode",
    choices=(Choice(value="ask", name="Ask first"), Choice(value="agentic", name="Just do it")),
)
VERBOSE = ConfigOption(option_id="verbose", name="Chatter", value=False)


class Optional:
    """An agent with options and commands; it says what it was told."""

    card = AgentCard(
        name="optional",
        options=(MODE, VERBOSE),
        commands=(CommandInfo(name="tools", description="Call one"), CommandInfo(name="mode")),
    )

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield f"You said {prompt.text}."


class Bare:
    """An agent with nothing of the kind."""

    card = AgentCard(name="bare")

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield prompt.text


class Typist:
    """Types lines into the commands of a session."""

    def __init__(self, commands: ClientCommands, hub: Hub, session: Session, shown: io.StringIO) -> None:
        self.commands, self.hub, self.session, self._shown = commands, hub, session, shown

    async def read(self, line: str) -> tuple[object, str]:
        """Give what comes of a line, and what was shown."""
        start = len(self._shown.getvalue())
        async with asyncio.timeout(20):
            following = await self.commands.read(line)
        return following, self._shown.getvalue()[start:]


@asynccontextmanager
async def typist(agent: object = None) -> AsyncGenerator[Typist]:
    shown = io.StringIO()
    async with hub_for(agent or Optional()) as hub:  # type: ignore[arg-type]
        session = await hub.create(cwd=os.getcwd())
        yield Typist(ClientCommands(hub, session, PlainScreen(shown)), hub, session, shown)


@pytest.mark.parametrize(
    ("line", "sent"),
    [
        ("hello", "hello"),
        ("/tools now", "/tools now"),
        ("//mode", "/mode"),
        ("//nonsense here", "/nonsense here"),
        ("/usr/bin/python is broken", "/usr/bin/python is broken"),
        ("/ 2", "/ 2"),
    ],
)
async def test_what_is_no_command_of_the_chat_is_sent_to_the_agent(line: str, sent: str) -> None:
    async with typist() as one:
        assert await one.read(line) == (Send(sent), "")


async def test_an_unknown_command_is_refused_with_one_that_is_near() -> None:
    async with typist() as one:
        following, shown = await one.read("/tols")
        assert following is None
        assert shown == "There is no command /tols: did you mean /tools? //tols sends it as text.\n"
        following, shown = await one.read("/zzz")
        assert following is None
        assert "/help lists all" in shown


async def test_leaving_and_help() -> None:
    async with typist() as one:
        assert await one.read("/quit") == (Leave(), "")
        assert await one.read("/exit") == (Leave(), "")
        following, shown = await one.read("/help")
        assert following is None
        rows = [line for line in shown.splitlines() if line.startswith("  /")]
        assert [row.split()[0] for row in rows[:3]] == ["/tools", "//mode", "/help"]
        assert len({row.index(row.split()[1]) for row in rows if len(row.split()) > 1}) == 1


async def test_a_mode_is_listed_and_chosen_by_value_or_name() -> None:
    async with typist() as one:
        assert (await one.read("/mode"))[1] == "* ask      Ask first\n  agentic  Just do it\n"
        await one.read("/mode just DO it")
        assert one.session.view.options[0].value == "agentic"
        await one.read("/mode ask")
        assert one.session.view.options[0].value == "ask"
        with pytest.raises(InvalidCommand, match="choose one of ask, agentic"):
            await one.read("/mode wild")


async def test_an_option_is_listed_and_chosen() -> None:
    async with typist() as one:
        assert (await one.read("/option"))[1].split() == ["mode", "ask", "verbose", "off"]
        assert (await one.read("/option verbose"))[1] == "  on\n* off\n"
        await one.read("/option chatter yes")
        assert one.session.view.options[1].value is True
        with pytest.raises(InvalidCommand, match="on or off"):
            await one.read("/option verbose maybe")
        assert "there is no option 'x'; known: mode, verbose" in (await one.read("/option x y"))[1]


async def test_an_agent_without_options_says_so() -> None:
    async with typist(Bare()) as one:
        assert (await one.read("/mode"))[1] == "this agent has no modes\n"
        assert (await one.read("/option"))[1] == "this agent has no options\n"


async def test_undo_takes_the_last_prompt_back_to_edit_it() -> None:
    async with typist() as one:
        assert (await one.read("/undo"))[1] == "there is nothing to take back\n"
        await collect(one.session, "one")
        await collect(one.session, "two")
        assert (await one.read("/undo"))[0] == Edit("two")
        assert [message.text for message in (await one.session.history()).messages] == [
            "one",
            "You said one.",
        ]
        assert (await one.read("/undo"))[0] == Edit("one")
        assert (await one.session.history()).messages == []


async def test_history_shows_every_turn() -> None:
    async with typist() as one:
        for number in range(5):
            await collect(one.session, f"prompt {number}")
        shown = (await one.read("/history"))[1]
        assert [f"> prompt {number}" in shown for number in range(5)] == [True] * 5


async def test_sessions_are_listed_and_gone_to() -> None:
    async with typist() as one:
        await collect(one.session, "the first")
        following, _ = await one.read("/new")
        assert isinstance(following, GoTo)
        assert following.session.session_id != one.session.session_id
        await collect(following.session, "the second")
        shown = (await one.read("/sessions"))[1]
        assert "* sess_" in shown
        assert "the first" in shown
        assert "the second" in shown
        await one.hub.journal.keep(one.session.key, NAME_KEY, "diary")
        assert "[diary] the first" in (await one.read("/sessions"))[1]
        back, _ = await one.read(f"/sessions {following.session.session_id}")
        assert back == GoTo(following.session)
