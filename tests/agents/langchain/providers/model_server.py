"""A model's server on loopback: it plays the replies it was given, and keeps what it was asked."""

import json
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.agents.langchain.untyped_langchain import create_agent
from trunkline import adapt

_BOUND = 10.0


@dataclass
class Reply:
    """What the server says to one request: pieces of a stream, or an error."""

    pieces: list[bytes]
    kind: str = "text/event-stream"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])
    cut: bool = False
    """Break the connection instead of ending the stream."""


def answer(status: int, body: Any, **headers: str) -> Reply:
    """A whole answer in JSON, most often an error."""
    return Reply([json.dumps(body).encode()], "application/json", status, headers)


class Pause(list[bytes]):
    """The pieces of a stream; what would come after them waits."""

    def __init__(self, pieces: list[bytes]) -> None:
        super().__init__(pieces)
        self._over = threading.Event()

    def __iter__(self) -> Iterator[bytes]:
        yield from super().__iter__()
        self._over.wait(_BOUND)

    def end(self) -> None:
        """Let the stream end."""
        self._over.set()


def pause(reply: Reply, left_out: int) -> tuple[Reply, Pause]:
    """Play a reply without its last pieces, and wait there."""
    pieces = Pause(reply.pieces[:-left_out])
    return Reply(pieces, reply.kind), pieces


@dataclass
class ModelServer:
    """Where it is, what it was asked, and what it will say."""

    url: str
    asked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    replies: list[Reply] = field(default_factory=list[Reply])
    _models: list[Any] = field(default_factory=list[Any])

    def play(self, *replies: Reply) -> None:
        """Say these to the next requests, one each."""
        self.replies.extend(replies)

    def agent(self, wire: Any, *tools: Any, settings: dict[str, Any] | None = None, **options: Any) -> Any:
        """An agent whose model asks this server; models live until the clients below them are closed."""
        self._models.append(wire.model(self.url, **settings or {}))
        return adapt(create_agent(self._models[-1], list(tools), **options))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = _BOUND
    model: ModelServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.model.asked.append(body)
        reply = self.model.replies.pop(0)
        self.send_response(reply.status)
        for name, value in {"content-type": reply.kind, **reply.headers}.items():
            self.send_header(name, value)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for piece in reply.pieces:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.flush()
        if reply.cut:
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the tests look at what was asked."""


@contextmanager
def serve_model() -> Generator[ModelServer]:
    """Serve on a free port until the block ends."""
    handler = type("Handler", (_Handler,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    model = ModelServer(f"http://127.0.0.1:{server.server_port}")
    handler.model = model
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join(_BOUND)
