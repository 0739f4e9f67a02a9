"""Clients that do everything wrong, at a real server: they harm themselves and nobody else."""

import contextlib
import json
from collections.abc import Generator
from pathlib import Path

import pytest
from websockets.sync.client import connect

from tests.faults.servers import AGENTS, SECRET, JsonObject, Server, run_input, serving, text_of
from tests.process_state import eventually

pytestmark = pytest.mark.slow

TOKENS = 60_000
VISITORS = 200


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    """One server for the tests that only knock at it."""
    with serving(tmp_path_factory.mktemp("served")) as server:
        yield server
        assert server.end() == 0
        assert "Traceback" not in server.stderr


# -- clients that are slow -------------------------------------------------------------------------


@pytest.mark.timeout(180)
@pytest.mark.parametrize("agent", ["fluent", "model"])
def test_a_reader_that_stalls_for_sixty_thousand_tokens_costs_no_memory_and_gets_them_all(
    agent: str, tmp_path: Path
) -> None:
    """A first run as long as the second fills every pool: LangChain keeps all chunks of a message itself."""
    with serving(tmp_path, f"{AGENTS}:{agent}") as server:
        with server.connect() as eager:
            eager.run(run_input(str(TOKENS), "eager"))
            eager.drain()
        before = server.peak_memory()
        with server.connect(window=4096) as stalled:
            stalled.run(run_input(str(TOKENS), "stalled"))
            eventually(lambda: len(server.life.notes("said everything")) == 2, 90)
            assert server.peak_memory() - before < 10_000_000
            events = list(stalled.events())
        assert text_of(events) == "".join(f"{number} " for number in range(TOKENS))
        assert events[-1]["type"] == "RUN_FINISHED"
        assert server.peak_memory() - before < 10_000_000


def test_two_hundred_connections_that_say_nothing_keep_nobody_out_and_are_closed(server: Server) -> None:
    with contextlib.ExitStack() as stack:
        silent = [stack.enter_context(server.connect()) for _ in range(VISITORS // 2)]
        slow = [stack.enter_context(server.connect()) for _ in range(VISITORS // 2)]
        for visitor in slow:
            visitor.send(b"POST /agui HTTP/1.1\r\nhost: 127.0.0.1\r\nx-padding: ")
        eventually(lambda: server.open_sockets() > VISITORS)
        assert text_of(server.run(run_input("hello", "among-them"))) == "hello"
        for visitor in slow:
            # A byte now and then does not buy more time.
            visitor.send(b"x")
        assert {visitor.wait_closed() for visitor in (*silent, *slow)} == {b""}
    eventually(lambda: server.open_sockets() < VISITORS / 10)


# -- clients that do not speak as they should ------------------------------------------------------


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET\r\n\r\n",
        b"POST /agui HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: -1\r\n\r\n",
        b"POST /agui HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}",
        b"POST /agui HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\nZZ\r\n{}\r\n",
        b"POST /agui HTTP/1.1\r\nhost: 127.0.0.1\r\n" + b"x: " + b"y" * (1 << 17) + b"\r\n\r\n",
    ],
    ids=["tls", "no-version", "negative", "two-lengths", "no-chunk", "endless-header"],
)
def test_what_is_no_http_gets_an_error_and_costs_nobody_else_anything(sent: bytes, server: Server) -> None:
    with server.connect() as client:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            client.send(sent)
        answer = client.wait_closed()
    assert not answer or b" 400 " in answer.split(b"\r\n", 1)[0] or b" 401 " in answer.split(b"\r\n", 1)[0]
    assert server.ask("GET", "/healthz") == (200, {"status": "ok"})


def test_a_websocket_that_is_cut_off_in_a_frame_stops_its_run(server: Server) -> None:
    before = len(server.life.notes("tool stopped"))
    headers = {"authorization": f"Bearer {SECRET}"}
    with connect(f"ws://127.0.0.1:{server.port}/agui/ws", additional_headers=headers) as socket:
        socket.send(json.dumps(run_input("work", "socket")))
        started: JsonObject = json.loads(socket.recv(timeout=20))
        assert started["type"] == "RUN_STARTED"
        eventually(lambda: server.life.notes("tool"))
        # The head of a frame that never comes, and then nothing any more.
        socket.socket.sendall(b"\x81\xfe\xff\xff")
        socket.socket.shutdown(2)
    eventually(lambda: len(server.life.notes("tool stopped")) > before)
