"""All runs of a thread, one after the other, for a client that stays: a second tab that follows live."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

from trunkline import events as ev
from trunkline.cursor import Cursor, Gap
from trunkline.errors import SessionClosed, SessionNotFound
from trunkline.frontends.agui.run import AguiReplay, Batch
from trunkline.session.session import Session


class AguiFollower:
    """Shows a thread as it is and then, in the same stream, every run that any client starts in it.

    "RUN_STARTED" is legal after the end of a run, so this is one stream for the official client too.
    """

    def __init__(self, first: AguiReplay, open_next: Callable[[int], Awaitable[AguiReplay | None]]) -> None:
        """Begin with a replay; ``open_next(number)`` opens that of the run that comes then."""
        self._first = first
        self._open_next = open_next

    async def __aiter__(self) -> AsyncGenerator[Batch]:
        """Give batches of events until the session is closed or deleted."""
        run: AguiReplay | None = self._first
        number = 1
        while run is not None:
            after = run.begins_after
            async with aclosing(aiter(run)) as batches:
                async for cursor, events in batches:
                    after = cursor or after
                    yield cursor, events
            try:
                await _wait_for_run(run.session, after)
            except (SessionClosed, SessionNotFound):
                return
            number += 1
            run = await self._open_next(number)

    async def close(self) -> None:
        """Detach the client: who only looks on ends nothing."""


async def _wait_for_run(session: Session, after: Cursor | None) -> None:
    """Wait until a turn begins, or goes on after a question."""
    reader = await session.subscribe(after)
    if isinstance(reader, Gap):
        return  # What the client has is not stored any more: it is shown the thread again.
    async with reader:
        async for entry in reader:
            if isinstance(entry.event, ev.TurnStarted | ev.TurnResumed):
                return
