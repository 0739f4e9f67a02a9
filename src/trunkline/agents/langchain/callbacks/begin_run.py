"""Begins a run in the user's own program before its first step, and has it followed to its end.

How a run ends is told by callbacks alone. So the middlewares add a handler to those of the run, as LangGraph
does for its own streams, unless the caller gave one: a run whose callbacks were forgotten ends all the same.
"""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langgraph.errors import GraphInterrupt

from trunkline.agents.langchain.callbacks.hosted_handler import TrunklineCallbackHandler
from trunkline.agents.langchain.channel import CHANNEL, Channel
from trunkline.agents.langchain.channel_lookup import find_source
from trunkline.agents.langchain.hosted.context import read_context
from trunkline.agents.langchain.hosted.graph_stream import add_writer
from trunkline.agents.langchain.hosted.run import OwnRun
from trunkline.agents.langchain.messages.history import split_turn


def begin_run(middleware: Any, loop: Any) -> Any:
    """Begin the run of a graph's loop; give what shows its last state, if the middleware does that."""
    configurable = loop.config["configurable"]
    channel, source = CHANNEL.get(), getattr(middleware, "channel_source", None)
    if channel is None or (source is not None and channel.source not in (None, source)):
        channel = _connect(middleware, loop, configurable) or channel
    show_end = getattr(middleware, "show_end", None)
    # A session shows the state by itself, and a graph inside another one is not a run of its own.
    if channel is None or channel.follows_run or show_end is None or configurable.get("checkpoint_ns"):
        return None
    add_writer(configurable, channel)
    return partial(show_end, channel)


def _connect(middleware: Any, loop: Any, configurable: Any) -> Channel | None:
    """Find the channel of a run that begins, and a callback handler to follow it."""
    context = read_context(configurable["__pregel_runtime"].context)
    config = {**loop.config, "callbacks": loop.manager}
    source = find_source(context, middleware, config)
    channel = None if source is None else source.connect(context, config)
    run = channel.run if channel is not None else None
    if channel is None or run is None or run.is_observed:
        return channel
    run.is_observed = True
    manager = loop.manager
    for one in manager.handlers:
        ours = isinstance(one, TrunklineCallbackHandler) and one.channel_source in (None, source)
        if ours and one.follow(manager.run_id, channel):
            return channel
    own: TrunklineCallbackHandler | None = getattr(middleware, "handler", None)
    follows = own is not None and own.follow(manager.run_id, channel)
    added = own if follows else RunEndHandler(run, manager.run_id)
    manager.handlers = [*manager.handlers, added]
    manager.inheritable_handlers = [*manager.inheritable_handlers, added]
    return channel


class RunEndHandler(BaseCallbackHandler):
    """Ends one run that no TrunklineCallbackHandler follows."""

    run_inline = True
    raise_error = False

    def __init__(self, run: OwnRun, run_id: UUID) -> None:
        """End ``run`` when the chain with this id ends."""
        super().__init__()
        self._run = run
        self._run_id = run_id

    @property
    def ignore_llm(self) -> bool:
        """Models end no run."""
        return True

    @property
    def ignore_chat_model(self) -> bool:
        """Models end no run."""
        return True

    @property
    def ignore_agent(self) -> bool:
        """Tools end no run."""
        return True

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """End the run with its last message."""
        if run_id == self._run_id:
            answers = [message for message in split_turn(outputs)[1] if message.type == "ai"]
            self._run.end(answers[-1] if answers else None)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """End the run with what it raised; an interrupt leaves the turn open to be resumed."""
        if isinstance(error, GraphInterrupt):
            self._run.interrupt(error)
        if run_id == self._run_id:
            self._run.end(error)
