"""The encoder: neutral events of a session to UnifiedMessages.

It goes through a whole session, turn after turn. What it remembers begins anew with each turn, so an encoder
that is primed from the first record of a turn says exactly what the one says that was there all the time.
The ids come from the places of the records: a message that is shown again has the id that it had.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, ClassVar, cast

import msgspec
from msgspec import UNSET

from trunkline import events as ev
from trunkline.cursor import Entry
from trunkline.error_redaction import without_words
from trunkline.frontends.unified.content_blocks import contents_of, details_of, shorten
from trunkline.frontends.unified.error_codes import code_of_failure, code_of_stop, needs_login
from trunkline.frontends.unified.options import UnifiedOptions
from trunkline.frontends.unified.questions import answer_metadata, question_metadata
from trunkline.frontends.unified.session_facts import commands_metadata, config_metadata
from trunkline.frontends.unified.tool_calls import CallView
from trunkline.frontends.unified.turn_content import TurnContent
from trunkline.protocols.unified.wire import (
    MessageType,
    RefusalContent,
    Role,
    TextContent,
    ThinkingContent,
    ToolResultContent,
    UnifiedContent,
    UnifiedMessage,
    derived_id,
)

__all__ = ["UnifiedEncoder"]

Out = list[UnifiedMessage]

_PRINTED_TAIL = 65_536
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_CUT_OFF = "the session was cut off before the turn's end"


class UnifiedEncoder:
    """Translates the events of one session; a Translator[Entry, UnifiedMessage]."""

    def __init__(self, session_id: str, options: UnifiedOptions | None = None) -> None:
        self._session_id = session_id
        self._options = options or UnifiedOptions()
        self._cursor = ""
        self._seq = 0
        self._at = 0
        self._ordinal = 0
        self._begin_turn(None)
        self._status = "idle"

    def _begin_turn(self, turn_id: str | None) -> None:
        self._turn_id = turn_id
        self._said: dict[str | None, TurnContent] = {}
        self._calls: dict[str, CallView] = {}
        self._lanes: dict[str, str | None] = {}
        """The calls that lanes belong to."""
        self._questions: dict[str, tuple[ev.Asked, str]] = {}
        self._printed: dict[str, str] = {}

    # -- the translator ----------------------------------------------------------------------------

    def feed(self, entry: Entry, /) -> Out:
        """Give what one event is on this wire."""
        self._seq, self._cursor, self._at = entry.seq, str(entry.cursor), int(entry.at * 1000)
        self._ordinal = 0
        event = entry.event
        handle = self._handlers.get(type(event))
        if handle is None:
            return []
        return handle(self, event if self._options.shows_exception_texts else without_words(event))

    def close(self) -> Out:
        """End a turn that has no end yet, as cut off; a second call gives nothing."""
        if self._turn_id is None:
            return []
        self._cursor += ".cut"  # These are no record's messages: their ids are no record's either.
        cut = ev.TurnFailed(turn_id=self._turn_id, code="interrupted", message=_CUT_OFF, fault="ours")
        return self._failed(cut)

    def _make(
        self,
        type: MessageType,
        role: Role,
        event: ev.Event,
        content: tuple[UnifiedContent, ...] = (),
        parent: str | None = None,
        /,
        **metadata: Any,
    ) -> UnifiedMessage:
        about: dict[str, Any] = {"session_id": self._session_id, "seq": self._seq, "cursor": self._cursor}
        turn_id = event.turn_id or self._turn_id
        if turn_id is not None:
            about["turn_id"] = turn_id
        if event.lane is not None:
            about["lane"] = event.lane
            call_id = self._lanes.get(event.lane)
            if call_id is not None:
                about["parent_tool_use_id"] = call_id
                parent = parent or self._message_of(call_id)
        about.update(metadata)
        if event.meta:
            about["_meta"] = event.meta
        self._ordinal += 1
        return UnifiedMessage(
            id=derived_id(self._session_id, self._cursor, self._ordinal),
            timestamp=self._at,
            type=type,
            role=role,
            content=content,
            metadata=about,
            parent_id=parent or UNSET,
        )

    def _message_of(self, call_id: str | None) -> str | None:
        call = self._calls.get(call_id or "")
        return None if call is None else call.message_id

    def _state(self, event: ev.Event, subtype: str | None = None, /, **metadata: Any) -> UnifiedMessage:
        """Give a status_change; one about something else says the status as it is."""
        about = metadata if subtype is None else {"subtype": subtype, **metadata}
        return self._make("status_change", "system", event, (), None, status=self._status, **about)

    def _fields(self, event: ev.Event, *names: str) -> dict[str, Any]:
        """Give fields of an event that are there, as plain values."""
        found = ((name, getattr(event, name)) for name in names)
        return {name: _plain(value) for name, value in found if value not in (None, "", ())}

    # -- turns -------------------------------------------------------------------------------------

    def _started(self, event: ev.TurnStarted) -> Out:
        self._begin_turn(event.turn_id or "")
        self._status = "running"
        return [self._state(event, None, **self._fields(event, "prompt_id", "run_id", "by"))]

    def _suspended(self, event: ev.TurnSuspended) -> Out:
        self._status = "waiting"
        return [self._state(event, None, question_ids=list(event.question_ids))]

    def _resumed(self, event: ev.TurnResumed) -> Out:
        self._status = "running"
        return [self._state(event)]

    def _finished(self, event: ev.TurnFinished) -> Out:
        about: dict[str, Any] = {"stopReason": event.stop_reason, "is_error": False}
        code = code_of_stop(event.stop_reason)
        if code is not None:
            about |= {"error_code": code, "error_message": f"the turn ended with {event.stop_reason}"}
        content: tuple[UnifiedContent, ...] = ()
        if event.stop_reason == "refusal":
            spoken = self._said.get(None) or TurnContent()
            content = (RefusalContent(spoken.last_text or "the agent refused to go on"),)
        return self._end(event, about, content)

    def _failed(self, event: ev.TurnFailed) -> Out:
        message = event.message if self._options.error_detail_level != "code" else "the turn failed"
        out: Out = []
        if needs_login(event):
            login: dict[str, Any] = {"isAuthenticating": False, "output": [], "error": message}
            out.append(self._make("auth_status", "system", event, (), None, **login))
        about = {
            "stopReason": "error",
            "is_error": True,
            "error_code": code_of_failure(event),
            "error_message": message,
            "error_source": event.fault,
            "error_data": {"code": event.code},
        }
        return out + self._end(event, about, ())

    def _end(
        self,
        event: ev.TurnFinished | ev.TurnFailed,
        about: dict[str, Any],
        content: tuple[UnifiedContent, ...],
    ) -> Out:
        if event.usage:
            about["usage"] = msgspec.to_builtins(list(event.usage))
        # The agent's own words come last: they are the answer.
        lanes = [*(lane for lane in self._said if lane is not None), None]
        out = [message for lane in lanes for message in self._speech(event, lane)]
        out.append(self._make("result", "system", event, content, None, **about))
        self._status = "idle"
        out.append(self._state(event))
        self._begin_turn(None)
        return out

    def _speech(self, event: ev.Event, lane: str | None) -> Out:
        """Give all that was said in a lane as one message, calls in their places."""
        content = self._said.pop(lane, None)
        if not content:
            return []
        where = event if event.lane == lane else msgspec.structs.replace(event, lane=lane)
        about = {"sources": content.sources} if content.sources else {}
        return [self._make("assistant", "assistant", where, content.contents(self._calls), None, **about)]

    def _queued(self, event: ev.PromptQueued) -> Out:
        content = contents_of(event.content, self._printed)
        about = {"status": self._status, "subtype": "prompt_queued", "prompt_id": event.prompt_id}
        return [self._make("status_change", "system", event, content, None, **about)]

    def _dropped(self, event: ev.PromptDropped) -> Out:
        return [self._state(event, "prompt_dropped", prompt_id=event.prompt_id, reason=event.reason)]

    def _rewound(self, event: ev.Rewound) -> Out:
        about = {"subtype": "message_removed", "to_message_id": event.to_message_id}
        return [self._make("session_lifecycle", "system", event, (), None, **about)]

    # -- messages ----------------------------------------------------------------------------------

    def _in(self, lane: str | None) -> TurnContent:
        content = self._said.get(lane)
        if content is None:
            content = self._said[lane] = TurnContent()
        return content

    def _user(self, event: ev.UserMessage) -> Out:
        about: dict[str, Any] = {"message_id": event.message_id, **details_of(event.content)}
        if not event.trusted:
            about["trusted"] = False
        if event.prompt_id is not None:
            about |= {"joined": True, "prompt_id": event.prompt_id}
        content = contents_of(event.content, self._printed)
        made = self._make("user_message", "user", event, content, None, **about)
        # A client knows its own message by the id that it gave.
        own = _UUID.fullmatch(event.message_id) is not None
        return [msgspec.structs.replace(made, id=event.message_id) if own else made]

    def _text(self, event: ev.Text) -> Out:
        if not event.delta and not event.meta:
            return []
        self._in(event.lane).add_piece("text", event.message_id, event.delta)
        delta = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": event.delta}}
        content = (TextContent(event.delta),)
        about = {"message_id": event.message_id, "event": delta}
        return [self._make("stream_event", "assistant", event, content, None, **about)]

    def _thought(self, event: ev.Thought) -> Out:
        self._in(event.lane).add_piece("thinking", event.message_id, event.delta)
        about: dict[str, Any] = {"message_id": event.message_id, "thought": True}
        delta: dict[str, Any] = {"type": "thinking_delta", "thinking": event.delta}
        if event.signature is not None:
            about["signature"] = event.signature
            if not event.delta:
                delta = {"type": "signature_delta", "signature": event.signature}
        about["event"] = {"type": "content_block_delta", "delta": delta}
        content = (ThinkingContent(event.delta),) if event.delta else ()
        return [self._make("stream_event", "assistant", event, content, None, **about)]

    def _media(self, event: ev.Media) -> Out:
        content = contents_of((event.content,), self._printed)
        self._in(event.lane).add(*content)
        about = {"message_id": event.message_id, **details_of((event.content,))}
        return [self._make("stream_event", "assistant", event, content, None, **about)]

    def _source(self, event: ev.Source) -> Out:
        source = self._fields(event, "source_id", "url", "title", "document", "mime_type")
        self._in(event.lane).sources.append(source)
        about = {"message_id": event.message_id, "source": source}
        return [self._make("stream_event", "assistant", event, (), None, **about)]

    # -- tools -------------------------------------------------------------------------------------

    def _call(self, event: ev.ToolCall) -> Out:
        call = self._calls[event.call_id] = CallView(event.call_id, event.name, lane=event.lane)
        call.title, call.kind = event.title, event.kind
        self._in(event.lane).add_call(event.call_id)
        about = self._about(call) | self._fields(event, "message_id", "native_id")
        made = self._make("tool_progress", "tool", event, (), None, **about)
        call.message_id = made.id
        return [made]

    def _about(self, call: CallView) -> dict[str, Any]:
        title = {} if call.title is None else {"title": call.title}
        # Claude's name of it, which BeamCode's pages read, and ACP's.
        about = {"tool_use_id": call.call_id, "toolCallId": call.call_id, "tool_name": call.name, **title}
        return {**about, "kind": call.kind, "status": call.status}

    def _known(self, call_id: str, lane: str | None) -> CallView:
        """Find a call; one that is not of this turn is made up, as far as it is needed."""
        return self._calls.get(call_id) or CallView(call_id, lane=lane)

    def _input(self, event: ev.ToolInput) -> Out:
        call = self._known(event.call_id, event.lane)
        call.arguments.append(event.delta)
        delta = {"type": "input_json_delta", "partial_json": event.delta}
        about = self._about(call) | {"event": {"type": "content_block_delta", "delta": delta}}
        return [self._make("tool_progress", "tool", event, (), call.message_id, **about)]

    def _update(self, event: ev.ToolUpdate) -> Out:
        call = self._calls.setdefault(event.call_id, self._known(event.call_id, event.lane))
        call.apply(event)
        about = self._about(call) | self._fields(event, "reason", "locations", "result_message_id")
        if event.input is not None:
            about["input"] = call.input
        if event.output:
            about["output"] = event.output
        about |= details_of(call.content if call.is_final else event.content or ())
        most = self._options.max_payload_size
        if event.raw_output is not None:
            size = len(msgspec.json.encode(event.raw_output))
            about |= {"rawOutputSize": size} if 0 < most < size else {"rawOutput": event.raw_output}
        content: tuple[UnifiedContent, ...] = ()
        if call.is_final:
            about["is_error"] = call.is_error
            text = shorten(call.result_text(), most)
            result = ToolResultContent(tool_use_id=call.call_id, content=text, is_error=call.is_error)
            content = (result, *self._shown(call.content))
            return [self._make("tool_use_summary", "tool", event, content, call.message_id, **about)]
        if event.input is not None:
            content = (call.use(),)
        content += contents_of(event.content or (), self._printed)
        return [self._make("tool_progress", "tool", event, content, call.message_id, **about)]

    def _shown(self, blocks: tuple[Any, ...]) -> tuple[UnifiedContent, ...]:
        """Give what of a result is more than its text."""
        made = contents_of(blocks, self._printed)
        return tuple(one for one in made if not isinstance(one, TextContent))

    def _terminal(self, event: ev.TerminalOutput) -> Out:
        name = event.terminal_id
        self._printed[name] = (self._printed.get(name, "") + event.data)[-_PRINTED_TAIL:]
        about = {"terminal_id": name, "output": event.data}
        if event.exited:
            about |= {"exited": True, "exit_code": event.exit_code, "signal": event.signal}
        owner = next((call for call in self._calls.values() if _shows(call, name)), None)
        parent = None
        if owner is not None:
            about["tool_use_id"], parent = owner.call_id, owner.message_id
        return [self._make("tool_progress", "tool", event, (), parent, subtype="terminal_output", **about)]

    # -- asking ------------------------------------------------------------------------------------

    def _asked(self, event: ev.Asked) -> Out:
        call = self._calls.get(getattr(event.question, "call_id", None) or "")
        about = question_metadata(event, call)
        parent = None if call is None else call.message_id
        made = self._make("permission_request", "system", event, (), parent, **about)
        self._questions[event.question_id] = (event, made.id)
        return [made]

    def _answered(self, event: ev.Answered) -> Out:
        asked, parent = self._questions.pop(event.question_id, (None, None))
        role: Role = "system" if event.by == "trunkline" else "user"
        about = answer_metadata(event, asked)
        return [self._make("permission_response", role, event, (), parent, **about)]

    def _decided(self, event: ev.Decided) -> Out:
        about = {
            "behavior": "allow" if event.allowed else "deny",
            "subtype": "decided",
            "by": event.by,
            "message": event.reason,
            "tool_name": event.tool,
            **self._fields(event, "rule", "kind", "paths", "command"),
        }
        if event.call_id is not None:
            about["tool_use_id"] = event.call_id
        parent = self._message_of(event.call_id)
        return [self._make("permission_response", "system", event, (), parent, **about)]

    # -- work --------------------------------------------------------------------------------------

    def _plan(self, event: ev.Plan) -> Out:
        entries = [
            {"content": one.content, "status": one.status, "priority": one.priority} for one in event.entries
        ]
        # BeamCode's pages look for planEntries; ACP's name is entries.
        return [self._state(event, "plan", entries=entries, planEntries=entries)]

    def _step_started(self, event: ev.StepStarted) -> Out:
        return [self._state(event, "step_started", **self._fields(event, "step_id", "name", "kind"))]

    def _step_finished(self, event: ev.StepFinished) -> Out:
        return [self._state(event, "step_finished", **self._fields(event, "step_id", "message_id"))]

    def _subagent_started(self, event: ev.SubagentStarted) -> Out:
        self._lanes[event.lane or ""] = event.parent_call_id
        about = self._fields(event, "name", "parent_lane", "description")
        return [self._state(event, "subagent_started", **about)]

    def _subagent_finished(self, event: ev.SubagentFinished) -> Out:
        out = self._speech(event, event.lane)
        about = self._fields(event, "outcome", "message", "result")
        return [*out, self._state(event, "subagent_finished", **about)]

    def _activity(self, event: ev.Activity) -> Out:
        about = self._fields(event, "activity_id", "activity_type", "content", "patch")
        return [self._state(event, "activity", **about)]

    def _compaction(self, event: ev.Compaction) -> Out:
        about = self._fields(event, "compaction_id", "summary", "error")
        if event.status == "completed":
            about = {"subtype": "session_compacted", **about}
            return [self._make("session_lifecycle", "system", event, (), None, **about)]
        busy = "compacting" if event.status == "in_progress" else self._status
        about = {"subtype": "compaction", "status": busy, "compaction_status": event.status, **about}
        return [self._make("status_change", "system", event, (), None, **about)]

    def _notice(self, event: ev.Notice) -> Out:
        about = self._fields(event, "title", "severity", "description", "code")
        return [self._state(event, "notice", **about)]

    def _replaced(self, event: ev.StateReplaced) -> Out:
        return [self._state(event, "state", state=event.state)]

    def _patched(self, event: ev.StatePatched) -> Out:
        return [self._state(event, "state_patch", patch=list(event.patch))]

    # -- the session -------------------------------------------------------------------------------

    def _config(self, event: ev.ConfigChanged) -> Out:
        about = {"subtype": "config_options", **config_metadata(event.options)}
        return [self._make("configuration_change", "system", event, (), None, **about)]

    def _commands(self, event: ev.CommandsChanged) -> Out:
        about = {"subtype": "available_commands_update", **commands_metadata(event.commands)}
        return [self._make("configuration_change", "system", event, (), None, **about)]

    def _info(self, event: ev.InfoChanged) -> Out:
        about = {"subtype": "session_info", "title": event.title}
        return [self._make("configuration_change", "system", event, (), None, **about)]

    def _usage(self, event: ev.ContextUsage) -> Out:
        return [self._state(event, "usage", **self._fields(event, "used", "size", "cost"))]

    def _custom(self, event: ev.Custom) -> Out:
        about = {"subtype": "custom", "name": event.name, "value": event.value}
        return [self._make("unknown", "system", event, (), None, **about)]

    def _raw(self, event: ev.Raw) -> Out:
        about = {"subtype": "raw", "source": event.source, "raw": event.payload}
        return [self._make("unknown", "system", event, (), None, **about)]

    _handlers: ClassVar[dict[type[Any], Callable[[Any, Any], Out]]] = {
        ev.TurnStarted: _started,
        ev.TurnSuspended: _suspended,
        ev.TurnResumed: _resumed,
        ev.TurnFinished: _finished,
        ev.TurnFailed: _failed,
        ev.PromptQueued: _queued,
        ev.PromptDropped: _dropped,
        ev.Rewound: _rewound,
        ev.UserMessage: _user,
        ev.Text: _text,
        ev.Thought: _thought,
        ev.Media: _media,
        ev.Source: _source,
        ev.ToolCall: _call,
        ev.ToolInput: _input,
        ev.ToolUpdate: _update,
        ev.TerminalOutput: _terminal,
        ev.Asked: _asked,
        ev.Answered: _answered,
        ev.Decided: _decided,
        ev.Plan: _plan,
        ev.StepStarted: _step_started,
        ev.StepFinished: _step_finished,
        ev.SubagentStarted: _subagent_started,
        ev.SubagentFinished: _subagent_finished,
        ev.Activity: _activity,
        ev.Compaction: _compaction,
        ev.Notice: _notice,
        ev.StateReplaced: _replaced,
        ev.StatePatched: _patched,
        ev.ConfigChanged: _config,
        ev.CommandsChanged: _commands,
        ev.InfoChanged: _info,
        ev.ContextUsage: _usage,
        ev.Custom: _custom,
        ev.Raw: _raw,
    }


def _plain(value: Any) -> Any:
    return msgspec.to_builtins(list(cast("tuple[Any, ...]", value)) if isinstance(value, tuple) else value)


def _shows(call: CallView, terminal_id: str) -> bool:
    return any(getattr(block, "terminal_id", None) == terminal_id for block in call.content)
