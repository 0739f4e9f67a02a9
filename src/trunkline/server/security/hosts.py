"""The hosts: by which names a server may be called, and what only this machine can reach.

A page anywhere can let its own name lead to this machine. So a request must name a host that is known to be
ours. The gate asks the list, and refuses.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from typing import NamedTuple

from trunkline.errors import ConfigurationError

_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._~-]+)(?::([0-9]{1,5}))?", re.ASCII)


class HostPort(NamedTuple):
    """A host, and a port if one was named."""

    host: str
    port: int | None

    @classmethod
    def parse(cls, text: str) -> HostPort | None:
        """Read ``host[:port]``; None for anything else."""
        found = _HOST.fullmatch(text.lower())
        if found is None or (found[2] is not None and int(found[2]) > 65535):
            return None
        host = found[1].strip("[]") if found[1].startswith("[") else found[1].removesuffix(".")
        address = _address(host)
        if found[1].startswith("[") and not isinstance(address, ipaddress.IPv6Address):
            return None
        return cls(str(address) if address is not None else host, int(found[2]) if found[2] else None)


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def is_address(host: str) -> bool:
    """Whether a host is given as an address, not by a name."""
    try:
        return bool(ipaddress.ip_address(host.strip("[]")))
    except ValueError:
        return False


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if is_address(host):
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    return host.lower() == "localhost"


class Hosts:
    """The names by which a server may be called."""

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        """Allow these besides the names of this machine; with a port, only with that port."""
        self._allowed: set[HostPort] = set()
        for text in allowed:
            host = HostPort.parse(text)
            if host is None:
                raise ConfigurationError(
                    f"{text!r} is no host: give a name such as chat.example.org, or name:port"
                )
            self._allowed.add(host)

    def knows(self, host: HostPort, bound: str | None) -> bool:
        """Whether the server may be called so; ``bound`` is the address that took the connection."""
        if host in self._allowed or HostPort(host.host, None) in self._allowed:
            return True
        if host.host == "localhost":
            return True
        address = _address(host.host)
        # An address is safe where a name is not: no foreign name can be made to look like it.
        return address is not None and (address.is_loopback or address == _address(bound or ""))
