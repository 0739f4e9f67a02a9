"""The listener: what a graph's callbacks tell of, said through an emitter, also inside subagents.

It is plain and waits for nothing, so any handler can be made of it: one of a session, which now and then
waits for its readers, and one for anybody's ``invoke``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from functools import partial
from typing import Any, cast

from langchain_core.messages import AIMessage
from langgraph.constants import TAG_NOSTREAM

from trunkline import events as ev
from trunkline.agents.langchain.messages.emitter import Emitter, ModelRun
from trunkline.agents.langchain.messages.json_values import json_value
from trunkline.agents.langchain.stop_reasons import explain, usage_of

__all__ = ["Key", "Listener", "key_of", "tool_messages"]

try:
    # Where ToolRuntime.emit_output_delta writes to: the tool runs in the context of its callbacks.
    from langgraph.pregel import _tools

    _tool_writer: Any = getattr(_tools, "_tool_call_writer", None)
except ImportError:
    _tool_writer = None

Key = Hashable
"""What stands for the id of a run."""


def key_of(run_id: Any) -> Key:
    """Give what a table finds a run by: the number of a UUID, whose own hash takes long."""
    try:
        return run_id.int
    except AttributeError:
        return run_id


class Listener:
    """Feeds an emitter with what models and tools do."""

    def __init__(
        self,
        emitter: Emitter,
        *,
        on_usage: Callable[[ev.TokenUsage], None] | None = None,
        on_final: Callable[[Any], None] | None = None,
    ) -> None:
        """Say tokens through ``emitter``."""
        self.emitter = emitter
        self._on_usage = on_usage
        self._on_final = on_final
        self._runs: dict[Key, ModelRun] = {}
        self._parents: dict[Key, Key] = {}
        self._tools: dict[Key, tuple[str | None, str, str]] = {}
        self._over: set[Key] = set()
        self._lanes: dict[Key, str] = {}
        self.places: dict[str, str | None] = {}
        """The lane of each graph namespace a model spoke in."""

    # -- where things belong -----------------------------------------------------------------------

    def started(self, run: Key, parent: Key) -> None:
        """Remember who started whom."""
        self._parents[run] = parent

    def lane_of(self, run: Key, name: str | None = None) -> str | None:
        """The lane of a run: that of the nearest tool above it, which is a subagent then."""
        tool = self._tool_above(run) if self._tools else None
        return self._open_lane(tool, name) if tool is not None else None

    def _tool_above(self, run: Key) -> Key:
        while run is not None and run not in self._tools:
            run = self._parents.get(run)
        return run

    def _is_stray(self, run: Key) -> bool:
        """Whether a run outlived its subagent: one that failed leaves tools behind, in threads."""
        if not self._over:
            return False
        tool = self._tool_above(run)
        while tool is not None and tool not in self._over:
            tool = self._tool_above(self._parents.get(tool))
        return tool is not None

    def _open_lane(self, tool: Key, name: str | None) -> str:
        lane = self._lanes.get(tool)
        if lane is None:
            parent_lane, native_id, called = self._tools[tool]
            lane = native_id if parent_lane is None else f"{parent_lane}/{native_id}"
            self._lanes[tool] = lane
            self.emitter.emit(
                ev.SubagentStarted(
                    turn_id=self.emitter.turn_id,
                    lane=lane,
                    name=name or called,
                    parent_lane=parent_lane,
                    parent_call_id=self.emitter.call_id_of(parent_lane, native_id),
                )
            )
        return lane

    def _close_lane(self, tool: Key, outcome: Any) -> None:
        lane = self._lanes.get(tool)
        if lane is not None:
            self.emitter.finish_calls(lane)
            self.emitter.emit(ev.SubagentFinished(turn_id=self.emitter.turn_id, lane=lane, outcome=outcome))

    # -- models ------------------------------------------------------------------------------------

    def model_started(
        self,
        messages: list[list[Any]],
        run: Key,
        parent: Key,
        *,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        """Begin a message; results that the model is told of are said first."""
        if self._is_stray(parent):
            return
        about = metadata or {}
        internal = _is_internal(tags or (), about, options or {})
        lane = self.lane_of(parent, about.get("lc_agent_name"))
        self._runs[run] = ModelRun(lane, internal=internal)
        self.places[str(about.get("langgraph_checkpoint_ns", "")).rpartition("|")[0]] = lane
        if not internal:
            for message in messages[0] if messages else ():
                if message.type == "tool" and message.id is not None:
                    self.emitter.tool_message(lane, message)
            self.emitter.finish_returned(lane)

    def completion_started(self, run: Key, parent: Key) -> None:
        """Begin the answer of a model that completes text."""
        if not self._is_stray(parent):
            self._runs[run] = ModelRun(self.lane_of(parent), internal=False)

    def token(self, token: Any, chunk: Any, run: Key, run_id: Any) -> bool:
        """Say a token; whether there was one to say."""
        known = self._runs.get(run)
        if known is None or known.internal or chunk is None:
            return False
        message = getattr(chunk, "message", None)
        if message is not None:
            self.emitter.chunk(known, message)
        elif token:
            known.message_id = known.message_id or f"lc_run--{run_id}"
            self.emitter.mark_emitted(known.message_id)
            self.emitter.emit(
                ev.Text(
                    turn_id=self.emitter.turn_id,
                    lane=known.lane,
                    message_id=known.message_id,
                    delta=str(token),
                )
            )
        return True

    def model_ended(self, response: Any, run: Key, run_id: Any) -> None:
        """Complete a message: what was not streamed, its calls and its tokens."""
        known = self._runs.pop(run, None)
        message = _message_of(response, run_id)
        if known is None or message is None:
            return
        usage = usage_of(message)
        if usage is not None and self._on_usage is not None:
            self._on_usage(usage)
        if known.internal:
            return
        if known.message_id is not None and message.id != known.message_id:
            self.emitter.mark_emitted(message.id)
            message = message.model_copy(update={"id": known.message_id})
        self.emitter.message(known.lane, message)
        if known.lane is None and self._on_final is not None:
            self._on_final(message)

    def model_failed(self, error: BaseException, run: Key) -> None:
        """Settle what a broken answer began; a retry is another message."""
        known = self._runs.pop(run, None)
        if known is not None:
            self.emitter.fail_calls_of(known, f"the model's answer broke off: {explain(error)}")

    # -- tools -------------------------------------------------------------------------------------

    def tool_started(
        self, serialized: Any, run: Key, parent: Key, *, native_id: Any, name: Any, inputs: Any
    ) -> None:
        """Say that a tool runs."""
        self._parents[run] = parent
        if native_id is None or self._is_stray(parent):
            return
        lane, native_id = self.lane_of(parent), str(native_id)
        name = str(name or cast("dict[str, Any]", serialized or {}).get("name") or "tool")
        self._tools[run] = (lane, native_id, name)
        self.emitter.tool_started(lane, native_id, name, inputs)
        if _tool_writer is not None:
            _tool_writer.set(partial(self._give_out, lane, native_id))

    def _give_out(self, lane: str | None, native_id: str, delta: Any) -> None:
        """Show what a running tool gives out, piece by piece."""
        text = delta if isinstance(delta, str) else ev.encode_event(json_value(delta)).decode()
        self.emitter.tool_progress(lane, native_id, text)

    def tool_ended(self, output: Any, run: Key) -> None:
        """Remember a tool's result; a middleware may change it before it is the answer."""
        known = self._tools.get(run)
        if known is None:
            return
        self._close_lane(run, "completed")
        lane, native_id, _ = known
        for message in tool_messages(output):
            if message.tool_call_id == native_id:
                self.emitter.tool_returned(lane, message)
        self._over.add(run)

    def tool_failed(self, error: BaseException, run: Key) -> None:
        """Say that a tool raised; an interrupt or a cancel is not a failure."""
        known = self._tools.get(run)
        if known is None:
            return
        if isinstance(error, Exception) and type(error).__name__ not in ("GraphInterrupt", "ParentCommand"):
            self.emitter.tool_raised(known[0], known[1], explain(error))
            self._close_lane(run, "failed")
            self._over.add(run)


def _is_internal(tags: Collection[str], metadata: Mapping[str, Any], options: Mapping[str, Any]) -> bool:
    """Whether a call of a model is not for the reader; what a node keeps of its answer is said all the same.

    A structured answer comes as a call of a tool that nobody will ever run.
    """
    structured = bool(options.get("ls_structured_output_format"))
    aside = metadata.get("lc_source") == "summarization" or bool(metadata.get("lc_internal_call"))
    return aside or structured or TAG_NOSTREAM in tags


def _message_of(response: Any, run_id: Any) -> Any:
    """The message that a model gave; one that completes text gives no more than that."""
    try:
        given = response.generations[0][0]
    except IndexError:
        return None
    return getattr(given, "message", None) or AIMessage(content=given.text, id=f"lc_run--{run_id}")


def tool_messages(output: Any) -> list[Any]:
    """Find the messages in what a tool gave back, or a tool node."""
    if getattr(output, "type", None) == "tool":
        return [output]
    update = getattr(output, "update", None)
    if isinstance(update, dict):
        messages = cast("dict[str, Any]", update).get("messages", ())
        return [message for message in messages if getattr(message, "type", None) == "tool"]
    if isinstance(output, list):
        return [message for item in cast("list[Any]", output) for message in tool_messages(item)]
    return []
