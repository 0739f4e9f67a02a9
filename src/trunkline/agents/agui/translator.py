"""From AG-UI's events to ours; pure.

Chunks and whole messages, snapshots and deltas all become the same few events. Of a snapshot only what is new
becomes events: everything in our conversation is emitted once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, cast, get_args

import msgspec

from trunkline import events as ev
from trunkline.agents.agui import langgraph
from trunkline.agents.agui.event_shapes import TrunklineMetadata, check_shape
from trunkline.agents.agui.known_messages import KnownMessages
from trunkline.agents.agui.run_end import RunEnd, read_error, read_finished
from trunkline.conversation import Conversation
from trunkline.errors import AgentProtocolError
from trunkline.protocols.agui.messages import content_of

Out = list[ev.AnyEvent]
Json = dict[str, Any]

_ROLES = ("user", "developer", "system")
_KINDS = get_args(ev.ToolKind)
_STATUSES = get_args(ev.ToolStatus)


class AguiTranslator:
    """Translates the runs of one turn; a Translator[dict, event]."""

    def __init__(
        self,
        earlier: Iterable[Json] = (),
        *,
        stateful: bool = False,
        raw: bool = False,
        peer: str = "the server",
    ) -> None:
        """Translate after the messages of ``earlier`` turns; ``raw`` keeps RAW events.

        Without ``stateful`` there is no state yet, and what the server patches is an empty one. ``peer`` is
        how the server is called in errors.
        """
        self.ending: RunEnd | None = None
        self.answered: set[str] = set()
        """The calls that have a result."""
        self.calls: dict[str, Json] = {}
        """The calls that were made: their name and the text of their arguments."""
        messages = list(earlier)
        self._earlier = frozenset(message["id"] for message in messages)
        self._known_messages = KnownMessages(messages)
        self._skipped: set[str] = set()
        self._chunk: dict[tuple[str, str | None], str] = {}
        self._run_id = ""
        self._thoughts = 0
        self._lanes: set[str] = set()
        self._custom_interrupts: list[Json] = []
        self._stateful = stateful
        self._cut = False
        self._keeps_raw = raw
        self._peer = peer

    def recall(self, conversation: Conversation) -> None:
        """Go on with a turn that has this conversation already."""
        for message in conversation.messages:
            self._known_messages.add_id(message.message_id)
            if message.role == "agent":
                self._known_messages.add(message.message_id, "assistant", message.lane, message.text)
        self._lanes.update(add_id for add_id, lane in conversation.lanes.items() if lane.outcome is None)
        for call in conversation.calls.values():
            call_id = call.native_id or call.call_id
            arguments = call.arguments or msgspec.json.encode(call.input).decode()
            self.calls[call_id] = _new_call(call.name, call.lane, arguments, has_input=True)
            if call.status in ev.FINAL_STATUSES:
                self.answered.add(call_id)
                self.calls[call_id]["result"] = call.result_message_id

    def feed(self, event: Json, /) -> Out:
        """Give what one event of the server means."""
        kind = event.get("type")
        if self.ending is not None and kind not in ("RUN_STARTED", "RUN_ERROR"):
            return []
        handle = self._handlers.get(str(kind))
        if handle is None:
            return [ev.Raw(source="agui", payload=event)]
        try:
            check_shape(str(kind), event)
            return handle(self, event)
        except (msgspec.MsgspecError, ValueError) as error:
            raise AgentProtocolError(f"{self._peer} sent a broken {kind}: {error}") from error

    def close(self) -> Out:
        """Nothing is left open here: the session closes what the server did not."""
        return []

    # -- runs --------------------------------------------------------------------------------------

    def _started(self, event: Json) -> Out:
        self.ending = None
        self._run_id = str(event.get("runId") or "")
        self._chunk.clear()
        self._custom_interrupts.clear()
        return []

    def _finished(self, event: Json) -> Out:
        self.ending = read_finished(event, self._custom_interrupts, self._unanswered())
        return [out for call_id in self.ending.pending for out in self._input(call_id)]

    def _unanswered(self) -> list[str]:
        return [call_id for call_id in self.calls if call_id not in self.answered]

    def _error(self, event: Json) -> Out:
        self.ending = read_error(event)
        return []

    # -- messages ----------------------------------------------------------------------------------

    def _text_start(self, event: Json) -> Out:
        # A message of this turn may go on in its next run; one of an earlier turn is over.
        if event.get("role") in _ROLES or event["messageId"] in self._earlier:
            self._skipped.add(event["messageId"])
        return []

    def _text(self, event: Json) -> Out:
        message_id, delta = event["messageId"], event["delta"]
        if message_id in self._skipped or not delta:
            return []
        self._known_messages.add(message_id, "assistant", _lane(event), delta)
        return [ev.Text(lane=_lane(event), message_id=message_id, delta=delta)]

    def _text_end(self, event: Json) -> Out:
        self._skipped.discard(event["messageId"])
        return []

    def _text_chunk(self, event: Json) -> Out:
        message_id = self._continued("text", event, "messageId")
        if event.get("role") in _ROLES:
            self._skipped.add(message_id)
        self._chunk["text", _lane(event)] = message_id
        return self._text({**event, "messageId": message_id, "delta": event.get("delta") or ""})

    def _continued(self, kind: str, event: Json, field: str) -> str:
        """The id of a chunk: its own, or that of the one before it."""
        found = event.get(field) or self._chunk.get((kind, _lane(event)))
        if not found:
            raise ValueError(f"the first chunk has no {field}")
        return str(found)

    def _reasoning(self, event: Json) -> Out:
        if not event["delta"] or event["messageId"] in self._earlier:
            return []
        self._known_messages.add(event["messageId"], "reasoning", _lane(event), event["delta"])
        return [ev.Thought(lane=_lane(event), message_id=event["messageId"], delta=event["delta"])]

    def _reasoning_chunk(self, event: Json) -> Out:
        message_id = self._continued("reasoning", event, "messageId")
        self._chunk["reasoning", _lane(event)] = message_id
        return self._reasoning({**event, "messageId": message_id, "delta": event.get("delta") or ""})

    def _thinking_start(self, event: Json) -> Out:
        self._thoughts += 1
        return []

    def _thinking(self, event: Json) -> Out:
        # Before 1.0 reasoning had no id of its own.
        return self._reasoning({**event, "messageId": f"{self._run_id}:thinking:{self._thoughts}"})

    def _sealed(self, event: Json) -> Out:
        if event.get("subtype") != "message":
            return []
        return [
            ev.Thought(lane=_lane(event), message_id=event["entityId"], signature=event["encryptedValue"])
        ]

    # -- tools -------------------------------------------------------------------------------------

    def _call_start(self, event: Json) -> Out:
        call_id, name = event["toolCallId"], event["toolCallName"]
        if call_id in self.calls:
            return []
        self.calls[call_id] = _new_call(name, _lane(event))
        about = _ours(event)
        return [
            ev.ToolCall(
                lane=_lane(event),
                call_id=call_id,
                name=name,
                native_id=call_id,
                title=about.get("title"),
                kind=about.get("kind", "other"),
                message_id=event.get("parentMessageId"),
            )
        ]

    def _call_args(self, event: Json) -> Out:
        call = self.calls.get(event["toolCallId"])
        if call is None or call["has_input"] or not event["delta"]:
            # A server that goes on after an interrupt may send the whole call again.
            return []
        call["arguments"] += event["delta"]
        return [ev.ToolInput(lane=call["lane"], call_id=event["toolCallId"], delta=event["delta"])]

    def _call_end(self, event: Json) -> Out:
        call_id, about = event["toolCallId"], _ours(event)
        call = self.calls.get(call_id)
        if call is None:
            return []
        out: Out = []
        if about:
            title, kind = about.get("title"), about.get("kind")
            out.append(ev.ToolUpdate(lane=call["lane"], call_id=call_id, title=title, kind=kind))
        # A server may leave the arguments out here and send them later.
        return out + self._input(call_id) if call["arguments"] else out

    def _input(self, call_id: str, arguments: str = "") -> Out:
        """Give the whole input of a call, once."""
        call = self.calls.get(call_id)
        if call is None or call["has_input"]:
            return []
        call["has_input"] = True
        call["arguments"] = call["arguments"] or arguments
        return [ev.ToolUpdate(lane=call["lane"], call_id=call_id, input=_parsed(call["arguments"]))]

    def _call_chunk(self, event: Json) -> Out:
        call_id = self._continued("tool", event, "toolCallId")
        out: Out = []
        if call_id not in self.calls:
            if not event.get("toolCallName"):
                raise ValueError("the first chunk has no toolCallName")
            out += self._call_start({**event, "toolCallId": call_id})
        self._chunk["tool", _lane(event)] = call_id
        return out + self._call_args({**event, "toolCallId": call_id, "delta": event.get("delta") or ""})

    def _result(self, event: Json) -> Out:
        call_id = event["toolCallId"]
        if call_id in self.answered:
            return []
        self.answered.add(call_id)
        about = _ours(event)
        call = self.calls.setdefault(call_id, _new_call("", _lane(event), has_input=True))
        call["result"] = event["messageId"]
        content: Any = event["content"]
        if not content or content == about.get("error"):
            # There is nothing to show, or nothing but the reason.
            content = None
        return [
            *self._input(call_id),
            ev.ToolUpdate(
                lane=call["lane"],
                call_id=call_id,
                status=about.get("status", "completed"),
                content=content_of(content) if content is not None else None,
                raw_output=content,
                reason=about.get("error"),
                result_message_id=event["messageId"],
            ),
        ]

    # -- the rest ----------------------------------------------------------------------------------

    def _state(self, event: Json) -> Out:
        state: Any = event["snapshot"]
        out: Out = []
        for call_id, arguments in langgraph.arguments_in(state):
            if call_id in self.calls and not self.calls[call_id]["arguments"]:
                out += self._input(call_id, msgspec.json.encode(arguments).decode())
        kept = langgraph.without_messages(state)
        self._stateful, self._cut = True, kept is not state
        return [*out, ev.StateReplaced(state=kept)]

    def _patch(self, event: Json) -> Out:
        out: Out = [] if self._stateful else [ev.StateReplaced(state={})]
        patch = tuple(
            step
            for step in cast("list[Json]", event["delta"])
            if not (self._cut and step["path"].startswith("/messages"))
        )
        self._stateful = True
        return [*out, ev.StatePatched(patch=patch)]

    def _messages(self, event: Json) -> Out:
        """Give what is new in a snapshot: a server that does not stream sends everything here."""
        out: Out = []
        self._known_messages.recognise(event["messages"])
        for message in cast("list[Json]", event["messages"]):
            lane, role = _lane(message), message.get("role")
            if role == "tool":
                out += self._late_result(message)
            elif role in ("assistant", "reasoning") and message["id"] not in self._earlier:
                out += self._late_message(message, lane)
        return out

    def _late_message(self, message: Json, lane: str | None) -> Out:
        out: Out = []
        content = message.get("content")
        if isinstance(content, str) and content and message["id"] not in self._known_messages:
            kind = ev.Thought if message["role"] == "reasoning" else ev.Text
            out.append(kind(lane=lane, message_id=message["id"], delta=content))
            self._known_messages.add(message["id"], message["role"], lane, content)
        self._known_messages.add_id(message["id"])
        for call in cast("list[Json]", message.get("toolCalls") or []):
            function = cast("Json", call["function"])
            owner = {"subagentRunId": lane} if lane is not None else {}
            start = {
                "toolCallId": call["id"],
                "toolCallName": function["name"],
                "parentMessageId": message["id"],
            }
            arguments = function.get("arguments") or ""
            if call["id"] not in self.calls:
                out += self._call_start({**start, **owner})
                out += self._call_args({"toolCallId": call["id"], "delta": arguments})
            out += self._input(call["id"], arguments)
        return out

    def _late_result(self, message: Json) -> Out:
        call_id = message.get("toolCallId")
        if call_id not in self.calls:
            return []
        call = self.calls[call_id]
        if call.get("result", message["id"]) != message["id"]:
            # It was streamed under another id; this is the one that the server knows.
            call["result"] = message["id"]
            return [ev.ToolUpdate(lane=call["lane"], call_id=call_id, result_message_id=message["id"])]
        about = (
            {"trunkline": {"status": "failed", "error": message["error"]}} if message.get("error") else None
        )
        content = message.get("content") or ""
        if isinstance(content, dict):
            raise ValueError("the content of a tool message is an object: send text or a list of parts")
        result = {"messageId": message["id"], "toolCallId": call_id, "content": content, "metadata": about}
        return self._result({**message, **result})

    def _step_started(self, event: Json) -> Out:
        return [ev.StepStarted(lane=_lane(event), step_id=event["stepName"], name=event["stepName"])]

    def _step_finished(self, event: Json) -> Out:
        return [ev.StepFinished(lane=_lane(event), step_id=event["stepName"])]

    def _activity(self, event: Json) -> Out:
        return [
            ev.Activity(
                lane=_lane(event),
                activity_id=event["messageId"],
                activity_type=event["activityType"],
                content=event.get("content"),
                patch=tuple(event["patch"]) if "patch" in event else None,
            )
        ]

    def _custom(self, event: Json) -> Out:
        name, value = event["name"], event.get("value")
        if name == "trunkline.plan" and isinstance(value, dict):
            entries = msgspec.convert(cast("Json", value).get("entries", []), tuple[ev.PlanEntry, ...])
            return [ev.Plan(lane=_lane(event), entries=entries)]
        if name == "trunkline.notice" and isinstance(value, dict):
            return [msgspec.convert({**cast("Json", value), "type": "notice"}, ev.Notice)]
        if name == "trunkline.source" and isinstance(value, dict):
            return [msgspec.convert({**cast("Json", value), "type": "source"}, ev.Source)]
        if name == "trunkline.media" and isinstance(value, dict):
            blocks = content_of([cast("Json", value).get("part")])
            message_id = str(cast("Json", value).get("messageId"))
            return [ev.Media(lane=_lane(event), message_id=message_id, content=block) for block in blocks]
        if name == langgraph.INTERRUPT_EVENT:
            self._custom_interrupts.append(langgraph.interrupt_of(event))
            return []
        if name.startswith("trunkline."):
            # Facts about a session of the server, not of ours.
            return []
        return [ev.Custom(lane=_lane(event), name=name, value=value)]

    def _raw(self, event: Json) -> Out:
        if not self._keeps_raw:
            return []
        return [ev.Raw(source=str(event.get("source") or "agui"), payload=event.get("event"))]

    def _subagent(self, event: Json) -> Out:
        lane = event["subagentRunId"]
        if lane in self._lanes:
            return []
        self._lanes.add(lane)
        return [
            ev.SubagentStarted(
                lane=lane,
                name=event["name"],
                description=event.get("description"),
                parent_lane=event.get("parentSubagentRunId"),
                parent_call_id=event.get("parentToolCallId"),
            )
        ]

    def _subagent_done(self, event: Json) -> Out:
        if cast("Json", event.get("outcome") or {}).get("type") == "suspended":
            return []
        self._lanes.discard(event["subagentRunId"])
        return [ev.SubagentFinished(lane=event["subagentRunId"], result=event.get("result"))]

    def _subagent_failed(self, event: Json) -> Out:
        self._lanes.discard(event["subagentRunId"])
        outcome = "cancelled" if event.get("code") == "CANCELLED" else "failed"
        return [ev.SubagentFinished(lane=event["subagentRunId"], outcome=outcome, message=event["message"])]

    def _nothing(self, event: Json) -> Out:
        return []

    _handlers: ClassVar[dict[str, Callable[[Any, Json], Out]]] = {
        "RUN_STARTED": _started,
        "RUN_FINISHED": _finished,
        "RUN_ERROR": _error,
        "TEXT_MESSAGE_START": _text_start,
        "TEXT_MESSAGE_CONTENT": _text,
        "TEXT_MESSAGE_END": _text_end,
        "TEXT_MESSAGE_CHUNK": _text_chunk,
        "REASONING_START": _nothing,
        "REASONING_MESSAGE_START": _nothing,
        "REASONING_MESSAGE_CONTENT": _reasoning,
        "REASONING_MESSAGE_END": _nothing,
        "REASONING_MESSAGE_CHUNK": _reasoning_chunk,
        "REASONING_END": _nothing,
        "REASONING_ENCRYPTED_VALUE": _sealed,
        "THINKING_START": _nothing,
        "THINKING_END": _nothing,
        "THINKING_TEXT_MESSAGE_START": _thinking_start,
        "THINKING_TEXT_MESSAGE_CONTENT": _thinking,
        "THINKING_TEXT_MESSAGE_END": _nothing,
        "TOOL_CALL_START": _call_start,
        "TOOL_CALL_ARGS": _call_args,
        "TOOL_CALL_END": _call_end,
        "TOOL_CALL_CHUNK": _call_chunk,
        "TOOL_CALL_RESULT": _result,
        "STATE_SNAPSHOT": _state,
        "STATE_DELTA": _patch,
        "MESSAGES_SNAPSHOT": _messages,
        "STEP_STARTED": _step_started,
        "STEP_FINISHED": _step_finished,
        "ACTIVITY_SNAPSHOT": _activity,
        "ACTIVITY_DELTA": _activity,
        "CUSTOM": _custom,
        "RAW": _raw,
        "SUBAGENT_STARTED": _subagent,
        "SUBAGENT_FINISHED": _subagent_done,
        "SUBAGENT_ERROR": _subagent_failed,
    }


def _new_call(name: str, lane: str | None, arguments: str = "", *, has_input: bool = False) -> Json:
    """What is kept of a call; ``has_input``: its whole input was given."""
    return {"name": name, "lane": lane, "arguments": arguments, "has_input": has_input}


def _lane(event: Json) -> str | None:
    return event.get("subagentRunId")


def _ours(event: Json) -> Json:
    """The metadata that a Trunkline server adds to an event; an unknown kind or status is left out."""
    about: Any = cast("Json", event.get("metadata") or {}).get("trunkline") or {}
    metadata: Json = dict(msgspec.convert(about, TrunklineMetadata))
    for field, known in (("kind", _KINDS), ("status", _STATUSES)):
        if metadata.get(field) not in known:
            metadata.pop(field, None)
    return metadata


def _parsed(arguments: str) -> Any:
    try:
        return msgspec.json.decode(arguments) if arguments else {}
    except (msgspec.DecodeError, RecursionError):
        return None
