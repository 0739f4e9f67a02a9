"""Updates that state a fact about the session: its commands, its title, its usage, a notice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from trunkline import events as ev
from trunkline.protocols.acp.fields import as_list, as_object, text_in, whole_number

SOURCE = "acp"
"""The source of a Raw for what cannot be read."""


def session_fact(kind: str, update: Mapping[str, Any]) -> list[ev.AnyEvent] | None:
    """Give the events of an update of this kind; None for one that is not known or cannot be read."""
    read = _READERS.get(kind)
    return None if read is None else read(update)


def _commands(update: Mapping[str, Any]) -> list[ev.AnyEvent] | None:
    listed = update.get("availableCommands")
    if not isinstance(listed, list):
        return None
    items = as_list(listed)
    commands = tuple(
        ev.CommandInfo(
            name=name,
            description=text_in(item, "description") or "",
            hint=text_in(as_object(item.get("input")), "hint"),
        )
        for item in map(as_object, items)
        if (name := text_in(item, "name")) is not None
    )
    changed = ev.CommandsChanged(commands=commands, meta=_meta(update))
    whole = len(commands) == len(items)
    return [changed] if whole else [changed, ev.Raw(source=SOURCE, payload=update)]


def _info(update: Mapping[str, Any]) -> list[ev.AnyEvent] | None:
    """Read a title; "null" takes it away, and an update without one says nothing that we keep."""
    title = update.get("title")
    if "title" not in update or not (title is None or isinstance(title, str)):
        return None
    return [ev.InfoChanged(title=title, meta=_meta(update))]


def _usage(update: Mapping[str, Any]) -> list[ev.AnyEvent] | None:
    used, size = whole_number(update.get("used")), whole_number(update.get("size"))
    if used is None or size is None:
        return None
    given = as_object(update.get("cost"))
    amount, currency = given.get("amount"), text_in(given, "currency")
    cost = None
    if isinstance(amount, int | float) and not isinstance(amount, bool) and currency is not None:
        cost = ev.Cost(amount=float(amount), currency=currency)
    return [ev.ContextUsage(used=used, size=size, cost=cost, meta=_meta(update))]


def _notice(update: Mapping[str, Any]) -> list[ev.AnyEvent] | None:
    title = text_in(update, "title")
    if title is None:
        return None
    severity: Any = text_in(update, "severity") or "info"
    description = text_in(update, "description")
    return [ev.Notice(title=title, severity=severity, description=description, meta=_meta(update))]


def _meta(update: Mapping[str, Any]) -> dict[str, Any] | None:
    return as_object(update.get("_meta")) or None


_READERS: dict[str, Callable[[Mapping[str, Any]], list[ev.AnyEvent] | None]] = {
    "available_commands_update": _commands,
    "session_info_update": _info,
    "usage_update": _usage,
    "notice": _notice,
}
