"""Callbacks: tokens as they come, and what tools do, also inside subagents.

Handlers run inline: a token goes from the model to the reader without a task of its own, and only a
journal that is far behind makes it wait. They never raise into the agent.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Any, cast
from uuid import UUID

from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.messages import AIMessage
from langchain_core.tracers._streaming import _StreamingCallbackHandler
from langgraph.constants import TAG_NOSTREAM

from trunkline import events as ev
from trunkline.agents.langchain.emitter import Emitter, ModelRun, plain
from trunkline.agents.langchain.stops import explain, usage_of

__all__ = ["GraphHandler", "tool_messages"]

log = logging.getLogger("trunkline.langchain")

try:
    # Where ToolRuntime.emit_output_delta writes to: the tool runs in the context of its callbacks.
    from langgraph.pregel._tools import _tool_call_writer as _tool_writer
except ImportError:
    _tool_writer = None

# A model that never waits must let go of the loop now and then, or nobody could read or cancel.
_BREATH = 256


class GraphHandler(AsyncCallbackHandler, _StreamingCallbackHandler[Any]):
    """Feeds an emitter from a graph's callbacks.

    Being a streaming handler makes every model stream, also under ``ainvoke``.
    """

    run_inline = True
    raise_error = False

    def __init__(
        self,
        emitter: Emitter,
        *,
        on_usage: Callable[[ev.TokenUsage], None] | None = None,
        on_final: Callable[[Any], None] | None = None,
        ready: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Say tokens through ``emitter``; ``ready`` is awaited now and then, and nothing else ever is."""
        super().__init__()
        self._emitter = emitter
        self._on_usage = on_usage
        self._on_final = on_final
        self._ready = ready
        self._home = asyncio.get_running_loop() if ready is not None else None
        self._breath = _BREATH
        self._runs: dict[UUID, ModelRun] = {}
        self._parents: dict[UUID, UUID | None] = {}
        self._tools: dict[UUID, tuple[str | None, str, str]] = {}
        self._over: set[UUID] = set()
        self._lanes: dict[UUID, str] = {}
        self.places: dict[str, str | None] = {}
        """The lane of each graph namespace a model spoke in."""

    def tap_output_aiter(self, run_id: UUID, output: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Leave streams as they are."""
        return output

    def tap_output_iter(self, run_id: UUID, output: Iterator[Any]) -> Iterator[Any]:
        """Leave streams as they are."""
        return output

    # -- where things belong -----------------------------------------------------------------------

    async def on_chain_start(
        self, serialized: Any, inputs: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """Remember who started whom."""
        self._parents[run_id] = parent_run_id

    async def on_custom_event(self, name: str, data: Any, **kwargs: Any) -> None:
        """Pass on what a node dispatches by hand."""
        self._emitter.custom(name, data)

    def lane_of(self, run_id: UUID | None, name: str | None = None) -> str | None:
        """The lane of a run: that of the nearest tool above it, which is a subagent then."""
        tool_run = self._tool_above(run_id)
        return self._open_lane(tool_run, name) if tool_run is not None else None

    def _tool_above(self, run_id: UUID | None) -> UUID | None:
        while run_id is not None and run_id not in self._tools:
            run_id = self._parents.get(run_id)
        return run_id

    def _is_stray(self, run_id: UUID | None) -> bool:
        """Whether a run outlived its subagent: one that failed leaves tools behind, in threads."""
        tool_run = self._tool_above(run_id)
        while tool_run is not None and tool_run not in self._over:
            tool_run = self._tool_above(self._parents.get(tool_run))
        return tool_run is not None

    def _open_lane(self, tool_run: UUID, name: str | None) -> str:
        lane = self._lanes.get(tool_run)
        if lane is None:
            parent_lane, native_id, tool = self._tools[tool_run]
            lane = self._lanes[tool_run] = (
                f"{native_id}" if parent_lane is None else f"{parent_lane}/{native_id}"
            )
            self._emitter.say(
                ev.SubagentStarted(
                    turn_id=self._emitter.turn_id,
                    lane=lane,
                    name=name or tool,
                    parent_lane=parent_lane,
                    parent_call_id=self._emitter.find(parent_lane, native_id),
                )
            )
        return lane

    def _close_lane(self, tool_run: UUID, outcome: Any) -> None:
        lane = self._lanes.get(tool_run)
        if lane is not None:
            self._emitter.settle(lane)
            self._emitter.say(ev.SubagentFinished(turn_id=self._emitter.turn_id, lane=lane, outcome=outcome))

    # -- models ------------------------------------------------------------------------------------

    async def on_chat_model_start(
        self,
        serialized: Any,
        messages: list[list[Any]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Begin a message; results that the model is told of are said first."""
        if self._is_stray(parent_run_id):
            return
        about = metadata or {}
        internal = _is_internal(tags or (), about, kwargs.get("options") or {})
        lane = self.lane_of(parent_run_id, about.get("lc_agent_name"))
        self._runs[run_id] = ModelRun(lane, internal=internal)
        self.places["|".join(str(about.get("langgraph_checkpoint_ns", "")).split("|")[:-1])] = lane
        if not internal:
            for message in messages[0] if messages else ():
                if message.type == "tool" and message.id is not None:
                    self._emitter.tool_message(lane, message)
            self._emitter.settle_returned(lane)

    async def on_llm_start(self, serialized: Any, prompts: list[str], *, run_id: UUID, **kwargs: Any) -> None:
        """Begin the answer of a model that completes text."""
        parent: UUID | None = kwargs.get("parent_run_id")
        if not self._is_stray(parent):
            self._runs[run_id] = ModelRun(self.lane_of(parent, None), internal=False)

    async def on_llm_new_token(self, token: Any, *, chunk: Any = None, run_id: UUID, **kwargs: Any) -> None:
        """Say a token."""
        run = self._runs.get(run_id)
        if run is None or run.internal or chunk is None:
            return
        message = getattr(chunk, "message", None)
        if message is not None:
            self._emitter.chunk(run, message)
        elif token:
            run.message_id = run.message_id or f"lc_run--{run_id}"
            self._emitter.alias(run.message_id)
            self._emitter.say(
                ev.Text(
                    turn_id=self._emitter.turn_id, lane=run.lane, message_id=run.message_id, delta=str(token)
                )
            )
        if self._ready is not None:
            self._breath -= 1
            if not self._breath:
                self._breath = _BREATH
                # A model that a plain function calls is in a thread, and holds nobody up.
                if asyncio.get_running_loop() is self._home:
                    await asyncio.sleep(0)
                    await self._ready()

    async def on_llm_end(self, response: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Complete a message: what was not streamed, its calls and its tokens."""
        run = self._runs.pop(run_id, None)
        message = _message_of(response, run_id)
        if run is None or message is None:
            return
        usage = usage_of(message)
        if usage is not None and self._on_usage is not None:
            self._on_usage(usage)
        if run.internal:
            return
        if run.message_id is not None and message.id != run.message_id:
            self._emitter.alias(message.id)
            message = message.model_copy(update={"id": run.message_id})
        self._emitter.message(run.lane, message)
        if run.lane is None and self._on_final is not None:
            self._on_final(message)

    async def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Settle what a broken answer began; a retry is another message."""
        run = self._runs.pop(run_id, None)
        if run is not None:
            self._emitter.given_up(run, f"the model's answer broke off: {explain(error)}")

    # -- tools -------------------------------------------------------------------------------------

    async def on_tool_start(
        self,
        serialized: Any,
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        inputs: Any = None,
        **kwargs: Any,
    ) -> None:
        """Say that a tool runs."""
        self._parents[run_id] = parent_run_id
        native_id = kwargs.get("tool_call_id")
        if native_id is None or self._is_stray(parent_run_id):
            return
        lane = self.lane_of(parent_run_id, None)
        name = str(kwargs.get("name") or cast("dict[str, Any]", serialized or {}).get("name") or "tool")
        self._tools[run_id] = (lane, str(native_id), name)
        self._emitter.tool_started(lane, str(native_id), name, inputs)
        if _tool_writer is not None:
            _tool_writer.set(partial(self._give_out, lane, str(native_id)))

    def _give_out(self, lane: str | None, native_id: str, delta: Any) -> None:
        """Show what a running tool gives out, piece by piece."""
        text = delta if isinstance(delta, str) else ev.encode_event(plain(delta)).decode()
        self._emitter.tool_progress(lane, native_id, text)

    async def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Remember a tool's result; a middleware may change it before it is the answer."""
        known = self._tools.get(run_id)
        if known is None:
            return
        self._close_lane(run_id, "completed")
        lane, native_id, _ = known
        for message in tool_messages(output):
            if message.tool_call_id == native_id:
                self._emitter.tool_returned(lane, message)
        self._over.add(run_id)

    async def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Say that a tool raised; an interrupt or a cancel is not a failure."""
        known = self._tools.get(run_id)
        if known is None:
            return
        if isinstance(error, Exception) and type(error).__name__ not in ("GraphInterrupt", "ParentCommand"):
            self._emitter.tool_raised(known[0], known[1], explain(error))
            self._close_lane(run_id, "failed")
            self._over.add(run_id)


def _is_internal(tags: Collection[str], metadata: Mapping[str, Any], options: Mapping[str, Any]) -> bool:
    """Whether a call of a model is not for the reader; what a node keeps of its answer is said all the same.

    A structured answer comes as a call of a tool that nobody will ever run.
    """
    structured = bool(options.get("ls_structured_output_format"))
    aside = metadata.get("lc_source") == "summarization" or bool(metadata.get("lc_internal_call"))
    return aside or structured or TAG_NOSTREAM in tags


def _message_of(response: Any, run_id: UUID) -> Any:
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
