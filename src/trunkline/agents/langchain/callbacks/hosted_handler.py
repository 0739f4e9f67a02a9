"""The callback handler: tokens as they come, in anybody's ``invoke`` and ``ainvoke``.

One handler object serves any number of runs at once. It is a plain handler that runs inline, so there is
no loop to start and no task to wait for, whichever way the agent is called. It never raises into the
agent, whatever the channel raises.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langgraph.errors import GraphInterrupt
from langgraph.runtime import get_runtime

from trunkline import events as ev
from trunkline.agents.langchain.callbacks.listener import Key, Listener, key_of
from trunkline.agents.langchain.callbacks.session_handler import handlers_in
from trunkline.agents.langchain.channel import Channel, current_channel
from trunkline.agents.langchain.channel_lookup import ChannelSource, find_channel
from trunkline.agents.langchain.class_methods import replace_methods
from trunkline.agents.langchain.hosted.run_channels import OwnRuns, front_end_of
from trunkline.agents.langchain.messages.content_mapper import ContentBlockMapper
from trunkline.agents.langchain.messages.emitter import Emitter
from trunkline.agents.langchain.messages.history import split_turn
from trunkline.errors import ConfigurationError
from trunkline.session.hosted.frontends import load_front_end

if TYPE_CHECKING:
    from trunkline.protocols.acp.transport import AcpTransport
    from trunkline.protocols.agui.transport import AguiTransport

log = logging.getLogger("trunkline.langchain")

_MOST_RUNS = 65_536


class TrunklineCallbackHandler(BaseCallbackHandler):
    """Emits what models and tools do, token by token, also inside subagents.

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
        transport: AcpTransport | AguiTransport | None = None,
    ) -> None:
        """Speak through the run's own channel, or else through a transport of ACP or of AG-UI."""
        super().__init__()
        self.emit_text_chunks = emit_text_chunks
        self.emit_reasoning_chunks = emit_reasoning_chunks
        if not isinstance(cast("Any", content_block_mapper), ContentBlockMapper | None):
            raise ConfigurationError(
                f"content_block_mapper is an object of type {type(content_block_mapper).__name__}: give an "
                "object of a subclass of ContentBlockMapper"
            )
        self.content_block_mapper = content_block_mapper
        self.channel_source: ChannelSource | None = None
        if transport is not None:
            self.channel_source = OwnRuns(load_front_end(front_end_of(transport))(), transport)
        self._followed: dict[Key, _FollowedRun] = {}
        self._disposed = False
        self._failed = False
        if not (emit_text_chunks or emit_reasoning_chunks):
            replace_methods(self, {"tap_output_aiter": None, "tap_output_iter": None})

    def dispose(self) -> None:
        """Emit nothing any more and forget every run; idempotent."""
        self._disposed = True
        all_followed, self._followed = self._followed, {}
        for followed in set(all_followed.values()):
            followed.end(None)

    def follows(self, channel: Channel) -> bool:
        """Whether this handler says the tokens and calls of a channel's run."""
        return channel.run is not None and channel.run.is_followed_by(self) and not self._disposed

    def lane_of(self, run_id: UUID | None, name: str | None = None) -> str | None:
        """The lane of a run: that of the subagent it is part of."""
        run = key_of(run_id)
        followed = self._followed.get(run)
        return (
            followed.listener.lane_of(run, name)
            if followed is not None and followed.listener is not None
            else None
        )

    def tap_output_aiter(self, run_id: UUID, output: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Leave streams as they are."""
        return output

    def tap_output_iter(self, run_id: UUID, output: Iterator[Any]) -> Iterator[Any]:
        """Leave streams as they are."""
        return output

    # -- whose run it is ---------------------------------------------------------------------------

    def _add(self, run: Key, parent: Key) -> _FollowedRun | None:
        """Remember a run; one whose parent is unknown is the top of a run to follow."""
        if self._disposed:
            return None
        followed = self._followed.get(parent) or _FollowedRun(run)
        self._followed[run] = followed
        if len(self._followed) > _MOST_RUNS:
            del self._followed[next(iter(self._followed))]
        return followed

    def follow(self, run_id: UUID, channel: Channel) -> bool:
        """Follow a run that begins; False once this handler is disposed of, or if another one follows."""
        run = key_of(run_id)
        followed = self._followed.get(run) or self._add(run, key_of(None))
        return followed is not None and self._attach(followed, channel)

    def _connect(self, followed: _FollowedRun, metadata: dict[str, Any] | None = None) -> Listener | None:
        """Find the channel of a run when its first model or tool starts, where no middleware gave it."""
        if not followed.connected:
            followed.connected = True
            if (channel := self._channel(metadata)) is not None:
                self._attach(followed, channel)
        return followed.listener

    def _attach(self, followed: _FollowedRun, channel: Channel) -> bool:
        followed.connected = True
        if channel.follows_run or (channel.run is not None and not channel.run.claim(self)):
            return False  # A session follows its agent by itself, or another handler the run.
        followed.channel = channel
        followed.listener = Listener(self._view(channel.emitter), on_usage=channel.ctx.usage)
        return True

    def _connect_if_used(self, followed: _FollowedRun) -> None:
        """Connect a run in which no model and no tool ran, where a channel is set for it."""
        if current_channel() is not None:
            self._connect(followed)

    def _channel(self, metadata: dict[str, Any] | None) -> Channel | None:
        try:
            runtime = get_runtime()
        except (RuntimeError, KeyError):
            # No graph, but a model, or a chain around one.
            if current_channel() is None and self.channel_source is not None:
                return self.channel_source.open(None, {"configurable": metadata or {}})
            return current_channel()
        return find_channel(runtime, self)

    def _view(self, emitter: Emitter) -> Emitter:
        """An emitter that shares what was emitted, with this handler's own switches and mapper."""
        if self.content_block_mapper is None and self.emit_text_chunks and self.emit_reasoning_chunks:
            return emitter
        view = copy.copy(emitter)
        if self.content_block_mapper is not None:
            view.mapper = self.content_block_mapper
        hidden: tuple[type[ev.Event], ...] = ()
        if not self.emit_text_chunks:
            hidden += (ev.Text, ev.Media, ev.Source)
        if not self.emit_reasoning_chunks:
            hidden += (ev.Thought,)
        if hidden:
            view.emit = _leaving_out(hidden, emitter.emit)
        return view

    def _listener_of(self, run: Key) -> Listener | None:
        followed = self._followed.get(run)
        return followed.listener if followed is not None else None

    def _try(self, say: Callable[..., Any], *about: Any, **more: Any) -> None:
        """Call a method of the listener; what it raises is logged once, and never raised into the agent."""
        try:
            say(*about, **more)
        except Exception:
            if not self._failed:
                self._failed = True
                log.exception("what an agent did could not be emitted")

    def _remove(self, run: Key, outcome: Any) -> None:
        followed = self._followed.pop(run, None)
        if followed is not None and followed.listener is not None:
            self._try(followed.listener.ended, run)
        if followed is not None and followed.top == run:
            followed.end(outcome)

    # -- chains ------------------------------------------------------------------------------------

    def on_chain_start(
        self,
        serialized: Any,
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Remember who started whom."""
        run, parent = key_of(run_id), key_of(parent_run_id)
        followed = self._add(run, parent)
        if followed is not None and followed.top == run:
            self._connect_if_used(followed)
        if followed is not None and followed.listener is not None:
            self._try(followed.listener.started, run, parent, kwargs.get("name"), metadata)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Forget a chain; the topmost ends the turn."""
        run = key_of(run_id)
        followed = self._followed.get(run)
        final = None
        if followed is not None and followed.top == run:
            self._connect_if_used(followed)
            if followed.listener is not None:
                final = self._conclude(followed.listener, outputs)
        self._remove(run, final)

    def _conclude(self, listener: Listener, outputs: Any) -> Any:
        """Emit messages that no callback saw, such as one that a node made; give the last one."""
        final = None
        for message in split_turn(outputs)[1]:
            if message.type == "ai":
                final = message
            self._try(listener.emitter.message, None, message)
        return final

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Forget a chain that failed; an interrupt leaves the turn open to be resumed."""
        run = key_of(run_id)
        followed = self._followed.get(run)
        if followed is not None and isinstance(error, GraphInterrupt):
            self._connect_if_used(followed)
            own = followed.channel.run if followed.channel is not None else None
            if followed.listener is not None and own is not None:
                own.interrupt(error, followed.listener.lane_of(run))
        self._remove(run, error)

    def on_custom_event(self, name: str, data: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Pass on what a node dispatches by hand."""
        followed = self._followed.get(key_of(run_id))
        listener = self._connect(followed) if followed is not None else None
        if listener is not None:
            self._try(listener.emitter.custom, name, data)

    # -- models ------------------------------------------------------------------------------------

    def on_chat_model_start(
        self,
        serialized: Any,
        messages: list[list[Any]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        options: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Begin a message; the conversation before this turn is not emitted again."""
        run, parent = key_of(run_id), key_of(parent_run_id)
        followed = self._add(run, parent)
        listener = self._connect(followed, metadata) if followed is not None else None
        if followed is None or listener is None:
            return
        if not followed.began:
            followed.began = True
            self._try(
                listener.emitter.add_history, split_turn({"messages": messages[0] if messages else []})[0]
            )
        about = {"tags": tags, "metadata": metadata, "options": options}
        self._try(listener.model_started, messages, run, parent, **about)

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
        run, parent = key_of(run_id), key_of(parent_run_id)
        followed = self._add(run, parent)
        listener = self._connect(followed, metadata) if followed is not None else None
        if listener is not None:
            self._try(listener.completion_started, run, parent)

    def on_llm_new_token(self, token: Any, *, chunk: Any = None, run_id: UUID, **kwargs: Any) -> None:
        """Say a token."""
        run = key_of(run_id)
        if (listener := self._listener_of(run)) is not None:
            self._try(listener.token, token, chunk, run, run_id)

    def on_llm_end(self, response: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Complete a message."""
        run = key_of(run_id)
        if (listener := self._listener_of(run)) is not None:
            self._try(listener.model_ended, response, run, run_id)
        self._remove(run, None)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Settle what a broken answer began."""
        run = key_of(run_id)
        if (listener := self._listener_of(run)) is not None:
            self._try(listener.model_failed, error, run)
        self._remove(run, error)

    # -- tools -------------------------------------------------------------------------------------

    def on_tool_start(
        self,
        serialized: Any,
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        inputs: Any = None,
        **kwargs: Any,
    ) -> None:
        """Say that a tool runs."""
        run, parent = key_of(run_id), key_of(parent_run_id)
        followed = self._add(run, parent)
        listener = self._connect(followed, metadata) if followed is not None else None
        if listener is None:
            return
        about = {"native_id": kwargs.get("tool_call_id"), "name": kwargs.get("name"), "inputs": inputs}
        self._try(listener.tool_started, serialized, run, parent, **about)

    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Say a tool's result."""
        run = key_of(run_id)
        if (listener := self._listener_of(run)) is not None:
            self._try(listener.tool_ended, output, run)
        self._remove(run, None)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Remember that a tool raised."""
        run = key_of(run_id)
        if (listener := self._listener_of(run)) is not None:
            self._try(listener.tool_failed, error, run)
        self._remove(run, error)


class _FollowedRun:
    """A run with everything below it, and its channel once that is known."""

    __slots__ = ("began", "channel", "connected", "listener", "top")

    def __init__(self, top: Key) -> None:
        self.top = top
        self.connected = False
        self.began = False
        self.channel: Channel | None = None
        self.listener: Listener | None = None

    def end(self, outcome: Any) -> None:
        """End the turn, unless the wrapper of the agent does."""
        run = self.channel.run if self.channel is not None else None
        if run is not None:
            run.final = outcome
            if not run.ended_by_wrapper:
                run.end(outcome)
        self.listener = None


def is_followed(channel: Channel, config: Any) -> bool:
    """Whether a callback handler in a config says what the tools of a run do."""
    return any(
        one.follows(channel) if isinstance(one, TrunklineCallbackHandler) else True
        for one in handlers_in(config)
    )


def _leaving_out(hidden: tuple[type[ev.Event], ...], say: Callable[[Any], None]) -> Callable[[Any], None]:
    def say_the_rest(event: Any) -> None:
        if not isinstance(event, hidden):
            say(event)

    return say_the_rest
