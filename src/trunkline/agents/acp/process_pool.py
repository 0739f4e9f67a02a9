"""The processes of one ACP agent: one for each session, or one for all of them.

The process that did the first handshake is the spare one: it waits for the first session, if that is in the
same folder, and ends after a while. What ends the process of an unused session is in ``idle_close``, and a
process that ended is replaced by its session, in ``native_session``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from trunkline.agents.acp.connection import AgentConnection


class AgentProcesses:
    """Starts, hands out and ends the processes of an agent."""

    def __init__(
        self, start: Callable[[str | None], Awaitable[AgentConnection]], *, shared: bool, spare_idle: float
    ) -> None:
        """Use ``start`` to get a process that is ready, in a folder (None: the agent's own).

        The spare one, which waits for its first session, ends after ``spare_idle`` seconds.
        """
        self._start = start
        self._shared = shared
        self._spare_idle = spare_idle
        self._spare: AgentConnection | None = None
        self._users: dict[AgentConnection, int] = {}
        self._retired: set[AgentConnection] = set()
        self._preferred: AgentConnection | None = None
        self._lock = asyncio.Lock()
        self._closing: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None

    async def prepare(self) -> AgentConnection:
        """Give a process that runs, without taking it: one that a session uses, or the one that waits."""
        async with self._lock:
            used = next((one for one in self._users if not one.ended.is_set()), None)
            return used or await self._have_spare()

    async def take(self, cwd: str | None = None) -> AgentConnection:
        """Give a process to a session, which gives it back with ``release``.

        A process of one session is started in the session's folder, a shared one in the agent's own.
        """
        async with self._lock:
            if self._shared:
                usable = (one for one in self._users if not one.ended.is_set() and one not in self._retired)
                return self._hand_out(next(usable, None) or await self._have_spare())
            spare = self._spare
            if spare is not None and not spare.ended.is_set():
                if cwd is None or spare.cwd == cwd or spare is self._preferred:
                    return self._hand_out(spare)
                # Some agents read their settings in the folder of their process, and show it.
                self._close_spare()
        # Several start at once: one that hangs holds up its own session alone.
        return self._hand_out(await self._start(cwd))

    def prefer(self, connection: AgentConnection) -> None:
        """Give a process to the next session in whatever folder that is: it is the one that was logged in."""
        self._preferred = connection

    def _hand_out(self, connection: AgentConnection) -> AgentConnection:
        if connection is self._spare:
            self._set_spare(None)
        self._users[connection] = self._users.get(connection, 0) + 1
        return connection

    def join(self, connection: AgentConnection) -> bool:
        """Give a process that a session uses to one more, which releases it too; False if it has ended."""
        if connection not in self._users or connection.ended.is_set():
            return False
        self._users[connection] += 1
        return True

    def retire(self, connection: AgentConnection) -> None:
        """Give a process to no other session; those that use it keep it."""
        if connection in self._users:
            self._retired.add(connection)

    async def release(self, connection: AgentConnection, *, interrupt: bool = False) -> None:
        """Take a process back from a session; it is ended once no session uses it."""
        left = self._users.get(connection, 0) - 1
        if left > 0:
            self._users[connection] = left
            return
        self._users.pop(connection, None)
        self._retired.discard(connection)
        await self._close(connection, interrupt=interrupt)

    def keep_for_next(self, connection: AgentConnection) -> None:
        """Take a process back that a session could not use yet, and keep it: after a login it can."""
        left = self._users.pop(connection, 1) - 1
        if left > 0:
            self._users[connection] = left
        elif self._spare is None and not connection.ended.is_set():
            self._set_spare(connection)
        else:
            self._close_soon(connection)

    def users_of(self, connection: AgentConnection) -> int:
        """How many sessions use a process."""
        return self._users.get(connection, 0)

    async def close(self) -> None:
        """End every process, also those that sessions use."""
        spare = self._spare
        self._set_spare(None)
        for connection in {*self._users, *([spare] if spare is not None else [])}:
            self._close_soon(connection)
        self._users.clear()
        self._retired.clear()
        if self._closing:
            await asyncio.wait(self._closing)

    async def _have_spare(self) -> AgentConnection:
        if self._spare is None or self._spare.ended.is_set():
            self._set_spare(await self._start(None))
        assert self._spare is not None
        return self._spare

    def _set_spare(self, connection: AgentConnection | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._spare, self._timer = connection, None
        if connection is not None:
            self._timer = asyncio.get_running_loop().call_later(self._spare_idle, self._close_spare)

    def _close_spare(self) -> None:
        spare = self._spare
        self._set_spare(None)
        if spare is not None:
            self._close_soon(spare)

    def _close_soon(self, connection: AgentConnection, *, interrupt: bool = False) -> asyncio.Task[None]:
        task = asyncio.create_task(connection.close(interrupt=interrupt))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
        return task

    async def _close(self, connection: AgentConnection, *, interrupt: bool) -> None:
        # In a task of its own: who waits may be cancelled, and the process must end all the same.
        await asyncio.shield(self._close_soon(connection, interrupt=interrupt))
