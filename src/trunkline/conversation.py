"""The conversation: what all the events of a session mean, as values that can be compared."""

from __future__ import annotations

from typing import Any, Literal, Union

import msgspec

from trunkline import events as ev
from trunkline.content import Content, text_of
from trunkline.errors import Fault
from trunkline.open_words import OpenWord
from trunkline.options import ConfigOption

__all__ = [
    "Call",
    "CallPart",
    "Conversation",
    "LaneState",
    "MediaPart",
    "Message",
    "Part",
    "QuestionState",
    "SourcePart",
    "TerminalState",
    "TextPart",
    "ThoughtPart",
    "TurnState",
]


class _Value(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A mutable value while folding; compared field by field."""


class TextPart(_Value, tag_field="type", tag="text"):
    """Text said without anything of another kind in between."""

    part_id: str
    text: str = ""


class ThoughtPart(_Value, tag_field="type", tag="thought"):
    """Reasoning said without anything of another kind in between."""

    part_id: str
    text: str = ""
    signature: str | None = None


class MediaPart(_Value, tag_field="type", tag="media"):
    """A whole block."""

    part_id: str
    content: Content


class SourcePart(_Value, tag_field="type", tag="source"):
    """A source of the answer."""

    part_id: str
    source_id: str
    url: str | None = None
    title: str | None = None
    document: str | None = None
    mime_type: str | None = None


class CallPart(_Value, tag_field="type", tag="call"):
    """The place of a tool call in its message."""

    part_id: str
    call_id: str


Part = Union[TextPart, ThoughtPart, MediaPart, SourcePart, CallPart]


IMPORTED = "import"
"""How the ids of turns begin that a client brought along: this session has not seen them happen."""


def is_imported(turn_id: str | None) -> bool:
    """Whether a turn is one that a client brought along."""
    return turn_id is not None and turn_id.startswith(f"{IMPORTED}_")


class Message(_Value):
    """One message: the person's has content, the agent's has parts."""

    message_id: str
    role: Literal["user", "agent"]
    turn_id: str | None = None
    lane: str | None = None
    content: tuple[Content, ...] = ()
    parts: list[Part] = []
    trusted: bool = True
    """False for what a client brought along: this session has not seen who wrote it."""

    @property
    def text(self) -> str:
        """The text of the message without thoughts and calls."""
        if self.role == "user":
            return text_of(self.content)
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))


class Call(_Value):
    """A tool call as it stands."""

    call_id: str
    name: str
    title: str | None = None
    kind: OpenWord[ev.ToolKind] = "other"
    status: OpenWord[ev.ToolStatus] = "pending"
    message_id: str | None = None
    after: str | None = None
    """The message that stood last when a call came that belongs to none."""
    lane: str | None = None
    turn_id: str | None = None
    native_id: str | None = None
    arguments: str = ""
    """The JSON text of the arguments as it was streamed."""
    input: Any = None
    locations: tuple[ev.Location, ...] = ()
    content: tuple[Content, ...] = ()
    output: str = ""
    raw_output: Any = None
    reason: str | None = None
    result_message_id: str | None = None
    trusted: bool = True
    """False for a call that a client brought along: no agent of this session made it."""


class QuestionState(_Value):
    """A question and, once it is settled, its answer."""

    asked: ev.Asked
    answered: ev.Answered | None = None


class TurnState(_Value):
    """A turn and how it ended, if it did."""

    turn_id: str
    status: Literal["running", "suspended", "finished", "failed"] = "running"
    stop_reason: OpenWord[ev.StopReason] | None = None
    code: str | None = None
    message: str | None = None
    fault: Fault | None = None
    usage: tuple[ev.TokenUsage, ...] = ()


class LaneState(_Value):
    """A subagent."""

    name: str = ""
    parent_lane: str | None = None
    parent_call_id: str | None = None
    description: str | None = None
    outcome: str | None = None
    message: str | None = None
    result: Any = None


class TerminalState(_Value):
    """A terminal's whole output and its end."""

    data: str = ""
    exited: bool = False
    exit_code: int | None = None
    signal: str | None = None


class Conversation(_Value):
    """Everything a stream of events means."""

    messages: list[Message] = []
    calls: dict[str, Call] = {}
    turns: list[TurnState] = []
    questions: dict[str, QuestionState] = {}
    plan: tuple[ev.PlanEntry, ...] = ()
    state: Any = None
    steps: dict[str, bool] = {}
    lanes: dict[str, LaneState] = {}
    terminals: dict[str, TerminalState] = {}
    activities: dict[str, dict[str, Any]] = {}
    compactions: dict[str, ev.Compaction] = {}
    notices: list[ev.Notice] = []
    customs: list[ev.Custom] = []
    raws: list[ev.Raw] = []
    queued: list[str] = []
    options: tuple[ConfigOption, ...] = ()
    commands: tuple[ev.CommandInfo, ...] = ()
    title: str | None = None
    usage: ev.ContextUsage | None = None

    def message(self, message_id: str) -> Message | None:
        """Find a message by its id."""
        return next((m for m in self.messages if m.message_id == message_id), None)

    def calls_without_message(self) -> dict[str | None, list[Call]]:
        """Give the calls that belong to no message, by the id of the message that stood last then."""
        found: dict[str | None, list[Call]] = {}
        for call in self.calls.values():
            if call.message_id is None:
                found.setdefault(call.after, []).append(call)
        return found
