"""Which run of an agent talks through which channel, where no context variable says so.

LangGraph gives each run a control object of its own, and a run is found by it. So two clients of one
agent never mix, with or without thread ids. A run leaves the table when it ends, which a callback handler
sees. Only a tool of ours in a graph without our middlewares begins a run whose end nothing sees: of those
the oldest make room, as the sessions do in which nothing runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, cast

from langgraph.config import get_config

from trunkline.agents.langchain.channel import CHANNEL, Channel, Filter, filtered
from trunkline.agents.langchain.hosted.context import TrunklineContext
from trunkline.agents.langchain.hosted.run import OwnRun
from trunkline.agents.langchain.messages.emitter import Emitter, ResultMapper
from trunkline.agents.langchain.pii import Scrub
from trunkline.agents.langchain.tools.registered_tools import show_calls_of
from trunkline.agents.langchain.user_functions import (
    SessionIdExtractor,
    contain_extractor,
    contain_kind_mapper,
)
from trunkline.errors import SessionBusy
from trunkline.session.handles import in_loop
from trunkline.session.hosted.frontends import GivenIds, HostedFrontEnd, RunInfo, load_front_end
from trunkline.session.hosted.turn import HostedSession
from trunkline.tools.naming import KindMapper

log = logging.getLogger("trunkline.langchain")

_NOBODY = "a run is shown to nobody, because it has no transport: make the {} with transport=..., or {}"
_NOBODY_BY_WRAPPER = _NOBODY.format("agent", "give each run one: agent.ainvoke(input, transport=...)")
_NOBODY_BY_MIDDLEWARE = _NOBODY.format(
    "middleware",
    "give each run context=TrunklineContext(transport=...), and create_agent context_schema=TrunklineContext",
)
_MOST_RUNS = 1024  # kept before those that nothing follows are looked for
_ROUNDS_TO_CLOSE = 3  # of an event loop, until it closes a generator that nobody reads any more
_CLOSED_WITHIN = 5.0  # seconds
_MOST_SESSIONS = 1024  # kept before idle ones are looked for
_RUNTIME = "__pregel_runtime"
_CHECKED_AT_ONCE = 2  # of the oldest, for each new one: so their number shrinks again after a peak


def session_in(config: Any) -> str | None:
    """The session that a config speaks of: its thread."""
    given = cast("dict[str, Any]", config or {})
    configurable = cast("dict[str, Any]", given.get("configurable") or {})
    for name in ("thread_id", "session_id", "sessionId"):
        if configurable.get(name) is not None:
            return str(configurable[name])
    return None


class _Session:
    """A hosted session, its live runs, and the channel whose turn waits to be resumed."""

    def __init__(self, front_end: HostedFrontEnd, name: str) -> None:
        self.hosted = HostedSession(front_end, name)
        self.suspended: Channel | None = None
        self.live: set[int] = set()


class OwnRuns:
    """Gives each run its channel, through one front end."""

    scrub: Scrub | None = None
    """Makes a message fit to be shown, where the agent redacts its own."""

    def __init__(
        self,
        front_end: HostedFrontEnd,
        transport: Any = None,
        *,
        session_id_extractor: SessionIdExtractor | None = None,
        tool_kind_mapper: KindMapper | None = None,
        content_mapper: ResultMapper | None = None,
        event_filter: Callable[[], Filter | None] | None = None,
    ) -> None:
        """Talk through a transport, or through the one that a run's context brings."""
        self._front_end = front_end
        self._transport = transport
        self._session_of = contain_extractor(session_id_extractor) or session_in
        self._kind_mapper = contain_kind_mapper(tool_kind_mapper)
        self.content_mapper = content_mapper
        self._discretion = event_filter
        # A plain run in a thread must not touch a transport that belongs to a loop.
        self._home = asyncio.get_running_loop() if in_loop() else None
        self._runs: OrderedDict[int, tuple[object, Channel]] = OrderedDict()
        self._keys: dict[int, list[int]] = {}
        """The keys of each run's entries among the runs."""
        self._sessions: OrderedDict[Hashable, _Session] = OrderedDict()
        self._lock = threading.RLock()
        self._has_warned = False
        if transport is not None:
            front_end.check(transport)

    @property
    def front_end(self) -> HostedFrontEnd:
        """The front end that the runs are shown by."""
        return self._front_end

    def has_run_in(self, outer: Channel, context: TrunklineContext | None) -> bool:
        """Whether a run that begins inside another one is part of it: a transport shows one at a time."""
        given = context.transport if context is not None else None
        return outer.is_on(self._transport if given is None else given)

    def connect(self, context: TrunklineContext | None, config: Any = None) -> Channel | None:
        """The channel of the run this code is part of, or that has this config; None without a transport."""
        config = config or get_config()
        control = config["configurable"][_RUNTIME].control
        if (known := self._runs.get(id(control))) is not None:
            return known[1]
        outer = CHANNEL.get()
        if outer is not None and outer.run is not None and self._choose(context) is outer.run.transport:
            return outer  # An agent around this one shows the same client everything already.
        with self._lock:
            if (known := self._runs.get(id(control))) is not None:
                return known[1]
            channel = self.open(context, config)
            if channel is None or channel.run is None:
                return None
            unseen = self._oldest_unseen() if len(self._runs) >= _MOST_RUNS else []
            self._runs[id(control)] = (control, channel)
            self._keys.setdefault(id(channel.run), []).append(id(control))
        for run in unseen:
            run.finish(RuntimeError("the run ended unseen: give the callbacks to each run to see its end"))
        return channel

    def _oldest_unseen(self) -> list[OwnRun]:
        """Look among the oldest for runs whose end nothing sees."""
        found: list[OwnRun] = []
        for key in list(itertools.islice(self._runs, _CHECKED_AT_ONCE)):
            self._runs.move_to_end(key)
            run = self._runs[key][1].run
            if run is not None and not run.is_observed:
                found.append(run)
        return found

    def _choose(self, context: TrunklineContext | None) -> Any:
        """The transport of a run: the one in its context, or else our own."""
        given = context.transport if context is not None else None
        # A context of somebody else may have another thing of this name.
        return given if self._transport is None or hasattr(given, "emit") else self._transport

    def identify(self, context: TrunklineContext | None, config: Any, request: Any = None) -> RunInfo:
        """Say which session and run this is, and on which transport."""
        given = context or TrunklineContext()
        configurable = cast("dict[str, Any]", config.get("configurable") or {})
        ids = GivenIds(
            context_thread=given.thread_id,
            context_run=given.run_id,
            config_thread=self._session_of(config),
            config_run=configurable.get("run_id"),
            request=request,
        )
        run = self._front_end.identify(self._choose(given), ids)
        run.home = self._home
        return run

    def open(self, context: TrunklineContext | None, config: Any) -> Channel | None:
        """Begin a turn, or go on with the one that was interrupted in this session."""
        return self.start(self.identify(context, config))

    async def wait_for_abandoned(self, run: RunInfo) -> None:
        """Wait for the end of a run whose stream the caller left: the event loop closes it soon after."""
        session = self._sessions.get(run.session_key)
        if session is None or not session.hosted.busy:
            return
        for _ in range(_ROUNDS_TO_CLOSE):
            await asyncio.sleep(0)
        if session.hosted.closing is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(session.hosted.closing.wait(), _CLOSED_WITHIN)

    def start(self, run: RunInfo, *, ended_by_wrapper: bool = False) -> Channel | None:
        """Begin a turn, or go on with the one that was interrupted; None when there is no transport."""
        if run.transport is None:
            if not self._has_warned and CHANNEL.get() is None:
                self._has_warned = True
                log.warning(_NOBODY_BY_WRAPPER if ended_by_wrapper else _NOBODY_BY_MIDDLEWARE)
            return None
        self._front_end.check(run.transport)
        with self._lock:
            session = self._session(run)
            if ended_by_wrapper and self._front_end.one_run_per_session:
                if session.hosted.busy:
                    # Of two runs at once, a checkpoint keeps one: the other would be lost without a word.
                    raise SessionBusy("a run of this thread is on its way: wait for it, or stop it first")
                session.hosted.busy = True
            channel, session.suspended = session.suspended, None
            if channel is None or channel.run is None:
                channel = self._start(session, run, ended_by_wrapper)
            else:
                channel.run.resume(run, ended_by_wrapper=ended_by_wrapper)
            run_here = cast("OwnRun", channel.run)
            run_here.transport = run.transport
            session.live.add(id(run_here))
        channel.emitter.scrub = self.scrub
        return channel

    def _start(self, session: _Session, run: RunInfo, ended_by_wrapper: bool) -> Channel:
        turn = session.hosted.start(run)
        event_filter = self._discretion() if self._discretion is not None else None
        emit = turn.emit if event_filter is None else filtered(event_filter, turn.emit)
        emitter = Emitter(
            emit,
            turn.turn_id,
            kind_mapper=self._kind_mapper,
            content_mapper=self.content_mapper,
            step_kinds=self._front_end.step_kinds,
        )

        def release(own: OwnRun, suspended: bool) -> None:
            with self._lock:
                for key in self._keys.pop(id(own), ()):
                    del self._runs[key]
                session.live.discard(id(own))
                if suspended:
                    session.suspended = channel
                elif session.suspended is channel:
                    session.suspended = None

        own = OwnRun(turn, emitter, ended_by_wrapper=ended_by_wrapper, on_released=release)
        channel = Channel(turn.ctx, emitter, event_filter=event_filter, run=own, source=self)
        show_calls_of(channel)
        return channel

    def _session(self, run: RunInfo) -> _Session:
        session = self._sessions.get(run.session_key)
        if session is None:
            if len(self._sessions) >= _MOST_SESSIONS:
                self._discard_idle_sessions()
            session = self._sessions[run.session_key] = _Session(self._front_end, run.session_name)
        self._sessions.move_to_end(run.session_key)
        return session

    def _discard_idle_sessions(self) -> None:
        """Look among the oldest for sessions in which nothing runs."""
        for key in list(itertools.islice(self._sessions, _CHECKED_AT_ONCE)):
            if self._sessions[key].live:
                self._sessions.move_to_end(key)
            elif len(self._sessions) >= _MOST_SESSIONS:
                del self._sessions[key]


_BY_FRONT_END: dict[str, OwnRuns] = {}


def front_end_of(transport: Any) -> str:
    """The front end that a transport is for: its own ``front_end``, else by its methods.

    ACP has requests to its client, so its transports have ``request``; those of AG-UI only have ``emit``.
    """
    if (name := getattr(transport, "front_end", None)) is not None:
        return str(name)
    return "agui" if hasattr(transport, "emit") and not hasattr(transport, "request") else "acp"


def runs_of_context(transport: Any) -> OwnRuns:
    """The runs that bring their own transport, whatever middleware they pass."""
    name = front_end_of(transport)
    if name not in _BY_FRONT_END:
        _BY_FRONT_END[name] = OwnRuns(load_front_end(name)())
    return _BY_FRONT_END[name]
