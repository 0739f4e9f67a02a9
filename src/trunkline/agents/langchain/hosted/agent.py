"""An agent in somebody's own program that shows its runs to a client by itself.

The middlewares and the callback handler find the channel of their run through ``OwnRuns``; the agent
around them starts the run and ends it, well or not.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext
from typing import Any, cast

from langchain import agents
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable
from langchain_core.runnables.config import RunnableConfig, merge_configs
from langgraph.graph import StateGraph
from langgraph.pregel import Pregel

from trunkline.agents.langchain.channel import Channel, current_channel, use_channel
from trunkline.agents.langchain.graph.checkpointers import in_threads
from trunkline.agents.langchain.graph.inspect import middleware_in
from trunkline.agents.langchain.graph.repair import repair
from trunkline.agents.langchain.graph.shared_state import SharedStateUpdates
from trunkline.agents.langchain.graph.threads import is_durable
from trunkline.agents.langchain.hosted.context import TrunklineContext, read_context
from trunkline.agents.langchain.hosted.graph_stream import graph_in, stream_keys
from trunkline.agents.langchain.hosted.middleware import OwnMiddleware, check_names, known_options
from trunkline.agents.langchain.hosted.run import OwnRun
from trunkline.agents.langchain.middleware.mode import ModeMiddleware
from trunkline.agents.langchain.middleware.plan import apply_plan_options
from trunkline.agents.langchain.pii import scrubber
from trunkline.agents.langchain.stop_reasons import map_to_stop_reason
from trunkline.errors import ConfigurationError
from trunkline.session.hosted.frontends import RunInfo
from trunkline.transports.event_loops import background_loop, wait_in_thread

log = logging.getLogger("trunkline.langchain")

_REPAIR_WITHIN = 5.0  # seconds


class OwnAgent(Runnable[Any, Any]):
    """An agent that shows a client what it does; one object serves any number of clients.

    A run's ``transport``, or its ``context=TrunklineContext(transport=, thread_id=, run_id=)``, says which
    client; otherwise it is the one that the agent was made with. ``invoke`` and ``stream`` ask nobody
    anything from inside an event loop: there it is ``ainvoke`` and ``astream``.

    Whatever else runs a Runnable (``batch``, ``astream_events``, ``with_config``, ...) shows its runs too.
    All other names, as ``get_state``, are those of the agent.
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
        self.name = getattr(agent, "name", None)
        self.middleware = middleware
        self.callbacks = list(callbacks)
        """The callbacks of the caller's own."""
        inside = middleware_in(agent)
        middleware.runs.scrub = scrubber(inside)
        self._has_warned = False
        self._graph = graph_in(agent)
        self._shows_state = middleware.session not in inside
        """Whether the agent was built by the caller, without a middleware of ours that shows its state."""
        self._callbacks = [*self.callbacks, *middleware.callbacks]

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
        input, run, merged = self._identify(input, config, transport, context, kwargs)
        async with self._arunning(run, merged) as channel:
            with _in_channel(channel):
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
        input, run, merged = self._identify(input, config, transport, context, kwargs)
        with self._running(run, merged) as channel, _in_channel(channel):
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
        input, run, merged = self._identify(input, config, transport, context, kwargs)
        closed = asyncio.Event()
        try:
            async with self._arunning(run, merged) as channel:
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
                except GeneratorExit:
                    if channel is not None and channel.run is not None:
                        channel.run.turn.session.closing = closed
                    raise
                finally:
                    await stream.aclose()
        finally:
            closed.set()

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
        input, run, merged = self._identify(input, config, transport, context, kwargs)
        with self._running(run, merged) as channel:
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

    def set_mode(self, thread_id: str, mode: str) -> None:
        """Choose the mode of a thread, from its next model call on; its client is told then."""
        self._modes().set_mode(thread_id, mode)

    def _modes(self) -> ModeMiddleware:
        found = (*self.middleware.pieces, *middleware_in(self.agent))
        modes = next((one for one in found if isinstance(one, ModeMiddleware)), None)
        if modes is None:
            raise ConfigurationError(
                "this agent has no modes: make it with modes=..., or with a ModeMiddleware"
            )
        return modes

    # -- what the agent itself says ----------------------------------------------------------------

    def __repr__(self) -> str:
        """Name the agent."""
        return f"{type(self).__name__}({self.name or type(self.agent).__name__})"

    def __dir__(self) -> list[str]:
        """List the names of the agent, too."""
        return sorted({*super().__dir__(), *dir(self.agent)})

    def __getattr__(self, name: str) -> Any:
        """Give whatever else the agent has."""
        if name.startswith("__") or "agent" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.agent, name)

    @property
    def InputType(self) -> Any:
        """What the agent takes."""
        return self.agent.InputType

    @property
    def OutputType(self) -> Any:
        """What the agent gives."""
        return self.agent.OutputType

    def get_input_schema(self, config: RunnableConfig | None = None) -> Any:
        """Describe what the agent takes."""
        return self.agent.get_input_schema(config)

    def get_output_schema(self, config: RunnableConfig | None = None) -> Any:
        """Describe what the agent gives."""
        return self.agent.get_output_schema(config)

    def get_input_jsonschema(self, config: RunnableConfig | None = None, **kwargs: Any) -> dict[str, Any]:
        """Describe what the agent takes, in JSON Schema."""
        return self.agent.get_input_jsonschema(config, **kwargs)

    def get_output_jsonschema(self, config: RunnableConfig | None = None, **kwargs: Any) -> dict[str, Any]:
        """Describe what the agent gives, in JSON Schema."""
        return self.agent.get_output_jsonschema(config, **kwargs)

    def get_graph(self, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Give the agent as a graph to draw."""
        return self.agent.get_graph(config, **kwargs)

    # -- what a protocol says of a run -------------------------------------------------------------

    def _prepare(self, input: Any, channel: Channel | None, config: RunnableConfig) -> Any:
        """Give what the agent takes."""
        return input

    async def _aprepare(self, input: Any, channel: Channel | None, config: RunnableConfig) -> Any:
        """Give what the agent takes, or NOTHING when there is nothing to run."""
        return self._prepare(input, channel, config)

    def _identify(
        self, input: Any, config: RunnableConfig | None, transport: Any, context: Any, kwargs: dict[str, Any]
    ) -> tuple[Any, RunInfo, RunnableConfig]:
        """Give the input as the front end reads it, say which run this is, and give its config."""
        if isinstance(self.agent, Pregel) and (unknown := kwargs.keys() - _RUN_ARGUMENTS):
            # LangGraph ignores what it does not know.
            raise ConfigurationError(
                f"a run takes no {', '.join(sorted(unknown))}: an id is given as "
                'agent.ainvoke(input, {"configurable": {"thread_id": "t1"}})'
            )
        input = self.middleware.runs.front_end.read_request(input)
        if context is not None:
            kwargs["context"] = context
        given = read_context(context) or TrunklineContext()
        if transport is not None:
            given = TrunklineContext(thread_id=given.thread_id, run_id=given.run_id)
            given.transport = transport  # The front end checks it, and knows better what it lacks.
        merged = merge_configs(config, {"callbacks": self._callbacks})
        run = self.middleware.runs.identify(given, merged, input)
        if run.graph_thread is not None:
            merged = merge_configs(merged, {"configurable": {"thread_id": run.graph_thread}})
        return input, run, merged

    @contextmanager
    def _running(
        self, info: RunInfo, config: RunnableConfig, *, repairs: bool = True
    ) -> Generator[Channel | None]:
        """Start a run, and end it; its config is completed, and its thread is repaired after a cancel.

        Inside a run on the same transport none is started: what the agent does is shown as part of that one.
        """
        outer = current_channel()
        if outer is not None and outer.is_on(info.transport):
            yield None
            return
        channel = self.middleware.runs.start(info, ended_by_wrapper=True)
        run = channel.run if channel is not None else None
        state: SharedStateUpdates | None = None
        if channel is not None:
            pieces = self.middleware.pieces
            apply_plan_options(channel, pieces)
            state = SharedStateUpdates(channel, self._graph, pieces) if self._shows_state else None
            config.setdefault("configurable", {}).update(stream_keys(self._graph, channel, state))
        try:
            yield channel
        except BaseException as error:
            if run is not None:
                if repairs and self._needs_repair(run, config, error):
                    wait_in_thread(self._repair(run, config), background_loop())
                run.end(error)
            raise
        if state is not None:
            state.finish()
        if run is not None:
            run.end()
            if run.is_interrupted and not (self._has_warned or is_durable(self.agent)):
                self._has_warned = True
                log.warning(
                    "the agent waits for an answer, and cannot be resumed with one: give it a checkpointer, "
                    "as create_agent(..., checkpointer=InMemorySaver())"
                )

    @asynccontextmanager
    async def _arunning(self, info: RunInfo, config: RunnableConfig) -> AsyncGenerator[Channel | None]:
        """Connect the client, start a run, and end it; after a cancel its thread is repaired."""
        await self.middleware.runs.front_end.connect(info.transport, info.thread_id)
        await self.middleware.runs.wait_for_abandoned(info)
        with self._running(info, config, repairs=False) as channel:
            try:
                yield channel
            except BaseException as error:
                run = channel.run if channel is not None else None
                if run is not None and self._needs_repair(run, config, error):
                    await asyncio.shield(asyncio.ensure_future(self._repair(run, config)))
                raise

    def _needs_repair(self, run: OwnRun, config: RunnableConfig, error: BaseException) -> bool:
        """Whether a run was cancelled on a thread; one that failed is left as it is, to be tried again."""
        on_thread = is_durable(self.agent) and "thread_id" in config.get("configurable", {})
        return on_thread and map_to_stop_reason(error) == "cancelled" and run.is_over(error)

    async def _repair(self, run: OwnRun, config: RunnableConfig) -> None:
        """Answer the calls that a cancelled run left open: providers refuse a history that has some."""
        saver = in_threads(cast("Any", self.agent).checkpointer)
        graph = cast("Any", self.agent).copy({"checkpointer": saver})
        try:
            async with asyncio.timeout(_REPAIR_WITHIN):
                await repair(graph, config.get("configurable", {})["thread_id"], run.turn.turn_so_far)
        except Exception:
            log.exception("the thread of a cancelled run could not be repaired")


_RUN_ARGUMENTS = inspect.signature(cast("Any", Pregel).stream).parameters.keys()
NOTHING: Any = object()
_END: Any = object()


def _in_channel(channel: Channel | None) -> AbstractContextManager[None]:
    return nullcontext() if channel is None else use_channel(channel)


def build_agent(
    front_end: str,
    model_or_agent: Any,
    tools: Iterable[Any] | None,
    transport: Any,
    middleware: Iterable[Any],
    options: Mapping[str, Any],
) -> tuple[Runnable[Any, Any], OwnMiddleware]:
    """Make an agent of a model with our middlewares, or take one that is built already as it is."""
    known = known_options(front_end)
    own = OwnMiddleware(front_end, transport, {name: options[name] for name in known if name in options})
    rest = {name: value for name, value in options.items() if name not in known}
    build = cast("Callable[..., Runnable[Any, Any]]", cast("Any", agents).create_agent)
    check_names(front_end, rest, [*known, *inspect.signature(build).parameters])
    function = f"{front_end}_agent"
    middleware = list(middleware)
    if any(isinstance(one, OwnMiddleware) and one.name == own.name for one in middleware):
        raise ConfigurationError(
            f"{function} brings {front_end}_middleware itself: give its options, and its transport, to it"
        )
    if isinstance(model_or_agent, OwnAgent):
        raise ConfigurationError(f"this agent shows its runs already: give {function} its .agent instead")
    if isinstance(model_or_agent, StateGraph):
        raise ConfigurationError(
            f"this StateGraph is not compiled: give {function} the result of its compile()"
        )
    if isinstance(model_or_agent, Runnable) and not isinstance(model_or_agent, BaseChatModel):
        _check_built(
            function, own, [*rest, *(["tools"] if tools else []), *(["middleware"] if middleware else [])]
        )
        return cast("Runnable[Any, Any]", model_or_agent), own
    if not isinstance(model_or_agent, str | BaseChatModel):
        raise ConfigurationError(
            f"{function} takes a chat model, the name of one as in 'openai:gpt-5.5', or an agent, "
            f"not an object of type {type(model_or_agent).__name__}"
        )
    return build(model_or_agent, list(tools or ()), middleware=[own, *middleware], **rest), own


def _check_built(function: str, own: OwnMiddleware, added: list[str]) -> None:
    """Refuse what would have to be inside an agent that is built already."""
    if added:
        raise ConfigurationError(
            f"this agent is built already, so {', '.join(added)} cannot be added: "
            f"give {function} the model instead, or give them to create_agent"
        )
    if own.middleware_options:
        # Without the middleware a policy would be ignored, and every tool would run unasked.
        raise ConfigurationError(
            f"this agent is built already, so {', '.join(own.middleware_options)} cannot be carried out: "
            f"give {function} the model instead, or put {function.replace('_agent', '_middleware')}(...) "
            "with these options into create_agent"
        )
