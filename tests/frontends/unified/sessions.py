"""Sessions as entries, what an encoder makes of them, and what a client folds of that."""

from collections.abc import Iterable, Sequence
from typing import Any

from trunkline import events as ev
from trunkline.cursor import Entry, piece_of
from trunkline.frontends.unified.encoder import UnifiedEncoder
from trunkline.frontends.unified.options import UnifiedOptions
from trunkline.protocols.unified.wire import UnifiedMessage, is_unified_message, to_dict


def as_entries(events: Iterable[Any], first: int = 1) -> list[Entry]:
    """Give events their places."""
    return [
        Entry(seq=at, offset=len(piece_of(event) or ""), fence=1, at=float(at), event=event)
        for at, event in enumerate(events, first)
    ]


def encoded(*events: ev.Event, options: UnifiedOptions | None = None) -> list[dict[str, Any]]:
    """Encode events of a session of their own; every message is checked."""
    encoder = UnifiedEncoder("s1", options)
    made = [to_dict(message) for entry in as_entries(events) for message in encoder.feed(entry)]
    assert all(map(is_unified_message, made))
    return made


def in_turn(*events: ev.Event, **options: Any) -> list[dict[str, Any]]:
    """Encode events of a turn, without the message that begins it."""
    return encoded(ev.TurnStarted(turn_id="t1"), *events, **options)[1:]


def only(messages: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    """Give the one message of a type."""
    (found,) = [message for message in messages if message["type"] == kind]
    return found


def kinds(messages: Iterable[dict[str, Any]]) -> list[str]:
    return [message["type"] for message in messages]


PLACE = ("seq", "cursor", "session_id", "turn_id")


def about(message: dict[str, Any]) -> dict[str, Any]:
    """Give the metadata of a message without its place."""
    return {name: value for name, value in message["metadata"].items() if name not in PLACE}


def folded(messages: Sequence[UnifiedMessage]) -> list[dict[str, Any]]:
    """Join the pieces of text that follow each other, as a client does that shows them."""
    out: list[dict[str, Any]] = []
    for message in messages:
        made = to_dict(message)
        metadata = made["metadata"]
        event = metadata.get("event", {})
        if event and not metadata.get("_meta"):
            kind = event["delta"]["type"]
            text = next(value for name, value in event["delta"].items() if name != "type")
            names = ("message_id", "tool_use_id", "lane")
            _join(out, (kind, *(metadata.get(name) for name in names)), text)
            if metadata.get("signature") and kind != "signature_delta":
                _join(
                    out, ("signature_delta", *(metadata.get(name) for name in names)), metadata["signature"]
                )
        elif metadata.get("subtype") == "terminal_output":
            _join(out, ("terminal", metadata["terminal_id"], metadata.get("lane")), metadata["output"])
            if metadata.get("exited"):
                out.append({"exited": metadata["terminal_id"], "code": metadata["exit_code"]})
        else:
            out.append({"type": made["type"], "content": made["content"], "metadata": about(made)})
    return out


def _join(out: list[dict[str, Any]], key: tuple[Any, ...], text: str) -> None:
    if out and out[-1].get("key") == key:
        out[-1]["text"] += text
    elif text:
        out.append({"key": key, "text": text})
