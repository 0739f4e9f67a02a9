"""Sessions: whatever lives. Hub, Session, Window and Settings are loaded when they are first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trunkline._lazy import lazy_names

if TYPE_CHECKING:
    from trunkline.session.hub import Hub
    from trunkline.session.receipts import Receipt
    from trunkline.session.session import Session
    from trunkline.session.settings import Settings
    from trunkline.session.window import Window

__all__ = ["Hub", "Receipt", "Session", "Settings", "Window"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Hub": "trunkline.session.hub",
        "Receipt": "trunkline.session.receipts",
        "Session": "trunkline.session.session",
        "Settings": "trunkline.session.settings",
        "Window": "trunkline.session.window",
    },
)
