"""How much of a thread each page has seen, to tell an edit from a history that is behind.

Both look alike: a client sends the beginning of the thread and a new message. An edit means to drop the
rest. A page that is behind has never seen the rest, and nothing may be lost because of it. So the rest is
dropped only for a page that has seen it: one that names itself (the header ``Trunkline-Page``) and was shown
the last turn, or one without a name if no known page may still be where this history ends.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Sequence

_MAX_THREADS = 1024
_MAX_NAMES = 64


class _ThreadPages:
    """The pages of one thread, by the turn that each was shown last."""

    def __init__(self, *, is_new: bool) -> None:
        self.is_new = is_new
        """Whether all its pages are known, because the thread began here."""
        self.named: OrderedDict[str, str | None] = OrderedDict()
        self.unnamed: Counter[str | None] = Counter()


class Page:
    """The client that sends a request, and how much of the thread it can have seen."""

    def __init__(self, thread: _ThreadPages, name: str | None) -> None:
        """Made by ``Pages.visit``."""
        self._thread = thread
        self._name = name

    def may_be_behind(self, turns: Sequence[str | None]) -> bool:
        """Whether one of these turns, all before the last one, may be the last that the page has seen."""
        thread = self._thread
        if self._name is not None and self._name in thread.named:
            return thread.named[self._name] in turns
        return not thread.is_new or self._name is not None or any(thread.unnamed[turn] > 0 for turn in turns)

    def has_seen(self, turn_id: str | None) -> bool:
        """Whether the page is known to have been shown a turn."""
        return self._name is not None and self._thread.named.get(self._name) == turn_id

    def note_shown(self, before: str | None, turn_id: str | None) -> None:
        """Note that the page is shown a turn; ``before`` is the last turn in the messages that it sent."""
        thread = self._thread
        if self._name is not None:
            thread.named[self._name] = turn_id
            thread.named.move_to_end(self._name)
            while len(thread.named) > _MAX_NAMES:
                thread.named.popitem(last=False)
            return
        if thread.unnamed[before] > 0:
            thread.unnamed[before] -= 1
        thread.unnamed[turn_id] += 1
        thread.unnamed += Counter()  # Removes what is zero.


class Pages:
    """The pages of the threads that were used last."""

    def __init__(self) -> None:
        self._threads: OrderedDict[tuple[str, str], _ThreadPages] = OrderedDict()

    def visit(self, principal: str, thread_id: str, name: str | None, *, is_new: bool) -> Page:
        """Give the page that sends a request; ``is_new``: the thread has no turns yet."""
        key = (principal, thread_id)
        thread = self._threads.get(key)
        if thread is None or is_new:
            thread = self._threads[key] = _ThreadPages(is_new=is_new)
        self._threads.move_to_end(key)
        while len(self._threads) > _MAX_THREADS:
            self._threads.popitem(last=False)
        return Page(thread, name)
