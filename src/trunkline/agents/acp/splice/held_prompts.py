"""Prompts of the editor that wait until it is known that no other process works on their session.

A session can be open in two places, each with an agent process of its own: two editors, or an editor and a
page. An agent that is prompted while another one works on the same session, or that does not know what the
other one did, would answer to another conversation than the one that its person sees. So a prompt is held
until the session is ours, and is refused with the reason when it does not become that, or when it went on
elsewhere since the editor opened it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, Protocol

from trunkline.agents.acp.splice.loose_parsing import id_key
from trunkline.errors import SessionBusy
from trunkline.protocols.acp.fields import as_object
from trunkline.protocols.jsonrpc.messages import REQUEST_CANCELLED, Id, Message, Notification, Request

PROMPT = "session/prompt"
_ENTERING = (PROMPT, "session/load", "session/resume")
HELD_LIMIT = 1000
"""How many lines may wait before the editor has to."""

BUSY = (
    "another client of trunkline is working in this session (a page, or another editor): wait for the end of "
    "its turn, then send the prompt again"
)
WENT_ON = (
    "this session went on in another client of trunkline since it was opened here, and the agent of this "
    "editor does not know what was said there: open the session again, then send the prompt again"
)

STUCK = (
    "this session went on in another client of trunkline since it was opened here, and the agent of this "
    "editor does not know what was said there, and cannot close the session: restart the agent, open the "
    "session again, then send the prompt again"
)


class EnteredSession(Protocol):
    """The journal of a session, as far as it says whether the session can be prompted."""

    @property
    def may_be_elsewhere(self) -> bool:
        """Whether another process may run the turns of the session."""
        ...

    async def enter(self) -> str | None:
        """Let the turns run here; gives why they cannot."""
        ...


class EditorLines(Protocol):
    """Where lines of the editor go."""

    def journal_of(self, session_id: str) -> EnteredSession | None:
        """Give the journal of a session."""
        ...

    def forward(self, raw: bytes, message: Message) -> None:
        """Send a line of the editor to the agent."""

    def answer(self, request_id: Id, result: Any) -> None:
        """Answer a request of the editor's in the place of the agent."""

    def refuse(self, request_id: Id, why: str, code: int) -> None:
        """Refuse a request of the editor's in the place of the agent."""


class HeldPrompts:
    """Holds prompts, and what the editor writes to the same session after them."""

    def __init__(self, lines: EditorLines) -> None:
        self._lines = lines
        self._held: dict[str, deque[tuple[bytes, Message]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def is_full(self) -> bool:
        """Whether so much waits that the editor should."""
        return sum(map(len, self._held.values())) >= HELD_LIMIT

    async def settled(self) -> None:
        """Wait until nothing is held."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    def take(self, raw: bytes, message: Message) -> bool:
        """Hold a line back, if it must wait; else it is to be forwarded."""
        if not isinstance(message, Request | Notification):
            return False
        params = as_object(message.params)
        if message.method == "$/cancel_request":
            return self._withdraw(params.get("requestId"))
        session_id = params.get("sessionId")
        if not isinstance(session_id, str):
            return False
        if (waiting := self._held.get(session_id)) is not None:
            if message.method == "session/cancel":
                self._cancel(waiting)
            else:
                waiting.append((raw, message))
            return True
        if message.method not in _ENTERING or not isinstance(message, Request):
            return False
        journal = self._lines.journal_of(session_id)
        if journal is None or not journal.may_be_elsewhere:
            return False
        self._held[session_id] = deque([(raw, message)])
        task = asyncio.create_task(self._decide(session_id, journal))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return True

    async def _decide(self, session_id: str, journal: EnteredSession) -> None:
        why = await journal.enter()
        for raw, message in self._held.pop(session_id):
            if why is not None and isinstance(message, Request) and message.method == PROMPT:
                self._lines.refuse(message.id, why, SessionBusy.hint.jsonrpc)
            else:
                self._lines.forward(raw, message)

    def _cancel(self, waiting: deque[tuple[bytes, Message]]) -> None:
        """Cancel the prompts that wait: the agent has not seen them."""
        for held in list(waiting):
            if isinstance(held[1], Request) and held[1].method == PROMPT:
                waiting.remove(held)
                self._lines.answer(held[1].id, {"stopReason": "cancelled"})

    def _withdraw(self, request_id: Any) -> bool:
        """Refuse a request that waits and that the editor does not want any more; whether there is one."""
        for waiting in self._held.values():
            for held in list(waiting):
                if isinstance(held[1], Request) and id_key(held[1].id) == id_key(request_id):
                    waiting.remove(held)
                    self._lines.refuse(request_id, "request cancelled", REQUEST_CANCELLED)
                    return True
        return False

    def close(self) -> None:
        """Decide nothing more: the editor is gone."""
        for task in self._tasks:
            task.cancel()
