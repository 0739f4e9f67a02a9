"""Listening: sockets, heads of requests that do not come, and going down in order."""

import asyncio
import contextlib
import gc
import json
import os
import resource
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import httpx
import pytest
from tests.hubs import BRISK, echo, make, soon, until
from tests.server.running_server import BEARER, SECRET, frames, run_input
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

import trunkline
from trunkline.commands import Prompt
from trunkline.errors import ConfigurationError
from trunkline.server.limits import Limits
from trunkline.server.run import bind, listen, room_for, url_of
from trunkline.server.security.origins import is_address, is_loopback

Up = tuple[str, asyncio.Event, asyncio.Task[None]]
BRIEF = Limits(head_seconds=0.2, drain_seconds=0.2)


@contextlib.asynccontextmanager
async def up(
    agent: Any = None, **options: Any
) -> AsyncGenerator[tuple[str, asyncio.Event, asyncio.Task[None]]]:
    """A server that listens until it is told to stop."""
    chosen: dict[str, Any] = {"tokens": SECRET, "settings": BRISK, "limits": BRIEF, **options}
    app = trunkline.asgi(agent or make(echo), **chosen)
    listener, ready, stop = bind("127.0.0.1", 0), asyncio.Event(), asyncio.Event()
    serving = asyncio.create_task(listen(app, listener, on_ready=ready.set, stop=stop))
    try:
        url = url_of(listener)
        await soon(ready.wait())
        yield url, stop, serving
    finally:
        stop.set()
        await soon(serving)


@pytest.mark.parametrize(
    ("host", "loopback", "address"),
    [
        ("127.0.0.1", True, True),
        ("127.9.9.9", True, True),
        ("::1", True, True),
        ("[::1]", True, True),
        ("localhost", True, False),
        ("LocalHost", True, False),
        ("0.0.0.0", False, True),
        ("::", False, True),
        ("192.168.0.1", False, True),
        ("example.org", False, False),
    ],
)
def test_what_only_this_machine_reaches(host: str, loopback: bool, address: bool) -> None:
    assert (is_loopback(host), is_address(host)) == (loopback, address)


@pytest.mark.parametrize(
    ("host", "start"),
    [("127.0.0.1", "http://127.0.0.1:"), ("0.0.0.0", "http://127.0.0.1:"), ("localhost", "http://")],
)
def test_a_socket_has_an_address_that_can_be_typed(host: str, start: str) -> None:
    with bind(host, 0) as listener:
        assert url_of(listener).startswith(start)


def has_sixth_version() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


@pytest.mark.parametrize(("host", "start"), [("::1", "http://[::1]:"), ("::", "http://[::1]:")])
def test_so_has_one_of_the_sixth_version(host: str, start: str) -> None:
    if not has_sixth_version():
        with pytest.raises(ConfigurationError, match="is no address of this machine"):
            bind(host, 0)
        return
    with bind(host, 0) as listener:
        assert url_of(listener).startswith(start)


def test_a_socket_that_cannot_be_had_is_explained() -> None:
    with bind("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError, match=f"port {port} is taken: choose another"):
            bind("127.0.0.1", port)
    with pytest.raises(ConfigurationError, match="is no address of this machine"):
        bind("192.0.2.1", 0)
    with pytest.raises(ConfigurationError, match="is no address of this machine"):
        bind("no.such.host.invalid", 0)


def test_a_port_that_needs_more_rights_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any, **options: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(socket, "create_server", refuse)
    with pytest.raises(ConfigurationError, match="port 80 needs more rights"):
        bind("127.0.0.1", 80)


async def raw(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, port = url.removeprefix("http://").split(":")
    return await asyncio.open_connection(host, int(port))


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


async def test_a_stream_and_a_socket_are_not_slow_heads() -> None:
    async with up(make(_tick)) as (url, _, _):
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


def files() -> int:
    """How many files and sockets are open, on both sides."""
    return len(os.listdir("/dev/fd"))


async def stalled(url: str, request: bytes) -> socket.socket:
    """A client that sends a request and reads nothing."""
    host, port = url.removeprefix("http://").split(":")
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.connect((host, int(port)))
    client.setblocking(False)
    await asyncio.get_running_loop().sock_sendall(client, request)
    return client


def asking(path: str, *lines: str) -> bytes:
    head = (f"GET {path} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {SECRET}", *lines)
    return "".join(f"{line}\r\n" for line in (*head, "")).encode()


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


async def flood(client: socket.socket, data: bytes) -> None:
    while True:
        await asyncio.get_running_loop().sock_sendall(client, data)


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


@contextlib.asynccontextmanager
async def line_to(url: str) -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await raw(url)
    yield reader, writer
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()


INFINITE = resource.RLIM_INFINITY


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


async def _tick(prompt: Prompt) -> AsyncIterator[str]:
    while True:
        yield "tick "
        await asyncio.sleep(0.01)


async def test_going_down_takes_nothing_new_and_ends_runs_with_their_last_event() -> None:
    async with up(make(_tick), limits=Limits(drain_seconds=0.3)) as (url, stop, serving):
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
    async with up(make(_tick), limits=Limits(drain_seconds=0.1)) as (url, stop, _):
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


def test_what_is_written_to_a_connection_is_sent_at_once() -> None:
    with bind("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname(), timeout=10):
        listener.settimeout(10)
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
