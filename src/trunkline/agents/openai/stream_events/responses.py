"""The raw events of an agent's responses (https://platform.openai.com/docs/api-reference/responses-streaming).

Everything is found by the number of the response and ``output_index``: the ids of items are all the same
with a chat-completions model, and in the SDK's scripted one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import msgspec

from trunkline import events as ev
from trunkline.agents.openai.stream_events.call_items import OUTPUT_TYPES, CallItem, image_of, read_call
from trunkline.agents.openai.stream_events.calls import Calls, CallState, Emit
from trunkline.agents.openai.stream_events.fields import (
    as_json,
    field,
    id_of,
    list_field,
    number_field,
    read_arguments,
    text_field,
)
from trunkline.agents.openai.stream_events.outputs import read_output
from trunkline.agents.openai.stream_events.stop_reasons import RunFacts
from trunkline.agents.openai.stream_events.texts import SOURCE, Slot, Texts, whole_text
from trunkline.agents.openai.stream_events.usage import token_usage

MODEL_STEP = "model"


class Responses:
    """Follows the responses of one agent, in its lane."""

    def __init__(
        self,
        emit: Emit,
        calls: Calls,
        lane: str | None,
        new_id: Callable[[], str],
        *,
        facts: RunFacts,
        next_step: Callable[[], int],
        on_usage: Callable[[ev.TokenUsage], None],
        described: Callable[[CallState], None],
    ) -> None:
        """Send events to ``emit``; ``new_id`` makes the ids of messages, ``facts`` learn how it ended.

        ``described`` is told of every call whose arguments are whole.
        """
        self.lane = lane
        self.max_tokens: int | None = None
        self.number = 0
        self.texts = Texts(self._emit, new_id, facts)
        self._emit_to = emit
        self._calls = calls
        self._new_id = new_id
        self._facts = facts
        self._next_step = next_step
        self._on_usage = on_usage
        self._described = described
        self._slots: dict[int, Slot] = {}
        self._open = False
        self._step_id: str | None = None
        self._compacting: dict[str, None] = {}

    def feed(self, data: Any) -> None:
        """Emit what a raw event means."""
        kind = field(data, "type")
        handle = self._handlers.get(kind) if isinstance(kind, str) else None
        if handle is not None:
            handle(self, data)
        elif kind not in _SILENT:
            self._emit(ev.Raw(source=SOURCE, payload=as_json(data)))

    def close(self, status: str) -> None:
        """End the step and the compactions that are still open."""
        for compaction_id in self._compacting:
            self._emit(ev.Compaction(compaction_id=compaction_id, status=status))  # pyright: ignore[reportArgumentType]
        self._compacting.clear()
        self._end_response()

    def _emit(self, event: ev.AnyEvent) -> None:
        self._emit_to(event, self.lane)

    # -- a response --------------------------------------------------------------------------------

    def _created(self, data: Any) -> None:
        if not self._open or self._slots:
            self._begin()

    def _begin(self) -> None:
        """Begin a response, and with it a message."""
        self._end_response()
        self.number += 1
        self._open = True
        self._slots = {}
        self.texts.begin()
        self._facts.reset()
        self._step_id = f"{MODEL_STEP}-{self._next_step()}"
        self._emit(ev.StepStarted(step_id=self._step_id, name=MODEL_STEP, kind="model"))

    def _end_response(self) -> None:
        self._open = False
        if self._step_id is not None:
            step_id, self._step_id = self._step_id, None
            self._emit(ev.StepFinished(step_id=step_id, message_id=self.texts.message_id))

    def _completed(self, data: Any) -> None:
        response = field(data, "response")
        if not self._open:
            self._begin()
        for index, item in enumerate(list_field(response, "output")):
            if not self._is_known(index, item):
                self._item_done({"output_index": index, "item": item})
        if (usage := token_usage(response)) is not None:
            self._on_usage(usage)
            # The SDK drops the finish reason of chat completions: what is left is the count.
            self._facts.length = self.max_tokens is not None and usage.output_tokens >= self.max_tokens
        self._end_response()

    def _is_known(self, index: int, item: Any) -> bool:
        """Whether an item of the whole response was emitted; a provider may count its items otherwise."""
        slot = self._slots.get(index)
        if slot is not None and slot.done:
            return True
        kind = text_field(item, "type")
        if kind == "message":
            return whole_text(item) in self.texts.spoken
        return kind == "reasoning" and any(one.source for one in self._slots.values() if one is not slot)

    def _incomplete(self, data: Any) -> None:
        self._completed(data)
        details = field(field(data, "response"), "incomplete_details")
        self._facts.incomplete = text_field(details, "reason") or "unknown"

    def _failed(self, data: Any) -> None:
        self._completed(data)
        self._error(field(field(data, "response"), "error"))

    def _error(self, data: Any) -> None:
        self._facts.failed = True
        inner = field(data, "error")  # Some proxies wrap it once more.
        self._facts.error_code = (
            text_field(data, "code") or text_field(inner, "code") or text_field(inner, "type")
        )
        self._facts.error_message = text_field(data, "message") or text_field(inner, "message")
        self._end_response()

    # -- messages ----------------------------------------------------------------------------------

    def _slot(self, data: Any) -> Slot:
        if not self._open:
            self._begin()
        index = number_field(data, "output_index")
        slot = self._slots.get(index)
        if slot is None:
            slot = self._slots[index] = Slot(index)
        return slot

    def _text_delta(self, data: Any) -> None:
        self.texts.text(self._slot(data), number_field(data, "content_index"), text_field(data, "delta"))

    def _refusal_delta(self, data: Any) -> None:
        self.texts.refusal(self._slot(data), number_field(data, "content_index"), text_field(data, "delta"))

    def _text_done(self, data: Any) -> None:
        part = number_field(data, "content_index")
        self.texts.complete_text(self._slot(data), part, text_field(data, "text"))

    def _refusal_done(self, data: Any) -> None:
        part = {"refusal": field(data, "refusal")}
        self.texts.complete_part(self._slot(data), number_field(data, "content_index"), part)

    def _part_done(self, data: Any) -> None:
        self.texts.complete_part(self._slot(data), number_field(data, "content_index"), field(data, "part"))

    def _annotation(self, data: Any) -> None:
        note = field(data, "annotation")
        self.texts.annotate(self._slot(data), number_field(data, "content_index"), note)

    def _summary_delta(self, data: Any) -> None:
        part, delta = number_field(data, "summary_index"), text_field(data, "delta")
        self.texts.think(self._slot(data), "summary", part, delta)

    def _reasoning_delta(self, data: Any) -> None:
        part, delta = number_field(data, "content_index"), text_field(data, "delta")
        self.texts.think(self._slot(data), "text", part, delta)

    # -- calls -------------------------------------------------------------------------------------

    def _announce(self, slot: Slot, item: CallItem) -> CallState:
        if slot.call is None:
            message_id = self.texts.message_of(slot)
            native_id = item.native_id or f"{message_id}:{slot.index}"
            slot.call = self._calls.announce(item, self.lane, message_id, (self.lane, self.number), native_id)
            self.texts.interrupt()
            self._give_input(slot, "")
        return slot.call

    def _arguments_delta(self, data: Any) -> None:
        self._give_input(self._slot(data), text_field(data, "delta"))

    def _custom_delta(self, data: Any) -> None:
        self._give_text(data, "input")

    def _code_delta(self, data: Any) -> None:
        self._give_text(data, "code")

    def _give_text(self, data: Any, key: str) -> None:
        """Give a piece of text that is the only argument of a call, as JSON."""
        slot = self._slot(data)
        piece = msgspec.json.encode(text_field(data, "delta").encode("utf-8", "replace").decode()).decode()[
            1:-1
        ]
        start, slot.json_open = "" if slot.json_open else f'{{"{key}":"', True
        self._give_input(slot, start + piece)

    def _close_text(self, slot: Slot) -> None:
        if slot.json_open:
            slot.json_open = False
            self._give_input(slot, '"}')

    def _give_input(self, slot: Slot, delta: str) -> None:
        slot.waiting += delta
        call = slot.call
        if call is not None and slot.waiting and not (call.described or call.running or call.done):
            self._emit(ev.ToolInput(call_id=call.call_id, delta=slot.waiting))
            slot.waiting = ""

    def _custom_done(self, data: Any) -> None:
        self._close_text(self._slot(data))

    def _arguments_done(self, data: Any) -> None:
        """A call that the provider runs itself begins: its arguments are whole."""
        slot = self._slot(data)
        self._close_text(slot)
        if slot.call is not None:
            given = read_arguments(field(data, "arguments"))
            if field(data, "code") is not None:
                given = {"code": text_field(data, "code")}
            call = CallItem(native_id=slot.call.native_id, name=slot.call.name, input=given)
            self._calls.describe(slot.call, call)
            self._calls.start(slot.call)

    def _runs(self, data: Any) -> None:
        if (call := self._slot(data).call) is not None:
            self._calls.start(call)

    def _partial_image(self, data: Any) -> None:
        """Show an image that is not finished yet in its call; the next one replaces it."""
        image = image_of(text_field(data, "partial_image_b64"), text_field(data, "output_format"))
        if (call := self._slot(data).call) is not None and image is not None:
            self._calls.start(call)
            self._calls.update(call, content=(image,))

    def _printed(self, data: Any) -> None:
        delta = field(data, "delta")
        printed = text_field(delta, "stdout") + text_field(delta, "stderr")
        if (call := self._slot(data).call) is not None and printed:
            self._calls.start(call)
            self._calls.update(call, output=printed)

    # -- items -------------------------------------------------------------------------------------

    def _item_added(self, data: Any) -> None:
        slot, item = self._slot(data), field(data, "item")
        kind = text_field(item, "type")
        call = read_call(item, whole=False)
        if call is not None and call.name and call.native_id:
            self._announce(slot, call)
        elif kind in OUTPUT_TYPES:
            slot.call = self.call_of(item)
        elif kind == "compaction":
            self._compact(text_field(item, "id"))

    def call_of(self, output: Any) -> CallState | None:
        """The call that an output answers; one without an id answers the last call of its kind."""
        native_id = id_of(output)
        call = self._calls.find(native_id, self.lane) if native_id else None
        if call is None and text_field(output, "type") == "tool_search_output":
            found = [one for one in self._calls if one.name == "tool_search" and one.lane == self.lane]
            call = next((one for one in reversed(found) if not one.done), None)
        return call

    def _item_done(self, data: Any) -> None:
        slot, item = self._slot(data), field(data, "item")
        slot.done = True
        kind = text_field(item, "type")
        call = read_call(item)
        if kind == "message":
            self.texts.complete_message(slot, item)
        elif kind == "reasoning":
            self.texts.complete_reasoning(slot, item)
        elif call is not None:
            self._call_done(slot, call)
        elif kind in OUTPUT_TYPES:
            slot.call = slot.call or self.call_of(item)
            if slot.call is not None:
                self._calls.finish(slot.call, read_output(item))
            else:
                self._emit(ev.Raw(source=SOURCE, payload=as_json(item)))
        elif kind == "compaction":
            self._compacting.pop(text_field(item, "id"), None)
            self._emit(ev.Compaction(compaction_id=self._id_of_compaction(item), status="completed"))
        elif kind not in ("mcp_list_tools", "mcp_approval_response"):  # The SDK gives these as items.
            self._emit(ev.Raw(source=SOURCE, payload=as_json(item)))

    def _call_done(self, slot: Slot, item: CallItem) -> None:
        self._close_text(slot)
        call = self._announce(slot, item)
        self._calls.describe(call, item)
        self._described(call)
        if item.outcome is None:
            return
        self._calls.start(call)
        if not call.done and item.name == "image_generation" and item.outcome.status == "completed":
            for image in item.outcome.content:
                self._emit(ev.Media(message_id=self.texts.message_of(slot), content=image))
        self._calls.finish(call, item.outcome)

    def _compact(self, compaction_id: str) -> None:
        if compaction_id and compaction_id not in self._compacting:
            self._compacting[compaction_id] = None
            self._emit(ev.Compaction(compaction_id=compaction_id, status="in_progress"))

    def _compacting_event(self, data: Any) -> None:
        self._slot(data)
        self._compact(text_field(data, "item_id"))

    def _id_of_compaction(self, item: Any) -> str:
        return text_field(item, "id") or self._new_id()

    _handlers: ClassVar[dict[str, Callable[[Responses, Any], None]]] = {
        "response.output_text.delta": _text_delta,
        "response.created": _created,
        "response.completed": _completed,
        "response.incomplete": _incomplete,
        "response.failed": _failed,
        "error": _error,
        "response.error": _error,
        "response.output_text.done": _text_done,
        "response.output_text.annotation.added": _annotation,
        "response.content_part.done": _part_done,
        "response.refusal.delta": _refusal_delta,
        "response.refusal.done": _refusal_done,
        "response.reasoning_summary_text.delta": _summary_delta,
        "response.reasoning_text.delta": _reasoning_delta,
        "response.output_item.added": _item_added,
        "response.output_item.done": _item_done,
        "response.function_call_arguments.delta": _arguments_delta,
        "response.mcp_call_arguments.delta": _arguments_delta,
        "response.mcp_call_arguments.done": _arguments_done,
        "response.custom_tool_call_input.delta": _custom_delta,
        "response.custom_tool_call_input.done": _custom_done,
        "response.code_interpreter_call_code.delta": _code_delta,
        "response.code_interpreter_call_code.done": _arguments_done,
        "response.code_interpreter_call.interpreting": _runs,
        "response.web_search_call.in_progress": _runs,
        "response.web_search_call.searching": _runs,
        "response.file_search_call.in_progress": _runs,
        "response.file_search_call.searching": _runs,
        "response.image_generation_call.in_progress": _runs,
        "response.image_generation_call.generating": _runs,
        "response.image_generation_call.partial_image": _partial_image,
        "response.shell_call_output_content.delta": _printed,
        "response.compaction.compacting": _compacting_event,
    }


_SILENT = frozenset({
    "keepalive", "response.queued", "response.in_progress", "response.content_part.added",
    "response.function_call_arguments.done", "response.reasoning_summary_part.added",
    "response.reasoning_summary_part.done", "response.reasoning_summary_text.done",
    "response.reasoning_text.done", "response.code_interpreter_call.in_progress",
    "response.code_interpreter_call.completed", "response.web_search_call.completed",
    "response.file_search_call.completed", "response.image_generation_call.completed",
    "response.mcp_call.in_progress", "response.mcp_call.completed", "response.mcp_call.failed",
    "response.mcp_list_tools.in_progress", "response.mcp_list_tools.completed",
    "response.mcp_list_tools.failed", "response.shell_call_command.added",
    "response.shell_call_command.delta", "response.shell_call_command.done",
    "response.shell_call_output_content.done",
})  # fmt: skip
"""Events that say only what another one says too, which is read."""
