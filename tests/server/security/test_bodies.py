"""Bodies: by hand and over raw sockets, too large, too slow, too deep, cut off."""

import asyncio
import itertools
import json
import sys
import time
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request
from tests.hubs import echo, make, soon
from tests.server.asgi_requests import call, scope
from tests.server.running_server import SECRET, listening, run_input, served

import trunkline
from trunkline.server.app import Server
from trunkline.server.errors import HttpError
from trunkline.server.limits import Limits
from trunkline.server.security.bodies import BodyBudget, JsonCheck, find_fault, read_body

JSON = {"content-type": "application/json"}
SMALL = Limits(body_bytes=1000, history_bytes=0, body_seconds=0.1, json_depth=10, json_values=100, messages=3)
MESSAGES = [{"id": str(number), "role": "user", "content": "hi"} for number in range(4)]


@pytest.fixture
async def app() -> AsyncGenerator[Server]:
    made = trunkline.asgi(make(echo), tokens=SECRET, limits=SMALL)
    yield made
    await made.aclose()


def depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, list):
        return 1 + max(map(depth, value), default=0)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return 0


VALUES = st.recursive(
    st.none() | st.text(alphabet='[]{}"\\ax\n'),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(alphabet='[{"\\'), inner, max_size=3),
    max_leaves=20,
)


def values(value: Any) -> int:
    if isinstance(value, dict):
        return max(len(value), 1) + sum(map(values, value.values()))  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, list):
        return max(len(value), 1) + sum(map(values, value))  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return 0


def fault(body: bytes, **limits: Any) -> str | None:
    found = find_fault(body, Limits(**limits))
    return None if found is None else found.code


@given(VALUES, st.integers(0, 6))
def test_depth_is_what_a_parser_would_find(value: Any, limit: int) -> None:
    assert fault(json.dumps(value).encode(), json_depth=limit) == ("depth" if depth(value) > limit else None)


@given(VALUES, st.integers(0, 20))
def test_values_are_counted_as_a_parser_would_find_them(value: Any, limit: int) -> None:
    expected = "too_many_values" if values(value) > limit else None
    assert fault(json.dumps(value).encode(), json_values=limit) == expected


@given(VALUES, st.integers(0, 6), st.integers(0, 20), st.lists(st.integers(0, 60)))
def test_it_is_the_same_in_pieces(value: Any, deep: int, many: int, cuts: list[int]) -> None:
    body, limits = json.dumps(value).encode(), Limits(json_depth=deep, json_values=many)
    check, found = JsonCheck(limits), None
    for start, end in itertools.pairwise([0, *sorted(cut % (len(body) + 1) for cut in cuts), len(body)]):
        found = found or check.feed(body[start:end])
    whole = find_fault(body, limits)
    # In pieces the first fault is found, of two.
    assert (found is None) is (whole is None)


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"a":' * 100_000, b"[" * 65 + b"]" * 65])
def test_a_bomb_is_deep(body: bytes) -> None:
    assert fault(body) == "depth"


@pytest.mark.parametrize(
    "body",
    [b"", b"[" * 64 + b"]" * 64, b'"' + b"[" * 1000, b"[]" * 1000, b"]" * 99, b'"' + b'\\"[' * 1000 + b'"'],
)
def test_what_only_looks_deep_is_not(body: bytes) -> None:
    assert fault(body) is None


FULL = 4 * 1024 * 1024
BODIES = {
    "brackets": b"[" * FULL,
    "empty lists": b"[" + b"[]," * (FULL // 3) + b"1]",
    "texts": b'["' + b'a","' * (FULL // 4) + b'"]',
    "quotes in a text": b'"' + b'\\"' * (FULL // 2 - 1) + b'"',
    "backslashes in a text": b'"' + b"\\\\" * (FULL // 2 - 1) + b'"',
    "as many values as may be": b"[" + b'{"a":1},' * 99_999 + b"1]",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_no_body_takes_long_to_check(body: bytes) -> None:
    began = time.thread_time()
    find_fault(body, Limits())
    # Processor time of this thread alone, and ten times of what it takes.
    assert time.thread_time() - began < 0.25


@pytest.mark.parametrize("path", ["/agui", "/copilotkit", "/sessions/t1/commands"])
async def test_a_text_that_is_no_utf_8_is_refused_everywhere(app: Server, path: str) -> None:
    body = b'{"threadId": "t1", "runId": "r1", "type": "\xff", "method": "\xff"}'
    reply = await call(app, scope(path, "POST", JSON), body)
    assert (reply.status, reply.code) == (422, "invalid_command")


@pytest.mark.parametrize(
    ("bodies", "status", "code"),
    [
        ((b"x" * 1001,), 413, "too_large"),
        ((b"x" * 500, b"x" * 501), 413, "too_large"),
        ((b"[" * 11 + b"]" * 11,), 422, "depth"),
        ((b"[" * 10 + b"]" * 10,), 422, "invalid_command"),
        ((b"[" + b"0," * 100 + b"0]",), 413, "too_many_values"),
        (
            (json.dumps({"threadId": "t", "runId": "r", "messages": MESSAGES}).encode(),),
            422,
            "invalid_command",
        ),
        ((b"{}",), 422, "invalid_command"),
        ((b"",), 422, "invalid_command"),
        ((b"\xff\xfe",), 422, "invalid_command"),
    ],
)
async def test_a_body_is_refused_with_its_reason(
    app: Server, bodies: tuple[bytes, ...], status: int, code: str
) -> None:
    reply = await call(app, scope("/agui", "POST", JSON), *bodies)
    assert (reply.status, reply.code) == (status, code)


async def test_a_body_that_says_that_it_is_too_large_is_not_read(app: Server) -> None:
    async def receive() -> Any:
        raise AssertionError("it was read")

    asked = Request(scope("/agui", "POST", {**JSON, "content-length": "1001"}), receive)
    with pytest.raises(HttpError) as refused:
        await read_body(asked, SMALL)
    assert refused.value.status == 413


async def test_a_body_that_does_not_come_is_waited_for_only_so_long() -> None:
    async def receive() -> Any:
        await asyncio.Event().wait()

    with pytest.raises(HttpError) as refused:
        await soon(read_body(Request(scope("/agui", "POST", JSON), receive), SMALL))
    assert (refused.value.status, refused.value.code) == (408, "slow")


async def test_a_body_that_is_cut_off_is_nothing() -> None:
    parts: list[Any] = [
        {"type": "http.request", "body": b"{", "more_body": True},
        {"type": "http.disconnect"},
    ]

    async def receive() -> Any:
        return parts.pop(0)

    with pytest.raises(HttpError) as refused:
        await read_body(Request(scope("/agui", "POST", JSON), receive), SMALL)
    assert (refused.value.status, refused.value.code) == (400, "truncated")


async def test_a_new_thread_takes_over_only_so_much_at_once() -> None:
    history = [{"id": str(number), "role": "assistant", "content": "hi"} for number in range(5001)]
    async with served() as (_, client):
        answer = await client.post("/agui", json=run_input(messages=[*history, MESSAGES[0]]))
        assert answer.status_code == 422
        assert "takes over at most 5000" in answer.json()["message"]


# -- over raw sockets ------------------------------------------------------------------------------


def head(place: str, *lines: str) -> bytes:
    fixed = f"POST /agui HTTP/1.1\r\nHost: {place}\r\nAuthorization: Bearer {SECRET}\r\n"
    return (
        fixed + "".join(f"{line}\r\n" for line in ("Content-Type: application/json", *lines)) + "\r\n"
    ).encode()


async def send(place: str, *pieces: bytes) -> bytes:
    """Send bytes and give what comes back until the server closes."""
    host, port = place.split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        return await soon(reader.read())
    finally:
        writer.close()


async def test_a_chunked_body_is_counted_while_it_is_read() -> None:
    app = trunkline.asgi(make(echo), tokens=SECRET, limits=SMALL)
    async with listening(app) as place:
        chunk = b"200\r\n" + b"x" * 512 + b"\r\n"
        answer = await send(place, head(place, "Transfer-Encoding: chunked", "Connection: close"), chunk * 3)
    assert b" 413 " in answer.split(b"\r\n")[0]
    assert b'"too_large"' in answer


async def test_who_sends_too_much_is_told_so_and_not_just_cut_off() -> None:
    app = trunkline.asgi(make(echo), tokens=SECRET, limits=SMALL)
    async with listening(app) as place:
        host, port = place.split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(head(place, "Content-Length: 20000000") + b"x" * 20_000_000)
        await soon(writer.drain())
        assert b" 413 " in await soon(reader.readline())
        writer.close()


async def test_a_body_that_drips_is_given_up() -> None:
    app = trunkline.asgi(make(echo), tokens=SECRET, limits=SMALL)
    async with listening(app) as place:
        answer = await send(place, head(place, "Content-Length: 500"), b"{")
    assert b" 408 " in answer.split(b"\r\n")[0]


async def test_a_client_that_leaves_before_its_body_is_whole_leaves_nothing() -> None:
    async with served() as (app, client):
        place = client.base_url.netloc.decode()
        body = json.dumps(run_input()).encode()
        host, port = place.split(":")
        _, writer = await asyncio.open_connection(host, int(port))
        writer.write(head(place, f"Content-Length: {len(body)}") + body[:-1])
        await writer.drain()
        writer.close()
        await writer.wait_closed()
        assert (await client.get("/sessions")).json() == {"sessions": []}
        await soon(app.agents.wait_for_runs(60.0), 5.0)


async def test_a_deep_body_over_the_wire_is_refused_and_the_server_lives() -> None:
    async with served() as (_, client):
        bomb = b'{"state":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
        refused = await client.post("/agui", content=bomb, headers=JSON)
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "depth")
        assert (await client.get("/healthz")).status_code == 200
    assert sys.getrecursionlimit() < 200_000


# -- history that a thread has ---------------------------------------------------------------------


PHOTOS = Limits(body_bytes=20_000, history_bytes=100_000, reading_bytes=150_000)


def photo(key: str, size: int) -> dict[str, Any]:
    source = {"type": "data", "value": "a" * size, "mimeType": "image/png"}
    return {"id": key, "role": "user", "content": [{"type": "image", "source": source}]}


def with_photos(run: str, *messages: dict[str, Any]) -> dict[str, Any]:
    return {"threadId": "t1", "runId": run, "protocolVersion": "1.0", "messages": list(messages)}


@pytest.mark.parametrize("route", ["/agui", "/copilotkit/agent/default/run", "/copilotkit"])
async def test_photos_of_earlier_messages_do_not_count(route: str) -> None:
    def body_of(expected: dict[str, Any]) -> dict[str, Any]:
        return {"method": "agent/run", "body": expected} if route == "/copilotkit" else expected

    async with served(make(echo), limits=PHOTOS) as (app, client):
        history: list[dict[str, Any]] = []
        for number in range(6):
            history.append(photo(f"u{number}", 15_000))
            answer = await client.post(route, json=body_of(with_photos(f"r{number}", *history)))
            assert answer.status_code == 200, answer.text
            assert "RUN_FINISHED" in answer.text
        large = await client.post(route, json=body_of(with_photos("r7", photo("u7", 30_000))))
        long = await client.post(route, json=body_of(with_photos("r8", *history, photo("u8", 15_000))))
        session = await (await app.agents.hub()).session("t1")
        turns = (await session.history()).turns

    assert (large.status_code, large.json()["error"]["code"]) == (413, "too_large")
    assert "that its thread does not have" in large.text
    assert (long.status_code, long.json()["error"]["code"]) == (413, "too_large")
    assert "begin a new thread" in long.text
    assert len(turns) == 6


async def test_a_new_thread_has_no_history_that_would_not_count() -> None:
    messages = [photo(f"u{number}", 15_000) for number in range(3)]
    async with served(make(echo), limits=PHOTOS) as (_, client):
        answer = await client.post("/agui", json=with_photos("r1", *messages))

    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")


async def test_what_is_read_at_once_is_bounded_for_each_principal() -> None:
    room = BodyBudget(100)
    with room.hold("me") as mine, room.hold("you") as yours:
        mine(60)
        yours(60)
        with room.hold("me") as more, pytest.raises(HttpError) as refused:
            more(60)
        assert refused.value.status == 429
        mine(40)
    with room.hold("me") as again:
        again(100)


async def test_many_bodies_at_once_of_one_principal_are_refused_and_leave_room_behind() -> None:
    async def slowly(size: int) -> tuple[int, bytes]:
        head = (
            f"POST /agui HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {SECRET}\r\n"
            f"content-type: application/json\r\ncontent-length: {size}\r\n\r\n"
        )
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(head.encode() + b" " * (size - 1))
        await writer.drain()
        await gate.wait()
        writer.write(b" ")
        line = await reader.readline()
        writer.close()
        return int(line.split()[1]), line

    gate = asyncio.Event()
    async with served(make(echo), limits=PHOTOS) as (app, client):
        host, port = client.base_url.host, client.base_url.port or 80
        first = asyncio.create_task(slowly(90_000))
        async with asyncio.timeout(20):
            while app.agents.body_budget.taken < 89_999:
                await asyncio.sleep(0.001)
        answer = await client.post("/agui", content=b" " * 90_000, headers=JSON)
        gate.set()
        status, _ = await soon(first)
        again = await client.post("/agui", content=b" " * 90_000, headers=JSON)

    assert (answer.status_code, answer.json()["error"]["code"]) == (429, "too_much_at_once")
    assert answer.headers["retry-after"] == "5"
    assert (status, again.status_code) == (422, 422)
