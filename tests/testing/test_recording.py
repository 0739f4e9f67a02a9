from typing import Any

import pytest

from trunkline.frontends.acp import PromptResponse
from trunkline.frontends.acp.manual import ManualConnection
from trunkline.protocols.jsonrpc.messages import Notification, Request, RpcError
from trunkline.testing import RecordingTransport

OPTIONS = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]
UPDATE: dict[str, Any] = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "hi"}}


def selected(option_id: str) -> dict[str, Any]:
    return {"outcome": {"outcome": "selected", "optionId": option_id}}


def test_it_can_do_what_the_real_one_can() -> None:
    methods = {"start", "close", "emit", "request", "read_message", "respond", "send_error"}
    assert methods <= set(dir(RecordingTransport))
    assert methods <= set(dir(ManualConnection))


async def test_what_is_emitted_is_kept_with_the_sessions_id() -> None:
    transport = RecordingTransport(session_id="s")
    await transport.start()
    transport.emit("session/update", {"update": UPDATE})
    transport.emit("_hint")
    assert transport.started
    assert transport.emitted == [
        ("session/update", {"sessionId": "s", "update": UPDATE}),
        ("_hint", {"sessionId": "s"}),
    ]
    assert transport.updates == [UPDATE]
    await transport.close()
    assert not transport.started


def test_an_update_that_is_not_legal_is_refused() -> None:
    transport = RecordingTransport()
    with pytest.raises(ValueError, match="no update 'session_started'"):
        transport.emit("session/update", {"update": {"sessionUpdate": "session_started"}})
    assert transport.emitted == []


async def test_permissions_are_answered_from_the_queue() -> None:
    transport = RecordingTransport(permissions=["allow_once", "no"])
    transport.queue_permission("cancelled")
    params = {"sessionId": "s", "toolCall": {"toolCallId": "c"}, "options": OPTIONS}
    answers = [await transport.request("session/request_permission", params) for _ in range(3)]
    assert answers == [selected("yes"), selected("no"), {"outcome": {"outcome": "cancelled"}}]
    assert len(transport.requested) == 3
    with pytest.raises(RpcError, match="no answer to session/request_permission was queued"):
        await transport.request("session/request_permission", params)


async def test_other_answers_and_errors_are_queued_by_method() -> None:
    transport = RecordingTransport()
    transport.queue_answer("fs/read_text_file", {"content": "text"})
    transport.queue_answer("fs/read_text_file", TimeoutError("too slow"))
    assert await transport.request("fs/read_text_file", {"path": "/a"}) == {"content": "text"}
    with pytest.raises(TimeoutError, match="too slow"):
        await transport.request("fs/read_text_file", {"path": "/a"}, timeout=1)


async def test_messages_are_read_and_answered_by_hand() -> None:
    transport = RecordingTransport()
    transport.queue_message(Request(0, "initialize", {"protocolVersion": 1}))
    transport.queue_message(Notification("_hint"))
    greeting = await transport.read_message()
    assert isinstance(greeting, Request)
    transport.respond(greeting.id, PromptResponse(stop_reason="end_turn"))
    transport.respond("other")
    transport.send_error(None, {"code": -32700, "message": "what?"})
    assert (await transport.read_message()).method == "_hint"
    with pytest.raises(EOFError):
        await transport.read_message()
    assert transport.answered == {0: {"stopReason": "end_turn"}, "other": {}}
    assert transport.errors == [(None, {"code": -32700, "message": "what?"})]
