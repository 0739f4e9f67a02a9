"""Begins a run in the user's own program before its first step, and has it followed to its end.

How a run ends is told by callbacks alone. So the middlewares add a handler to those of the run, as LangGraph
does for its own streams, unless the caller gave one: a run whose callbacks were forgotten ends all the same.
"""

from __future__ import annotations

import weakref
from functools import partial
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler
from langgraph.errors import GraphInterrupt

from trunkline.agents.langchain.callbacks.hosted_handler import TrunklineCallbackHandler
from trunkline.agents.langchain.channel import CHANNEL, Channel
from trunkline.agents.langchain.channel_lookup import find_source
from trunkline.agents.langchain.hosted.context import TrunklineContext, read_context
from trunkline.agents.langchain.hosted.graph_stream import add_writer
from trunkline.agents.langchain.hosted.run import OwnRun
from trunkline.agents.langchain.messages.history import split_turn

_INTERRUPT = "__interrupt__"  # As LangGraph names it among what the tasks of a step wrote.


def begin_run(middleware: Any, loop: Any) -> Any:
    """Begin the run of a graph's loop; give what shows its last state, if the middleware does that."""
    configurable = loop.config["configurable"]
    channel, source = CHANNEL.get(), getattr(middleware, "channel_source", None)
    if channel is None or (source is not None and channel.source not in (None, source)):
        context = read_context(configurable["__pregel_runtime"].context)
        if channel is None or source is None or not source.has_run_in(channel, context):
            channel = _connect(middleware, loop, context) or channel
    show_end = getattr(middleware, "show_end", None)
    # A session shows the state by itself, and a graph inside another one is not a run of its own.
    if channel is None or channel.follows_run or show_end is None or configurable.get("checkpoint_ns"):
        return None
    add_writer(configurable, channel)
    return partial(show_end, channel)


def _connect(middleware: Any, loop: Any, context: TrunklineContext | None) -> Channel | None:
    """Find the channel of a run that begins, and a callback handler to follow it."""
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
    if own is not None and own.follow(manager.run_id, channel):
        manager.handlers = [*manager.handlers, own]
        manager.inheritable_handlers = [*manager.inheritable_handlers, own]
    else:
        manager.handlers = [*manager.handlers, RunEndHandler(run, loop)]
    return channel


class RunEndHandler(BaseCallbackHandler):
    """Ends one run that no TrunklineCallbackHandler follows; it hears of nothing inside the run."""

    run_inline = True
    raise_error = False

    def __init__(self, run: OwnRun, loop: Any) -> None:
        """End ``run`` with the loop of its graph."""
        super().__init__()
        self._run = run
        self._loop = weakref.ref(loop)

    def on_chain_end(self, outputs: Any, **kwargs: Any) -> None:
        """End the run with its last message."""
        answers = [message for message in split_turn(outputs)[1] if message.type == "ai"]
        self._end(answers[-1] if answers else None)

    def on_chain_error(self, error: BaseException, **kwargs: Any) -> None:
        """End the run with what it raised."""
        self._end(error)

    def _end(self, outcome: Any) -> None:
        """End the run; one that stopped for an interrupt leaves its turn open to be resumed."""
        loop: Any = self._loop()
        for _, channel, interrupts in loop.checkpoint_pending_writes if loop is not None else ():
            if channel == _INTERRUPT:
                self._run.interrupt(GraphInterrupt(interrupts))
        self._run.end(outcome)
