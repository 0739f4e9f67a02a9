"""Tests of AG-UI in somebody's own program: ids, one terminal a run, and what a client lacks."""

import asyncio
from typing import Any

import pytest

from trunkline import events as ev
from trunkline.conversation import Conversation
from trunkline.errors import ConfigurationError, InvalidCommand
from trunkline.folding import fold
from trunkline.frontends.agui.decoder import read_input
from trunkline.frontends.agui.hosted import AguiHosted, AguiOutput
from trunkline.protocols.agui import wire
from trunkline.questions import Form
from trunkline.session.hosted.frontends import GivenIds, RunInfo
from trunkline.session.hosted.turn import HostedSession, HostedTurn

REQUEST = read_input(
    b'{"threadId": "t1", "runId": "r1", "messages": [{"id": "u1", "role": "user", "content": "hi"}]}'
)
WHO = ev.Asked(question_id="q1", question=Form(message="Who?", fields={"type": "object", "properties": {}}))


class Page:
    """Keeps the events that it gets."""

    def __init__(self) -> None:
        self.events: list[Any] = []

    def emit(self, event: wire.AguiEvent, /) -> None:
        self.events.append(event)

    @property
    def types(self) -> list[str]:
        return [type(event).__name__ for event in self.events]


def identify(
    front_end: AguiHosted, page: Any, request: Any = None, thread: str | None = None, run: str | None = None
) -> RunInfo:
    return front_end.identify(page, GivenIds(config_thread=thread, config_run=run, request=request))


def started(page: Page, request: Any = None) -> tuple[HostedTurn, AguiOutput]:
    front_end = AguiHosted()
    turn = HostedSession(front_end, "t1").start(identify(front_end, page, request, "t1", "r1"))
    assert isinstance(turn.output, AguiOutput)
    return turn, turn.output


def finish(turn: HostedTurn) -> None:
    turn.finish(ev.TurnFinished(turn_id=turn.turn_id))


def test_a_run_has_a_start_and_one_terminal() -> None:
    page = Page()
    turn, output = started(page)
    turn.ctx.emit("Hello")
    finish(turn)
    assert (page.types[0], page.types[-1]) == ("RunStarted", "RunFinished")
    assert not output.is_open


def test_a_suspended_turn_ends_its_run_and_goes_on_in_the_next() -> None:
    first, second = Page(), Page()
    turn, output = started(first)
    turn.suspend([WHO])
    turn.ctx.emit("between two runs")
    assert first.events[-1].outcome["type"] == "interrupt"
    assert not output.is_open
    turn.begin(identify(AguiHosted(), second, thread="t1", run="r2"))
    turn.ctx.emit("on")
    finish(turn)
    assert first.types == ["RunStarted", "RunFinished"]
    assert second.events[0].run_id == "r2"
    assert second.types[-1] == "RunFinished"


def test_the_ids_are_the_requests_before_the_configs() -> None:
    run = identify(AguiHosted(), Page(), REQUEST, "graph-thread", "config-run")
    assert (run.thread_id, run.run_id, run.graph_thread) == ("t1", "r1", "graph-thread")
    override = AguiHosted(thread_id_override="fixed", run_id_override="one")
    run = identify(override, Page(), REQUEST)
    assert (run.thread_id, run.run_id) == ("fixed", "one")
    assert identify(AguiHosted(), Page()).thread_id != identify(AguiHosted(), Page()).thread_id


@pytest.mark.parametrize("transport", [object(), None])
def test_an_object_without_emit_is_no_transport(transport: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"plain function emit.*sse_transport"):
        AguiHosted().check(transport)


@pytest.mark.parametrize(
    ("detail", "message"), [("message", "no such option"), ("none", "the request was refused")]
)
def test_a_refused_request_ends_its_run(detail: str, message: str) -> None:
    page, front_end = Page(), AguiHosted(error_detail_level=detail)
    turn = HostedSession(front_end, "t1").start(identify(front_end, page, REQUEST))
    assert isinstance(turn.output, AguiOutput)
    turn.output.refuse(InvalidCommand("no such option"))
    assert page.events[-1].message == message
    assert not turn.output.is_open


def test_an_answer_that_comes_too_late_still_finishes_its_run() -> None:
    page = Page()
    _, output = started(page, REQUEST)
    output.finish_too_late()
    assert page.events[-1].result == {"stopReason": "too_late"}


def test_a_client_is_shown_what_it_lacks_of_its_thread() -> None:
    page = Page()
    _, output = started(page, REQUEST)
    output.show_missing(Conversation())
    assert page.types == ["RunStarted"]
    earlier = fold([ev.TurnStarted(turn_id="x"), ev.Text(turn_id="x", message_id="m1", delta="Before.")])
    output.show_missing(earlier)
    shown = page.events[-1]
    assert isinstance(shown, wire.MessagesSnapshot)
    assert {message["id"] for message in shown.messages} == {"m1", "u1"}


async def test_a_client_that_leaves_cancels_the_task_that_runs_for_it() -> None:
    class Leaving(Page):
        def __init__(self) -> None:
            super().__init__()
            self.gone: Any = None

        def when_gone(self, listener: Any) -> Any:
            self.gone = listener
            return lambda: None

    page = Leaving()
    _, output = started(page)

    async def run() -> None:
        assert output.cancel_when_gone() is not None
        await asyncio.Event().wait()

    task = asyncio.create_task(run())
    await asyncio.sleep(0)
    page.gone()
    with pytest.raises(asyncio.CancelledError):
        await task
