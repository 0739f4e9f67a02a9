"""The items that the SDK makes of a response and of what follows it: outputs, handoffs, approvals.

Most of them repeat what the raw events said; then nothing is emitted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from trunkline import content as c
from trunkline import events as ev
from trunkline.agents.openai.stream_events.call_items import CallItem, read_call
from trunkline.agents.openai.stream_events.calls import Calls, CallState, Emit
from trunkline.agents.openai.stream_events.fields import as_json, field, id_of, list_field, text_field
from trunkline.agents.openai.stream_events.outputs import Outcome, read_output
from trunkline.agents.openai.stream_events.responses import Responses
from trunkline.agents.openai.stream_events.texts import SOURCE, whole_text
from trunkline.tools.results import read_shown

_HANDOFF: ev.ToolKind = "switch_mode"


class RunItems:
    """Reads the run items of one agent, in its lane."""

    def __init__(
        self,
        emit: Emit,
        calls: Calls,
        responses: Responses,
        new_id: Callable[[], str],
        *,
        described: Callable[[CallState], None],
    ) -> None:
        """Send events to ``emit``; ``described`` is told of every call whose arguments are whole."""
        self._emit_to = emit
        self._calls = calls
        self._responses = responses
        self._new_id = new_id
        self._described = described
        self._handoffs: list[CallState] = []
        self._handlers: dict[str, Callable[[Any], None]] = {
            "message_output_created": self._message,
            "reasoning_item_created": self._nothing,
            "tool_called": self._called,
            "tool_search_called": self._called,
            "tool_output": self._output,
            "tool_search_output_created": self._output,
            "handoff_requested": self._handoff,
            "handoff_occured": self._handed_off,
            "handoff_occurred": self._handed_off,
            "mcp_approval_requested": self._called,
            "mcp_approval_response": self._approval,
            "mcp_list_tools": self._tool_list,
        }

    def feed(self, name: Any, item: Any) -> None:
        """Emit what an item adds to the raw events."""
        handle = self._handlers.get(name) if isinstance(name, str) else None
        if handle is not None:
            handle(item)
        elif text_field(item, "type") == "compaction_item":
            self._emit(ev.Compaction(compaction_id=self._new_id(), status="completed"))
        else:
            payload = {"name": as_json(name), "item": as_json(field(item, "raw_item"))}
            self._emit(ev.Raw(source=SOURCE, payload=payload))

    def _emit(self, event: ev.AnyEvent) -> None:
        self._emit_to(event, self._responses.lane)

    def _nothing(self, item: Any) -> None:
        """The raw events said it."""

    def _message(self, item: Any) -> None:
        """Emit a message that no model wrote: an error handler may end a run with one."""
        text = whole_text(field(item, "raw_item"))
        if text in self._responses.texts.spoken:
            self._responses.texts.spoken.remove(text)
        elif text:
            message_id = self._responses.texts.message_id = self._new_id()
            self._emit(ev.Text(message_id=message_id, delta=text))

    # -- calls -------------------------------------------------------------------------------------

    def _called(self, item: Any) -> None:
        raw = field(item, "raw_item")
        read = read_call(raw)
        if read is None:
            self._emit(ev.Raw(source=SOURCE, payload=as_json(raw)))
            return
        call = self._announce(read)
        self._calls.describe(call, read)
        if label := text_field(item, "title"):
            self._calls.retitle(call, label)
        if read.outcome is not None:
            self._calls.finish(call, read.outcome)
        self._described(call)

    def _announce(self, item: CallItem) -> CallState:
        native_id = item.native_id or self._new_id()
        lane, number = self._responses.lane, self._responses.number
        return self._calls.announce(item, lane, self._responses.texts.message_id, (lane, number), native_id)

    def _output(self, item: Any) -> None:
        raw = field(item, "raw_item")
        call = self._responses.call_of(raw)
        if call is None:
            native_id = id_of(raw)
            if native_id is None:
                self._emit(ev.Raw(source=SOURCE, payload=as_json(raw)))
                return
            # The output of a call that an earlier process announced, or that nothing announced.
            call = self._announce(CallItem(native_id=native_id, name=text_field(raw, "name")))
        if call.done:
            return  # A run that is resumed may give an output again.
        self._described(call)
        outcome = read_output(raw, field(item, "output"))
        shown: tuple[c.Content, ...] | None = None
        if (declared := read_shown(field(item, "custom_data"))) is not None:
            shown, result = declared
            outcome = msgspec.structs.replace(outcome, raw_output=result)
        self._calls.finish(call, outcome, shown)

    # -- handoffs ----------------------------------------------------------------------------------

    def _handoff(self, item: Any) -> None:
        read = read_call(field(item, "raw_item"))
        if read is None:
            return
        call = self._announce(msgspec.structs.replace(read, kind=_HANDOFF))
        self._calls.describe(call, msgspec.structs.replace(read, kind=_HANDOFF))
        if call.kind != _HANDOFF:
            call.kind = _HANDOFF
            self._calls.update(call, kind=_HANDOFF)
        self._calls.start(call)
        self._handoffs.append(call)

    def _handed_off(self, item: Any) -> None:
        raw = field(item, "raw_item")
        call = self._responses.call_of(raw)
        if call is None:
            return
        self._finish_handoff(call, text_field(field(item, "target_agent"), "name"), read_output(raw))

    def handed_to(self, name: str) -> None:
        """Finish a handoff whose output is not an event: a filter of its input may take it out."""
        waiting, self._handoffs = self._handoffs, []
        call = next((one for one in waiting if not one.done), None)
        if call is not None:
            self._finish_handoff(call, name, Outcome(status="completed"))

    def _finish_handoff(self, call: CallState, target: str, outcome: Outcome) -> None:
        if target:
            self._calls.update(call, title=f"Hand off to {target}")
        self._calls.finish(call, outcome)

    # -- MCP servers that the provider asks ----------------------------------------------------------

    def _approval(self, item: Any) -> None:
        raw = field(item, "raw_item")
        call = self._calls.find(text_field(raw, "approval_request_id"), self._responses.lane)
        if call is not None and field(raw, "approve") is False:
            self._calls.finish(
                call, Outcome(status="denied", reason=text_field(raw, "reason") or "it was refused")
            )

    def _tool_list(self, item: Any) -> None:
        raw = field(item, "raw_item")
        server = text_field(raw, "server_label")
        if error := text_field(raw, "error"):
            title = f"The MCP server {server} does not list its tools"
            self._emit(ev.Notice(title=title, severity="warning", description=error, code="mcp_list_tools"))
            return
        names = [text_field(tool, "name") for tool in list_field(raw, "tools")]
        self._emit(ev.Custom(name="mcp_list_tools", value={"server": server, "tools": names}))
