"""The open questions of a session: who answered them, and when they expire (``Settings.question_ttl``).

The first answer wins; the second client learns who was first. An answer is checked against its
question before anything happens, so a front end that sends nonsense changes nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Container, Iterable
from typing import Any

import msgspec

from trunkline import events as ev
from trunkline.commands import Answer
from trunkline.errors import AlreadyAnswered, InvalidCommand
from trunkline.questions import Form, Outcome, Permission
from trunkline.session.form_answers import check_form_answer
from trunkline.transports.event_loops import running_loop

_REMEMBERED = 1000
_LONGEST = 100 * 366 * 86400.0
"""Seconds; whoever asks without end (``math.inf``) gets these, as no wire has a number for it."""


class OpenQuestions:
    """Holds the questions of one session until they are answered."""

    def __init__(self, emit: Callable[[ev.Event], None]) -> None:
        """Announce questions and answers with ``emit``."""
        self._emit = emit
        self._open: dict[str, ev.Asked] = {}
        self._waiting: dict[str, asyncio.Future[ev.Answered]] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self.answered: OrderedDict[str, str | None] = OrderedDict()
        """The newest questions that were answered, and by whom."""
        self.on_expired: Callable[[ev.Answered], None] | None = None
        self.on_asked: Callable[[ev.Asked], None] | None = None
        """Told of each question that a turn of this process asks, in the task that asks it."""

    @property
    def open(self) -> dict[str, ev.Asked]:
        """The open questions by id, oldest first."""
        return self._open

    def ask(self, asked: ev.Asked, *, expires_in: float) -> asyncio.Future[ev.Answered]:
        """Put a question to the followers; the future is its answer."""
        future: asyncio.Future[ev.Answered] = asyncio.get_running_loop().create_future()
        asked = expiring(asked, expires_in)
        self.reopen(asked, expires_in=expires_in)
        self._waiting[asked.question_id] = future
        self._emit(asked)
        if self.on_asked is not None:
            self.on_asked(asked)
        return future

    def reopen(self, asked: ev.Asked, *, expires_in: float) -> None:
        """Hold a question of an earlier process; no task waits for it here yet."""
        question_id = asked.question_id
        self._open[question_id] = asked
        loop = asyncio.get_running_loop()
        self._timers[question_id] = loop.call_later(_bounded(expires_in), self._expire, question_id)

    def check(self, answers: Iterable[Answer]) -> list[ev.Answered]:
        """Give what these answers would mean, without recording them; raises if one is wrong."""
        return [check_answer(self._find(answer.question_id), answer) for answer in answers]

    def answer(self, answers: Iterable[Answer]) -> list[ev.Answered]:
        """Record answers, all of them or none."""
        checked = self.check(answers)
        for answered in checked:
            self._close(answered)
        return checked

    def withdraw_all(self, outcome: Outcome, reason: str) -> None:
        """Withdraw every open question because its turn is over."""
        for asked in list(self._open.values()):
            self._close(_unanswered(asked, outcome, reason))

    def withdraw_one(self, question_id: str, reason: str) -> None:
        """Withdraw a question as cancelled, if it is open."""
        if (asked := self._open.get(question_id)) is not None:
            self._close(_unanswered(asked, "cancelled", reason))

    def withdraw(self, answered: ev.Answered) -> bool:
        """Withdraw a question, with the answer that its agent gives; False when it is not open."""
        if answered.question_id not in self._open:
            return False
        self._close(answered)
        return True

    def discard_all(self) -> None:
        """Discard every question without an event (another process has them now)."""
        for timer in self._timers.values():
            timer.cancel()
        for future in self._waiting.values():
            future.cancel()
        self._open.clear()
        self._waiting.clear()
        self._timers.clear()

    def apply(self, event: ev.Event) -> None:
        """Learn of an answer that another process gave."""
        if isinstance(event, ev.Answered):
            self._remember(event)

    def _find(self, question_id: str) -> ev.Asked:
        asked = self._open.get(question_id)
        if asked is not None:
            return asked
        if question_id in self.answered:
            raise AlreadyAnswered(question_id, self.answered[question_id])
        raise InvalidCommand(f"there is no open question {question_id!r} in this session")

    def _close(self, answered: ev.Answered) -> None:
        question_id = answered.question_id
        if self._open.pop(question_id, None) is None:
            return  # Another thread was first: hosted turns may end in any.
        self._timers.pop(question_id).cancel()
        self._remember(answered)
        self._emit(answered)
        future = self._waiting.pop(question_id, None)
        if future is not None:
            _resolve(future, answered)

    def _remember(self, answered: ev.Answered) -> None:
        self.answered[answered.question_id] = answered.by
        if len(self.answered) > _REMEMBERED:
            self.answered.popitem(last=False)

    def _expire(self, question_id: str) -> None:
        asked = self._open.get(question_id)
        if asked is not None:
            answered = _unanswered(asked, "expired", "no answer came in time")
            self._close(answered)
            if self.on_expired is not None:
                self.on_expired(answered)


def _resolve(future: asyncio.Future[ev.Answered], answered: ev.Answered) -> None:
    """Give an answer to whoever waits for it, also in the event loop of another thread."""

    def resolve() -> None:
        if not future.done():
            future.set_result(answered)

    loop = future.get_loop()
    if running_loop() is loop:
        resolve()
    elif not loop.is_closed():
        loop.call_soon_threadsafe(resolve)


def _unanswered(asked: ev.Asked, outcome: Any, reason: str) -> ev.Answered:
    option_id = option_kind = None
    if outcome == "expired" and isinstance(asked.question, Permission):
        refusal = next((o for o in asked.question.options if o.kind == "reject_once"), None)
        if refusal is not None:
            outcome, option_id, option_kind = "selected", refusal.option_id, refusal.kind
    return ev.Answered(
        turn_id=asked.turn_id,
        lane=asked.lane,
        question_id=asked.question_id,
        outcome=outcome,
        option_id=option_id,
        option_kind=option_kind,
        reason=reason,
        by="trunkline",
    )


def check_answer(asked: ev.Asked, answer: Answer) -> ev.Answered:
    """Check an answer against its question and give it as an event."""
    question, outcome = asked.question, answer.outcome
    option_kind = None
    if outcome in ("cancelled", "expired"):
        pass
    elif isinstance(question, Permission):
        if outcome == "declined":
            pass
        elif outcome != "selected" or answer.option_id is None:
            raise InvalidCommand("a permission is answered by selecting one of its options")
        else:
            option = next((o for o in question.options if o.option_id == answer.option_id), None)
            if option is None:
                legal = ", ".join(o.option_id for o in question.options)
                raise InvalidCommand(f"there is no option {answer.option_id!r}; choose one of {legal}")
            option_kind = option.kind
        edited: object = answer.input
        if edited is not None and not question.allows_edit:
            raise InvalidCommand("this permission does not allow its arguments to be edited")
        if edited is not None and not isinstance(edited, dict):
            raise InvalidCommand("edited arguments are an object with all of them, by name")
    elif outcome == "selected":
        raise InvalidCommand(f"a {type(question).__name__} has no options: accept or decline it")
    elif outcome == "accepted" and isinstance(question, Form):
        check_form_answer(question, answer.content)
    return ev.Answered(
        turn_id=asked.turn_id,
        lane=asked.lane,
        meta=answer.meta,
        question_id=asked.question_id,
        outcome=outcome,
        option_id=answer.option_id if option_kind else None,
        option_kind=option_kind,
        input=answer.input,
        content=answer.content,
        reason=answer.reason,
        by=answer.by,
    )


def named(asked: ev.Asked, taken: Container[str]) -> ev.Asked:
    """Name a durable question by its key, so that an answer finds it after a restart without a journal too.

    A key that comes again in a session is counted.
    """
    key = asked.durable_key
    if not key:
        return asked
    number, name = 1, key
    while name in taken:
        number += 1
        name = f"{key}.{number}"
    return msgspec.structs.replace(asked, question_id=name)


def expiring(asked: ev.Asked, expires_in: float) -> ev.Asked:
    """Give a question that is asked now, with the time of its end."""
    return msgspec.structs.replace(asked, expires_at=time.time() + _bounded(expires_in))


def _bounded(seconds: float) -> float:
    return seconds if seconds <= _LONGEST else _LONGEST  # Also for NaN.


def seconds_left(asked: ev.Asked, ttl: float) -> float:
    """How long a question of an earlier process may still be answered."""
    return max(0.0, asked.expires_at - time.time()) if asked.expires_at else ttl
