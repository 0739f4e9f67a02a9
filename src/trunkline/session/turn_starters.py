"""Which client started which turn: some clients may see only the turns that they started."""

from __future__ import annotations

from collections import OrderedDict

from trunkline.errors import SessionBusy

__all__ = ["TurnStarters"]

_REMEMBERED = 1024


class TurnStarters:
    """Remembers who started the newest turns; a client without a name may see all of them."""

    def __init__(self) -> None:
        self._by_turn: OrderedDict[str, str] = OrderedDict()

    def note(self, turn_id: str, starter: str | None) -> None:
        """Note who started a turn."""
        if starter is not None:
            self._by_turn[turn_id] = starter
            while len(self._by_turn) > _REMEMBERED:
                self._by_turn.popitem(last=False)

    def may_see(self, turn_id: str, starter: str | None) -> bool:
        """Whether a client may see a turn."""
        return starter is None or self._by_turn.get(turn_id) == starter

    def check(self, turn_id: str, starter: str | None) -> None:
        """Refuse a client that may not see a turn."""
        if not self.may_see(turn_id, starter):
            raise SessionBusy(
                "another client started this run: to see it takes a token with the scope 'follow'"
            )
