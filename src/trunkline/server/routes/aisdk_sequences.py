"""The newest chunks that went to WebSockets, by their numbers: a client that comes back goes on after one.

A replay folds to the same message, but not in the same chunks. So what a client has not got of its last batch
is kept as it was sent, and the rest is shown from the cursor behind that batch on.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import NamedTuple

from trunkline.cursor import Cursor
from trunkline.frontends.aisdk.run import Batch
from trunkline.protocols.aisdk.wire import Chunk
from trunkline.session.run_start import RunStart

_CHATS = 256
_BATCHES = 64

ChatKey = tuple[str, str]
"""A principal and the id of a chat."""


class _Sent(NamedTuple):
    last: int
    cursor: Cursor | None
    chunks: list[Chunk]


class SequenceLog:
    """The newest chunks of one response."""

    def __init__(self, turn_id: str | None, *, is_alone: bool = True) -> None:
        self.turn_id = turn_id
        self.is_alone = is_alone
        """Whether a number can only be one of this response."""
        self.next = 0
        self.batches: deque[_Sent] = deque(maxlen=_BATCHES)

    @property
    def is_over(self) -> bool:
        """Whether the response has its terminal."""
        return bool(self.batches) and _ends(self.batches[-1])

    def add(self, turn_id: str | None, batch: Batch) -> None:
        """Note the next batch."""
        cursor, chunks = batch
        self.turn_id, self.next = turn_id, self.next + len(chunks)
        self.batches.append(_Sent(self.next - 1, cursor, chunks))

    def up_to(self, sent: _Sent) -> SequenceLog:
        """Give the log as it was after a batch: what follows may come in other chunks the next time."""
        log = SequenceLog(self.turn_id)
        log.batches.extend(one for one in self.batches if one.last <= sent.last)
        log.next = sent.last + 1
        return log


def _ends(sent: _Sent) -> bool:
    return sent.chunks[-1]["type"] in ("finish", "error")


class Place(NamedTuple):
    """Where a client goes on: with what it lacks of a batch, and then after a cursor of a turn."""

    rest: list[Chunk]
    start: RunStart | None
    """None: the response ended with that batch."""
    log: SequenceLog


class SequenceLogs:
    """Remembers the last response of the newest chats."""

    def __init__(self) -> None:
        self._logs: OrderedDict[ChatKey, SequenceLog] = OrderedDict()

    def begin(self, key: ChatKey, turn_id: str | None) -> SequenceLog:
        """Forget an earlier response of a chat: the numbers begin anew.

        Two responses that show one turn have the same numbers for other chunks. A client does not say whose
        numbers it has, so then none is known.
        """
        before = self._logs.pop(key, None)
        is_second = before is not None and turn_id is not None and before.turn_id == turn_id
        log = SequenceLog(turn_id, is_alone=before is None or not is_second or before.is_over)
        return self._keep(key, log)

    def find(self, key: ChatKey, last: int) -> Place | None:
        """Find where a client goes on that has the chunks up to a number; None when that is not known."""
        log = self._logs.get(key)
        if log is None or log.turn_id is None or not log.is_alone or not 0 <= last < log.next:
            return None
        for sent in log.batches:
            begins = sent.last - len(sent.chunks) + 1
            if begins - 1 <= last <= sent.last and (sent.cursor is not None or last < sent.last):
                rest = sent.chunks[last - begins + 1 :]
                goes_on = sent.cursor is not None and not _ends(sent)
                start = RunStart(log.turn_id, sent.cursor) if goes_on else None
                return Place(rest, start, self._keep(key, log.up_to(sent)))
        return None

    def _keep(self, key: ChatKey, log: SequenceLog) -> SequenceLog:
        self._logs[key] = log
        while len(self._logs) > _CHATS:
            self._logs.popitem(last=False)
        return log
