"""Editors in memory: a client on one end of a wire, our endpoint on the other, every message checked."""

import asyncio
import inspect
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

from tests.hubs import soon

from trunkline.conformance.acp.schema import find_fault
from trunkline.frontends.acp import decode
from trunkline.frontends.acp.endpoint import AcpEndpoint
from trunkline.protocols.acp import wire
from trunkline.protocols.jsonrpc.connection import Connection, Handler
from trunkline.protocols.jsonrpc.messages import METHOD_NOT_FOUND, Params, RpcError
from trunkline.session.hub import Hub

Message = dict[str, Any]

ABLE: Message = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": True,
    "elicitation": {"form": {}, "url": {}},
    "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
}


class Wire:
    """A transport that keeps what was written and hands it on a tick later."""

    def __init__(self) -> None:
        self.chunks: list[bytes] = []
        self.receive: Callable[[bytes], None] | None = None
        self.free = asyncio.Event()
        self.free.set()

    def write(self, data: bytes) -> None:
        self.chunks.append(data)
        if self.receive is not None:
            asyncio.get_running_loop().call_soon(self.receive, data)

    @property
    def congested(self) -> bool:
        return not self.free.is_set()

    async def drained(self) -> None:
        await self.free.wait()

    @property
    def messages(self) -> list[Message]:
        """Everything written so far."""
        return [json.loads(line) for line in b"".join(self.chunks).splitlines()]


def join(one: Connection, first: Wire, other: Connection, second: Wire) -> None:
    """Let two connections hear each other."""
    first.receive, second.receive = other.receive, one.receive


class Editor:
    """A client: it keeps what it hears and answers as it is told."""

    def __init__(self) -> None:
        self.wire = Wire()
        self.agents_wire = Wire()
        self.connection = Connection(self.wire)
        self.connection.handler = self
        self.log: list[Message] = []
        """Updates, requests and other notifications of the agent, in order."""
        self.answers: dict[str, Callable[[Message], Any]] = {}
        self.withdrawn: list[str] = []
        self.session_id = ""
        """The session that was opened last."""

    # -- as a handler --

    async def handle(self, method: str, params: Params) -> Any:
        assert isinstance(params, dict)
        self.log.append({"method": method, **params})
        answer = self.answers.get(method)
        if answer is None:
            raise RpcError(METHOD_NOT_FOUND, "this editor does not do that")
        result = answer(params)
        return await result if inspect.isawaitable(result) else result

    def handle_notification(self, method: str, params: Params) -> None:
        assert isinstance(params, dict)
        self.log.append(params["update"] if method == "session/update" else {"method": method, **params})

    def withdraw(self, method: str, params: Params) -> bool:
        self.withdrawn.append(method)
        return False

    # -- for tests --

    async def call(self, method: str, /, **params: Any) -> Any:
        """Ask the agent for something."""
        return await soon(self.connection.request(method, params))

    async def refused(self, method: str, /, **params: Any) -> RpcError:
        """Ask for something that must fail, and give the error."""
        try:
            result = await self.call(method, **params)
        except RpcError as error:
            return error
        raise AssertionError(f"{method} was not refused: {result}")

    async def open(self, cwd: Any = "/", **params: Any) -> str:
        """Begin a session and give its id."""
        made = await self.call("session/new", cwd=str(cwd), mcpServers=[], **params)
        self.session_id = made["sessionId"]
        return self.session_id

    async def say(self, words: str) -> Message:
        """Play a turn in the session that was opened last, or in a new one."""
        return await self.prompt(self.session_id or await self.open(), words)

    async def prompt(self, session_id: str, words: str, **params: Any) -> Message:
        """Play a turn."""
        content = [{"type": "text", "text": words}]
        return await self.call("session/prompt", sessionId=session_id, prompt=content, **params)

    def permit(self, *choices: str) -> None:
        """Answer permissions by option, in order; the last answer stays."""
        left = list(choices)

        def choose(params: Message) -> Message:
            choice = left.pop(0) if len(left) > 1 else left[0]
            if choice == "cancelled":
                return {"outcome": {"outcome": "cancelled"}}
            return {"outcome": {"outcome": "selected", "optionId": choice}}

        self.answers["session/request_permission"] = choose

    def updates(self, *kinds: str) -> list[Message]:
        """The updates of some kinds so far."""
        return [item for item in self.log if item.get("sessionUpdate") in kinds]

    def asked(self, method: str) -> list[Message]:
        """The requests and notifications of one method so far."""
        return [item for item in self.log if item.get("method") == method]

    def heard(self) -> list[str]:
        """What came over the wire, in order: kinds of updates, methods, and answers as ``= method``."""
        asked = self.questions()
        names: list[str] = []
        for message in self.agents_wire.messages:
            method: str | None = message.get("method")
            if method == "session/update":
                names.append(message["params"]["update"]["sessionUpdate"])
            else:
                names.append(method or f"= {asked.get(message['id'])}")
        return names

    def questions(self) -> dict[Any, str]:
        """The methods of our requests by their ids."""
        return {m["id"]: m["method"] for m in self.wire.messages if "method" in m and "id" in m}

    @property
    def text(self) -> str:
        """What the agent said so far."""
        chunks = [update["content"] for update in self.updates("agent_message_chunk")]
        return "".join(chunk["text"] for chunk in chunks if chunk["type"] == "text")


@asynccontextmanager
async def editing(
    hub: Hub, capabilities: Message | None = None, principal: str = "local"
) -> AsyncGenerator[Editor]:
    """An editor that is connected to a hub; whatever the agent's side said must be valid."""
    editor = Editor()
    line = editor.agents_wire
    connection = Connection(line)
    client = decode(wire.ClientCapabilities, capabilities or {})
    handler: Handler = AcpEndpoint(hub, connection, client, principal=principal)
    connection.handler = handler
    join(editor.connection, editor.wire, connection, line)
    try:
        yield editor
    finally:
        await soon(connection.close("the test is over"))
        await soon(editor.connection.close("the test is over"))
    asked = editor.questions()
    faults = [find_fault(m, asked.get(m.get("id")) if "method" not in m else None) for m in line.messages]
    assert [fault for fault in faults if fault is not None] == []


def text_of_chunks(items: list[dict[str, Any]], kind: str) -> str:
    return "".join(item["content"]["text"] for item in items if item.get("sessionUpdate") == kind)
