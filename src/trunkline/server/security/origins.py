"""The origins of pages that may call a server.

A page anywhere can make a browser call a server on the same machine. So a page must be ours or on the list.
The gate asks the list, and refuses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from trunkline.errors import ConfigurationError
from trunkline.server.security.hosts import HostPort

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*", re.ASCII)
_DEFAULT_PORTS = {"http": 80, "https": 443}


class Origin(NamedTuple):
    """Where a page comes from."""

    scheme: str
    host: str
    port: int | None

    @classmethod
    def of(cls, scheme: str, host: HostPort) -> Origin:
        """Make an origin, with the scheme's own port if none is named."""
        return cls(scheme, host.host, host.port or _DEFAULT_PORTS.get(scheme))

    @classmethod
    def parse(cls, text: str) -> Origin | None:
        """Read ``scheme://host[:port]``; None for anything else, ``null`` too."""
        scheme, colon, rest = text.lower().partition("://")
        host = HostPort.parse(rest)
        if not colon or host is None or not _SCHEME.fullmatch(scheme):
            return None
        return cls.of(scheme, host)


class Origins:
    """The pages that may call a server, besides its own."""

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        self._allowed: set[Origin] = set()
        for text in allowed:
            origin = Origin.parse(text)
            if origin is None:
                raise ConfigurationError(
                    f"{text!r} is not an origin: give scheme://host[:port] without a path, "
                    "such as https://chat.example.org; there is no wildcard"
                )
            self._allowed.add(origin)

    def knows(self, origin: Origin) -> bool:
        """Whether a page from there may call."""
        return origin in self._allowed
