"""Tests of the channel that speaks ACP by itself: updates, questions, threads, and clients that are gone."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from tests.agents.langchain.recorded_updates import call_of, kinds, pieces, statuses, text
from tests.worlds import soon

from trunkline import events as ev
from trunkline.agents.langchain.channel import Channel
from trunkline.agents.langchain.own_program.run import OwnRun
from trunkline.agents.langchain.own_program.runs import OwnRuns
from trunkline.errors import TurnCancelled
from trunkline.frontends.acp.hosted import AcpHosted
from trunkline.protocols.acp import wire
from trunkline.protocols.acp.lossless import decode
from trunkline.protocols.jsonrpc import RpcError
from trunkline.questions import ClientCall, Form, Link, Permission, default_options
from trunkline.session import hosted as module
from trunkline.session.context import Decision
from trunkline.testing.recording import RecordingTransport
from trunkline.transports import sender as sender_module

CAPABLE = decode(wire.ClientCapabilities, {"elicitation": {"form": {}, "url": {}}})


THREAD: Any = {"configurable": {"thread_id": "s1"}}


def channel_on(transport: Any, client: wire.ClientCapabilities | None = None) -> Channel:
    return opened(OwnRuns(AcpHosted(client_capabilities=client), transport))


def opened(runs: OwnRuns) -> Channel:
    channel = runs.open(None, THREAD)
    assert channel is not None
    return channel


def run_of(channel: Channel) -> OwnRun:
    assert channel.run is not None
    return channel.run


def permission(channel: Channel, **options: Any) -> Permission:
    call_id = channel.emitter.describe(None, {"id": "c1", "name": "write_file", "args": {"path": "a.txt"}})
    return Permission(call_id=call_id, options=default_options(), **options)


# -- saying ----------------------------------------------------------------------------------------


def test_what_an_agent_leaves_open_is_settled_when_it_ends() -> None:
    transport = RecordingTransport()
    channel = channel_on(transport)
    channel.emitter.tool_started(None, "c1", "weather", {})
    run_of(channel).end()
    assert statuses(transport, "c1") == ["pending", "in_progress", "failed"]


@pytest.mark.parametrize(
    ("outcome", "word"),
    [
        (asyncio.CancelledError(), "Cancelled: the turn was cancelled"),
        (TurnCancelled("gone"), "Cancelled: the turn was cancelled"),
        (GeneratorExit(), "Cancelled: the turn was cancelled"),
        (ValueError("no fuel"), "Failed: the turn failed: ValueError: no fuel"),
    ],
)
def test_the_reason_is_how_the_run_ended(outcome: BaseException, word: str) -> None:
    transport = RecordingTransport()
    channel = channel_on(transport)
    channel.emitter.tool_started(None, "c1", "weather", {})
    run_of(channel).end(outcome)
    assert call_of(transport, "c1")["content"][-1]["content"]["text"] == word


def test_a_tool_that_raised_is_settled_with_its_own_reason() -> None:
    transport = RecordingTransport()
    channel = channel_on(transport)
    channel.emitter.tool_started(None, "c1", "weather", {})
    channel.emitter.tool_raised(None, "c1", "OSError: no wind")
    run_of(channel).end(RuntimeError("something else"))
    assert "no wind" in str(call_of(transport, "c1")["content"])


def test_ending_twice_is_ending_once_and_nothing_is_said_after() -> None:
    transport = RecordingTransport()
    channel = channel_on(transport)
    run_of(channel).end()
    run_of(channel).end()
    run_of(channel).finish()
    run_of(channel).interrupt()
    run_of(channel).end()
    channel.emit(ev.Text(message_id="m", delta="late"))
    assert transport.emitted == []


def test_an_interrupted_turn_can_be_given_up() -> None:
    transport = RecordingTransport()
    runs = OwnRuns(AcpHosted(), transport)
    channel = opened(runs)
    channel.emitter.tool_started(None, "c1", "weather", {})
    run_of(channel).interrupt()
    run_of(channel).end()
    assert statuses(transport, "c1") == ["pending", "in_progress"]
    run_of(channel).finish()
    assert opened(runs) is not channel
    assert statuses(transport, "c1")[-1] == "failed"


def test_two_runs_of_one_session_at_once_do_not_end_each_other() -> None:
    transport = RecordingTransport()
    runs = OwnRuns(AcpHosted(), transport)
    first, second = opened(runs), opened(runs)
    first.emit(ev.Text(message_id="a", delta="one "))
    second.emit(ev.Text(message_id="b", delta="two "))
    run_of(second).end()
    first.emit(ev.Text(message_id="a", delta="three"))
    run_of(first).end()
    assert pieces(transport) == ["one ", "two ", "three"]


def test_one_handler_speaks_for_a_run() -> None:
    channel = channel_on(RecordingTransport())
    one, other = object(), object()
    assert run_of(channel).ends_by_itself
    assert run_of(channel).claim(one)
    assert run_of(channel).claim(one)
    assert not run_of(channel).claim(other)
    assert not run_of(channel).ends_by_itself
    assert run_of(channel).is_followed_by(one)


def test_what_cannot_be_encoded_is_logged_and_not_raised(caplog: pytest.LogCaptureFixture) -> None:
    transport = RecordingTransport()
    channel = channel_on(transport)
    channel.emit(ev.Text(message_id="m", delta="\ud800"))
    channel.emit(ev.Text(message_id="m", delta="fine"))
    assert text(transport) == "fine"
    assert len(caplog.records) == 1


# -- asking ----------------------------------------------------------------------------------------


async def test_a_permission_is_a_request_with_the_call_as_it_is_known() -> None:
    transport = RecordingTransport(permissions=["allow_always"])
    channel = channel_on(transport)
    answered = await soon(channel.ask(permission(channel)))
    assert (answered.option_kind, answered.by) == ("allow_always", "acp")
    (asked,) = transport.requested
    assert asked.params["sessionId"] == "s1"
    assert asked.params["toolCall"]["rawInput"] == {"path": "a.txt"}


async def test_arguments_are_edited_in_a_form_where_the_client_has_forms() -> None:
    transport = RecordingTransport(permissions=["reject_once"])
    edit = {"action": "accept", "content": {"choice": "trunkline:edit"}}
    transport.queue_answer("elicitation/create", edit)
    transport.queue_answer("elicitation/create", {"action": "accept", "content": {"path": "b.txt"}})
    channel = channel_on(transport, client=CAPABLE)
    answered = await soon(channel.ask(permission(channel, allows_edit=True)))
    assert answered.input == {"path": "b.txt"}


async def test_forms_and_links_are_elicited() -> None:
    transport = RecordingTransport()
    transport.queue_answer("elicitation/create", {"action": "accept", "content": {"name": "Anna"}})
    transport.queue_answer("elicitation/create", {"action": "accept"})
    channel = channel_on(transport, client=CAPABLE)
    form = Form(message="Who?", fields={"type": "object", "properties": {"name": {"type": "string"}}})
    assert (await soon(channel.ask(form))).content == {"name": "Anna"}
    assert (await soon(channel.ask(Link(url="https://example.com")))).outcome == "accepted"
    assert transport.emitted[-1].method == "elicitation/complete"


async def test_a_client_without_forms_declines_them() -> None:
    channel = channel_on(RecordingTransport())
    form = Form(fields={"type": "object", "properties": {"name": {"type": "string"}}})
    answered = await soon(channel.ask(form))
    assert (answered.outcome, answered.reason) == ("declined", "the client cannot show forms")
    call = await soon(channel.ask(ClientCall(call_id="c1", name="x")))
    assert call.outcome == "declined"


async def test_a_choice_is_a_permission_for_a_client_without_forms() -> None:
    transport = RecordingTransport(permissions=["true"])
    channel = channel_on(transport)
    form = Form(message="Go on?", fields={"type": "object", "properties": {"answer": {"type": "boolean"}}})
    assert (await soon(channel.ask(form))).content == {"answer": True}
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
        (
            {"outcome": {"outcome": "selected", "optionId": "maybe"}},
            "'maybe' that was not on offer",
        ),
        ("nonsense", "could not be asked"),
    ],
)
async def test_a_client_that_cannot_answer_declines(answer: Any, reason: str) -> None:
    transport = RecordingTransport()
    transport.queue_answer("session/request_permission", answer)
    channel = channel_on(transport)
    answered = await soon(channel.ask(permission(channel)))
    assert answered.outcome == "declined"
    assert reason in str(answered.reason)


async def test_a_client_that_cancels_cancels_the_turn() -> None:
    channel = channel_on(RecordingTransport(permissions=["cancelled"]))
    with pytest.raises(TurnCancelled):
        await soon(channel.ask(permission(channel)))


async def test_nobody_is_asked_once_the_run_is_over() -> None:
    transport = RecordingTransport(permissions=["allow_once"])
    channel = channel_on(transport)
    question = permission(channel)
    run_of(channel).end()
    with pytest.raises(TurnCancelled, match="over"):
        await soon(channel.ask(question))
    assert transport.requested == []


def test_an_always_is_remembered_by_tool_and_kind() -> None:
    channel = channel_on(RecordingTransport())
    call = {"id": "c1", "name": "write_file"}
    assert channel.decide(call, "edit", durable_key="k") is None
    channel.remember(channel.covers(call, "edit"), Decision(allowed=True, call_id="c1"))
    assert channel.decide(call, "edit", durable_key="k") is None
    channel.remember(channel.covers(call, "edit"), Decision(allowed=False, call_id="c1", always=True))
    decision = channel.decide(call, "edit", durable_key="k")
    assert decision is not None
    assert not decision
    assert decision.reason == "an earlier answer was to always refuse write_file"
    assert channel.decide(call, "execute", durable_key="k") is None


def test_an_always_for_one_command_allows_no_other() -> None:
    channel = channel_on(RecordingTransport())
    ls, rm = ({"id": "c", "name": "bash", "args": {"command": line}} for line in ("ls", "rm -rf /"))
    channel.remember(channel.covers(ls, "execute"), Decision(allowed=True, call_id="c", always=True))
    assert channel.decide(ls, "execute", durable_key="k")
    assert channel.decide(rm, "execute", durable_key="k") is None


# -- threads and loops -------------------------------------------------------------------------------


def test_a_plain_function_asks_without_a_loop() -> None:
    channel = channel_on(RecordingTransport(permissions=["allow_once"]))
    assert channel.ask_sync(permission(channel)).option_kind == "allow_once"


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
    channel = channel_on(transport)

    def work() -> ev.Answered:
        channel.emit(ev.Text(message_id="m", delta="from afar"))
        return channel.ask_sync(permission(channel))

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
        channel = channel_on(transport)
        return await channel.ask(permission(channel))

    answered = await soon(asyncio.to_thread(asyncio.run, elsewhere()))
    assert answered.option_kind == "allow_once"
    assert transport.asked_in is transport.loop


async def test_asking_like_a_plain_function_in_a_loop_says_what_to_write() -> None:
    channel = channel_on(RecordingTransport())
    with pytest.raises(RuntimeError, match="write await"):
        channel.ask_sync(permission(channel))


async def test_a_loop_that_is_blocked_is_told_apart_from_a_slow_person(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_LOOP_REPLY_WITHIN", 0.05)
    channel = channel_on(RecordingTransport(permissions=["allow_once"]))
    question = permission(channel)
    errors: list[BaseException] = []

    def work() -> None:
        try:
            channel.ask_sync(question)
        except RuntimeError as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(5)  # As invoke() does in a loop: nothing else can run meanwhile.
    assert "call ainvoke()" in str(errors[0])


async def test_what_cannot_be_sent_has_a_bound(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sender_module, "_MOST_UNSENT", 3)
    transport = RecordingTransport()
    channel = channel_on(transport)

    def work() -> None:
        for number in range(10):
            channel.emit(ev.Text(message_id="m", delta=str(number)))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(5)
    assert transport.updates == []
    await asyncio.sleep(0)
    assert pieces(transport) == ["0", "1", "2"]
    assert [one.message for one in caplog.records] == [
        "the client of session s1 cannot be told: it is too far behind"
    ]
    channel.emit(ev.Text(message_id="m", delta="again"))
    assert pieces(transport)[-1] == "again"
