"""ASGI by hand: scopes as a server makes them, and what an app sends back."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from tests.hubs import soon
from tests.server.running_server import BEARER

Headers = Sequence[tuple[str, str]] | dict[str, str]


class Reply(NamedTuple):
    """What an app sent."""

    messages: list[Any]

    @property
    def status(self) -> int:
        """The status, 101 for an accepted WebSocket."""
        first = self.messages[0]
        return 101 if first["type"] == "websocket.accept" else int(first["status"])

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a response."""
        return {name.decode(): value.decode() for name, value in self.messages[0]["headers"]}

    @property
    def body(self) -> bytes:
        """The body of a response."""
        return b"".join(message.get("body", b"") for message in self.messages[1:])

    @property
    def code(self) -> str:
        """The code of a refusal."""
        return str(json.loads(self.body)["error"]["code"])


def scope(
    path: str = "/sessions",
    method: str = "GET",
    headers: Headers = (),
    *,
    kind: str = "http",
    host: str | None = "127.0.0.1:8000",
    token: bool = True,
    server: tuple[str, int] | None = ("127.0.0.1", 8000),
    **more: Any,
) -> dict[str, Any]:
    """A request as uvicorn gives it."""
    given = list(headers.items()) if isinstance(headers, dict) else list(headers)
    if host is not None:
        given.insert(0, ("host", host))
    if token:
        given += BEARER.items()
    made: dict[str, Any] = {
        "type": kind,
        "path": path,
        "root_path": "",
        "query_string": b"",
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in given],
        "scheme": "http" if kind == "http" else "ws",
        "server": server,
        "client": ("127.0.0.1", 50000),
        **more,
    }
    if kind == "http":
        made["method"] = method
    else:
        made["subprotocols"] = more.get("subprotocols", [])
        made["extensions"] = more.get("extensions", {"websocket.http.response": {}})
    return made


async def call(app: Any, asked: dict[str, Any], *bodies: bytes) -> Reply:
    """Call an app once."""
    waiting: list[Any] = [
        {"type": "http.request", "body": body, "more_body": number < len(bodies) - 1}
        for number, body in enumerate(bodies or (b"",))
    ]
    if asked["type"] == "websocket":
        waiting = [{"type": "websocket.connect"}]
    sent: list[Any] = []

    async def receive() -> Any:
        gone = "websocket.disconnect" if asked["type"] == "websocket" else "http.disconnect"
        return waiting.pop(0) if waiting else {"type": gone, "code": 1006}

    async def send(message: Any) -> None:
        sent.append(message)

    await soon(app(asked, receive, send))
    return Reply(sent)
