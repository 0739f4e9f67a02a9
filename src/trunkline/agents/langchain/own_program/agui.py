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

from collections.abc import Iterable
from typing import Any, cast

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import Runnable
from langchain_core.runnables.config import RunnableConfig, merge_configs
from langgraph.types import Command

from trunkline.agents.langchain.channel_lookup import TrunklineContext
from trunkline.agents.langchain.graph.interrupts import emit_decision
from trunkline.agents.langchain.messages.history import conversation_of
from trunkline.agents.langchain.own_program.agent import (
    NOTHING,
    PIECES,
    LineMiddleware,
    StandaloneAgent,
    assemble,
    check_names,
    names_of,
)
from trunkline.agents.langchain.own_program.agui_request import is_durable, read_request, thread_messages
from trunkline.agents.langchain.own_program.agui_run import AguiBoard, AguiVoice
from trunkline.agents.langchain.own_program.run import LineVoice
from trunkline.errors import ConfigurationError, InvalidCommand
from trunkline.frontends.agui.options import AguiOptions
from trunkline.frontends.agui.transports import AguiTransport
from trunkline.protocols.agui import wire

__all__ = ["AguiAgent", "agui_agent", "agui_middleware", "agui_system"]

_OWN = AguiOptions.__struct_fields__
_KNOWN = [*_OWN, *(name for name in names_of(*PIECES) if name not in _OWN)]


def agui_middleware(transport: AguiTransport | None = None, **options: Any) -> LineMiddleware:
    """Make the middlewares and callbacks with which an agent speaks AG-UI through a transport.

    Options are those of AguiOptions, and those of SessionMiddleware, ToolMiddleware, PermissionMiddleware
    (with ``policy``), ModeMiddleware (with ``modes``), PlanMiddleware and TrunklineCallbackHandler, by
    name. Without a transport each run brings its own: ``context=TrunklineContext(transport=...)``. The
    callbacks are what sees a run fail or stop: give them to each run.
    """
    check_names(options, _KNOWN)
    own = AguiOptions.of(**{name: options[name] for name in _OWN if name in options})
    # What of a result is shown is the encoder's to say.
    pieces = {name: value for name, value in options.items() if name != "emit_tool_results"}
    manner = {name: options[name] for name in ("session_id_extractor", "tool_kind_mapper") if name in options}
    return LineMiddleware(
        pieces, lambda discretion: AguiBoard(transport, own, discretion=discretion, **manner)
    )


def agui_system(
    transport: AguiTransport | None = None, **options: Any
) -> tuple[LineMiddleware, list[BaseCallbackHandler]]:
    """Make the middlewares for ``create_agent(middleware=...)``, and the callbacks for each run's config."""
    line = agui_middleware(transport, **options)
    return line, line.callbacks


def agui_agent(
    model_or_agent: Any,
    tools: Iterable[Any] | None = None,
    *,
    transport: AguiTransport | None = None,
    middleware: Iterable[Any] = (),
    callbacks: Iterable[BaseCallbackHandler] = (),
    **options: Any,
) -> AguiAgent:
    """Make an agent that speaks AG-UI, from a model (as ``create_agent`` does) or around an agent.

    Options are those of ``agui_middleware`` and of ``create_agent``. An agent that exists already is
    followed by callbacks alone: it was built without our middlewares.
    """
    line = agui_middleware(transport, **{name: options.pop(name) for name in _KNOWN if name in options})
    built = assemble("agui_agent", model_or_agent, tools, line, middleware, _KNOWN, options)
    return AguiAgent(built, line, callbacks)


class AguiAgent(StandaloneAgent):
    """An agent that tells an AG-UI client what it does.

    Besides what the agent itself takes, ``ainvoke`` and ``astream`` take a client's request as it came: a
    ``RunAgentInput``, with its ids, its new message, its state and tools, or its answers to an interrupt.
    """

    def __init__(
        self,
        agent: Runnable[Any, Any],
        middleware: LineMiddleware,
        callbacks: Iterable[BaseCallbackHandler] = (),
    ) -> None:
        """Made by ``agui_agent``."""
        super().__init__(agent, middleware, callbacks)
        self._board = cast("AguiBoard", middleware.board)

    def _named(
        self, input: Any, about: TrunklineContext, config: RunnableConfig
    ) -> tuple[TrunklineContext, RunnableConfig]:
        told = input if isinstance(input, wire.RunAgentInput) else None
        run = self._board.name(about, config, told)
        return run, merge_configs(config, {"configurable": {"thread_id": run.place}})

    async def _meet(self, about: TrunklineContext) -> None:
        await self._board.meet(about)

    def _prepare(self, input: Any, channel: LineVoice | None, config: RunnableConfig) -> Any:
        if isinstance(input, wire.RunAgentInput):
            raise ConfigurationError(
                "a client's request is for ainvoke() and astream(), which read its thread"
            )
        if isinstance(channel, AguiVoice) and self._goes_on(input):
            channel.recall(thread_messages(cast("Any", self.agent).get_state(_place(config))))
        return input

    async def _aprepare(self, input: Any, channel: LineVoice | None, config: RunnableConfig) -> Any:
        speaks = channel if isinstance(channel, AguiVoice) else None
        if speaks is not None:
            speaks.watch()
        if isinstance(input, wire.RunAgentInput):
            return await self._take_in(input, speaks, config)
        if speaks is not None and self._goes_on(input):
            speaks.recall(thread_messages(await cast("Any", self.agent).aget_state(_place(config))))
        return input

    def _goes_on(self, input: Any) -> bool:
        return isinstance(input, Command) and is_durable(self.agent)

    async def _take_in(
        self, told: wire.RunAgentInput, channel: AguiVoice | None, config: RunnableConfig
    ) -> Any:
        """Do what a request means before the agent runs; give what it runs with."""
        place = _place(config)["configurable"]["thread_id"]
        try:
            intake = await read_request(
                self.agent, told, place, channel.questions if channel is not None else {}
            )
        except InvalidCommand as error:
            if channel is not None:
                channel.turn_away(error)
            raise
        if intake.payload is None:
            if channel is not None:
                channel.be_too_late()
            return NOTHING
        if channel is not None:
            if intake.asked:
                channel.remind()
            elif is_durable(self.agent):
                channel.catch_up(conversation_of(intake.known))
            channel.recall(intake.known, intake.asked)
            for item, answered in intake.answers:
                channel.say(answered)
                emit_decision(channel.emitter, item, answered)
            if intake.cancels_waiting:
                channel.give_up("the user went on without an answer")
        return intake.payload


def _place(config: RunnableConfig) -> Any:
    """A config for the thread and nothing else."""
    return {"configurable": {"thread_id": config.get("configurable", {})["thread_id"]}}
