"""Ids: the only module that makes random ones."""

from __future__ import annotations

import secrets


def new_session_id() -> str:
    """A session id that cannot be guessed: ``sess_`` and 160 random bits."""
    return f"sess_{secrets.token_hex(20)}"


def new_id(prefix: str) -> str:
    """An id that is unique wherever it may travel."""
    return f"{prefix}_{secrets.token_hex(12)}"
