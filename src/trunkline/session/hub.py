"""The hub: opens, lists, copies and deletes the sessions of one agent on one journal.

It closes sessions that are not used, and has the journal watched (``journal_polling``) and the leases of its
sessions renewed (``lease_renewal``). A process has one hub per agent it serves.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import Sequence
from typing import Any, cast
from weakref import WeakValueDictionary

from trunkline.agents.interface import Agent, Closes, DeletesSessions, Forks, Prepares
from trunkline.agents.optional_methods import recall
from trunkline.errors import (
    ConfigurationError,
    InvalidCommand,
    JournalError,
    SessionBusy,
    SessionClosed,
    SessionNotFound,
    TrunklineError,
)
from trunkline.journal import Held, Journal, Lease, Record, SessionInfo, SessionKey
from trunkline.session.context import SessionView
from trunkline.session.ids import new_session_id
from trunkline.session.imported_history import import_agent_history
from trunkline.session.journal_polling import JournalPolling
from trunkline.session.lease_renewal import LeaseRenewal
from trunkline.session.owners import new_owner
from trunkline.session.session import Session
from trunkline.session.settings import Settings
from trunkline.workspace import Policy
from trunkline.workspace.policy import read_policy
from trunkline.workspace.roots import existing_folder

__all__ = ["Hub"]

log = logging.getLogger("trunkline.hub")


class Hub:
    """Sessions of one agent; use it as an async context manager."""

    def __init__(
        self,
        agent: Agent,
        journal: Journal,
        *,
        target: str = "",
        settings: Settings | None = None,
        policy: Policy | str | os.PathLike[str] | None = None,
        default_cwd: str | os.PathLike[str] | None = None,
    ) -> None:
        """Serve ``agent``; ``target`` is how other processes can find the same agent.

        ``policy`` is a Policy, the name of a ready one, or a file; without one a person is asked only what
        the agent asks. ``default_cwd`` is the folder of new sessions whose client names none.
        """
        if not isinstance(cast("Any", agent), Agent):
            kind = type(agent).__name__
            raise ConfigurationError(f"an object of type {kind} is no agent: give trunkline.adapt(...) of it")
        self.agent = agent
        self.journal = journal
        self.target = target
        self.settings = settings or Settings()
        self.policy = read_policy(policy)
        self.default_cwd = None if default_cwd is None else existing_folder(default_cwd)
        self.owner = new_owner()
        self._sessions: dict[SessionKey, Session] = {}
        # A lock lives as long as somebody holds it or waits for it.
        self._opening: WeakValueDictionary[SessionKey, asyncio.Lock] = WeakValueDictionary()
        self._tasks: list[asyncio.Task[None]] = []
        self.lease_renewal = LeaseRenewal(
            journal,
            self.owner,
            self.settings.lease_ttl,
            lambda: [session.ownership for session in self._sessions.values()],
        )
        self._polling = JournalPolling(
            journal,
            self.owner,
            self.settings,
            self._sessions,
            lambda key: self.session(key.session_id, principal=key.principal),
        )
        self._closing: dict[asyncio.Task[None], SessionKey] = {}
        self._preparing = asyncio.Lock()
        self._prepared = not isinstance(agent, Prepares)
        self._closed = False

    # -- sessions ----------------------------------------------------------------------------------

    async def create(
        self,
        session_id: str | None = None,
        *,
        principal: str = "local",
        cwd: str | None = None,
        roots: Sequence[str] = (),
        mcp_servers: Sequence[dict[str, Any]] = (),
        client: dict[str, Any] | None = None,
        meta: dict[str, Any] | None = None,
    ) -> Session:
        """Open a new session; an id that is taken raises SessionBusy."""
        self._check_open()
        await self.prepare_agent()
        cwd = cwd or self.default_cwd
        for folder in (*((cwd,) if cwd else ()), *roots):
            if not os.path.isabs(folder):
                raise InvalidCommand(f"{folder!r} is not an absolute path")
        info = await self.journal.create(
            SessionInfo(
                principal=principal,
                session_id=session_id or new_session_id(),
                target=self.target,
                cwd=cwd,
                roots=tuple(roots),
                meta=meta,
            )
        )
        session = await self._open(info, mcp_servers, client)
        if session_id is not None:
            await import_agent_history(session, is_new=True)
        return session

    async def prepare_agent(self) -> None:
        """Wait until the agent's card is the real one; one that cannot say so yet is asked again later."""
        if self._prepared:
            return
        async with self._preparing:
            if not self._prepared and isinstance(self.agent, Prepares):
                await self.agent.prepare()
            self._prepared = True

    async def _try_to_prepare(self) -> None:
        """Prepare the agent if it answers; what is stored can be read without it."""
        try:
            await self.prepare_agent()
        except Exception as error:
            log.warning("%s is not ready, and is asked again later: %s", self.agent.card.name, error)

    async def session(
        self,
        session_id: str,
        *,
        principal: str = "local",
        mcp_servers: Sequence[dict[str, Any]] = (),
        client: dict[str, Any] | None = None,
    ) -> Session:
        """Give a session that exists; others' sessions do not exist for a principal."""
        self._check_open()
        key = SessionKey(principal, session_id)
        lock = self._opening.setdefault(key, asyncio.Lock())
        async with lock:
            live = self._sessions.get(key)
            if live is not None and not live.closed:
                live.last_used_at = time.monotonic()
                # The one that was asked for last stands last.
                self._sessions[key] = self._sessions.pop(key)
                return live
            if live is not None:
                await live.released.wait()
            await self._wait_for_agent(key)
            info = await self.journal.get(key)
            if info is None:
                info = await self._recall(key)
            elif self.may_run(info):
                await self._try_to_prepare()
            session = await self._open(info, mcp_servers, client)
            await import_agent_history(session)
            return session

    async def _recall(self, key: SessionKey) -> SessionInfo:
        """Make a session of what only the agent remembers: a conversation held elsewhere."""
        await self.prepare_agent()
        view = SessionView(session_id=key.session_id, principal=key.principal, cwd=self.default_cwd)
        # A caller may send any id: an agent whose memory is not the truth need not look for it.
        if not self.agent.card.authoritative_history or await recall(self.agent, view) is None:
            raise SessionNotFound(f"there is no session {key.session_id!r}")
        return await self.journal.create(
            SessionInfo(
                principal=key.principal, session_id=key.session_id, target=self.target, cwd=self.default_cwd
            )
        )

    async def _open(
        self, info: SessionInfo, mcp_servers: Sequence[dict[str, Any]], client: dict[str, Any] | None
    ) -> Session:
        session = Session(self, info, _view_of(info, mcp_servers, client))
        await session.open()
        # Two may have opened it at the same time: there is one object per session.
        return self._sessions.setdefault(info.key, session)

    async def list(
        self,
        *,
        principal: str | None = "local",
        cwd: str | None = None,
        limit: int = 100,
        before: tuple[float, str] | None = None,
        begun: bool = False,
    ) -> list[SessionInfo]:
        """Sessions, newest first; with ``begun`` only those that have a prompt."""
        return await self.journal.list(principal, cwd=cwd, limit=limit, before=before, begun=begun)

    async def delete(self, session_id: str, *, principal: str = "local") -> bool:
        """Close and remove a session; False if there was none. One that runs elsewhere is busy."""
        key = SessionKey(principal, session_id)
        live = self._sessions.get(key)
        if live is not None:
            await live.close()
            await live.released.wait()
        await self._wait_for_agent(key)
        info = await self.journal.get(key)
        if info is not None and info.owner is not None:
            raise SessionBusy("another process owns this session: close it there first")
        if info is not None and self.may_run(info) and isinstance(self.agent, DeletesSessions):
            await self.agent.delete_session(_view_of(info))
        return await self.journal.delete(key)

    async def fork(
        self, session: Session, session_id: str | None = None, *, to_message_id: str | None = None
    ) -> Session:
        """Open a new session that begins with everything of another one so far, or up to a message."""
        await session.wait_for_ending_turn()
        if not session.may_run:
            # Its copy would belong to the agent of this hub.
            raise SessionBusy(
                f"this session belongs to {session.info.target!r}: fork it where that is served"
            )
        if session.busy:
            raise SessionBusy("a turn is running in this session: wait for it before forking")
        fork = await self.create(
            session_id,
            principal=session.info.principal,
            cwd=session.info.cwd,
            roots=session.info.roots,
            meta=session.info.meta,
        )
        try:
            if isinstance(self.agent, Forks):
                await session.read_kept()
                await self.agent.fork(fork.view, session.view)
            await self._copy(session, fork)
            await fork.open()
            if to_message_id is not None:
                await fork.rewind(to_message_id)
        except BaseException:
            # Half a conversation must not stand under the new name, if the journal still takes that.
            with contextlib.suppress(JournalError):
                await self.delete(fork.session_id, principal=session.info.principal)
            raise
        fork.title.set(session.info.title)
        return fork

    async def _copy(self, session: Session, fork: Session) -> None:
        lease = await self.journal.claim(fork.key, self.owner, self.settings.lease_ttl)
        assert not isinstance(lease, Held), "no other process knows the new session yet"
        try:
            await self._copy_records(session, lease)
        finally:
            await self.journal.release(lease)

    async def _copy_records(self, session: Session, lease: Lease) -> None:
        seq = 0
        after = 0
        while page := await self.journal.read(session.key, after=after):
            copies: list[Record] = []
            for record in page:
                seq, after = seq + 1, record.seq
                copies.append(
                    Record(
                        seq=seq, at=record.at, fence=lease.fence, event=record.event, command=record.command
                    )
                )
            await self.journal.append(lease, copies)

    def may_run(self, info: SessionInfo) -> bool:
        """Whether this process serves the agent that the session belongs to."""
        return not info.target or info.target == self.target

    def discard(self, key: SessionKey, session: object) -> None:
        """Drop a session that was closed."""
        if self._sessions.get(key) is session:
            del self._sessions[key]

    def wait_at_close(self, key: SessionKey, task: asyncio.Task[None]) -> None:
        """Wait for this task before the session is opened again or deleted, and when the hub is closed."""
        self._closing[task] = key
        task.add_done_callback(self._closing.pop)

    async def _wait_for_agent(self, key: SessionKey) -> None:
        """Wait until the agent has closed what it held for an earlier opening of a session."""
        if closing := {task for task, closed in self._closing.items() if closed == key}:
            await asyncio.wait(closing, timeout=self.settings.close_agent_after)

    # -- lifetime ----------------------------------------------------------------------------------

    async def __aenter__(self) -> Hub:
        self._tasks = [
            asyncio.create_task(self._polling.run(), name="trunkline watch"),
            asyncio.create_task(self.lease_renewal.run(), name="trunkline renew"),
            asyncio.create_task(self._close_idle(), name="trunkline close idle"),
            asyncio.create_task(self._apply_retention(), name="trunkline retain"),
        ]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close every session, write everything and release the leases; idempotent."""
        if self._closed:
            return
        self._closed = True
        sessions = list(self._sessions.values())
        for failure in await asyncio.gather(*(s.close() for s in sessions), return_exceptions=True):
            if isinstance(failure, BaseException):
                log.error("a session could not be closed as it should be: %s", failure)
        if self._closing:
            await asyncio.wait(set(self._closing))
        await self._close_agent()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.lease_renewal.close()

    async def _close_agent(self) -> None:
        if isinstance(self.agent, Closes):
            try:
                async with asyncio.timeout(self.settings.close_agent_after):
                    await self.agent.close_agent()
            except Exception:
                log.exception("%s could not be closed as it should be", self.agent.card.name)
        self._prepared = not isinstance(self.agent, Prepares)

    async def changed(self, timeout: float) -> None:
        """Wait until the journal changed, at most ``timeout`` seconds."""
        await self._polling.changed(timeout)

    def notice_activity(self) -> None:
        """Look at the journal at once: something began to run or to be followed."""
        self._polling.notice_activity()

    async def _close_idle(self) -> None:
        """Close sessions that are not used, so that a thousand threads cost no more than the last few."""
        while self.settings.idle_sessions is not None:
            await asyncio.sleep(self.settings.lease_ttl)
            idle = [session for session in self._sessions.values() if session.idle]
            before = time.monotonic() - self.settings.idle_after
            for session in idle[: max(0, len(idle) - self.settings.idle_sessions)]:
                if session.idle and session.last_used_at <= before:
                    try:
                        await session.close()
                    except TrunklineError as error:
                        log.warning("an idle session could not be closed as it should be: %s", error)

    async def _apply_retention(self) -> None:
        """Discard what the settings do not want to keep, at the start and now and then."""
        age, size = self.settings.retain_age, self.settings.retain_bytes
        while age is not None or size is not None:
            try:
                if age is not None:
                    await self._close_unused(time.monotonic() - age)
                if removed := await self.journal.retain(max_age=age, max_bytes=size):
                    log.info("%d records were discarded, as the settings say", removed)
            except TrunklineError as error:
                log.warning("old sessions could not be discarded: %s", error)
            await asyncio.sleep(self.settings.retain_every)

    async def _close_unused(self, before: float) -> None:
        """Close our sessions that no caller asked for: what we hold counts as used."""
        for session in list(self._sessions.values()):
            if session.idle and session.last_used_at <= before:
                await session.close()

    def _check_open(self) -> None:
        if self._closed:
            raise SessionClosed("the hub was closed")


def _view_of(
    info: SessionInfo, mcp_servers: Sequence[dict[str, Any]] = (), client: dict[str, Any] | None = None
) -> SessionView:
    """Give a session as its agent sees it, with everything that is stored of it."""
    return SessionView(
        session_id=info.session_id,
        principal=info.principal,
        cwd=info.cwd,
        roots=info.roots,
        mcp_servers=mcp_servers,
        client=client,
        meta=info.meta,
        kept=info.kept,
    )
