"""A mode: what an agent is told, which tools it may call, and when it asks."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Mapping
from typing import Any, get_args

import msgspec

from trunkline import events as ev
from trunkline.errors import ConfigurationError

READ_LIKE: tuple[ev.ToolKind, ...] = ("read", "search", "fetch", "think")
"""The kinds of tools that change nothing."""

_SHAPES: dict[str, Any] = {
    "name": str | None,
    "description": str | None,
    "system_prompt": str | None,
    "allowed_tools": tuple[str, ...] | None,
    "allowed_kinds": tuple[ev.ToolKind, ...] | None,
    "require_permission": bool | tuple[str, ...],
    "model_settings": dict[str, Any],
    "planning": bool,
}


class Mode(msgspec.Struct, frozen=True, kw_only=True):
    """One way to work; everything is optional and adds to what the agent is.

    ``system_prompt``
        is appended to the agent's own.
    ``allowed_tools``, ``allowed_kinds``
        patterns of names (``read_*``) and kinds of tools (``read``): what either of them names may be
        called. Without both every tool may.
    ``require_permission``
        True asks before every call that does more than read; patterns ask for the tools they name.
    ``model_settings``
        are merged into those of the model's calls.
    ``planning``
        shows the lists in the model's answers as the plan, and tells the model that what it may not
        call is put off.
    """

    name: str | None = None
    description: str | None = None
    system_prompt: str | None = None
    allowed_tools: Collection[str] | None = None
    allowed_kinds: Collection[ev.ToolKind] | None = None
    require_permission: bool | Collection[str] = False
    model_settings: Mapping[str, Any] = {}
    planning: bool = False

    def __post_init__(self) -> None:
        """Refuse what could never work."""
        for field, shape in _SHAPES.items():
            try:
                msgspec.structs.force_setattr(self, field, msgspec.convert(getattr(self, field), shape))
            except msgspec.ValidationError as error:
                wrong, known = getattr(self, field), ", ".join(get_args(ev.ToolKind))
                hint = f"; the kinds are {known}" if field == "allowed_kinds" else ""
                raise ConfigurationError(f"a mode's {field} cannot be {wrong!r}: {error}{hint}") from None

    @property
    def is_idle(self) -> bool:
        """Whether it leaves an agent as it is."""
        changes = self.restricts or self.require_permission or self.planning
        return not (changes or self.system_prompt or self.model_settings)

    @property
    def restricts(self) -> bool:
        """Whether there are tools that may not be called."""
        return self.allowed_tools is not None or self.allowed_kinds is not None

    def permits(self, name: str, kind: ev.ToolKind) -> bool:
        """Whether a tool may be called."""
        return not self.restricts or kind in (self.allowed_kinds or ()) or _any(self.allowed_tools, name)

    def asks(self, name: str, kind: ev.ToolKind) -> bool:
        """Whether a person is asked before a tool runs."""
        if isinstance(self.require_permission, bool):
            return self.require_permission and kind not in READ_LIKE
        return _any(self.require_permission, name)


READY_MODES: dict[str, Mode] = {
    "agentic": Mode(name="Agentic", description="Works on its own with every tool"),
    "interactive": Mode(
        name="Interactive", description="Asks before it does more than read", require_permission=True
    ),
    "readonly": Mode(
        name="Read only",
        description="Reads, searches and thinks; changes nothing",
        system_prompt="You are in read-only mode: look things up and explain, but change nothing.",
        allowed_kinds=READ_LIKE,
    ),
    "planning": Mode(
        name="Planning",
        description="Makes a plan and puts the work off",
        system_prompt=(
            "You are in planning mode: do not carry anything out yet. Look up what you need, then give a "
            "plan: a numbered list of steps, or the todo tool if you have one. The work itself is done once "
            "the user has agreed and changed the mode."
        ),
        allowed_tools=("write_todos", "write_plan", "update_plan", "exit_plan*"),
        allowed_kinds=READ_LIKE,
        planning=True,
    ),
}
"""The modes of a ModeMiddleware that is given none; take some of them along into your own."""


def _any(patterns: Collection[str] | None, name: str) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns or ())
