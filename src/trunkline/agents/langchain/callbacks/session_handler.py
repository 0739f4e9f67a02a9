"""The callback handler for a turn of a session: tokens as they come, and what tools do.

It runs inline: a token goes from the model to the reader without a task of its own, and waits only for a
journal that is far behind. It never raises into the agent, except to stop a tool whose call could not be
stored.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import Future
from typing import Any
from uuid import UUID

from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.tracers._streaming import _StreamingCallbackHandler

from trunkline import events as ev
from trunkline.agents.langchain.callbacks.lanes import SubagentLanes
from trunkline.agents.langchain.callbacks.listener import Listener, key_of
from trunkline.agents.langchain.messages.emitter import Emitter
from trunkline.errors import TrunklineError

# A model that never awaits must yield to the loop sometimes, or no reader and no cancel would get through.
_TOKENS_PER_YIELD = 256
_LOOP_PATIENCE = 1.0
"""Seconds that a tool in a thread waits for the session's loop, which the tool itself may block."""

log = logging.getLogger("trunkline.langchain")


class GraphHandler(AsyncCallbackHandler, _StreamingCallbackHandler[Any]):
    """Feeds an emitter from a graph's callbacks.

    Being a streaming handler makes every model stream, also under ``ainvoke``.
    """

    run_inline = True
    raise_error = False

    def __init__(
        self,
        emitter: Emitter,
        *,
        on_usage: Callable[[ev.TokenUsage], None] | None = None,
        on_final: Callable[[Any], None] | None = None,
        ready: Callable[[], Awaitable[None]] | None = None,
        durable: Callable[[], Coroutine[Any, Any, None]] | None = None,
        on_custom: Callable[[str, Any], None] | None = None,
    ) -> None:
        """Emit through ``emitter``; ``ready`` is awaited sometimes, ``durable`` before a tool runs.

        ``on_custom`` gets the custom events of nodes instead.
        """
        super().__init__()
        self._on_custom = on_custom or emitter.custom
        self._listener = Listener(emitter, on_usage=on_usage, on_final=on_final)
        self._ready = ready
        self._durable = durable
        self._loop = asyncio.get_running_loop() if ready is not None or durable is not None else None
        self._tokens_left = _TOKENS_PER_YIELD

    @property
    def lanes(self) -> SubagentLanes:
        """The lanes of the subagents of this turn."""
        return self._listener.lanes

    def lane_of(self, run_id: UUID | None, name: str | None = None) -> str | None:
        """The lane of a run: that of the nearest tool above it, which is a subagent then."""
        return self._listener.lane_of(key_of(run_id), name)

    def tap_output_aiter(self, run_id: UUID, output: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Leave streams as they are."""
        return output

    def tap_output_iter(self, run_id: UUID, output: Iterator[Any]) -> Iterator[Any]:
        """Leave streams as they are."""
        return output

    async def on_chain_start(
        self,
        serialized: Any,
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Remember which run started a run."""
        self._listener.started(key_of(run_id), key_of(parent_run_id), kwargs.get("name"), metadata)

    async def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Finish the step of a node."""
        self._listener.ended(key_of(run_id))

    async def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Finish the step of a node."""
        self._listener.ended(key_of(run_id))

    async def on_custom_event(self, name: str, data: Any, **kwargs: Any) -> None:
        """Emit a custom event of a node."""
        self._on_custom(name, data)

    async def on_chat_model_start(
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
        """Begin a message."""
        run, parent = key_of(run_id), key_of(parent_run_id)
        self._listener.model_started(messages, run, parent, tags=tags, metadata=metadata, options=options)

    async def on_llm_start(
        self,
        serialized: Any,
        prompts: list[str],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        """Begin the answer of a model that completes text."""
        self._listener.completion_started(key_of(run_id), key_of(parent_run_id))

    async def on_llm_new_token(self, token: Any, *, chunk: Any = None, run_id: UUID, **kwargs: Any) -> None:
        """Emit a token."""
        if self._listener.token(token, chunk, key_of(run_id), run_id) and self._ready is not None:
            self._tokens_left -= 1
            if not self._tokens_left:
                self._tokens_left = _TOKENS_PER_YIELD
                # A model that a plain function calls runs in a thread, and does not block the loop.
                if asyncio.get_running_loop() is self._loop:
                    await asyncio.sleep(0)
                    await self._ready()

    async def on_llm_end(self, response: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Complete a message."""
        self._listener.model_ended(response, key_of(run_id), run_id)

    async def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """End the calls of an answer that broke off."""
        self._listener.model_failed(error, key_of(run_id))

    async def on_tool_start(
        self,
        serialized: Any,
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        inputs: Any = None,
        **kwargs: Any,
    ) -> None:
        """Emit that a tool runs, and let it start when that is stored."""
        self._listener.tool_started(
            serialized,
            key_of(run_id),
            key_of(parent_run_id),
            native_id=kwargs.get("tool_call_id"),
            name=kwargs.get("name"),
            inputs=inputs,
        )
        if self._durable is not None and self._loop is not None:
            await self._stored(self._durable, self._loop)

    async def _stored(
        self, durable: Callable[[], Coroutine[Any, Any, None]], loop: asyncio.AbstractEventLoop
    ) -> None:
        if asyncio.get_running_loop() is loop:
            try:
                await durable()
            except TrunklineError:
                # Without raise_error LangChain logs this and runs the tool, which must not happen.
                self.raise_error = True
                raise
            return
        # LangChain runs handlers in another loop when a plain function calls a tool. Usually that
        # function is in a thread; one that blocks the session's own loop would wait here for itself.
        begun: Future[None] = Future()

        async def store() -> None:
            if begun.set_running_or_notify_cancel():
                begun.set_result(None)
            await durable()

        storing = asyncio.run_coroutine_threadsafe(store(), loop)
        try:
            async with asyncio.timeout(_LOOP_PATIENCE):
                await asyncio.wrap_future(begun)
        except TimeoutError:
            log.warning(
                "a tool runs before its call is stored: it is called by a function that blocks the loop"
            )
            return
        try:
            await asyncio.wrap_future(storing)
        except TrunklineError as error:
            # In this loop LangChain logs every Exception; CancelledError is none, and stops the tool.
            raise asyncio.CancelledError(str(error)) from error

    async def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Remember a tool's result."""
        self._listener.tool_ended(output, key_of(run_id))

    async def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Note that a tool raised."""
        self._listener.tool_failed(error, key_of(run_id))


def handler_in(config: Any) -> Any:
    """The first handler among a config's callbacks that knows the lanes of runs; None without one."""
    return next(iter(handlers_in(config)), None)


def handlers_in(config: Any) -> list[Any]:
    """The handlers among a config's callbacks that know the lanes of runs, the session's first."""
    handlers = getattr(config.get("callbacks"), "handlers", ())
    knowing = [one for one in handlers if hasattr(one, "lane_of")]
    return sorted(knowing, key=lambda one: type(one) is not GraphHandler)
