"""MCP servers that a middleware attaches: each session has its own, for as long as it is used."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from trunkline import events as ev
from trunkline.agents.langchain.stops import explain
from trunkline.errors import ConfigurationError
from trunkline.handles import in_loop

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

    from trunkline.agents.langchain.mcp import McpServers
    from trunkline.agents.langchain.mcp.connections import Servers

__all__ = ["AttachedServers"]

log = logging.getLogger("trunkline.langchain")

_OPTIONS = ("prefix_tool_name", "standard_content_blocks")
_MOST_SESSIONS = 256


class AttachedServers:
    """Opens the servers of a session when it first needs them; ``close`` ends them all."""

    def __init__(self, servers: Servers, options: Mapping[str, Any] | None) -> None:
        """Check what can be checked before a session is there."""
        self._servers = servers
        self._options = dict(options or {})
        for name in self._options:
            if name not in _OPTIONS:
                raise ConfigurationError(f"mcp_tool_options knows {' and '.join(_OPTIONS)}, not {name!r}")
        try:
            import trunkline.agents.langchain.mcp as mcp
        except ImportError as error:
            raise ConfigurationError(
                f"mcp_servers need {error.name or 'an extra'}: pip install 'trunkline[mcp]'"
            ) from None
        self._mcp = mcp
        self._open: OrderedDict[str, tuple[asyncio.AbstractEventLoop, McpServers]] = OrderedDict()
        self._loaded: list[BaseTool] | None = None
        self._closing: set[asyncio.Task[None]] = set()

    async def tools(self, session_id: str) -> tuple[list[BaseTool], list[ev.Notice]]:
        """The tools of a session's servers, and what went wrong with a server since it was asked last."""
        loop = asyncio.get_running_loop()
        held, servers = self._open.get(session_id, (None, None))
        if servers is None or held is not loop:
            # Those of another loop died with it.
            servers = self._mcp.McpServers(self._servers, **self._options)
            self._open[session_id] = (loop, servers)
            self._make_room(loop)
        self._open.move_to_end(session_id)
        servers.start()
        await servers.ready()
        return servers.tools, servers.news()

    def tools_sync(self, session_id: str) -> tuple[list[BaseTool], list[ev.Notice]]:
        """The tools for a plain ``invoke``: those of a session that is open, or one server a call."""
        held, servers = self._open.get(session_id, (None, None))
        if servers is not None and held is not None and held.is_running():
            return servers.tools, servers.news()
        if self._loaded is None:
            if in_loop():
                return [], [_notice("they cannot be opened by invoke() in an event loop: call ainvoke()")]
            try:
                self._loaded = asyncio.run(self._mcp.load_mcp_tools(self._servers, **self._options))
            except Exception as error:
                return [], [_notice(explain(error))]
        return self._loaded, []

    def known(self, session_id: str) -> list[BaseTool]:
        """The tools that a session's model was offered."""
        _, servers = self._open.get(session_id, (None, None))
        return [*(servers.tools if servers is not None else ()), *(self._loaded or ())]

    async def close(self, session_id: str | None = None) -> None:
        """End the servers of a session, or of all; idempotent."""
        ids = list(self._open) if session_id is None else [session_id]
        closing = [self._open.pop(one)[1].close() for one in ids if one in self._open]
        await asyncio.gather(*closing, *self._closing)

    def _make_room(self, loop: asyncio.AbstractEventLoop) -> None:
        while len(self._open) > _MOST_SESSIONS:
            _, (held, servers) = self._open.popitem(last=False)
            if held is loop:
                task = loop.create_task(servers.close())
                self._closing.add(task)
                task.add_done_callback(self._closing.discard)


def _notice(why: str) -> ev.Notice:
    title = "the MCP servers are not available"
    return ev.Notice(title=title, description=why, severity="warning", code="mcp_server_failed")
