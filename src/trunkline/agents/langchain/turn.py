"""One turn of a compiled graph, from the prompt to its end, with every interrupt between.

The graph runs in the turn's own task. Tokens and tools come by callback, inline; everything else
(whole messages, state, plans, interrupts, custom events) by ``astream``.
"""

from __future__ import annotations

import asyncio
import copy
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

import msgspec
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableWithFallbacks
from langchain_core.runnables.config import DEFAULT_RECURSION_LIMIT
from langchain_core.runnables.retry import RunnableRetry
from langgraph.errors import GraphRecursionError, is_invalid_resume
from langgraph.types import Command

from trunkline import events as ev
from trunkline.agents.interface import Sayable
from trunkline.agents.langchain.callbacks.session_handler import GraphHandler
from trunkline.agents.langchain.channel import Channel, filtered, use_channel
from trunkline.agents.langchain.errors import answer_error, code_of, explain, is_model_error
from trunkline.agents.langchain.graph.checkpointers import TurnCheckpointer
from trunkline.agents.langchain.graph.client_input import add_to_config, client_fields, runtime_context
from trunkline.agents.langchain.graph.interrupts import (
    OpenCalls,
    Pending,
    breakpoints,
    earlier_answer,
    emit_decision,
    may_continue,
    pending_questions,
    reply_form,
    resume_value,
)
from trunkline.agents.langchain.graph.manually_emitted import CustomEvents
from trunkline.agents.langchain.graph.repair import repair
from trunkline.agents.langchain.graph.shared_state import SharedStateUpdates, shareable
from trunkline.agents.langchain.messages.emitter import Emitter
from trunkline.agents.langchain.messages.history import (
    messages_of,
    name_messages,
    read_messages,
    unanswered_calls,
)
from trunkline.agents.langchain.messages.plain_outputs import combine_outputs, output_text
from trunkline.agents.langchain.messages.plan import plan_in_state
from trunkline.agents.langchain.messages.refused_inputs import REFUSED
from trunkline.agents.langchain.middleware.plan import apply_plan_options
from trunkline.agents.langchain.permissions.decide import note_approval
from trunkline.agents.langchain.permissions.operator_policy import guard_run
from trunkline.agents.langchain.stop_reasons import failure_in_message, map_to_stop_reason
from trunkline.agents.langchain.tools.deepagents_files import call_files_of
from trunkline.agents.langchain.tools.registered_tools import show_calls_of
from trunkline.agents.langchain.tools.session_tools import (
    answer_open_calls,
    find_tool,
    wait_for_tools,
    warn_unbound_tools,
)
from trunkline.commands import Prompt
from trunkline.conversation import Conversation
from trunkline.error_redaction import marks_of
from trunkline.json_patch import same_json
from trunkline.questions import ALLOW_KINDS, Coverage, Permission
from trunkline.session.context import Decision, TurnContext
from trunkline.session.ids import new_id

if TYPE_CHECKING:
    from trunkline.agents.langchain.agent import LangChainAgent

log = logging.getLogger("trunkline.langchain")

_REPAIR_WITHIN = 3.0
_STREAM_MODES = ["updates", "values", "custom"]
_CALL_NOT_RUN = "The agent stopped before it ran this call."


class GraphTurn:
    """One turn of one graph: ``prepare`` or ``prepare_resume``, then ``run``."""

    def __init__(
        self, agent: LangChainAgent, ctx: TurnContext, answers: Mapping[str, ev.Answered] | None = None
    ) -> None:
        """Join a turn's context with a graph; ``answers`` are those that came after a restart."""
        self._agent = agent
        self._ctx = ctx
        self._final: Any = None
        self._rounds = 0
        self._output: Any = None
        self._texts: list[str] = []
        self._input: dict[str, Any] | None = None
        self._calls = OpenCalls()
        self._shared: dict[str, Any] = {}
        event_filter = agent.event_filter()
        self._emitter = Emitter(
            ctx.emit if event_filter is None else filtered(event_filter, ctx.emit),
            ctx.turn_id,
            mapper=agent.mapper,
            kind_mapper=agent.kind_mapper,
            content_mapper=agent.content_mapper,
            annotations=self._annotations,
            declared=agent.declared,
            call_files=call_files_of(agent.middleware, ctx.session.folders),
            emit_text=ctx.emit_text if event_filter is None else None,
            scrub=agent.scrub,
            step_kinds=ctx.prompt.step_kinds,
        )
        self._channel = Channel(
            ctx, self._emitter, durable=agent.durable, answers=answers, event_filter=event_filter
        )
        show_calls_of(self._channel)
        apply_plan_options(self._channel, agent.middleware)
        self._state = SharedStateUpdates(self._channel, agent.runnable, agent.middleware)
        self._custom_events = CustomEvents(self._emitter, self._state.emit_fields)
        self._handler = GraphHandler(
            self._emitter,
            on_usage=self._count,
            on_final=self._keep_final,
            ready=ctx.ready,
            durable=ctx.durable,
            on_custom=self._custom_events.emit,
        )
        config = agent.config_for(ctx.session)
        self._config: dict[str, Any] = {
            **config,
            "configurable": add_to_config(config["configurable"], ctx.prompt),
            "callbacks": [*(config.get("callbacks") or []), self._handler],
        }
        self._runnable = agent.instrumented.graph
        if agent.is_graph and not agent.durable:
            # LangGraph interrupts only with a checkpointer; this one lives until the end of the turn.
            self._runnable = copy.copy(self._runnable)
            self._runnable.checkpointer = TurnCheckpointer()

    def _annotations(self, tool: str) -> dict[str, Any] | None:
        """The annotations that a tool's MCP server gives."""
        own = self._agent.annotations_of(tool)
        found = find_tool(self._channel, tool) if own is None else None
        return own if found is None else found.metadata

    def _keep_final(self, message: Any) -> None:
        self._final = message
        self._texts.append(str(message.text))

    def _count(self, usage: ev.TokenUsage) -> None:
        self._ctx.usage(usage)
        if size := self._agent.context_size:
            self._ctx.emit(ev.ContextUsage(used=usage.input_tokens + usage.output_tokens, size=size))

    # -- running -----------------------------------------------------------------------------------

    async def prepare(self) -> list[Any]:
        """Take the history as emitted; give those of its messages that the graph does not have."""
        checkpoint: Any = None
        if self._agent.durable:
            # A process that died in a turn left its thread unrepaired.
            await self._repair(self._ctx.history)
            checkpoint = (await self._snapshot()).values
        values = _fields(checkpoint)
        thread = read_messages(values.get("messages"))
        missing = [] if checkpoint else messages_of(await self._ctx.history(), self._agent.mapper)
        self._emitter.add_history(thread or missing)
        self._emitter.restore_plan(plan_in_state(values))
        self._shared = shareable(values)
        return missing

    def state_for(self, prompt: Prompt) -> dict[str, Any]:
        """The shared state to give to the graph: a thread gets only what it does not have."""
        state: Any = prompt.state
        if state is None and not self._agent.durable:
            state = self._ctx.session.state
        return {
            key: value
            for key, value in _fields(state).items()
            if not same_json(value, self._shared.get(key), numeric=True)
        }

    async def prepare_resume(self) -> Any:
        """Take the events of an earlier process as emitted; give the input that resumes the graph."""
        self._emitter.add_history(read_messages(_fields((await self._snapshot()).values).get("messages")))
        earlier = await self._ctx.turn_so_far()
        self._emitter.restore_calls(earlier.calls.values())
        self._calls.restore(earlier)
        following = await self._next_input()
        return None if following is _END else following

    async def run(self, payload: Any) -> AsyncIterator[Sayable]:
        """Run the graph to its end, and ask the questions that it stops for."""
        self._input = cast("dict[str, Any]", payload) if isinstance(payload, dict) else None
        try:
            with use_channel(self._channel), guard_run(self._channel, self._handler):
                await wait_for_tools(self._channel)
                while payload is not _END:
                    await self._step(payload)
                    payload = await self._next_input()
                await self._custom_events.finish_calls(self._channel)
        except asyncio.CancelledError:
            await self._repair_thread()
            raise
        except Exception as error:
            reason, code = map_to_stop_reason(error), code_of(error)
            self._emitter.finish_calls(None)
            if reason != "end_turn":
                self._emitter.fail_open_calls(_CALL_NOT_RUN)
            await self._repair_thread(refused=code in REFUSED and is_model_error(error))
            if reason == "end_turn":
                turn_id = self._ctx.turn_id
                extra = {"failed_turn": turn_id}
                log.warning("the agent failed in turn %s", turn_id, exc_info=error, extra=extra)
                yield ev.TurnFailed(code=code, message=explain(error), meta=marks_of(error))
            else:
                yield ev.TurnFinished(stop_reason=reason)
            return
        self._emitter.finish_calls(None)
        self._emitter.fail_open_calls(_CALL_NOT_RUN)
        self._emit_output()
        self._state.finish()
        if not (self._agent.instrumented.sees_model or client_fields(self._runnable)):
            warn_unbound_tools(self._channel)
        if (reason := failure_in_message(self._final)) is not None:
            yield ev.TurnFailed(code="model_failed", message=reason)
        else:
            yield ev.TurnFinished(stop_reason=map_to_stop_reason(self._final))

    async def _step(self, payload: Any) -> None:
        """Run the graph to its next stop; a question whose answer does not fit is asked again."""
        try:
            await self._stream(payload)
        except Exception as error:
            if not is_invalid_resume(error):
                raise
            self._ctx.notice("That answer does not fit", explain(error), severity="warning")

    async def _next_input(self) -> Any:
        """The input that the graph needs after a stop: answers to its questions, or ``_END``."""
        if not self._agent.is_graph:
            return _END
        state = await self._snapshot()
        messages = read_messages(_fields(state.values).get("messages"))
        if state.interrupts:
            self._calls.add(None, unanswered_calls(messages))
            pending = pending_questions(state.interrupts, self._calls, self._emitter.describe, self._cover)
            return Command(resume=resume_value(pending, await self._ask(pending)))
        if stops := breakpoints(self._runnable, state, unanswered_calls(messages)):
            pending = pending_questions(stops, self._calls, self._emitter.describe)
            return None if may_continue(pending, await self._ask(pending)) else _END
        return _END if state.next else await self._answer_open_calls(messages)

    async def _answer_open_calls(self, messages: Any) -> Any:
        """Answer the calls that a graph left open at its end, if some are for the session's own tools.

        Such a graph has no tool node, or ends where its page has to run a tool, as CopilotKit documents it.
        """
        user = max((at for at, one in enumerate(messages) if one.type == "human"), default=-1)
        calls = unanswered_calls(messages[user + 1 :])
        answers = await answer_open_calls(calls, self._channel, own=self._agent.own_tools)
        if not answers:
            return _END
        answered = {answer.tool_call_id for answer in answers}
        for call in calls:
            if call["id"] not in answered:
                # These will not run, and providers refuse a history with a call that has no answer.
                answers.append(error := answer_error(call, _CALL_NOT_RUN))
                error.id = new_id("result")
                self._emitter.tool_message(None, error)
        self._rounds += 1
        own: Any = getattr(self._runnable, "config", None) or {}
        limit = self._config.get("recursion_limit") or own.get("recursion_limit") or DEFAULT_RECURSION_LIMIT
        if self._rounds >= limit:
            # The graph itself raises this when its own tools are called too often.
            raise GraphRecursionError(f"{limit} rounds of calls without an end: raise recursion_limit")
        return {"messages": answers}

    async def _snapshot(self) -> Any:
        plain = {"configurable": {"thread_id": self._config["configurable"]["thread_id"]}}
        return await self._runnable.aget_state(plain)

    async def _repair(self, history: Callable[[], Awaitable[Conversation]], *, refused: bool = False) -> None:
        thread_id = self._config["configurable"]["thread_id"]
        await repair(self._runnable, thread_id, history, self._agent.mapper, refused=refused)

    async def _repair_thread(self, *, refused: bool = False) -> None:
        """Repair the thread for the next prompt, unless another process resumes this turn."""
        if not self._agent.durable or not self._ctx.live:
            return
        try:
            async with asyncio.timeout(_REPAIR_WITHIN):
                await asyncio.shield(
                    asyncio.ensure_future(self._repair(self._ctx.turn_so_far, refused=refused))
                )
        except Exception:
            log.exception("the checkpoint could not be repaired")

    # -- the stream -----------------------------------------------------------------------------

    async def _stream(self, payload: Any) -> None:
        runnable = self._runnable
        if isinstance(runnable, RunnableRetry | RunnableWithFallbacks):
            # LangChain retries and falls back only in ainvoke(), not in astream().
            self._output_piece(await cast("Any", runnable).ainvoke(payload, self._config))
            return
        if not self._agent.is_graph:
            async for piece in runnable.astream(payload, self._config):
                self._output_piece(piece)
            return
        options = {**self._agent.kwargs, "stream_mode": _STREAM_MODES, "subgraphs": True}
        if "context" not in options:
            options["context"] = runtime_context(runnable, self._config["configurable"])
        if self._agent.durable and not {"durability", "checkpoint_during"} & options.keys():
            # A call must be in the thread before its tool runs, as it is in the journal.
            options["durability"] = "sync"
        async for namespace, mode, data in runnable.astream(payload, self._config, **options):
            if mode == "updates":
                self._update(namespace, data)
            elif mode == "custom":
                self._emitter.custom("langgraph", data)
            elif not namespace:
                self._values(data)

    def _output_piece(self, piece: Any) -> None:
        """Emit the output of a Runnable that has no model: tokens of models come by callback."""
        if isinstance(piece, str | AIMessage) and not self._emitter.has_emitted:
            self._ctx.emit(str(piece if isinstance(piece, str) else piece.text))
        else:
            self._output = combine_outputs(self._output, piece)

    def _emit_output(self) -> None:
        """Emit the output of a Runnable or of a graph without messages, unless a message had that text."""
        if self._emitter.has_emitted and not isinstance(self._output, str | AIMessage):
            return
        output = output_text(self._output, self._input)
        if output and not any(output.strip() in text for text in self._texts):
            self._ctx.emit(output)

    def _update(self, namespace: tuple[str, ...], data: Any) -> None:
        lane = self._handler.lanes.lane_of_namespace(namespace)
        if interrupts := cast("dict[str, Any]", data).get("__interrupt__"):
            self._calls.add_interrupts(lane, interrupts)
        for message in _messages_in(data):
            self._calls.see(lane, message)
            if message.id is not None and (not namespace or self._handler.lanes.has_model(namespace)):
                self._message(lane, message)

    def _values(self, values: Any) -> None:
        """Emit the messages that have an id only now, and the state."""
        if not isinstance(values, dict):
            self._output = values  # The result of an @entrypoint, which has no state.
            return
        fields = cast("dict[str, Any]", values)
        messages = name_messages(read_messages(fields.get("messages")))
        user = max((at for at, one in enumerate(messages) if one.type == "human"), default=-1)
        for message in messages[user + 1 :]:
            if not self._emitter.is_emitted(message.id):
                self._message(None, message)
        if "messages" not in fields:
            self._output = fields
        self._state.update(fields)

    def _message(self, lane: str | None, message: Any) -> None:
        self._emitter.message(lane, message)
        if lane is None and message.type == "ai":
            self._final = message

    # -- questions ---------------------------------------------------------------------------------

    async def _ask(self, pending: list[Pending]) -> dict[str, ev.Answered]:
        asking = [asyncio.ensure_future(self._ask_one(item)) for item in pending]
        await asyncio.sleep(0)
        self._ctx.suspend()
        try:
            answers = await asyncio.gather(*asking)
        finally:
            for question in asking:
                question.cancel()
        return {item.key: answer for item, answer in zip(pending, answers, strict=True)}

    async def _ask_one(self, item: Pending) -> ev.Answered:
        group, lane = item.interrupt_id, item.lane
        covers = item.question.covers if isinstance(item.question, Permission) else None
        answered = self._denied(item, item.action.get("args"))
        if answered is None and covers is not None:
            answered = self._answered_earlier(item)
        if answered is None:
            answered = await self._channel.ask(item.question, durable_key=item.key, group=group, lane=lane)
        if answered.input is not None:
            answered = self._denied(item, answered.input) or answered
        if answered.option_kind == "allow_always":
            self._channel.remember(covers, Decision(allowed=True, call_id="", always=True))
        if (form := reply_form(item, answered)) is not None:
            reply = await self._channel.ask(form, durable_key=f"{item.key}:reply", group=group, lane=lane)
            reason = reply.content.get("answer") if reply.outcome == "accepted" else None
            answered = msgspec.structs.replace(answered, reason=reason)
        if item.action and answered.option_kind in ALLOW_KINDS:
            args = item.action.get("args") if answered.input is None else answered.input
            call = {"id": item.native_id, "name": item.action["name"], "args": args}
            note_approval(self._channel, call, lane)
        emit_decision(self._emitter, item, answered)
        return answered

    def _cover(self, call: Mapping[str, Any]) -> Coverage | None:
        return self._channel.covers(call, self._kind_of(str(call["name"])))

    def _kind_of(self, tool: str) -> ev.ToolKind:
        return self._emitter.kind_of(tool)

    def _answered_earlier(self, item: Pending) -> ev.Answered | None:
        """The answer that an earlier "always" of this session gives to a question that it covers."""
        decision = self._decide(item, item.action["args"])
        # The user is still asked about what the policy allows: the agent itself wants a review.
        return earlier_answer(item, decision) if decision is not None and decision.by != "policy" else None

    def _denied(self, item: Pending, args: Any) -> ev.Answered | None:
        """The refusal of a call that the operator's policy denies; the user cannot allow it."""
        decision = self._decide(item, args) if isinstance(item.question, Permission) and item.action else None
        if decision is None or decision or decision.by != "policy":
            return None
        return ev.Answered(question_id="", outcome="declined", reason=decision.reason, by=decision.by)

    def _decide(self, item: Pending, args: Any) -> Decision | None:
        call = {"id": item.native_id, "name": item.action["name"], "args": args}
        return self._channel.decide(call, self._kind_of(str(call["name"])), durable_key=item.key)


_END: Any = object()


def _fields(values: Any) -> dict[str, Any]:
    """The fields of a state; an @entrypoint has a result without fields."""
    return cast("dict[str, Any]", values) if isinstance(values, dict) else {}


def _messages_in(data: Any) -> list[Any]:
    """Find the messages that the nodes of one step returned."""
    found: list[Any] = []
    for update in cast("dict[str, Any]", data).values() if isinstance(data, dict) else ():
        for part in cast("list[Any]", update if isinstance(update, list) else [update]):
            messages = cast("dict[str, Any]", part).get("messages") if isinstance(part, dict) else None
            many = cast("list[Any]", messages if isinstance(messages, list) else [messages])
            found += [one for one in many if getattr(one, "type", None) in ("ai", "AIMessageChunk", "tool")]
    return found
