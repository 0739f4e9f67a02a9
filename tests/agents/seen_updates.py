"""What an ACP client sees: its updates folded, lane by lane."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

Update = dict[str, Any]
Pieces = list[tuple[str, str]]


@dataclass
class Seen:
    """One lane as it was folded: pieces by message and calls by id, both in the order of their coming."""

    messages: dict[str, Pieces] = field(default_factory=dict[str, Pieces])
    calls: dict[str, Update] = field(default_factory=dict[str, Update])
    order: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """What came when: pieces of a message, and calls that begin and end."""

    def take(self, update: Update) -> None:
        """Fold one update."""
        kind = update["sessionUpdate"]
        if kind in ("agent_message_chunk", "agent_thought_chunk"):
            what = "text" if kind == "agent_message_chunk" else "thought"
            add_piece(self.messages.setdefault(update["messageId"], []), what, update["content"]["text"])
            if self.order[-1:] != [("piece", update["messageId"])]:
                self.order.append(("piece", update["messageId"]))
        elif kind == "tool_call":
            assert update["toolCallId"] not in self.calls, "a call is announced once"
            self.calls[update["toolCallId"]] = dict(update)
            self.order.append(("begin", update["toolCallId"]))
        elif kind == "tool_call_update":
            call = self.calls[update["toolCallId"]]
            assert call["status"] not in ("completed", "failed"), "a call that ended stays as it is"
            call.update(update)
            if call["status"] in ("completed", "failed"):
                self.order.append(("end", update["toolCallId"]))


def add_piece(pieces: Pieces, kind: str, text: str) -> None:
    """Append a piece; neighbours of one kind are one."""
    if pieces and pieces[-1][0] == kind:
        kind, text = kind, pieces.pop()[1] + text
    if text:
        pieces.append((kind, text))


def see(updates: Iterable[Update]) -> dict[str | None, Seen]:
    """Fold updates, lane by lane."""
    lanes: dict[str | None, Seen] = {None: Seen()}
    for update in updates:
        lane = update.get("_meta", {}).get("trunkline", {}).get("lane")
        lanes.setdefault(lane, Seen()).take(update)
    return lanes
