"""Tests of the transports that the factories make, over HTTP and WebSockets too."""

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

import httpx
import pytest
import websockets
from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.routing import Route, WebSocketRoute
from tests.frontends.agui.transport_events import (
    END,
    RUN,
    START,
    emit,
    events_in,
    message_events,
    read,
    text_of,
)
from tests.hubs import soon
from tests.server.running_server import listening

from trunkline.conformance.agui.event_verifier import breaches
from trunkline.errors import ConfigurationError
from trunkline.frontends import agui
from trunkline.frontends.agui import http_transport, sse_transport, websocket_transport
from trunkline.frontends.agui.buffered_transports import StreamTransport
from trunkline.protocols.agui.protobuf import MEDIA_TYPE, frame_event

# -- server-sent events --------------------------------------------------------------------------------


async def test_sse_gives_a_frame_for_each_event_and_ends_with_the_run() -> None:
    stream = sse_transport()
    emit(stream, *RUN)
    body = await read(stream)
    assert body.count(b"\n\n") == len(RUN)
    assert all(frame.startswith(b"data: {") for frame in body.split(b"\n\n")[:-1])
    assert events_in(body) == [agui.to_dict(event) for event in RUN]
    assert breaches(events_in(body)) == []
    assert not stream.is_connected()


@pytest.mark.parametrize(("factory", "sign"), [(sse_transport, b": keep-alive\n\n"), (http_transport, b"\n")])
async def test_a_silent_stream_sends_keep_alives(factory: Any, sign: bytes) -> None:
    stream = factory(keep_alive=0.1)
    pieces = aiter(stream)
    assert await soon(anext(pieces)) == sign
    emit(stream, *RUN)
    assert text_of(events_in(await soon(anext(pieces)))) == "Good morning."


@pytest.mark.parametrize("wrong", [{"keep_alive": 0}, {"high_water_mark": 0}, {"on_disconnect": "wait"}])
def test_invalid_options_are_refused(wrong: dict[str, Any]) -> None:
    for factory in (sse_transport, http_transport):
        with pytest.raises(ConfigurationError, match=next(iter(wrong))):
            factory(**wrong)


# -- over HTTP ---------------------------------------------------------------------------------------------


def streaming_app(streams: list[StreamTransport], stop: asyncio.Event) -> Starlette:
    async def answer(request: Any) -> StreamingResponse:
        stream = http_transport() if request.url.path == "/lines" else sse_transport()
        streams.append(stream)

        async def run() -> None:
            emit(stream, *RUN[:-1])
            if request.url.path == "/endless":
                try:
                    await asyncio.Event().wait()
                finally:
                    stop.set()
            stream.emit(END)

        return StreamingResponse(stream.attach(run()), media_type=stream.media_type, headers=stream.headers)

    return Starlette(
        routes=[Route(path, answer, methods=["POST"]) for path in ("/sse", "/lines", "/endless")]
    )


@pytest.fixture
async def address() -> AsyncGenerator[tuple[str, asyncio.Event]]:
    stop = asyncio.Event()
    async with listening(streaming_app([], stop)) as host:
        yield f"http://{host}", stop


async def test_ndjson_is_a_line_of_json_for_each_event(address: tuple[str, asyncio.Event]) -> None:
    async with httpx.AsyncClient(timeout=10) as client:
        response = await client.post(f"{address[0]}/lines")
    assert response.headers["content-type"] == "application/x-ndjson"
    assert response.content.endswith(b"\n")
    assert [json.loads(line) for line in response.content.splitlines()] == [agui.to_dict(one) for one in RUN]


async def test_protobuf_is_a_frame_for_each_event_and_has_no_keep_alive() -> None:
    stream = http_transport(format="protobuf", keep_alive=0.1)
    assert stream.media_type == MEDIA_TYPE
    reading = asyncio.create_task(read(stream))
    await asyncio.sleep(0.25)
    emit(stream, *RUN)
    assert await soon(reading) == b"".join([frame_event(event) for event in RUN])


def test_an_unknown_format_is_refused() -> None:
    wrong: Any = "xml"
    with pytest.raises(ConfigurationError, match="format is 'xml': give one of ndjson, protobuf"):
        http_transport(format=wrong)


async def test_sse_over_http_arrives_as_it_was_emitted(address: tuple[str, asyncio.Event]) -> None:
    async with httpx.AsyncClient(timeout=10) as client:
        response = await client.post(f"{address[0]}/sse")
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.headers["cache-control"] == "no-cache"
    assert response.headers["x-accel-buffering"] == "no"
    assert text_of(events_in(response.content)) == "Good morning."


async def test_a_client_that_hangs_up_stops_the_run(address: tuple[str, asyncio.Event]) -> None:
    async with httpx.AsyncClient(timeout=10) as client:
        async with client.stream("POST", f"{address[0]}/endless") as response:
            await anext(response.aiter_bytes())
        await soon(address[1].wait())


# -- WebSockets --------------------------------------------------------------------------------------------


async def test_websocket_sends_a_text_frame_for_each_event_of_run_after_run() -> None:
    async def serve(socket: Any) -> None:
        await socket.accept()
        transport = websocket_transport(socket)
        async for text in socket.iter_text():
            emit(transport, START, *message_events(text), END)
        await transport.disconnect()

    async with (
        listening(Starlette(routes=[WebSocketRoute("/", serve)])) as host,
        websockets.connect(f"ws://{host}/") as client,
    ):
        for word in ("one", "two"):
            await client.send(word)
            events = [json.loads(await soon(client.recv())) for _ in range(5)]
            assert text_of(events) == word
            assert breaches(events) == []


# -- names ---------------------------------------------------------------------------------------------------
