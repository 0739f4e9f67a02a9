"""MCP servers that a middleware brings: each session has its own, until it or the middleware is closed."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, cast

from trunkline import events as ev
from trunkline.agents.langchain.channel import Channel
from trunkline.agents.langchain.errors import explain
from trunkline.agents.langchain.tools.attached_servers import (
    attach_servers,
    attached_tools,
    detach_servers,
    mcp_capabilities,
)
from trunkline.agents.langchain.tools.session_tools import wait_for_tools
from trunkline.errors import ConfigurationError
from trunkline.mcp.server_settings import Servers, read_connections
from trunkline.session.handles import in_loop

log = logging.getLogger("trunkline.langchain")

_OPTIONS = ("prefix_tool_name", "standard_content_blocks")
_MOST_SESSIONS = 256


class LogChannel:
    """Stands in for the channel of a run without a client, which has MCP servers all the same."""

    client_tools: tuple[Any, ...] = ()
    follows_run = False

    def __init__(self) -> None:
        """Begin with nothing."""
        self.memory: dict[Any, Any] = {}

    def emit(self, event: ev.AnyEvent) -> None:
        """Log what is not available."""
        if isinstance(event, ev.Notice):
            log.warning("%s: %s", event.title, event.description)


class AttachedServers:
    """Attaches servers to a session when it first calls its model; ``close`` ends them."""

    def __init__(self, servers: Servers, options: Mapping[str, Any] | None) -> None:
        """Check what can be checked before a session is there."""
        given: Any = servers
        self._servers: Servers = given if isinstance(servers, Mapping) else list(given)
        for name, why in read_connections(self._servers)[1].items():
            raise ConfigurationError(f"the MCP server {name!r} of mcp_servers cannot be used: {why}")
        self._options = dict(options or {})
        for name in self._options:
            if name not in _OPTIONS:
                raise ConfigurationError(f"mcp_tool_options knows {' and '.join(_OPTIONS)}, not {name!r}")
        if not mcp_capabilities().http:
            raise ConfigurationError("mcp_servers need MCP: run `pip install 'trunkline[mcp]'`")
        self._sessions: OrderedDict[int, dict[Any, Any]] = OrderedDict()
        self._without_client: OrderedDict[str, Channel] = OrderedDict()
        self._loaded: list[Any] | None = None
        self._closing: set[asyncio.Task[None]] = set()

    def listener(self, channel: Channel | None, session_id: str | None) -> Channel:
        """The channel that a session's tools belong to; a run without a client gets one that logs."""
        if channel is not None:
            return channel
        channel_without_client = self._without_client.setdefault(
            session_id or "", cast("Channel", LogChannel())
        )
        if len(self._without_client) > _MOST_SESSIONS:
            self._without_client.popitem(last=False)
        return channel_without_client

    async def attach(self, channel: Channel) -> None:
        """See that a session has its servers, and wait until they are up or have failed."""
        if not channel.follows_run:  # Those of a session of ours are closed with it.
            self._hold(channel.memory)
        await attach_servers(channel.memory, self._servers, source="middleware", **self._options)
        await wait_for_tools(channel)

    def _hold(self, memory: dict[Any, Any]) -> None:
        self._sessions[id(memory)] = memory
        self._sessions.move_to_end(id(memory))
        if len(self._sessions) > _MOST_SESSIONS:
            _, oldest = self._sessions.popitem(last=False)
            task = asyncio.create_task(detach_servers(oldest))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    def load(self, channel: Channel) -> list[Any]:
        """The tools for a plain ``invoke`` in a session without open servers: each call opens its own."""
        if attached_tools(channel.memory):
            return []
        if self._loaded is None:
            self._loaded = self._list(channel)
        return self._loaded

    def _list(self, channel: Channel) -> list[Any]:
        from trunkline.agents.langchain.tools.mcp_tools import load_mcp_tools

        if in_loop():
            why = "invoke() cannot open them from inside an event loop: call ainvoke()"
        else:
            try:
                return list(asyncio.run(load_mcp_tools(self._servers, **self._options)))
            except Exception as error:
                why = explain(error)
        title = "The MCP servers are not available"
        channel.emit(ev.Notice(title=title, description=why, severity="warning", code="mcp_server_failed"))
        return []

    async def close(self) -> None:
        """End every server; idempotent."""
        sessions, self._sessions = self._sessions, OrderedDict()
        self._without_client.clear()
        await asyncio.gather(*(detach_servers(memory) for memory in sessions.values()), *self._closing)
