"""The settings of an AI SDK front end; checked when they are made."""

from __future__ import annotations

from typing import Any, Literal, get_args

import msgspec

from trunkline.errors import ConfigurationError, did_you_mean
from trunkline.events import StepKind
from trunkline.protocols.aisdk.wire import VersionNumber, version_of

__all__ = ["AisdkOptions", "DetailLevel", "Steps"]

Steps = Literal["model", "node", "none"]
DetailLevel = Literal["full", "message", "code", "none"]
ImportHistory = Literal["marked", "drop"]
OnDisconnect = Literal["continue", "cancel"]
Busy = Literal["interrupt", "queue", "reject", "steer"]

_CHOICES: dict[str, tuple[str, ...]] = {
    "emit_steps": get_args(Steps),
    "error_detail_level": get_args(DetailLevel),
    "import_history": get_args(ImportHistory),
    "on_disconnect": get_args(OnDisconnect),
    "busy": get_args(Busy),
}
_SWITCHES = ("emit_reasoning", "emit_sources", "emit_raw")


class AisdkOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of an AI SDK front end."""

    version: VersionNumber = 7
    """The major version of the npm package ``ai`` on the page; a request may ask for another one."""
    emit_reasoning: bool = True
    emit_sources: bool = True
    emit_steps: Steps = "model"
    """What begins a step of the message: calls of models, or nodes of a graph; with either, the agent's own.
    """
    emit_raw: bool = False
    """Whether events that we do not understand are sent, as transient ``data-raw``."""
    max_ui_payload_size: int = 1_048_576
    """Bytes of a tool's output that a page gets; the agent keeps it all. 0: no limit."""
    error_detail_level: DetailLevel = "message"
    on_disconnect: OnDisconnect = "continue"
    """What a turn does when its last reader leaves; it can be resumed if it goes on."""
    busy: Busy = "interrupt"
    """What a message does while a turn runs: it takes its place, waits for its end, is refused, or joins it
    where the agent can take it; a request may ask for another one."""
    import_history: ImportHistory = "marked"
    """What becomes of the history that a page brings to a chat that is new here.

    The agent gets it marked as sent by the client, or not at all.
    """

    def __post_init__(self) -> None:
        version_of(self.version)
        for name, known in _CHOICES.items():
            given = getattr(self, name)
            if given not in known:
                raise ConfigurationError(f"{name} is {given!r}: give one of {', '.join(known)}")
        for name in _SWITCHES:
            if not isinstance(getattr(self, name), bool):
                raise ConfigurationError(f"{name} is {getattr(self, name)!r}: give True or False")
        size: Any = self.max_ui_payload_size
        if isinstance(size, bool) or not isinstance(size, int) or size < 0:
            raise ConfigurationError(f"max_ui_payload_size is {size!r}: give a whole number of at least 0")

    @property
    def step_kinds(self) -> tuple[StepKind, ...]:
        """What an adapter has to emit as steps."""
        return ("model", "node") if self.emit_steps == "node" else ("model",)

    @property
    def shows_error_messages(self) -> bool:
        """Whether a client gets the messages of our own errors."""
        return self.error_detail_level in ("full", "message")

    @property
    def shows_exception_texts(self) -> bool:
        """Whether a client gets the texts of exceptions too, which may name files and secrets."""
        return self.error_detail_level == "full"

    @classmethod
    def of(cls, options: AisdkOptions | None = None, **fields: Any) -> AisdkOptions:
        """Make options of names and values; an unknown name is refused with the known ones."""
        unknown = sorted(set(fields) - set(cls.__struct_fields__))
        if unknown:
            hint = did_you_mean(unknown[0], cls.__struct_fields__) or "."
            known = ", ".join(cls.__struct_fields__)
            raise ConfigurationError(f"there is no option {', '.join(unknown)}{hint} The options are {known}")
        return msgspec.structs.replace(options or cls(), **fields) if fields else options or cls()
