"""What a client's request means for a session: start a turn, answer its questions, or nothing any more.

A client that sends its whole history with each request leaves it to the server to find out which.
"""

from __future__ import annotations

from typing import Any, Union

import msgspec

from trunkline import events as ev
from trunkline.commands import Answer, Prompt

NO_REWIND: Any = object()
"""Stands for: leave the history as it is."""


class StartTurn(msgspec.Struct, frozen=True, kw_only=True):
    """Start a turn; before it, go back to a message, or take over a history, or give up what waits."""

    prompt: Prompt
    rewind_to: Any = NO_REWIND
    history: tuple[ev.Event, ...] = ()
    cancels_waiting: bool = False
    """Whether the turn that waits for its client tools is cancelled for it."""


class AnswerQuestions(msgspec.Struct, frozen=True, kw_only=True):
    """Answer what the turn waits for."""

    answers: tuple[Answer, ...]


class TooLate(msgspec.Struct, frozen=True, kw_only=True):
    """The answers are to questions that are no longer open."""

    question_ids: tuple[str, ...]


Intent = Union[StartTurn, AnswerQuestions, TooLate]
