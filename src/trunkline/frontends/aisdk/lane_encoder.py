"""Encodes what is said in one lane as the chunks of one message: the agent's own, or a subagent's."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, ClassVar, cast

import msgspec

from trunkline import content as c
from trunkline import events as ev
from trunkline.frontends.aisdk.content_parts import block_part, camel_keys, source_part
from trunkline.frontends.aisdk.lane_calls import LaneCalls, Offer
from trunkline.frontends.aisdk.losses import OWN_DATA, TRANSIENT
from trunkline.frontends.aisdk.metadata import OURS, provider_metadata
from trunkline.frontends.aisdk.options import AisdkOptions
from trunkline.frontends.aisdk.terminals import Terminals
from trunkline.frontends.aisdk.text_parts import Parts
from trunkline.json_patch import PatchError, apply_patch
from trunkline.protocols.aisdk.wire import Chunk, StreamVersion

__all__ = ["LaneEncoder", "fields_of"]

Out = list[Chunk]

_ALWAYS: dict[str, dict[str, Any]] = {
    "config": {"options": []},
    "commands": {"commands": []},
    "info": {"title": None},
    "notice": {"severity": "info"},
}
"""What a page reads without asking whether it is there."""


class LaneEncoder:
    """Encodes the events of one lane."""

    def __init__(
        self,
        options: AisdkOptions,
        version: StreamVersion,
        terminals: Terminals,
        offer: Offer,
        *,
        client_tools: Collection[str] = (),
        is_bare: bool = False,
        tells_answers: bool | None = None,
    ) -> None:
        self._options = options
        self.parts = Parts()
        self.calls = LaneCalls(
            self.parts,
            terminals,
            version,
            offer,
            limit=options.max_ui_payload_size,
            client_tools=client_tools,
            is_bare=is_bare,
            tells_answers=tells_answers,
        )
        self._steps: dict[str, str] = {}
        self._sources: set[tuple[str, str]] = set()
        self._activities: dict[str, Any] = {}
        self._compactions: dict[str, ev.Compaction] = {}

    def feed(self, event: Any) -> Out:
        """Give the chunks of an event."""
        handle = self._handlers.get(cast("type[ev.Event]", type(event)))
        return [] if handle is None else handle(self, event)

    @classmethod
    def knows(cls, kind: type[ev.Event]) -> bool:
        """Whether an event belongs into the message of its lane."""
        return kind in cls._handlers

    def end(self, reason: str) -> Out:
        """Close everything, and end the calls that are left."""
        return [*self.parts.close(), *self.calls.end_all(reason)]

    # -- what is said ------------------------------------------------------------------------------

    def _text(self, event: ev.Text) -> Out:
        if not event.delta:
            return []
        return self.parts.add("text", event.message_id, event.delta, provider_metadata(event.meta))

    def _thought(self, event: ev.Thought) -> Out:
        if not self._options.emit_reasoning or not (event.delta or event.signature is not None):
            return []
        out = self.parts.add("reasoning", event.message_id, event.delta, provider_metadata(event.meta))
        if event.signature is not None:
            out += self.parts.close({OURS: {"signature": event.signature}})
        return out

    def _media(self, event: ev.Media) -> Out:
        if isinstance(event.content, c.TextBlock):
            # A block by itself: what is said before and after it is not part of it.
            out = [*self.parts.close(), *self.parts.add("text", event.message_id, event.content.text, {})]
            return [*out, *self.parts.close()]
        return self._part(block_part(event.content))

    def _source(self, event: ev.Source) -> Out:
        key = (event.message_id, event.source_id)
        if not self._options.emit_sources or key in self._sources:
            return []
        self._sources.add(key)
        part = source_part(event.source_id, event.url, event.title, event.document, event.mime_type)
        if metadata := provider_metadata(event.meta):
            part["providerMetadata"] = metadata
        return self._part(part)

    def _part(self, chunk: Chunk) -> Out:
        """Add a part between what is said."""
        out = self.parts.close()
        self.parts.touch()
        return [*out, chunk]

    # -- tools -------------------------------------------------------------------------------------

    def _call(self, event: ev.ToolCall) -> Out:
        return self.calls.begin(event)

    def _input(self, event: ev.ToolInput) -> Out:
        return self.calls.add_input(event)

    def _update(self, event: ev.ToolUpdate) -> Out:
        return self.calls.update(event)

    # -- work --------------------------------------------------------------------------------------

    def _step_started(self, event: ev.StepStarted) -> Out:
        shown = self._options.emit_steps
        if shown == "none" or event.kind not in (None, shown):
            return []
        # Of steps side by side none is a boundary of the message.
        out = [] if self._steps else self.next_step()
        self._steps[event.step_id] = event.name
        return out + self._named_step(event.step_id, event, "started")

    def _step_finished(self, event: ev.StepFinished) -> Out:
        return self._named_step(event.step_id, event, "finished") if event.step_id in self._steps else []

    def _named_step(self, step_id: str, event: ev.Event, state: str) -> Out:
        name = self._steps.get(step_id) if state == "started" else self._steps.pop(step_id)
        if not name or getattr(event, "kind", None) is not None:
            return []
        return [data_chunk("step", {"stepId": step_id, "name": name, "state": state}, transient=True)]

    def next_step(self, *, always: bool = False) -> Out:
        """Begin a step, unless a call still waits for its input: it would not be found any more."""
        return [] if self.calls.has_open_input else self.parts.start_step(always=always)

    def _plan(self, event: ev.Plan) -> Out:
        entries = [msgspec.structs.asdict(entry) for entry in event.entries]
        return self.show("plan", "plan", {"entries": entries})

    def _activity(self, event: ev.Activity) -> Out:
        content: Any = event.content
        if content is None:
            known = self._activities.get(event.activity_id)
            try:
                content = apply_patch({} if known is None else known, event.patch or ())
            except PatchError:
                if known is not None:
                    return []
                # It began in an earlier message, which has its content.
                data = {"type": event.activity_type, "patch": list(event.patch or ())}
                return self.show("activity", event.activity_id, data)
        self._activities[event.activity_id] = content
        return self.show("activity", event.activity_id, {"type": event.activity_type, "content": content})

    def _compaction(self, event: ev.Compaction) -> Out:
        known = self._compactions.get(event.compaction_id)
        if known is not None:
            event = msgspec.structs.replace(
                event, summary=event.summary or known.summary, error=event.error or known.error
            )
        self._compactions[event.compaction_id] = event
        data = {
            name: value
            for name in ("status", "summary", "error")
            if (value := getattr(event, name)) is not None
        }
        return self.show("compaction", event.compaction_id, data)

    def _usage(self, event: ev.ContextUsage) -> Out:
        return self.show("usage", "usage", fields_of(event))

    def _custom(self, event: ev.Custom) -> Out:
        self.parts.touch()
        if not event.name or event.name in OWN_DATA:
            return [data_chunk("custom", {"name": event.name, "value": event.value})]
        return [data_chunk(event.name, event.value)]

    def _raw(self, event: ev.Raw) -> Out:
        if not self._options.emit_raw and event.source != ev.APPLICATION:
            return []
        return [data_chunk("raw", {"source": event.source, "payload": event.payload}, transient=True)]

    def _passing(self, event: Any) -> Out:
        name = TRANSIENT[type(event)].removeprefix("data-")
        data = {**_ALWAYS.get(name, {}), **fields_of(event)}
        if isinstance(event, ev.ConfigChanged):
            data["options"] = [camel_keys(option) for option in data["options"]]
        return [data_chunk(name, data, transient=True)]

    def show(self, name: str, part_id: str, data: Any) -> Out:
        """Show a data part, which replaces the one of the same id."""
        self.parts.touch()
        return [{"type": f"data-{name}", "id": part_id, "data": data}]

    _handlers: ClassVar[dict[type[Any], Callable[[Any, Any], Out]]] = {
        ev.Text: _text,
        ev.Thought: _thought,
        ev.Media: _media,
        ev.Source: _source,
        ev.ToolCall: _call,
        ev.ToolInput: _input,
        ev.ToolUpdate: _update,
        ev.StepStarted: _step_started,
        ev.StepFinished: _step_finished,
        ev.Plan: _plan,
        ev.Activity: _activity,
        ev.Compaction: _compaction,
        ev.ContextUsage: _usage,
        ev.Custom: _custom,
        ev.Raw: _raw,
        **dict.fromkeys(TRANSIENT, _passing),
    }


def data_chunk(name: str, data: Any, *, transient: bool = False) -> Chunk:
    """Give a data part without an id; a page does not keep a transient one."""
    chunk: Chunk = {"type": f"data-{name}", "data": data}
    return {**chunk, "transient": True} if transient else chunk


def fields_of(event: Any) -> dict[str, Any]:
    """The fields of an event, without its type, turn, lane and meta."""
    fields = msgspec.to_builtins(event)
    return {key: item for key, item in fields.items() if key not in ("type", "turn_id", "lane", "meta")}
