"""Reads what this version understands of a record that a newer one wrote.

A turn that ended for a reason we do not know has ended all the same. So a field with a word (or a form)
that is unknown here counts as not given, and its value is kept in ``meta`` under ``unread``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar, cast

import msgspec

T = TypeVar("T")

# msgspec ends its message with the place: "Invalid enum value 'done' - at `$.stop_reason`". A place inside a
# list is left alone: a plan or a list of options without it would say something else.
_FIELD = re.compile(r"at `\$\.(\w+)`")

_STAND_INS: dict[tuple[Any, str], dict[str, str]] = {("answered", "outcome"): {"outcome": "cancelled"}}
"""What takes the place of a word that a record cannot do without, by its type and field."""


def convert_known(given: Any, error: msgspec.ValidationError, convert: Callable[[Any], T]) -> T | None:
    """Convert a record without the fields that are not understood; None when it cannot do without one."""
    fields = dict(cast("dict[str, Any]", given)) if isinstance(given, dict) else {}
    unread: dict[str, Any] = {}
    while (found := _FIELD.search(str(error))) is not None and found[1] in fields.keys() - {"type"}:
        name = found[1]
        unread[name] = fields.pop(name)
        fields |= _STAND_INS.get((fields.get("type"), name), {})
        meta: Any = fields.get("meta")
        fields["meta"] = {
            **(cast("dict[str, Any]", meta) if isinstance(meta, dict) else {}),
            "unread": unread,
        }
        try:
            return convert(fields)
        except msgspec.ValidationError as another:
            error = another
    return None
