"""What terminals have printed, for the data parts that show them."""

from __future__ import annotations

from trunkline import events as ev
from trunkline.frontends.aisdk.tool_calls import OUTPUT_TAIL
from trunkline.protocols.aisdk.wire import Chunk, JsonObject

__all__ = ["Terminals"]


class Terminals:
    """The terminals of a turn."""

    def __init__(self) -> None:
        self._outputs: dict[str, str] = {}
        self._exits: dict[str, JsonObject] = {}

    def add(self, event: ev.TerminalOutput) -> None:
        """Keep a piece of output, and the exit."""
        text = self._outputs.get(event.terminal_id, "") + event.data
        self._outputs[event.terminal_id] = text[-OUTPUT_TAIL:]
        if event.exited:
            self._exits[event.terminal_id] = {"exitCode": event.exit_code, "signal": event.signal}

    def part(self, terminal_id: str, call_id: str) -> Chunk:
        """Give a terminal as the data part of the call that runs in it."""
        ended = self._exits.get(terminal_id)
        data: JsonObject = {
            "toolCallId": call_id,
            "terminalId": terminal_id,
            "output": self._outputs.get(terminal_id, ""),
            "exited": ended is not None,
            **(ended or {}),
        }
        return {"type": "data-terminal", "id": terminal_id, "data": data}
