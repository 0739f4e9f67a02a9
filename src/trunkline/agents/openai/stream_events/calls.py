"""The calls of a turn: each is announced once, described once its arguments are whole, and ends once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from trunkline import content as c
from trunkline import events as ev
from trunkline.agents.openai.stream_events.call_items import CallItem
from trunkline.agents.openai.stream_events.fields import as_json
from trunkline.agents.openai.stream_events.outputs import Outcome
from trunkline.conversation import Call
from trunkline.tools.call_files import CallFiles
from trunkline.tools.naming import KindMapper, kind_of, title_of

Emit = Callable[[ev.AnyEvent, "str | None"], None]
Annotations = Callable[[str], "dict[str, Any] | None"]

_REASON_LENGTH = 500


class CallState:
    """A call, and what of it was emitted."""

    __slots__ = (
        "call_id", "denied", "described", "diff", "done", "failed", "input", "kind", "lane", "name",
        "native_id", "nested_lane", "response", "running", "server", "title",
    )  # fmt: skip

    def __init__(self, call_id: str, native_id: str, name: str, lane: str | None, response: Any) -> None:
        self.call_id = call_id
        self.native_id = native_id
        self.name = name
        self.lane = lane
        self.response = response
        """The response that made it: one that comes again in another response is another call."""
        self.kind: str = "other"
        self.title: str | None = None
        self.server: str | None = None
        self.input: Any = None
        self.described = self.diff = self.done = self.running = False
        self.failed: str | None = None
        self.denied: str | None = None
        self.nested_lane: str | None = None
        """The lane of the agent that runs for this call."""


class Calls:
    """Emits what happens to the calls of one turn."""

    def __init__(
        self,
        emit: Emit,
        end_lane: Callable[[CallState, ev.ToolStatus], None],
        *,
        kind_mapper: KindMapper | None = None,
        annotations: Annotations | None = None,
        call_files: CallFiles | None = None,
    ) -> None:
        """Send events to ``emit``; ``annotations`` gives what an MCP server says of a tool.

        ``end_lane`` is called before the end of a call for which an agent runs.
        """
        self._emit = emit
        self._end_lane = end_lane
        self._kind_mapper = kind_mapper
        self._annotations = annotations or _no_annotations
        self._files = call_files or CallFiles()
        self._by_id: dict[tuple[str | None, str], CallState] = {}
        self._times: dict[tuple[str | None, str], int] = {}

    def __iter__(self) -> Iterator[CallState]:
        """Every call that is known by its id, the oldest first."""
        return iter(list(self._by_id.values()))

    def find(self, native_id: str, lane: str | None, *, everywhere: bool = False) -> CallState | None:
        """The call of an id in a lane; ``everywhere`` also looks for the newest open one in other lanes."""
        call = self._by_id.get((lane, native_id))
        if call is not None or not everywhere:
            return call
        found = [one for one in self._by_id.values() if one.native_id == native_id]
        return next((one for one in reversed(found) if not one.done), found[-1] if found else None)

    def restore(self, calls: Iterable[Call]) -> None:
        """Take calls as announced: this turn did that already."""
        for known in calls:
            native_id = known.native_id or known.call_id
            call = CallState(known.call_id, native_id, known.name, known.lane, None)
            call.kind, call.title = known.kind, known.title
            call.described = known.input is not None
            call.running = known.status == "in_progress"
            call.done = known.status in ev.FINAL_STATUSES
            self._by_id[known.lane, native_id] = call
            self._times[known.lane, native_id] = self._times.get((known.lane, native_id), 0) + 1

    def announce(
        self, item: CallItem, lane: str | None, message_id: str | None, response: Any, native_id: str
    ) -> CallState:
        """Emit that a call begins, once; give its state."""
        known = self._by_id.get((lane, native_id))
        if known is not None and not (known.done and known.response != response):
            known.response = response  # A call that was asked about goes on in the next response.
            return known
        # Some models number their calls from zero in every response, so an id comes again.
        times = self._times[lane, native_id] = self._times.get((lane, native_id), 0) + 1
        short = native_id if times == 1 else f"{native_id}~{times}"
        name = item.name or "tool"
        call = CallState(short if lane is None else f"{short}@{lane}", native_id, name, lane, response)
        annotations = self._annotations(name)
        call.kind = item.kind or kind_of(name, annotations, self._kind_mapper)
        call.server = item.server
        call.title = self._title(call, None)
        self._by_id[lane, native_id] = call
        self._emit(
            ev.ToolCall(
                call_id=call.call_id,
                name=name,
                kind=call.kind,
                title=call.title,
                message_id=message_id,
                native_id=native_id,
            ),
            lane,
        )
        return call

    def describe(self, call: CallState, item: CallItem) -> None:
        """Emit a call's whole arguments with title, files and diff, once."""
        if call.described or call.done:
            return
        call.described = True
        changed = item.kind if item.kind not in (None, call.kind) else None
        call.kind = item.kind or call.kind
        self._emit_input(call, item.input, item.named, changed)

    def change_input(self, call: CallState, arguments: Any) -> None:
        """Emit that a call runs with other arguments than it was announced with."""
        if not call.done:
            call.described = True
            self._emit_input(call, as_json(arguments), None, None)

    def _emit_input(self, call: CallState, given: Any, named: Any, kind: ev.ToolKind | None) -> None:
        call.input, about = given, given if named is None else named
        diff = self._files.changes(call.name, about)
        call.diff = bool(diff)
        call.title = self._title(call, about)
        self._emit(
            ev.ToolUpdate(
                call_id=call.call_id,
                title=call.title,
                kind=kind,
                input=given,
                locations=self._locations(call, about, diff) or None,
                content=diff or None,
            ),
            call.lane,
        )

    def _locations(self, call: CallState, about: Any, diff: tuple[c.Content, ...]) -> tuple[ev.Location, ...]:
        found = self._files.locations(call.name, about)
        paths = {block.path: None for block in diff if isinstance(block, c.DiffBlock)}
        return found or tuple(ev.Location(path=path) for path in paths)

    def _title(self, call: CallState, about: Any) -> str:
        name = call.name if call.server is None else f"{call.server}__{call.name}"
        return title_of(name, about, self._annotations(call.name))

    def retitle(self, call: CallState, label: str) -> None:
        """Give a call the label that its tool has."""
        title = title_of(call.name, call.input, {"title": label})
        if not call.done and title != call.title:
            call.title = title
            self._emit(ev.ToolUpdate(call_id=call.call_id, title=title), call.lane)

    def start(self, call: CallState) -> None:
        """Emit that a call runs."""
        if not call.done and not call.running:
            call.running = True
            self._emit(ev.ToolUpdate(call_id=call.call_id, status="in_progress"), call.lane)

    def update(self, call: CallState, **fields: Any) -> None:
        """Emit something else about a call that has not ended."""
        if not call.done:
            self._emit(ev.ToolUpdate(call_id=call.call_id, **fields), call.lane)

    def finish(self, call: CallState, outcome: Outcome, shown: tuple[c.Content, ...] | None = None) -> None:
        """Emit how a call ended, once; ``shown`` is what people see instead of its output."""
        if call.done:
            return
        call.done = True
        status, reason = outcome.status, outcome.reason
        if call.denied is not None:
            status, reason = "denied", call.denied
        elif call.failed is not None:
            status, reason = "failed", call.failed
        if call.nested_lane is not None:
            self._end_lane(call, status)
        content = outcome.content if shown is None else shown
        # A call that shows a change keeps it, unless there is something else to show.
        keeps_diff = call.diff and not shown and status == "completed"
        self._emit(
            ev.ToolUpdate(
                call_id=call.call_id,
                status=status,
                content=None if keeps_diff else content or None,
                raw_output=None if status == "denied" else outcome.raw_output,
                reason=None if reason is None else reason[:_REASON_LENGTH],
            ),
            call.lane,
        )


def _no_annotations(name: str) -> None:
    """No annotations."""
