"""What a turn comes down to: as the agent's side holds it, and as a page does."""

from collections.abc import Sequence
from typing import Any

from trunkline import events as ev
from trunkline.content import LinkBlock, TextBlock
from trunkline.conversation import Conversation, MediaPart, SourcePart, TextPart, ThoughtPart
from trunkline.folding import fold
from trunkline.protocols.aisdk.wire import JsonObject
from trunkline.questions import Permission

__all__ = ["meaning_of_message", "meaning_of_turn"]


def meaning_of_turn(turn: Sequence[ev.Event], state: Any = None) -> JsonObject:
    """What the agent's side holds of a turn; ``state`` is the shared state where it begins."""
    started = [] if state is None else [ev.StateReplaced(state=state)]
    conversation = fold([*started, *turn])
    asked = {
        event.question.call_id
        for event in turn
        if isinstance(event, ev.Asked) and isinstance(event.question, Permission)
    }
    found = _lane(conversation, None, asked)
    plans = [event for event in turn if isinstance(event, ev.Plan) and event.lane is None]
    found["plan"] = [entry.content for entry in plans[-1].entries] if plans else []
    changed = any(isinstance(event, ev.StateReplaced | ev.StatePatched) for event in turn)
    found["state"] = conversation.state if changed else None
    found["activities"] = {key: conversation.activities[key] for key in activities_of(turn)}
    found["compactions"] = {key: one.status for key, one in conversation.compactions.items()}
    found["questions"] = {
        key: one.answered and one.answered.outcome
        for key, one in conversation.questions.items()
        if one.asked.question.__struct_config__.tag in ("form", "link")
    }
    return found


def activities_of(turn: Sequence[ev.Event]) -> set[str]:
    """The activities that began in this turn, and in the agent's own lane."""
    first: dict[str, ev.Activity] = {}
    for event in turn:
        if isinstance(event, ev.Activity):
            first.setdefault(event.activity_id, event)
    return {key for key, event in first.items() if event.lane is None and event.content is not None}


def _lane(conversation: Conversation, lane: str | None, asked: set[str]) -> JsonObject:
    said: dict[str, Any] = {"text": "", "thoughts": "", "sources": [], "files": 0}
    for message in conversation.messages:
        if message.role != "agent" or message.lane != lane:
            continue
        for part in message.parts:
            match part:
                case TextPart():
                    said["text"] += part.text
                case ThoughtPart():
                    said["thoughts"] += part.text
                case MediaPart(content=TextBlock(text=text)):
                    said["text"] += text
                case MediaPart(content=LinkBlock(uri=uri)):
                    said["sources"].append(uri)
                case MediaPart():
                    said["files"] += 1
                case SourcePart():
                    said["sources"].append(part.source_id)
                case _:
                    pass
    calls = {
        call.call_id: (call.name, call.status == "completed")
        for call in conversation.calls.values()
        if call.lane == lane and call.call_id not in asked
    }
    children = {
        name: (about.outcome, _lane(conversation, name, asked))
        for name, about in conversation.lanes.items()
        if about.parent_lane == lane
    }
    return {**said, "calls": calls, "subagents": children}


def meaning_of_message(message: Any, turn: Sequence[ev.Event]) -> JsonObject:
    """What a page holds of a turn; calls that were asked about are compared elsewhere."""
    asked = {
        event.question.call_id
        for event in turn
        if isinstance(event, ev.Asked) and isinstance(event.question, Permission)
    }
    parts: list[Any] = [] if message is None else message["parts"]
    # A call of a subagent that the page answers for is a part of the page's message too.
    below = {event.call_id for event in turn if isinstance(event, ev.ToolCall) and event.lane is not None}
    found = _parts(parts, asked | below, asked)
    data = {part["type"]: part["data"] for part in parts if part["type"].startswith("data-")}
    found["plan"] = [entry["content"] for entry in data.get("data-plan", {}).get("entries", ())]
    found["state"] = data.get("data-state")
    begun = activities_of(turn)
    found["activities"] = {
        part["id"]: part["data"]["content"]
        for part in parts
        if part["type"] == "data-activity" and part["id"] in begun
    }
    found["compactions"] = {p["id"]: p["data"]["status"] for p in parts if p["type"] == "data-compaction"}
    found["questions"] = {p["id"]: p["data"].get("outcome") for p in parts if p["type"] == "data-question"}
    return found


def _parts(parts: list[Any], left_out: set[str], asked: set[str]) -> JsonObject:
    tools = [part for part in parts if "toolCallId" in part]
    return {
        "text": "".join(part["text"] for part in parts if part["type"] == "text"),
        "thoughts": "".join(part["text"] for part in parts if part["type"] == "reasoning"),
        "sources": [part["sourceId"] for part in parts if part["type"] in ("source-url", "source-document")],
        "files": sum(part["type"] in ("file", "data-content") for part in parts),
        "calls": {
            part["toolCallId"]: (
                part.get("toolName") or part["type"].removeprefix("tool-"),
                part["state"] == "output-available",
            )
            for part in tools
            if part["toolCallId"] not in left_out
        },
        "subagents": {
            part["id"]: (part["data"]["state"], _parts(part["data"]["message"]["parts"], asked, asked))
            for part in parts
            if part["type"] == "data-subagent"
        },
    }
