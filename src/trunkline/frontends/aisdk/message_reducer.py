"""Folds the chunks of a stream to the message that a page holds, as the AI SDK does it.

Read from ``process-ui-message-stream.ts`` of the npm package ``ai`` at 7.0.169, 6.0.326 and 5.0.277, and
tested against each of them. It takes what our own encoder gives, which is legal: it checks nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, cast

from trunkline.protocols.aisdk.partial_json import MISSING, parse_partial
from trunkline.protocols.aisdk.wire import Chunk, JsonObject, StreamVersion

__all__ = ["MessageReducer"]

_RESULTS = ("output-available", "output-error")


class MessageReducer:
    """Folds chunk by chunk; ``message`` is right after every chunk."""

    def __init__(self, message_id: str, version: StreamVersion) -> None:
        self._version = version
        self._id = message_id
        self._metadata: Any = None
        self._parts: list[JsonObject] = []
        self._open: dict[str, tuple[JsonObject, list[str]]] = {}
        """Text and reasoning that is not ended, with its pieces: joining late keeps a long text linear."""
        self._inputs: dict[str, tuple[JsonObject, list[str]]] = {}
        """Calls whose input arrives in pieces."""
        self._data_parts: dict[tuple[str, str], JsonObject] = {}
        self.error: str | None = None
        """What ended the stream, if an error did."""

    @property
    def message(self) -> JsonObject:
        """The message so far; it does not change with later chunks."""
        for part, pieces in self._open.values():
            _join(part, pieces)
        for part, pieces in self._inputs.values():
            if part["state"] == "input-streaming" and pieces:
                text = "".join(pieces)
                pieces[:] = [text]
                part["rawInput"] = text
                if (value := parse_partial(text)) is not MISSING:
                    part["input"] = value
        found: JsonObject = {"id": self._id, "role": "assistant"}
        if self._metadata is not None:
            found["metadata"] = self._metadata
        return {**found, "parts": [dict(part) for part in self._parts]}

    def feed_all(self, chunks: Iterable[Chunk]) -> None:
        """Take chunks."""
        for chunk in chunks:
            self.feed(chunk)

    def feed(self, chunk: Chunk) -> None:
        """Take one chunk."""
        kind: str = chunk["type"]
        handle = self._handlers.get(kind)
        if handle is not None:
            handle(self, chunk)
        elif kind.startswith("data-"):
            self._data(chunk)

    # -- text --------------------------------------------------------------------------------------

    def _start(self, chunk: Chunk) -> None:
        kind = str(chunk["type"]).removesuffix("-start")
        part: JsonObject = {"type": kind, "text": "", "state": "streaming"}
        if kind == "reasoning":
            part["id"] = chunk["id"]
        _copy(chunk, part, "providerMetadata")
        self._open[chunk["id"]] = part, []
        self._parts.append(part)

    def _delta(self, chunk: Chunk) -> None:
        part, pieces = self._open[chunk["id"]]
        pieces.append(chunk["delta"])
        _copy(chunk, part, "providerMetadata")

    def _end(self, chunk: Chunk) -> None:
        part, pieces = self._open.pop(chunk["id"])
        _join(part, pieces)
        part["state"] = "done"
        _copy(chunk, part, "providerMetadata")

    # -- parts that are whole ----------------------------------------------------------------------

    def _whole(self, chunk: Chunk) -> None:
        part = dict(chunk)
        if chunk["type"] == "file" and self._version.number == 5:
            part.pop("providerMetadata", None)
        self._parts.append(part)

    def _data(self, chunk: Chunk) -> None:
        if chunk.get("transient"):
            return
        part_id = chunk.get("id")
        known = None if part_id is None else self._data_parts.get((chunk["type"], part_id))
        if known is not None:
            known["data"] = chunk["data"]
            return
        part = dict(chunk)
        self._parts.append(part)
        if part_id is not None:
            self._data_parts[chunk["type"], part_id] = part

    def _step(self, chunk: Chunk) -> None:
        self._parts.append({"type": "step-start"})

    # -- tools -------------------------------------------------------------------------------------

    def _input_start(self, chunk: Chunk) -> None:
        part = self._tool(chunk, "input-streaming")
        self._inputs[chunk["toolCallId"]] = part, []

    def _input_delta(self, chunk: Chunk) -> None:
        part, pieces = self._inputs[chunk["toolCallId"]]
        pieces.append(chunk["inputTextDelta"])
        _reset(part, "input-streaming")

    def _input_available(self, chunk: Chunk) -> None:
        self._tool(chunk, "input-available", input=chunk["input"])

    def _output(self, chunk: Chunk) -> None:
        part = self._find(chunk["toolCallId"])
        values: JsonObject = {"output": chunk["output"]}
        _copy(chunk, values, "preliminary")
        self._change(part, chunk, "output-available", values)

    def _output_error(self, chunk: Chunk) -> None:
        part = self._find(chunk["toolCallId"])
        values: JsonObject = {"errorText": chunk["errorText"]}
        if part["type"] != "dynamic-tool":
            _copy(part, values, "rawInput")
        self._change(part, chunk, "output-error", values)

    def _denied(self, chunk: Chunk) -> None:
        self._find(chunk["toolCallId"])["state"] = "output-denied"

    def _approval_request(self, chunk: Chunk) -> None:
        part = self._find(chunk["toolCallId"])
        part["state"] = "approval-requested"
        approval: JsonObject = {"id": chunk["approvalId"]}
        _copy(chunk, approval, "approvalDescriptor", "descriptor")
        if self._version.number > 6:
            _copy(chunk, approval, "reason", "requestReason")
            _copy(chunk, approval, "isAutomatic")
        part["approval"] = approval

    def _approval_response(self, chunk: Chunk) -> None:
        approval_id = chunk["approvalId"]
        for part in self._parts:
            if part.get("approval", {}).get("id") == approval_id:
                part["state"] = "approval-responded"
                part["approval"] = {**part["approval"], "approved": chunk["approved"]}
                _copy(chunk, part["approval"], "reason")
                return

    def _tool(self, chunk: Chunk, state: str, **values: Any) -> JsonObject:
        """Find the part of a call in the current step, or make one."""
        kind = "dynamic-tool" if chunk.get("dynamic") else f"tool-{chunk['toolName']}"
        for part in reversed(self._parts):
            if part["type"] == "step-start":
                break
            if part.get("toolCallId") == chunk["toolCallId"]:
                self._change(part, chunk, state, values)
                if part["type"] == "dynamic-tool":
                    part["toolName"] = chunk["toolName"]
                return part
        made: JsonObject = {"type": kind, "toolCallId": chunk["toolCallId"], "state": state, **values}
        if chunk.get("dynamic"):
            made["toolName"] = chunk["toolName"]
        _copy(chunk, made, "providerExecuted")
        if self._version.keeps_results_metadata or state == "input-available":
            _copy(chunk, made, "providerMetadata", "callProviderMetadata")
        if self._version.keeps_results_metadata:
            _copy(chunk, made, "title")
        self._parts.append(made)
        return made

    def _change(self, part: JsonObject, chunk: Chunk, state: str, values: JsonObject) -> None:
        modern = self._version.keeps_results_metadata
        kept = part.get("input", MISSING) if state in _RESULTS else MISSING
        _reset(part, state)
        if kept is not MISSING:
            part["input"] = kept
        part.update(values)
        # In 5 an output of a dynamic tool says nothing of who ran it.
        if modern or state != "output-available" or part["type"] != "dynamic-tool":
            _copy(chunk, part, "providerExecuted")
        if modern:
            _copy(chunk, part, "title")
        field = "resultProviderMetadata" if state in _RESULTS else "callProviderMetadata"
        if modern or state == "input-available":
            _copy(chunk, part, "providerMetadata", field)

    def _find(self, call_id: str) -> JsonObject:
        """The newest part of a call, in whichever step."""
        return next(part for part in reversed(self._parts) if part.get("toolCallId") == call_id)

    # -- the message -------------------------------------------------------------------------------

    def _begin(self, chunk: Chunk) -> None:
        self._id = chunk.get("messageId", self._id)
        self._tell(chunk)

    def _tell(self, chunk: Chunk) -> None:
        metadata = chunk.get("messageMetadata")
        if metadata is not None:
            self._metadata = metadata if self._metadata is None else _merge(self._metadata, metadata)

    def _fail(self, chunk: Chunk) -> None:
        self.error = chunk["errorText"]

    _handlers: ClassVar[dict[str, Callable[[Any, Chunk], None]]] = {
        "start": _begin,
        "finish": _tell,
        "message-metadata": _tell,
        "error": _fail,
        "start-step": _step,
        "text-start": _start,
        "text-delta": _delta,
        "text-end": _end,
        "reasoning-start": _start,
        "reasoning-delta": _delta,
        "reasoning-end": _end,
        "file": _whole,
        "source-url": _whole,
        "source-document": _whole,
        "steering-message": _whole,
        "tool-input-start": _input_start,
        "tool-input-delta": _input_delta,
        "tool-input-available": _input_available,
        "tool-approval-request": _approval_request,
        "tool-approval-response": _approval_response,
        "tool-output-available": _output,
        "tool-output-error": _output_error,
        "tool-output-denied": _denied,
    }


def _join(part: JsonObject, pieces: list[str]) -> None:
    part["text"] += "".join(pieces)
    pieces.clear()


def _reset(part: JsonObject, state: str) -> None:
    """Set a state; what belongs to another one goes."""
    part["state"] = state
    for name in ("input", "output", "errorText", "rawInput", "preliminary"):
        part.pop(name, None)


def _copy(source: JsonObject, target: JsonObject, name: str, as_name: str | None = None) -> None:
    if source.get(name) is not None:
        target[as_name or name] = source[name]


def _merge(base: Any, overrides: Any) -> Any:
    """Merge metadata deeply; lists and plain values are replaced."""
    if not (isinstance(base, dict) and isinstance(overrides, dict)):
        return overrides
    merged: JsonObject = dict(cast("JsonObject", base))
    for key, value in cast("JsonObject", overrides).items():
        known: Any = merged.get(key)
        both = isinstance(value, dict) and isinstance(known, dict)
        merged[key] = _merge(known, value) if both else value
    return merged
