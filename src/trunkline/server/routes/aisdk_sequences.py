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


class Place(NamedTuple):
    """Where a client goes on: with what it lacks of a batch, and then after a cursor of a turn."""

    rest: list[Chunk]
    start: RunStart | None
    """None: the response ended with that batch."""


class _Sent(NamedTuple):
    last: int
    cursor: Cursor | None
    chunks: list[Chunk]


class _Log:
    def __init__(self) -> None:
        self.turn_id: str | None = None
        self.next = 0
        self.batches: deque[_Sent] = deque(maxlen=_BATCHES)


class SequenceLogs:
    """Remembers the last response of the newest chats."""

    def __init__(self) -> None:
        self._logs: OrderedDict[ChatKey, _Log] = OrderedDict()

    def begin(self, key: ChatKey) -> None:
        """Forget an earlier response of a chat: the numbers begin anew."""
        self._logs.pop(key, None)
        self._logs[key] = _Log()
        while len(self._logs) > _CHATS:
            self._logs.popitem(last=False)

    def add(self, key: ChatKey, first: int, turn_id: str | None, batch: Batch) -> None:
        """Note a batch whose first chunk has this number, unless another response has begun since."""
        log = self._logs.get(key)
        if log is not None and log.next == first:
            cursor, chunks = batch
            log.turn_id, log.next = turn_id, first + len(chunks)
            log.batches.append(_Sent(log.next - 1, cursor, chunks))

    def find(self, key: ChatKey, last: int) -> Place | None:
        """Find where a client goes on that has the chunks up to a number; None when that is not known."""
        log = self._logs.get(key)
        if log is None or log.turn_id is None or last >= log.next:
            return None
        for sent in log.batches:
            begins = sent.last - len(sent.chunks) + 1
            if begins - 1 <= last <= sent.last and (sent.cursor is not None or last < sent.last):
                rest = sent.chunks[last - begins + 1 :]
                ends = sent.chunks[-1]["type"] in ("finish", "error")
                return Place(
                    rest, None if ends or sent.cursor is None else RunStart(log.turn_id, sent.cursor)
                )
        return None
