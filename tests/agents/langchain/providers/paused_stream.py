"""A stream that pauses in the middle, so that a test can act meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from tests.agents.langchain.providers.model_server import Reply

__all__ = ["Pause", "pause"]

_BOUND = 10.0


class Pause(list[bytes]):
    """The pieces of a stream; what would come after them waits."""

    def __init__(self, pieces: list[bytes]) -> None:
        super().__init__(pieces)
        self._over = threading.Event()

    def __iter__(self) -> Iterator[bytes]:
        yield from super().__iter__()
        self._over.wait(_BOUND)

    def end(self) -> None:
        """Let the stream end."""
        self._over.set()


def pause(reply: Reply, left_out: int) -> tuple[Reply, Pause]:
    """Play a reply without its last pieces, and wait there."""
    pieces = Pause(reply.pieces[:-left_out])
    return Reply(pieces, reply.kind), pieces
