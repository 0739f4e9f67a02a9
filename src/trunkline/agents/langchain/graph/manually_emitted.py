"""Custom events of a node that stand for something else: state, a message or a call that it emits itself.

These are the names that ag-ui-langgraph and CopilotKit's SDK give them::

    await adispatch_custom_event("manually_emit_state", {"progress": 50}, config=config)

Any other custom event, ``exit`` too, goes to the front end as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import msgspec
from langchain_core.messages import AIMessage

from trunkline.agents.langchain.channel import Channel
from trunkline.agents.langchain.messages.emitter import Emitter
from trunkline.agents.langchain.tools.session_tools import answer_open_calls

_STATE = frozenset({"manually_emit_state", "manually_emit_intermediate_state"})


class CustomEvents:
    """Emits the custom events of one turn."""

    def __init__(self, emitter: Emitter, emit_state: Callable[[dict[str, Any]], None]) -> None:
        """Emit through ``emitter``; ``emit_state`` shows some fields of the state before the node ends."""
        self._emitter = emitter
        self._emit_state = emit_state
        self._calls: list[dict[str, Any]] = []

    def emit(self, name: str, data: Any) -> None:
        """Emit one event; one whose data do not fit its name is a plain custom event."""
        kind = name.removeprefix("copilotkit_")
        fields = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
        if kind in _STATE and fields:
            self._emit_state(fields)
        elif kind == "manually_emit_message" and {"message", "message_id"} <= fields.keys():
            text, message_id = str(fields["message"]), str(fields["message_id"])
            self._emitter.message(None, AIMessage(content=text, id=message_id))
        elif kind == "manually_emit_tool_call" and {"id", "name", "args"} <= fields.keys():
            self._emit_call(fields)
        elif name == "copilotkit_exit":
            self._emitter.custom("Exit", True)  # As CopilotKit's SDK has it on the wire.
        else:
            self._emitter.custom(name, data)

    def _emit_call(self, fields: dict[str, Any]) -> None:
        args: Any = fields["args"]
        if isinstance(args, str):
            try:
                args = msgspec.json.decode(args or "{}")
            except msgspec.DecodeError:
                args = {"input": args}
        call = {"id": str(fields["id"]), "name": str(fields["name"]), "args": args}
        self._calls.append(call)
        # The message is named after its call, as in ag-ui-langgraph.
        self._emitter.describe(None, call, call["id"])

    async def finish_calls(self, channel: Channel) -> None:
        """End the calls that nobody answered: the front end runs those of its own tools."""
        waiting = [call for call in self._calls if self._emitter.is_open(None, call["id"])]
        await answer_open_calls(waiting, channel)
        for call in waiting:
            self._emitter.tool_completed(None, call["id"])
