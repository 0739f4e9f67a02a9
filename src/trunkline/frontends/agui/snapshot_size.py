"""Snapshots of messages that fit into one frame: a client fails on one of more than 10 MiB."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from trunkline.protocols.agui import wire
from trunkline.protocols.agui.results import shorten

WireMessage = dict[str, Any]

_HEAVIEST = 8 * 1024 * 1024
_SHORT_RESULT = 1024


def fits_frame(messages: list[WireMessage]) -> bool:
    """Whether messages can be sent at once."""
    return len(wire.encode(messages)) <= _HEAVIEST


def clearing(messages: list[WireMessage]) -> list[WireMessage]:
    """Give a snapshot that empties a client before these: else it leaves the messages it has where they are.

    A client drops its reasoning only for other reasoning.
    """
    thinks = any(message["role"] == "reasoning" for message in messages)
    return [{"id": "trunkline:cleared", "role": "reasoning", "content": ""}] if thinks else []


def would_reorder(messages: list[WireMessage], theirs: Iterable[str]) -> bool:
    """Whether a client would put these into another order: it leaves the messages it has where they are."""
    positions = {message["id"]: position for position, message in enumerate(messages)}
    kept = [positions[message_id] for message_id in theirs if message_id in positions]
    return kept != list(range(len(kept)))


def corrected(theirs: list[WireMessage], ours: list[WireMessage]) -> list[WireMessage]:
    """The messages of a client with ours among them, and with the calls as we know them.

    A client leaves the messages it has where they are, so the order here does not matter.
    """
    made = {call["id"]: call["function"] for message in ours for call in message.get("toolCalls", ())}
    corrected_theirs = [
        {
            **message,
            "toolCalls": [
                {**call, "function": made.get(call.get("id"), call.get("function"))}
                for call in message["toolCalls"]
            ],
        }
        if message.get("toolCalls")
        else message
        for message in theirs
    ]
    known = {message["id"] for message in theirs}
    return corrected_theirs + [message for message in ours if message["id"] not in known]


def fitting(messages: list[WireMessage]) -> list[WireMessage]:
    """Lighten messages until they can be sent: shorter results, no attachments, and then only the newest."""
    for lighten in (_without_long_results, _without_attachments):
        if fits_frame(messages):
            return messages
        messages = [lighten(message) for message in messages]
    room = _HEAVIEST
    kept: list[WireMessage] = []
    for message in reversed(messages):
        room -= len(wire.encode(message)) + 1
        if room < 0:
            break
        kept.append(message)
    return kept[::-1]


def _without_long_results(message: WireMessage) -> WireMessage:
    if message["role"] != "tool":
        return message
    content, facts = shorten(message["content"], _SHORT_RESULT)
    if facts is None:
        return message
    known: WireMessage = message.get("metadata") or {}
    about: WireMessage = known.get("trunkline") or {}
    return {**message, "content": content, "metadata": {**known, "trunkline": {**facts, **about}}}


def _without_attachments(message: WireMessage) -> WireMessage:
    content: Any = message.get("content")
    if message["role"] != "user" or not isinstance(content, list):
        return message
    return {**message, "content": [_named(part) for part in cast("list[WireMessage]", content)]}


def _named(part: WireMessage) -> WireMessage:
    source: WireMessage = part.get("source") or {}
    if source.get("type") != "data":
        return part
    return {"type": "text", "text": f"[{part['type']} left out]"}
