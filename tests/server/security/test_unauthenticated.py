"""Connections that have shown no token yet: the oldest that asks for nothing goes first."""

from typing import Any

from trunkline.server.security.unauthenticated import UnauthenticatedLimit


class Line:
    """A connection, as a server knows it."""

    def __init__(self, *, busy: bool = False) -> None:
        self.cycle: Any = self if busy else None
        self.response_complete = False
        self.transport = self
        self.cut_off = False

    def abort(self) -> None:
        self.cut_off = True


def crowd(limit: UnauthenticatedLimit, host: str, *lines: Line) -> None:
    for port, line in enumerate(lines, 1):
        limit.add((host, port), line)


def test_the_oldest_of_a_peer_makes_room() -> None:
    lines = [Line() for _ in range(4)]
    limit = UnauthenticatedLimit(3, 10)
    crowd(limit, "a", *lines)
    assert [line.cut_off for line in lines] == [True, False, False, False]
    assert len(limit) == 3


def test_one_that_is_being_answered_stays() -> None:
    lines = [Line(busy=True), Line(), Line()]
    crowd(UnauthenticatedLimit(2, 10), "a", *lines)
    assert [line.cut_off for line in lines] == [False, True, False]


def test_where_all_are_being_answered_the_new_one_goes() -> None:
    lines = [Line(busy=True), Line(busy=True), Line()]
    crowd(UnauthenticatedLimit(2, 10), "a", *lines)
    assert [line.cut_off for line in lines] == [False, False, True]


def test_in_all_the_largest_crowd_makes_room() -> None:
    limit = UnauthenticatedLimit(5, 6)
    few, many, new = [Line()], [Line() for _ in range(5)], Line()
    crowd(limit, "a", *few)
    crowd(limit, "b", *many)
    crowd(limit, "c", new)
    assert [line.cut_off for line in (*few, *many, new)] == [False, True, False, False, False, False, False]


def test_who_is_known_or_gone_is_not_counted() -> None:
    limit = UnauthenticatedLimit(2, 2)
    lines = [Line(), Line(), Line()]
    limit.add(("a", 1), lines[0])
    limit.add(("a", 2), lines[1])
    for place in (("a", 1), ("a", 1), ("b", 7), None):
        limit.remove(place)
    limit.add(("a", 3), lines[2])
    assert not any(line.cut_off for line in lines)
    limit.remove(("a", 2))
    limit.remove(("a", 3))
    assert len(limit) == 0
