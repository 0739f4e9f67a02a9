"""The callback handler: tokens as they come, in anybody's ``invoke`` and ``ainvoke``.

One handler object serves any number of runs at once. It is a plain handler that runs inline, so there is
no loop to start and no task to wait for, whichever way the agent is called. It never raises into the
agent, whatever the voice does.
"""

from __future__ import annotations

import copy
import logging
from abc import ABCMeta
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, cast
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tracers._streaming import (
    _StreamingCallbackHandler,  # pyright: ignore[reportPrivateUsage]
)
from langgraph.errors import GraphInterrupt
from langgraph.runtime import get_runtime

from trunkline import events as ev
from trunkline.agents.langchain.acp import Transport
from trunkline.agents.langchain.content import ContentBlockMapper
from trunkline.agents.langchain.emitter import Emitter
from trunkline.agents.langchain.handler import GraphHandler
from trunkline.agents.langchain.lookup import Exchange, voice_of
from trunkline.agents.langchain.speaker import LineVoice
from trunkline.agents.langchain.switchboard import Board, Switchboard
from trunkline.agents.langchain.voice import TurnVoice, Voice, current_voice

__all__ = ["TrunklineCallbackHandler", "is_followed"]

log = logging.getLogger("trunkline.langchain")

_MOST_RUNS = 65_536


class TrunklineCallbackHandler(BaseCallbackHandler, _StreamingCallbackHandler[Any]):
    """Says what models and tools do, token by token, also inside subagents.

    Being a streaming handler makes every model stream, also under ``ainvoke``. Inside a session of ours
    it has nothing to do: the session follows its agent by itself.
    """

    run_inline = True
    raise_error = False

    def __init__(
        self,
        *,
        emit_text_chunks: bool = True,
        emit_reasoning_chunks: bool = True,
        content_block_mapper: ContentBlockMapper | None = None,
        transport: Transport | None = None,
    ) -> None:
        """Speak through the run's own voice, or else through a transport."""
        super().__init__()
        self.emit_text_chunks = emit_text_chunks
        self.emit_reasoning_chunks = emit_reasoning_chunks
        self.content_block_mapper = content_block_mapper
        self.exchange: Exchange | None = None if transport is None else Switchboard(transport)
        self._routes: dict[UUID, _Route] = {}
        self._disposed = False
        self._failed = False

    def dispose(self) -> None:
        """Say nothing any more and let go of everything; idempotent."""
        self._disposed = True
        routes, self._routes = self._routes, {}
        for route in set(routes.values()):
            route.end(None)

    def follows(self, voice: Voice) -> bool:
        """Whether this handler says the tokens and calls of a voice's run."""
        return any(route.voice is voice for route in list(self._routes.values()))

    def lane_of(self, run_id: UUID | None, name: str | None = None) -> str | None:
        """The lane of a run: that of the subagent it is part of."""
        route = self._routes.get(run_id) if run_id is not None else None
        if route is None or route.handler is None:
            return None
        return route.handler.lane_of(run_id, name)

    def tap_output_aiter(self, run_id: UUID, output: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Leave streams as they are."""
        return output

    def tap_output_iter(self, run_id: UUID, output: Iterator[Any]) -> Iterator[Any]:
        """Leave streams as they are."""
        return output

    # -- whose run it is ---------------------------------------------------------------------------

    def _enter(self, run_id: UUID, parent_run_id: UUID | None) -> _Route | None:
        """Remember a run; one whose parent nobody knows is the top of its own route."""
        if self._disposed:
            return None
        route = self._routes.get(parent_run_id) if parent_run_id is not None else None
        if route is None:
            route = _Route(run_id)
        self._routes[run_id] = route
        if len(self._routes) > _MOST_RUNS:
            del self._routes[next(iter(self._routes))]
        return route

    def _connect(self, route: _Route | None, metadata: dict[str, Any] | None = None) -> GraphHandler | None:
        """Find whom a route talks to when its first model or tool starts: only there the run is known."""
        if route is None or route.connected:
            return route.handler if route is not None else None
        route.connected = True
        voice = self._voice(metadata)
        if voice is None or isinstance(voice, TurnVoice):
            return None  # Nobody listens, or a session that follows its agent by itself.
        if isinstance(voice, LineVoice) and not voice.claim(self):
            return None  # Another handler speaks already.
        route.voice = voice
        route.emitter = self._view(voice.emitter)
        on_usage = voice.count if isinstance(voice, LineVoice) else None
        route.handler = GraphHandler(route.emitter, on_usage=on_usage)
        return route.handler

    def _join(self, route: _Route) -> None:
        """Connect a route on which no model and no tool ran, where somebody waits to hear of it."""
        if current_voice() is not None:
            self._connect(route)

    def _voice(self, metadata: dict[str, Any] | None) -> Voice | None:
        try:
            runtime = get_runtime()
        except (RuntimeError, KeyError):
            # No graph, but a model, or a chain around one.
            if current_voice() is None and isinstance(self.exchange, Board):
                return self.exchange.open(None, {"configurable": metadata or {}})
            return current_voice()
        return voice_of(runtime, self)

    def _view(self, emitter: Emitter) -> Emitter:
        """An emitter that shares what was said, with this handler's own switches and mapper."""
        view = copy.copy(emitter)
        if self.content_block_mapper is not None:
            view.mapper = self.content_block_mapper
        hidden: tuple[type[ev.Event], ...] = ()
        if not self.emit_text_chunks:
            hidden += (ev.Text, ev.Media, ev.Source)
        if not self.emit_reasoning_chunks:
            hidden += (ev.Thought,)
        if hidden:
            view.say = _leaving_out(hidden, emitter.say)
        return view

    def _pass(self, step: Coroutine[Any, Any, None]) -> None:
        """Let the graph's handler take a step: it waits for nothing, so one step is all of it."""
        try:
            step.send(None)
        except StopIteration:
            return
        except Exception:
            if not self._failed:
                self._failed = True
                log.exception("what an agent did could not be said")

    def _leave(self, run_id: UUID, outcome: Any) -> None:
        route = self._routes.pop(run_id, None)
        if route is not None and route.top == run_id:
            route.end(outcome)

    # -- chains ------------------------------------------------------------------------------------

    def on_chain_start(
        self,
        serialized: Any,
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        """Remember who started whom."""
        route = self._enter(run_id, parent_run_id)
        if route is not None and route.handler is not None:
            parent = parent_run_id
            self._pass(route.handler.on_chain_start(serialized, inputs, run_id=run_id, parent_run_id=parent))

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Forget a chain; the topmost ends the turn."""
        route = self._routes.get(run_id)
        final = None
        if route is not None and route.top == run_id:
            self._join(route)
        if route is not None and route.handler is not None:
            self._pass(route.handler.on_chain_end(outputs, run_id=run_id))
            if route.top == run_id:
                final = self._conclude(route, outputs)
        self._leave(run_id, final)

    def _conclude(self, route: _Route, outputs: Any) -> Any:
        """Say what no callback told of, a message that a node made up for instance; give the last one."""
        final = None
        for message in _split(outputs)[1]:
            if message.type == "ai":
                final = message
            self._pass(_tell(route.emitter, message))
        return final

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Forget a chain that failed; an interrupt leaves the turn open for whoever resumes it."""
        route = self._routes.get(run_id)
        if route is not None and isinstance(error, GraphInterrupt):
            self._join(route)
        if route is not None and route.handler is not None:
            if isinstance(error, GraphInterrupt) and isinstance(route.voice, LineVoice):
                route.voice.interrupt(error, route.handler.lane_of(run_id))
            self._pass(route.handler.on_chain_error(error, run_id=run_id))
        self._leave(run_id, error)

    def on_custom_event(self, name: str, data: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Pass on what a node dispatches by hand."""
        handler = self._connect(self._routes.get(run_id))
        if handler is not None:
            self._pass(handler.on_custom_event(name, data))

    # -- models ------------------------------------------------------------------------------------

    def on_chat_model_start(
        self,
        serialized: Any,
        messages: list[list[Any]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Begin a message; the conversation before this turn is not said again."""
        route = self._enter(run_id, parent_run_id)
        handler = self._connect(route, metadata)
        if route is None or handler is None:
            return
        if not route.began:
            route.began = True
            route.emitter.known(_split({"messages": messages[0] if messages else []})[0])
        self._pass(
            handler.on_chat_model_start(
                serialized, messages, run_id=run_id, parent_run_id=parent_run_id, metadata=metadata
            )
        )

    def on_llm_start(
        self,
        serialized: Any,
        prompts: list[str],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Begin the answer of a model that completes text."""
        handler = self._connect(self._enter(run_id, parent_run_id), metadata)
        if handler is not None:
            self._pass(handler.on_llm_start(serialized, prompts, run_id=run_id, parent_run_id=parent_run_id))

    def on_llm_new_token(self, token: Any, *, chunk: Any = None, run_id: UUID, **kwargs: Any) -> None:
        """Say a token."""
        route = self._routes.get(run_id)
        if route is not None and route.handler is not None:
            self._pass(route.handler.on_llm_new_token(token, chunk=chunk, run_id=run_id))

    def on_llm_end(self, response: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Complete a message."""
        route = self._routes.get(run_id)
        if route is not None and route.handler is not None:
            self._pass(route.handler.on_llm_end(response, run_id=run_id))
        self._leave(run_id, None)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Settle what a broken answer began."""
        route = self._routes.get(run_id)
        if route is not None and route.handler is not None:
            self._pass(route.handler.on_llm_error(error, run_id=run_id))
        self._leave(run_id, error)

    # -- tools -------------------------------------------------------------------------------------

    def on_tool_start(
        self,
        serialized: Any,
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Say that a tool runs."""
        handler = self._connect(self._enter(run_id, parent_run_id), metadata)
        if handler is not None:
            step = handler.on_tool_start(
                serialized, input_str, run_id=run_id, parent_run_id=parent_run_id, **kwargs
            )
            self._pass(step)

    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Say a tool's result."""
        route = self._routes.get(run_id)
        if route is not None and route.handler is not None:
            self._pass(route.handler.on_tool_end(output, run_id=run_id))
        self._leave(run_id, None)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Remember that a tool raised."""
        route = self._routes.get(run_id)
        if route is not None and route.handler is not None:
            self._pass(route.handler.on_tool_error(error, run_id=run_id))
        self._leave(run_id, error)


class _Route:
    """A run from its top to its leaves, and whom it talks to once that is known."""

    __slots__ = ("began", "connected", "emitter", "handler", "top", "voice")

    emitter: Emitter

    def __init__(self, top: UUID) -> None:
        self.top = top
        self.connected = False
        self.began = False
        self.voice: Voice | None = None
        self.handler: GraphHandler | None = None

    def end(self, outcome: Any) -> None:
        """End the turn, unless somebody keeps it."""
        if isinstance(self.voice, LineVoice):
            self.voice.final = outcome
            if not self.voice.kept:
                self.voice.end(outcome)
        self.handler = None


# Whoever looks for a graph's handler, to learn in which lane a call is, takes this one as well.
cast("ABCMeta", GraphHandler).register(TrunklineCallbackHandler)


def is_followed(voice: Voice, config: Any) -> bool:
    """Whether a callback handler in a config says what the tools of a run do."""
    manager: Any = config.get("callbacks")
    return any(
        one.follows(voice) if isinstance(one, TrunklineCallbackHandler) else isinstance(one, GraphHandler)
        for one in getattr(manager, "handlers", ())
    )


def _leaving_out(hidden: tuple[type[ev.Event], ...], say: Callable[[Any], None]) -> Callable[[Any], None]:
    def say_the_rest(event: Any) -> None:
        if not isinstance(event, hidden):
            say(event)

    return say_the_rest


def _split(outputs: Any) -> tuple[list[Any], list[Any]]:
    """Divide the messages of a graph: those before the last prompt, and those of this turn."""
    given: Any = cast("dict[str, Any]", outputs).get("messages") if isinstance(outputs, dict) else None
    messages = [one for one in cast("list[Any]", given or []) if hasattr(one, "type")]
    begin = max((at for at, one in enumerate(messages) if one.type == "human"), default=-1)
    return messages[: begin + 1], messages[begin + 1 :]


async def _tell(emitter: Emitter, message: Any) -> None:
    emitter.message(None, message)
