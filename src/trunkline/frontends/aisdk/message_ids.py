"""Makes messages and ids for them, for programs with a server of their own.

The messages of our own server have the ids of their turns.
"""

from __future__ import annotations

import random as _random
import time
from collections.abc import Callable, Sequence
from typing import Literal

from trunkline.protocols.aisdk.wire import JsonObject

__all__ = ["create_ui_message", "generate_message_id"]

Role = Literal["system", "user", "assistant"]

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def create_ui_message(
    role: Role, message_id: str | None = None, parts: Sequence[JsonObject] = ()
) -> JsonObject:
    """Make a message; without an id it gets one of ``generate_message_id``."""
    return {"id": message_id or generate_message_id(), "role": role, "parts": list(parts)}


def generate_message_id(
    clock: Callable[[], float] = time.time, random: Callable[[], float] = _random.random
) -> str:
    """Make an id of a message: ``msg-<milliseconds>-<6 characters>``.

    ``clock`` gives seconds since 1970, as ``time.time`` does; ``random`` a number from 0 up to 1, as
    ``random.random`` does.
    """
    fraction, letters = random(), ""
    for _ in range(6):
        digit, fraction = divmod(fraction * 36, 1)
        letters += _DIGITS[int(digit)]
    return f"msg-{int(clock() * 1000)}-{letters}"
