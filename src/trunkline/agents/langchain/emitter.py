"""The emitter: from LangChain's messages to neutral events, each thing said once.

The same message comes by several roads (token by token from a callback, whole in an update, again in
the input of the next call) and every road may be missing. So everything here is keyed by id and
idempotent: whoever comes first says it, the others add what is not said yet. It is pure: events go
to ``say``, and it never waits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

from trunkline import content as c
from trunkline import events as ev
from trunkline.agents.langchain.content import ContentBlockMapper
from trunkline.agents.langchain.kinds import KindMapper, diff_of, kind_of, locations_of, title_of

__all__ = ["Emitter", "ModelRun"]

Say = Callable[[Any], None]


class _Call:
    """A call on its way: its id, and what of it was said."""

    __slots__ = ("annotations", "args_said", "call_id", "done", "name", "native_id", "started")

    def __init__(self, call_id: str, native_id: str, name: str) -> None:
        self.call_id = call_id
        self.native_id = native_id
        self.name = name
        self.args_said = False
        self.started = False
        self.done = False


class ModelRun:
    """One call of a model: where its tokens belong and what they brought so far."""

    __slots__ = ("calls", "internal", "lane", "message_id", "pending", "spoke")

    def __init__(self, lane: str | None, *, internal: bool) -> None:
        """A run in a lane; an internal one (a summarizer) is never shown."""
        self.lane = lane
        self.internal = internal
        self.message_id: str | None = None
        self.spoke = False
        self.calls: dict[Any, _Call] = {}
        self.pending: dict[Any, dict[str, Any]] = {}


class Emitter:
    """Says what a graph's messages mean, for one turn."""

    def __init__(
        self,
        say: Say,
        turn_id: str | None,
        *,
        mapper: ContentBlockMapper | None = None,
        kind_mapper: KindMapper | None = None,
        annotations: Callable[[str], dict[str, Any] | None] | None = None,
        text: bool = True,
        reasoning: bool = True,
    ) -> None:
        """Send events to ``say``; the switches leave text or reasoning out."""
        self.say = say
        self.turn_id = turn_id
        self.mapper = mapper or ContentBlockMapper()
        self._kind_mapper = kind_mapper
        self._annotations = annotations or (lambda name: None)
        self._with_text = text
        self._with_reasoning = reasoning
        self._calls: dict[tuple[str | None, str], _Call] = {}
        self._said: set[str] = set()
        self._results: set[str] = set()
        self._plan: Any = None

    @property
    def spoke(self) -> bool:
        """Whether any message was said."""
        return bool(self._said)

    # -- tokens ------------------------------------------------------------------------------------

    def chunk(self, run: ModelRun, message: Any) -> None:
        """Say what one chunk of a model's answer brings."""
        if run.message_id is None:
            run.message_id = str(message.id)
            self._said.add(run.message_id)
        content = message.content
        if type(content) is str:
            if content and self._with_text:
                run.spoke = True
                self.say(
                    ev.Text(turn_id=self.turn_id, lane=run.lane, message_id=run.message_id, delta=content)
                )
        else:
            for block in content:
                self._block(run, block)
        if message.additional_kwargs:
            thought = message.additional_kwargs.get("reasoning_content")
            if thought and isinstance(thought, str):
                self._thought(run, thought, None)
        for piece in message.tool_call_chunks:
            self._call_chunk(run, piece)

    def _block(self, run: ModelRun, block: Any) -> None:
        if isinstance(block, dict) and "tool" in str(cast("dict[str, Any]", block).get("type")) and (
            cast("dict[str, Any]", block).get("type") in ("tool_call", "tool_call_chunk", "tool_use", "input_json_delta")
        ):
            return  # The calls come as tool_call_chunks, already put together.
        for item in self.mapper.to_neutral(block, run.message_id or ""):
            if isinstance(item, c.TextBlock):
                if item.text and self._with_text:
                    run.spoke = True
                    self.say(
                        ev.Text(
                            turn_id=self.turn_id,
                            lane=run.lane,
                            message_id=run.message_id or "",
                            delta=item.text,
                        )
                    )
            elif isinstance(item, ev.Thought):
                self._thought(run, item.delta, item.signature)
            elif isinstance(item, ev.ToolCall):
                self.announce(run.lane, item.call_id, item.name, run.message_id)
            elif isinstance(item, ev.ToolUpdate):
                self._relay_update(run.lane, item)
            elif isinstance(item, c.Block):
                run.spoke = True
                self.say(
                    ev.Media(
                        turn_id=self.turn_id,
                        lane=run.lane,
                        message_id=run.message_id or "",
                        content=item,
                    )
                )
            elif isinstance(item, ev.Source):
                self.say(_placed(item, self.turn_id, run.lane))

    def _relay_update(self, lane: str | None, item: ev.ToolUpdate) -> None:
        call = self._calls.get((lane, item.call_id))
        if call is not None:
            self.say(_placed(item, self.turn_id, lane, call_id=call.call_id))

    def _thought(self, run: ModelRun, text: str, signature: str | None) -> None:
        if (text or signature) and self._with_reasoning:
            run.spoke = True
            self.say(
                ev.Thought(
                    turn_id=self.turn_id,
                    lane=run.lane,
                    message_id=run.message_id or "",
                    delta=text,
                    signature=signature,
                )
            )

    def _call_chunk(self, run: ModelRun, piece: dict[str, Any]) -> None:
        """Follow a call by its index; name, id and arguments may come together or one by one."""
        index = piece.get("index")
        native_id, name, args = piece.get("id"), piece.get("name"), piece.get("args") or ""
        if index is None:
            index = native_id if native_id is not None else next(reversed(run.calls or run.pending), None)
        call = run.calls.get(index)
        if call is not None and native_id and native_id != call.native_id:
            call = None  # A provider that gives every call the same index.
            index = native_id
        if call is None:
            waiting = run.pending.setdefault(index, {"id": None, "name": "", "args": ""})
            waiting["id"] = waiting["id"] or native_id
            waiting["name"] += name or ""
            waiting["args"] += args
            if not waiting["id"] or not waiting["name"]:
                return
            del run.pending[index]
            call = self.announce(run.lane, waiting["id"], waiting["name"], run.message_id)
            run.calls[index] = call
            args = waiting["args"]
        if args:
            call.args_said = True
            self.say(ev.ToolInput(turn_id=self.turn_id, lane=run.lane, call_id=call.call_id, delta=args))

    # -- calls -------------------------------------------------------------------------------------

    def announce(self, lane: str | None, native_id: str, name: str, message_id: str | None) -> _Call:
        """Say that a call begins, once; give what is known of it."""
        call = self._calls.get((lane, native_id))
        if call is None:
            call_id = native_id if lane is None else f"{native_id}@{lane}"
            call = self._calls[lane, native_id] = _Call(call_id, native_id, name)
            self.say(
                ev.ToolCall(
                    turn_id=self.turn_id,
                    lane=lane,
                    call_id=call_id,
                    name=name,
                    kind=kind_of(name, self._annotations(name), self._kind_mapper),
                    title=title_of(name, None),
                    message_id=message_id,
                    native_id=native_id,
                )
            )
        return call

    def find(self, lane: str | None, native_id: str) -> str | None:
        """The id under which a call was announced."""
        call = self._calls.get((lane, native_id))
        return call.call_id if call is not None else None

    def describe(self, lane: str | None, tool_call: dict[str, Any], message_id: str | None) -> _Call:
        """Say a call with its complete arguments: title, places and diff."""
        native_id, name = str(tool_call.get("id") or ""), str(tool_call.get("name") or "tool")
        call = self.announce(lane, native_id, name, message_id)
        args = tool_call.get("args")
        if not call.started and args is not None:
            call.started = True
            self.say(
                ev.ToolUpdate(
                    turn_id=self.turn_id,
                    lane=lane,
                    call_id=call.call_id,
                    title=title_of(name, args),
                    input=args,
                    locations=locations_of(args) or None,
                    content=diff_of(name, args) or None,
                )
            )
        return call

    def tool_started(self, lane: str | None, native_id: str, name: str, args: Any) -> None:
        """Say that a tool runs now."""
        call = self.describe(lane, {"id": native_id, "name": name, "args": args}, None)
        if not call.done:
            self.say(
                ev.ToolUpdate(
                    turn_id=self.turn_id, lane=lane, call_id=call.call_id, status="in_progress"
                )
            )

    def tool_failed(self, lane: str | None, native_id: str, reason: str) -> None:
        """Say that a tool raised."""
        call = self._calls.get((lane, native_id))
        if call is not None and not call.done:
            call.done = True
            self.say(
                ev.ToolUpdate(
                    turn_id=self.turn_id, lane=lane, call_id=call.call_id, status="failed", reason=reason
                )
            )

    def tool_message(self, lane: str | None, message: Any) -> None:
        """Say a tool's result; its message id when that is known."""
        if message.id is not None and message.id in self._results:
            return
        native_id = str(message.tool_call_id)
        call = self.announce(lane, native_id, str(message.name or "tool"), None)
        if not call.done:
            call.done = True
            failed = getattr(message, "status", "success") == "error"
            content = self.mapper.content_of(message.content)
            shown = diff_of(call.name, None) + content
            artifact = getattr(message, "artifact", None)
            self.say(
                ev.ToolUpdate(
                    turn_id=self.turn_id,
                    lane=lane,
                    call_id=call.call_id,
                    status="failed" if failed else "completed",
                    content=None if _has_diff(call.name) and not failed else shown,
                    raw_output=_plain(message.content if artifact is None else artifact),
                    reason=c.text_of(content)[:500] if failed else None,
                    result_message_id=message.id,
                )
            )
        elif message.id is not None:
            self.say(
                ev.ToolUpdate(
                    turn_id=self.turn_id, lane=lane, call_id=call.call_id, result_message_id=message.id
                )
            )
        if message.id is not None:
            self._results.add(message.id)

    # -- whole messages ----------------------------------------------------------------------------

    def message(self, lane: str | None, message: Any) -> None:
        """Say a message that came whole; what its tokens said already is not said again."""
        kind = message.type
        if kind == "tool":
            self.tool_message(lane, message)
        elif kind in ("ai", "AIMessageChunk") and message.id is not None:
            if message.id not in self._said:
                self._said.add(message.id)
                run = ModelRun(lane, internal=False)
                run.message_id = message.id
                content = message.content
                for block in [content] if isinstance(content, str) else content:
                    if block:
                        self._block(run, block)
                thought = message.additional_kwargs.get("reasoning_content")
                if thought:
                    self._thought(run, thought, None)
            for tool_call in message.tool_calls:
                self.describe(lane, tool_call, message.id)
            for broken in getattr(message, "invalid_tool_calls", ()):
                self._invalid(lane, broken, message.id)

    def _invalid(self, lane: str | None, broken: dict[str, Any], message_id: str) -> None:
        native_id = str(broken.get("id") or f"{message_id}:invalid")
        call = self.announce(lane, native_id, str(broken.get("name") or "tool"), message_id)
        if not call.done:
            call.done = True
            why = str(broken.get("error") or f"its arguments are not JSON: {broken.get('args')}")
            self.say(
                ev.ToolUpdate(
                    turn_id=self.turn_id, lane=lane, call_id=call.call_id, status="failed", reason=why
                )
            )

    def known(self, messages: Iterable[Any]) -> None:
        """Take messages as said: the history a turn begins with."""
        for message in messages:
            if message.id is not None:
                self._said.add(message.id)
                self._results.add(message.id)

    def plan(self, todos: Any) -> None:
        """Say a plan, once per real change."""
        if todos == self._plan or not isinstance(todos, list):
            return
        self._plan = todos
        entries = [_entry(item) for item in cast("list[Any]", todos)]
        self.say(ev.Plan(turn_id=self.turn_id, entries=tuple(entries)))


def _entry(item: Any) -> ev.PlanEntry:
    if not isinstance(item, dict):
        return ev.PlanEntry(content=str(item))
    given = cast("dict[str, Any]", item)
    status = given.get("status")
    priority = given.get("priority")
    return ev.PlanEntry(
        content=str(given.get("content") or given.get("title") or ""),
        status=status if status in ("pending", "in_progress", "completed") else "pending",
        priority=priority if priority in ("high", "medium", "low") else "medium",
    )


def _has_diff(name: str) -> bool:
    return kind_of(name) == "edit"


def _plain(value: Any) -> Any:
    """Give a value that JSON can carry; what cannot is left out."""
    try:
        ev.encode_event(ev.Custom(name="", value=value))
    except (TypeError, ValueError):
        return str(value)
    return value


def _placed(event: Any, turn_id: str | None, lane: str | None, **fields: Any) -> Any:
    import msgspec

    return msgspec.structs.replace(event, turn_id=turn_id, lane=lane, **fields)
