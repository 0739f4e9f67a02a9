"""LangChain agents on the trunk: a compiled graph, a deep agent or any Runnable, unchanged.

The graph runs in the turn's own task. Tokens and tools come by callback, inline; everything else
(whole messages, state, plans, interrupts, custom events) by ``astream``. With a checkpointer the
thread is the truth and the session id its name; without one the journal feeds the agent.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from typing import Any, cast

from trunkline import events as ev
from trunkline.agents.interface import AgentCard, PromptCapabilities, Sayable
from trunkline.agents.langchain.content import ContentBlockMapper
from trunkline.agents.langchain.emitter import Emitter
from trunkline.agents.langchain.handler import GraphHandler
from trunkline.agents.langchain.history import messages_of, unanswered_calls
from trunkline.agents.langchain.interrupts import Pending, pending_questions, resume_value
from trunkline.agents.langchain.kinds import KindMapper
from trunkline.agents.langchain.state import StateTeller
from trunkline.agents.langchain.stops import explain, map_to_stop_reason
from trunkline.commands import Prompt
from trunkline.context import SessionView, TurnContext
from trunkline.errors import AgentError, InvalidCommand

__all__ = ["LangChainAgent"]

log = logging.getLogger("trunkline.langchain")

_REPAIR_WITHIN = 3.0
_CANCELLED = "This call was cancelled by the user."


class LangChainAgent:
    """Runs a LangChain Runnable for every session that asks."""

    def __init__(
        self,
        runnable: Any,
        *,
        name: str | None = None,
        mapper: ContentBlockMapper | None = None,
        kind_mapper: KindMapper | None = None,
        config: dict[str, Any] | None = None,
        card: AgentCard | None = None,
    ) -> None:
        """Wrap a Runnable; ``config`` is merged into every run's."""
        self.runnable = runnable
        self._mapper = mapper or ContentBlockMapper()
        self._kind_mapper = kind_mapper
        self._config = config or {}
        self._is_graph = hasattr(runnable, "aget_state") and hasattr(runnable, "nodes")
        own_name: Any = getattr(runnable, "name", None)
        shown = name or (own_name if own_name and own_name != "LangGraph" else None) or "agent"
        self.card = card or AgentCard(
            name=shown, prompt=PromptCapabilities(image=True, audio=True, embedded_context=True)
        )

    @property
    def durable(self) -> bool:
        """Whether the agent remembers threads by itself."""
        return self._is_graph and bool(getattr(self.runnable, "checkpointer", None))

    # -- running -----------------------------------------------------------------------------------

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[Sayable]:
        """Answer a prompt."""
        from langchain_core.messages import HumanMessage

        message = HumanMessage(
            content=cast("Any", self._mapper.message_content(prompt.content)),
            id=prompt.message_id or f"{ctx.turn_id}.0",
        )
        voyage = _Voyage(self, ctx)
        earlier = [] if self.durable else messages_of(await ctx.history(), self._mapper)
        await voyage.remember(earlier)
        async for item in voyage.sail(self._input([*earlier, message], prompt)):
            yield item

    async def resume(self, answers: Mapping[str, ev.Answered], ctx: TurnContext) -> AsyncIterator[Sayable]:
        """Go on after a restart: the checkpoint knows what was asked."""
        from langgraph.types import Command

        voyage = _Voyage(self, ctx)
        await voyage.remember([])
        pending = await voyage.pending()
        async for item in voyage.sail(Command(resume=resume_value(pending, answers))):
            yield item

    def _input(self, messages: list[Any], prompt: Prompt) -> Any:
        """Give the runnable what it takes: messages, one field, or plain text."""
        if _takes_messages(self.runnable):
            return messages
        fields = _input_fields(self.runnable)
        if "messages" in fields:
            return {"messages": messages}
        if len(fields) == 1:
            return {fields[0]: prompt.text}
        if self._is_graph:
            raise AgentError(
                f"the graph {self.card.name!r} takes {', '.join(fields) or 'nothing'}: give it a state "
                "with a 'messages' field, or wrap it in a function that takes (prompt, ctx)"
            )
        return prompt.text

    def config_for(self, session: SessionView) -> dict[str, Any]:
        """The configuration of a session's runs: its id is the thread's."""
        configurable = {
            **cast("dict[str, Any]", self._config.get("configurable") or {}),
            "thread_id": session.session_id,
        }
        place = session.memory.get("langgraph_checkpoint")
        return {**self._config, "configurable": {**configurable, **(place or {})}}

    # -- history -----------------------------------------------------------------------------------

    async def rewind(self, session: SessionView, to_message_id: str | None) -> None:
        """Go back to the checkpoint whose last message is this one."""
        if not self.durable:
            return
        config = {"configurable": {"thread_id": session.session_id}}
        async for snapshot in self.runnable.aget_state_history(config):
            messages = snapshot.values.get("messages", [])
            last = messages[-1].id if messages else None
            if last == to_message_id:
                session.memory["langgraph_checkpoint"] = {
                    "checkpoint_id": snapshot.config["configurable"]["checkpoint_id"]
                }
                return
        raise InvalidCommand(f"no checkpoint ends with message {to_message_id!r}: go back to another one")

    async def repair(self, config: dict[str, Any]) -> None:
        """Answer the calls that a cancelled turn left open, or the next model call is refused."""
        if not self.durable:
            return
        from langchain_core.messages import ToolMessage

        plain = {"configurable": {"thread_id": config["configurable"]["thread_id"]}}
        state = await self.runnable.aget_state(plain)
        open_calls = unanswered_calls(state.values.get("messages", []))
        if open_calls:
            answers = [
                ToolMessage(content=_CANCELLED, tool_call_id=call["id"], name=call["name"], status="error")
                for call in open_calls
            ]
            node = "tools" if "tools" in self.runnable.nodes else None
            await self.runnable.aupdate_state(plain, {"messages": answers}, as_node=node)


class _Voyage:
    """One turn of one graph."""

    def __init__(self, agent: LangChainAgent, ctx: TurnContext) -> None:
        self._agent = agent
        self._ctx = ctx
        self._final: Any = None
        self._emitter = Emitter(
            ctx.emit,
            ctx.turn_id,
            mapper=agent._mapper,
            kind_mapper=agent._kind_mapper,
            annotations=_annotations(agent.runnable),
        )
        self._state = StateTeller(ctx, self._emitter)
        self._handler = GraphHandler(
            self._emitter,
            on_usage=ctx.usage,
            on_final=self._keep,
            ready=ctx.ready,
            lagging=lambda: ctx.lagging,
        )
        config = agent.config_for(ctx.session)
        self._config = {**config, "callbacks": [*(config.get("callbacks") or []), self._handler]}

    def _keep(self, message: Any) -> None:
        self._final = message

    async def remember(self, earlier: list[Any]) -> None:
        """Take the history as said: only what this turn adds is new."""
        if self._agent.durable:
            earlier = (await self._snapshot()).values.get("messages", [])
        self._emitter.known(earlier)

    async def _snapshot(self) -> Any:
        plain = {"configurable": {"thread_id": self._config["configurable"]["thread_id"]}}
        return await self._agent.runnable.aget_state(plain)

    async def sail(self, payload: Any) -> AsyncIterator[Sayable]:
        """Run to the end, asking whatever the graph stops for."""
        from langgraph.types import Command

        ctx = self._ctx
        try:
            while True:
                await self._stream(payload)
                ctx.session.memory.pop("langgraph_checkpoint", None)
                self._config["configurable"].pop("checkpoint_id", None)
                pending = await self.pending()
                if not pending:
                    break
                answers = await self._ask(pending)
                payload = Command(resume=resume_value(pending, answers))
        except asyncio.CancelledError:
            await self._settle()
            raise
        except Exception as error:
            reason = map_to_stop_reason(error)
            if reason == "end_turn":
                log.exception("the agent failed")
                yield ev.TurnFailed(code=_code_of(error), message=explain(error))
                return
            yield ev.TurnFinished(stop_reason=reason)
            return
        yield ev.TurnFinished(stop_reason=map_to_stop_reason(self._final))

    async def _stream(self, payload: Any) -> None:
        runnable = self._agent.runnable
        if not self._agent._is_graph:
            async for piece in runnable.astream(payload, self._config):
                self._say_piece(piece)
            return
        modes = ["updates", "values", "custom"]
        async for space, mode, data in runnable.astream(
            payload, self._config, stream_mode=modes, subgraphs=True
        ):
            if mode == "updates":
                self._update(space, data)
            elif mode == "custom":
                self._ctx.emit(ev.Custom(name="langgraph", value=data))
            elif not space:
                self._state.tell(data)

    def _say_piece(self, piece: Any) -> None:
        """Say the output of a Runnable that is no model: models speak by callback."""
        if isinstance(piece, str) and not self._emitter.spoke:
            self._ctx.emit(piece)

    def _update(self, space: tuple[str, ...], data: Any) -> None:
        key = "|".join(space)
        if key and key not in self._handler.places:
            return
        lane = self._handler.places.get(key)
        for update in data.values():
            for part in update if isinstance(update, list) else [update]:
                messages = part.get("messages", ()) if isinstance(part, dict) else ()
                for message in messages if isinstance(messages, list) else [messages]:
                    if hasattr(message, "type") and message.type in ("ai", "AIMessageChunk", "tool"):
                        self._emitter.message(lane, message)
                        if lane is None and message.type == "ai":
                            self._final = message

    # -- questions ---------------------------------------------------------------------------------

    async def pending(self) -> list[Pending]:
        """What the graph stopped for."""
        if not self._agent.durable:
            return []
        state = await self._snapshot()
        if not state.interrupts:
            return []
        calls = unanswered_calls(state.values.get("messages", []))
        return pending_questions(state.interrupts, calls)

    async def _ask(self, pending: list[Pending]) -> dict[str, ev.Answered]:
        asking = [
            asyncio.ensure_future(self._ctx.ask(item.question, durable_key=item.key, group=item.interrupt_id))
            for item in pending
        ]
        await asyncio.sleep(0)
        self._ctx.suspend()
        try:
            answers = await asyncio.gather(*asking)
        finally:
            for question in asking:
                question.cancel()
        return {item.key: answer for item, answer in zip(pending, answers, strict=True)}

    async def _settle(self) -> None:
        try:
            async with asyncio.timeout(_REPAIR_WITHIN):
                await asyncio.shield(self._agent.repair(self._config))
        except Exception:
            log.exception("the checkpoint could not be repaired after a cancel")


def _takes_messages(runnable: Any) -> bool:
    from langchain_core.language_models import BaseChatModel

    bound = getattr(runnable, "bound", runnable)
    return isinstance(bound, BaseChatModel)


def _input_fields(runnable: Any) -> list[str]:
    try:
        schema = runnable.get_input_jsonschema()
    except Exception:
        return []
    return list(schema.get("properties", {}))


def _annotations(runnable: Any) -> Any:
    """Find MCP's hints about a graph's tools."""
    nodes = getattr(runnable, "nodes", None) or {}
    tools: dict[str, Any] = {}
    for node in nodes.values():
        tools |= getattr(getattr(node, "bound", None), "tools_by_name", {})
    return lambda name: getattr(tools.get(name), "metadata", None)


def _code_of(error: BaseException) -> str:
    names = {kind.__name__ for kind in type(error).__mro__}
    if "RateLimitError" in names:
        return "rate_limited"
    return "model_failed" if hasattr(error, "status_code") or "APIError" in names else "agent_failed"
