"""Names for the tools of several MCP servers: each is unique and fits what model providers accept."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Protocol, TypeVar

# OpenAI and Anthropic accept names of letters, digits, "_" and "-", at most 64 of them.
_LONGEST = 64
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]+")


class _Named(Protocol):
    @property
    def name(self) -> str: ...


S = TypeVar("S", bound=_Named)
T = TypeVar("T", bound=_Named)


def name_tools(listed: Iterable[tuple[S, T]], prefix_tool_name: bool) -> Mapping[str, tuple[S, T]]:
    """Give every (server, tool) a name of its own: ``server__tool``, or the tool's own name.

    Without ``prefix_tool_name`` only the second tool of a name gets the prefix. A name that is still
    taken gets a number.
    """
    named: dict[str, tuple[S, T]] = {}
    for server, tool in listed:
        name = _prefixed(server.name, tool.name) if prefix_tool_name else tool.name[:_LONGEST]
        if name in named:
            name = whole = _prefixed(server.name, tool.name)
            number = 2
            while name in named:
                name = f"{whole[: _LONGEST - 4]}_{number}"
                number += 1
        named[name] = (server, tool)
    return named


def _prefixed(server: str, tool: str) -> str:
    return f"{_FOREIGN.sub('_', server)}__{tool}"[-_LONGEST:]
