"""Turns: sloppy agents are settled, cancellation ends in time, questions suspend and resume."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import pytest
from tests.hubs import (
    BRISK,
    WAIT,
    collect,
    events_of,
    forever,
    hub_for,
    make,
    only,
    reopened,
    run_turn,
    session_for,
    soon,
    text_of,
    until,
)

from trunkline import events as ev
from trunkline.commands import Answer, Prompt
from trunkline.errors import AgentError, AlreadyAnswered, Fenced
from trunkline.folding import fold
from trunkline.grammar import Grammar
from trunkline.journal.memory import MemoryJournal
from trunkline.session.context import TurnContext
from trunkline.session.hub import Hub
from trunkline.session.session import Session

# -- sloppy agents: what each leaves open, and how it is settled ------------------------------------


async def no_terminal(prompt: Prompt) -> AsyncIterator[Any]:
    yield "done"


async def call_never_finished(prompt: Prompt) -> AsyncIterator[Any]:
    yield ev.ToolCall(call_id="c1", name="search")
    yield ev.ToolUpdate(call_id="c1", status="in_progress")
    yield "done"


async def unknown_id(prompt: Prompt) -> AsyncIterator[Any]:
    yield ev.ToolUpdate(call_id="c1", status="completed", title="Search", raw_output=1)
    yield "done"


async def duplicate_start(prompt: Prompt) -> AsyncIterator[Any]:
    yield ev.ToolCall(call_id="c1", name="search")
    yield ev.ToolCall(call_id="c1", name="search")
    yield ev.ToolUpdate(call_id="c1", status="completed")
    yield ev.ToolUpdate(call_id="c1", status="failed")
    yield "done"


async def exception_mid_text(prompt: Prompt) -> AsyncIterator[Any]:
    yield "do"
    yield ev.ToolCall(call_id="c1", name="search")
    raise ValueError("the disk caught fire")


async def yields_after_finish(prompt: Prompt) -> AsyncIterator[Any]:
    yield "done"
    yield ev.TurnFinished(stop_reason="max_tokens")
    yield "more"
    yield ev.ToolCall(call_id="c1", name="search")


async def hangs_after_finish(prompt: Prompt) -> AsyncIterator[Any]:
    yield "done"
    yield ev.TurnFinished()
    await forever()


async def fails_after_finish(prompt: Prompt) -> AsyncIterator[Any]:
    yield "done"
    yield ev.TurnFinished()
    raise ValueError("too late")


async def speaks_for_the_session(prompt: Prompt) -> AsyncIterator[Any]:
    yield ev.TurnStarted(turn_id="mine")
    yield ev.Rewound(to_message_id=None)
    yield "done"


async def lane_left_open(prompt: Prompt) -> AsyncIterator[Any]:
    yield ev.SubagentStarted(lane="helper", name="helper")
    yield ev.ToolCall(call_id="c1", name="search", lane="helper")
    yield "done"


async def says_nothing_legible(prompt: Prompt) -> AsyncIterator[Any]:
    yield ev.Custom(name="x", value=object())


async def exits(prompt: Prompt) -> AsyncIterator[Any]:
    yield "do"
    raise SystemExit(3)


async def raises_our_own(prompt: Prompt) -> AsyncIterator[Any]:
    yield "do"
    raise AgentError("the model is out of credit: top up the account")


async def wrong_patch(prompt: Prompt) -> AsyncIterator[Any]:
    yield ev.StatePatched(patch=({"op": "remove", "path": "/nothing"},))


async def cancels_itself(prompt: Prompt) -> AsyncIterator[Any]:
    yield "do"
    raise asyncio.CancelledError


FINISHED, FAILED = ("finished", "end_turn", None), "failed"
SLOPPY: list[tuple[Callable[..., Any], Any, str, dict[str, str], list[str]]] = [
    (no_terminal, FINISHED, "done", {}, []),
    (call_never_finished, FINISHED, "done", {"c1": "failed"}, ["unfinished-call"]),
    (unknown_id, FINISHED, "done", {"c1": "completed"}, ["unknown-call"]),
    (duplicate_start, FINISHED, "done", {"c1": "completed"}, ["final-status"]),
    (exception_mid_text, (FAILED, None, "agent_failed"), "do", {"c1": "failed"}, []),
    (yields_after_finish, ("finished", "max_tokens", None), "done", {}, ["after-end"]),
    (hangs_after_finish, FINISHED, "done", {}, []),
    (fails_after_finish, FINISHED, "done", {}, []),
    (speaks_for_the_session, FINISHED, "done", {}, ["foreign-turn"]),
    (lane_left_open, FINISHED, "done", {"c1": "failed"}, ["unfinished-lane", "unfinished-call"]),
    (says_nothing_legible, (FAILED, None, "agent_protocol"), "", {}, []),
    (exits, (FAILED, None, "agent_failed"), "do", {}, []),
    (raises_our_own, (FAILED, None, "agent_failed"), "do", {}, []),
    (wrong_patch, (FAILED, None, "agent_protocol"), "", {}, []),
    (cancels_itself, (FAILED, None, "agent_failed"), "do", {}, []),
]


@pytest.mark.parametrize("row", SLOPPY, ids=lambda row: row[0].__name__)
async def test_a_sloppy_agent_is_settled(
    row: tuple[Callable[..., Any], Any, str, dict[str, str], list[str]],
) -> None:
    function, outcome, text, calls, rules = row
    async with session_for(make(function, name="sloppy")) as session:
        events = await collect(session, "go")
        meant = fold(events)
        turn = meant.turns[0]
        assert (turn.status, turn.stop_reason, turn.code) == outcome
        assert text_of(events) == text
        assert {call.call_id: call.status for call in meant.calls.values()} == calls
        notices = [n for n in meant.notices if n.code == "agent_protocol"]
        assert [(n.meta or {})["rule"] for n in notices] == rules
        assert all(n.title == "sloppy broke the event rules" for n in notices)
        assert len(only(events, ev.TurnFinished)) + len(only(events, ev.TurnFailed)) == 1
        legal = Grammar("sloppy")
        assert [out for event in events for out in legal.feed(event)] == events
        assert text_of(await collect(session, "the next prompt works")) == text


async def test_a_failure_names_the_error_and_keeps_the_traceback_off_the_wire(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.ERROR, "trunkline.agent")
    async with hub_for(exception_mid_text) as hub:
        events = await collect(await hub.create(), "go")
        assert only(events, ev.TurnFailed)[0].message == "ValueError: the disk caught fire"
        assert "Traceback" not in "".join(str(event) for event in events)
        assert "the disk caught fire" in caplog.text


async def test_lone_surrogates_are_replaced_because_nothing_can_carry_them() -> None:
    async def broken(prompt: Prompt) -> AsyncIterator[str]:
        yield "a\ud800b é"

    assert text_of(await run_turn(broken, "go")).endswith("b é")


# -- cancellation ------------------------------------------------------------------------------------


async def test_cancel_inside_an_awaiting_tool_settles_at_once() -> None:
    cleaned = asyncio.Event()

    async def waiting(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield "begun"
        try:
            async with ctx.tool("sleep"):
                await forever()
        finally:
            cleaned.set()

    async with session_for(waiting) as session:
        async with session.follow() as reader:
            await session.prompt("go")
            while not any(isinstance(e.event, ev.ToolUpdate) for e in await soon(reader.next())):
                pass
            before = time.monotonic()
            assert await soon(session.cancel(by="ann"))
            assert time.monotonic() - before < 5
        assert cleaned.is_set()
        meant = await session.history()
        assert [call.status for call in meant.calls.values()] == ["cancelled"]
        assert meant.turns[0].stop_reason == "cancelled"


async def test_an_agent_that_ignores_cancel_is_detached_and_its_later_events_are_dropped() -> None:
    release = asyncio.Event()
    stubborn_contexts: list[TurnContext] = []

    async def stubborn(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        stubborn_contexts.append(ctx)
        yield "begun"
        if len(stubborn_contexts) > 1:
            return
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        yield "too late"

    async with session_for(stubborn, detach_after=0.05) as session:
        await session.prompt("go")
        await asyncio.sleep(0)
        assert await soon(session.cancel())
        events = await collect(session, "again")
        assert text_of(events) == "begun"
        release.set()
        stubborn_contexts[0].emit("much too late")
        await asyncio.sleep(0.02)
        everything = await events_of(session)
        assert "late" not in text_of(everything)
        assert [end.stop_reason for end in only(everything, ev.TurnFinished)] == ["cancelled", "end_turn"]


async def test_cancelling_twice_is_cancelling_once() -> None:
    async def waiting(prompt: Prompt) -> AsyncIterator[str]:
        yield "begun"
        await forever()

    async with session_for(waiting) as session:
        await session.prompt("go")
        answers = await asyncio.gather(session.cancel(), session.cancel(), session.cancel())
        assert answers[0] is True
        assert len(only(await events_of(session), ev.TurnFinished)) == 1


async def test_closing_the_hub_cancels_what_runs(journal: MemoryJournal) -> None:
    async def waiting(prompt: Prompt) -> AsyncIterator[str]:
        yield "begun"
        await forever()

    async with session_for(waiting, journal=journal) as session:
        await session.prompt("go")
    async with reopened(session.session_id, waiting, journal=journal) as again:
        assert (await again.history()).turns[0].stop_reason == "cancelled"


# -- questions ---------------------------------------------------------------------------------------


async def ask_two(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
    first, second = await asyncio.gather(
        ctx.permission("Read?", tool="read", kind="read", group="g"),
        ctx.permission("Write?", tool="write", kind="edit", group="g"),
    )
    yield f"{bool(first)} {bool(second)}"


def allow(question_id: str, by: str = "ann") -> Answer:
    return Answer(question_id=question_id, option_id="allow_once", by=by)


def refuse(question_id: str, by: str = "ann") -> Answer:
    return Answer(question_id=question_id, option_id="reject_once", by=by)


async def test_parallel_questions_are_suspended_together_and_answered_together() -> None:
    async with session_for(ask_two) as session:

        async def decide(event: ev.TurnSuspended) -> None:
            assert len(event.question_ids) == 2
            await session.answer(allow(event.question_ids[0]), refuse(event.question_ids[1]))

        events = await collect(session, "go", {ev.TurnSuspended: decide})
        assert text_of(events) == "True False"
        assert len(only(events, ev.TurnSuspended)) == 1
        statuses = {call.name: call.status for call in fold(events).calls.values()}
        assert statuses == {"read": "completed", "write": "denied"}


async def test_a_partial_answer_resumes_and_suspends_again() -> None:
    async with session_for(ask_two) as session:

        async def decide(event: ev.TurnSuspended) -> None:
            await session.answer(allow(event.question_ids[0]))

        events = await collect(session, "go", {ev.TurnSuspended: decide})
        assert text_of(events) == "True True"
        assert [len(event.question_ids) for event in only(events, ev.TurnSuspended)] == [2, 1]


async def test_a_cancelled_answer_cancels_the_turn() -> None:
    async with session_for(ask_two) as session:

        async def decide(event: ev.TurnSuspended) -> None:
            await session.answer(Answer(question_id=event.question_ids[0], outcome="cancelled", by="editor"))

        events = await collect(session, "go", {ev.TurnSuspended: decide})
        assert only(events, ev.TurnFinished)[0].stop_reason == "cancelled"
        assert {answer.outcome for answer in only(events, ev.Answered)} == {"cancelled"}


async def test_a_question_that_expires_is_refused_and_the_turn_goes_on() -> None:
    async with hub_for(ask_two, question_ttl=0.05) as hub:
        events = await collect(await hub.create(), "go")
        assert text_of(events) == "False False"
        assert {(a.option_kind, a.by) for a in only(events, ev.Answered)} == {("reject_once", "trunkline")}


async def test_a_question_that_expires_without_followers_cancels_the_turn() -> None:
    async with session_for(ask_two, question_ttl=0.02) as session:
        await session.prompt("go")
        await until(lambda: not session.busy)
        assert only(await events_of(session), ev.TurnFinished)[0].stop_reason == "cancelled"


# -- durable questions -------------------------------------------------------------------------------


class Durable:
    """An agent whose questions survive a restart."""

    def __init__(self) -> None:
        self.card = make(ask_two, name="durable").card
        self.resumed_with: list[dict[str, str | None]] = []

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield "asking "
        await asyncio.gather(*(ctx.permission(key, tool=key, durable_key=key) for key in ("one", "two")))
        yield "answered live"

    async def resume(self, answers: Mapping[str, ev.Answered], ctx: TurnContext) -> AsyncIterator[Any]:
        self.resumed_with.append({key: answer.option_kind for key, answer in answers.items()})
        for call_id in ("c1", "c2"):
            yield ev.ToolUpdate(call_id=f"{ctx.turn_id}.{call_id}", status="completed")
        yield "resumed"


async def suspend(hub: Hub) -> tuple[Session, tuple[str, ...]]:
    session = await hub.create()
    async with session.follow() as reader:
        await session.prompt("go")
        while True:
            for entry in await soon(reader.next()):
                if isinstance(entry.event, ev.TurnSuspended):
                    await session.durable()
                    return session, entry.event.question_ids


@pytest.mark.parametrize("died", [False, True], ids=["closed", "died"])
async def test_a_turn_whose_questions_are_durable_waits_for_the_next_process(
    died: bool, journal: MemoryJournal
) -> None:
    first = Hub(Durable(), journal, settings=BRISK)
    session, questions = await suspend(first)
    if not died:
        await first.close()
    agent = Durable()
    async with reopened(session.session_id, agent, journal=journal) as again:
        if died:
            await until_owned(again)
        else:
            assert await again.own()
        assert again.busy
        async with again.follow() as reader:
            await again.answer(allow(questions[0]))
            assert not agent.resumed_with, "one answer of two is not enough"
            await again.answer(refuse(questions[1]))
            events: list[Any] = []
            while not only(events, ev.TurnFinished):
                events += [entry.event for entry in await soon(reader.next())]
        assert agent.resumed_with == [{"one": "allow_once", "two": "reject_once"}]
        assert text_of(events) == "resumed"
        assert [turn.status for turn in (await again.history()).turns] == ["finished"]
    if died:
        session.fail(Fenced("the test ends"))


async def test_nobody_waits_for_a_turn_that_the_next_process_goes_on_with(journal: MemoryJournal) -> None:
    hub = Hub(Durable(), journal, settings=BRISK)
    session, _ = await suspend(hub)
    await hub.close()
    waits = asyncio.create_task(session.wait_for_ending_turn())
    assert session.turn is None, "the loop of who waits would never give way"
    await soon(waits)
    await soon(session.wait_until_idle())


async def until_owned(session: Session) -> None:
    async with asyncio.timeout(WAIT):
        while not await session.own():
            await asyncio.sleep(0.01)


async def test_a_sleeping_turn_can_be_cancelled(journal: MemoryJournal) -> None:
    first = Hub(Durable(), journal, settings=BRISK)
    session, _ = await suspend(first)
    await first.close()
    async with reopened(session.session_id, Durable(), journal=journal) as again:
        assert await soon(again.cancel())
        assert (await again.history()).turns[0].stop_reason == "cancelled"


async def test_a_turn_with_a_question_that_is_not_durable_is_interrupted_by_a_death(
    journal: MemoryJournal,
) -> None:
    dead = Hub(make(ask_two), journal, settings=BRISK)
    session, questions = await suspend(dead)
    async with reopened(session.session_id, ask_two, journal=journal) as again:
        await until_owned(again)
        meant = await again.history()
        assert (meant.turns[0].status, meant.turns[0].code) == ("failed", "interrupted")
        assert {q.answered.outcome for q in meant.questions.values() if q.answered} == {"cancelled"}
        with pytest.raises(AlreadyAnswered):
            await again.answer(allow(questions[0]))
    session.fail(Fenced("the test ends"))


async def test_a_turn_cancelled_before_its_task_took_a_step_settles_at_once() -> None:
    async def never_reached(prompt: Prompt) -> AsyncIterator[Any]:
        yield "too late"

    async with session_for(never_reached, detach_after=60.0) as session:
        await session.own()

        def cancel() -> None:
            assert session.turn is not None
            session.turn.cancel("tester")

        def begun(turn_id: str, seq: int) -> None:
            asyncio.get_running_loop().call_soon(cancel)

        # Called before the turn's task is made, so before its first step.
        session.event_stream.on_turn_started = begun
        await soon(session.prompt("go"), within=5.0)
        await soon(session.wait_for_ending_turn(), within=5.0)
        events = await events_of(session)
        assert [event.stop_reason for event in only(events, ev.TurnFinished)] == ["cancelled"]
        assert text_of(events) == ""


# -- agents that raise what is not expected --------------------------------------------------------


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("not even this")


@pytest.mark.parametrize("kind", [KeyboardInterrupt, GeneratorExit, BaseException, Unspeakable, SystemExit])
async def test_whatever_an_agent_raises_ends_its_turn_and_nothing_else(kind: type[BaseException]) -> None:
    async def raising(prompt: Prompt) -> AsyncIterator[str]:
        yield "begun"
        if prompt.text == "raise":
            raise kind

    async with session_for(raising) as session:
        events = await collect(session, "raise")
        failed = only(events, ev.TurnFailed)
        assert [event.code for event in failed] == ["agent_failed"]
        assert kind.__name__ in failed[0].message
        assert text_of(await collect(session, "go on")) == "begun"
