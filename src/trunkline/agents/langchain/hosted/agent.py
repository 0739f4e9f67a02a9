"""An agent in somebody's own program that shows its runs to a client by itself.

The middlewares and the callback handler find the channel of their run through ``OwnRuns``; the agent
around them starts the run and ends it, well or not.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Iterable
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, cast

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import Runnable
from langchain_core.runnables.config import RunnableConfig, merge_configs

from trunkline.agents.langchain.channel import Channel, use_channel
from trunkline.agents.langchain.graph.inspect import middleware_in
from trunkline.agents.langchain.hosted.context import TrunklineContext
from trunkline.agents.langchain.hosted.middleware import OwnMiddleware
from trunkline.agents.langchain.middleware.plan import apply_plan_options
from trunkline.agents.langchain.pii import scrubber
from trunkline.session.hosted.frontends import RunInfo

__all__ = ["NOTHING", "OwnAgent"]


class OwnAgent:
    """An agent that shows a client what it does; one object serves any number of clients.

    A run's ``transport``, or its ``context=TrunklineContext(transport=, thread_id=, run_id=)``, says which
    client; otherwise it is the one that the agent was made with. ``invoke`` and ``stream`` ask nobody
    anything from inside an event loop: there it is ``ainvoke`` and ``astream``.
    """

    def __init__(
        self,
        agent: Runnable[Any, Any],
        middleware: OwnMiddleware,
        callbacks: Iterable[BaseCallbackHandler] = (),
    ) -> None:
        """Made by a function that knows the protocol."""
        self.agent = agent
        """The agent itself, for whatever else it can do."""
        self.middleware = middleware
        middleware.runs.scrub = scrubber(middleware_in(agent))
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
        run, merged = self._identify(input, config, transport, context, kwargs)
        await self.middleware.runs.front_end.connect(run.transport, run.thread_id)
        with self._running(run) as channel, _in_channel(channel):
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
        run, merged = self._identify(input, config, transport, context, kwargs)
        with self._running(run) as channel, _in_channel(channel):
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
        run, merged = self._identify(input, config, transport, context, kwargs)
        await self.middleware.runs.front_end.connect(run.transport, run.thread_id)
        with self._running(run) as channel:
            given = await self._aprepare(input, channel, merged)
            if given is NOTHING:
                return
            stream = cast("AsyncGenerator[Any]", self.agent.astream(given, merged, **kwargs))
            try:
                while True:
                    # Step by step: the code that reads the stream is not part of this run.
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
        run, merged = self._identify(input, config, transport, context, kwargs)
        with self._running(run) as channel:
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
        """Close what the agent's middlewares opened."""
        await self.middleware.aclose()

    # -- what a protocol says of a run -------------------------------------------------------------

    def _prepare(self, input: Any, channel: Channel | None, config: RunnableConfig) -> Any:
        """Give what the agent takes."""
        return input

    async def _aprepare(self, input: Any, channel: Channel | None, config: RunnableConfig) -> Any:
        """Give what the agent takes, or NOTHING when there is nothing to run."""
        return self._prepare(input, channel, config)

    def _identify(
        self,
        input: Any,
        config: RunnableConfig | None,
        transport: Any,
        context: Any,
        kwargs: dict[str, Any],
    ) -> tuple[RunInfo, RunnableConfig]:
        """Say which run this is, and give its config."""
        if context is not None:
            kwargs["context"] = context
        given = context if isinstance(context, TrunklineContext) else TrunklineContext()
        if transport is not None:
            given = TrunklineContext(transport=transport, thread_id=given.thread_id, run_id=given.run_id)
        merged = merge_configs(config, {"callbacks": self._callbacks})
        run = self.middleware.runs.identify(given, merged, input)
        if run.graph_thread is not None:
            merged = merge_configs(merged, {"configurable": {"thread_id": run.graph_thread}})
        return run, merged

    @contextmanager
    def _running(self, info: RunInfo) -> Generator[Channel | None]:
        """Start a run, and end it."""
        channel = self.middleware.runs.start(info, ended_by_wrapper=True)
        run = channel.run if channel is not None else None
        if channel is not None:
            apply_plan_options(channel, self.middleware.pieces)
        try:
            yield channel
        except BaseException as error:
            if run is not None:
                run.end(error)
            raise
        if run is not None:
            run.end()


NOTHING: Any = object()
_END: Any = object()


def _in_channel(channel: Channel | None) -> AbstractContextManager[None]:
    return nullcontext() if channel is None else use_channel(channel)
