"""Which hosts and addresses the server may call for a remote client.

A list has names (``mcp.example.org``), addresses and networks (``10.1.0.0/16``), each for every port or for
one. A name may resolve to public addresses only: an address of this machine or its network must be on the
list itself. ``localhost`` stands for the addresses of this machine.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Union

from trunkline.errors import ConfigurationError

Address = Union[ipaddress.IPv4Address, ipaddress.IPv6Address]
Network = Union[ipaddress.IPv4Network, ipaddress.IPv6Network]

_ENTRY = re.compile(
    r"(?:\[(?P<six>[0-9a-f:.]+(?:/\d{1,3})?)\]|(?P<host>[a-z0-9._/-]+))(?::(?P<port>\d{1,5}))?", re.ASCII
)
_BARE_SIX = re.compile(r"[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*(?:/\d{1,3})?", re.ASCII)
_LOOPBACK: tuple[Network, ...] = (ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1/128"))
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_OWN: tuple[Network, ...] = (ipaddress.ip_network("168.63.129.16/32"), ipaddress.ip_network("192.0.0.0/24"))
"""Addresses that look public, but are the metadata services of Azure and of Oracle."""


class _Entry(NamedTuple):
    name: str | None
    networks: tuple[Network, ...]
    port: int | None

    def takes(self, port: int) -> bool:
        return self.port is None or self.port == port


class Outbound:
    """A list of hosts that may be called; an empty one allows nothing."""

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        """Read a list; raises ConfigurationError for an entry that is no host."""
        self.allowed: Sequence[str] = tuple(allowed)
        self._entries = [_read(text) for text in self.allowed]

    def __bool__(self) -> bool:
        """Whether anything may be called at all."""
        return bool(self._entries)

    def allows_host(self, host: str, port: int) -> bool:
        """Whether the host of a URL is on the list, by its name or its address."""
        address = _address(host)
        if address is not None:
            return self._lists(address, port)
        name = host.lower().removesuffix(".")
        return any(entry.name == name and entry.takes(port) for entry in self._entries)

    def allows_address(self, text: str, port: int) -> bool:
        """Whether a host of the list may resolve to an address: a public one, or one on the list itself."""
        address = _address(text)
        return address is not None and (_is_public(address) or self._lists(address, port))

    def _lists(self, address: Address, port: int) -> bool:
        inner = _innermost(address)
        return any(
            entry.takes(port) and any(one in network for network in entry.networks)
            for entry in self._entries
            for one in {address, inner}
        )


def _read(text: str) -> _Entry:
    given = text.strip().lower()
    found = None if _BARE_SIX.fullmatch(given) else _ENTRY.fullmatch(given)
    host, port = given, None
    if found is not None:
        host = found["six"] or found["host"]
        port = int(found["port"]) if found["port"] else None
    elif not _BARE_SIX.fullmatch(given):
        raise ConfigurationError(
            f"{text!r} is no host: give a name such as mcp.example.org, an address, or a network such as "
            "10.1.0.0/16, with :PORT for one port only"
        )
    if host == "localhost":
        return _Entry(host, _LOOPBACK, port)
    try:
        return _Entry(None, (ipaddress.ip_network(host),), port)
    except ValueError as error:
        if "/" in host or ":" in host or host.replace(".", "").isdecimal():
            raise ConfigurationError(f"{text!r} is no address and no network: {error}") from None
    return _Entry(host.removesuffix("."), (), port)


def _address(text: str) -> Address | None:
    try:
        return ipaddress.ip_address(text.strip("[]").partition("%")[0])
    except ValueError:
        return None


def _innermost(address: Address) -> Address:
    """The IPv4 address inside an IPv6 address (mapped, 6to4, Teredo, NAT64), else the address itself."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1] or address


def _is_public(address: Address) -> bool:
    inner = _innermost(address)
    return inner.is_global and not inner.is_multicast and not any(inner in own for own in _OWN)
