"""The turn that an agent's requests belong to: its open questions end when it ends or is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from typing import Any, TypeVar

from trunkline import events as ev
from trunkline.errors import SessionClosed, TurnCancelled
from trunkline.session.context import CURRENT, TurnContext
from trunkline.session.view import SessionView

T = TypeVar("T")


class RequestTurn:
    """The running turn of one session, as those who answer the agent's requests see it."""

    def __init__(self, view: SessionView) -> None:
        self.view = view
        self.cancelled = False
        """Whether the turn was cancelled: nothing is asked or changed in it any more."""
        self._turn: TurnContext | None = None
        self._pending: set[asyncio.Task[Any]] = set()

    @property
    def turn(self) -> TurnContext | None:
        """The running turn; None between turns."""
        return self._turn if self._turn is not None and self._turn.live else None

    @turn.setter
    def turn(self, turn: TurnContext | None) -> None:
        self._withdraw()
        self._turn, self.cancelled = turn, False

    def cancel(self) -> None:
        """End what waits for an answer in this turn, and refuse what comes later."""
        self.cancelled = True
        self._withdraw()

    def _withdraw(self) -> None:
        for task in self._pending:
            task.cancel()

    def check_not_cancelled(self) -> None:
        """Refuse a change in a turn that was cancelled."""
        if self.cancelled:
            raise TurnCancelled("the turn was cancelled: nothing is changed or started in it any more")

    @contextmanager
    def current(self) -> Generator[None]:
        """Let what is done inside this block belong to the running turn."""
        token = CURRENT.set(self.turn)
        try:
            yield
        finally:
            CURRENT.reset(token)

    async def until_cancelled(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for something that ends with the turn; raises TurnCancelled when the turn ends first."""
        task = asyncio.create_task(work)
        self._pending.add(task)
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            # The agent withdrew its request: so is the question.
            task.cancel()
            await asyncio.wait({task})
            raise
        finally:
            self._pending.discard(task)
        if task.cancelled():
            raise TurnCancelled("the turn was cancelled while the agent waited for an answer")
        return task.result()

    def notice(self, title: str, description: str, code: str) -> None:
        """Show the person that something was refused, also between turns."""
        notice = ev.Notice(title=title, description=description, severity="warning", code=code)
        try:
            self.view.emit(notice)
        except SessionClosed:
            return
