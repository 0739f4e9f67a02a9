"""Connections that have shown no token yet, bounded for each peer and in total.

A connection without a request costs a file descriptor. So the oldest idle one is closed for a new one, of the
same peer first. A connection that has shown a token is no longer counted here.
"""

from __future__ import annotations

from typing import Any

ClientAddress = tuple[str, int]
"""The address and the port at the other end, which name a connection."""


class UnauthenticatedLimit:
    """Counts unauthenticated connections, oldest first."""

    def __init__(self, most_of_peer: int, most: int) -> None:
        self.most_of_peer = most_of_peer
        self.most = most
        self._peers: dict[str, dict[ClientAddress, Any]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, address: ClientAddress, protocol: Any) -> None:
        """Count a new connection; beyond a limit an older idle one is closed for it, or else the new one."""
        own = self._peers.setdefault(address[0], {})
        own[address] = protocol
        self._count += 1
        if len(own) > self.most_of_peer:
            self._close_oldest(own)
        elif self._count > self.most:
            # Of the peer that has most, so that one peer does not keep the others out.
            self._close_oldest(max(self._peers.values(), key=len))

    def remove(self, address: ClientAddress | None) -> None:
        """Count a connection no longer: it is closed, or has shown a token."""
        if address is None:
            return
        own = self._peers.get(address[0])
        if own is not None and own.pop(address, None) is not None:
            self._count -= 1
            if not own:
                del self._peers[address[0]]

    def _close_oldest(self, own: dict[ClientAddress, Any]) -> None:
        newest = next(reversed(own))
        address = next((one for one, protocol in own.items() if one != newest and _is_idle(protocol)), newest)
        protocol = own[address]
        self.remove(address)
        protocol.transport.abort()


def _is_idle(protocol: Any) -> bool:
    """Whether no request of a connection is being answered."""
    cycle = getattr(protocol, "cycle", None)
    return cycle is None or cycle.response_complete
