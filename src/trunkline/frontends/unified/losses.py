"""What UnifiedMessage has no message for: where its meaning goes instead."""

from __future__ import annotations

from trunkline import events as ev

__all__ = ["LOSSES"]

LOSSES: dict[type[ev.Event], str] = {
    ev.RunOpened: "the journal's own",
    ev.RunClosed: "the journal's own",
}
"""Events that this protocol does not carry, and where their meaning goes instead."""
