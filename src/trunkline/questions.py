"""Questions an agent puts to a person, and the answers they get.

A question is live in one protocol (an ACP request) and ends the run in another (AG-UI, AI SDK),
so here it is a value: ``Asked`` announces it, an ``Answer`` command settles it, and ``Answered``
tells everyone. The session owns what lies between.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, Union

import msgspec

from trunkline.open_words import OpenWord

__all__ = [
    "ALLOW_KINDS",
    "ClientCall",
    "Coverage",
    "Form",
    "Link",
    "Option",
    "OptionKind",
    "Outcome",
    "Permission",
    "Question",
    "default_options",
    "name_coverage",
]

OptionKind = Literal["allow_once", "allow_always", "reject_once", "reject_always"]
ALLOW_KINDS: frozenset[str] = frozenset({"allow_once", "allow_always"})
REJECT_KINDS: frozenset[str] = frozenset({"reject_once", "reject_always"})
"""An option of any other kind is neither a yes nor a no: only its agent knows what it means."""

Outcome = Literal["selected", "accepted", "declined", "cancelled", "expired"]
"""``selected`` carries an option, ``accepted`` carries data; ``cancelled`` only ever means that
the turn was cancelled, so a refusal is a selected reject option or ``declined``."""


class Option(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One button of a permission."""

    option_id: str
    name: str
    kind: OpenWord[OptionKind]
    wants_words: bool = False
    """Whether the person is asked for words next: of use only where there is a form for them."""


class Coverage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an "always" is about: a tool of one kind, and of its commands no more than is named here."""

    tool: str
    kind: str
    words: tuple[str, ...] = ()
    """The program, and its subcommand if it has any: a command that begins so, with any further words."""
    digest: str | None = None
    """Of one command line or one set of arguments: these and no others."""

    @property
    def key(self) -> str:
        """The name under which an answer is kept."""
        exact = [] if self.digest is None else [{"exactly": self.digest}]
        return msgspec.json.encode([self.tool, self.kind, *self.words, *exact]).decode()

    def __str__(self) -> str:
        if self.words:
            return f"`{' '.join(self.words)}` with any arguments"
        return self.tool if self.digest is None else f"{self.tool} with exactly this input"


class _Question(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """The common field of every question."""

    message: str = ""


class Permission(_Question, frozen=True, kw_only=True, tag="permission"):
    """May this tool call run?"""

    call_id: str
    options: tuple[Option, ...] = ()
    allows_edit: bool = False
    covers: Coverage | None = None
    """What an "always" answer to it covers; without it no answer is kept."""


class Form(_Question, frozen=True, kw_only=True, tag="form"):
    """Please fill in these fields (a flat JSON schema)."""

    fields: dict[str, Any]
    call_id: str | None = None
    value: Any = None
    """What the agent asked with, as it is: a front end that knows the agent shows it in its own way."""
    answer_schema: dict[str, Any] | None = None
    """The schema of the answer as the agent wants it, if it has one; the fields are a flat form of it."""
    single_answer: bool = False
    """Whether the agent gets the field ``answer`` alone. Without an ``answer_schema`` it takes any JSON."""

    @property
    def is_free(self) -> bool:
        """Whether the agent itself checks the answer: the types of the fields are only for people."""
        return self.single_answer or self.answer_schema is not None


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


def default_options(*, always: bool = True, covers: Coverage | None = None) -> tuple[Option, ...]:
    """The usual buttons, in the order editors show them; those for good say what they cover."""
    about = "" if covers is None else f" {covers}"
    options = [Option(option_id="allow_once", name="Allow once", kind="allow_once")]
    if always:
        options.append(Option(option_id="allow_always", name=f"Always allow{about}", kind="allow_always"))
    options.append(Option(option_id="reject_once", name="Reject", kind="reject_once"))
    if always:
        options.append(Option(option_id="reject_always", name=f"Always reject{about}", kind="reject_always"))
    return tuple(options)


def name_coverage(options: Iterable[Option], covers: Coverage | None) -> tuple[Option, ...]:
    """Let options that are for good say what they cover; options of one's own may have any name."""
    return tuple(
        msgspec.structs.replace(option, name=f"{option.name} ({covers})")
        if covers is not None and option.kind.endswith("_always") and str(covers) not in option.name
        else option
        for option in options
    )
