"""The AG-UI table: kept by our own server, and each fault of a broken stream is found."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.faults.servers import SECRET, serving
from trunkline.conformance.agui.kit import TABLE, AguiKit, Prompts
from trunkline.conformance.agui.run import REQUIREMENTS, judge
from trunkline.conformance.table import Verdict

JsonObject = dict[str, Any]
Change = Callable[[list[JsonObject]], list[JsonObject]]
PROMPTS = Prompts("/text", "/tools", "/permission", "/wait-for-cancel")


def test_our_own_server_keeps_every_requirement(tmp_path: Path) -> None:
    with serving(tmp_path, "demo") as server:
        url = f"http://127.0.0.1:{server.port}/agui"
        verdicts = judge(url, PROMPTS, headers={"authorization": f"Bearer {SECRET}"})
    assert {name: verdict for name, verdict in verdicts.items() if verdict.outcome == "fail"} == {}
    assert [name for name, verdict in verdicts.items() if verdict.outcome == "skip"] == [
        "AGUI-REASONING-001",
        "AGUI-STATE-001",
    ]


# -- each check can fail ---------------------------------------------------------------------------


def story(body: JsonObject) -> list[JsonObject]:
    """A good run that calls a tool, thinks, changes the state and answers."""
    ids = {"threadId": body["threadId"], "runId": body["runId"]}
    call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a":1}'}}
    user = body["messages"]
    events: list[JsonObject] = [
        {"type": "RUN_STARTED", **ids, "protocolVersion": "1.0"},
        {"type": "STEP_STARTED", "stepName": "s"},
        {"type": "REASONING_START", "messageId": "r1"},
        {"type": "REASONING_MESSAGE_START", "messageId": "r1", "role": "reasoning"},
        {"type": "REASONING_MESSAGE_CONTENT", "messageId": "r1", "delta": "hm"},
        {"type": "REASONING_MESSAGE_END", "messageId": "r1"},
        {"type": "REASONING_END", "messageId": "r1"},
        {"type": "STATE_SNAPSHOT", "snapshot": {"n": 1}},
        {"type": "STATE_DELTA", "delta": [{"op": "replace", "path": "/n", "value": 2}]},
        {"type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "add", "parentMessageId": "m0"},
        {"type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": '{"a":'},
        {"type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": "1}"},
        {"type": "TOOL_CALL_END", "toolCallId": "c1"},
        {"type": "TOOL_CALL_RESULT", "messageId": "t1", "toolCallId": "c1", "content": "2", "role": "tool"},
        {"type": "TEXT_MESSAGE_START", "messageId": "m1", "role": "assistant"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m1", "delta": "two"},
        {"type": "TEXT_MESSAGE_END", "messageId": "m1"},
        {
            "type": "MESSAGES_SNAPSHOT",
            "messages": [
                *user,
                {"id": "m0", "role": "assistant", "toolCalls": [call]},
                {"id": "t1", "role": "tool", "toolCallId": "c1", "content": "2"},
                {"id": "m1", "role": "assistant", "content": "two"},
            ],
        },
        {"type": "STEP_FINISHED", "stepName": "s"},
        {"type": "RUN_FINISHED", **ids, "outcome": {"type": "success"}},
    ]
    if user and user[-1]["content"] == "ask" and not body.get("resume"):
        interrupt = {"id": "i1", "reason": "tool_call", "message": "Really?"}
        events[-1]["outcome"] = {"type": "interrupt", "interrupts": [interrupt]}
    return [{**event, "timestamp": number} for number, event in enumerate(events)]


class BrokenServer:
    """A server whose events, status or headers are changed on their way."""

    def __init__(self, change: Change | None = None, **fields: Any) -> None:
        self.change = change
        self.fields = fields

    def __call__(self, request: httpx.Request) -> httpx.Response:
        try:
            body = json.loads(request.content)
            assert body["threadId"]
        except (ValueError, KeyError):
            return httpx.Response(self.fields.get("refusal", 422))
        events = story(body)
        if self.change is not None:
            events = self.change(events)
        data = b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in events)
        headers = {
            "content-type": "text/event-stream",
            "cache-control": "no-cache",
            "x-accel-buffering": "no",
        }
        headers |= self.fields.get("headers", {})
        cut = self.fields.get("cut", 0)
        content = self.fields.get("content", data[: len(data) - cut])
        return httpx.Response(self.fields.get("status", 200), headers=headers, content=content)


def judged(server: BrokenServer, name: str | None = None) -> dict[str, Verdict]:
    kit = AguiKit("http://test/", {}, 5.0, httpx.MockTransport(server))
    kit.prompts = Prompts("hello", "tool", "ask", "wait")
    try:
        return TABLE.judge(kit, None if name is None else {name})
    finally:
        kit.close()


def without(kind: str) -> Change:
    return lambda events: [event for event in events if event["type"] != kind]


def twice(kind: str) -> Change:
    return lambda events: [one for event in events for one in [event] * (1 + (event["type"] == kind))]


def changed(kind: str, **fields: Any) -> Change:
    return lambda events: [event | fields if event["type"] == kind else event for event in events]


def dropping(key: str) -> Change:
    return lambda events: [{name: one for name, one in event.items() if name != key} for event in events]


FAULTS: dict[str, BrokenServer] = {
    "HTTP-001": BrokenServer(status=500),
    "HTTP-002": BrokenServer(refusal=500),
    "HTTP-003": BrokenServer(refusal=200),
    "HTTP-004": BrokenServer(headers={"x-accel-buffering": "yes"}),
    "SSE-001": BrokenServer(content=b"data: {bad\n\n"),
    "SSE-002": BrokenServer(cut=1),
    "RUN-001": BrokenServer(without("RUN_STARTED")),
    "RUN-002": BrokenServer(twice("RUN_FINISHED")),
    "RUN-003": BrokenServer(changed("RUN_FINISHED", type="RUN_ERROR", message="no")),
    "RUN-004": BrokenServer(changed("RUN_STARTED", runId="another")),
    "RUN-005": BrokenServer(changed("RUN_STARTED", protocolVersion=None)),
    "RUN-006": BrokenServer(dropping("outcome")),
    "RUN-007": BrokenServer(twice("STEP_STARTED")),
    "RUN-008": BrokenServer(without("TEXT_MESSAGE_END")),
    "EVENT-001": BrokenServer(changed("STEP_STARTED", type="STEP_SUNG")),
    "EVENT-002": BrokenServer(dropping("timestamp")),
    "TEXT-001": BrokenServer(without("TEXT_MESSAGE_START")),
    "TEXT-002": BrokenServer(without("TEXT_MESSAGE_CONTENT")),
    "REASONING-001": BrokenServer(twice("REASONING_MESSAGE_START")),
    "MESSAGES-001": BrokenServer(changed("TOOL_CALL_RESULT", toolCallId="c9")),
    "MESSAGES-002": BrokenServer(changed("TOOL_CALL_RESULT", messageId="another")),
    "THREAD-001": BrokenServer(changed("RUN_FINISHED", type="RUN_ERROR", message="no")),
    "THREAD-002": BrokenServer(without("RUN_FINISHED")),
    "TOOL-001": BrokenServer(without("TOOL_CALL_START")),
    "TOOL-002": BrokenServer(changed("TOOL_CALL_ARGS", delta="{")),
    "TOOL-003": BrokenServer(without("TOOL_CALL_ARGS")),
    "TOOL-004": BrokenServer(changed("TOOL_CALL_RESULT", toolCallId="c9")),
    "TOOL-005": BrokenServer(without("TOOL_CALL_RESULT")),
    "STATE-001": BrokenServer(changed("STATE_DELTA", delta=[{"op": "remove", "path": "/never"}])),
    "INTERRUPT-001": BrokenServer(
        lambda events: [
            event | {"outcome": {"type": "interrupt", "interrupts": [{"id": "i"}, {"id": "i"}]}}
            if "interrupt" in str(event.get("outcome"))
            else event
            for event in events
        ]
    ),
    "INTERRUPT-002": BrokenServer(changed("STEP_FINISHED", stepName="another")),
    "CANCEL-001": BrokenServer(changed("RUN_FINISHED", type="RUN_ERROR", message="busy")),
}


def test_a_good_stream_breaks_nothing() -> None:
    verdicts = judged(BrokenServer())
    assert {name: verdict for name, verdict in verdicts.items() if verdict.outcome != "pass"} == {}


def test_there_is_a_fault_for_every_requirement() -> None:
    assert {f"AGUI-{name}" for name in FAULTS} == set(REQUIREMENTS)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found(name: str) -> None:
    verdict = judged(FAULTS[name], f"AGUI-{name}")[f"AGUI-{name}"]
    assert verdict.outcome == "fail", "the check cannot fail"
    assert verdict.transcript


def test_what_no_prompt_brings_about_is_skipped() -> None:
    kit = AguiKit("http://test/", {}, 5.0, httpx.MockTransport(BrokenServer()))
    verdicts = TABLE.judge(kit, {"AGUI-TOOL-003", "AGUI-INTERRUPT-001", "AGUI-CANCEL-001"})
    assert {verdict.outcome for verdict in verdicts.values()} == {"skip"}
    kit.close()
