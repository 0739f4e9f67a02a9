"""Somebody's own agent, without a server of ours: in ACP, and what every protocol needs for it.

::

    line = acp_middleware(transport, policy={"write_*": Rule()})
    agent = create_agent(model, tools, middleware=line)
    await agent.ainvoke(prompt, {"callbacks": line.callbacks, "configurable": {"thread_id": session_id}})

    agent = acp_agent(model, tools, transport=transport)          # the same in one object
    await agent.ainvoke(prompt, {"configurable": {"thread_id": session_id}})
    await agent.ainvoke(prompt, transport=another)

The middlewares and the callback handler find the channel of their run through a board; the agent around
them opens it before the run and ends it with the run, well or not.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Generator, Iterable
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, cast

from langchain import agents
from langchain.agents.middleware import AgentMiddleware
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable
from langchain_core.runnables.config import RunnableConfig, merge_configs

from trunkline.agents.langchain.callbacks.own_run_handler import TrunklineCallbackHandler
from trunkline.agents.langchain.channel import use_channel
from trunkline.agents.langchain.channel_lookup import TrunklineContext
from trunkline.agents.langchain.graph.inspect import middleware_in
from trunkline.agents.langchain.middleware._combined import CombinedMiddleware
from trunkline.agents.langchain.middleware.modes import ModeMiddleware
from trunkline.agents.langchain.middleware.permission import PermissionMiddleware
from trunkline.agents.langchain.middleware.plan import PlanMiddleware, heed
from trunkline.agents.langchain.middleware.session import SessionMiddleware
from trunkline.agents.langchain.middleware.tools import ToolMiddleware
from trunkline.agents.langchain.own_program.acp import Transport
from trunkline.agents.langchain.own_program.run import LineVoice
from trunkline.agents.langchain.own_program.runs import Board, Switchboard
from trunkline.agents.langchain.pii import scrubber
from trunkline.errors import ConfigurationError

__all__ = [
    "NOTHING",
    "PIECES",
    "AcpAgent",
    "LineMiddleware",
    "StandaloneAgent",
    "acp_agent",
    "acp_middleware",
    "assemble",
    "check_names",
    "names_of",
    "share",
]

# What an option is for: every piece takes those that it knows by name.
PIECES: tuple[Callable[..., Any], ...] = (
    SessionMiddleware,
    ToolMiddleware,
    PermissionMiddleware,
    ModeMiddleware,
    PlanMiddleware,
    TrunklineCallbackHandler,
)
_OURS = frozenset({"transport", "discretion"})


class _LineSession(SessionMiddleware):
    """Says answers and the end of a run, whatever it shows of the state."""

    relays = True


class LineMiddleware(list[AgentMiddleware[Any, Any, Any]]):
    """The middleware of an agent that speaks by itself; its ``callbacks`` go into the config of each run.

    It is one made of several, its ``pieces``.
    """

    def __init__(self, options: dict[str, Any], make_board: Callable[[Any], Board]) -> None:
        """Make the pieces with their options; ``make_board`` gets what is left out of all that is said."""
        tools = ToolMiddleware(**share(options, ToolMiddleware))
        self.board = make_board(tools.discretion)
        self.session = _LineSession(**share(options, SessionMiddleware))
        pieces: list[AgentMiddleware[Any, Any, Any]] = [self.session, tools]
        if options.get("policy") is not None:
            pieces.append(PermissionMiddleware(**share(options, PermissionMiddleware)))
        if options.get("modes") is not None or options.get("default_mode") is not None:
            pieces.append(ModeMiddleware(**share(options, ModeMiddleware)))
        pieces.append(PlanMiddleware(**share(options, PlanMiddleware)))
        self.pieces = tuple(pieces)
        ensemble = CombinedMiddleware(pieces)
        super().__init__([ensemble])
        handler = TrunklineCallbackHandler(**share(options, TrunklineCallbackHandler))
        self.callbacks: list[BaseCallbackHandler] = [handler]
        for piece in cast("list[Any]", [ensemble, *pieces, handler]):
            piece.channel_source = self.board

    async def aclose(self) -> None:
        """End what the middlewares opened."""
        await self.session.aclose()


class StandaloneAgent(ABC):
    """An agent that tells a client what it does; one object serves any number of clients.

    A run's ``transport``, or its ``context=TrunklineContext(transport=, thread_id=, run_id=)``, says which
    client; otherwise it is the one that the agent was made with. ``invoke`` and ``stream`` ask nobody
    anything from inside an event loop: there it is ``ainvoke`` and ``astream``.
    """

    def __init__(
        self,
        agent: Runnable[Any, Any],
        middleware: LineMiddleware,
        callbacks: Iterable[BaseCallbackHandler] = (),
    ) -> None:
        """Made by a function that knows the protocol."""
        self.agent = agent
        """The agent itself, for whatever else it can do."""
        self.middleware = middleware
        middleware.board.scrub = scrubber(middleware_in(agent))
        self._callbacks = [*callbacks, *middleware.callbacks]

    async def ainvoke(
        self,
        input: Any,
        config: RunnableConfig | None = None,
        *,
        transport: Any = None,
        context: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Run the agent and give its result."""
        about, merged = self._about(input, config, transport, context, kwargs)
        await self._meet(about)
        with self._running(about, merged) as channel, _in_channel(channel):
            given = await self._aprepare(input, channel, merged)
            return None if given is NOTHING else await self.agent.ainvoke(given, merged, **kwargs)

    def invoke(
        self,
        input: Any,
        config: RunnableConfig | None = None,
        *,
        transport: Any = None,
        context: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Run the agent in this thread and give its result."""
        about, merged = self._about(input, config, transport, context, kwargs)
        with self._running(about, merged) as channel, _in_channel(channel):
            return self.agent.invoke(self._prepare(input, channel, merged), merged, **kwargs)

    async def astream(
        self,
        input: Any,
        config: RunnableConfig | None = None,
        *,
        transport: Any = None,
        context: Any = None,
        **kwargs: Any,
    ) -> AsyncGenerator[Any]:
        """Run the agent and give what it streams."""
        about, merged = self._about(input, config, transport, context, kwargs)
        await self._meet(about)
        with self._running(about, merged) as channel:
            given = await self._aprepare(input, channel, merged)
            if given is NOTHING:
                return
            stream = cast("AsyncGenerator[Any]", self.agent.astream(given, merged, **kwargs))
            try:
                while True:
                    # Step by step: whoever reads the stream must not find himself in this channel.
                    with _in_channel(channel):
                        item = await anext(stream, _END)
                    if item is _END:
                        return
                    yield item
            finally:
                await stream.aclose()

    def stream(
        self,
        input: Any,
        config: RunnableConfig | None = None,
        *,
        transport: Any = None,
        context: Any = None,
        **kwargs: Any,
    ) -> Generator[Any]:
        """Run the agent in this thread and give what it streams."""
        about, merged = self._about(input, config, transport, context, kwargs)
        with self._running(about, merged) as channel:
            given = self._prepare(input, channel, merged)
            stream = cast("Generator[Any]", self.agent.stream(given, merged, **kwargs))
            try:
                while True:
                    with _in_channel(channel):
                        item = next(stream, _END)
                    if item is _END:
                        return
                    yield item
            finally:
                stream.close()

    async def aclose(self) -> None:
        """End what the agent's middlewares opened."""
        await self.middleware.aclose()

    # -- what a protocol says of a run -------------------------------------------------------------

    @abstractmethod
    def _named(
        self, input: Any, about: TrunklineContext, config: RunnableConfig
    ) -> tuple[TrunklineContext, RunnableConfig]:
        """Say which thread a run belongs to, in its config too."""

    async def _meet(self, about: TrunklineContext) -> None:
        """See that the client is there."""
        return

    def _prepare(self, input: Any, channel: LineVoice | None, config: RunnableConfig) -> Any:
        """Give what the agent takes."""
        return input

    async def _aprepare(self, input: Any, channel: LineVoice | None, config: RunnableConfig) -> Any:
        """Give what the agent takes, or NOTHING when there is nothing to run."""
        return self._prepare(input, channel, config)

    def _about(
        self,
        input: Any,
        config: RunnableConfig | None,
        transport: Any,
        context: Any,
        kwargs: dict[str, Any],
    ) -> tuple[TrunklineContext, RunnableConfig]:
        """Put together whom a run talks to, and its config."""
        if context is not None:
            kwargs["context"] = context
        about = context if isinstance(context, TrunklineContext) else TrunklineContext()
        if transport is not None:
            about = TrunklineContext(transport=transport, thread_id=about.thread_id, run_id=about.run_id)
        return self._named(input, about, merge_configs(config, {"callbacks": self._callbacks}))

    @contextmanager
    def _running(self, about: TrunklineContext, config: RunnableConfig) -> Generator[LineVoice | None]:
        """Open a channel for one run, and end it with the run."""
        channel = self.middleware.board.open(about, config, kept=True)
        if channel is not None:
            heed(channel, self.middleware.pieces)
        try:
            yield channel
        except BaseException as error:
            if channel is not None:
                channel.end(error)
            raise
        if channel is not None:
            channel.end()


NOTHING: Any = object()
_END: Any = object()


def _in_channel(channel: LineVoice | None) -> AbstractContextManager[None]:
    return nullcontext() if channel is None else use_channel(channel)


# -- putting an agent together ---------------------------------------------------------------------


def assemble(
    name: str,
    model_or_agent: Any,
    tools: Iterable[Any] | None,
    line: LineMiddleware,
    middleware: Iterable[Any],
    known: Iterable[str],
    options: dict[str, Any],
) -> Runnable[Any, Any]:
    """Make an agent of a model with these middlewares, or take one that is built already as it is.

    ``known`` are the options that were taken out of these already.
    """
    if isinstance(model_or_agent, Runnable) and not isinstance(model_or_agent, BaseChatModel):
        extra = [*options, *(["tools"] if tools else []), *(["middleware"] if middleware else [])]
        if extra:
            raise ConfigurationError(
                f"this agent is built already, so {', '.join(extra)} cannot be added: "
                f"give {name} the model instead, or give them to create_agent"
            )
        return cast("Runnable[Any, Any]", model_or_agent)
    build = cast("Callable[..., Runnable[Any, Any]]", cast("Any", agents).create_agent)
    check_names(options, [*known, *inspect.signature(build).parameters])
    return build(model_or_agent, list(tools or ()), middleware=[*line, *middleware], **options)


def names_of(*pieces: Callable[..., Any]) -> list[str]:
    """The names of the options that these pieces know."""
    return sorted({name for piece in pieces for name in inspect.signature(piece).parameters} - _OURS)


def check_names(options: dict[str, Any], known: Iterable[str]) -> None:
    """Refuse an option that nobody knows."""
    for name in options:
        if name not in known:
            raise ConfigurationError(f"there is no option {name!r}; the options are {', '.join(known)}")


def share(options: dict[str, Any], piece: Callable[..., Any]) -> dict[str, Any]:
    """Those of the options that a piece knows."""
    return {name: options[name] for name in names_of(piece) if name in options}


# -- ACP -------------------------------------------------------------------------------------------

_KNOWN = names_of(*PIECES, Switchboard)


def acp_middleware(transport: Transport | None = None, **options: Any) -> LineMiddleware:
    """Make the middlewares and callbacks with which an agent speaks ACP through a transport.

    Options are those of SessionMiddleware, ToolMiddleware, PermissionMiddleware (with ``policy``),
    ModeMiddleware (with ``modes``), PlanMiddleware and TrunklineCallbackHandler, by name; besides,
    ``client_capabilities`` are what the client said it can do. Everything is on by default. Without a
    transport each run brings its own: ``context=TrunklineContext(transport=...)``.
    """
    check_names(options, _KNOWN)
    own = share(options, Switchboard)
    return LineMiddleware(options, lambda discretion: Switchboard(transport, discretion=discretion, **own))


def acp_agent(
    model_or_agent: Any,
    tools: Iterable[Any] | None = None,
    *,
    transport: Transport | None = None,
    middleware: Iterable[Any] = (),
    callbacks: Iterable[BaseCallbackHandler] = (),
    **options: Any,
) -> AcpAgent:
    """Make an agent that speaks ACP, from a model (as ``create_agent`` does) or around an agent.

    Options are those of ``acp_middleware`` and of ``create_agent``. An agent that exists already is
    followed by callbacks alone: it was built without our middlewares, and takes only their options.
    """
    line = acp_middleware(transport, **{name: options.pop(name) for name in _KNOWN if name in options})
    built = assemble("acp_agent", model_or_agent, tools, line, middleware, _KNOWN, options)
    return AcpAgent(built, line, callbacks)


class AcpAgent(StandaloneAgent):
    """An agent that tells an ACP client what it does."""

    def _named(
        self, input: Any, about: TrunklineContext, config: RunnableConfig
    ) -> tuple[TrunklineContext, RunnableConfig]:
        if about.thread_id is not None:
            config = merge_configs(config, {"configurable": {"thread_id": about.thread_id}})
        return about, config
