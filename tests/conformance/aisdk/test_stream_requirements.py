"""The AI SDK table: kept by our own server in every version, and each fault of a broken stream is found."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.faults.servers import SECRET, serving
from trunkline.conformance.aisdk.kit import TABLE, AisdkKit, Prompts
from trunkline.conformance.aisdk.run import REQUIREMENTS, judge
from trunkline.conformance.table import Verdict

Chunk = dict[str, Any]
Change = Callable[[list[Chunk]], list[Chunk]]


@pytest.mark.parametrize("version", [5, 6, 7])
def test_our_own_server_keeps_every_requirement(version: int, tmp_path: Path) -> None:
    with serving(tmp_path, "demo", "--ai-sdk", str(version)) as server:
        url = f"http://127.0.0.1:{server.port}/api/chat"
        prompts = Prompts("/text", "/tools")
        verdicts = judge(url, prompts, version=version, headers={"authorization": f"Bearer {SECRET}"})
    assert {name: verdict for name, verdict in verdicts.items() if verdict.outcome != "pass"} == {}


STORY: list[Chunk] = [
    {"type": "start", "messageId": "a1"},
    {"type": "start-step"},
    {"type": "tool-input-start", "toolCallId": "c1", "toolName": "add"},
    {"type": "tool-input-delta", "toolCallId": "c1", "inputTextDelta": '{"a":'},
    {"type": "tool-input-delta", "toolCallId": "c1", "inputTextDelta": "1}"},
    {"type": "tool-input-available", "toolCallId": "c1", "toolName": "add", "input": {"a": 1}},
    {"type": "tool-output-available", "toolCallId": "c1", "output": 2},
    {"type": "text-start", "id": "t1"},
    {"type": "text-delta", "id": "t1", "delta": "two"},
    {"type": "text-end", "id": "t1"},
    {"type": "finish-step"},
    {"type": "finish", "finishReason": "stop"},
]


class BrokenEndpoint:
    """An endpoint whose chunks, status or headers are changed on their way."""

    def __init__(self, change: Change | None = None, **fields: Any) -> None:
        self.change = change
        self.fields = fields
        self.count = 0

    def __call__(self, request: httpx.Request) -> httpx.Response:
        try:
            assert json.loads(request.content)["messages"]
        except (ValueError, KeyError):
            return httpx.Response(self.fields.get("refusal", 400))
        self.count += 1
        ids = self.fields.get("message_id") or f"a{self.count}"
        chunks = [chunk | {"messageId": ids} if chunk["type"] == "start" else chunk for chunk in STORY]
        if self.change is not None:
            chunks = self.change(chunks)
        data = b"".join(b"data: %b\n\n" % json.dumps(chunk).encode() for chunk in chunks)
        data += self.fields.get("done", b"data: [DONE]\n\n")
        headers = {
            "content-type": "text/event-stream",
            "cache-control": "no-cache",
            "x-accel-buffering": "no",
            "x-vercel-ai-ui-message-stream": "v1",
            **self.fields.get("headers", {}),
        }
        return httpx.Response(self.fields.get("status", 200), headers=headers, content=data)


def judged(server: BrokenEndpoint, name: str | None = None) -> dict[str, Verdict]:
    kit = AisdkKit("http://test/", {}, 5.0, httpx.MockTransport(server))
    kit.prompts = Prompts("hello", "tool")
    try:
        return TABLE.judge(kit, None if name is None else {name})
    finally:
        kit.close()


def without(kind: str) -> Change:
    return lambda chunks: [chunk for chunk in chunks if chunk["type"] != kind]


def twice(kind: str) -> Change:
    return lambda chunks: [one for chunk in chunks for one in [chunk] * (1 + (chunk["type"] == kind))]


def changed(kind: str, /, **fields: Any) -> Change:
    return lambda chunks: [chunk | fields if chunk["type"] == kind else chunk for chunk in chunks]


FAULTS: dict[str, BrokenEndpoint] = {
    "HTTP-001": BrokenEndpoint(status=500),
    "HTTP-002": BrokenEndpoint(refusal=500),
    "HTTP-003": BrokenEndpoint(refusal=200),
    "HEADER-001": BrokenEndpoint(headers={"x-vercel-ai-ui-message-stream": "v0"}),
    "HEADER-002": BrokenEndpoint(headers={"cache-control": "public"}),
    "SSE-001": BrokenEndpoint(done=b"data: {bad\n\ndata: [DONE]\n\n"),
    "SSE-002": BrokenEndpoint(done=b""),
    "SSE-003": BrokenEndpoint(done=b"data: [DONE]\n"),
    "CHUNK-001": BrokenEndpoint(changed("start-step", type="custom", kind="x")),
    "CHUNK-002": BrokenEndpoint(without("text-end")),
    "MESSAGE-001": BrokenEndpoint(without("start")),
    "MESSAGE-002": BrokenEndpoint(changed("start", messageId="")),
    "PART-001": BrokenEndpoint(changed("text-delta", id="t9")),
    "FINISH-001": BrokenEndpoint(twice("finish")),
    "FINISH-002": BrokenEndpoint(changed("finish", finishReason="tired")),
    "TOOL-001": BrokenEndpoint(changed("tool-input-available", input={})),
    "TOOL-002": BrokenEndpoint(changed("tool-output-available", toolCallId="c9")),
    "TOOL-003": BrokenEndpoint(without("tool-output-available")),
    "CHAT-001": BrokenEndpoint(without("finish")),
    "CHAT-002": BrokenEndpoint(changed("finish", type="error", errorText="no")),
    "CHAT-003": BrokenEndpoint(message_id="always"),
}


def test_a_good_stream_breaks_nothing() -> None:
    verdicts = judged(BrokenEndpoint())
    assert {name: verdict for name, verdict in verdicts.items() if verdict.outcome != "pass"} == {}


def test_there_is_a_fault_for_every_requirement() -> None:
    assert {f"AISDK-{name}" for name in FAULTS} == set(REQUIREMENTS)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found(name: str) -> None:
    verdict = judged(FAULTS[name], f"AISDK-{name}")[f"AISDK-{name}"]
    assert verdict.outcome == "fail", "the check cannot fail"
    assert verdict.transcript
