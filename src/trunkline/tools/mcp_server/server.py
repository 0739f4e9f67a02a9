"""The methods of the MCP server: initialize, ping, tools/list, tools/call, and server/discover."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NoReturn, cast

import msgspec

from trunkline._version import __version__
from trunkline.protocols.jsonrpc.connection import Connection
from trunkline.protocols.jsonrpc.messages import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    Params,
    RpcError,
)
from trunkline.session.permissions import Permissions
from trunkline.session.view import SessionView
from trunkline.tools.calls import call_tool
from trunkline.tools.declaration import Tool
from trunkline.tools.errors import ToolError
from trunkline.tools.mcp_server.calls import Elicit, McpHost, WaitingCall
from trunkline.tools.mcp_server.listing import (
    CAPABILITIES_KEY,
    HANDSHAKE_VERSIONS,
    MODERN_VERSIONS,
    SERVER_INFO_KEY,
    VERSION_KEY,
    describe_failure,
    describe_result,
    describe_tool,
    negotiate,
)
from trunkline.tools.registry import ToolRegistry
from trunkline.workspace.policy import Policy

log = logging.getLogger("trunkline.mcp")

_UNSUPPORTED_VERSION = -32022  # UNSUPPORTED_PROTOCOL_VERSION of MCP 2026-07-28
_PAGE = 50
_MOST_WAITING = 64
_ANSWER_WITHIN = 3600.0
_LONGEST_PROGRESS = 2000


class ServerInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What the server says of itself."""

    name: str = "trunkline"
    title: str | None = None
    version: str = __version__
    instructions: str | None = None

    def described(self) -> dict[str, Any]:
        """The server as MCP writes it."""
        title = {} if self.title is None else {"title": self.title}
        return {"name": self.name, **title, "version": self.version}


class _Era(msgspec.Struct, frozen=True, kw_only=True):
    """The version that a request is of, and what its client offers."""

    version: str
    capabilities: dict[str, Any]

    @property
    def is_modern(self) -> bool:
        """Whether there is no handshake and no request of ours to the client."""
        return self.version in MODERN_VERSIONS

    @property
    def has_forms(self) -> bool:
        """Whether the client can ask its user to fill in a form; without modes it offers that one."""
        offered: Any = self.capabilities.get("elicitation")
        if not isinstance(offered, dict) or self.version < "2025-06-18":
            return False
        return "form" in offered or "url" not in offered


class McpServer:
    """Serves the tools of a registry to one client."""

    def __init__(
        self,
        registry: ToolRegistry,
        connection: Connection,
        *,
        info: ServerInfo | None = None,
        policy: Policy | None = None,
        cwd: str | None = None,
    ) -> None:
        """Serve on a connection; without a ``policy`` only what a tool asks is asked."""
        self._registry = registry
        self._connection = connection
        self._info = info or ServerInfo()
        self._permissions = Permissions(policy, cast("SessionView", _Folder(cwd or os.getcwd())))
        self._handshake: _Era | None = None
        self._numbers = 0
        self._waiting: OrderedDict[str, tuple[WaitingCall, str, Any]] = OrderedDict()
        self._methods: dict[str, Callable[[dict[str, Any], _Era], Any]] = {
            "ping": self._ping,
            "tools/list": self._list,
            "tools/call": self._call,
            "server/discover": self._discover,
        }

    # -- the handler of the connection -------------------------------------------------------------

    async def handle(self, method: str, params: Params) -> Any:
        """Give the result of a request, or raise the error to answer with."""
        given = _object(params)
        if method == "initialize":
            return self._initialize(given)
        era = self._era(given, method)
        handler = self._methods.get(method)
        if handler is None or (method == "server/discover" and not era.is_modern):
            raise RpcError(METHOD_NOT_FOUND, f"there is no method {method}")
        result = handler(given, era)
        if asyncio.iscoroutine(result):
            result = await result
        return self._completed(cast("dict[str, Any]", result)) if era.is_modern else result

    def handle_notification(self, method: str, params: Params) -> None:
        """Take a notification; what we do not know is ignored."""

    def withdraw(self, method: str, params: Params) -> bool:
        """Let a request that the client cancelled be stopped, but for the handshake.

        "The initialize request MUST NOT be cancelled by clients"
        (https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation).
        """
        return method == "initialize"

    async def close(self) -> None:
        """Stop what waits for input."""
        waiting = [call.work for call, _, _ in self._waiting.values() if call.work is not None]
        self._waiting.clear()
        for work in waiting:
            work.cancel()
        if waiting:
            await asyncio.wait(waiting, timeout=5.0)

    # -- versions ----------------------------------------------------------------------------------

    def _initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        requested = params.get("protocolVersion")
        if not isinstance(requested, str):
            _wrong("initialize names no protocolVersion")
        offered: Any = params.get("capabilities")
        version = negotiate(requested)
        self._handshake = _Era(version=version, capabilities=_object(offered))
        instructions = {} if self._info.instructions is None else {"instructions": self._info.instructions}
        return {
            "protocolVersion": version,
            "capabilities": {"tools": {"listChanged": False}},
            "serverInfo": self._info.described(),
            **instructions,
        }

    def _era(self, params: dict[str, Any], method: str) -> _Era:
        """The version of a request: its own, or the one of the handshake."""
        meta = _object(params.get("_meta"))
        version: Any = meta.get(VERSION_KEY)
        if version is None:
            if self._handshake is None and method not in ("ping", "server/discover"):
                raise RpcError(INVALID_REQUEST, f"{method} came before initialize")
            return self._handshake or _Era(version=HANDSHAKE_VERSIONS[-1], capabilities={})
        if version not in MODERN_VERSIONS:
            known = {"supported": list(MODERN_VERSIONS), "requested": version}
            raise RpcError(
                _UNSUPPORTED_VERSION, f"there is no version {version!r} without a handshake", known
            )
        return _Era(version=version, capabilities=_object(meta.get(CAPABILITIES_KEY)))

    def _completed(self, result: dict[str, Any]) -> dict[str, Any]:
        meta = {SERVER_INFO_KEY: self._info.described()}
        return {"resultType": "complete", **result, "_meta": meta}

    def _discover(self, params: dict[str, Any], era: _Era) -> dict[str, Any]:
        instructions = {} if self._info.instructions is None else {"instructions": self._info.instructions}
        return {
            "supportedVersions": list(MODERN_VERSIONS),
            "capabilities": {"tools": {}},
            "ttlMs": 0,
            "cacheScope": "private",
            **instructions,
        }

    def _ping(self, params: dict[str, Any], era: _Era) -> dict[str, Any]:
        return {}

    # -- tools -------------------------------------------------------------------------------------

    def _list(self, params: dict[str, Any], era: _Era) -> dict[str, Any]:
        cursor: Any = params.get("cursor")
        first = 0
        if cursor is not None:
            if not isinstance(cursor, str) or not cursor.isdecimal() or int(cursor) >= len(self._registry):
                _wrong(f"{cursor!r} is no cursor of this list")
            first = int(cursor)
        tools = list(self._registry.values())[first : first + _PAGE]
        following = first + _PAGE
        listed: dict[str, Any] = {"tools": [describe_tool(one, era.version) for one in tools]}
        if following < len(self._registry):
            listed["nextCursor"] = str(following)
        return {**listed, "ttlMs": 0, "cacheScope": "private"} if era.is_modern else listed

    async def _call(self, params: dict[str, Any], era: _Era) -> dict[str, Any]:
        name, arguments = params.get("name"), params.get("arguments")
        if not isinstance(name, str):
            _wrong("tools/call names no tool")
        if arguments is not None and not isinstance(arguments, dict):
            _wrong("the arguments of a tool are an object")
        if name not in self._registry:
            _wrong(f"Unknown tool: {name}")
        tool = self._registry[name]
        progress = self._progress(_object(params.get("_meta")).get("progressToken"), era)
        if era.is_modern:
            return await self._call_with_inputs(tool, params, era, progress)
        return await self._run(tool, arguments, era, progress, self._elicit if era.has_forms else None)

    async def _run(
        self, tool: Tool, arguments: Any, era: _Era, progress: Callable[[str], None], elicit: Elicit | None
    ) -> dict[str, Any]:
        self._numbers += 1
        host = McpHost(f"mcp-{self._numbers}", self._permissions, elicit, progress)
        try:
            return describe_result(tool, await call_tool(tool, arguments, host), era.version)
        except RpcError:
            raise
        except ToolError as error:
            return describe_failure(error)
        except (Exception, SystemExit) as error:
            log.warning("%s failed", tool.name, exc_info=True)
            return describe_failure(error)

    async def _elicit(self, form: dict[str, Any]) -> Any:
        try:
            return await self._connection.request("elicitation/create", form, timeout=_ANSWER_WITHIN)
        except (RpcError, TimeoutError) as error:
            log.info("the client did not ask its user: %s", error)
            return None

    def _progress(self, token: Any, era: _Era) -> Callable[[str], None]:
        """Send what a tool puts out as progress; without a token, and to a slow reader, nothing is sent."""
        sent = 0

        def show(text: str) -> None:
            nonlocal sent
            if not isinstance(token, str | int) or self._connection.congested or self._connection.closed:
                return
            sent += 1
            message = {"message": text[:_LONGEST_PROGRESS]} if era.version >= "2025-03-26" else {}
            self._connection.notify(
                "notifications/progress", {"progressToken": token, "progress": sent, **message}
            )

        return show

    # -- calls that are asked about without a request of ours ---------------------------------------

    async def _call_with_inputs(
        self, tool: Tool, params: dict[str, Any], era: _Era, progress: Callable[[str], None]
    ) -> dict[str, Any]:
        arguments, state = params.get("arguments"), params.get("requestState")
        if state is None:
            call = WaitingCall()
            elicit = call.elicit if era.has_forms else None
            call.work = asyncio.create_task(self._run(tool, arguments, era, progress, elicit))
        else:
            call = self._resume(tool, arguments, state, params.get("inputResponses"))
        try:
            form = await call.step()
        except asyncio.CancelledError:
            if call.work is not None:
                call.work.cancel()
            raise
        if form is None:
            assert call.work is not None
            return await call.work
        return self._ask_for_input(call, form, tool, arguments)

    def _ask_for_input(
        self, call: WaitingCall, form: dict[str, Any], tool: Tool, arguments: Any
    ) -> dict[str, Any]:
        state = secrets.token_urlsafe(16)
        self._waiting[state] = (call, tool.name, arguments)
        if len(self._waiting) > _MOST_WAITING:
            _, (oldest, _, _) = self._waiting.popitem(last=False)
            if oldest.work is not None:
                oldest.work.cancel()
        asyncio.get_running_loop().call_later(_ANSWER_WITHIN, self._expire, state)
        request = {"method": "elicitation/create", "params": {"mode": "form", **form}}
        return {"resultType": "input_required", "inputRequests": {"form": request}, "requestState": state}

    def _resume(self, tool: Tool, arguments: Any, state: Any, responses: Any) -> WaitingCall:
        waiting = self._waiting.get(state) if isinstance(state, str) else None
        if waiting is None or waiting[1:] != (tool.name, arguments):
            # What was approved is this call and no other.
            _wrong("requestState is of no call that waits for input, or of another call")
        del self._waiting[state]
        waiting[0].answer(_object(responses).get("form"))
        return waiting[0]

    def _expire(self, state: str) -> None:
        waiting = self._waiting.pop(state, None)
        if waiting is not None:
            waiting[0].answer(None)


class _Folder:
    """What the policy needs of a session: the folder that its patterns begin in."""

    asks_before_access = False

    def __init__(self, cwd: str) -> None:
        self.cwd = cwd


def _object(given: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", given) if isinstance(given, dict) else {}


def _wrong(why: str) -> NoReturn:
    raise RpcError(INVALID_PARAMS, why)
