"""ACP on the wire: frames and bodies that are no messages, streams, and readers that are slow."""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.hubs import BRISK, make, soon, until
from tests.server.acp_clients import (
    EVENTS,
    GREETING,
    Posting,
    agent_that_waits,
    answering,
    bearer,
    callers_of,
    calling,
    over_websocket,
    session_in,
)
from tests.server.running_server import BEARER, SECRET, listening, run_events, run_input, served
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

import trunkline
from trunkline.agents.interface import Agent
from trunkline.commands import Prompt
from trunkline.server.limits import Limits
from trunkline.server.routes.acp_connections import AcpConnection
from trunkline.server.security.tokens import Token
from trunkline.testing import ScriptedAgent

TOKENS = [
    Token(secret="the-secret-of-ada", principal="ada"),
    Token(secret="the-secret-of-bob", principal="bob"),
    Token(secret="she-only-prompts-", principal="ada", scopes=frozenset({"follow", "prompt"})),
]


@pytest.fixture
def hasty() -> Limits:
    """Clients over HTTP are gone as soon as they read nothing."""
    return Limits(away_seconds=0.4)


# -- what is not JSON-RPC --------------------------------------------------------------------------


async def test_a_frame_that_is_no_message_is_answered_and_the_next_one_counts() -> None:
    deep = b'{"jsonrpc":"2.0","method":"_x","params":{"a":' + b"[" * 100 + b"]" * 100 + b"}}"
    cases: list[tuple[str | bytes, int]] = [
        ("{", -32700),
        ("[1]", -32600),
        ("3", -32600),
        (b"{}", -32600),
        ('{"jsonrpc": "2.0", "id": 1}', -32600),
        ("x" * 2000, -32600),
        (deep.decode(), -32600),
    ]
    async with served(limits=Limits(body_bytes=1000)) as (_, client):
        url = f"ws://{client.base_url.netloc.decode()}/acp"
        async with connect(url, additional_headers=BEARER) as line:
            for frame, code in cases:
                await line.send(frame)
                assert json.loads(await soon(line.recv()))["error"]["code"] == code
            await line.send(json.dumps(GREETING, indent=2))
            assert "result" in json.loads(await soon(line.recv())), "a message may have newlines"


async def test_an_error_of_ours_ends_the_socket(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(self: AcpConnection, message: Any) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(AcpConnection, "receive", fail)
    async with served() as (app, client):
        url = f"ws://{client.base_url.netloc.decode()}/acp"
        async with connect(url, additional_headers=BEARER) as line:
            await line.send(json.dumps(GREETING))
            with pytest.raises(ConnectionClosed):
                await soon(line.recv())
        await until(lambda: not callers_of(app))
    assert "a bug" in caplog.text


async def test_a_body_that_is_no_message_is_refused_with_the_same_errors() -> None:
    cases = [("{", 400, -32700), ("3", 400, -32600), ("[1]", 501, -32600), (' [{"id": 1}]', 501, -32600)]
    async with served() as (_, client):
        for body, status, code in cases:
            answer = await client.post("/acp", content=body, headers={"content-type": "application/json"})
            assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


async def test_a_botched_answer_settles_what_waits_for_it(tmp_path: Path) -> None:
    async with served() as (_, client), Posting(client) as http:
        session_id = await http.open(tmp_path)
        async with http.stream(session_id) as messages:
            await http.post("session/prompt", session_id, 2, prompt=[{"type": "text", "text": "/permission"}])
            asked = await messages.until(calling("session/request_permission"))
            answer = await http.send({"jsonrpc": "2.0", "id": asked["id"]}, session_id)
            assert answer.status_code == 202
            done = await messages.until(answering(2))
            assert done["result"]["stopReason"] == "end_turn"
    assert not (tmp_path / "hello.txt").exists()


async def test_a_frame_of_100_mb_is_refused_by_its_head() -> None:
    app = trunkline.asgi(ScriptedAgent(), tokens=SECRET, settings=BRISK)
    async with listening(app, ws_max_size=Limits().body_bytes) as place:
        host, port = place.split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        head = f"GET /acp HTTP/1.1\r\nhost: {place}\r\nauthorization: Bearer {SECRET}\r\n"
        head += "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n"
        writer.write(f"{head}sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode())
        assert b" 101 " in await soon(reader.readuntil(b"\r\n\r\n"))
        writer.write(b"\x81\xff" + (100 << 20).to_bytes(8, "big") + b"\0\0\0\0" + b"x" * 100)
        closing = await soon(reader.read(4))
        assert closing[:1] == b"\x88"
        assert int.from_bytes(closing[2:4], "big") == 1009
        writer.close()
        await writer.wait_closed()


# -- streamable HTTP -------------------------------------------------------------------------------


async def test_requests_that_do_not_belong_anywhere_are_refused() -> None:
    async with served(tokens=TOKENS) as (_, client):
        client.headers.update(bearer("the-secret-of-ada"))
        prompt = {"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": {"sessionId": "s"}}
        assert (await client.post("/acp", json=prompt)).status_code == 400
        assert (await client.get("/acp", headers=EVENTS)).status_code == 400
        assert (await client.delete("/acp")).status_code == 400
        unknown = {"acp-connection-id": "nobody"}
        assert (await client.post("/acp", json=prompt, headers=unknown)).status_code == 404
        assert (await client.get("/acp", headers={**EVENTS, **unknown})).status_code == 404
        assert (await client.delete("/acp", headers=unknown)).status_code == 404
        async with Posting(client) as http:
            assert (await http.send(GREETING)).status_code == 400, "it is initialized already"
            assert (await http.send(prompt)).status_code == 400, "Acp-Session-Id is missing"
            assert (await http.send(prompt, "another")).status_code == 400
            assert (await client.get("/acp", headers=http.headers)).status_code == 406
            form = {**http.headers, "content-type": "text/plain"}
            assert (await client.post("/acp", content="{}", headers=form)).status_code == 415
            assert (await client.put("/acp", json={}, headers=http.headers)).status_code == 405
            head = await soon(client.head("/acp", headers={**http.headers, **EVENTS}))
            assert head.status_code == 405, "a stream is not for looking at"
            for stranger in ("the-secret-of-bob", "she-only-prompts-"):
                headers = {**http.headers, **bearer(stranger)}
                assert (await client.post("/acp", json=prompt, headers=headers)).status_code == 404
                assert (await client.delete("/acp", headers=headers)).status_code == 404
            assert (await http.post("session/list", None, 1)).status_code == 202, "it is still there"


async def test_an_id_of_a_websocket_is_none_for_http() -> None:
    async with served() as (_, client), over_websocket(client) as caller:
        headers = {"acp-connection-id": caller.connection_id}
        assert (await client.get("/acp", headers={**EVENTS, **headers})).status_code == 404


async def test_a_connection_belongs_to_one_agent() -> None:
    agents = {"one": ScriptedAgent(), "two": ScriptedAgent()}
    async with served(agents) as (_, client), Posting(client) as http:
        assert (await client.get("/acp/two", headers={**EVENTS, **http.headers})).status_code == 404


async def test_a_second_reader_takes_a_stream_over_and_gets_what_waits() -> None:
    async with served() as (_, client), Posting(client) as http:
        session_id = await http.open()
        async with http.stream(), http.stream(session_id) as lost:
            assert (await lost.next())["params"]["update"]["sessionUpdate"] == "available_commands_update"
            async with http.stream(session_id) as messages:
                assert await soon(lost.rest()) == []
                await http.post("session/prompt", session_id, 2, prompt=[{"type": "text", "text": "/text"}])
                assert (await messages.until(answering(2)))["result"]["stopReason"] == "end_turn"


async def test_what_is_said_before_its_stream_is_read_waits_there_in_order() -> None:
    async with served() as (app, client), Posting(client) as http:
        session_id = await http.open()
        await http.post("session/prompt", session_id, 2, prompt=[{"type": "text", "text": "/long 20"}])
        session = await session_in(app, session_id)
        await until(lambda: not session.busy and session.stored_seq > 2)
        async with http.stream(session_id) as messages:
            text, message = "", await messages.next()
            while "method" in message:
                text += message["params"]["update"].get("content", {}).get("text", "")
                message = await messages.next()
    assert text == "".join(f"{number} " for number in range(1, 21))
    assert message["id"] == 2


async def test_a_connection_reads_so_many_sessions_and_no_more() -> None:
    async with (
        served(limits=Limits(streams=1)) as (_, client),
        Posting(client) as http,
        http.stream(),
        http.stream("one"),
    ):
        headers = {**http.headers, **EVENTS, "acp-session-id": "two"}
        assert (await client.get("/acp", headers=headers)).status_code == 409


async def test_a_client_that_opens_a_session_before_its_stream_hears_the_history() -> None:
    async with served() as (_, client):
        await run_events(client, run_input("/text", thread="t1"))
        async with Posting(client) as http:
            async with http.stream() as messages:
                await http.post("session/load", "t1", 1, cwd="/", mcpServers=[])
                heard = [await messages.next()]
                while "id" not in heard[-1]:
                    heard.append(await messages.next())
            kinds = [message["params"]["update"]["sessionUpdate"] for message in heard[:-1]]
            assert "user_message_chunk" in kinds
            assert "agent_message_chunk" in kinds
            assert kinds[-1] == "available_commands_update", "before the answer to a load"


async def test_a_delete_ends_the_streams_and_the_turn() -> None:
    agent, running, stopped = agent_that_waits()
    async with served(agent) as (_, client), Posting(client) as http:
        session_id = await http.open()
        async with http.stream() as messages, http.stream(session_id) as more:
            await http.post("session/prompt", session_id, 2, prompt=[{"type": "text", "text": "go"}])
            await soon(running.wait())
            assert (await client.delete("/acp", headers=http.headers)).status_code == 202
            await soon(stopped.wait())
            assert await soon(messages.rest()) == []
            assert (await soon(more.rest()))[-1]["result"]["stopReason"] == "cancelled", "its last words"
        assert (await client.delete("/acp", headers=http.headers)).status_code == 404


async def test_a_session_that_nobody_listens_to_any_more_ends_its_turn_and_nothing_else(
    hasty: Limits,
) -> None:
    agent, running, stopped = agent_that_waits()
    async with served(agent, limits=hasty) as (_, client), Posting(client) as http:
        session_id = await http.open()
        async with http.stream() as messages:
            async with http.stream(session_id) as heard:
                await http.post("session/prompt", session_id, 2, prompt=[{"type": "text", "text": "go"}])
                await soon(running.wait())
                # What it has not read would wait for it there, and the answer behind that.
                await heard.until(lambda message: "waiting" in str(message))
            await soon(stopped.wait())
            # Its answer goes where the client still listens.
            assert (await messages.until(answering(2)))["result"]["stopReason"] == "cancelled"
            await http.post("session/list", None, 3)
            assert (await messages.until(answering(3)))["result"]["sessions"]


async def test_a_client_that_never_opens_a_stream_is_let_go(hasty: Limits) -> None:
    async with served(limits=hasty) as (app, client):
        http = Posting(client)
        await http.initialize()
        await until(lambda: not callers_of(app))
        assert (await client.get("/acp", headers={**EVENTS, **http.headers})).status_code == 404


async def test_an_agent_that_is_never_ready_is_a_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    from trunkline.frontends.acp.lazy_endpoint import LazyEndpoint

    ready = asyncio.Event()

    async def slow(self: LazyEndpoint, method: str, params: Any) -> Any:
        await ready.wait()

    monkeypatch.setattr(LazyEndpoint, "handle", slow)
    async with served(limits=Limits(body_seconds=0.05)) as (_, client):
        answer = await client.post("/acp", json=GREETING)
        assert (answer.status_code, answer.json()["error"]["code"]) == (504, "agent")
        ready.set()


# -- slow readers ----------------------------------------------------------------------------------

TOKENS_SAID = 40_000


def agent_that_talks() -> Agent:
    async def talk(prompt: Prompt) -> AsyncIterator[str]:
        for number in range(TOKENS_SAID):
            yield f"{number:0400} "
            if number % 200 == 0:
                await asyncio.sleep(0)

    return make(talk)


@asynccontextmanager
async def talking(client: httpx.AsyncClient) -> AsyncGenerator[tuple[ClientConnection, str]]:
    """A client that sent a prompt and hardly reads ahead; gives also its session."""

    async def ask(id: int, method: str, params: Any) -> None:
        await line.send(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))

    host, port = client.base_url.host, client.base_url.port or 80
    small = socket.socket()
    small.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    small.setblocking(False)
    await asyncio.get_running_loop().sock_connect(small, (host, port))
    async with connect(
        f"ws://{host}:{port}/acp",
        sock=small,
        additional_headers=BEARER,
        compression=None,
        max_queue=1,
        max_size=None,
        close_timeout=0.1,
    ) as line:
        await ask(0, "initialize", {"protocolVersion": 1})
        await soon(line.recv())
        await ask(1, "session/new", {"cwd": "/", "mcpServers": []})
        session_id = json.loads(await soon(line.recv()))["result"]["sessionId"]
        await ask(
            2, "session/prompt", {"sessionId": session_id, "prompt": [{"type": "text", "text": "talk"}]}
        )
        yield line, session_id


async def test_a_reader_that_stalls_holds_up_nobody_costs_little_and_loses_nothing() -> None:
    async with served(agent_that_talks()) as (app, client), talking(client) as (line, session_id):
        session = await session_in(app, session_id)
        await until(lambda: session.busy)
        await until(lambda: not session.busy, 40)
        (caller,) = callers_of(app)
        assert caller.transport.congested, "the client is far behind"
        assert sum(map(len, caller.transport.outbox()._waiting)) < 3 << 20
        output: list[str] = []
        message = json.loads(await soon(line.recv()))
        while message.get("id") != 2:
            update = message["params"]["update"]
            if update["sessionUpdate"] == "agent_message_chunk":
                output.append(update["content"]["text"])
            message = json.loads(await soon(line.recv()))
    assert "".join(output) == "".join(f"{number:0400} " for number in range(TOKENS_SAID))


async def test_a_reader_that_never_comes_back_is_dropped() -> None:
    async with (
        served(agent_that_talks(), limits=Limits(stall_seconds=0.3)) as (app, client),
        talking(client) as (_, session_id),
    ):
        session = await session_in(app, session_id)
        await until(lambda: session.followers > 1)
        await until(lambda: session.followers == 0 and not callers_of(app), 40)


async def test_whoever_asks_without_listening_is_dropped() -> None:
    async with (
        served(limits=Limits(unread_bytes=1000, stall_seconds=60)) as (_, client),
        Posting(client) as http,
    ):
        status = 202
        async with asyncio.timeout(10):
            while status == 202:
                status = (await http.post("_anything", None, 1)).status_code
        assert status == 404
