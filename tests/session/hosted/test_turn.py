"""Tests of hosted turns: what is shown, asked and settled without a hub, a journal or a loop."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest

from trunkline import events as ev
from trunkline.commands import Answer
from trunkline.content import TextBlock
from trunkline.conversation import Conversation
from trunkline.errors import TurnCancelled
from trunkline.intents import Intent
from trunkline.questions import Form
from trunkline.session.hosted.frontends import GivenIds, HostedOutput, RunInfo
from trunkline.session.hosted.turn import HostedSession, HostedTurn
from trunkline.session.permissions import Decision, ToolRequest

FORM = Form(message="Who?", fields={"type": "object", "properties": {"name": {"type": "string"}}})
YES = {"name": "Anna"}


class Output:
    """Keeps events; answers every question with the same content, or never."""

    def __init__(self, answers: bool = True) -> None:
        self.is_open = True
        self.turn_so_far = Conversation()
        self.client_tools: tuple[dict[str, Any], ...] = ()
        self.loop_elsewhere: asyncio.AbstractEventLoop | None = None
        self.shown: list[ev.AnyEvent] = []
        self.reports: list[str] = []
        self._answers = answers

    def begin(self, run: RunInfo) -> None:
        self.is_open = True

    def show(self, event: ev.AnyEvent) -> None:
        if isinstance(event, ev.Text) and event.delta == "broken":
            raise ValueError("no wire for it")
        self.shown.append(event)

    def prime(self, event: ev.AnyEvent) -> None:
        self.show(event)

    def report(self, reason: str) -> None:
        self.reports.append(reason)

    async def ask(self, asked: ev.Asked, answer: Callable[[Answer], Awaitable[None]]) -> None:
        if not self._answers:
            await asyncio.Event().wait()
        await answer(Answer(question_id=asked.question_id, outcome="accepted", content=YES))

    def read_answer(self, asked: ev.Asked, payload: Any) -> Answer:
        raise NotImplementedError

    async def ready(self) -> None:
        return None


class FrontEnd:
    """Gives each session one output."""

    step_kinds: tuple[ev.StepKind, ...] = ()
    ends_run_on_question: bool = False
    one_run_per_session: bool = False

    def __init__(self, output: Output | None = None) -> None:
        self.output = output or Output()

    def check(self, transport: Any) -> None:
        return None

    def read_request(self, input: Any) -> Any:
        return input

    def identify(self, transport: Any, given: GivenIds) -> RunInfo:
        raise NotImplementedError

    def open(self, run: RunInfo, last: HostedOutput | None) -> HostedOutput:
        return self.output

    async def connect(self, transport: Any, name: str | None) -> None:
        return None

    def intent_of(self, request: Any, thread: Conversation, questions: Mapping[str, ev.Asked]) -> Intent:
        raise NotImplementedError


def started(output: Output) -> HostedTurn:
    return HostedSession(FrontEnd(output), "t").start(run_info())


def run_info() -> RunInfo:
    return RunInfo(transport=None, session_key="t", session_name="t")


def finished(turn: HostedTurn) -> ev.TurnFinished:
    return ev.TurnFinished(turn_id=turn.turn_id)


def kinds(output: Output) -> list[str]:
    return [type(event).__name__ for event in output.shown]


def test_text_blocks_and_events_are_shown_in_order() -> None:
    output = Output()
    turn = started(output)
    turn.ctx.emit("One ")
    turn.ctx.emit(TextBlock(text="two"))
    turn.emit_text("three", "m")
    turn.finish(finished(turn))
    assert kinds(output) == ["TurnStarted", "Text", "Text", "Text", "TurnFinished"]


def test_a_call_that_is_open_ends_with_the_turn_and_nothing_follows() -> None:
    output = Output()
    turn = started(output)
    turn.ctx.start_call("search", {"for": "x"})
    turn.count(ev.TokenUsage(input_tokens=3))
    turn.finish(finished(turn))
    turn.finish(finished(turn))
    turn.ctx.emit("late")
    *_, closed, last = output.shown
    assert isinstance(closed, ev.ToolUpdate)
    assert closed.status == "failed"
    assert isinstance(last, ev.TurnFinished)
    assert [usage.input_tokens for usage in last.usage] == [3]


def test_what_cannot_be_shown_is_reported_and_the_rest_goes_on() -> None:
    output = Output()
    turn = started(output)
    turn.ctx.emit("broken")
    turn.ctx.emit("fine")
    assert output.reports == ["ValueError: no wire for it"]
    assert kinds(output) == ["TurnStarted", "Text"]


def test_between_two_runs_nothing_is_shown() -> None:
    output = Output()
    turn = started(output)
    output.is_open = False
    turn.ctx.emit("no client reads this")
    turn.finish(finished(turn))
    assert kinds(output) == ["TurnStarted"]
    assert not turn.live


async def test_a_question_is_shown_and_answered() -> None:
    output = Output()
    turn = started(output)
    assert (await turn.ctx.ask(FORM)).content == YES
    assert kinds(output) == ["TurnStarted", "Asked", "Answered"]


def test_a_plain_function_waits_for_its_answer_without_a_loop() -> None:
    turn = started(Output())
    assert turn.ctx.wait(turn.ctx.ask(FORM)).content == YES


async def test_a_plain_wait_in_a_loop_says_what_to_write() -> None:
    turn = started(Output())
    with pytest.raises(RuntimeError, match="write await"):
        turn.ctx.wait(turn.ctx.ask(FORM))


async def test_a_question_whose_caller_is_cancelled_is_withdrawn() -> None:
    output = Output(answers=False)
    turn = started(output)
    asking = asyncio.create_task(turn.ctx.ask(FORM))
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    withdrawn = output.shown[-1]
    assert isinstance(withdrawn, ev.Answered)
    assert withdrawn.outcome == "cancelled"


async def test_a_turn_that_is_over_asks_nothing() -> None:
    turn = started(Output())
    turn.finish(finished(turn))
    with pytest.raises(TurnCancelled):
        await turn.ctx.ask(FORM)


def test_the_next_turn_of_a_session_knows_its_always_and_its_memory() -> None:
    session = HostedSession(FrontEnd(), "a/b")
    first = session.start(run_info())
    request = ToolRequest(call_id="c", tool="write_file", kind="edit")
    assert first.ctx.asks_about_everything
    first.ctx.remember(first.ctx.covers(request), Decision(allowed=True, call_id="c", always=True))
    first.ctx.session.memory["seen"] = 1
    first.finish(finished(first))
    second = session.start(run_info())
    assert second.turn_id != first.turn_id
    assert second.ctx.decide(request)
    assert second.ctx.session.memory == {"seen": 1}
    assert second.ctx.session.thread_id == "a/b"


async def test_a_question_that_is_open_when_the_turn_ends_in_another_thread_is_withdrawn() -> None:
    output = Output(answers=False)
    turn = started(output)
    asking = asyncio.create_task(turn.ctx.ask(FORM))
    await asyncio.sleep(0)
    cancelled = ev.TurnFinished(turn_id=turn.turn_id, stop_reason="cancelled")
    await asyncio.to_thread(turn.finish, cancelled)
    assert kinds(output) == ["TurnStarted", "Asked", "Answered", "TurnFinished"]
    with pytest.raises(TurnCancelled, match="while a question was open"):
        await asyncio.wait_for(asking, 10)


async def test_a_question_expires_though_its_client_says_nothing() -> None:
    turn = started(Output(answers=False))
    answered = await asyncio.wait_for(turn.ctx.ask(FORM, expires_in=0), 10)
    assert answered.outcome == "expired"


def test_a_state_that_is_shared_bit_by_bit_is_whole() -> None:
    output = Output()
    turn = started(output)
    turn.ctx.state.update(one=1)
    turn.ctx.state.update(two=2)
    assert turn.ctx.state.value == {"one": 1, "two": 2}
    assert kinds(output) == ["TurnStarted", "StateReplaced", "StatePatched"]
