"""What the official client makes of a stream, written from its reducer (``@ag-ui/client`` 1.0.0, default.ts).

Whatever the client would only warn of is an error here: nothing we send may make it warn.
"""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from trunkline.json_patch import apply_patch

JsonObject = dict[str, Any]


class StreamFault(ValueError):
    """The official client would warn of an event, or drop it."""


class ReferenceClient:
    """Holds what a page holds of a thread; ``body`` is what it sends for its next run."""

    def __init__(
        self, thread_id: str = "t1", *, state: Any = None, version: str | None = "1.0", name: str = ""
    ) -> None:
        """Begin with an empty thread; ``name`` is part of the ids that this client makes."""
        self.thread_id = thread_id
        self.name = name
        self.version = version
        self.messages: list[JsonObject] = []
        self.state: Any = {} if state is None else state
        self.interrupts: list[JsonObject] = []
        self.pending: list[str] = []
        self.terminal: JsonObject = {}
        self.runs = 0
        self._calls: list[str] = []
        self._answered: set[str] = set()

    # -- what it sends -----------------------------------------------------------------------------

    def say(self, content: Any, message_id: str | None = None) -> None:
        """Add a message of the person."""
        self.messages.append(
            {"id": message_id or f"{self.name}u{len(self.messages)}", "role": "user", "content": content}
        )

    def body(self, **fields: Any) -> JsonObject:
        """Give the RunAgentInput of the next run."""
        self.runs += 1
        return {
            "threadId": self.thread_id,
            "runId": f"{self.thread_id}-{self.name}run{self.runs}",
            **({"protocolVersion": self.version} if self.version else {}),
            "tools": [],
            "context": [],
            "forwardedProps": {},
            "state": self.state,
            "messages": [message for message in self.messages if message["role"] != "activity"],
            **fields,
        }

    def resume(self, **payloads: Any) -> list[JsonObject]:
        """Answer each interrupt: ``cancelled`` or a payload, by the last of its id or for ``every`` one."""
        output: list[JsonObject] = []
        for interrupt in self.interrupts:
            answer = payloads.get(interrupt["id"].rpartition(".")[2], payloads.get("every"))
            if answer == "cancelled":
                output.append({"interruptId": interrupt["id"], "status": "cancelled"})
            else:
                output.append({"interruptId": interrupt["id"], "status": "resolved", "payload": answer})
        return output

    # -- what it gets ------------------------------------------------------------------------------

    def take(self, events: Iterable[JsonObject]) -> None:
        """Apply events in their order."""
        for event in events:
            apply = self._applies.get(event["type"])
            if apply is not None:
                apply(self, event)

    def find(self, message_id: str) -> JsonObject | None:
        """Find a message."""
        return next((message for message in self.messages if message["id"] == message_id), None)

    def _owner(self, call_id: str) -> tuple[JsonObject, JsonObject] | None:
        for message in self.messages:
            for call in message.get("toolCalls", ()):
                if call["id"] == call_id:
                    return message, call
        return None

    def _new(self, event: JsonObject, role: str, **fields: Any) -> JsonObject:
        message: JsonObject = {"id": event["messageId"], "role": role, **fields, **_lane(event)}
        self.messages.append(message)
        return message

    def _started(self, event: JsonObject) -> None:
        self._calls, self._answered = [], set()

    def _text_start(self, event: JsonObject) -> None:
        message = self.find(event["messageId"])
        if message is None:
            message = self._new(event, event.get("role", "assistant"), content="")
        if message["role"] != event.get("role", "assistant"):
            raise StreamFault(f"does not fit what is there: {event}")
        _merge(message, event)

    def _content(self, event: JsonObject) -> None:
        message = self.find(event["messageId"])
        if message is None:
            raise StreamFault(f"does not fit what is there: {event}")
        if message["role"] not in ("assistant", "reasoning"):
            raise StreamFault(f"does not fit what is there: {event}")
        message["content"] = message.get("content", "") + event["delta"]
        _merge(message, event)

    def _reasoning_start(self, event: JsonObject) -> None:
        message = self.find(event["messageId"]) or self._new(event, "reasoning", content="")
        if message["role"] != "reasoning":
            raise StreamFault(f"does not fit what is there: {event}")

    def _encrypted(self, event: JsonObject) -> None:
        message = self.find(event["entityId"])
        if message is None:
            raise StreamFault(f"does not fit what is there: {event}")
        if event["subtype"] != "message":
            raise StreamFault(f"does not fit what is there: {event}")
        message["encryptedValue"] = event["encryptedValue"]

    def _call_start(self, event: JsonObject) -> None:
        call_id = event["toolCallId"]
        self._calls.append(call_id)
        if (known := self._owner(call_id)) is not None:
            # Announced again in another run: the client keeps the arguments it has.
            if known[1]["function"]["name"] != event["toolCallName"]:
                raise StreamFault(f"does not fit what is there: {event}")
            _merge(known[1], event)
            return
        parent = event.get("parentMessageId")
        message = self.find(parent) if parent else None
        if message is None:
            message = JsonObject(id=parent or call_id, role="assistant", toolCalls=[], **_lane(event))
            self.messages.append(message)
        if message["role"] != "assistant":
            raise StreamFault(f"does not fit what is there: {event}")
        call: JsonObject = {
            "id": call_id,
            "type": "function",
            "function": {"name": event["toolCallName"], "arguments": ""},
        }
        message.setdefault("toolCalls", []).append(call)
        _merge(call, event)

    def _args(self, event: JsonObject) -> None:
        found = self._owner(event["toolCallId"])
        if found is None:
            raise StreamFault(f"does not fit what is there: {event}")
        found[1]["function"]["arguments"] += event["delta"]

    def _result(self, event: JsonObject) -> None:
        self._answered.add(event["toolCallId"])
        message = {
            "id": event["messageId"],
            "role": "tool",
            "toolCallId": event["toolCallId"],
            "content": event["content"],
            **_lane(event),
        }
        if self.find(message["id"]) is not None:
            raise StreamFault(f"the result is known already: {event}")
        _merge(message, event)
        found = self._owner(event["toolCallId"])
        if found is None:
            raise StreamFault(f"nobody made the call: {event}")
        at = self.messages.index(found[0]) + 1
        while at < len(self.messages) and self.messages[at]["role"] == "tool":
            at += 1
        self.messages.insert(at, message)

    def _messages_snapshot(self, event: JsonObject) -> None:
        output = {message["id"]: message for message in event["messages"]}
        if len(output) != len(event["messages"]):
            raise StreamFault("two messages have one id")
        has = {message["role"] for message in event["messages"]}
        kept = [
            output.get(message["id"], message)
            for message in self.messages
            if message["id"] in output
            or (message["role"] in ("activity", "reasoning") and message["role"] not in has)
        ]
        known = {message["id"] for message in kept}
        self.messages = kept + [message for key, message in output.items() if key not in known]

    def _state_snapshot(self, event: JsonObject) -> None:
        self.state = event["snapshot"]

    def _state_delta(self, event: JsonObject) -> None:
        self.state = apply_patch(self.state, event["delta"])

    def _activity(self, event: JsonObject) -> None:
        message = self.find(event["messageId"]) or self._new(event, "activity")
        if message["role"] != "activity":
            raise StreamFault(f"does not fit what is there: {event}")
        message |= {"activityType": event["activityType"], "content": event["content"]}

    def _activity_delta(self, event: JsonObject) -> None:
        message = self.find(event["messageId"])
        if message is None:
            raise StreamFault(f"does not fit what is there: {event}")
        if message["role"] != "activity":
            raise StreamFault(f"does not fit what is there: {event}")
        message["content"] = apply_patch(message["content"], event["patch"])

    def _finished(self, event: JsonObject) -> None:
        self.terminal = event
        outcome: JsonObject = event.get("outcome") or {}
        self.interrupts = outcome.get("interrupts", [])
        self.pending = []
        if outcome.get("type", "success") == "success":
            derived = [call_id for call_id in self._calls if call_id not in self._answered]
            self.pending = outcome.get("pendingToolCallIds") or derived

    def _failed(self, event: JsonObject) -> None:
        self.terminal = event

    _applies: ClassVar[dict[str, Callable[[Any, JsonObject], None]]] = {
        "RUN_STARTED": _started,
        "TEXT_MESSAGE_START": _text_start,
        "TEXT_MESSAGE_CONTENT": _content,
        "REASONING_MESSAGE_START": _reasoning_start,
        "REASONING_MESSAGE_CONTENT": _content,
        "REASONING_ENCRYPTED_VALUE": _encrypted,
        "TOOL_CALL_START": _call_start,
        "TOOL_CALL_ARGS": _args,
        "TOOL_CALL_RESULT": _result,
        "MESSAGES_SNAPSHOT": _messages_snapshot,
        "STATE_SNAPSHOT": _state_snapshot,
        "STATE_DELTA": _state_delta,
        "ACTIVITY_SNAPSHOT": _activity,
        "ACTIVITY_DELTA": _activity_delta,
        "RUN_FINISHED": _finished,
        "RUN_ERROR": _failed,
    }


def _lane(event: JsonObject) -> JsonObject:
    return {"subagentRunId": event["subagentRunId"]} if "subagentRunId" in event else {}


def _merge(target: JsonObject, event: JsonObject) -> None:
    if "metadata" in event:
        target["metadata"] = {**target.get("metadata", {}), **event["metadata"]}
