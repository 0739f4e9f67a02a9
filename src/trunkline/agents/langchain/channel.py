"""The channel: whom a middleware, a tool or a callback talks to while an agent runs.

It is the turn that the run belongs to: of a session, or a hosted turn in somebody's own ``ainvoke``. It
travels in a context variable, so one agent object serves many clients at once and nothing of it reaches a
checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from langgraph.config import get_config
from langgraph.constants import CONFIG_KEY_CHECKPOINTER

from trunkline import events as ev
from trunkline.agents.langchain.graph.interrupts import interrupt_for, read_answer
from trunkline.agents.langchain.hosted.run import OwnRun
from trunkline.agents.langchain.messages.emitter import Emitter
from trunkline.questions import ClientCall, Coverage, Question
from trunkline.session.context import Decision, ToolRequest, TurnContext
from trunkline.session.questions import check_answer
from trunkline.translate import Translator
from trunkline.workspace.always import command_in

_CANNOT_ASK = (
    "nobody can be asked in this run: give the agent a checkpointer and resume its interrupt, "
    "or serve it with trunkline"
)

Filter = Translator[ev.AnyEvent, ev.AnyEvent]


class Channel:
    """Emits events and asks questions, for one run of an agent."""

    def __init__(
        self,
        ctx: TurnContext,
        emitter: Emitter,
        *,
        durable: bool = False,
        answers: Mapping[str, ev.Answered] | None = None,
        event_filter: Filter | None = None,
        run: OwnRun | None = None,
        source: object = None,
    ) -> None:
        """Talk through a turn; ``run`` is the caller's own, where no session drives the agent.

        ``answers`` are those that came after a restart, by durable key; ``event_filter`` gives the events
        that are shown. ``source`` gave the channel to the caller's run.
        """
        self.ctx = ctx
        self.emitter = emitter
        self.run = run
        """The caller's own run, which callbacks and middlewares follow to its end; None in a session."""
        self.source = source
        self.beside: set[Channel] = set()
        """Other front ends that are shown the same run."""
        self.follows_run = run is None
        """Whether the session follows the run by itself: its tokens, its state and its end."""
        self.ends_run_on_question = run is not None and run.ends_on_question
        """Whether a question stops the graph, to be resumed with the answer."""
        self._discretion = event_filter
        self._durable = durable
        self._answers = dict(answers or {})

    def is_on(self, transport: Any) -> bool:
        """Whether the caller's own run goes on, and is shown on this transport."""
        turn = self.run.turn if self.run is not None else None
        return turn is not None and turn.live and turn.output.is_open and turn.transport is transport

    @property
    def session_id(self) -> str:
        """The session's name, which is the thread of a graph."""
        return self.ctx.session.thread_id

    @property
    def memory(self) -> dict[Any, Any]:
        """A place for things that live as long as the session does in this process."""
        return self.ctx.session.memory

    @property
    def shown(self) -> dict[Any, Any]:
        """A place for what the client was shown, to tell it only of changes."""
        return self.memory if self.run is None else self.run.shown

    @property
    def mode(self) -> str | None:
        """The mode the session is in at this moment."""
        return self.ctx.session.mode

    @property
    def client_tools(self) -> tuple[Any, ...]:
        """The tools that the front end runs itself, as given with the prompt."""
        return tuple(self.ctx.prompt.tools)

    def emit(self, event: ev.AnyEvent) -> None:
        """Emit an event in this turn; safe from any thread."""
        for shown in (event,) if self._discretion is None else self._discretion.feed(event):
            self.ctx.emit(shown)

    async def ask(
        self,
        question: Question,
        *,
        durable_key: str | None = None,
        group: str | None = None,
        lane: str | None = None,
    ) -> ev.Answered:
        """Ask a person and wait; a key that was answered in an earlier process is not asked again."""
        if durable_key is not None and (known := self._answers.pop(durable_key, None)) is not None:
            return known
        if self.ends_run_on_question:
            return self._interrupt(question, durable_key, lane)
        if self._discretion is not None:
            # A call that is asked about has to be shown first; the question itself is the turn's to emit.
            *held, _ = self._discretion.feed(ev.Asked(question_id="", question=question))
            for event in held:
                self.ctx.emit(event)
        key = durable_key if self._durable else None
        return await self.ctx.ask(question, durable_key=key, group=group, lane=lane)

    def ask_sync(
        self,
        question: Question,
        *,
        durable_key: str | None = None,
        lane: str | None = None,
    ) -> ev.Answered:
        """Ask from a plain function, which runs in a thread of its own."""
        if self.ends_run_on_question:
            return self._interrupt(question, durable_key, lane)
        return self.ctx.wait(self.ask(question, durable_key=durable_key, lane=lane))

    def _interrupt(self, question: Question, durable_key: str | None, lane: str | None) -> ev.Answered:
        """Stop the graph for a question, or decline where it could not be resumed."""
        # What has no key is asked in the middle of something that could not begin again.
        if durable_key is None or not (_has_checkpointer() or isinstance(question, ClientCall)):
            key = durable_key or "question"
            return ev.Answered(question_id=key, outcome="declined", reason=_CANNOT_ASK, by="trunkline")
        given = interrupt_for(question, lane)
        answered = read_answer(given, durable_key)
        if answered is not None or self.run is None:
            return answered or ev.Answered(question_id=durable_key, outcome="declined", by="trunkline")
        asked = ev.Asked(question_id=durable_key, question=question, lane=lane)
        return check_answer(asked, self.run.turn.output.read_answer(asked, given))

    # -- permissions -------------------------------------------------------------------------------

    def decide(self, call: Mapping[str, Any], kind: ev.ToolKind, *, durable_key: str) -> Decision | None:
        """What the policy or an earlier "always" says of a tool call; None when a person must decide.

        A call whose key was answered in an earlier process is left to ``ask``.
        """
        if self.ctx.asks_about_everything:
            return None
        # What a person said of this very call says more than "always".
        answered = durable_key in self._answers
        return self.ctx.decide(self._request(call, kind), by_policy_only=answered)

    def covers(self, call: Mapping[str, Any], kind: ev.ToolKind) -> Coverage | None:
        """What an "always" about a tool call would cover; None where the policy wants it to be asked."""
        return self.ctx.covers(self._request(call, kind))

    def remember(self, covers: Coverage | None, decision: Decision) -> None:
        """Keep an "always" for the rest of the session."""
        self.ctx.remember(covers, decision)

    def _request(self, call: Mapping[str, Any], kind: ev.ToolKind) -> ToolRequest:
        """A call with the paths and the command among its arguments."""
        name, args = str(call["name"]), call.get("args")
        declared = self.emitter.tools.declared.get(name)
        named = () if declared is None else (location.path for location in declared.locations_of(args))
        return ToolRequest(
            call_id=str(call.get("id")),
            tool=name,
            kind=kind,
            input=args,
            paths=tuple(dict.fromkeys((*named, *self.emitter.call_files.paths(name, args)))),
            command=command_in(args),
            always_covers_tool=declared is not None and declared.always_covers_tool,
        )


def _has_checkpointer() -> bool:
    """Whether the graph that runs here can be resumed."""
    return bool(get_config().get("configurable", {}).get(CONFIG_KEY_CHECKPOINTER))


def filtered(event_filter: Filter, emit: Callable[[ev.AnyEvent], None]) -> Callable[[ev.AnyEvent], None]:
    """Emit only what ``event_filter`` leaves."""

    def emit_shown(event: ev.AnyEvent) -> None:
        for shown in event_filter.feed(event):
            emit(shown)

    return emit_shown


CHANNEL: ContextVar[Channel | None] = ContextVar("trunkline_channel", default=None)
"""The channel of the run this code is part of."""


def current_channel() -> Channel | None:
    """The channel of the run this code is part of, or None outside of one."""
    return CHANNEL.get()


@contextmanager
def use_channel(channel: Channel) -> Generator[None]:
    """Let everything that starts inside this block talk through ``channel``."""
    token = CHANNEL.set(channel)
    try:
        yield
    finally:
        CHANNEL.reset(token)
