"""Tests of ACP in somebody's own program: questions as requests, threads, and event loops."""

import asyncio
import threading
from typing import Any

import pytest
from tests.agents.langchain.recorded_updates import kinds
from tests.hubs import soon

from trunkline import events as ev
from trunkline.errors import TurnCancelled
from trunkline.frontends.acp.hosted import AcpHosted
from trunkline.protocols.acp import wire
from trunkline.protocols.acp.lossless import decode
from trunkline.protocols.jsonrpc.messages import RpcError
from trunkline.questions import ClientCall, Form, Link, Permission, Question, default_options
from trunkline.session.hosted import turn as module
from trunkline.session.hosted.frontends import GivenIds
from trunkline.session.hosted.turn import HostedSession, HostedTurn
from trunkline.testing.recording import RecordingTransport

CAPABLE = decode(wire.ClientCapabilities, {"elicitation": {"form": {}, "url": {}}})


def turn_on(transport: Any, client: wire.ClientCapabilities | None = None) -> HostedTurn:
    front_end = AcpHosted(client_capabilities=client)
    return HostedSession(front_end, "s1").start(front_end.identify(transport, GivenIds("s1")))


def permission(turn: HostedTurn, **options: Any) -> Permission:
    call_id = turn.ctx.start_call("write_file", {"path": "a.txt"})
    return Permission(call_id=call_id, options=default_options(), **options)


def ask_sync(turn: HostedTurn, question: Question) -> ev.Answered:
    return turn.ctx.wait(turn.ctx.ask(question))


# -- asking ----------------------------------------------------------------------------------------


async def test_a_permission_is_a_request_with_the_call_as_it_is_known() -> None:
    transport = RecordingTransport(permissions=["allow_always"])
    turn = turn_on(transport)
    answered = await soon(turn.ctx.ask(permission(turn)))
    assert (answered.option_kind, answered.by) == ("allow_always", "acp")
    (asked,) = transport.requested
    assert asked.params["sessionId"] == "s1"
    assert asked.params["toolCall"]["rawInput"] == {"path": "a.txt"}


async def test_arguments_are_edited_in_a_form_where_the_client_has_forms() -> None:
    transport = RecordingTransport(permissions=["reject_once"])
    edit = {"action": "accept", "content": {"choice": "trunkline:edit"}}
    transport.queue_answer("elicitation/create", edit)
    transport.queue_answer("elicitation/create", {"action": "accept", "content": {"path": "b.txt"}})
    turn = turn_on(transport, client=CAPABLE)
    answered = await soon(turn.ctx.ask(permission(turn, allows_edit=True)))
    assert answered.input == {"path": "b.txt"}


async def test_forms_and_links_are_elicited() -> None:
    transport = RecordingTransport()
    transport.queue_answer("elicitation/create", {"action": "accept", "content": {"name": "Anna"}})
    transport.queue_answer("elicitation/create", {"action": "accept"})
    turn = turn_on(transport, client=CAPABLE)
    form = Form(message="Who?", fields={"type": "object", "properties": {"name": {"type": "string"}}})
    assert (await soon(turn.ctx.ask(form))).content == {"name": "Anna"}
    assert (await soon(turn.ctx.ask(Link(url="https://example.com")))).outcome == "accepted"
    assert transport.emitted[-1].method == "elicitation/complete"


async def test_a_client_without_forms_declines_them() -> None:
    turn = turn_on(RecordingTransport())
    form = Form(fields={"type": "object", "properties": {"name": {"type": "string"}}})
    answered = await soon(turn.ctx.ask(form))
    assert (answered.outcome, answered.reason) == ("declined", "the client cannot show forms")
    call = await soon(turn.ctx.ask(ClientCall(call_id="c1", name="x")))
    assert call.outcome == "declined"


async def test_a_choice_is_a_permission_for_a_client_without_forms() -> None:
    transport = RecordingTransport(permissions=["true"])
    turn = turn_on(transport)
    form = Form(message="Go on?", fields={"type": "object", "properties": {"answer": {"type": "boolean"}}})
    assert (await soon(turn.ctx.ask(form))).content == {"answer": True}
    (asked,) = transport.requested
    assert [option["name"] for option in asked.params["options"]] == ["Yes", "No"]
    card = asked.params["toolCall"]["toolCallId"]
    shown = [item.params["update"] for item in transport.emitted]
    assert [(one["sessionUpdate"], one["toolCallId"], one.get("status")) for one in shown] == [
        ("tool_call", card, "pending"),
        ("tool_call_update", card, None),
        ("tool_call_update", card, "completed"),
    ]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (RpcError(-32603, "broken"), "the client could not be asked: broken"),
        (TimeoutError(), "nobody answered in time"),
        (ConnectionError("gone"), "could not be read: gone"),
        ({"outcome": {"outcome": "selected", "optionId": "maybe"}}, "'maybe' that was not on offer"),
        ("nonsense", "could not be asked"),
    ],
)
async def test_a_client_that_cannot_answer_declines(answer: Any, reason: str) -> None:
    transport = RecordingTransport()
    transport.queue_answer("session/request_permission", answer)
    turn = turn_on(transport)
    answered = await soon(turn.ctx.ask(permission(turn)))
    assert answered.outcome == "declined"
    assert reason in str(answered.reason)


async def test_a_client_that_cancels_cancels_the_turn() -> None:
    turn = turn_on(RecordingTransport(permissions=["cancelled"]))
    with pytest.raises(TurnCancelled):
        await soon(turn.ctx.ask(permission(turn)))


async def test_nobody_is_asked_once_the_run_is_over() -> None:
    transport = RecordingTransport(permissions=["allow_once"])
    turn = turn_on(transport)
    question = permission(turn)
    turn.finish(ev.TurnFinished(turn_id=turn.turn_id))
    with pytest.raises(TurnCancelled, match="over"):
        await soon(turn.ctx.ask(question))
    assert transport.requested == []


# -- threads and loops -------------------------------------------------------------------------------


def test_a_plain_function_asks_without_a_loop() -> None:
    turn = turn_on(RecordingTransport(permissions=["allow_once"]))
    assert ask_sync(turn, permission(turn)).option_kind == "allow_once"


async def test_a_thread_speaks_and_asks_in_the_loop_of_the_transport() -> None:
    class InLoop(RecordingTransport):
        threads: set[int]

        def emit(self, method: str, params: Any = None) -> None:
            self.threads.add(threading.get_ident())
            super().emit(method, params)

        async def request(self, method: str, params: Any = None, timeout: float | None = None) -> Any:
            self.threads.add(threading.get_ident())
            return await super().request(method, params, timeout)

    transport = InLoop(permissions=["allow_once"])
    transport.threads = set()
    turn = turn_on(transport)

    def work() -> ev.Answered:
        turn.emit(ev.Text(message_id="m", delta="from afar"))
        return ask_sync(turn, permission(turn))

    answered = await soon(asyncio.to_thread(work))
    assert answered.option_kind == "allow_once"
    assert transport.threads == {threading.get_ident()}
    assert kinds(transport) == ["agent_message_chunk", "tool_call", "tool_call_update"]


async def test_a_run_in_a_loop_of_its_own_asks_in_the_loop_of_the_transport() -> None:
    class Settled(RecordingTransport):
        def __init__(self) -> None:
            super().__init__(permissions=["allow_once"])
            self.loop = asyncio.get_running_loop()
            self.asked_in: Any = None

        async def request(self, method: str, params: Any = None, timeout: float | None = None) -> Any:
            self.asked_in = asyncio.get_running_loop()
            return await super().request(method, params, timeout)

    transport = Settled()

    async def elsewhere() -> ev.Answered:
        turn = turn_on(transport)
        return await turn.ctx.ask(permission(turn))

    answered = await soon(asyncio.to_thread(asyncio.run, elsewhere()))
    assert answered.option_kind == "allow_once"
    assert transport.asked_in is transport.loop


async def test_asking_like_a_plain_function_in_a_loop_says_what_to_write() -> None:
    turn = turn_on(RecordingTransport())
    with pytest.raises(RuntimeError, match="write await"):
        ask_sync(turn, permission(turn))


async def test_a_loop_that_is_blocked_is_told_apart_from_a_slow_person(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_LOOP_REPLY_WITHIN", 0.05)
    turn = turn_on(RecordingTransport(permissions=["allow_once"]))
    question = permission(turn)
    errors: list[BaseException] = []

    def work() -> None:
        try:
            ask_sync(turn, question)
        except RuntimeError as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(5)  # As invoke() does in a loop: nothing else can run meanwhile.
    assert "call ainvoke()" in str(errors[0])
