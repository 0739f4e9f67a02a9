"""The switchboard: which run talks through which channel, where no context variable says so.

A run is told from another by the control object that LangGraph gives to each, and to nobody else. So
two clients of one agent never mix, with or without thread ids. Runs and sessions that are not used any
more make room for new ones.
"""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, cast

from langgraph.config import get_config
from langgraph.runtime import get_runtime

from trunkline import events as ev
from trunkline.agents.langchain.channel_lookup import TrunklineContext
from trunkline.agents.langchain.own_program.acp import AcpLine, AcpVoice, Transport
from trunkline.agents.langchain.own_program.run import LineVoice
from trunkline.agents.langchain.pii import Scrub
from trunkline.protocols.acp import wire
from trunkline.session.handles import in_loop
from trunkline.tools.naming import KindMapper
from trunkline.translate import Translator

__all__ = ["SWITCHBOARD", "Board", "SessionIdExtractor", "Switchboard", "session_in"]

SessionIdExtractor = Callable[[Any], "str | None"]
"""From the config of a run (or of a checkpoint) to the session it belongs to."""

_MOST_RUNS = 1024
_MOST_LINES = 1024


def session_in(config: Any) -> str | None:
    """The session that a config speaks of: its thread."""
    given = cast("dict[str, Any]", config or {})
    configurable = cast("dict[str, Any]", given.get("configurable") or {})
    for name in ("thread_id", "session_id", "sessionId"):
        if configurable.get(name) is not None:
            return str(configurable[name])
    return None


class Board(ABC):
    """Connects runs to channels on transports, in whatever protocol."""

    scrub: Scrub | None = None
    """Makes a message fit to be said, where the agent redacts its own."""

    def __init__(
        self,
        transport: Any = None,
        *,
        session_id_extractor: SessionIdExtractor | None = None,
        tool_kind_mapper: KindMapper | None = None,
        discretion: Callable[[], Translator[ev.AnyEvent, ev.AnyEvent] | None] | None = None,
    ) -> None:
        """Speak through a transport, or through the one that a run's context brings."""
        self._transport = transport
        self._session_of = session_id_extractor or session_in
        self._kind_mapper = tool_kind_mapper
        self._discretion = discretion
        # A plain run in a thread must not touch a transport that belongs to a loop.
        self._home = asyncio.get_running_loop() if in_loop() else None
        self._runs: OrderedDict[int, tuple[object, LineVoice]] = OrderedDict()
        self._keys: dict[int, list[int]] = {}
        """Where each channel is among the runs: a thousand of them may wait to be forgotten."""
        self._lock = threading.RLock()

    def connect(self, context: TrunklineContext | None) -> LineVoice | None:
        """The channel of the run this code is part of; None when nobody is there to talk to."""
        run = get_runtime().control
        if (known := self._runs.get(id(run))) is not None:
            return known[1]
        with self._lock:
            if (known := self._runs.get(id(run))) is not None:
                return known[1]
            channel = self.open(context, get_config())
            if channel is None:
                return None
            self._runs[id(run)] = (run, channel)
            self._keys.setdefault(id(channel), []).append(id(run))
            oldest = next(iter(self._runs.values()))[1]
            crowded = len(self._runs) > _MOST_RUNS
        if crowded:
            oldest.finish()
        return channel

    def open(self, context: TrunklineContext | None, config: Any, *, kept: bool = False) -> LineVoice | None:
        """Begin a turn, or go on with the one that was interrupted in this session."""
        transport = self._transport
        if context is not None and context.transport is not None:
            transport = context.transport
        if transport is None:
            return None
        with self._lock:
            channel = self._begin(transport, context or TrunklineContext(), config, kept=kept)
        channel.emitter.scrub = self.scrub
        return channel

    @abstractmethod
    def _begin(self, transport: Any, context: TrunklineContext, config: Any, *, kept: bool) -> LineVoice:
        """Give the channel of a run on a transport."""

    def _manner(self, *, kept: bool) -> dict[str, Any]:
        """How a new channel speaks."""
        return {
            "kind_mapper": self._kind_mapper,
            "discretion": self._discretion() if self._discretion is not None else None,
            "on_over": self._forget,
            "kept": kept,
        }

    def _forget(self, channel: LineVoice) -> None:
        with self._lock:
            for key in self._keys.pop(id(channel), ()):
                del self._runs[key]


class Switchboard(Board):
    """Connects runs to channels that speak ACP."""

    def __init__(
        self,
        transport: Transport | None = None,
        *,
        session_id_extractor: SessionIdExtractor | None = None,
        client_capabilities: wire.ClientCapabilities | None = None,
        tool_kind_mapper: KindMapper | None = None,
        discretion: Callable[[], Translator[ev.AnyEvent, ev.AnyEvent] | None] | None = None,
    ) -> None:
        """Speak to clients with these capabilities."""
        super().__init__(
            transport,
            session_id_extractor=session_id_extractor,
            tool_kind_mapper=tool_kind_mapper,
            discretion=discretion,
        )
        self._client = client_capabilities
        self._lines: OrderedDict[tuple[int, str | None], AcpLine] = OrderedDict()

    def _begin(self, transport: Any, context: TrunklineContext, config: Any, *, kept: bool) -> AcpVoice:
        session_id = context.thread_id
        line = self._line(transport, self._session_of(config) if session_id is None else session_id)
        channel = line.ties.interrupted
        if isinstance(channel, AcpVoice):
            channel.go_on()
            channel.kept = kept
            return channel
        return AcpVoice(line, run_id=context.run_id, **self._manner(kept=kept))

    def _line(self, transport: Transport, session_id: str | None) -> AcpLine:
        key = (id(transport), session_id)
        line = self._lines.get(key)
        if line is None:
            line = self._lines[key] = AcpLine(transport, session_id, client=self._client, home=self._home)
            if len(self._lines) > _MOST_LINES:
                self._lines.popitem(last=False)
        self._lines.move_to_end(key)
        return line


SWITCHBOARD = Switchboard()
"""For runs that bring their own context, whatever middleware they pass."""
