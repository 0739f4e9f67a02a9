"""The state and the custom events of a graph that the caller runs, however the caller runs it.

A graph gives the graphs inside it a stream and a stream writer, in their config. The same two keys in the
config of the outermost graph make it write to us too, and what the caller streams stays as it is. This
depends on the names of the keys: tests/agents/langchain/hosted/test_graph_stream.py fails when they change.
"""

from __future__ import annotations

import logging
from typing import Any, cast

from langchain_core.runnables import RunnableBinding
from langchain_core.runnables.config import ensure_config
from langgraph.pregel import Pregel
from langgraph.pregel.protocol import StreamProtocol
from langgraph.runtime import DEFAULT_RUNTIME

from trunkline.agents.langchain.channel import Channel
from trunkline.agents.langchain.graph.shared_state import SharedStateUpdates

log = logging.getLogger("trunkline.langchain")

_RUNTIME, _STREAM = "__pregel_runtime", "__pregel_stream"


class _Writer:
    """Emits what an agent gives to ``get_stream_writer()``, and passes it on to the writer that was there."""

    def __init__(self, channel: Channel, inner: Any = None) -> None:
        self.channel = channel
        self._inner = inner

    def __call__(self, data: Any) -> None:
        self.channel.emitter.custom("langgraph", data)
        if self._inner is not None:
            self._inner(data)


def graph_in(agent: Any) -> Any:
    """The graph that an agent is, without what was bound to it."""
    while isinstance(agent, RunnableBinding):
        agent = cast("Any", agent).bound
    return agent


def stream_keys(graph: Any, channel: Channel, state: SharedStateUpdates | None) -> dict[str, Any]:
    """The keys of a config with which a graph shows its custom events, and its state where that is given.

    A graph that is called by another one has these keys already, which belong to that one.
    """
    if not isinstance(graph, Pregel) or _RUNTIME in ensure_config().get("configurable", {}):
        return {}

    def take(chunk: tuple[tuple[str, ...], str, Any]) -> None:
        namespace, _, values = chunk
        if state is None or namespace or not isinstance(values, dict):
            return
        try:
            state.update(cast("dict[str, Any]", values))
        except Exception:
            log.exception("the state of an agent could not be shown")

    runtime = DEFAULT_RUNTIME.override(store=graph.store, stream_writer=_Writer(channel))
    stream = StreamProtocol(take, set() if state is None else {"values"})
    return {_RUNTIME: runtime, _STREAM: stream}


def add_writer(configurable: dict[str, Any], channel: Channel) -> None:
    """Let the nodes and tools of a run that begins write to the client too, where the caller gave no keys."""
    runtime = configurable[_RUNTIME]
    writer = runtime.stream_writer
    if not isinstance(writer, _Writer) or writer.channel is not channel:
        configurable[_RUNTIME] = runtime.override(stream_writer=_Writer(channel, writer))
