"""The neutral events: what an agent says, in the shape every front end is made from.

State by id, upserts and message ids always. Boundaries that can be derived (the start and the end
of a text, say) are not events, so an orphaned start is impossible by construction. Each event is a
frozen value without clock or randomness: ids come from outside, time belongs to the record.

``turn_id`` and ``lane`` (the subagent it came from, None for the agent itself) say where an event
belongs; ``meta`` is passed through untouched, never trusted, and never widens a permission.
"""

from __future__ import annotations

from typing import Any, Literal, Union, cast

import msgspec

from trunkline.content import Content
from trunkline.errors import Fault
from trunkline.newer_records import convert_known
from trunkline.open_words import OpenWord
from trunkline.options import ConfigOption
from trunkline.questions import Outcome, Question

__all__ = [
    "APPLICATION", "FINAL_STATUSES", "Activity", "Answered", "AnyEvent", "Asked", "CommandInfo",
    "CommandsChanged", "Compaction", "ConfigChanged", "ContextUsage", "Cost", "Custom", "Decided", "Delta",
    "Event", "InfoChanged", "Location", "Media", "Notice", "Plan", "PlanEntry", "PromptDropped",
    "PromptQueued", "Raw", "Rewound", "RunClosed", "RunOpened", "Source", "StatePatched", "StateReplaced",
    "StepFinished", "StepKind", "StepStarted", "StopReason", "SubagentFinished", "SubagentStarted",
    "TerminalOutput", "Text", "Thought", "TokenUsage", "ToolCall", "ToolInput", "ToolKind", "ToolStatus",
    "ToolUpdate", "TurnFailed", "TurnFinished", "TurnResumed", "TurnStarted", "TurnSuspended", "Usage",
    "UserMessage", "decode_event", "encode_event",
]  # fmt: skip

StopReason = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]
ToolKind = Literal[
    "read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"
]
StepKind = Literal["model", "node"]
ToolStatus = Literal["pending", "in_progress", "completed", "failed", "denied", "cancelled"]
APPLICATION = "application"
"""The source of a Raw event that an application sends on purpose."""
FINAL_STATUSES: frozenset[str] = frozenset({"completed", "failed", "denied", "cancelled"})


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type", weakref=False):
    """The common fields of every event."""

    turn_id: str | None = None
    lane: str | None = None
    meta: dict[str, Any] | None = None


# -- turns ----------------------------------------------------------------------------------------


class TokenUsage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tokens spent with one model of one provider during a turn."""

    provider: str | None = None
    model: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0


class TurnStarted(Event, frozen=True, kw_only=True, tag="turn_started"):
    """The agent begins to work: a prompt was accepted, or it has something to say by itself."""

    prompt_id: str | None = None
    run_id: str | None = None
    by: str | None = None
    """``agent`` when the agent began the turn by itself, without a prompt."""


class TurnSuspended(Event, frozen=True, kw_only=True, tag="turn_suspended"):
    """The turn waits for these questions and says nothing until one is answered."""

    question_ids: tuple[str, ...] = ()


class TurnResumed(Event, frozen=True, kw_only=True, tag="turn_resumed"):
    """The turn goes on."""


class TurnFinished(Event, frozen=True, kw_only=True, tag="turn_finished"):
    """The turn ended as the agent meant it, or was cancelled."""

    # A factory, because a default would be left out of the JSON, and readers look for this one.
    stop_reason: OpenWord[StopReason] = msgspec.field(default_factory=lambda: "end_turn")
    usage: tuple[TokenUsage, ...] = ()


class TurnFailed(Event, frozen=True, kw_only=True, tag="turn_failed"):
    """The turn ended with an error; ``code`` is ``interrupted`` after a crash."""

    code: str
    message: str
    fault: Fault = "agent"
    usage: tuple[TokenUsage, ...] = ()


class PromptQueued(Event, frozen=True, kw_only=True, tag="prompt_queued"):
    """A prompt waits for the running turn."""

    prompt_id: str
    content: tuple[Content, ...] = ()


class PromptDropped(Event, frozen=True, kw_only=True, tag="prompt_dropped"):
    """A waiting prompt will not be run."""

    prompt_id: str
    reason: str = ""


class Rewound(Event, frozen=True, kw_only=True, tag="rewound"):
    """The conversation went back: this message is the last one now (None: the beginning)."""

    to_message_id: str | None = None


class RunOpened(Event, frozen=True, kw_only=True, tag="run_opened"):
    """A wire run began to show this turn, from this record on."""

    run_id: str
    front_end: str
    from_seq: int


class RunClosed(Event, frozen=True, kw_only=True, tag="run_closed"):
    """A wire run ended after this record."""

    run_id: str
    to_seq: int


# -- messages -------------------------------------------------------------------------------------


class UserMessage(Event, frozen=True, kw_only=True, tag="user_message"):
    """What the person said; the id is the client's own."""

    message_id: str
    content: tuple[Content, ...] = ()
    trusted: bool = True
    """False for history that a client brought along."""
    prompt_id: str | None = None
    """The prompt by which it joined a turn that was running; None for a message that began its turn."""


class Text(Event, frozen=True, kw_only=True, tag="text"):
    """A piece of the agent's answer."""

    message_id: str
    delta: str


class Thought(Event, frozen=True, kw_only=True, tag="thought"):
    """A piece of the agent's reasoning; a signature seals the reasoning said so far."""

    message_id: str
    delta: str = ""
    signature: str | None = None


class Media(Event, frozen=True, kw_only=True, tag="media"):
    """A whole block in the agent's answer: an image, a sound, a link, a resource."""

    message_id: str
    content: Content


class Source(Event, frozen=True, kw_only=True, tag="source"):
    """A web address or a document that the answer rests on."""

    message_id: str
    source_id: str
    url: str | None = None
    title: str | None = None
    document: str | None = None
    mime_type: str | None = None


# -- tools ----------------------------------------------------------------------------------------


class Location(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file, and perhaps a line, that a call works on."""

    path: str
    line: int | None = None


class ToolCall(Event, frozen=True, kw_only=True, tag="tool_call"):
    """A tool call begins; ``call_id`` is unique in the session, ``native_id`` is the framework's."""

    call_id: str
    name: str
    title: str | None = None
    kind: OpenWord[ToolKind] = "other"
    message_id: str | None = None
    """The assistant message the call belongs to."""
    native_id: str | None = None


class ToolInput(Event, frozen=True, kw_only=True, tag="tool_input"):
    """A piece of the JSON text of a call's arguments."""

    call_id: str
    delta: str


class ToolUpdate(Event, frozen=True, kw_only=True, tag="tool_update"):
    """An upsert of a call: a field that is None stays as it was."""

    call_id: str
    status: OpenWord[ToolStatus] | None = None
    title: str | None = None
    kind: OpenWord[ToolKind] | None = None
    input: Any = None
    locations: tuple[Location, ...] | None = None
    content: tuple[Content, ...] | None = None
    output: str | None = None
    """Text appended to the call's output."""
    raw_output: Any = None
    reason: str | None = None
    """Why a call failed, was denied or cancelled."""
    result_message_id: str | None = None


class TerminalOutput(Event, frozen=True, kw_only=True, tag="terminal_output"):
    """A piece of a terminal's output, and its exit when it ends."""

    terminal_id: str
    data: str = ""
    exit_code: int | None = None
    signal: str | None = None
    exited: bool = False


# -- asking ---------------------------------------------------------------------------------------


class Asked(Event, frozen=True, kw_only=True, tag="asked"):
    """The agent asks a person; ``durable_key`` lets a framework take the answer after a restart."""

    question_id: str
    question: Question
    durable_key: str | None = None
    group: str | None = None
    expires_at: float | None = None


class Answered(Event, frozen=True, kw_only=True, tag="answered"):
    """A question is settled; ``by`` is who did it."""

    question_id: str
    outcome: Outcome
    option_id: str | None = None
    option_kind: str | None = None
    input: Any = None
    content: Any = None
    reason: str | None = None
    by: str | None = None


class Decided(Event, frozen=True, kw_only=True, tag="decided"):
    """A permission was decided without a question; ``by`` is ``policy``, ``earlier answer`` or ``program``.

    ``program`` is the code that runs the agent, as in ``AcpAgent(permission="allow")``.

    ``rule`` is the rule of the policy that decided; None for its default, or an earlier "always" answer.
    """

    allowed: bool
    by: str
    reason: str
    rule: str | None = None
    call_id: str | None = None
    """The tool call; None for an access through the session's own files and terminals."""
    tool: str = ""
    kind: OpenWord[ToolKind] = "other"
    paths: tuple[str, ...] = ()
    command: str | None = None


# -- work -----------------------------------------------------------------------------------------


class PlanEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of a plan."""

    content: str
    status: OpenWord[Literal["pending", "in_progress", "completed"]] = "pending"
    priority: OpenWord[Literal["high", "medium", "low"]] = "medium"


class Plan(Event, frozen=True, kw_only=True, tag="plan"):
    """The whole plan as it stands now."""

    entries: tuple[PlanEntry, ...] = ()


class StepStarted(Event, frozen=True, kw_only=True, tag="step_started"):
    """A named step of the work begins."""

    step_id: str
    name: str = ""
    kind: OpenWord[StepKind] | None = None
    """What of a framework the step is: a call of a model, a node of a graph. None: the agent's own step."""


class StepFinished(Event, frozen=True, kw_only=True, tag="step_finished"):
    """A step is done."""

    step_id: str
    message_id: str | None = None
    """The message that the step wrote: it is complete."""


class SubagentStarted(Event, frozen=True, kw_only=True, tag="subagent_started"):
    """A subagent begins to speak in its own lane (``lane`` is the new one)."""

    name: str = ""
    parent_lane: str | None = None
    parent_call_id: str | None = None
    description: str | None = None


class SubagentFinished(Event, frozen=True, kw_only=True, tag="subagent_finished"):
    """The subagent of ``lane`` is done."""

    outcome: OpenWord[Literal["completed", "failed", "cancelled"]] = "completed"
    message: str | None = None
    result: Any = None


class Activity(Event, frozen=True, kw_only=True, tag="activity"):
    """A piece of structured work on show: whole content, or a patch (RFC 6902) of it."""

    activity_id: str
    activity_type: str
    content: dict[str, Any] | None = None
    patch: tuple[dict[str, Any], ...] | None = None


class Compaction(Event, frozen=True, kw_only=True, tag="compaction"):
    """The agent shortens its context (an upsert)."""

    compaction_id: str
    status: OpenWord[Literal["in_progress", "completed", "failed", "cancelled"]]
    summary: str | None = None
    error: str | None = None


class Notice(Event, frozen=True, kw_only=True, tag="notice"):
    """Something a person should know that is not part of the answer."""

    title: str
    severity: OpenWord[Literal["info", "warning", "error"]] = "info"
    description: str | None = None
    code: str | None = None


# -- state and session ----------------------------------------------------------------------------


class StateReplaced(Event, frozen=True, kw_only=True, tag="state_replaced"):
    """The shared state is this now."""

    state: Any


class StatePatched(Event, frozen=True, kw_only=True, tag="state_patched"):
    """The shared state changed by these operations (RFC 6902)."""

    patch: tuple[dict[str, Any], ...]


class ConfigChanged(Event, frozen=True, kw_only=True, tag="config_changed"):
    """The complete list of options with their present values."""

    options: tuple[ConfigOption, ...] = ()


class CommandInfo(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A slash command of the agent."""

    name: str
    description: str = ""
    hint: str | None = None


class CommandsChanged(Event, frozen=True, kw_only=True, tag="commands_changed"):
    """The complete list of the agent's slash commands."""

    commands: tuple[CommandInfo, ...] = ()


class InfoChanged(Event, frozen=True, kw_only=True, tag="info_changed"):
    """The session has a new title (None: it has none)."""

    title: str | None = None
    by: str | None = None
    """The person who chose it; None for a title that the agent gave."""


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """Money spent so far."""

    amount: float
    currency: str = "USD"


class ContextUsage(Event, frozen=True, kw_only=True, tag="usage"):
    """How full the context window is, and what the session cost so far."""

    used: int
    size: int
    cost: Cost | None = None


Usage = ContextUsage
"""The earlier name."""


class Custom(Event, frozen=True, kw_only=True, tag="custom"):
    """Anything an agent wants to tell a front end of its own."""

    name: str
    value: Any = None


class Raw(Event, frozen=True, kw_only=True, tag="raw"):
    """A wire variant we do not know: never dropped, never fatal."""

    source: str
    payload: Any = None


AnyEvent = Union[
    TurnStarted, TurnSuspended, TurnResumed, TurnFinished, TurnFailed, PromptQueued, PromptDropped, Rewound,
    RunOpened, RunClosed, UserMessage, Text, Thought, Media, Source, ToolCall, ToolInput, ToolUpdate,
    TerminalOutput, Asked, Answered, Decided, Plan, StepStarted, StepFinished, SubagentStarted,
    SubagentFinished, Activity, Compaction, Notice, StateReplaced, StatePatched, ConfigChanged,
    CommandsChanged, InfoChanged, ContextUsage, Custom, Raw,
]  # fmt: skip

Delta = Union[Text, Thought, ToolInput, TerminalOutput]
"""Events that only append, so neighbours can be joined in the journal."""

_decoder = msgspec.json.Decoder(AnyEvent)
encode_event = msgspec.json.Encoder().encode


def decode_event(data: bytes | str) -> AnyEvent:
    """Read an event; what only a newer version understands is kept in its meta, or is a Raw."""
    try:
        return _decoder.decode(data)
    except msgspec.ValidationError as error:
        given: Any = msgspec.json.decode(data)
        known = convert_known(given, error, lambda fields: msgspec.convert(fields, AnyEvent))
        return _raw(given) if known is None else known


def _raw(given: Any) -> Raw:
    """Keep a record that cannot be read, and where it belongs."""
    fields = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    turn_id, lane = (
        one if isinstance(one := fields.get(name), str) else None for name in ("turn_id", "lane")
    )
    return Raw(turn_id=turn_id, lane=lane, source="trunkline", payload=given)
