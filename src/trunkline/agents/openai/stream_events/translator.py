"""``StreamTranslator``: what one turn of an OpenAI agent means, as events; pure.

It is fed the events of ``RunResultStreaming.stream_events()`` and what the hooks tell (``hook_facts``), in
the order in which they come, and gives events of ours. The SDK runs its hooks and tools ahead of the stream:
a fact about a call that the stream has not described yet is held until then, so that a call is never seen to
run before it was announced. An agent that runs as a tool has a lane, named by the call that it runs for.

Message ids come from ``new_id``; a call keeps the id that its model gave it, made unique in the turn. Nothing
is dropped and nothing is fatal: what is not known becomes a Raw event.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, Literal

import msgspec

from trunkline import events as ev
from trunkline.agents.openai.stream_events import hook_facts as f
from trunkline.agents.openai.stream_events.call_items import read_call
from trunkline.agents.openai.stream_events.calls import Annotations, Calls, CallState
from trunkline.agents.openai.stream_events.fields import as_json, field, id_of, text_field
from trunkline.agents.openai.stream_events.outputs import Outcome
from trunkline.agents.openai.stream_events.responses import Responses
from trunkline.agents.openai.stream_events.run_items import RunItems
from trunkline.agents.openai.stream_events.stop_reasons import RunFacts
from trunkline.agents.openai.stream_events.texts import SOURCE
from trunkline.conversation import Conversation
from trunkline.tools.call_files import CallFiles
from trunkline.tools.naming import KindMapper

__all__ = ["StreamTranslator"]

Out = list[ev.AnyEvent]
Ended = Literal["failed", "cancelled"]

_NOT_RUN = "the run ended before this call did"
_CUT_OFF = "The agent stopped while this call ran."


class _Lane:
    """What is known of one agent that speaks."""

    __slots__ = ("facts", "items", "responses")

    def __init__(self, responses: Responses, items: RunItems, facts: RunFacts) -> None:
        self.responses = responses
        self.items = items
        self.facts = facts


class StreamTranslator:
    """Translates one turn; a Translator[stream event or fact, event]."""

    def __init__(
        self,
        turn_id: str | None,
        new_id: Callable[[], str],
        *,
        kind_mapper: KindMapper | None = None,
        annotations: Annotations | None = None,
        call_files: CallFiles | None = None,
        max_tokens: int | None = None,
        on_usage: Callable[[ev.TokenUsage], None] | None = None,
    ) -> None:
        """Make events for a turn; ``new_id`` gives message ids that are new in the session.

        ``annotations`` gives what an MCP server says of a tool. ``on_usage`` gets every usage.
        ``max_tokens`` is the limit of a response in the settings of the run.
        """
        self.agent_name: str | None = None
        """The agent that speaks now."""
        self._turn_id = turn_id
        self._new_id = new_id
        self._max_tokens = max_tokens
        self._on_usage = on_usage or _ignore
        self._out: Out = []
        self._closed = False
        self._held: dict[str, list[f.Fact]] = {}
        steps = itertools.count(1)
        self._next_step = lambda: next(steps)
        self._calls = Calls(
            self._emit,
            self._end_lane,
            kind_mapper=kind_mapper,
            annotations=annotations,
            call_files=call_files,
        )
        self._lanes: dict[str | None, _Lane] = {None: self._lane(None)}

    @property
    def facts(self) -> RunFacts:
        """How the last response of the agent itself ended, for ``stop_of``."""
        return self._lanes[None].facts

    def call_id(self, native_id: str, parent: str | None = None) -> str | None:
        """Our id of a call, once it is announced."""
        call = self._find(native_id, parent)
        return None if call is None else call.call_id

    def restore(self, conversation: Conversation) -> None:
        """Take the turn so far as emitted: another translator did that, perhaps in another process."""
        calls = [one for one in conversation.calls.values() if one.turn_id == self._turn_id]
        self._calls.restore(calls)
        for name, lane in conversation.lanes.items():
            if lane.outcome is not None:
                continue
            call = next((one for one in self._calls if one.call_id == lane.parent_call_id), None)
            if call is not None and not call.done:
                call.nested_lane = name
                self._lanes[name] = self._lane(name)

    def feed(self, item: Any, /) -> Out:
        """Give what one event of the stream or one fact means."""
        if self._closed:
            return []
        try:
            self._feed(item)
        except Exception:
            # Whatever a provider sends, the rest of the answer is shown.
            self._emit(ev.Raw(source=SOURCE, payload=_payload(item)), None)
        return self._take()

    def close(self, reason: str = _NOT_RUN, status: Ended = "failed") -> Out:
        """End every call, lane and step that is still open."""
        if self._closed:
            return []
        self._release_all()
        for call in self._calls:
            if call.lane is None:
                why = _CUT_OFF if call.running and status == "failed" else reason
                self._calls.finish(call, Outcome(status=status, reason=why))
        self._lanes[None].responses.close(status)
        self._closed = True
        return self._take()

    def _take(self) -> Out:
        out, self._out = self._out, []
        return out

    def _emit(self, event: ev.AnyEvent, lane: str | None) -> None:
        self._out.append(msgspec.structs.replace(event, turn_id=self._turn_id, lane=lane))

    def _lane(self, name: str | None) -> _Lane:
        facts = RunFacts()
        responses = Responses(
            self._emit,
            self._calls,
            name,
            self._new_id,
            facts=facts,
            next_step=self._next_step,
            on_usage=self._on_usage,
            described=self._described,
        )
        responses.max_tokens = self._max_tokens
        items = RunItems(
            self._emit,
            self._calls,
            responses,
            self._new_id,
            described=self._described,
        )
        return _Lane(responses, items, facts)

    # -- events of the stream ----------------------------------------------------------------------

    def _feed(self, item: Any) -> None:
        if isinstance(item, f.NestedEvent):
            self._nested(item)
        elif isinstance(item, msgspec.Struct):
            self._fact(item)
        else:
            self._event(item, None)

    def _event(self, event: Any, lane: str | None) -> None:
        known = self._lanes[lane]
        match field(event, "type"):
            case "raw_response_event":
                known.responses.feed(field(event, "data"))
            case "run_item_stream_event":
                known.items.feed(field(event, "name"), field(event, "item"))
            case "agent_updated_stream_event":
                self._agent(field(event, "new_agent"), lane)
            case _:
                self._emit(ev.Raw(source=SOURCE, payload=as_json(event)), lane)

    def _agent(self, agent: Any, lane: str | None) -> None:
        limit = field(field(agent, "model_settings"), "max_tokens")
        own = limit if isinstance(limit, int) else None
        # The settings of the run count more than those of an agent.
        self._lanes[lane].responses.max_tokens = own if self._max_tokens is None else self._max_tokens
        name = text_field(agent, "name")
        self._lanes[lane].items.handed_to(name)
        if lane is None:
            before, self.agent_name = self.agent_name, name
            if before is not None and before != name:
                self._emit(ev.Custom(name="agent_updated", value={"agent": name}), None)

    # -- facts -------------------------------------------------------------------------------------

    def _find(self, native_id: str, parent: str | None) -> CallState | None:
        if parent is None:
            return self._calls.find(native_id, None, everywhere=True)
        above = self._calls.find(parent, None, everywhere=True)
        lane = None if above is None else above.nested_lane
        return self._calls.find(native_id, lane) if lane is not None else None

    def _ready(self, native_id: str, parent: str | None, fact: f.Fact) -> CallState | None:
        """The call that a fact is about; one that is not described yet, or done, leaves it held."""
        call = self._find(native_id, parent)
        if call is None or call.done or not call.described:
            self._held.setdefault(native_id, []).append(fact)
            return None
        return call

    def _fact(self, fact: Any) -> None:
        call = self._ready(fact.call_id, fact.parent, fact)
        if call is None:
            return
        match fact:
            case f.ToolStarted():
                self._calls.start(call)
            case f.ToolFailed(reason=reason):
                call.failed = reason
            case f.ToolDenied(reason=reason):
                call.denied = reason
            case f.ToolProgress(output=output, title=title):
                self._calls.update(call, output=output, title=title)
            case f.InputChanged(arguments=arguments):
                self._calls.change_input(call, arguments)
            case _:
                raise TypeError(f"not a fact: {fact!r}")

    def _described(self, call: CallState) -> None:
        """Release the facts that waited for a call."""
        for fact in self._held.pop(call.native_id, ()):
            self._feed(fact)

    def _release_all(self) -> None:
        """Emit what an agent said for a call that the stream never announced; one that ended is over."""
        responses = self._lanes[None].responses
        for native_id, facts in list(self._held.items()):
            nested = next((fact for fact in facts if isinstance(fact, f.NestedEvent)), None)
            read = None if nested is None else read_call(nested.tool_call)
            if read is not None and self._calls.find(native_id, None, everywhere=True) is None:
                made_by = (None, responses.number)
                call = self._calls.announce(read, None, responses.texts.message_id, made_by, native_id)
                self._calls.describe(call, read)
                self._described(call)
        self._held.clear()

    # -- agents that run as tools ------------------------------------------------------------------

    def _nested(self, nested: f.NestedEvent) -> None:
        native_id = id_of(nested.tool_call)
        if native_id is None:
            self._emit(ev.Raw(source=SOURCE, payload=as_json(field(nested.event, "data"))), None)
            return
        call = self._ready(native_id, nested.parent, nested)
        if call is None:
            return
        if call.nested_lane is None:
            self._calls.start(call)
            call.nested_lane = self._open_lane(call, nested.agent)
        self._event(nested.event, call.nested_lane)

    def _open_lane(self, call: CallState, name: str) -> str:
        short = call.call_id.partition("@")[0]
        lane = short if call.lane is None else f"{call.lane}/{short}"
        self._lanes[lane] = self._lane(lane)
        self._emit(
            ev.SubagentStarted(name=name or call.name, parent_lane=call.lane, parent_call_id=call.call_id),
            lane,
        )
        return lane

    def _end_lane(self, call: CallState, status: ev.ToolStatus) -> None:
        """End the lane of the agent that ran for a call which ends, and the lanes below it."""
        name, call.nested_lane = call.nested_lane, None
        lane = self._lanes.pop(name)
        ended: Ended = "cancelled" if status == "cancelled" else "failed"
        for one in self._calls:
            if one.lane == name:
                self._calls.finish(one, Outcome(status=ended, reason=_NOT_RUN))
        lane.responses.close(ended)
        self._emit(ev.SubagentFinished(outcome="completed" if status == "completed" else ended), name)


def _payload(item: Any) -> Any:
    """What of an event can be kept that could not be read."""
    try:
        return as_json(field(item, "data") or field(field(item, "item"), "raw_item") or repr(item)[:1000])
    except Exception:
        return None


def _ignore(usage: ev.TokenUsage) -> None:
    """Nobody counts."""
