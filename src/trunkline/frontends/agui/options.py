"""The settings of an AG-UI front end; checked when they are made."""

from __future__ import annotations

from typing import Any, Literal, get_args

import msgspec

from trunkline.errors import ConfigurationError, did_you_mean
from trunkline.events import StepKind

Snapshots = Literal["initial", "final", "all", "none"]
Steps = Literal["model", "node", "none"]
DetailLevel = Literal["full", "message", "code", "none"]
OnDisconnect = Literal["cancel", "continue"]
Interrupts = Literal["auto", "outcome", "event", "both"]
ImportHistory = Literal["marked", "drop"]

_CHOICES: dict[str, tuple[str, ...]] = {
    "emit_state_snapshots": get_args(Snapshots),
    "emit_steps": get_args(Steps),
    "error_detail_level": get_args(DetailLevel),
    "on_disconnect": get_args(OnDisconnect),
    "import_history": get_args(ImportHistory),
    "interrupts": get_args(Interrupts),
}
_SWITCHES = ("emit_tool_results", "emit_activities", "emit_raw")


class AguiOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of an AG-UI front end."""

    emit_tool_results: bool = True
    emit_state_snapshots: Snapshots = "initial"
    emit_steps: Steps = "model"
    """Which steps are shown: calls of models, or nodes of a graph; with either, the agent's own."""
    emit_activities: bool = False
    emit_raw: bool = False
    max_ui_payload_size: int = 51_200
    """Bytes of a tool's result that a front end gets; the agent keeps it all. 0: no limit."""
    thread_id_override: str | None = None
    run_id_override: str | None = None
    error_detail_level: DetailLevel = "message"
    keep_alive: float = 15.0
    """Seconds between the comments that keep a silent stream of a transport open."""
    coalesce: bool = True
    """Join deltas of one message that wait for a slow reader of a transport.

    What waits for a reader of a server comes from the journal, where they are joined in any case.
    """
    high_water_mark: int = 256
    """Events that may wait for a reader before they come from the journal instead."""
    on_disconnect: OnDisconnect = "cancel"
    disconnect_grace: float | None = None
    """Seconds that a turn goes on after its last reader left (None: 0, and 30 for CopilotKit)."""
    import_history: ImportHistory = "marked"
    """What becomes of the history that a client brings to a thread that is new here.

    The agent gets it marked as sent by the client, or not at all.
    """

    interrupts: Interrupts = "auto"
    """How a client gets an ``interrupt()`` of a graph's own: as the ``outcome`` of the run, as the CUSTOM
    ``event`` on_interrupt of older pages, or ``both``. ``auto`` is the event alone on CopilotKit's routes,
    whose pages would not look at it beside an outcome, and both on all others.
    """

    def __post_init__(self) -> None:
        for name, known in _CHOICES.items():
            given = getattr(self, name)
            if given not in known:
                raise ConfigurationError(f"{name} is {given!r}: give one of {', '.join(known)}")
        for name in _SWITCHES:
            if not isinstance(getattr(self, name), bool):
                raise ConfigurationError(f"{name} is {getattr(self, name)!r}: give True or False")
        for name, least in (("max_ui_payload_size", 0), ("high_water_mark", 1)):
            given = getattr(self, name)
            if isinstance(given, bool) or not isinstance(given, int) or given < least:
                raise ConfigurationError(f"{name} is {given!r}: give a whole number of at least {least}")
        for name, least in (("keep_alive", 0.1), ("disconnect_grace", 0.0)):
            given = getattr(self, name)
            if name == "disconnect_grace" and given is None:
                continue
            if isinstance(given, bool) or not isinstance(given, int | float) or not least <= given < 86_400:
                raise ConfigurationError(f"{name} is {given!r}: give seconds, from {least:g} to a day")
        for name in ("thread_id_override", "run_id_override"):
            given = getattr(self, name)
            if given is not None and (not isinstance(given, str) or not given):
                raise ConfigurationError(f"{name} is {given!r}: give a text that is not empty, or None")

    @property
    def step_kinds(self) -> tuple[StepKind, ...]:
        """What an adapter has to emit as steps: the end of a model's step is also the end of its message."""
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
    def of(cls, options: AguiOptions | None = None, **fields: Any) -> AguiOptions:
        """Make options of names and values; an unknown name is refused with the known ones."""
        unknown = sorted(set(fields) - set(cls.__struct_fields__))
        if unknown:
            hint = did_you_mean(unknown[0], cls.__struct_fields__) or "."
            known = ", ".join(cls.__struct_fields__)
            raise ConfigurationError(f"there is no option {', '.join(unknown)}{hint} The options are {known}")
        return msgspec.structs.replace(options or cls(), **fields) if fields else options or cls()
