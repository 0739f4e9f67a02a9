"""The responses that make the message of a turn, and what the page does between them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.session_parts import runs_of, turns_of

from trunkline import events as ev
from trunkline.cursor import Entry
from trunkline.folding import fold
from trunkline.frontends.aisdk.encoder import AisdkEncoder
from trunkline.frontends.aisdk.options import AisdkOptions
from trunkline.frontends.aisdk.questions import is_approved
from trunkline.protocols.aisdk.wire import Chunk, JsonObject, VersionNumber
from trunkline.questions import Permission

__all__ = [
    "EVERYTHING",
    "Responses",
    "answers_of",
    "as_entries",
    "chunks_of",
    "kinds",
    "only",
    "responses_of",
    "runs_of",
    "turns_of",
    "with_waits",
]

EVERYTHING = AisdkOptions(emit_raw=True, max_ui_payload_size=0)


@dataclass
class Responses:
    """The responses of one turn, in order."""

    turn_id: str
    chunks: list[list[Chunk]] = field(default_factory=list[list[Chunk]])
    answers: dict[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    """What the person answers to the approvals that end a response."""


def with_waits(events: Sequence[Any]) -> list[Any]:
    """Let the turn wait for each answer, as it does for one that takes a while."""
    found: list[Any] = []
    asked: dict[str, None] = {}
    for at, event in enumerate(events):
        if isinstance(event, ev.Asked):
            asked[event.question_id] = None
        if not isinstance(event, ev.Answered):
            found.append(event)
            continue
        if asked and not isinstance(events[at - 1], ev.Answered):
            found.append(ev.TurnSuspended(turn_id=event.turn_id, question_ids=tuple(asked)))
        found.append(event)
        asked.pop(event.question_id, None)
        if not asked:
            found.append(ev.TurnResumed(turn_id=event.turn_id))
    return found


def as_entries(events: Sequence[Any], first: int = 0) -> list[Entry]:
    return [
        Entry(seq=at, offset=0, fence=1, at=float(at), event=event) for at, event in enumerate(events, first)
    ]


def answers_of(turn: Sequence[Any]) -> dict[str, JsonObject]:
    """What was answered to each permission, as a page keeps it."""
    asked: dict[str, Any] = {}
    found: dict[str, JsonObject] = {}
    for event in turn:
        if isinstance(event, ev.Asked):
            asked[event.question_id] = event.question
        question = asked.get(getattr(event, "question_id", ""))
        if isinstance(event, ev.Answered) and isinstance(question, Permission):
            found[event.question_id] = {"approved": is_approved(question, event)}
            if event.reason:
                found[event.question_id]["reason"] = event.reason
    return found


def responses_of(
    events: Sequence[Any],
    version: VersionNumber,
    options: AisdkOptions = EVERYTHING,
    client_tools: Collection[str] = (),
) -> list[Responses]:
    """Give the responses of each turn: one ends where the turn waits, and the next is primed."""
    made: list[Responses] = []
    before: list[Any] = []
    for turn in turns_of(events):
        responses = Responses(turn[0].turn_id or "", answers=answers_of(turn))
        state = fold(before).state
        seen: list[Any] = []
        for run in runs_of(turn):
            encoder = AisdkEncoder(
                turn[0].turn_id or "", options, version=version, state=state, client_tools=client_tools
            )
            for entry in as_entries(seen):
                encoder.feed(entry)
            chunks = encoder.begin(0.0)
            if seen:
                chunks += encoder.announce()
            for entry in as_entries(run, len(seen)):
                chunks += encoder.feed(entry)
            responses.chunks.append(chunks + encoder.close())
            seen += run
        before += turn
        made.append(responses)
    return made


def chunks_of(*events: ev.Event, version: VersionNumber = 7, **fields: Any) -> list[Chunk]:
    """Encode events of one turn, without the start of a response."""
    encoder = AisdkEncoder("t1", fields.pop("options", EVERYTHING), version=version, **fields)
    return [chunk for entry in as_entries(events) for chunk in encoder.feed(entry)]


def kinds(chunks: Sequence[Chunk]) -> list[str]:
    return [chunk["type"] for chunk in chunks]


def only(chunks: Sequence[Chunk], kind: str) -> list[Chunk]:
    return [chunk for chunk in chunks if chunk["type"] == kind]
