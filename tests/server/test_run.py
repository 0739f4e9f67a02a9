"""Listening: sockets, heads of requests that do not come, and going down in order."""

import asyncio
import contextlib
import gc
import json
import socket
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from tests.hubs import echo, make, soon, until
from tests.server.listening_server import asking, files, raw, stalled, tick, up
from tests.server.running_server import BEARER, SECRET, frames, run_input
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

import trunkline
from trunkline.commands import Prompt
from trunkline.server.limits import Limits
from trunkline.server.listening_socket import bind
from trunkline.server.run import listen


@pytest.mark.parametrize("token", [SECRET, "x" * 32])
async def test_who_closes_after_a_refused_body_reads_the_refusal(token: str) -> None:
    body, status = b" " * 20_000_000, 413 if token == SECRET else 401
    async with up(limits=Limits()) as (url, _, _):
        for version in ("1.0", "1.1"):
            reader, writer = await raw(url)
            writer.write(
                f"POST /sessions HTTP/{version}\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
                "Connection: close\r\n\r\n".encode()
                + body
            )
            await soon(writer.drain())
            assert f" {status} ".encode() in await soon(reader.readline())
            assert b'"message"' in await soon(reader.read())
            writer.close()


async def test_a_refused_body_that_does_not_come_is_not_waited_for() -> None:
    async with up() as (url, _, _):
        reader, writer = await raw(url)
        writer.write(
            b"POST /sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\nConnection: close\r\n\r\n"
        )
        assert b" 401 " in await soon(reader.read(), 5.0)
        writer.close()


async def test_who_does_not_read_does_not_hold_up_the_end(caplog: pytest.LogCaptureFixture) -> None:
    async def babble(prompt: Prompt) -> AsyncIterator[str]:
        while True:
            yield "x" * 10_000
            await asyncio.sleep(0)

    async with up(make(babble)) as (url, stop, serving):
        body = json.dumps(run_input()).encode()
        lines = ("Content-Type: application/json", f"Content-Length: {len(body)}")
        request = asking("/agui", *lines).replace(b"GET", b"POST") + body
        gc.collect()  # What an earlier test left would be closed at any time.
        before = files()
        with await stalled(url, request):
            await until(lambda: files() == before + 2)
            stop.set()
            await soon(serving)
    assert [record.message for record in caplog.records if record.levelname == "ERROR"] == []


async def test_frames_are_not_compressed() -> None:
    async with up() as (url, _, _):
        place = url.removeprefix("http")
        async with connect(f"ws{place}/agui/ws", additional_headers=BEARER) as socket:
            assert socket.protocol.extensions == []


async def test_going_down_takes_nothing_new_and_ends_runs_with_their_last_event() -> None:
    async with up(make(tick), limits=Limits(drain_seconds=0.3)) as (url, stop, serving):
        async with (
            httpx.AsyncClient(headers=BEARER) as client,
            client.stream("POST", f"{url}/agui", json=run_input()) as response,
        ):
            events = frames(response)
            assert (await soon(anext(events)))[1]["type"] == "RUN_STARTED"
            stop.set()
            last = [event async for _, event in events][-1]
        assert last["outcome"] == {"type": "cancelled"}
        await soon(serving)
        with pytest.raises(ConnectionRefusedError):
            await raw(url)


async def test_a_socket_gets_the_last_event_of_its_run_too() -> None:
    async with up(make(tick), limits=Limits(drain_seconds=0.1)) as (url, stop, _):
        async with connect(f"ws{url.removeprefix('http')}/agui/ws", additional_headers=BEARER) as websocket:
            await websocket.send(json.dumps(run_input()))
            await soon(websocket.recv())
            stop.set()
            output = list[Any]()
            with contextlib.suppress(ConnectionClosed):
                while True:
                    output.append(json.loads(await soon(websocket.recv())))
            assert websocket.close_code == 1012
        assert output[-1]["outcome"] == {"type": "cancelled"}


async def test_an_idle_server_goes_down_at_once() -> None:
    async with up(limits=Limits(drain_seconds=60)) as (_, stop, serving):
        stop.set()
        await soon(serving, 5.0)


async def test_a_journal_that_cannot_be_opened_is_said_before_anything_listens() -> None:
    app = trunkline.asgi(make(echo), tokens=SECRET, journal="sqlite:/dev/null/journal.db")
    with bind("127.0.0.1", 0) as listener, pytest.raises(trunkline.TrunklineError):
        await listen(app, listener, on_ready=lambda: None)


def test_what_is_written_to_a_connection_is_sent_at_once() -> None:
    with bind("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname(), timeout=10):
        listener.settimeout(10)
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
