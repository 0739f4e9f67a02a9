"""Read the settings of MCP servers, and say what is wrong with them.

Developers write a mapping from names to settings; ACP clients send a list of objects
(https://agentclientprotocol.com/protocol/session-setup).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Union, cast
from urllib.parse import urlsplit

import msgspec

from trunkline.errors import ConfigurationError

Servers = Union[Mapping[str, Mapping[str, Any]], Iterable[Mapping[str, Any]]]

_HTTP = frozenset({"http", "streamable_http", "streamable-http"})
_KNOWN = "stdio (command, args, env), http or sse (url, headers)"


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """A server that we start as a child process."""

    command: str
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    cwd: str | None = None

    def __str__(self) -> str:
        """Name the program; its arguments may hold secrets."""
        return repr(self.command)


class Site(msgspec.Struct, frozen=True, kw_only=True):
    """A server at a URL."""

    url: str
    headers: dict[str, str] = {}
    sse: bool = False
    reach: tuple[str, ...] | None = None
    """The hosts that may be called for the client that named this server; None: any host."""

    def __str__(self) -> str:
        """Name the server without what may be secret in its URL."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


Connection = Union[Program, Site]


def read_connections(servers: Servers) -> tuple[dict[str, Connection], dict[str, str]]:
    """Read every server; the second dict has the error of each that cannot be read."""
    read: dict[str, Connection] = {}
    errors: dict[str, str] = {}
    for name, given in _named(servers):
        try:
            if name in read:
                raise ConfigurationError("it is given twice: give each server a name of its own")
            if not isinstance(given, Mapping):
                raise ConfigurationError(f"it is no object; known are {_KNOWN}")
            read[name] = _read(cast("Mapping[str, Any]", given))
        except ConfigurationError as error:
            errors[name] = str(error)
    return read, errors


def _named(servers: Servers) -> Iterator[tuple[str, Any]]:
    if isinstance(servers, Mapping):
        yield from cast("Mapping[str, Any]", servers).items()
        return
    for number, given in enumerate(cast("Iterable[Any]", servers), 1):
        name = cast("Any", given).get("name") if isinstance(given, Mapping) else None
        yield str(name or f"server {number}"), given


def _read(given: Mapping[str, Any]) -> Connection:
    kind: Any = given.get("transport") or given.get("type")
    kind = kind or ("http" if given.get("url") else "stdio" if given.get("command") else None)
    try:
        if kind == "stdio":
            return msgspec.convert(
                {
                    "command": given.get("command"),
                    "args": given.get("args") or (),
                    "env": _pairs(given.get("env")),
                    "cwd": None if given.get("cwd") is None else str(given["cwd"]),
                },
                Program,
            )
        if kind in _HTTP or kind == "sse":
            site = msgspec.convert(
                {
                    "url": given.get("url"),
                    "headers": _pairs(given.get("headers")),
                    "sse": kind == "sse",
                    "reach": given.get("reach"),
                },
                Site,
            )
            if urlsplit(site.url).scheme not in ("http", "https"):
                raise ValueError("its url begins with neither http:// nor https://")
            return site
    except (msgspec.ValidationError, TypeError, ValueError, KeyError) as error:
        raise ConfigurationError(f"it cannot be read ({error}); known are {_KNOWN}") from None
    what = f"its transport is {kind!r}" if kind else "it has neither a command nor a url"
    raise ConfigurationError(f"{what}; known are {_KNOWN}")


def _pairs(given: Any) -> dict[str, Any]:
    """Read variables or headers: a mapping, or ACP's list of names and values."""
    if isinstance(given, Mapping):
        return dict(cast("Mapping[str, Any]", given))
    return {pair["name"]: pair["value"] for pair in given or ()}
