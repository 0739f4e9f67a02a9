"""A model that follows a script, served on loopback in the words of several providers.

It is also the proxy that the agents are given, and as such it refuses everything: what an agent tries to
reach outside of this machine is recorded, and fails.
"""

import itertools
import json
import select
import socket
import sys
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.peers.model.anthropic import Anthropic
from tests.peers.model.dialect import TOKENS_READ, Dialect
from tests.peers.model.gemini import Gemini
from tests.peers.model.openai import Completions, Responses
from tests.peers.model.replies import Exchange, Hold, Refuse, Reply, Script, say

HOLD_SECONDS = 60.0
ASIDE: Reply = (say('{"title": "Scripted", "complexity_reasoning": "scripted", "complexity_score": 1}'),)
"""The reply to an agent's own requests: for a title, or for which model to take."""

DIALECTS: Mapping[str, Dialect] = {
    "/messages": Anthropic(),
    ":generateContent": Gemini(),
    ":streamGenerateContent": Gemini(),
    "/chat/completions": Completions(),
    "/responses": Responses(),
}


class ScriptedModel:
    """What the script is, what was asked, and what waits."""

    def __init__(self, script: Script) -> None:
        self.script = dict(script)
        self.url = ""
        self.exchanges: list[Exchange] = []
        self.unknown: list[str] = []
        """Requests that are of no dialect."""
        self.outside: list[str] = []
        """What was to be reached through the proxy."""
        self.hung_up = 0
        """Replies that the agent did not hear to their end."""
        self.ids = itertools.count(1)
        self._changed = threading.Condition()
        self._holding = 0
        self._times_to_go_on = 0

    def reply_to(self, exchange: Exchange) -> Reply:
        """What the script says to a request. One without tools is the agent's own."""
        place = exchange.place_in(self.script)
        if place is None or not exchange.tools:
            return ASIDE
        word, step = place
        replies = self.script[word]
        return replies[step] if step < len(replies) else (Refuse(400, f"{word} has no reply {step + 1}"),)

    def asked(self, word: str) -> list[Exchange]:
        """The requests that came for one word of the script."""
        with_tools = [exchange for exchange in self.exchanges if exchange.tools]
        return [one for one in with_tools if (place := one.place_in(self.script)) and place[0] == word]

    @property
    def holds(self) -> bool:
        """Whether a reply waits at a Hold."""
        return self._holding > 0

    def go_on(self) -> None:
        """Let every reply that waits go on."""
        with self._changed:
            self._times_to_go_on += 1
            self._changed.notify_all()

    def wait(self, connection: socket.socket) -> bool:
        """Wait at a Hold; say whether the agent is still there."""
        with self._changed:
            self._holding += 1
            seen = self._times_to_go_on
            try:
                for _ in range(int(HOLD_SECONDS / 0.02)):
                    if self._changed.wait_for(lambda: self._times_to_go_on > seen, 0.02):
                        return True
                    if _has_hung_up(connection):
                        return False
                return False
            finally:
                self._holding -= 1


def _has_hung_up(connection: socket.socket) -> bool:
    if not select.select([connection], [], [], 0)[0]:
        return False
    try:
        return not connection.recv(1, socket.MSG_PEEK)
    except OSError:
        return True


class _Handler(BaseHTTPRequestHandler):
    """One connection of an agent."""

    protocol_version = "HTTP/1.1"
    model: ScriptedModel

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self._send({})

    def do_GET(self) -> None:
        if not self._is_outside():
            self._send({"data": [], "models": []})

    def do_CONNECT(self) -> None:
        self.model.outside.append(self.path)
        self.send_error(403)

    def do_POST(self) -> None:
        body = json.loads(self._body() or b"{}")
        route = self.path.partition("?")[0]
        dialect = next((spoken for end, spoken in DIALECTS.items() if route.endswith(end)), None)
        if self._is_outside():
            pass
        elif route.endswith(("/count_tokens", ":countTokens")):
            self._send({"input_tokens": TOKENS_READ, "totalTokens": TOKENS_READ})
        elif dialect is None:
            self.model.unknown.append(f"{self.command} {self.path}")
            self._send({"error": {"message": "not found"}}, 404)
        else:
            self._answer(dialect, dialect.read(self.path, body))

    def _is_outside(self) -> bool:
        """Whether this is for another host, as a proxy is asked: then refuse it."""
        if not self.path.startswith("http"):
            return False
        self.model.outside.append(self.path)
        self.send_error(403)
        return True

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        read = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            read += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return read

    def _answer(self, dialect: Dialect, exchange: Exchange) -> None:
        self.model.exchanges.append(exchange)
        reply = self.model.reply_to(exchange)
        match reply:
            case [Refuse(status, message)]:
                self._send(dialect.error(status, message), status)
            case _ if exchange.stream:
                self._stream(dialect, reply)
            case _:
                self._send(dialect.whole(reply, self.model.ids))

    def _stream(self, dialect: Dialect, reply: Reply) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            for frame in dialect.stream(reply, self.model.ids):
                if not isinstance(frame, Hold):
                    self.wfile.write(frame.encode())
                elif not self.model.wait(self.connection):
                    self.model.hung_up += 1
                    break
        except (BrokenPipeError, ConnectionResetError):
            self.model.hung_up += 1

    def _send(self, value: Mapping[str, Any], status: int = 200) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


class _Server(ThreadingHTTPServer):
    """A server whose clients may be killed in the middle of a request."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serving(script: Script) -> Generator[ScriptedModel]:
    """Serve a script at a free port of loopback."""
    model = ScriptedModel(script)
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"model": model}))
    model.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield model
    finally:
        model.go_on()
        server.shutdown()
        server.server_close()
        thread.join(5)
