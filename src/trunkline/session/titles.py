"""The title of a session: its first line, what its agent calls it, or what a person chose."""

from __future__ import annotations

import asyncio
import time
from typing import Any, Protocol

import msgspec

from trunkline import events as ev
from trunkline.commands import Rename
from trunkline.errors import InvalidCommand
from trunkline.journal import Held, Journal, Record, SessionInfo
from trunkline.session.background_tasks import BackgroundTasks
from trunkline.session.history.open_state import OpenState
from trunkline.session.settings import Settings
from trunkline.session.stream.event_stream import EventStream

_FIRST_LINE = 80
_LONGEST = 500


class _Hub(Protocol):
    @property
    def journal(self) -> Journal: ...
    @property
    def owner(self) -> str: ...


class TitledSession(Protocol):
    """What a title needs of its session."""

    info: SessionInfo
    open_state: OpenState
    event_stream: EventStream
    tasks: BackgroundTasks
    settings: Settings

    @property
    def hub(self) -> _Hub:
        """Where the journal is, and the name of this process in a lease."""
        ...


class SessionTitle:
    """Sets the title of one session; what a person chose stays."""

    def __init__(self, session: TitledSession) -> None:
        self._session = session
        self._writing: asyncio.Task[Any] | None = None

    def take_first_line(self, text: str) -> None:
        """Take the first line of a user's message as the title, unless there is one."""
        if self._session.info.title is None and text.strip():
            self.set(text.strip().splitlines()[0].strip()[:_FIRST_LINE])

    def set(self, title: str | None) -> None:
        """Give the session a title, also in the list of sessions."""
        session = self._session
        session.info = msgspec.structs.replace(session.info, title=title)
        self._writing = asyncio.create_task(session.hub.journal.describe(session.info.key, title=title))
        session.tasks.keep(self._writing)

    def set_by_agent(self, title: str | None) -> bool:
        """Take the title that the agent gives; False when a person chose one, which stays.

        Agents of other programs name a session after every turn. ACP's draft of ``session/set_title``:
        "After a successful response, the Agent SHOULD NOT replace the title with one it generates
        automatically." (https://agentclientprotocol.com/protocol/v1/draft/session-setup)
        """
        if self._session.open_state.title_chosen:
            return False
        self.set(title)
        return True

    def rename(self, command: Rename) -> None:
        """Take the title that a person chose; None or an empty one lets the agent name the session again."""
        event = _chosen(command)
        session = self._session
        session.event_stream.add_command(command)
        session.open_state.title_chosen = event.title is not None
        self.set(event.title)
        session.event_stream.emit(event)

    async def rename_at_rest(self, command: Rename) -> bool:
        """Rename a session that no process runs, where its agent is not needed; False if one runs it now."""
        event, session = _chosen(command), self._session
        hub, key = session.hub, session.info.key
        lease = await hub.journal.claim(key, hub.owner, session.settings.lease_ttl)
        if isinstance(lease, Held):
            return False
        try:
            record = Record(seq=lease.last_seq + 1, at=time.time(), fence=lease.fence, event=event)
            await hub.journal.append(lease, [record], durable=True)
            await hub.journal.describe(key, title=event.title)
        finally:
            await hub.journal.release(lease)
        self.apply(event)
        return True

    def apply(self, event: ev.InfoChanged) -> None:
        """Apply what another process set."""
        self._session.info = msgspec.structs.replace(self._session.info, title=event.title)

    async def written(self) -> None:
        """Wait until the title is in the list of sessions."""
        if self._writing is not None:
            await asyncio.wait({self._writing})


def _chosen(command: Rename) -> ev.InfoChanged:
    """Give the event of a rename; refuses a title that no list could show."""
    title = " ".join((command.title or "").split())
    if len(title) > _LONGEST:
        raise InvalidCommand(f"the title has {len(title)} characters: {_LONGEST} are the most")
    return ev.InfoChanged(title=title or None, by=command.by or "local")
