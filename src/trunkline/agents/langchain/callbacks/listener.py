"""What LangChain's callbacks report about models and tools, given to an emitter, in the right lane.

It is synchronous, so that two handlers use it: that of a session, which sometimes waits for its readers, and
that of a user's own ``invoke``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any, cast

from langchain_core.messages import AIMessage
from langgraph.constants import TAG_NOSTREAM

from trunkline import events as ev
from trunkline.agents.json_values import json_value
from trunkline.agents.langchain.callbacks.lanes import Key, SubagentLanes, key_of
from trunkline.agents.langchain.errors import explain
from trunkline.agents.langchain.messages.emitter import Emitter
from trunkline.agents.langchain.messages.model_run import ModelRun
from trunkline.agents.langchain.usage import token_usage

__all__ = ["MODEL_STEP", "Key", "Listener", "key_of", "tool_messages"]

MODEL_STEP = "model"
"""The name of the step that a call of a model is; the model node of ``create_agent`` has it too."""

try:
    # ToolRuntime.emit_output_delta (langgraph 1.2) writes here: a tool runs in the context of its callbacks.
    from langgraph.pregel import _tools

    _tool_writer: Any = getattr(_tools, "_tool_call_writer", None)
except ImportError:
    _tool_writer = None


class Listener:
    """Gives an emitter what models and tools do."""

    def __init__(
        self,
        emitter: Emitter,
        *,
        on_usage: Callable[[ev.TokenUsage], None] | None = None,
        on_final: Callable[[Any], None] | None = None,
    ) -> None:
        """Emit through ``emitter``; ``on_final`` gets each whole message of the agent itself."""
        self.emitter = emitter
        self.lanes = SubagentLanes(emitter)
        self._on_usage = on_usage
        self._on_final = on_final
        self._models: dict[Key, ModelRun] = {}
        self._nodes: dict[Key, tuple[str | None, str | None]] = {}

    def started(
        self, run: Key, parent: Key, name: Any = None, metadata: Mapping[str, Any] | None = None
    ) -> None:
        """Remember which run started a run; a node of a graph is a step, where that is wanted."""
        self.lanes.add_run(run, parent)
        if "node" in self.emitter.step_kinds and name and (metadata or {}).get("langgraph_node") == name:
            lane = self.lane_of(parent)
            self._nodes[run] = lane, self.emitter.step_started(lane, "node", str(name))

    def ended(self, run: Key) -> None:
        """Finish the step that a run was, if it was one."""
        if self._nodes and run in self._nodes:
            self.emitter.step_finished(*self._nodes.pop(run))

    def lane_of(self, run: Key, name: str | None = None) -> str | None:
        """The lane of a run; ``name`` is the name of a subagent that begins here."""
        return self.lanes.lane_of(run, name)

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
        """Begin a message; the tool results in the model's input are emitted first."""
        if self.lanes.is_stray(parent):
            return
        about = metadata or {}
        internal = _is_internal(tags or (), about, options or {})
        lane = self.lane_of(parent, about.get("lc_agent_name"))
        self._models[run] = ModelRun(lane, internal=internal, predictions=_predictions(about))
        self.lanes.add_namespace(about, lane)
        if not internal:
            for message in messages[0] if messages else ():
                if message.type == "tool" and message.id is not None:
                    self.emitter.tool_message(lane, message)
            self.emitter.finish_returned(lane)
            self._start_step(self._models[run])

    def completion_started(self, run: Key, parent: Key) -> None:
        """Begin the answer of a model that completes text."""
        if not self.lanes.is_stray(parent):
            model = self._models[run] = ModelRun(self.lane_of(parent), internal=False)
            self._start_step(model)

    def _start_step(self, model: ModelRun) -> None:
        model.step_id = self.emitter.step_started(model.lane, "model", MODEL_STEP)

    def _finish_step(self, model: ModelRun) -> None:
        self.emitter.step_finished(model.lane, model.step_id, model.message_id)

    def token(self, token: Any, chunk: Any, run: Key, run_id: Any) -> bool:
        """Emit a token; whether there was one to emit."""
        model = self._models.get(run)
        if model is None or model.internal or chunk is None:
            return False
        message = getattr(chunk, "message", None)
        if message is not None:
            self.emitter.chunk(model, message)
        elif token:
            model.message_id = model.message_id or f"lc_run--{run_id}"
            self.emitter.mark_emitted(model.message_id)
            self.emitter.emit(
                ev.Text(
                    turn_id=self.emitter.turn_id,
                    lane=model.lane,
                    message_id=model.message_id,
                    delta=str(token),
                )
            )
        return True

    def model_ended(self, response: Any, run: Key, run_id: Any) -> None:
        """Complete a message: what was not streamed, its calls and its tokens."""
        model = self._models.pop(run, None)
        message = _message_of(response, run_id)
        if model is None:
            return
        if message is None:
            self._finish_step(model)
            return
        usage = token_usage(message)
        if usage is not None and self._on_usage is not None:
            self._on_usage(usage)
        if model.internal:
            return
        if model.message_id is not None and message.id != model.message_id:
            self.emitter.mark_emitted(message.id)
            message = message.model_copy(update={"id": model.message_id})
        self.emitter.message(model.lane, message)
        model.message_id = message.id
        self._finish_step(model)
        if model.lane is None and self._on_final is not None:
            self._on_final(message)

    def model_failed(self, error: BaseException, run: Key) -> None:
        """End the calls of an answer that broke off; a retry makes another message."""
        model = self._models.pop(run, None)
        if model is not None:
            self.emitter.fail_calls_of(model, f"the model's answer broke off: {explain(error)}")
            self._finish_step(model)

    # -- tools -------------------------------------------------------------------------------------

    def tool_started(
        self, serialized: Any, run: Key, parent: Key, *, native_id: Any, name: Any, inputs: Any
    ) -> None:
        """Emit that a tool runs."""
        self.lanes.add_run(run, parent)
        if native_id is None or self.lanes.is_stray(parent):
            return
        name = str(name or cast("dict[str, Any]", serialized or {}).get("name") or "tool")
        tool = self.lanes.add_tool(run, str(native_id), name)
        self.emitter.tool_started(tool.lane, tool.native_id, name, inputs)
        if _tool_writer is not None:
            _tool_writer.set(partial(self._output_delta, tool.lane, tool.native_id))

    def _output_delta(self, lane: str | None, native_id: str, delta: Any) -> None:
        """Append what a running tool puts out to its call."""
        text = delta if isinstance(delta, str) else ev.encode_event(json_value(delta)).decode()
        self.emitter.tool_progress(lane, native_id, text)

    def tool_ended(self, output: Any, run: Key) -> None:
        """Remember a tool's result; a middleware may change it before it answers the model."""
        tool = self.lanes.tool(run)
        if tool is None:
            return
        self.lanes.finish(run, "completed")
        for message in tool_messages(output):
            if message.tool_call_id == tool.native_id:
                self.emitter.tool_returned(tool.lane, message)

    def tool_failed(self, error: BaseException, run: Key) -> None:
        """Note that a tool raised; LangGraph's interrupts and a cancellation are no failures."""
        tool = self.lanes.tool(run)
        if tool is None:
            return
        if isinstance(error, Exception) and type(error).__name__ not in ("GraphInterrupt", "ParentCommand"):
            self.emitter.tool_raised(tool.lane, tool.native_id, explain(error))
            self.lanes.finish(run, "failed")


def _predictions(metadata: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a node says of its model's calls, by the names of ag-ui-langgraph and of CopilotKit's SDK."""
    given: Any = metadata.get("predict_state") or metadata.get("copilotkit:emit-intermediate-state")
    items = cast("list[Any]", given) if isinstance(given, list) else []
    return [
        cast("dict[str, Any]", item if isinstance(item, dict) else getattr(item, "__dict__", {}))
        for item in items
    ]


def _is_internal(tags: Collection[str], metadata: Mapping[str, Any], options: Mapping[str, Any]) -> bool:
    """Whether a model call is not shown while it runs; a message that a node keeps of it is still shown.

    ``lc_source`` is set by LangChain's SummarizationMiddleware, TAG_NOSTREAM by the user, and
    ``emit-messages`` by nodes for AG-UI. A structured answer is a call of a tool that does not exist.
    """
    unwanted = any(metadata.get(f"{prefix}emit-messages") is False for prefix in ("", "copilotkit:"))
    if unwanted and not _predictions(metadata):
        return True
    structured = bool(options.get("ls_structured_output_format"))
    aside = metadata.get("lc_source") == "summarization" or bool(metadata.get("lc_internal_call"))
    return aside or structured or TAG_NOSTREAM in tags


def _message_of(response: Any, run_id: Any) -> Any:
    """The message that a model gave; a model that completes text gives only text."""
    try:
        generation = response.generations[0][0]
    except IndexError:
        return None
    return getattr(generation, "message", None) or AIMessage(content=generation.text, id=f"lc_run--{run_id}")


def tool_messages(output: Any) -> list[Any]:
    """Find the tool messages in the result of a tool or of a tool node: a message, a Command, or a list."""
    if getattr(output, "type", None) == "tool":
        return [output]
    update = getattr(output, "update", None)
    if isinstance(update, dict):
        messages = cast("dict[str, Any]", update).get("messages", ())
        return [message for message in messages if getattr(message, "type", None) == "tool"]
    if isinstance(output, list):
        return [message for item in cast("list[Any]", output) for message in tool_messages(item)]
    return []
