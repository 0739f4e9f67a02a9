"""Questions an agent puts to a person, and the answers they get.

A question is live in one protocol (an ACP request) and ends the run in another (AG-UI, AI SDK),
so here it is a value: ``Asked`` announces it, an ``Answer`` command settles it, and ``Answered``
tells everyone. The session owns what lies between.
"""

from __future__ import annotations

from typing import Any, Literal, Union

import msgspec

__all__ = [
    "ALLOW_KINDS",
    "ClientCall",
    "Form",
    "Link",
    "Option",
    "OptionKind",
    "Outcome",
    "Permission",
    "Question",
    "default_options",
]

OptionKind = Literal["allow_once", "allow_always", "reject_once", "reject_always"]
ALLOW_KINDS: frozenset[str] = frozenset({"allow_once", "allow_always"})

Outcome = Literal["selected", "accepted", "declined", "cancelled", "expired"]
"""``selected`` carries an option, ``accepted`` carries data; ``cancelled`` only ever means that
the turn was cancelled, so a refusal is a selected reject option or ``declined``."""


class Option(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One button of a permission."""

    option_id: str
    name: str
    kind: OptionKind


class _Question(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """The common field of every question."""

    message: str = ""


class Permission(_Question, frozen=True, kw_only=True, tag="permission"):
    """May this tool call run?"""

    call_id: str
    options: tuple[Option, ...] = ()
    allows_edit: bool = False


class Form(_Question, frozen=True, kw_only=True, tag="form"):
    """Please fill in these fields (a flat JSON schema)."""

    fields: dict[str, Any]
    call_id: str | None = None


class Link(_Question, frozen=True, kw_only=True, tag="link"):
    """Please visit this address and say when you are done."""

    url: str
    call_id: str | None = None


class ClientCall(_Question, frozen=True, kw_only=True, tag="client_call"):
    """Please run this tool of yours; its result is the answer."""

    call_id: str
    name: str = ""
    input: Any = None


Question = Union[Permission, Form, Link, ClientCall]


def default_options(*, always: bool = True) -> tuple[Option, ...]:
    """The usual buttons, in the order editors show them."""
    options = [Option(option_id="allow_once", name="Allow once", kind="allow_once")]
    if always:
        options.append(Option(option_id="allow_always", name="Always allow", kind="allow_always"))
    options.append(Option(option_id="reject_once", name="Reject", kind="reject_once"))
    if always:
        options.append(Option(option_id="reject_always", name="Always reject", kind="reject_always"))
    return tuple(options)
