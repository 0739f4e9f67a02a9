"""Strangers: connections that have shown no token yet, bounded for each peer and in total.

Whoever only connects costs a file of ours. So the oldest stranger that asks for nothing makes room for a
new one, of the same peer first; a connection that showed a token once is nobody's business here.
"""

from __future__ import annotations

from typing import Any

__all__ = ["UnauthenticatedLimit"]

Place = tuple[str, int]
"""The address and the port at the other end, which name a connection."""


class UnauthenticatedLimit:
    """Keeps count of them, oldest first."""

    def __init__(self, most_of_peer: int, most: int) -> None:
        """Allow so many of one peer, and so many in all."""
        self.most_of_peer = most_of_peer
        self.most = most
        self._peers: dict[str, dict[Place, Any]] = {}
        self._count = 0

    def __len__(self) -> int:
        """How many there are."""
        return self._count

    def enter(self, place: Place, protocol: Any) -> None:
        """Take a new connection; an older one that asks for nothing goes for it, or else itself."""
        mine = self._peers.setdefault(place[0], {})
        mine[place] = protocol
        self._count += 1
        if len(mine) > self.most_of_peer:
            self._let_go(mine)
        elif self._count > self.most:
            # Of the peer that has most, so that no crowd of one crowds out the others.
            self._let_go(max(self._peers.values(), key=len))

    def leave(self, place: Place | None) -> None:
        """Forget a connection: it is gone, or has shown a token."""
        if place is None:
            return
        mine = self._peers.get(place[0])
        if mine is not None and mine.pop(place, None) is not None:
            self._count -= 1
            if not mine:
                del self._peers[place[0]]

    def _let_go(self, mine: dict[Place, Any]) -> None:
        newest = next(reversed(mine))
        place = next((one for one, protocol in mine.items() if one != newest and _is_idle(protocol)), newest)
        protocol = mine[place]
        self.leave(place)
        protocol.transport.abort()


def _is_idle(protocol: Any) -> bool:
    """Whether no request of a connection is being answered."""
    cycle = getattr(protocol, "cycle", None)
    return cycle is None or cycle.response_complete
