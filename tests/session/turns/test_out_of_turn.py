"""What an agent emits between its turns, and the turns that it begins by itself."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest
from tests.hubs import collect, events_of, forever, hub_for, only, reopened, session_for, soon, text_of, until

from trunkline import events as ev
from trunkline.agents.interface import AgentCard
from trunkline.commands import Prompt
from trunkline.content import TextBlock
from trunkline.errors import AgentProtocolError, SessionBusy, SessionClosed
from trunkline.journal import open_journal
from trunkline.journal.memory import MemoryJournal
from trunkline.options import Choice, ConfigOption
from trunkline.session.context import SessionView, TurnContext

MODEL = ConfigOption(
    option_id="model",
    name="Model",
    value="a",
    category="model",
    choices=(Choice(value="a", name="A"), Choice(value="b", name="B")),
)
REVIEW = ev.CommandInfo(name="review")
OF_SESSION = [
    ev.ConfigChanged(options=(MODEL,)),
    ev.CommandsChanged(commands=(REVIEW,)),
    ev.InfoChanged(title="A title"),
    ev.ContextUsage(used=1, size=2),
    ev.Notice(title="n"),
    ev.Raw(source="peer", payload={"a": 1}),
]


class Talker:
    """Keeps its view, and says its prompt back."""

    card = AgentCard(name="talker")

    def __init__(self) -> None:
        self.gate = asyncio.Event()

    async def open_session(self, session: SessionView) -> None:
        self.view = session

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[Any]:
        yield prompt.text
        if prompt.text == "wait":
            await self.gate.wait()


class Chooser(Talker):
    """Learns its options and commands when a session is opened."""

    async def open_session(self, session: SessionView) -> None:
        await super().open_session(session)
        session.options, session.commands = (MODEL,), (REVIEW,)


async def test_events_of_the_session_are_journalled_and_shown_between_turns() -> None:
    agent = Talker()
    async with session_for(agent) as session:
        await collect(session, "hi")
        async with session.follow() as reader:
            for event in OF_SESSION:
                agent.view.emit(event)
            shown: list[ev.Event] = []
            while len(shown) < len(OF_SESSION):
                shown += [entry.event for entry in await soon(reader.next())]
        assert shown == OF_SESSION
        await session.durable()
        assert (await events_of(session))[-len(OF_SESSION) :] == OF_SESSION
        assert session.info.title == "A title"
        assert (session.view.options, session.view.commands) == ((MODEL,), (REVIEW,))


async def test_events_of_the_session_may_come_from_a_thread_and_inside_a_turn() -> None:
    agent = Talker()
    async with session_for(agent) as session:
        turn = asyncio.create_task(collect(session, "wait"))
        await until(lambda: session.busy)
        await asyncio.to_thread(agent.view.emit, OF_SESSION[4])
        agent.gate.set()
        assert OF_SESSION[4] in await soon(turn)


async def test_an_event_of_a_turn_is_refused_out_of_turn_with_the_next_step() -> None:
    agent = Talker()
    async with hub_for(agent) as hub:
        await (await hub.create()).prepare()
        with pytest.raises(AgentProtocolError, match="begin a turn with session"):
            agent.view.emit(ev.Text(message_id="m", delta="x"))
    with pytest.raises(SessionClosed):
        SessionView(session_id="s").emit(OF_SESSION[0])


async def test_news_of_a_session_that_is_being_closed_are_no_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    agent = Talker()
    async with session_for(agent) as session:
        await session.prepare()
        agent.view.emit(OF_SESSION[0])
        await session.close()
    assert not caplog.records


async def test_options_and_commands_that_opening_sets_are_those_of_the_session_in_every_process(
    tmp_path: Path,
) -> None:
    address = f"sqlite:{tmp_path}/j.db"
    journal, other = await open_journal(address), await open_journal(address)
    async with session_for(Chooser(), journal=journal, target="t", session_id="s") as session:
        await session.prepare()
        await session.durable()
        assert [type(event) for event in await events_of(session)] == [ev.ConfigChanged, ev.CommandsChanged]
        async with reopened("s", Talker(), journal=other, target="t") as seen:
            assert (seen.view.options, seen.view.commands) == ((MODEL,), (REVIEW,))
        await session.set_config("model", "b")
    async with reopened("s", Talker(), journal=other, target="t") as seen:
        assert (seen.view.config, seen.view.commands) == ({"model": "b"}, (REVIEW,))
    await journal.close()
    await other.close()


async def test_an_agent_begins_a_turn_by_itself_with_what_a_user_wrote_elsewhere() -> None:
    agent = Talker()

    async def background(ctx: TurnContext) -> AsyncIterator[Any]:
        yield ev.UserMessage(message_id="u", content=(TextBlock(text="from a terminal"),))
        yield "done"

    async with session_for(agent) as session:
        await session.prepare()
        turn_id = await agent.view.begin_turn(background)
        await soon(session.wait_until_idle())
        events = await events_of(session)
        assert only(events, ev.TurnStarted) == [ev.TurnStarted(turn_id=turn_id, by="agent")]
        assert [m.text for m in (await session.history()).messages] == ["from a terminal", "done"]
        assert not only(events, ev.Notice)
        assert text_of(await collect(session, "hi")) == "hi", "the session is free again"


async def test_a_turn_of_the_agents_own_waits_for_the_running_one_or_is_refused() -> None:
    agent = Talker()

    async def background(ctx: TurnContext) -> AsyncIterator[Any]:
        yield "later"

    async with session_for(agent) as session:
        turn = asyncio.create_task(collect(session, "wait"))
        await until(lambda: session.busy)
        with pytest.raises(SessionBusy):
            await agent.view.begin_turn(background, wait=False)
        waiting = asyncio.create_task(agent.view.begin_turn(background))
        agent.gate.set()
        await soon(turn)
        await soon(waiting)
        await soon(session.wait_until_idle())
        assert text_of(await events_of(session)) == "waitlater"


async def test_a_turn_cannot_wait_for_itself_and_a_turn_of_the_agents_own_can_be_cancelled() -> None:
    class Eager(Talker):
        async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[Any]:
            with pytest.raises(AgentProtocolError, match="its own end"):
                await ctx.session.begin_turn(self.background)
            yield "refused"

        async def background(self, ctx: TurnContext) -> AsyncIterator[Any]:
            yield "begun"
            await forever()

    agent = Eager()
    async with session_for(agent) as session:
        assert text_of(await collect(session, "go")) == "refused"
        turn_id = await agent.view.begin_turn(agent.background)
        await until(lambda: session.position.record > 4)
        assert await session.cancel(turn_id)
        assert only(await events_of(session), ev.TurnFinished)[-1].stop_reason == "cancelled"


async def test_a_function_that_returns_instead_of_yielding_begins_no_turn() -> None:
    async def returns(ctx: TurnContext) -> str:
        return "x"

    agent, run = Talker(), cast(Any, returns)
    async with session_for(agent) as session:
        await session.prepare()
        with pytest.raises(AgentProtocolError, match="let the function yield"):
            await agent.view.begin_turn(run)
        assert await events_of(session) == []


async def test_what_a_follower_emits_changes_nothing_in_its_own_view_either(journal: MemoryJournal) -> None:
    agent, other = Talker(), Talker()
    async with hub_for(agent, journal=journal) as owner, hub_for(other, journal=journal) as hub:
        session = await owner.create("s")
        await collect(session, "hi")
        follower = await hub.session("s")
        await follower.prepare()
        other.view.emit(ev.ConfigChanged(options=(MODEL,)))
        assert follower.view.options == ()
        await until(lambda: follower.idle)
        assert follower.view.options == ()
        agent.view.emit(ev.ConfigChanged(options=(MODEL,)))
        await until(lambda: follower.view.options == (MODEL,))


async def test_a_task_that_a_turn_started_begins_the_next_turn() -> None:
    class Schedules(Talker):
        async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[Any]:
            self.later = asyncio.create_task(ctx.session.begin_turn(self.background))
            await asyncio.sleep(0)
            yield "first "

        async def background(self, ctx: TurnContext) -> AsyncIterator[Any]:
            yield "second"

    agent = Schedules()
    async with session_for(agent) as session:
        await collect(session, "go")
        await soon(agent.later)
        await soon(session.wait_until_idle())
        assert text_of(await events_of(session)) == "first second"


async def test_a_closed_session_takes_neither_events_nor_turns_of_its_agent() -> None:
    agent = Talker()
    async with session_for(agent) as session:
        await session.prepare()
        await session.close()
        with pytest.raises(SessionClosed, match="is not open here"):
            agent.view.emit(OF_SESSION[4])
        with pytest.raises(SessionClosed, match="is not open here"):
            await agent.view.begin_turn(agent.run)  # pyright: ignore[reportArgumentType]
