"""The ACP decoder: what an agent says in a session, as neutral events.

It reads every update of ACP v1, stable and unstable, and survives any other: what it does not know, or cannot
read, is a ``Raw``. It is the inverse of the encoder of the ACP front end, as far as that loses nothing.

Which turn an update belongs to is the caller's to know. ``begin_turn`` and ``close`` mark the turns that it
prompts; an update out of turn that is more than a fact about the session begins a turn by itself (``in_turn``
says so), which the caller ends with ``close``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

import msgspec

from trunkline import events as ev
from trunkline.content import Content, TextBlock
from trunkline.options import ConfigOption
from trunkline.protocols.acp.agent_options import AgentOptions
from trunkline.protocols.acp.compactions import Compactions
from trunkline.protocols.acp.content import block_from_wire
from trunkline.protocols.acp.fields import as_object, look_up, merge, text_in
from trunkline.protocols.acp.message_ids import MessageIds
from trunkline.protocols.acp.plans import Plans
from trunkline.protocols.acp.profiles import STANDARD, Profile
from trunkline.protocols.acp.prompt_echo import PromptEcho
from trunkline.protocols.acp.session_facts import SOURCE, session_fact
from trunkline.protocols.acp.session_messages import SessionMessages
from trunkline.protocols.acp.subagents import Lane, Lanes
from trunkline.protocols.acp.tool_calls import CANCELLED, UNFINISHED, CallState, ToolCalls

__all__ = ["AcpDecoder", "is_of_session"]

_OF_SESSION = (
    ev.ConfigChanged,
    ev.CommandsChanged,
    ev.InfoChanged,
    ev.ContextUsage,
    ev.Notice,
    ev.Custom,
    ev.Raw,
)
_LANE: tuple[tuple[str, ...], ...] = (("trunkline", "lane"),)
"""Where our own encoder puts the lane of an update."""


def is_of_session(event: ev.Event) -> bool:
    """Whether an event concerns the session and none of its turns, so that it may come at any time."""
    return isinstance(event, _OF_SESSION)


class AcpDecoder:
    """Decodes the updates of one session at an agent; it lives as long as that session."""

    def __init__(self, profile: Profile = STANDARD) -> None:
        """Read the extensions that a profile names."""
        self.profile = profile
        self.in_turn = False
        """Whether a turn is open: one that was begun, or one that an update out of turn began."""
        self.agent_options = AgentOptions()
        self._prefix = ""
        self._turns = 0
        self._prompted = False
        self._echo = PromptEcho()
        self._ids = MessageIds()
        self._calls = ToolCalls(profile)
        self._lanes = Lanes()
        self._plans = Plans()
        self._user: tuple[str, list[Content], dict[str, Any]] | None = None
        self._user_messages = 0
        self._error: ev.Text | None = None
        self._compactions = Compactions()
        self._session_messages = SessionMessages()

    # -- turns -------------------------------------------------------------------------------------

    def begin_turn(self, prefix: str, prompt: Sequence[Mapping[str, Any]] = ()) -> None:
        """Begin a turn.

        Ids that the agent does not give begin with ``prefix``, which is unique in our session. ``prompt`` is
        what the agent was sent: its echo is swallowed.
        """
        self._turns += 1
        self._prefix = prefix
        self._prompted = bool(prompt)
        self.in_turn = True
        self._ids.begin_turn(prefix)
        self._calls.begin_turn()
        self._lanes.begin_turn()
        self._echo.clear()
        self._echo.expect(prompt)

    def expect_echo(self, blocks: Iterable[Mapping[str, Any]]) -> None:
        """Swallow the echo of these blocks too: those of a message that steers the turn."""
        self._echo.expect(blocks)

    def end_message(self) -> None:
        """Let what the agent says from now on without an id belong to another message."""
        self._ids.end_message()

    def cancel_turn(self) -> None:
        """Let the calls that fail from now on be cancelled ones."""
        self._calls.cancelled = True

    def close(self, stop_reason: str = "end_turn") -> list[ev.AnyEvent]:
        """End the turn: give what is left open an end; a second call gives nothing.

        ``stop_reason`` is the agent's, or ``failed`` for a turn that it did not end.
        """
        if not self.in_turn:
            return []
        cancelled = stop_reason == "cancelled"
        out = self._flush()
        for lane in self._lanes.innermost_first():
            out += self._settle(lane.name, stop_reason)
            outcome = lane.outcome or ("cancelled" if cancelled else "completed")
            out.append(self._lanes.finish(lane, outcome))
        out += self._settle(None, stop_reason)
        out += self._compactions.close(cancelled=cancelled)
        self.in_turn = False
        return out

    def _settle(self, lane: str | None, stop_reason: str) -> list[ev.AnyEvent]:
        """End the calls that a lane left open; nobody says that one succeeded of which no result is known.

        Of a permission that is no call nothing more comes: what was asked about went on.
        """
        out: list[ev.AnyEvent] = []
        for call in self._calls.open_in(lane):
            went_on = call.asked and not call.reported and stop_reason != "failed"
            if stop_reason == "cancelled":
                out += self._calls.settle(call, "cancelled", CANCELLED)
            elif went_on or call.raw_output is not None or call.tool_response is not None:
                out += self._calls.settle(call, "completed", None)
            else:
                out += self._calls.settle(call, "failed", UNFINISHED)
        return out

    def _ensure_turn(self) -> list[ev.AnyEvent]:
        """Begin a turn for what comes out of turn, and give what was waiting for one."""
        if not self.in_turn:
            self.begin_turn(f"{self._prefix or 'acp'}.{self._turns}")
        return self._flush()

    # -- the session -------------------------------------------------------------------------------

    @property
    def options(self) -> tuple[ConfigOption, ...]:
        """The options of the session with their present values."""
        return self.agent_options.all()

    def take_result(self, result: Mapping[str, Any]) -> list[ev.AnyEvent]:
        """Take the options in the answer of session/new, load, resume, fork or set_config_option."""
        before = self.options
        readable = self.agent_options.take_result(result)
        return self._config(before, None, None if readable else dict(result))

    def set_option(self, option_id: str, value: str | bool) -> list[ev.AnyEvent]:
        """Take an option that was set with success, for agents that do not answer with all of them."""
        before = self.options
        self.agent_options.set(option_id, value)
        return self._config(before, None, None)

    def _config(
        self, before: tuple[ConfigOption, ...], meta: dict[str, Any] | None, unread: Any
    ) -> list[ev.AnyEvent]:
        out: list[ev.AnyEvent] = []
        if self.options != before or meta is not None:
            out.append(ev.ConfigChanged(options=self.options, meta=meta))
        return out if unread is None else [*out, ev.Raw(source=SOURCE, payload=unread)]

    # -- calls -------------------------------------------------------------------------------------

    @property
    def has_open_calls(self) -> bool:
        """Whether a call has not ended."""
        return self._calls.has_open

    def call_id(self, native_id: str) -> str | None:
        """Give our id of a call by the agent's id."""
        return self._calls.call_id(native_id)

    def call(self, native_id: str) -> CallState | None:
        """Give what is known of a call of this turn by the agent's id."""
        return self._calls.get(native_id)

    def permission(self, params: Mapping[str, Any], /) -> list[ev.AnyEvent]:
        """Show the call of a session/request_permission: announce it, or take what is new of it."""
        call = as_object(params.get("toolCall"))
        native_id = text_in(call, "toolCallId")
        if native_id is None:
            return []
        meta = merge(as_object(params.get("_meta")), as_object(call.get("_meta")))
        out = self._ensure_turn()
        out += self._tool_call({**call, "_meta": meta, "sessionUpdate": None}) or []
        if (known := self._calls.get(native_id)) is not None:
            known.asked = True
        return out

    def asked_about(self, shown: Mapping[str, Any], /) -> str | None:
        """Give the agent's id of the call that the ``toolCall`` of a permission shows."""
        return self._calls.asked_about(shown)

    def asked_with(self, native_id: str) -> list[CallState]:
        """Give the calls that a permission is about which shows nothing of its own."""
        return self._calls.asked_with(native_id)

    def denied(self, native_id: str, reason: str | None = None) -> list[ev.AnyEvent]:
        """Take that a call was refused; what the agent says of its end after that is not new."""
        call = self._calls.get(native_id)
        if call is None or call.is_final:
            return []
        ended = list(self._calls.settle(call, "denied", reason))
        return [*self._lane_ends_with(call), *ended, *self._finish_lanes()]

    def terminal(
        self, terminal_id: str, data: str = "", exit_status: Mapping[str, Any] | None = None
    ) -> list[ev.AnyEvent]:
        """Give what a terminal printed that is run for the agent; ``exit_status`` has exitCode and signal."""
        event = self._calls.write(terminal_id, data, exit_status)
        return [] if event is None else [*self._ensure_turn(), event]

    # -- updates -----------------------------------------------------------------------------------

    def feed(self, update: Mapping[str, Any], /, *, child: str | None = None) -> list[ev.AnyEvent]:
        """Give the events that an update (``params["update"]`` of session/update) stands for.

        ``child`` is the session of a subagent that the agent announced, if the update is one of that.
        """
        given = as_object(update)
        kind = given.get("sessionUpdate")
        if not isinstance(kind, str):
            return [ev.Raw(source=SOURCE, payload=update)]
        if child is not None:
            given = {**given, "_meta": merge(as_object(given.get("_meta")), {"trunkline": {"lane": child}})}
        handle = self._handlers.get(kind)
        out = session_fact(kind, given) if handle is None else handle(self, given)
        return [ev.Raw(source=SOURCE, payload=update)] if out is None else out

    def _text(self, update: dict[str, Any]) -> list[ev.AnyEvent] | None:
        return self._chunk(update, ev.Text)

    def _thought(self, update: dict[str, Any]) -> list[ev.AnyEvent] | None:
        return self._chunk(update, ev.Thought)

    def _chunk(
        self, update: dict[str, Any], kind: type[ev.Text] | type[ev.Thought]
    ) -> list[ev.AnyEvent] | None:
        content = as_object(update.get("content"))
        text = content.get("text")
        meta = as_object(update.get("_meta"))
        if content.get("type") == "text" and isinstance(text, str):
            if not text:
                # Qwen sends the tokens of each request to its model so.
                return None if meta else []
            out, lane = self._in_lane(meta)
            extra = {key: content[key] for key in ("annotations", "_meta") if content.get(key) is not None}
            if extra:
                meta = merge(meta, {"acp": {"content": extra}})
            message_id = self._ids.message(lane, text_in(update, "messageId"))
            event = kind(lane=lane, meta=meta or None, message_id=message_id, delta=text)
            if isinstance(event, ev.Text) and self._is_error(text):
                self._error = event
                return out
            return [*out, event]
        block = block_from_wire(content)
        if block is None:
            return None
        out, lane = self._in_lane(meta)
        message_id = self._ids.message(lane, text_in(update, "messageId"))
        return [*out, ev.Media(lane=lane, meta=meta or None, message_id=message_id, content=block)]

    def _user_chunk(self, update: dict[str, Any]) -> list[ev.AnyEvent] | None:
        """Swallow the echo of the prompt; gather the message of a user who wrote to the agent elsewhere."""
        content = as_object(update.get("content"))
        if self._echo.takes(content):
            return []
        block = block_from_wire(content)
        if block is None or (self._prompted and self.in_turn):
            return None
        if isinstance(block, TextBlock) and not block.text:
            return []
        out: list[ev.AnyEvent] = []
        given_id = text_in(update, "messageId")
        if self._user is not None and given_id is not None and given_id != self._user[0]:
            out = self._ensure_turn()
        if self._user is None:
            self._user_messages += 1
            name = given_id or f"{self._prefix or 'acp'}.user{self._user_messages}"
            self._user = (name, [], as_object(update.get("_meta")))
        self._user[1].append(block)
        return out

    def _is_error(self, text: str) -> bool:
        """Whether a text may be the error that ends the turn, which is then not said twice."""
        begin = self.profile.error_text
        return begin is not None and text.startswith(begin)

    @property
    def holds_error_text(self) -> bool:
        """Whether a text waits for the end of the turn, as it may be the error that ends it."""
        return self._error is not None

    def drop_error_text(self, error: str) -> bool:
        """Leave out the text that the agent said last, if the error that ends the turn says it too."""
        if self._error is None or self._error.delta.strip() not in error:
            return False
        self._error = None
        return True

    def _flush(self) -> list[ev.AnyEvent]:
        """Give what waited for what comes next."""
        out: list[ev.AnyEvent] = [] if self._error is None else [self._error]
        self._error = None
        if self._user is not None:
            message_id, blocks, meta = self._user
            self._user = None
            out.append(ev.UserMessage(message_id=message_id, content=tuple(blocks), meta=meta or None))
        return out

    def _tool_call(self, update: dict[str, Any]) -> list[ev.AnyEvent] | None:
        native_id = text_in(update, "toolCallId")
        if native_id is None:
            return None
        call = self._calls.get(native_id)
        if self._is_late(update, native_id, call):
            return None
        meta = as_object(update.get("_meta"))
        out: list[ev.AnyEvent] = []
        announced = call is None
        if call is None:
            out, lane = self._in_lane(meta, native_id)
            call, event = self._calls.announce(
                update, prefix=self._prefix, lane=lane, message_id=self._ids.message_of_call(lane)
            )
            out.append(event)
        else:
            out += self._flush()
        call.reported = call.reported or update.get("sessionUpdate") is not None
        events, readable = self._calls.update(call, update, announced=announced)
        if call.is_final:
            out += self._lane_ends_with(call)
        out += events
        out += self._finish_lanes()
        return out if readable else [*out, ev.Raw(source=SOURCE, payload=update)]

    def _is_late(self, update: Mapping[str, Any], native_id: str, call: CallState | None) -> bool:
        """Whether an update is of a call that is over together with its turn or its subagent."""
        if call is not None:
            return not self.in_turn or not self._lanes.is_open(call.lane)
        is_update = update.get("sessionUpdate") == "tool_call_update"
        return is_update and self._calls.is_of_earlier_turn(native_id)

    # -- lanes -------------------------------------------------------------------------------------

    def _in_lane(
        self, meta: Mapping[str, Any], native_id: str | None = None
    ) -> tuple[list[ev.AnyEvent], str | None]:
        """Give the lane of an update, and what has to be said before the first one in it."""
        out = self._ensure_turn()
        if not meta:
            return out, None
        key = look_up(meta, self.profile.parent_call)
        is_call = isinstance(key, str)
        if not is_call:
            key = look_up(meta, _LANE)
        if not isinstance(key, str) or not key or key == native_id:
            return out, None
        lane = self._lanes.get(key)
        if lane is None:
            parent = self._calls.get(key) if is_call else None
            task = as_object(parent.input) if parent is not None else {}
            lane, started = self._lanes.open(
                key,
                parent=parent.lane if parent is not None else None,
                parent_call_id=self._calls.call_id(key) if is_call else None,
                title=self._subagent_name(meta, task) or (parent.name if parent is not None else None),
                description=text_in(task, "description"),
            )
            out.append(started)
        if native_id is not None and self._lanes.contains(lane.name, native_id):
            return out, None  # A call cannot run inside of itself.
        return out, lane.name

    def _subagent_name(self, meta: Mapping[str, Any], task: Mapping[str, Any]) -> str | None:
        """Give the kind of a subagent, as its agent says it there, or in the arguments of the call."""
        name = look_up(meta, self.profile.subagent_name)
        return name if isinstance(name, str) and name else text_in(task, "subagent_type")

    def _lane_ends_with(self, call: CallState) -> list[ev.AnyEvent]:
        """Let the subagent of a call end with it, as soon as nothing of it is open."""
        lane = self._lanes.get(call.native_id)
        if lane is not None and lane.outcome is None:
            outcomes = {"completed": "completed", "cancelled": "cancelled"}
            lane.outcome = outcomes.get(call.status, "failed")
        return self._finish_lanes(below=call.native_id)

    def _finish_lanes(self, below: str | None = None) -> list[ev.AnyEvent]:
        """End the lanes that have nothing left to do; ``below`` a call: those of its subagents alone."""
        return [
            self._lanes.finish(lane, lane.outcome)
            for lane in self._lanes.innermost_first()
            if lane.outcome is not None
            and not self._is_busy(lane)
            and (below is None or self._lanes.contains(lane.name, below))
        ]

    def _is_busy(self, lane: Lane) -> bool:
        return bool(self._calls.open_in(lane.name)) or self._lanes.has_lanes_below(lane.name)

    def _subagent(self, update: dict[str, Any]) -> list[ev.AnyEvent] | None:
        """Read the announcement of a child session, and how it ended."""
        key = text_in(update, "sessionId")
        if key is None:
            return None
        out = self._ensure_turn()
        lane = self._lanes.get(key)
        state = as_object(update.get("state"))
        if lane is None:
            if state.get("state") == "idle":
                return None  # It has ended, or has not begun.
            title, about = text_in(update, "title"), text_in(update, "description")
            _, started = self._lanes.open(key, title=title, description=about)
            meta = as_object(update.get("_meta")) or None
            return [*out, msgspec.structs.replace(started, meta=meta)]
        if state.get("state") == "idle":
            failed = state.get("error") is not None
            cancelled = state.get("stopReason") == "cancelled"
            lane.outcome = "failed" if failed else "cancelled" if cancelled else "completed"
            out += self._finish_lanes()
        return out

    # -- work --------------------------------------------------------------------------------------

    def _plan(self, update: dict[str, Any]) -> list[ev.AnyEvent] | None:
        event = self._plans.take(update)
        if event is None:
            return None
        out, lane = self._in_lane(as_object(update.get("_meta")))
        return [*out, msgspec.structs.replace(event, lane=lane)]

    def _compaction(self, update: dict[str, Any]) -> list[ev.AnyEvent] | None:
        event = self._compactions.take(update)
        return None if event is None else [*self._ensure_turn(), event]

    def _session_message(self, update: dict[str, Any]) -> list[ev.AnyEvent] | None:
        event = self._session_messages.take(update)
        return None if event is None else [*self._ensure_turn(), event]

    # -- facts about the session -------------------------------------------------------------------

    def _mode(self, update: dict[str, Any]) -> list[ev.AnyEvent] | None:
        mode_id = text_in(update, "currentModeId")
        if mode_id is None:
            return None
        before = self.options
        self.agent_options.take_mode(mode_id)
        return self._config(before, as_object(update.get("_meta")) or None, None)

    def _options(self, update: dict[str, Any]) -> list[ev.AnyEvent] | None:
        if not isinstance(update.get("configOptions"), list):
            return None
        before = self.options
        readable = self.agent_options.take_list(update["configOptions"])
        return self._config(before, as_object(update.get("_meta")) or None, None if readable else update)

    _handlers: ClassVar[dict[str, Callable[[AcpDecoder, dict[str, Any]], list[ev.AnyEvent] | None]]] = {
        "user_message_chunk": _user_chunk,
        "agent_message_chunk": _text,
        "agent_thought_chunk": _thought,
        "tool_call": _tool_call,
        "tool_call_update": _tool_call,
        "plan": _plan,
        "plan_update": _plan,
        "plan_removed": _plan,
        "current_mode_update": _mode,
        "config_option_update": _options,
        "compaction_update": _compaction,
        "compaction_summary_chunk": _compaction,
        "subagent_update": _subagent,
        "session_message": _session_message,
        "session_message_chunk": _session_message,
    }
