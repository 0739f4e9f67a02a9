"""A channel that records events, for runs without a session."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

from trunkline import events as ev
from trunkline.agents.langchain.channel import Channel
from trunkline.agents.langchain.messages.emitter import Emitter
from trunkline.questions import Coverage, Question
from trunkline.session.context import Decision, TurnContext


class Ear(Channel):
    """Keeps every event; answers every question with the same option."""

    def __init__(self, session_id: str = "t", mode: str | None = None, answer: str = "allow_once") -> None:
        self.heard: list[Any] = []
        self.asked: list[Question] = []
        self._answer = answer
        session = SimpleNamespace(
            thread_id=session_id, memory={}, mode=mode, principal="local", options=(), session_id=session_id
        )
        ctx = SimpleNamespace(
            live=True,
            session=session,
            prompt=SimpleNamespace(tools=(), content=()),
            emit=self.heard.append,
            usage=_ignore,
            ready=_at_once,
        )
        super().__init__(cast("TurnContext", ctx), Emitter(self.emit, "turn-1"))
        self.follows_run = False

    def emit(self, event: ev.AnyEvent) -> None:
        self.heard.append(event)

    async def ask(self, question: Question, **about: Any) -> ev.Answered:
        return self.ask_sync(question, **about)

    def ask_sync(self, question: Question, **about: Any) -> ev.Answered:
        self.asked.append(question)
        return ev.Answered(
            question_id="q", outcome="selected", option_id=self._answer, option_kind=self._answer
        )

    def decide(self, call: Mapping[str, Any], kind: ev.ToolKind, *, durable_key: str) -> Decision | None:
        return None

    def covers(self, call: Mapping[str, Any], kind: ev.ToolKind) -> Coverage | None:
        return None

    def remember(self, covers: Coverage | None, decision: Decision) -> None:
        return None

    @property
    def plans(self) -> list[list[str]]:
        """The plans so far: what is to be done, with what is done marked."""
        marks = {"completed": "+", "in_progress": ">", "pending": ""}
        said = [event for event in self.heard if isinstance(event, ev.Plan)]
        return [[marks[entry.status] + entry.content for entry in plan.entries] for plan in said]


def _ignore(usage: ev.TokenUsage) -> None:
    return None


async def _at_once() -> None:
    return None
