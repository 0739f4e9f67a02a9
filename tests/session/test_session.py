"""Sessions: prompts, the busy policies, configuration, rewinding, history and following."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.hubs import (
    collect,
    echo,
    events_of,
    forever,
    hub_for,
    make,
    only,
    reopened,
    session_for,
    soon,
    text_of,
    until,
)

from trunkline import events as ev
from trunkline.agents.function import FunctionAgent
from trunkline.agents.interface import AgentCard
from trunkline.commands import DropPrompt, Prompt
from trunkline.errors import InvalidCommand, SessionBusy, SessionClosed, SessionNotFound
from trunkline.folding import fold
from trunkline.journal import SessionInfo
from trunkline.journal.memory import MemoryJournal
from trunkline.options import Choice, ConfigOption
from trunkline.session.context import SessionView, TurnContext
from trunkline.session.imported_history import import_client_history


async def block(prompt: Prompt) -> AsyncIterator[str]:
    yield "working"
    if prompt.text != "quick":
        await forever()


async def test_a_prompt_gives_one_turn_with_the_users_message_and_one_terminal() -> None:
    async with session_for() as session:
        events = await collect(session, Prompt.of("hello there", message_id="m-1"))
        assert [type(event).__name__ for event in events] == [
            "TurnStarted",
            "UserMessage",
            "Text",
            "Text",
            "TurnFinished",
        ]
        assert only(events, ev.UserMessage)[0].message_id == "m-1"
        assert text_of(events) == "hello there "
        assert fold(events) == fold(await events_of(session))


async def test_the_same_prompt_key_is_the_same_prompt() -> None:
    async with session_for() as session:
        await collect(session, Prompt.of("once", key="k"))
        first = await session.prompt(Prompt.of("once", key="k"))
        assert len(only(await events_of(session), ev.TurnStarted)) == 1
        assert first.turn_id == only(await events_of(session), ev.TurnStarted)[0].turn_id


async def test_the_same_prompt_key_is_the_same_prompt_after_a_restart(journal: MemoryJournal) -> None:
    async with session_for(journal=journal) as session:
        events = await collect(session, Prompt.of("once", key="k"))
    async with reopened(session.session_id, journal=journal) as again:
        assert (await again.prompt(Prompt.of("once", key="k"))).turn_id == events[0].turn_id
        assert not again.busy


async def test_a_second_prompt_is_rejected_while_a_turn_runs() -> None:
    async with session_for(block) as session:
        await session.prompt("first")
        with pytest.raises(SessionBusy, match="wait for it or cancel it"):
            await session.prompt("second")
        assert await soon(session.cancel())


async def test_a_queued_prompt_runs_after_the_running_one_and_is_announced() -> None:
    async with session_for(block) as session:
        async with session.follow() as reader:
            await session.prompt("first")
            waiting = await session.prompt(Prompt.of("quick", busy="queue"))
            assert waiting.turn_id is None
            assert await soon(session.cancel())
            events: list[Any] = []
            while len(only(events, ev.TurnFinished)) < 2:
                events += [entry.event for entry in await soon(reader.next())]
        assert [e.prompt_id for e in only(events, ev.PromptQueued)] == [waiting.prompt_id]
        assert [e.stop_reason for e in only(events, ev.TurnFinished)] == ["cancelled", "end_turn"]
        assert fold(events).queued == []


async def test_a_waiting_prompt_can_be_withdrawn_and_the_queue_is_bounded() -> None:
    async with session_for(block, queue_limit=1) as session:
        await session.prompt("first")
        waiting = await session.prompt(Prompt.of("quick", busy="queue"))
        with pytest.raises(SessionBusy, match="1 prompts wait"):
            await session.prompt(Prompt.of("third", busy="queue"))
        await session.submit(DropPrompt(prompt_id=waiting.prompt_id))
        with pytest.raises(InvalidCommand, match="no prompt"):
            await session.submit(DropPrompt(prompt_id=waiting.prompt_id))
        await session.cancel()
        assert only(await events_of(session), ev.PromptDropped)[0].prompt_id == waiting.prompt_id
        assert len(only(await events_of(session), ev.TurnStarted)) == 1


async def test_an_interrupting_prompt_cancels_the_running_turn_first() -> None:
    async with session_for(block) as session:
        await session.prompt("first")
        await collect(session, Prompt.of("quick", busy="interrupt"))
        ends = only(await events_of(session), ev.TurnFinished)
        assert [end.stop_reason for end in ends] == ["cancelled", "end_turn"]


async def test_a_prompt_waits_for_a_turn_that_was_cancelled_and_is_not_over_yet() -> None:
    stopping = asyncio.Event()

    async def slow_to_stop(prompt: Prompt) -> AsyncIterator[str]:
        yield "well "
        try:
            if prompt.text == "first":
                await forever()
        finally:
            stopping.set()
            await asyncio.sleep(0.05)

    async with session_for(slow_to_stop) as session:
        await session.prompt("first")
        await until(lambda: session.stored_seq > 2)
        cancelling = asyncio.create_task(session.cancel())
        await soon(stopping.wait())
        assert session.busy
        await collect(session, "second")
        assert await cancelling
        ends = only(await events_of(session), ev.TurnFinished)
        assert [end.stop_reason for end in ends] == ["cancelled", "end_turn"]


async def test_cancelling_nothing_or_another_turn_is_a_no_op() -> None:
    async with session_for(block) as session:
        assert await session.cancel() is False
        await session.prompt("first")
        assert await session.cancel("another-turn") is False
        assert session.busy
        await session.cancel()


OPTIONS = (
    ConfigOption(
        option_id="mode",
        name="Mode",
        value="ask",
        category="mode",
        choices=(Choice(value="ask", name="Ask"), Choice(value="code", name="Code")),
    ),
    ConfigOption(option_id="loud", name="Loud", value=False),
)


async def test_setting_an_option_tells_everyone_the_complete_list_and_survives_a_restart(
    journal: MemoryJournal,
) -> None:
    async def modes(prompt: Prompt, ctx: TurnContext) -> str:
        return f"{ctx.session.mode} {ctx.session.config['loud']}"

    agent = make(modes, options=OPTIONS)
    async with session_for(agent, journal=journal) as session:
        await session.set_config("mode", "code", by="me")
        await session.set_config("loud", True)
        changed = only(await events_of(session), ev.ConfigChanged)
        assert [option.value for option in changed[-1].options] == ["code", True]
        with pytest.raises(InvalidCommand, match="choose one of ask, code"):
            await session.set_config("mode", "fly")
    async with reopened(session.session_id, agent, journal=journal) as again:
        assert text_of(await collect(again, "which?")) == "code True"


async def test_an_agent_can_refuse_or_correct_an_option() -> None:
    class Picky:
        card = make(echo, options=OPTIONS).card

        def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
            return echo(prompt)

        async def set_config(
            self, session: SessionView, options: tuple[ConfigOption, ...]
        ) -> tuple[ConfigOption, ...] | None:
            if options[1].value:
                raise InvalidCommand("not so loud")
            return OPTIONS

    async with session_for(Picky()) as session:
        await session.set_config("mode", "code")
        assert session.view.mode == "ask"
        with pytest.raises(InvalidCommand, match="not so loud"):
            await session.set_config("loud", True)
        assert session.view.config == {"mode": "ask", "loud": False}


async def test_rewinding_forgets_what_came_after_and_the_agent_sees_the_shorter_history() -> None:
    async def counting(prompt: Prompt, ctx: TurnContext) -> str:
        return str(len((await ctx.history()).messages))

    async with session_for(counting) as session:
        for number in range(2):
            await collect(session, Prompt.of("hi", message_id=f"m{number}"))
        assert text_of(await collect(session, "how many?")) == "4"
        await session.rewind("m1")
        assert [m.role for m in (await session.history()).messages] == ["user", "agent", "user"]
        assert text_of(await collect(session, "how many?")) == "3"
        await session.rewind(None)
        assert (await session.history()).messages == []
        with pytest.raises(InvalidCommand, match="no message 'm1'"):
            await session.rewind("m1")
        events = await collect(session, Prompt.of("edited", message_id="m0"))
        assert only(events, ev.UserMessage)[0].message_id == "m0"


async def test_rewinding_is_refused_while_a_turn_runs_and_is_offered_to_the_agent() -> None:
    asked: list[str | None] = []

    class Rewinding:
        card = make(block).card

        def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
            return block(prompt)

        async def rewind(self, session: SessionView, to_message_id: str | None) -> None:
            asked.append(to_message_id)

    async with session_for(Rewinding()) as session:
        await session.prompt("x")
        with pytest.raises(SessionBusy, match="cancel it before"):
            await session.rewind(None)
        await session.cancel()
        await session.rewind(None)
        assert asked == [None]


async def test_a_new_session_takes_over_a_clients_history_as_untrusted() -> None:
    async with session_for(session_id="thread-1") as session:
        await import_client_history(
            session,
            [
                ev.UserMessage(message_id="u1", content=Prompt.of("hi").content),
                ev.Text(message_id="a1", delta="hello"),
                ev.ToolCall(call_id="c1", name="search", message_id="a1"),
                ev.ToolUpdate(call_id="c1", status="completed", raw_output="found"),
            ],
        )
        history = await session.history()
        assert [(m.role, m.text, m.trusted) for m in history.messages] == [
            ("user", "hi", False),
            ("agent", "hello", False),
        ]
        assert (history.calls["c1"].status, history.calls["c1"].trusted) == ("completed", False)
        with pytest.raises(SessionBusy, match="only a new session"):
            await import_client_history(session, [])


async def test_each_message_of_a_person_in_a_clients_history_begins_a_turn_unless_a_call_goes_on() -> None:
    async with session_for() as session:
        await import_client_history(
            session,
            [
                ev.UserMessage(message_id="u1", content=Prompt.of("one").content),
                ev.Text(message_id="a1", delta="first"),
                ev.UserMessage(message_id="u2", content=Prompt.of("two").content),
                ev.ToolCall(call_id="c1", name="search", message_id="a2"),
                ev.UserMessage(message_id="u3", content=Prompt.of("three").content),
                ev.ToolUpdate(call_id="c1", status="completed", raw_output="found"),
                ev.UserMessage(message_id="u4", content=Prompt.of("four").content),
            ],
        )
        history = await session.history()
        turns = [turn.turn_id for turn in history.turns]
        of = {message.message_id: turns.index(message.turn_id or "") for message in history.messages}
        assert of == {"u1": 0, "a1": 0, "u2": 1, "a2": 1, "u3": 1, "u4": 2}
        assert history.calls["c1"].raw_output == "found"


async def test_others_sessions_do_not_exist_for_a_principal() -> None:
    async with hub_for() as hub:
        mine = await hub.create(principal="ann")
        with pytest.raises(SessionNotFound):
            await hub.session(mine.session_id, principal="bob")
        assert await hub.session(mine.session_id, principal="ann") is mine
        assert await hub.list(principal="bob") == []
        assert [info.session_id for info in await hub.list(principal="ann")] == [mine.session_id]


async def test_a_session_opens_again_when_whoever_closed_it_was_cancelled() -> None:
    async with hub_for(block) as hub:
        for ticks in range(12):
            session = await hub.create(f"s{ticks}")
            await session.prompt("go")
            closing = asyncio.create_task(session.close())
            for _ in range(ticks):
                await asyncio.sleep(0)
            closing.cancel()
            await asyncio.gather(closing, return_exceptions=True)
            await soon(session.close())  # It may have been cancelled before it began.
            again = await soon(hub.session(session.session_id))
            await again.prompt("again")
            assert await soon(again.cancel())


async def test_two_who_close_a_session_at_once_both_succeed() -> None:
    async with session_for(block) as session:
        await session.prompt("go")
        await soon(asyncio.gather(session.close(), session.close()))


async def test_a_closed_session_refuses_commands_and_ends_its_readers() -> None:
    async with hub_for() as hub:
        session = await hub.create()
        reader = session.follow()
        await session.close()
        await session.close()
        with pytest.raises(SessionClosed, match="open it again"):
            await soon(reader.next())
        with pytest.raises(SessionClosed):
            await session.prompt("hello")
        again = await hub.session(session.session_id)
        assert text_of(await collect(again, "back")) == "back "


async def test_the_first_prompt_names_the_session_and_the_agent_may_rename_it() -> None:
    async def naming(prompt: Prompt, ctx: TurnContext) -> str:
        if prompt.text == "rename":
            ctx.title("A better name")
        return "ok"

    async with session_for(naming) as session:
        await collect(session, "What is the weather?\nsecond line")
        await until(lambda: session.info.title == "What is the weather?")
        await collect(session, "rename")
        assert (
            await session.hub.journal.get(session.key) or SessionInfo(principal="", session_id="")
        ).title == ("A better name")


async def test_a_turn_without_followers_is_cancelled_after_a_while() -> None:
    async with session_for(block, abandon_after=0.02) as session:
        await session.prompt("first")
        await until(lambda: not session.busy)
        assert only(await events_of(session), ev.TurnFinished)[0].stop_reason == "cancelled"


class SlowToGoBack(FunctionAgent):
    """Takes its time to forget what is taken back."""

    def __init__(self) -> None:
        super().__init__(echo, AgentCard(name="slow"))
        self.asked = asyncio.Event()
        self.may_forget = asyncio.Event()

    async def rewind(self, session: SessionView, to_message_id: str | None) -> None:
        self.asked.set()
        await self.may_forget.wait()


async def test_a_prompt_waits_for_a_rewind_instead_of_being_taken_back_with_it() -> None:
    agent = SlowToGoBack()
    async with session_for(agent) as session:
        await collect(session, "first")
        going_back = asyncio.create_task(session.rewind(None))
        await soon(agent.asked.wait())
        prompting = asyncio.create_task(collect(session, "second"))
        await asyncio.wait({prompting}, timeout=0.05)
        agent.may_forget.set()
        await soon(going_back)
        await soon(prompting)
        kept = await session.history()
    assert [message.text for message in kept.messages] == ["second", "second "]
