"""Expected events and data that several tests of blocks share."""

from typing import Any

from trunkline import events as ev
from trunkline.agents.langchain.messages.content_mapper import Neutral

PNG = "iVBORw0KGgo="
"""The beginning of an image."""


def called(name: str, args: Any, **fields: Any) -> list[Neutral]:
    """What is said of a whole call of message ``m``."""
    made = ev.ToolCall(call_id="c1", native_id="c1", name=name, message_id="m", **fields)
    return [made, ev.ToolUpdate(call_id="c1", input=args)]
