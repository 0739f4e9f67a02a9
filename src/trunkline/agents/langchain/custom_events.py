"""Events that only an application knows, sent to the front ends of its run."""

from __future__ import annotations

from typing import Any

from trunkline import events as ev
from trunkline.agents.json_values import json_value
from trunkline.agents.langchain.channel_lookup import channels_here


def emit_custom(name: str, value: Any = None) -> None:
    """Send a CUSTOM event, from a tool, a node or a middleware; ACP has none.

    Outside of a run nothing happens.
    """
    for channel in channels_here():
        channel.emit(ev.Custom(turn_id=channel.emitter.turn_id, name=name, value=json_value(value)))


def emit_raw(event: Any) -> None:
    """Send a RAW event as it is, such as one of another system; like ``emit_custom``."""
    for channel in channels_here():
        channel.emit(
            ev.Raw(turn_id=channel.emitter.turn_id, source=ev.APPLICATION, payload=json_value(event))
        )
