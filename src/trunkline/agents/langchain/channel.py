"""The channel: whom a middleware, a tool or a callback talks to while an agent runs.

In a session it is the turn (:class:`SessionChannel`); in somebody's own ``ainvoke`` it is whatever transport
they gave. It travels in a context variable, so one agent object serves many clients at once and
nothing of it reaches a checkpoint.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

from trunkline import events as ev
from trunkline.agents.langchain.messages.emitter import Emitter
from trunkline.questions import Coverage, Question
from trunkline.session.context import Decision, ToolRequest, TurnContext
from trunkline.translate import Translator
from trunkline.workspace.coverage import command_in

__all__ = ["CHANNEL", "Channel", "SessionChannel", "current_channel", "use_channel"]


class Channel(Protocol):
    """Says events and asks questions, for one run of an agent."""

    @property
    def session_id(self) -> str:
        """The session's name, which is the thread of a graph."""
        ...

    @property
    def emitter(self) -> Emitter:
        """Says messages and calls, each once, whoever comes first."""
        ...

    @property
    def memory(self) -> dict[Any, Any]:
        """A place for things that live as long as the session does in this process."""
        ...

    @property
    def mode(self) -> str | None:
        """The mode the session is in at this moment."""
        ...

    @property
    def client_tools(self) -> tuple[Any, ...]:
        """The tools that the front end runs itself, as given with the prompt."""
        ...

    def say(self, event: ev.AnyEvent) -> None:
        """Say an event; safe from any thread, never raises."""
        ...

    async def ask(
        self,
        question: Question,
        *,
        durable_key: str | None = None,
        group: str | None = None,
        lane: str | None = None,
    ) -> ev.Answered:
        """Ask a person and wait; a key that was answered in an earlier process is not asked again."""
        ...

    def ask_sync(
        self,
        question: Question,
        *,
        durable_key: str | None = None,
        group: str | None = None,
        lane: str | None = None,
    ) -> ev.Answered:
        """Ask from a plain function, which runs in a thread of its own."""
        ...

    def decide(self, call: Mapping[str, Any], kind: ev.ToolKind, *, durable_key: str) -> Decision | None:
        """What is known of a tool call before anybody is asked; None when a person must decide.

        The operator's policy comes first, then the "always" answers of this session. A call whose key
        was answered in an earlier process is left to ``ask``.
        """
        ...

    def covers(self, call: Mapping[str, Any], kind: ev.ToolKind) -> Coverage | None:
        """What an "always" about a tool call would cover; None where it would not count."""
        ...

    def remember(self, covers: Coverage | None, decision: Decision) -> None:
        """Keep an "always" for the rest of the session."""
        ...


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


class SessionChannel:
    """Talks through a turn of a session."""

    def __init__(
        self,
        ctx: TurnContext,
        emitter: Emitter,
        *,
        durable: bool = False,
        answers: Mapping[str, ev.Answered] | None = None,
        discretion: Translator[ev.AnyEvent, ev.AnyEvent] | None = None,
    ) -> None:
        """Speak in a turn; ``answers`` are those that came after a restart, by durable key.

        ``discretion`` leaves out what is not to be shown.
        """
        self.ctx = ctx
        self.emitter = emitter
        self._discretion = discretion
        self._durable = durable
        self._answers = dict(answers or {})

    @property
    def session_id(self) -> str:
        """The session's name, which is the thread of a graph."""
        return self.ctx.session.thread_id

    @property
    def memory(self) -> dict[Any, Any]:
        """The session's own place for things."""
        return self.ctx.session.memory

    @property
    def mode(self) -> str | None:
        """The mode the session is in at this moment."""
        return self.ctx.session.mode

    @property
    def client_tools(self) -> tuple[Any, ...]:
        """The tools that the front end runs itself."""
        return tuple(self.ctx.prompt.tools)

    def say(self, event: ev.AnyEvent) -> None:
        """Say an event in this turn."""
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
        """Ask whoever follows the session; only an agent that remembers can be asked durably."""
        if durable_key is not None and (known := self._answers.pop(durable_key, None)) is not None:
            return known
        if self._discretion is not None:
            # A call that is asked about has to be shown first; the question itself is the turn's to say.
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
        group: str | None = None,
        lane: str | None = None,
    ) -> ev.Answered:
        """Ask from a plain function, which runs in a thread of its own."""
        return self.ctx.wait(self.ask(question, durable_key=durable_key, group=group, lane=lane))

    def decide(self, call: Mapping[str, Any], kind: ev.ToolKind, *, durable_key: str) -> Decision | None:
        """What the session's policy or an earlier answer says of a tool call; None to ask."""
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
        return ToolRequest(
            call_id=str(call.get("id")),
            tool=name,
            kind=kind,
            input=args,
            paths=tuple(self.emitter.call_files.paths(name, args)),
            command=command_in(args),
        )
