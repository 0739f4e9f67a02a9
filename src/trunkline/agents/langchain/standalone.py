"""ACP for somebody's own agent, without a server of ours: ``acp_middleware`` and ``acp_agent``.

::

    line = acp_middleware(transport, policy={"write_*": Rule()})
    agent = create_agent(model, tools, middleware=line)
    await agent.ainvoke(prompt, {"callbacks": line.callbacks, "configurable": {"thread_id": session_id}})

    agent = acp_agent(model, tools, transport=transport)          # the same in one object
    await agent.ainvoke(prompt, {"configurable": {"thread_id": session_id}})
    await agent.ainvoke(prompt, transport=another)
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Callable, Generator, Iterable
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, cast

from langchain import agents
from langchain.agents.middleware import AgentMiddleware
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable
from langchain_core.runnables.config import RunnableConfig, merge_configs

from trunkline.agents.langchain.acp import AcpVoice, Transport
from trunkline.agents.langchain.callbacks import TrunklineCallbackHandler
from trunkline.agents.langchain.lookup import TrunklineContext
from trunkline.agents.langchain.middleware.modes import ModeMiddleware
from trunkline.agents.langchain.middleware.permission import PermissionMiddleware
from trunkline.agents.langchain.middleware.plan import PlanMiddleware
from trunkline.agents.langchain.middleware.session import SessionMiddleware
from trunkline.agents.langchain.middleware.tools import ToolMiddleware
from trunkline.agents.langchain.switchboard import Switchboard
from trunkline.agents.langchain.voice import speaking
from trunkline.errors import ConfigurationError

__all__ = ["AcpAgent", "AcpMiddleware", "acp_agent", "acp_middleware"]

# What an option is for: every piece takes those that it knows by name.
_PIECES: tuple[Callable[..., Any], ...] = (
    SessionMiddleware,
    ToolMiddleware,
    PermissionMiddleware,
    ModeMiddleware,
    PlanMiddleware,
    TrunklineCallbackHandler,
    Switchboard,
)
_OURS = frozenset({"transport", "discretion"})


class AcpMiddleware(list[AgentMiddleware[Any, Any, Any]]):
    """The middlewares of an agent that speaks ACP, in their order; ``callbacks`` go into its config."""

    def __init__(self, transport: Transport | None, options: dict[str, Any]) -> None:
        """Made by ``acp_middleware``."""
        _check(options)
        tools = ToolMiddleware(**_share(options, ToolMiddleware))
        self.switchboard = Switchboard(transport, discretion=tools.discretion, **_share(options, Switchboard))
        self.session = SessionMiddleware(**_share(options, SessionMiddleware))
        chosen: list[AgentMiddleware[Any, Any, Any]] = [self.session, tools]
        if options.get("policy") is not None:
            chosen.append(PermissionMiddleware(**_share(options, PermissionMiddleware)))
        if options.get("modes") is not None or options.get("default_mode") is not None:
            chosen.append(ModeMiddleware(**_share(options, ModeMiddleware)))
        chosen.append(PlanMiddleware(**_share(options, PlanMiddleware)))
        super().__init__(chosen)
        handler = TrunklineCallbackHandler(**_share(options, TrunklineCallbackHandler))
        self.callbacks: list[BaseCallbackHandler] = [handler]
        for piece in cast("list[Any]", [*chosen, handler]):
            piece.exchange = self.switchboard

    async def aclose(self) -> None:
        """End what the middlewares opened."""
        await self.session.aclose()


def acp_middleware(transport: Transport | None = None, **options: Any) -> AcpMiddleware:
    """Make the middlewares and callbacks with which an agent speaks ACP through a transport.

    Options are those of SessionMiddleware, ToolMiddleware, PermissionMiddleware (with ``policy``),
    ModeMiddleware (with ``modes``), PlanMiddleware and TrunklineCallbackHandler, by name; besides,
    ``client_capabilities`` are what the client said it can do. Everything is on by default. Without a
    transport each run brings its own: ``context=TrunklineContext(transport=...)``.
    """
    return AcpMiddleware(transport, options)


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
    ours = {name: options.pop(name) for name in list(options) if name in _KNOWN}
    line = acp_middleware(transport, **ours)
    if isinstance(model_or_agent, Runnable) and not isinstance(model_or_agent, BaseChatModel):
        extra = [*options, *(["tools"] if tools else []), *(["middleware"] if middleware else [])]
        if extra:
            raise ConfigurationError(
                f"this agent is built already, so {', '.join(extra)} cannot be added: "
                "give acp_agent the model instead, or give them to create_agent"
            )
        built = cast("Runnable[Any, Any]", model_or_agent)
    else:
        build = cast("Callable[..., Runnable[Any, Any]]", cast("Any", agents).create_agent)
        built = build(model_or_agent, list(tools or ()), middleware=[*line, *middleware], **options)
    return AcpAgent(built, line, callbacks)


class AcpAgent:
    """An agent that tells an ACP client what it does; one object serves any number of clients.

    A run's ``transport``, or its ``context=TrunklineContext(transport=, thread_id=, run_id=)``, says which
    client; otherwise it is the one that ``acp_agent`` was given. ``invoke`` and ``stream`` ask nobody
    anything from inside an event loop: there it is ``ainvoke`` and ``astream``.
    """

    def __init__(
        self,
        agent: Runnable[Any, Any],
        middleware: AcpMiddleware,
        callbacks: Iterable[BaseCallbackHandler] = (),
    ) -> None:
        """Made by ``acp_agent``."""
        self.agent = agent
        """The agent itself, for whatever else it can do."""
        self.middleware = middleware
        self._callbacks = [*callbacks, *middleware.callbacks]

    async def ainvoke(
        self,
        input: Any,
        config: RunnableConfig | None = None,
        *,
        transport: Transport | None = None,
        context: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Run the agent and give its result."""
        with self._running(config, transport, context, kwargs) as (voice, merged), _in_voice(voice):
            return await self.agent.ainvoke(input, merged, **kwargs)

    def invoke(
        self,
        input: Any,
        config: RunnableConfig | None = None,
        *,
        transport: Transport | None = None,
        context: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Run the agent in this thread and give its result."""
        with self._running(config, transport, context, kwargs) as (voice, merged), _in_voice(voice):
            return self.agent.invoke(input, merged, **kwargs)

    async def astream(
        self,
        input: Any,
        config: RunnableConfig | None = None,
        *,
        transport: Transport | None = None,
        context: Any = None,
        **kwargs: Any,
    ) -> AsyncGenerator[Any]:
        """Run the agent and give what it streams."""
        with self._running(config, transport, context, kwargs) as (voice, merged):
            stream = cast("AsyncGenerator[Any]", self.agent.astream(input, merged, **kwargs))
            try:
                while True:
                    # Step by step: whoever reads the stream must not find himself in this voice.
                    with _in_voice(voice):
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
        transport: Transport | None = None,
        context: Any = None,
        **kwargs: Any,
    ) -> Generator[Any]:
        """Run the agent in this thread and give what it streams."""
        with self._running(config, transport, context, kwargs) as (voice, merged):
            stream = cast("Generator[Any]", self.agent.stream(input, merged, **kwargs))
            try:
                while True:
                    with _in_voice(voice):
                        item = next(stream, _END)
                    if item is _END:
                        return
                    yield item
            finally:
                stream.close()

    async def aclose(self) -> None:
        """End what the agent's middlewares opened."""
        await self.middleware.aclose()

    @contextmanager
    def _running(
        self,
        config: RunnableConfig | None,
        transport: Transport | None,
        context: Any,
        kwargs: dict[str, Any],
    ) -> Generator[tuple[AcpVoice | None, RunnableConfig]]:
        """Open a voice for one run, and end it with the run."""
        if context is not None:
            kwargs["context"] = context
        about = context if isinstance(context, TrunklineContext) else TrunklineContext()
        if transport is not None:
            about = TrunklineContext(transport=transport, thread_id=about.thread_id, run_id=about.run_id)
        merged = merge_configs(config, {"callbacks": self._callbacks})
        if about.thread_id is not None:
            merged = merge_configs(merged, {"configurable": {"thread_id": about.thread_id}})
        voice = self.middleware.switchboard.open(about, merged, kept=True)
        try:
            yield voice, merged
        except BaseException as error:
            if voice is not None:
                voice.end(error)
            raise
        if voice is not None:
            voice.end()


_END: Any = object()


def _in_voice(voice: AcpVoice | None) -> AbstractContextManager[None]:
    return nullcontext() if voice is None else speaking(voice)


def _names(piece: Callable[..., Any]) -> list[str]:
    return [name for name in inspect.signature(piece).parameters if name not in _OURS]


_KNOWN = sorted({name for piece in _PIECES for name in _names(piece)})


def _check(options: dict[str, Any]) -> None:
    for name in options:
        if name not in _KNOWN:
            raise ConfigurationError(f"there is no option {name!r}; the options are {', '.join(_KNOWN)}")


def _share(options: dict[str, Any], piece: Callable[..., Any]) -> dict[str, Any]:
    """Those of the options that a piece knows."""
    return {name: options[name] for name in _names(piece) if name in options}
