"""From AG-UI's events to ours: what a server says, said again on the trunk; pure.

Chunks and whole messages, snapshots and deltas all end up as the same few events. A snapshot says only
what was not said before: the conversation is the trunk's, and everything in it is said once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, cast, get_args

import msgspec

from trunkline import events as ev
from trunkline.agents.agui import langgraph
from trunkline.agents.agui.ending import RunEnd, failed, finished
from trunkline.agents.agui.said import SaidMessages
from trunkline.agents.agui.shapes import About, check_shape
from trunkline.conversation import Conversation
from trunkline.errors import AgentProtocolError
from trunkline.protocols.agui.messages import content_of

__all__ = ["AguiTranslator"]

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
        """Take these messages as said in ``earlier`` turns; ``raw`` lets RAW events through.

        Without ``stateful`` there is no state yet, and what the server patches is an empty one. ``peer`` is
        how the server is called in errors.
        """
        self.ending: RunEnd | None = None
        self.answered: set[str] = set()
        """The calls that have a result."""
        self.calls: dict[str, Json] = {}
        """The calls that were made: their name and the text of their arguments."""
        told = list(earlier)
        self._earlier = frozenset(message["id"] for message in told)
        self._said = SaidMessages(told)
        self._silent: set[str] = set()
        self._chunk: dict[tuple[str, str | None], str] = {}
        self._run_id = ""
        self._thoughts = 0
        self._lanes: set[str] = set()
        self._told: list[Json] = []
        self._stateful = stateful
        self._cut = False
        self._raw_too = raw
        self._peer = peer

    def recall(self, said: Conversation) -> None:
        """Go on with a turn of which this was said before."""
        for message in said.messages:
            self._said.name(message.message_id)
            if message.role == "agent":
                self._said.add(message.message_id, "assistant", message.lane, message.text)
        self._lanes.update(name for name, lane in said.lanes.items() if lane.outcome is None)
        for call in said.calls.values():
            call_id = call.native_id or call.call_id
            arguments = call.arguments or msgspec.json.encode(call.input).decode()
            self.calls[call_id] = _new_call(call.name, call.lane, arguments, told=True)
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
        self._told.clear()
        return []

    def _finished(self, event: Json) -> Out:
        self.ending = finished(event, self._told, self._unanswered())
        return [said for call_id in self.ending.pending for said in self._input(call_id)]

    def _unanswered(self) -> list[str]:
        return [call_id for call_id in self.calls if call_id not in self.answered]

    def _error(self, event: Json) -> Out:
        self.ending = failed(event)
        return []

    # -- words -------------------------------------------------------------------------------------

    def _text_start(self, event: Json) -> Out:
        # A message of this turn may go on in its next run; one of an earlier turn is over.
        if event.get("role") in _ROLES or event["messageId"] in self._earlier:
            self._silent.add(event["messageId"])
        return []

    def _text(self, event: Json) -> Out:
        message_id, delta = event["messageId"], event["delta"]
        if message_id in self._silent or not delta:
            return []
        self._said.add(message_id, "assistant", _lane(event), delta)
        return [ev.Text(lane=_lane(event), message_id=message_id, delta=delta)]

    def _text_end(self, event: Json) -> Out:
        self._silent.discard(event["messageId"])
        return []

    def _text_chunk(self, event: Json) -> Out:
        message_id = self._continued("text", event, "messageId")
        if event.get("role") in _ROLES:
            self._silent.add(message_id)
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
        self._said.add(event["messageId"], "reasoning", _lane(event), event["delta"])
        return [ev.Thought(lane=_lane(event), message_id=event["messageId"], delta=event["delta"])]

    def _reasoning_chunk(self, event: Json) -> Out:
        message_id = self._continued("reasoning", event, "messageId")
        self._chunk["reasoning", _lane(event)] = message_id
        return self._reasoning({**event, "messageId": message_id, "delta": event.get("delta") or ""})

    def _thinking_start(self, event: Json) -> Out:
        self._thoughts += 1
        return []

    def _thinking(self, event: Json) -> Out:
        # Before 1.0 reasoning had no name of its own.
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
        if call is None or call["told"] or not event["delta"]:
            # A server that goes on after an interrupt may say the whole call again.
            return []
        call["arguments"] += event["delta"]
        return [ev.ToolInput(lane=call["lane"], call_id=event["toolCallId"], delta=event["delta"])]

    def _call_end(self, event: Json) -> Out:
        call_id, about = event["toolCallId"], _ours(event)
        call = self.calls.get(call_id)
        if call is None:
            return []
        said: Out = []
        if about:
            title, kind = about.get("title"), about.get("kind")
            said.append(ev.ToolUpdate(lane=call["lane"], call_id=call_id, title=title, kind=kind))
        # A server may leave the arguments out here and tell them later.
        return said + self._input(call_id) if call["arguments"] else said

    def _input(self, call_id: str, arguments: str = "") -> Out:
        """Say the whole input of a call, once."""
        call = self.calls.get(call_id)
        if call is None or call["told"]:
            return []
        call["told"] = True
        call["arguments"] = call["arguments"] or arguments
        return [ev.ToolUpdate(lane=call["lane"], call_id=call_id, input=_parsed(call["arguments"]))]

    def _call_chunk(self, event: Json) -> Out:
        call_id = self._continued("tool", event, "toolCallId")
        said: Out = []
        if call_id not in self.calls:
            if not event.get("toolCallName"):
                raise ValueError("the first chunk has no toolCallName")
            said += self._call_start({**event, "toolCallId": call_id})
        self._chunk["tool", _lane(event)] = call_id
        return said + self._call_args({**event, "toolCallId": call_id, "delta": event.get("delta") or ""})

    def _result(self, event: Json) -> Out:
        call_id = event["toolCallId"]
        if call_id in self.answered:
            return []
        self.answered.add(call_id)
        about = _ours(event)
        call = self.calls.setdefault(call_id, _new_call("", _lane(event), told=True))
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
        said: Out = []
        for call_id, arguments in langgraph.arguments_in(state):
            if call_id in self.calls and not self.calls[call_id]["arguments"]:
                said += self._input(call_id, msgspec.json.encode(arguments).decode())
        kept = langgraph.without_messages(state)
        self._stateful, self._cut = True, kept is not state
        return [*said, ev.StateReplaced(state=kept)]

    def _patch(self, event: Json) -> Out:
        said: Out = [] if self._stateful else [ev.StateReplaced(state={})]
        patch = tuple(
            step
            for step in cast("list[Json]", event["delta"])
            if not (self._cut and step["path"].startswith("/messages"))
        )
        self._stateful = True
        return [*said, ev.StatePatched(patch=patch)]

    def _messages(self, event: Json) -> Out:
        """Say what of a snapshot was not said yet: a server that does not stream says it all here."""
        said: Out = []
        self._said.recognise(event["messages"])
        for message in cast("list[Json]", event["messages"]):
            lane, role = _lane(message), message.get("role")
            if role == "tool":
                said += self._late_result(message)
            elif role in ("assistant", "reasoning") and message["id"] not in self._earlier:
                said += self._late_message(message, lane)
        return said

    def _late_message(self, message: Json, lane: str | None) -> Out:
        said: Out = []
        content = message.get("content")
        if isinstance(content, str) and content and message["id"] not in self._said:
            kind = ev.Thought if message["role"] == "reasoning" else ev.Text
            said.append(kind(lane=lane, message_id=message["id"], delta=content))
            self._said.add(message["id"], message["role"], lane, content)
        self._said.name(message["id"])
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
                said += self._call_start({**start, **owner})
                said += self._call_args({"toolCallId": call["id"], "delta": arguments})
            said += self._input(call["id"], arguments)
        return said

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
        told = {"messageId": message["id"], "toolCallId": call_id, "content": content, "metadata": about}
        return self._result({**message, **told})

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
        if name == langgraph.INTERRUPT:
            self._told.append(langgraph.interrupt_of(event))
            return []
        if name.startswith("trunkline."):
            # Another session's own affairs.
            return []
        return [ev.Custom(lane=_lane(event), name=name, value=value)]

    def _raw(self, event: Json) -> Out:
        if not self._raw_too:
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


def _new_call(name: str, lane: str | None, arguments: str = "", *, told: bool = False) -> Json:
    """What is remembered of a call; ``told`` says that its whole input was said."""
    return {"name": name, "lane": lane, "arguments": arguments, "told": told}


def _lane(event: Json) -> str | None:
    return event.get("subagentRunId")


def _ours(event: Json) -> Json:
    """What a server of ours adds to an event; a word that is unknown here counts as not given."""
    about: Any = cast("Json", event.get("metadata") or {}).get("trunkline") or {}
    told: Json = dict(msgspec.convert(about, About))
    for field, words in (("kind", _KINDS), ("status", _STATUSES)):
        if told.get(field) not in words:
            told.pop(field, None)
    return told


def _parsed(arguments: str) -> Any:
    try:
        return msgspec.json.decode(arguments) if arguments else {}
    except (msgspec.DecodeError, RecursionError):
        return None
