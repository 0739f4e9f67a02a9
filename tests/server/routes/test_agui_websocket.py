"""AG-UI over a WebSocket: run after run on one socket, cancelling, and what is refused."""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from tests.hubs import make, soon, until
from tests.server.running_server import BEARER, SECRET, run_input, served
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Subprotocol

from trunkline.commands import Prompt
from trunkline.server.app import Server
from trunkline.server.limits import Limits
from trunkline.server.security.tokens import Token


@asynccontextmanager
async def dialled(
    agent: Any = None, path: str = "/agui/ws", headers: dict[str, str] | None = None, **options: Any
) -> AsyncGenerator[tuple[Server, ClientConnection]]:
    """A socket on a server."""
    async with served(agent, **options) as (app, client):
        url = f"ws://{client.base_url.netloc.decode()}{path}"
        async with connect(url, additional_headers=headers or BEARER, max_size=None) as socket:
            yield app, socket


async def events(socket: ClientConnection) -> list[Any]:
    """The events of one run."""
    output: list[Any] = []
    while not output or output[-1]["type"] not in ("RUN_FINISHED", "RUN_ERROR"):
        output.append(json.loads(await soon(socket.recv())))
    return output


async def test_runs_follow_each_other_on_one_socket() -> None:
    async with dialled() as (_, socket):
        # The second waits until the first is over.
        await socket.send(json.dumps(run_input("/tools", run="r1")))
        await socket.send(json.dumps(run_input("/text", run="r2", thread="t2")))
        first, second = await events(socket), await events(socket)
    assert [event["runId"] for event in (first[0], first[-1])] == ["r1", "r1"]
    assert "TOOL_CALL_RESULT" in [event["type"] for event in first]
    assert second[0]["runId"] == "r2"
    assert second[-1]["outcome"] == {"type": "success"}


async def test_a_cancel_frame_stops_the_run_and_leaves_the_socket() -> None:
    async with dialled() as (_, socket):
        await socket.send('{"type": "cancel"}')
        await socket.send(json.dumps(run_input("/wait-for-cancel")))
        assert json.loads(await soon(socket.recv()))["type"] == "RUN_STARTED"
        await socket.send('{"type": "cancel"}')
        output = await events(socket)
        assert output[-1]["outcome"] == {"type": "cancelled"}
        await socket.send(json.dumps(run_input("/text", run="r2", thread="t2")))
        assert (await events(socket))[-1]["outcome"] == {"type": "success"}


async def test_a_cancel_that_comes_while_a_run_is_being_opened_counts() -> None:
    opening, may_open = asyncio.Event(), asyncio.Event()

    class Slow:
        card = make(_tick).card

        async def open_session(self, session: Any) -> None:
            opening.set()
            await may_open.wait()

        def run(self, prompt: Prompt, ctx: Any) -> AsyncIterator[str]:
            return _tick(prompt)

    async with dialled(Slow()) as (_, socket):
        await socket.send(json.dumps(run_input()))
        await soon(opening.wait())
        await socket.send('{"type":"cancel"}')
        # A frame that the server must have read before it goes on: it comes after the cancel.
        await (await socket.ping())
        may_open.set()
        assert (await events(socket))[-1]["outcome"] == {"type": "cancelled"}


async def test_what_cannot_be_run_is_a_run_error_and_the_socket_stays() -> None:
    async with dialled() as (_, socket):
        for frame in ("nonsense", "{}", "[" * 100 + "]" * 100):
            await socket.send(frame)
            output = await events(socket)
            assert output[-1]["type"] == "RUN_ERROR"
            assert output[-1]["code"] == "INVALID_INPUT"
        await socket.send(json.dumps(run_input()))
        assert (await events(socket))[-1]["type"] == "RUN_FINISHED"


async def _tick(prompt: Prompt) -> AsyncIterator[str]:
    while True:
        yield "tick "
        await asyncio.sleep(0.001)


async def test_a_socket_that_closes_ends_its_turn_at_once() -> None:
    async with served(make(_tick)) as (app, client):
        url = f"ws://{client.base_url.netloc.decode()}/agui/ws"
        async with connect(url, additional_headers=BEARER) as socket:
            await socket.send(json.dumps(run_input()))
            await soon(socket.recv())
        session = await (await app.agents.hub()).session("t1")
        await until(lambda: not session.busy, 5.0)


async def test_a_browser_brings_its_token_as_a_subprotocol_and_never_hears_it_again() -> None:
    async with served() as (_, client):
        url = f"ws://{client.base_url.netloc.decode()}/agui/ws"
        names = [Subprotocol("trunkline"), Subprotocol(f"trunkline.bearer.{SECRET}")]
        async with connect(url, subprotocols=names) as socket:
            assert socket.subprotocol == "trunkline"
            await socket.send(json.dumps(run_input()))
            assert (await events(socket))[-1]["type"] == "RUN_FINISHED"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({**BEARER, "origin": "https://evil.example"}, 403),
    ],
)
async def test_nobody_gets_a_socket_without_a_token_or_from_a_foreign_page(
    headers: dict[str, str], status: int
) -> None:
    async with served() as (_, client):
        with pytest.raises(InvalidStatus) as refused:
            await connect(
                f"ws://{client.base_url.netloc.decode()}/agui/ws", additional_headers=headers
            ).__aenter__()
    assert refused.value.response.status_code == status
    assert "error" in json.loads(refused.value.response.body)


async def test_an_agent_that_is_not_there_is_said_before_the_socket_opens() -> None:
    async with served() as (_, client):
        with pytest.raises(InvalidStatus) as refused:
            await connect(
                f"ws://{client.base_url.netloc.decode()}/agui/nobody/ws", additional_headers=BEARER
            ).__aenter__()
    assert refused.value.response.status_code == 404


async def closed(socket: ClientConnection) -> tuple[int, str]:
    """How the server closed a socket."""
    await soon(socket.wait_closed())
    return socket.close_code or 0, socket.close_reason or ""


async def test_frames_that_are_no_text_too_large_or_too_many_close_the_socket() -> None:
    async with dialled() as (_, socket):
        await socket.send(b"{}")
        assert (await closed(socket))[0] == 1003
    async with dialled(limits=Limits(body_bytes=1000)) as (_, socket):
        await socket.send("x" * 1001)
        assert (await closed(socket))[0] == 1009
    async with dialled(make(_tick), limits=Limits(waiting_frames=2)) as (_, socket):
        for number in range(5):
            await socket.send(json.dumps(run_input(run=f"r{number}")))
        assert (await closed(socket))[0] == 1008


async def test_a_socket_that_is_closed_in_the_middle_of_a_word_is_no_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def babble(prompt: Prompt) -> AsyncIterator[str]:
        while True:
            yield "tick "
            await asyncio.sleep(0)

    for _ in range(3):
        async with dialled(make(babble)) as (_, socket):
            await socket.send(json.dumps(run_input()))
            await soon(socket.recv())
            await socket.send(b"{}")
            assert (await closed(socket))[0] == 1003
    assert [record.message for record in caplog.records if record.levelname in ("ERROR", "WARNING")] == []


async def test_a_token_that_may_only_answer_may_not_cancel() -> None:
    token = Token(secret=SECRET, scopes=frozenset({"answer"}))
    async with dialled(tokens=token) as (_, socket):
        await socket.send(json.dumps(run_input()))
        assert (await events(socket))[-1]["type"] == "RUN_ERROR"
        await socket.send('{"type": "cancel"}')
        assert await closed(socket) == (1008, "this token may not cancel")


async def test_a_client_that_takes_nothing_is_dropped_and_its_run_cancelled() -> None:
    async def floods(prompt: Prompt) -> AsyncIterator[str]:
        while True:
            yield "x" * 20_000

    async with served(make(floods), limits=Limits(stall_seconds=0.2)) as (app, client):
        place = client.base_url.netloc.decode()
        small = socket.socket()
        small.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        small.connect(("127.0.0.1", int(place.partition(":")[2])))
        about: dict[str, Any] = {"additional_headers": BEARER, "max_size": None, "compression": None}
        async with connect(f"ws://{place}/agui/ws", sock=small, **about) as stalled:
            await stalled.send(json.dumps(run_input("go")))
            assert json.loads(await soon(stalled.recv()))["type"] == "RUN_STARTED"
            session = await (await app.agents.hub()).session("t1")
            await until(lambda: session.last_turn_id is not None and not session.busy, 30)
            # What waits in the buffers is never read: no handshake can end this.
            stalled.transport.abort()
