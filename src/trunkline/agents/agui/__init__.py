"""AG-UI servers as agents on the trunk: ``agui:URL``."""

from __future__ import annotations

from trunkline.agents.agui.agent import AguiAgent

__all__ = ["AguiAgent"]
