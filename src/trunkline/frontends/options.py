"""What the settings of every front end have in common: checks when they are made, and the level of errors."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal, Self, get_args, get_origin

import msgspec

from trunkline.errors import ConfigurationError, did_you_mean
from trunkline.events import StepKind

__all__ = ["DetailLevel", "FrontEndOptions", "ImportHistory", "OnDisconnect", "PageOptions", "Steps"]

Steps = Literal["model", "node", "none"]
DetailLevel = Literal["full", "message", "code", "none"]
ImportHistory = Literal["marked", "drop"]
OnDisconnect = Literal["cancel", "continue"]


class FrontEndOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a front end: fields with few values, and switches, are checked by their types."""

    error_detail_level: DetailLevel = "message"

    def __post_init__(self) -> None:
        for name, known in _choices(type(self)):
            given = getattr(self, name)
            # 1 is equal to True, but no switch; 7.0 is equal to 7, but names no version.
            if given not in known or not isinstance(given, type(known[0])):
                words = "True or False" if known[0] is True else f"one of {', '.join(map(str, known))}"
                raise ConfigurationError(f"{name} is {given!r}: give {words}")

    def check_count(self, name: str, least: int = 0) -> None:
        """Refuse a field that is no whole number, or too small."""
        given = getattr(self, name)
        if isinstance(given, bool) or not isinstance(given, int) or given < least:
            raise ConfigurationError(f"{name} is {given!r}: give a whole number of at least {least}")

    @property
    def shows_error_messages(self) -> bool:
        """Whether a client gets the messages of our own errors."""
        return self.error_detail_level in ("full", "message")

    @property
    def shows_exception_texts(self) -> bool:
        """Whether a client gets the texts of exceptions too, which may name files and secrets."""
        return self.error_detail_level == "full"

    @classmethod
    def of(cls, options: Self | None = None, **fields: Any) -> Self:
        """Make options of names and values; an unknown name is refused with the known ones."""
        unknown = sorted(set(fields) - set(cls.__struct_fields__))
        if unknown:
            hint = did_you_mean(unknown[0], cls.__struct_fields__) or "."
            known = ", ".join(cls.__struct_fields__)
            raise ConfigurationError(f"there is no option {', '.join(unknown)}{hint} The options are {known}")
        return msgspec.structs.replace(options or cls(), **fields) if fields else options or cls()


class PageOptions(FrontEndOptions, frozen=True, kw_only=True):
    """The settings of a front end that is for web pages."""

    emit_steps: Steps = "model"
    """What is shown as a step: calls of models, or nodes of a graph; with either, the agent's own."""
    emit_raw: bool = False
    """Whether events that we do not understand are sent."""
    max_ui_payload_size: int = 1_048_576
    """Bytes of a tool's result that a page gets; the agent keeps it all. 0: no limit."""
    on_disconnect: OnDisconnect = "continue"
    """What a turn does when its last reader leaves; it can be resumed if it goes on."""
    import_history: ImportHistory = "marked"
    """What becomes of the history that a page brings to a conversation that is new here.

    The agent gets it marked as sent by the client, or not at all.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_count("max_ui_payload_size")

    @property
    def step_kinds(self) -> tuple[StepKind, ...]:
        """What an adapter has to emit as steps: the end of a model's step is also the end of its message."""
        return ("model", "node") if self.emit_steps == "node" else ("model",)


@cache
def _choices(kind: type[FrontEndOptions]) -> list[tuple[str, tuple[Any, ...]]]:
    """Give the fields that take few values, with these."""
    found: list[tuple[str, tuple[Any, ...]]] = []
    for field in msgspec.structs.fields(kind):
        if field.type is bool:
            found.append((field.name, (True, False)))
        elif get_origin(field.type) is Literal:
            found.append((field.name, get_args(field.type)))
    return found
