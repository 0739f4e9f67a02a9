"""From LangChain's messages to neutral events, each emitted once.

The same message arrives several times (token by token from a callback, whole in an update of the graph, again
in the input of the next model call), and each of these may be missing. So everything is keyed by id and
idempotent: the first arrival is emitted, later ones add what is missing. It is pure: events go to ``emit``,
and it never waits.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, cast

import msgspec

from trunkline import content as c
from trunkline import events as ev
from trunkline.agents.json_values import json_value
from trunkline.agents.langchain.messages.content_mapper import ContentBlockMapper, Neutral
from trunkline.agents.langchain.messages.model_run import CallState, ModelRun
from trunkline.agents.langchain.messages.plan import plan_entries
from trunkline.agents.langchain.messages.provider_blocks import beside_content, is_tool_call
from trunkline.agents.langchain.messages.tool_descriptions import Annotations, ToolDescriptions
from trunkline.conversation import Call
from trunkline.events import Text
from trunkline.tools.call_files import CallFiles
from trunkline.tools.naming import Declared, KindMapper
from trunkline.tools.results import read_shown

ResultMapper = Callable[[Any], "tuple[c.Content, ...] | None"]
"""From a tool's message to what is shown of it; None for all of it."""

_REASON_LENGTH = 500
_CORRECTION = "Please fix your mistakes."


class Emitter:
    """Emits what the messages of one turn mean."""

    def __init__(
        self,
        emit: Callable[[Any], None],
        turn_id: str | None,
        *,
        mapper: ContentBlockMapper | None = None,
        kind_mapper: KindMapper | None = None,
        content_mapper: ResultMapper | None = None,
        annotations: Annotations | None = None,
        declared: Mapping[str, Declared] | None = None,
        call_files: CallFiles | None = None,
        emit_text: Callable[[str, str], None] | None = None,
        scrub: Callable[[Any], Any] | None = None,
        step_kinds: Collection[str] = ("model",),
        text: bool = True,
        reasoning: bool = True,
    ) -> None:
        """Send events to ``emit``; without ``text`` or ``reasoning`` these are left out.

        ``emit_text(text, message_id)`` is a faster way for the agent's own plain text. ``annotations`` gives
        what an MCP server says of a tool, ``declared`` what the author of a registered one says.
        ``scrub`` removes personal data from a message, or gives None for one that must not be shown; with it
        no tokens are emitted, only whole messages. ``step_kinds`` says what is a step.
        """
        self.emit = emit
        self._emit_text = emit_text
        self.scrub = scrub
        self.turn_id = turn_id
        self.mapper = mapper or ContentBlockMapper()
        self.content_mapper = content_mapper
        self.tools = ToolDescriptions(annotations, kind_mapper, declared)
        self.call_files = call_files or CallFiles()
        self.step_kinds = step_kinds
        self._step_numbers = itertools.count(1)
        self._with_text = text
        self._with_reasoning = reasoning
        self._calls: dict[tuple[str | None, str], CallState] = {}
        self._history: set[str] = set()
        self._past_calls: set[str] = set()
        self._emitted: set[str] = set()
        self._whole: dict[str, list[Any]] = {}
        """The messages that were emitted whole, and the calls that each of them made."""
        self._results: set[str] = set()
        self._plan: Any = None

    @property
    def has_emitted(self) -> bool:
        """Whether any message was emitted."""
        return bool(self._emitted)

    # -- steps -------------------------------------------------------------------------------------

    def step_started(self, lane: str | None, kind: ev.StepKind, name: str) -> str | None:
        """Emit that a step begins; give its id, or None where steps of this kind are not emitted."""
        if kind not in self.step_kinds:
            return None
        step_id = f"{kind}-{next(self._step_numbers)}"
        self._emit(ev.StepStarted(step_id=step_id, name=name, kind=kind), lane)
        return step_id

    def step_finished(self, lane: str | None, step_id: str | None, message_id: str | None = None) -> None:
        """Emit that a step is done, and with it the message that it wrote."""
        if step_id is not None:
            self._emit(ev.StepFinished(step_id=step_id, message_id=message_id), lane)

    # -- tokens ------------------------------------------------------------------------------------

    def chunk(self, run: ModelRun, message: Any) -> None:
        """Emit what one chunk of a model's answer brings."""
        if self.scrub is not None:
            return
        if run.message_id is None:
            run.message_id = str(message.id)
            self._emitted.add(run.message_id)
        if message.additional_kwargs:
            self._beside_content(run, message)
        content = message.content
        if type(content) is str:
            if content and self._with_text:
                if self._emit_text is not None and run.lane is None:
                    self._emit_text(content, run.message_id)
                else:
                    self._emit(Text(message_id=run.message_id, delta=content), run.lane)
        else:
            for block in content:
                self._block(run, block)
        for piece in message.tool_call_chunks:
            self._call_chunk(run, piece)

    def _beside_content(self, run: ModelRun, message: Any) -> None:
        """Emit what some providers put beside the content."""
        thought, refusal = beside_content(message)
        self._thought(run, thought, None)
        if refusal and self._with_text:
            self._emit(ev.Text(message_id=run.message_id or "", delta=refusal), run.lane)

    def _block(self, run: ModelRun, block: str | dict[str, Any]) -> None:
        message_id = run.message_id or ""
        parts = [block] if isinstance(block, str) else run.server_tools.feed(run.openai_items.feed(block))
        for item in (item for part in parts for item in self._to_neutral(part, message_id)):
            if isinstance(item, c.TextBlock):
                if item.text and self._with_text:
                    self._emit(ev.Text(message_id=message_id, delta=item.text), run.lane)
            elif isinstance(item, ev.Thought):
                self._thought(run, item.delta, item.signature)
            elif isinstance(item, ev.ToolCall):
                self.announce(run.lane, item.call_id, item.name, message_id)
            elif isinstance(item, ev.ToolInput | ev.ToolUpdate):
                if (call := self._calls.get((run.lane, item.call_id))) is not None:
                    self._server_call(run.lane, call, item)
            elif isinstance(item, c.Block):
                self._emit(ev.Media(message_id=message_id, content=item), run.lane)
            elif isinstance(item, ev.Raw):
                self._emit(ev.Raw(source=item.source, payload=json_value(item.payload)), run.lane)
            else:
                self._emit(item, run.lane)

    def _server_call(self, lane: str | None, call: CallState, item: ev.ToolInput | ev.ToolUpdate) -> None:
        """Emit what a call that the provider runs itself does; it runs once its arguments are whole."""
        events: list[ev.AnyEvent] = [msgspec.structs.replace(item, call_id=call.call_id)]
        if isinstance(item, ev.ToolUpdate):
            ends = item.status in ev.FINAL_STATUSES
            if not call.running:
                events.insert(0 if ends else 1, ev.ToolUpdate(call_id=call.call_id, status="in_progress"))
            call.running = True
            call.done |= ends
        for event in events:
            self._emit(event, lane)

    def _to_neutral(self, block: str | dict[str, Any], message_id: str) -> list[Neutral]:
        if isinstance(block, dict) and is_tool_call(block):
            return []  # LangChain gives the calls as tool_call_chunks, already put together.
        return self.mapper.to_neutral(block, message_id)

    def _emit(self, event: ev.AnyEvent, lane: str | None) -> None:
        self.emit(msgspec.structs.replace(event, turn_id=self.turn_id, lane=lane))

    def _thought(self, run: ModelRun, text: str, signature: str | None) -> None:
        if (text or signature) and self._with_reasoning:
            self._emit(ev.Thought(message_id=run.message_id or "", delta=text, signature=signature), run.lane)

    def _call_chunk(self, run: ModelRun, piece: dict[str, Any]) -> None:
        """Follow a call by its index; its name, id and arguments may come together or one by one."""
        index = piece.get("index")
        native_id, name, args = piece.get("id"), piece.get("name"), piece.get("args") or ""
        if index is None:
            index = native_id if native_id is not None else next(reversed(run.calls or run.pending), None)
        call = run.calls.get(index)
        if call is not None and native_id and native_id != call.native_id:
            call = None  # Some providers give every call the same index.
            index = native_id
        if call is None:
            waiting = run.pending.setdefault(index, {"id": None, "name": "", "args": ""})
            waiting["id"] = waiting["id"] or native_id
            waiting["name"] += name or ""
            waiting["args"] += args
            if not waiting["id"] or not waiting["name"]:
                return
            del run.pending[index]
            if any(one.get("tool") == waiting["name"] for one in run.predictions):
                # A front end that knows the event shows the arguments as state, while they come.
                self.custom("PredictState", run.predictions, run.lane)
            call = self.announce(run.lane, waiting["id"], waiting["name"], run.message_id)
            run.calls[index] = call
            args = waiting["args"]
        if args:
            self.emit(ev.ToolInput(turn_id=self.turn_id, lane=run.lane, call_id=call.call_id, delta=args))

    def fail_calls_of(self, run: ModelRun, reason: str) -> None:
        """End the calls of an answer that broke off before they were complete."""
        on_server = [self._calls.get((run.lane, native_id)) for native_id in run.server_tools.open]
        for call in (*run.calls.values(), *filter(None, on_server)):
            self._end(run.lane, call, "failed", reason)

    # -- calls -------------------------------------------------------------------------------------

    def announce(self, lane: str | None, native_id: str, name: str, message_id: str | None) -> CallState:
        """Emit that a call begins, once; give its state."""
        known = call = self._calls.get((lane, native_id))
        messages = {message_id} if message_id is not None else set[str]()
        if known is not None and known.done and known.messages and not messages <= known.messages:
            call = None  # Some models number their calls from zero in every message, so an id comes again.
        if call is None:
            call_id = native_id if lane is None else f"{native_id}@{lane}"
            if known is not None:
                messages |= known.messages
                call_id = f"{call_id}~{len(messages)}"
            kind, title = self.tools.announce(name)
            call = self._calls[lane, native_id] = CallState(call_id, native_id, name, kind)
            self._emit(
                ev.ToolCall(
                    call_id=call_id,
                    name=name,
                    kind=kind,
                    title=title,
                    message_id=message_id,
                    native_id=native_id,
                ),
                lane,
            )
        call.messages |= messages
        return call

    def kind_of(self, name: str) -> ev.ToolKind:
        """The kind that calls of a tool are announced with."""
        return self.tools.kind_of(name)

    def call_id_of(self, lane: str | None, native_id: str) -> str | None:
        """The id under which a call was announced."""
        call = self._calls.get((lane, native_id))
        return call.call_id if call is not None else None

    def describe(self, lane: str | None, tool_call: Mapping[str, Any], message_id: str | None = None) -> str:
        """Emit a call's complete arguments with title, files and diff, once; give its id."""
        call = self.announce(
            lane, str(tool_call.get("id") or ""), str(tool_call.get("name") or "tool"), message_id
        )
        args = tool_call.get("args")
        if not call.described and not call.done and args is not None:
            call.described = True
            self._emit_input(lane, call, args)
        return call.call_id

    def change_input(self, lane: str | None, native_id: str, args: Any) -> None:
        """Emit that a call runs with other arguments than it was announced with."""
        call = self._calls.get((lane, native_id))
        if call is not None and not call.done:
            self._emit_input(lane, call, args)

    def _emit_input(self, lane: str | None, call: CallState, args: Any) -> None:
        diff = self.call_files.changes(call.name, args)
        call.diff = bool(diff)
        self._emit(
            ev.ToolUpdate(
                call_id=call.call_id,
                title=self.tools.title_of(call.name, args),
                input=json_value(args),
                locations=self.tools.locations(call.name, args, self.call_files),
                content=diff or None,
            ),
            lane,
        )

    def tool_started(self, lane: str | None, native_id: str, name: str, args: Any) -> None:
        """Emit that a tool runs now."""
        self.describe(lane, {"id": native_id, "name": name, "args": args})
        call = self._calls[lane, native_id]
        if not call.done and not call.running and call.refused is None:
            call.running = True
            self._emit(ev.ToolUpdate(call_id=call.call_id, status="in_progress"), lane)

    def tool_progress(self, lane: str | None, native_id: str, output: str) -> None:
        """Append to a running call's output."""
        call = self._calls.get((lane, native_id))
        if call is not None and not call.done:
            self._emit(ev.ToolUpdate(call_id=call.call_id, output=output), lane)

    def tool_raised(self, lane: str | None, native_id: str, reason: str) -> None:
        """Remember why a tool raised: a middleware may run it again, or answer in its place."""
        if (call := self._calls.get((lane, native_id))) is not None:
            call.raised = reason

    def tool_returned(self, lane: str | None, message: Any) -> None:
        """Remember a tool's result, until the message that answers the model is known."""
        if (call := self._calls.get((lane, str(message.tool_call_id)))) is not None:
            call.returned = message

    def finish_returned(self, lane: str | None) -> None:
        """Emit the results of a lane that came in no message."""
        for (where, _), call in self._calls.items():
            if where == lane and call.returned is not None and not call.done:
                self.tool_message(lane, call.returned)

    def finish_calls(self, lane: str | None) -> None:
        """End the calls of a lane that raised or were refused, and got no answer."""
        self.finish_returned(lane)
        for (where, _), call in self._calls.items():
            if where == lane and (call.raised or call.refused) is not None:
                self._end(lane, call, "failed", call.raised or "")

    def fail_open_calls(self, reason: str) -> None:
        """Fail every call that is still open."""
        for (lane, _), call in self._calls.items():
            self._end(lane, call, "failed", reason)

    def tool_failed(self, lane: str | None, native_id: str, reason: str) -> None:
        """Emit that a call failed."""
        if (call := self._calls.get((lane, native_id))) is not None:
            self._end(lane, call, "failed", reason)

    def tool_completed(self, lane: str | None, native_id: str) -> None:
        """Emit that a call that nobody runs is complete."""
        if (call := self._calls.get((lane, native_id))) is not None:
            self._end(lane, call, "completed", None)

    def is_open(self, lane: str | None, native_id: str) -> bool:
        """Whether a call was announced, and has no result yet."""
        call = self._calls.get((lane, native_id))
        return call is not None and not call.done

    def tool_denied(self, lane: str | None, native_id: str, reason: str) -> None:
        """Note that a call was refused; it is emitted with the message that tells the model so."""
        if (call := self._calls.get((lane, native_id))) is not None:
            call.refused = reason

    def _end(self, lane: str | None, call: CallState, status: ev.ToolStatus, reason: str | None) -> None:
        if not call.done:
            call.done = True
            if call.refused is not None:
                status, reason = "denied", call.refused
            self._emit(ev.ToolUpdate(call_id=call.call_id, status=status, reason=reason), lane)

    def tool_message(self, lane: str | None, message: Any) -> None:
        """Emit a tool's result, and the id of its message as soon as that is known."""
        if message.id is not None and (message.id in self._results or message.id in self._history):
            return
        if (lane, str(message.tool_call_id)) not in self._calls and message.tool_call_id in self._past_calls:
            return  # A call of an earlier turn: create_agent answers it late if its arguments were invalid.
        call = self.announce(lane, str(message.tool_call_id), str(message.name or "tool"), None)
        if self.scrub is not None and (message := self.scrub(message)) is None:
            return
        if not call.done:
            call.done = True
            denied = call.refused is not None
            failed = _is_failure(message) and not denied
            mapped = self.content_mapper(message) if self.content_mapper is not None else None
            artifact = getattr(message, "artifact", None) if self.scrub is None else None
            shown = read_shown(artifact) if mapped is None else None
            if shown is not None:
                mapped, artifact = shown
            content = self.mapper.content_of(message.content) if mapped is None else mapped
            # A call that shows a change keeps it, unless there is something else to show.
            keeps_diff = call.diff and not mapped and not (failed or denied)
            raw = message.content
            if call.returned is not None and self.mapper.content_of(call.returned.content) == content:
                raw = call.returned.content  # LangChain rewrites the content of a model's input for tracing.
            self._emit(
                ev.ToolUpdate(
                    call_id=call.call_id,
                    status="denied" if denied else "failed" if failed else "completed",
                    # A refusal shows the text that the model gets.
                    content=None if keeps_diff else content,
                    raw_output=None
                    if denied or (mapped is not None and shown is None)
                    else json_value(raw if artifact is None else artifact),
                    reason=c.text_of(content)[:_REASON_LENGTH] if failed else call.refused,
                    result_message_id=message.id,
                ),
                lane,
            )
        elif message.id is not None:
            self._emit(ev.ToolUpdate(call_id=call.call_id, result_message_id=message.id), lane)
        if message.id is not None:
            self._results.add(message.id)

    # -- whole messages ----------------------------------------------------------------------------

    def message(self, lane: str | None, message: Any) -> None:
        """Emit a whole message, without what its tokens brought already."""
        kind = message.type
        if message.id in self._history:
            return  # A node may return more than it adds: the whole thread, repaired or shortened.
        if kind == "tool":
            self.tool_message(lane, message)
        elif kind in ("ai", "AIMessageChunk") and message.id is not None:
            if self.scrub is not None and (message := self.scrub(message)) is None:
                return
            if message.id not in self._emitted:
                self._emitted.add(message.id)
                run = ModelRun(lane, internal=False, whole=True)
                run.message_id = message.id
                self._beside_content(run, message)
                content = message.content
                for block in [content] if isinstance(content, str) else content:
                    if block:
                        self._block(run, block)
            calls = [*message.tool_calls, *message.invalid_tool_calls]
            if self._whole.get(message.id) == calls:
                return
            for source in () if message.id in self._whole else self.mapper.sources_of(message):
                self._emit(source, lane)
            self._whole[message.id] = calls
            for tool_call in message.tool_calls:
                self.describe(lane, tool_call, message.id)
            for invalid in message.invalid_tool_calls:
                self._emit_invalid(lane, invalid, message.id)

    def _emit_invalid(self, lane: str | None, invalid: dict[str, Any], message_id: str) -> None:
        native_id = str(invalid.get("id") or f"{message_id}:invalid")
        call = self.announce(lane, native_id, str(invalid.get("name") or "tool"), message_id)
        reason = str(invalid.get("error") or f"its arguments are not JSON: {invalid.get('args')}")
        self._end(lane, call, "failed", reason[:_REASON_LENGTH])

    def custom(self, name: str, value: Any, lane: str | None = None) -> None:
        """Emit a custom event of the agent; an event of ours is emitted as it is."""
        event = (
            value if isinstance(value, ev.Event) else ev.Custom(name=name, value=json_value(value), lane=lane)
        )
        self._emit(cast("ev.AnyEvent", event), event.lane)

    def is_emitted(self, message_id: str) -> bool:
        """Whether a message was emitted already."""
        return message_id in self._emitted or message_id in self._results or message_id in self._history

    def mark_emitted(self, message_id: str) -> None:
        """Take a message as emitted: its provider gave it another id at its end."""
        self._emitted.add(message_id)

    def add_history(self, messages: Iterable[Any]) -> None:
        """Take messages as emitted: the history that a turn begins with."""
        for message in messages:
            if message.id is not None:
                self._history.add(message.id)
            if message.type == "ai":
                self._past_calls.update(
                    call["id"] for call in message.tool_calls + message.invalid_tool_calls
                )

    def restore_calls(self, calls: Iterable[Call]) -> None:
        """Take calls as announced: this turn did that in an earlier process."""
        for known in calls:
            native_id = known.native_id or known.call_id
            call = CallState(known.call_id, native_id, known.name, known.kind)
            call.described = known.input is not None
            call.running = known.status == "in_progress"
            call.done = known.status in ev.FINAL_STATUSES
            self._calls[known.lane, native_id] = call

    def restore_plan(self, todos: Any) -> None:
        """Take a plan as emitted: the one that a turn begins with."""
        self._plan = todos

    def plan(self, todos: Any) -> None:
        """Emit a plan, if it changed."""
        if todos == self._plan or not isinstance(todos, list) or not (todos or self._plan):
            return
        self._plan = todos
        self._emit(ev.Plan(entries=plan_entries(cast("list[Any]", todos))), None)


def _is_failure(message: Any) -> bool:
    """Whether a tool's message says that its call failed.

    LangChain gives a status to every error but one: a structured answer that does not fit its schema.
    """
    if getattr(message, "status", "success") == "error":
        return True
    content = message.content
    return isinstance(content, str) and content.startswith("Error: ") and content.endswith(_CORRECTION)
