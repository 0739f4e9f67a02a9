"""Connections: heads that do not come, clients that read nothing, and more than there is room for."""

import asyncio
import contextlib
import gc
import resource
import socket

import httpx
import pytest
from tests.hubs import make, soon, until
from tests.server.listening_server import asking, files, line_to, raw, stalled, tick, up
from tests.server.running_server import BEARER, SECRET, frames, run_input
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from trunkline.server.connections import room_for
from trunkline.server.limits import Limits

INFINITE = resource.RLIM_INFINITY


async def test_a_head_that_drips_is_given_up_and_others_are_served_meanwhile() -> None:
    async with up() as (url, _, _):
        silent, slow, kept = await raw(url), await raw(url), await raw(url)
        slow[1].write(b"GET /healthz HTTP/1.1\r\nHost: 127")
        kept[1].write(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert b"200" in await soon(kept[0].readline())
        async with httpx.AsyncClient() as client:
            assert (await client.get(f"{url}/healthz")).status_code == 200
        assert await soon(silent[0].read()) == b""
        assert await soon(slow[0].read()) == b""
        for _, writer in (silent, slow, kept):
            writer.close()


async def test_a_stream_and_a_socket_are_not_slow_heads() -> None:
    async with up(make(tick)) as (url, _, _):
        place = url.removeprefix("http")
        async with (
            connect(f"ws{place}/agui/ws", additional_headers=BEARER) as idle,
            httpx.AsyncClient(headers=BEARER) as client,
            client.stream("POST", f"{url}/agui", json=run_input()) as response,
        ):
            loop, count = asyncio.get_running_loop(), 0
            end = loop.time() + 2.5
            async for _ in frames(response):
                count += 1
                if loop.time() > end:
                    break
            await (await idle.ping())
            assert count > 10


@pytest.mark.parametrize(
    ("closing", "limits"),
    [(["Connection: close"], Limits(head_seconds=0.2)), ([], Limits(stall_seconds=0.2))],
)
async def test_a_client_that_does_not_read_its_answer_is_cut_off(closing: list[str], limits: Limits) -> None:
    async with up(limits=limits) as (url, _, _):
        gc.collect()  # What an earlier test left would be closed at any time.
        before = files()
        async with httpx.AsyncClient(headers=BEARER) as client:
            for number in range(3):
                body = run_input("x" * 3_000_000, thread="t1", run=f"r{number}")
                assert (await client.post(f"{url}/agui", json=body)).status_code == 200
        await until(lambda: files() == before)
        with await stalled(url, asking("/sessions/t1", *closing)):
            await until(lambda: files() == before + 2)
            await until(lambda: files() == before + 1)


async def test_an_upgrade_that_is_none_does_not_stay() -> None:
    async with up() as (url, _, _), line_to(url) as (reader, writer):
        lines = ("Connection: Upgrade", "Upgrade: websocket", "Content-Length: 2")
        writer.write(asking("/agui/ws", *lines) + b"{}")
        assert b" 400 " in (await soon(reader.read())).split(b"\r\n")[0]


async def test_who_pings_and_reads_nothing_is_cut_off() -> None:
    upgrade = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13")
    key = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="
    ping = b"\x89\xfd\x00\x00\x00\x00" + b"p" * 125
    async with up(limits=Limits()) as (url, _, _):
        with await stalled(url, asking("/agui/ws", *upgrade, key)) as client:
            accepted = await soon(asyncio.get_running_loop().sock_recv(client, 1000))
            assert b" 101 " in accepted.split(b"\r\n")[0]
            with pytest.raises(ConnectionError):
                await soon(flood(client, ping * 1000), 60)  # the kernel buffers megabytes of answers first


async def test_a_refused_socket_is_no_error_of_the_server(caplog: pytest.LogCaptureFixture) -> None:
    async with up() as (url, _, _):
        with pytest.raises(InvalidStatus) as refused:
            await connect(f"ws{url.removeprefix('http')}/agui/ws").__aenter__()
        assert refused.value.response.status_code == 401
    assert [record.message for record in caplog.records if record.levelname == "ERROR"] == []


async def test_connections_beyond_the_files_that_are_left_are_not_taken() -> None:
    async with up(limits=Limits(connections=16)) as (url, _, _), contextlib.AsyncExitStack() as stack:
        for _ in range(15):
            await show_token(*(await stack.enter_async_context(line_to(url))))
        reader, writer = await stack.enter_async_context(line_to(url))
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert b" 503 " in await soon(reader.readline()), "it is told"
        for reader, _ in [await stack.enter_async_context(line_to(url)) for _ in range(20)][4:]:
            with contextlib.suppress(ConnectionError):
                assert await soon(reader.read(), 5.0) == b"", "it is cut off"


async def show_token(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Ask for something as somebody who is known; the connection stays open."""
    head = f"GET /agui/capabilities HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {SECRET}\r\n\r\n"
    writer.write(head.encode())
    answer = await soon(reader.readuntil(b"\r\n\r\n"))
    assert b" 200 " in answer.split(b"\r\n")[0]
    length = next(line for line in answer.lower().split(b"\r\n") if line.startswith(b"content-length"))
    await soon(reader.readexactly(int(length.split(b":")[1])))


async def test_strangers_make_room_for_others_and_for_themselves() -> None:
    limits = Limits(connections=64, head_seconds=30)
    async with up(limits=limits) as (url, _, _), contextlib.AsyncExitStack() as stack:
        known = await stack.enter_async_context(line_to(url))
        await show_token(*known)
        crowd = [await stack.enter_async_context(line_to(url)) for _ in range(80)]
        # All of the crowd came; whoever comes now, and whoever was here, is served as ever.
        await show_token(*known)
        async with httpx.AsyncClient(base_url=url, headers=BEARER, timeout=5) as client:
            assert (await client.get("/sessions")).status_code == 200
        gone = [asyncio.create_task(reader.read()) for reader, _ in crowd[:60]]
        for one in gone:
            with contextlib.suppress(ConnectionError):
                assert await soon(one) == b"", "the oldest went first"
        await show_token(*crowd[-1])
        await show_token(*known)


@pytest.mark.parametrize("asked", [b"GET /agui/capabilities", b"GET /healthz"])
async def test_who_is_refused_or_shows_nothing_stays_a_stranger(asked: bytes) -> None:
    limits = Limits(connections=16, head_seconds=30)
    async with up(limits=limits) as (url, _, _), contextlib.AsyncExitStack() as stack:
        first = await stack.enter_async_context(line_to(url))
        first[1].write(asked + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        await soon(first[0].readuntil(b"\r\n\r\n"))
        for _ in range(4):
            await stack.enter_async_context(line_to(url))
        with contextlib.suppress(ConnectionError):
            await soon(first[0].read(), 3.0)  # Sooner than an idle connection is closed.


async def test_a_request_with_two_ends_closes_its_connection() -> None:
    async with up() as (url, _, _), line_to(url) as (reader, writer):
        head = f"POST /agui HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {SECRET}\r\n"
        ends = "Content-Type: application/json\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
        writer.write(f"{head}{ends}0\r\n\r\n".encode())
        answer = await soon(reader.read())
        assert b" 400 " in answer.split(b"\r\n")[0]
        assert b"framing" in answer


@pytest.mark.parametrize(
    ("given", "room", "taken"),
    [
        ((1024, INFINITE), 4096, (5462, INFINITE)),
        ((1024, 4096), 3072, (4096, 4096)),
        ((1024, 1024), 768, None),
        ((9999, 9999), 4096, None),
        ((INFINITE, INFINITE), 4096, None),
    ],
)
def test_there_are_files_for_the_connections(
    given: tuple[int, int], room: int, taken: tuple[int, int] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, int] | None] = [None]

    def have(kind: int) -> tuple[int, int]:
        return given

    def ask(kind: int, limits: tuple[int, int]) -> None:
        asked.append(limits)

    monkeypatch.setattr(resource, "getrlimit", have)
    monkeypatch.setattr(resource, "setrlimit", ask)
    assert room_for(4096) == room
    assert asked[-1] == taken


async def test_a_connection_without_a_request_stays_open_longer_than_that_of_a_proxy() -> None:
    assert Limits().idle_seconds > 60, "nginx, and most others, keep theirs for 60 seconds"
    async with up(limits=Limits(idle_seconds=1)) as (url, _, _):
        host, _, port = url.removeprefix("http://").partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(f"GET /healthz HTTP/1.1\r\nhost: {host}\r\n\r\n".encode())
        began = asyncio.get_running_loop().time()
        assert (await soon(reader.readline())).startswith(b"HTTP/1.1 200")
        await soon(reader.read())
        assert asyncio.get_running_loop().time() - began >= 0.9
        writer.close()


async def flood(client: socket.socket, data: bytes) -> None:
    while True:
        await asyncio.get_running_loop().sock_sendall(client, data)
