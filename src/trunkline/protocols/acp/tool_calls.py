"""Tool calls as an ACP agent shows them: one state a call, made of all the updates that name it.

Every update is an upsert: agents send ``tool_call`` twice for one call, arguments first in part and then
whole, a result in an update of its own before the last one, and some never announce a call at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trunkline import events as ev
from trunkline.content import Content, TerminalBlock
from trunkline.protocols.acp.content import tool_content_from_wire
from trunkline.protocols.acp.fields import as_list, as_object, look_up, merge, text_in, whole_number
from trunkline.protocols.acp.profiles import Profile

UNFINISHED = "the agent ended its turn without saying how this call ended"
CANCELLED = "the turn was cancelled"

_TERMINAL_KEYS = ("terminal_info", "terminal_output", "terminal_output_delta", "terminal_exit")
_REMEMBERED = 1000  # Calls of earlier turns, terminals that ended.


class CallState:
    """One call of the turn, as far as it is known."""

    def __init__(self, native_id: str, call_id: str, name: str, lane: str | None) -> None:
        """Begin with a call that has just been announced."""
        self.native_id = native_id
        self.call_id = call_id
        self.name = name
        self.lane = lane
        self.title: str | None = None
        self.kind = "other"
        self.status = "pending"
        self.input: Any = None
        self.no_arguments = False
        """Whether the arguments are an empty object so far: most often a placeholder."""
        self.locations: tuple[ev.Location, ...] = ()
        self.content: tuple[Content, ...] = ()
        self.raw_output: Any = None
        self.tool_response: Any = None
        self.meta: dict[str, Any] = {}
        """What came with updates that changed nothing else: it goes along with the next event."""
        self.asked = False
        """Whether a permission was asked for it."""
        self.reported = False
        """Whether the agent said anything of it besides asking."""
        self.warned = False

    @property
    def is_final(self) -> bool:
        """Whether the call has ended."""
        return self.status in ev.FINAL_STATUSES


class ToolCalls:
    """The calls of one session at an agent."""

    def __init__(self, profile: Profile) -> None:
        """Know no call."""
        self._profile = profile
        self._calls: dict[str, CallState] = {}
        self._earlier: dict[str, str] = {}
        self._exited: dict[str, None] = {}
        self._printed: dict[str, None] = {}
        self.cancelled = False
        """Whether the turn was cancelled: a call that fails after that counts as cancelled."""

    def begin_turn(self) -> None:
        """Let all calls so far be those of earlier turns."""
        self.cancelled = False
        for native_id, call in self._calls.items():
            _keep(self._earlier, native_id, call.call_id)
        self._calls.clear()

    def get(self, native_id: Any) -> CallState | None:
        """Give a call of this turn by the agent's id."""
        return self._calls.get(native_id) if isinstance(native_id, str) else None

    def asked_about(self, shown: Mapping[str, Any]) -> str | None:
        """Give the agent's id of the call that a permission shows.

        Agents on LangChain ask under another id than that of the call. It is then the first open call with
        the same arguments, no other kind and as good as the same title, about which nobody was asked.
        """
        native_id, title, given = text_in(shown, "toolCallId"), text_in(shown, "title"), shown.get("rawInput")
        if native_id in self._calls or not (title and given):
            return native_id
        for call in self._calls.values():
            own = call.title or call.name
            if (
                call.input == given
                and text_in(shown, "kind") in (None, call.kind)
                and (own in title or title in own)
                and not (call.asked or call.is_final)
            ):
                return call.native_id
        return native_id

    def asked_with(self, native_id: str) -> list[CallState]:
        """Give the calls that a permission is about which is no call itself and shows nothing.

        OpenHands announces its calls, and then asks to "Confirm Agent Actions": all that wait are meant.
        """
        own = self._calls.get(native_id)
        if own is None or own.reported or own.input is not None or own.locations or own.content:
            return []
        return [call for call in self._calls.values() if call.reported and not (call.asked or call.is_final)]

    def is_of_earlier_turn(self, native_id: str) -> bool:
        """Whether a call is one of an earlier turn, which is over."""
        return native_id not in self._calls and native_id in self._earlier

    def call_id(self, native_id: str) -> str | None:
        """Give our id of a call, also of one of an earlier turn."""
        call = self._calls.get(native_id)
        return call.call_id if call is not None else self._earlier.get(native_id)

    @property
    def has_open(self) -> bool:
        """Whether a call has not ended."""
        return any(not call.is_final for call in self._calls.values())

    def open_in(self, lane: str | None) -> list[CallState]:
        """Give the calls of a lane that have not ended."""
        return [call for call in self._calls.values() if call.lane == lane and not call.is_final]

    def announce(
        self, update: Mapping[str, Any], *, prefix: str, lane: str | None, message_id: str
    ) -> tuple[CallState, ev.ToolCall]:
        """Begin a call; the id of one of an earlier turn may come again for another call."""
        native_id: str = update["toolCallId"]
        meta = as_object(update.get("_meta"))
        title = text_in(update, "title")
        name = text_in(update, "name") or self._profile.name_of_tool(meta, native_id) or title or "unknown"
        call_id = f"{prefix}.{native_id}" if native_id in self._earlier else native_id
        call = self._calls[native_id] = CallState(native_id, call_id, name, lane)
        call.title, call.kind = title, text_in(update, "kind") or "other"
        kind: Any = call.kind
        event = ev.ToolCall(
            lane=lane,
            meta=_without_terminals(meta) or None,
            call_id=call_id,
            native_id=native_id,
            name=name,
            title=title,
            kind=kind,
            message_id=message_id,
        )
        return call, event

    def update(
        self, call: CallState, update: Mapping[str, Any], *, announced: bool
    ) -> tuple[list[ev.AnyEvent], bool]:
        """Take what an update says of a call; False if a part of it cannot be read.

        ``announced`` is for the update that announced the call, whose meta is in that event.
        """
        meta = as_object(update.get("_meta"))
        response = look_up(meta, self._profile.tool_response)
        if response is not None:
            call.tool_response = response
        changes, readable = self._changes(call, update)
        if call.is_final:
            self._complete(call, changes)
        outputs, read = self._terminals(call, meta, changes)
        kept = {} if announced else _without_terminals(meta)
        name = text_in(update, "name")
        if name is not None and name != call.name:
            # The name of a call is said once: one that comes later is told beside it.
            kept = merge(kept, {"acp": {"name": name}})
        call.meta = merge(call.meta, kept)
        out: list[ev.AnyEvent] = [*outputs, *self._flush(call, changes)]
        # "in_progress" is no sign of it: OpenCode says it beside its question, and an answer may cross it.
        if call.status == "denied" and update.get("status") == "completed" and not call.warned:
            call.warned = True
            out.append(_ran_refused(call))
        return out, readable and read

    def settle(self, call: CallState, status: ev.ToolStatus, reason: str | None) -> Iterator[ev.AnyEvent]:
        """End a call that the agent left open."""
        call.status = status
        changes: dict[str, Any] = {"status": status}
        if status == "completed":
            self._complete(call, changes)
        elif reason is not None:
            changes["reason"] = reason
        yield from self._flush(call, changes)

    def write(
        self, terminal_id: str, data: str, exit_status: Mapping[str, Any] | None, lane: str | None = None
    ) -> ev.TerminalOutput | None:
        """Give a piece of a terminal's output; None if there is nothing, or if the terminal has ended."""
        if terminal_id in self._exited or not (data or exit_status is not None):
            return None
        if data:
            _keep(self._printed, terminal_id, None)
        if exit_status is None:
            return ev.TerminalOutput(lane=lane, terminal_id=terminal_id, data=data)
        _keep(self._exited, terminal_id, None)
        code = next((exit_status[key] for key in ("exit_code", "exitCode") if key in exit_status), None)
        return ev.TerminalOutput(
            lane=lane,
            terminal_id=terminal_id,
            data=data,
            exited=True,
            exit_code=whole_number(code),
            signal=text_in(exit_status, "signal"),
        )

    # -- what an update changes --

    def _changes(self, call: CallState, update: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
        changes: dict[str, Any] = {}
        readable = True
        for name in ("title", "kind"):
            value = text_in(update, name)
            if value is not None and value != getattr(call, name):
                changes[name] = value
                setattr(call, name, value)
        if update.get("content") is not None:
            items = as_list(update["content"])
            content = tuple(block for item in items if (block := tool_content_from_wire(item)) is not None)
            readable = isinstance(update["content"], list) and len(content) == len(items)
            if content != call.content:
                changes["content"] = call.content = content
        if update.get("locations") is not None:
            items = as_list(update["locations"])
            locations = tuple(location for item in items if (location := _location(item)) is not None)
            readable = readable and isinstance(update["locations"], list) and len(locations) == len(items)
            if locations != call.locations:
                changes["locations"] = call.locations = locations
        raw_output = update.get("rawOutput")
        if raw_output is not None and raw_output != call.raw_output:
            changes["raw_output"] = call.raw_output = raw_output
        self._status(call, update.get("status"), changes)
        self._input(call, update.get("rawInput"), changes)
        return changes, readable

    def _status(self, call: CallState, status: Any, changes: dict[str, Any]) -> None:
        """Take a status; "pending" says nothing new, and the first end of a call is its end."""
        if not isinstance(status, str) or status in ("", "pending", call.status):
            return
        if not call.is_final:
            call.status = "cancelled" if status == "failed" and self.cancelled else status
            changes["status"] = call.status

    def _complete(self, call: CallState, changes: dict[str, Any]) -> None:
        """Let the result be what an extension calls so, if the standard's field has none."""
        if call.raw_output is None and call.tool_response is not None:
            changes["raw_output"] = call.raw_output = call.tool_response

    def _input(self, call: CallState, given: Any, changes: dict[str, Any]) -> None:
        """Take arguments, first in part and then whole; an empty object is most often a placeholder."""
        if given == {} and call.input is None:
            call.no_arguments = True
        elif given is not None and given != call.input:
            changes["input"] = call.input = given
            call.no_arguments = False
        if call.no_arguments and "status" in changes:
            changes["input"] = call.input = {}
            call.no_arguments = False

    # -- terminals that the agent runs by itself --

    def _terminals(
        self, call: CallState, meta: Mapping[str, Any], changes: dict[str, Any]
    ) -> tuple[list[ev.AnyEvent], bool]:
        """Read what a terminal printed from ``_meta``, as several agents send it."""
        out: list[ev.AnyEvent] = []
        readable = True
        for key in _TERMINAL_KEYS:
            entry = meta.get(key)
            if not isinstance(entry, dict):
                continue
            entry = as_object(entry)
            terminal_id = text_in(entry, "terminal_id") or _terminal_in(call) or call.call_id
            if all(getattr(block, "terminal_id", None) != terminal_id for block in call.content):
                call.content += (TerminalBlock(terminal_id=terminal_id),)
                changes["content"] = call.content
            data = text_in(entry, "data") or ""
            if key == "terminal_exit" and not data and terminal_id not in self._printed:
                text = look_up(as_object(call.raw_output), self._profile.output_text)
                data = text if isinstance(text, str) else ""
            event = self.write(terminal_id, data, entry if key == "terminal_exit" else None, call.lane)
            if event is not None:
                out.append(event)
            elif data:
                readable = False  # It had exited.
        return out, readable

    def _flush(self, call: CallState, changes: dict[str, Any]) -> Iterator[ev.AnyEvent]:
        if changes:
            meta, call.meta = call.meta or None, {}
            yield ev.ToolUpdate(lane=call.lane, meta=meta, call_id=call.call_id, **changes)


def _location(item: Any) -> ev.Location | None:
    given = as_object(item)
    path = text_in(given, "path")
    return None if path is None else ev.Location(path=path, line=whole_number(given.get("line")))


def _terminal_in(call: CallState) -> str | None:
    return next((block.terminal_id for block in call.content if isinstance(block, TerminalBlock)), None)


def _without_terminals(meta: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what becomes an event of its own: output would be stored twice."""
    return {k: v for k, v in meta.items() if k not in _TERMINAL_KEYS or not isinstance(v, dict)}


def _ran_refused(call: CallState) -> ev.Notice:
    return ev.Notice(
        severity="warning",
        code="refused_call_ran",
        title="The agent reports a refused tool call as completed",
        description=f"{call.title or call.name}: it may have run after the answer was no",
    )


def _keep(known: dict[str, Any], name: str, value: Any) -> None:
    known[name] = value
    if len(known) > _REMEMBERED:
        del known[next(iter(known))]
