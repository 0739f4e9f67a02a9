"""LangChain agents as our agents: a compiled graph, a deep agent or any Runnable, unchanged.

With a checkpointer LangGraph's thread has the history, under the session's id; without one the journal gives
it. One object serves every session: the state of a run is in its ``GraphTurn``.
"""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Collection, Mapping
from typing import Any, cast

import msgspec
from langchain_core.runnables import RunnableBinding
from langchain_core.runnables.config import merge_configs
from langgraph.pregel import Pregel

from trunkline import events as ev
from trunkline.agents.interface import AgentCard, PromptCapabilities, Sayable
from trunkline.agents.langchain.graph import threads
from trunkline.agents.langchain.graph.checkpointers import in_threads
from trunkline.agents.langchain.graph.client_input import client_state
from trunkline.agents.langchain.graph.hooks import add_session_tools, guard_tool_calls
from trunkline.agents.langchain.graph.inputs import input_for
from trunkline.agents.langchain.graph.inspect import middleware_in, model_in, tools_in
from trunkline.agents.langchain.graph.instrument import InstrumentedGraph, instrument
from trunkline.agents.langchain.hosted.agent import OwnAgent
from trunkline.agents.langchain.messages.content_mapper import ContentBlockMapper
from trunkline.agents.langchain.middleware.tools import ToolEventFilter, ToolMiddleware
from trunkline.agents.langchain.permissions.operator_policy import apply_policy
from trunkline.agents.langchain.pii import scrubber
from trunkline.agents.langchain.tools.attached_servers import attach_servers, detach_servers, mcp_capabilities
from trunkline.agents.langchain.tools.registered_tools import declared_tools
from trunkline.agents.langchain.turn import GraphTurn
from trunkline.agents.langchain.user_functions import contain_kind_mapper
from trunkline.commands import Prompt
from trunkline.conversation import Conversation
from trunkline.options import ConfigOption
from trunkline.session.context import SessionView, TurnContext
from trunkline.tools.naming import KindMapper

_CHECKPOINT_GONE = (
    "the agent's checkpointer no longer holds what this answer is for; send the prompt again to retry, "
    "and give the agent a checkpointer that outlives its process"
)


class LangChainAgent:
    """Runs a LangChain Runnable for every session."""

    def __init__(
        self,
        runnable: Any,
        *,
        name: str | None = None,
        mapper: ContentBlockMapper | None = None,
        kind_mapper: KindMapper | None = None,
        config: Mapping[str, Any] | None = None,
        raise_tool_errors: bool = False,
        card: AgentCard | None = None,
    ) -> None:
        """Wrap a Runnable; ``config`` is merged into every run's.

        A tool's exception answers the model as an error and the turn goes on, unless
        ``raise_tool_errors``.
        """
        runnable, self.config, self.kwargs = _unbind(runnable, dict(config or {}))
        self.is_graph = isinstance(runnable, Pregel)
        if self.is_graph and (saver := in_threads(runnable.checkpointer)) is not runnable.checkpointer:
            runnable = copy.copy(runnable)
            runnable.checkpointer = saver
        self.runnable: Any = runnable
        self.mapper = mapper or ContentBlockMapper()
        self.middleware = middleware_in(runnable) if self.is_graph else ()
        self.scrub = scrubber(self.middleware)
        self._tool_middleware = next(
            (one for one in self.middleware if isinstance(one, ToolMiddleware)), None
        )
        if (middleware := self._tool_middleware) is not None:
            kind_mapper = kind_mapper or middleware.tool_kind_mapper
            raise_tool_errors = raise_tool_errors or not middleware.handle_errors
        self.kind_mapper = contain_kind_mapper(kind_mapper)
        self.content_mapper = None if middleware is None else middleware.content_mapper
        self.instrumented = (
            instrument(runnable, add_session_tools, guard_tool_calls(raise_tool_errors), apply_policy)
            if self.is_graph
            else InstrumentedGraph(runnable, sees_model=False)
        )
        self._tools = tools_in(runnable)
        self.declared = declared_tools(self._tools.values())
        made = card or self._make_card(name)
        self.card = msgspec.structs.replace(made, authoritative_history=self.durable)

    def _make_card(self, name: str | None) -> AgentCard:
        own: Any = getattr(self.runnable, "name", None)
        options: list[ConfigOption] = []
        for middleware in self.middleware:
            offered: Any = getattr(middleware, "options", None)
            if callable(offered):
                options += cast("list[ConfigOption]", offered())
        return AgentCard(
            name=name or (own if own and own != "LangGraph" else None) or "agent",
            prompt=PromptCapabilities(image=True, audio=True, embedded_context=True),
            options=tuple(options),
            mcp=mcp_capabilities(),
        )

    def event_filter(self) -> ToolEventFilter | None:
        """What the agent's own ToolMiddleware hides of a turn; None if it hides nothing."""
        return None if self._tool_middleware is None else self._tool_middleware.event_filter()

    @property
    def durable(self) -> bool:
        """Whether the agent has a checkpointer, and so a history of its own."""
        return self.is_graph and bool(getattr(self.runnable, "checkpointer", None))

    @property
    def context_size(self) -> int | None:
        """The size of the model's context in tokens, if that is known."""
        model = model_in(self.runnable) if self.is_graph else self.runnable
        profile: Any = getattr(model, "profile", None) or {}
        return profile.get("max_input_tokens")

    @property
    def own_tools(self) -> Collection[str]:
        """The names of the tools that the graph runs itself."""
        return self._tools.keys()

    def annotations_of(self, tool: str) -> dict[str, Any] | None:
        """The annotations that an MCP server gives for a tool of the graph."""
        return getattr(self._tools.get(tool), "metadata", None)

    # -- sessions ----------------------------------------------------------------------------------

    async def open_session(self, session: SessionView) -> None:
        """Begin to open the MCP servers that the client named for this session."""
        await attach_servers(session.memory, session.mcp_servers, folders=session.folders)

    async def close_session(self, session: SessionView) -> None:
        """Close the session's servers."""
        await detach_servers(session.memory)

    # -- running -----------------------------------------------------------------------------------

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[Sayable]:
        """Answer a prompt."""
        message = self.mapper.user_message(prompt.content, prompt.message_id or f"{ctx.turn_id}.0")
        # A session that was loaded again may have other servers.
        await self.open_session(ctx.session)
        turn = GraphTurn(self, ctx)
        messages = [*await turn.prepare(), message]
        client = client_state(self.runnable, prompt)
        payload = input_for(
            self.runnable, messages, prompt.text, turn.state_for(prompt), self.card.name, client
        )
        async for item in turn.run(payload):
            yield item

    async def resume(self, answers: Mapping[str, ev.Answered], ctx: TurnContext) -> AsyncIterator[Sayable]:
        """Resume after a restart: the checkpoint has the place where the graph stopped, and why."""
        if not await self.still_waits(ctx.session, answers.keys()):
            yield ev.TurnFailed(code="interrupted", message=_CHECKPOINT_GONE)
            return
        turn = GraphTurn(self, ctx, answers)
        async for item in turn.run(await turn.prepare_resume()):
            yield item

    def config_for(self, session: SessionView) -> dict[str, Any]:
        """The configuration of a session's runs; the id of the session is that of the thread."""
        thread_id = session.thread_id
        configurable = {
            **({} if self.is_graph else {"session_id": thread_id}),
            **cast("dict[str, Any]", self.config.get("configurable") or {}),
            "thread_id": thread_id,
        }
        return {**self.config, "configurable": configurable}

    # -- the thread --------------------------------------------------------------------------------

    async def history(self, session: SessionView) -> Conversation | None:
        """The thread as a conversation; other programs may have used the thread, too."""
        if not self.durable:
            return None
        # The tools of the session's servers are not known before these are open.
        served = session.mcp_servers or any(getattr(one, "has_servers", False) for one in self.middleware)
        own = None if served else self.own_tools
        return await threads.history(self.runnable, session.thread_id, self.mapper, own, self.content_mapper)

    async def still_waits(self, session: SessionView, durable_keys: Collection[str]) -> bool:
        """Whether the thread still waits for the answers to these questions."""
        return self.durable and await threads.waits(self.runnable, session.thread_id, durable_keys)

    async def rewind(self, session: SessionView, to_message_id: str | None) -> None:
        """Rewind the thread; without a checkpointer the journal alone is rewound."""
        if self.durable:
            await threads.rewind(self.runnable, session.thread_id, to_message_id)

    async def fork(self, session: SessionView, origin: SessionView) -> None:
        """Copy the thread of ``origin`` for a new session."""
        if self.durable:
            await threads.fork(self.runnable, session.thread_id, origin.thread_id)

    async def delete_session(self, session: SessionView) -> None:
        """Delete the thread."""
        if self.durable:
            await threads.delete(self.runnable, session.thread_id)


def _unbind(runnable: Any, config: dict[str, Any]) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """Unwrap a runnable that is bound or shows its runs: give it, its configuration and its arguments."""
    kwargs: dict[str, Any] = {}
    while isinstance(runnable, RunnableBinding | OwnAgent):
        if isinstance(runnable, OwnAgent):
            config = cast("Any", merge_configs({"callbacks": runnable.callbacks}, cast("Any", config)))
            runnable = runnable.agent
            kwargs.pop("transport", None)  # Front ends of the session take its place.
            continue
        outer = cast("Any", runnable)
        if outer.kwargs and not hasattr(outer, "aget_state"):
            return outer, config, kwargs  # A model with bound tools: only the binding passes them on.
        kwargs = {**outer.kwargs, **kwargs}
        runnable, config = (
            outer.bound,
            cast("dict[str, Any]", merge_configs(outer.config, cast("Any", config))),
        )
    return runnable, config, kwargs
