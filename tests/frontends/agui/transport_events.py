"""The events of a run as the tests of the transports write and read them."""

import asyncio
import json
from typing import Any

from trunkline.frontends.agui.buffered_transports import StreamTransport, WebSocketTransport
from trunkline.protocols.agui import wire

START = wire.RunStarted(thread_id="t1", run_id="r1", protocol_version="1.0")
END = wire.RunFinished(thread_id="t1", run_id="r1", outcome={"type": "success"})


def message_events(*deltas: str, message_id: str = "m1") -> list[wire.AguiEvent]:
    """A message as events."""
    pieces = [wire.TextMessageContent(message_id=message_id, delta=delta) for delta in deltas]
    return [wire.TextMessageStart(message_id=message_id), *pieces, wire.TextMessageEnd(message_id=message_id)]


RUN = [START, *message_events("Good ", "morning."), END]


def emit(transport: StreamTransport | WebSocketTransport, *events: wire.AguiEvent) -> None:
    for event in events:
        transport.emit(event)


async def read(stream: StreamTransport) -> bytes:
    """Everything a reader gets until the end."""
    async with asyncio.timeout(10):
        return b"".join([piece async for piece in stream])


def events_in(body: bytes) -> list[dict[str, Any]]:
    """The events of a body, of either kind."""
    lines = [line.removeprefix(b"data: ") for line in body.split(b"\n")]
    return [json.loads(line) for line in lines if line and not line.startswith(b":")]


def text_of(events: list[dict[str, Any]]) -> str:
    return "".join(event["delta"] for event in events if event["type"] == "TEXT_MESSAGE_CONTENT")
