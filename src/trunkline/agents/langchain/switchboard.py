"""The switchboard: which run talks through which voice, where no context variable says so."""

from __future__ import annotations

from trunkline.agents.langchain.lookup import TrunklineContext
from trunkline.agents.langchain.voice import Voice

__all__ = ["SWITCHBOARD", "Switchboard"]


class Switchboard:
    """Connects runs to voices."""

    def connect(self, context: TrunklineContext | None) -> Voice | None:
        """The voice of the run this code is part of."""
        return None


SWITCHBOARD = Switchboard()
"""For runs that bring their own context, whatever middleware they pass."""
