"""The MCP servers that are attached to a session: opened with it, closed with it.

They are kept in the session's memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

from langchain_core.tools import BaseTool

from trunkline import events as ev
from trunkline.agents.interface import McpCapabilities

if TYPE_CHECKING:
    from trunkline.agents.langchain.tools.mcp_servers import McpServers

Memory = MutableMapping[Any, Any]

_KEY = "trunkline.mcp"


def mcp_capabilities() -> McpCapabilities:
    """The kinds of MCP servers that a LangChain agent can attach here."""
    able = find_spec("mcp") is not None
    return McpCapabilities(http=able, sse=able)


class _Attached:
    """The servers of one source, with the settings that they were opened with."""

    def __init__(self, servers: Any, folders: Sequence[str], options: dict[str, Any]) -> None:
        self.settings = (servers, tuple(folders), options)
        self.failures: list[ev.Notice] = []
        self.servers: McpServers | None = None
        if not servers:
            return
        try:
            from trunkline.agents.langchain.tools.mcp_servers import McpServers
        except ImportError:
            self.failures.append(_MISSING)
            return
        self.servers = McpServers(servers, folders=folders, **options)
        self.servers.start()

    def begin_close(self) -> None:
        if self.servers is not None:
            self.servers.begin_close()

    async def close(self) -> None:
        if self.servers is not None:
            await self.servers.close()


_MISSING = ev.Notice(
    title="MCP servers cannot be attached",
    description="the agent's environment lacks MCP: run `pip install 'trunkline[mcp]'` in it",
    severity="warning",
    code="mcp_missing",
)


def _attached(memory: Memory) -> dict[str, _Attached]:
    return cast("dict[str, _Attached]", memory.setdefault(_KEY, {}))


async def attach_servers(
    memory: Memory, servers: Any, *, folders: Sequence[str] = (), source: str = "session", **options: Any
) -> None:
    """Begin to open a session's servers, without waiting; other servers of the same source are closed.

    ``memory`` is the session's; the caller must call ``detach_servers`` with it later. ``options`` are those
    of ``McpServers``. Servers with the same settings stay attached.
    """
    attached = _attached(memory)
    known = attached.get(source)
    if known is not None and known.settings == (servers, tuple(folders), options):
        return
    attached[source] = _Attached(servers, folders, options)
    if known is not None:
        await known.close()


async def detach_servers(memory: Memory) -> None:
    """Close every server of a session; idempotent."""
    attached = cast("dict[str, _Attached]", memory.pop(_KEY, {}))
    for item in attached.values():
        item.begin_close()  # First: the gathered closes may be cancelled before they begin.
    await asyncio.gather(*(item.close() for item in attached.values()))


async def wait_for_servers(memory: Memory) -> None:
    """Wait until the servers are up or have failed; one that was up and died is started again."""
    held = [item.servers for item in _attached(memory).values() if item.servers is not None]
    for servers in held:
        servers.start()
    await asyncio.gather(*(servers.ready() for servers in held))


def attached_tools(memory: Memory) -> list[BaseTool]:
    """The tools of a session's servers, as far as those are up."""
    return [
        tool for item in _attached(memory).values() if item.servers is not None for tool in item.servers.tools
    ]


def server_failures(memory: Memory) -> list[ev.Notice]:
    """Notices of the servers that failed since the last call."""
    failures: list[ev.Notice] = []
    for item in _attached(memory).values():
        failures += item.failures
        item.failures = []
        if item.servers is not None:
            failures += item.servers.failures()
    return failures
