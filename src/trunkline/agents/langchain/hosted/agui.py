"""AG-UI for somebody's own agent, without a server of ours: ``agui_agent`` and ``agui_system``.

::

    agent = agui_agent(model, tools)                              # A: one object that tells everything
    stream = sse_transport()
    stream.attach(agent.ainvoke(read_input(body), transport=stream))

    middleware, callbacks = agui_system(transport=stream)         # B: your own create_agent and ainvoke
    agent = create_agent(model, tools, middleware=middleware)
    await agent.ainvoke(prompt, {"callbacks": callbacks})

The third way is ``trunkline.asgi(agent)``, with sessions that outlive their requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Unpack, cast

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables.config import RunnableConfig
from langgraph.types import Command

from trunkline import events as ev
from trunkline.agents.langchain.channel import Channel
from trunkline.agents.langchain.graph.client_input import add_to_config
from trunkline.agents.langchain.graph.interrupts import emit_decision
from trunkline.agents.langchain.graph.repair import config_of, thread_messages
from trunkline.agents.langchain.graph.threads import is_durable
from trunkline.agents.langchain.hosted.agent import NOTHING, OwnAgent, build_agent
from trunkline.agents.langchain.hosted.agui_request import client_prompt, read_request
from trunkline.agents.langchain.hosted.middleware import OwnMiddleware
from trunkline.agents.langchain.hosted.options import AguiAgentOptions, AguiRunOptions
from trunkline.agents.langchain.hosted.run import OwnRun
from trunkline.agents.langchain.messages.history import conversation_of
from trunkline.errors import ConfigurationError, InvalidCommand
from trunkline.protocols.agui import wire
from trunkline.protocols.agui.transport import AguiTransport


def agui_middleware(
    transport: AguiTransport | None = None, **options: Unpack[AguiRunOptions]
) -> OwnMiddleware:
    """Make the middlewares and callbacks with which an agent speaks AG-UI through a transport.

    Options are those of AguiOptions, and those of SessionMiddleware, ToolMiddleware, PermissionMiddleware
    (with ``policy``), ModeMiddleware (with ``modes``), PlanMiddleware and TrunklineCallbackHandler, by
    name. Without a transport each run brings its own: ``context=TrunklineContext(transport=...)``. The
    callbacks are added to a run that does not bring them.
    """
    return OwnMiddleware("agui", transport, dict(options))


def agui_system(
    transport: AguiTransport | None = None, **options: Unpack[AguiRunOptions]
) -> tuple[OwnMiddleware, list[BaseCallbackHandler]]:
    """Make the middlewares for ``create_agent(middleware=...)``, and the callbacks for each run's config."""
    own = agui_middleware(transport, **options)
    return own, own.callbacks


def agui_agent(
    model_or_agent: Any,
    tools: Iterable[Any] | None = None,
    *,
    transport: AguiTransport | None = None,
    middleware: Iterable[Any] = (),
    callbacks: Iterable[BaseCallbackHandler] = (),
    **options: Unpack[AguiAgentOptions],
) -> AguiAgent:
    """Make an agent that speaks AG-UI, from a model (as ``create_agent`` does) or around an agent.

    Options are those of ``agui_middleware`` and of ``create_agent``. ``AguiAgentOptions`` has their names
    and types, and docs/langchain.md says what they do. An agent that exists already is followed by callbacks
    alone: an option that needs a middleware inside it raises ConfigurationError.
    """
    return AguiAgent(*build_agent("agui", model_or_agent, tools, transport, middleware, options), callbacks)


class AguiAgent(OwnAgent):
    """An agent that shows an AG-UI client what it does.

    Besides what the agent itself takes, ``ainvoke`` and ``astream`` take a client's request as it came: a
    ``RunAgentInput``, with its ids, its new message, its state and tools, or its answers to an interrupt.
    """

    def _prepare(self, input: Any, channel: Channel | None, config: RunnableConfig) -> Any:
        if isinstance(input, wire.RunAgentInput):
            raise ConfigurationError(
                "a client's request is for ainvoke() and astream(), which read its thread"
            )
        run = channel.run if channel is not None else None
        if run is not None and self._goes_on(input):
            run.restore(thread_messages(cast("Any", self.agent).get_state(_thread(config))))
        return input

    async def _aprepare(self, input: Any, channel: Channel | None, config: RunnableConfig) -> Any:
        run = channel.run if channel is not None else None
        if run is not None:
            run.cancel_when_client_leaves()
        if isinstance(input, wire.RunAgentInput):
            return await self._take_request(input, run, config)
        if run is not None and self._goes_on(input):
            run.restore(thread_messages(await cast("Any", self.agent).aget_state(_thread(config))))
        return input

    def _goes_on(self, input: Any) -> bool:
        return isinstance(input, Command) and is_durable(self.agent)

    async def _take_request(
        self, request: wire.RunAgentInput, run: OwnRun | None, config: RunnableConfig
    ) -> Any:
        """Do what a request means before the agent runs; give what it runs with."""
        configurable = config.setdefault("configurable", {})
        configurable.update(add_to_config(configurable, client_prompt(request)))
        thread_id = configurable["thread_id"]
        questions: Mapping[str, ev.Asked] = run.turn.questions if run is not None else {}
        front_end = self.middleware.runs.front_end
        try:
            meaning = await read_request(self.agent, request, thread_id, questions, front_end.intent_of)
        except InvalidCommand as error:
            if run is not None:
                run.refuse(error)
            raise
        if meaning.payload is None:
            if run is not None:
                run.finish_too_late()
            return NOTHING
        if run is not None:
            if meaning.asked:
                run.requests.show_known()
            elif is_durable(self.agent):
                mapper = self.middleware.runs.content_mapper
                run.requests.show_missing(conversation_of(meaning.known, content_mapper=mapper))
            run.restore(meaning.known, meaning.asked)
            for item, answered in meaning.answers:
                run.turn.emit(answered)
                emit_decision(run.emitter, item, answered)
            if meaning.cancels_waiting:
                run.cancel_open_calls("the user went on without an answer")
        return meaning.payload


def _thread(config: RunnableConfig) -> Any:
    """A config for the thread and nothing else."""
    return config_of(config.get("configurable", {})["thread_id"])
