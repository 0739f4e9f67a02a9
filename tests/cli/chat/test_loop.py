"""Talks in this process: what goes wrong between a keyboard and an agent."""

import asyncio
import io
import os
from collections.abc import AsyncIterator, Mapping
from typing import cast

from rich.console import Console
from tests.hubs import session_for, until

from trunkline.agents.interface import Agent, AgentCard, Sayable
from trunkline.cli.chat.loop import ChatLoop
from trunkline.cli.terminal.line_input import PlainInput
from trunkline.cli.terminal.screen import Screen
from trunkline.cli.terminal.stdin_lines import StdinLines
from trunkline.commands import Prompt
from trunkline.errors import AuthenticationRequired, SessionBusy
from trunkline.events import Answered, CommandInfo, ToolUpdate, TurnSuspended
from trunkline.journal.memory import MemoryJournal
from trunkline.session.context import SessionView, TurnContext
from trunkline.session.hub import Hub
from trunkline.session.session import Session


class Guarded:
    """An agent that cannot be opened."""

    card = AgentCard(name="guarded")

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def open_session(self, session: SessionView) -> None:
        raise self.error

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield "never"


class Choosy:
    """An agent whose form wants what its fields do not say."""

    card = AgentCard(name="choosy")

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        fields = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a", "unknown"]}
        yield "declined" if await ctx.form("Fill in", fields) is None else "filled in"


class Patient:
    """An agent whose question survives its process."""

    card = AgentCard(name="patient")

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        await ctx.permission("Launch it?", tool="launch", input={"at": "noon"}, durable_key="launch")
        yield "the same process"

    async def resume(self, answers: Mapping[str, Answered], ctx: TurnContext) -> AsyncIterator[Sayable]:
        yield ToolUpdate(call_id=f"{ctx.turn_id}.c1", status="in_progress")
        yield ToolUpdate(call_id=f"{ctx.turn_id}.c1", status="completed")
        yield f"The answer was {answers['launch'].option_kind}."


class Restless:
    """An agent that has something to say by itself, and asks for it."""

    card = AgentCard(name="restless")

    async def open_session(self, session: SessionView) -> None:
        self.session = session

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield f"You said {prompt.text}."

    async def report(self, ctx: TurnContext) -> AsyncIterator[str]:
        yield "The backup is done."

    async def ask(self, ctx: TurnContext) -> AsyncIterator[str]:
        yield "allowed" if await ctx.permission("Tidy up?", tool="tidy") else "refused"


class Helpful:
    """An agent with a help of its own and a description of two lines."""

    card = AgentCard(
        name="helpful",
        description="Line one.\n  Line two.",
        commands=(CommandInfo(name="help", description="Mine"), CommandInfo(name="go", description="Go on")),
    )

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield f"You said {prompt.text}."


async def talk(agent: Agent, *typed: str) -> str:
    """Type these lines in a new session, leave, and give what was shown."""
    async with asyncio.timeout(20), session_for(agent) as session:
        return await talk_in(session, *typed)


async def talk_in(session: Session, *typed: str) -> str:
    shown = io.StringIO()
    reader, writer = os.pipe()
    os.close(writer)
    try:
        stdin = StdinLines(reader)
        stdin.type(*typed)
        assert await chat_in(session, stdin, shown).run() == 0
    finally:
        os.close(reader)
    return shown.getvalue()


def chat_in(session: Session, stdin: StdinLines, shown: io.StringIO) -> ChatLoop:
    """Make a chat that shows what it would draw on a terminal."""
    screen = Screen(Console(file=shown, width=100))
    hub = cast("Hub", session.hub)
    return ChatLoop(hub, session, PlainInput(stdin, screen), screen)


async def leave_a_question(hub: Hub) -> str:
    """Prompt and wait until somebody is asked; gives the session."""
    session = await hub.create()
    async with session.follow() as reader:
        await session.prompt("go")
        while not any(isinstance(entry.event, TurnSuspended) for entry in await reader.next()):
            pass
    return session.session_id


async def test_a_question_of_an_earlier_process_is_put_again(journal: MemoryJournal) -> None:
    async with asyncio.timeout(20):
        async with Hub(Patient(), journal) as hub:
            session_id = await leave_a_question(hub)
        async with Hub(Patient(), journal) as hub:
            shown = await talk_in(await hub.session(session_id), "a", "/quit")
    asked, answered = shown.split("a/A/r/R > ")
    assert '{"at": "noon"}' in asked
    assert "→ Launch it\n" in answered
    assert "The answer was allow_once." in answered


async def test_a_question_of_another_process_is_answered_from_here(journal: MemoryJournal) -> None:
    async with asyncio.timeout(20), Hub(Patient(), journal) as first:
        session_id = await leave_a_question(first)
        async with Hub(Patient(), journal) as second:
            shown = await talk_in(await second.session(session_id), "a", "/quit")
        assert not (await first.session(session_id)).busy
    assert "Launch it?" in shown
    assert "the same process" in shown


async def test_the_end_of_the_input_says_nothing_about_what_another_process_asks(
    journal: MemoryJournal,
) -> None:
    async with asyncio.timeout(20), Hub(Patient(), journal) as first:
        session_id = await leave_a_question(first)
        async with Hub(Patient(), journal) as second:
            shown = await talk_in(await second.session(session_id))
        assert (await first.session(session_id)).busy
    assert "Launch it?" in shown


async def test_a_login_that_no_terminal_can_do_is_only_told_of() -> None:
    shown = await talk(Guarded(AuthenticationRequired("log in with the vendor's own tool")), "hello")
    assert "log in with the vendor's own tool" in shown
    assert "How do you want to log in?" not in shown


async def test_an_error_before_the_turn_is_told_and_the_talk_goes_on() -> None:
    shown = await talk(Guarded(SessionBusy("somebody else talks")), "one", "two")
    assert shown.count("error: somebody else talks") == 2


async def test_an_answer_that_does_not_fit_is_asked_for_again() -> None:
    shown = await talk(Choosy(), "hello", "x", "-")
    assert "the form's field 'unknown' is missing" in shown
    assert shown.count("Fill in") == 2
    assert "declined" in shown


async def test_a_turn_that_the_agent_begins_is_shown_at_once_and_asks() -> None:
    agent, shown = Restless(), io.StringIO()
    reader, writer = os.pipe()
    async with asyncio.timeout(20), session_for(agent) as session:
        await session.prepare()
        chat = asyncio.create_task(chat_in(session, StdinLines(reader), shown).run())
        await until(lambda: "> " in shown.getvalue())
        await agent.session.begin_turn(agent.report)
        await until(lambda: "backup is done" in shown.getvalue())
        await agent.session.begin_turn(agent.ask)
        await until(lambda: "a/A/r/R > " in shown.getvalue())
        os.write(writer, b"a\n")
        await until(lambda: "allowed" in shown.getvalue())
        os.write(writer, b"hello\n/quit\n")
        assert await chat == 0
    os.close(writer)
    os.close(reader)
    texts = [shown.getvalue().index(text) for text in ("backup is done", "Tidy up?", "allowed", "said hello")]
    assert texts == sorted(texts)


async def test_the_help_of_an_agent_is_shown_below_the_list_of_commands() -> None:
    shown = await talk(Helpful(), "/help")
    assert "Line one.\n  Line two.\n" in shown
    assert shown.count("This list") == 1
    assert "Mine" not in shown
    assert shown.index("Leave") < shown.index("You said /help.")
