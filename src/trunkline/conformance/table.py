"""A table of requirements: each has an id, a level, its place in a specification and a check."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Generic, Literal, NamedTuple, NoReturn, Protocol, TypeVar

Level = Literal["M", "C", "A", "I"]
"""Mandatory, capability (counts when advertised), advisory, informational."""
Outcome = Literal["pass", "fail", "skip", "info"]

LEVELS: dict[Level, str] = {"M": "mandatory", "C": "capability", "A": "advisory", "I": "informational"}


class Failure(Exception):
    """The subject does not keep the requirement."""


class NotApplicable(Exception):
    """The subject does not offer what the requirement is about, or it could not be brought about."""


class Subject(Protocol):
    """What is tested, with what was said to it so far."""

    def mark(self) -> object:
        """Give the present place in what was said."""
        ...

    def transcript_since(self, mark: object) -> list[str]:
        """Give what was said since a mark, and a little of what was said before it, a line each."""
        ...


S = TypeVar("S", bound=Subject)
_Check = Callable[[S], str | None]


class Verdict(NamedTuple):
    """What a check found; ``note`` says why, or what was recorded."""

    outcome: Outcome
    note: str = ""
    transcript: tuple[str, ...] = ()
    """What was said, for a failure."""


class Requirement(NamedTuple, Generic[S]):
    """One row of the table."""

    id: str
    level: Level
    sentence: str
    address: str
    """Its place in the specification."""
    check: Callable[[S], str | None]
    last: bool
    """It judges everything that was said, so it comes after the others."""


class Table(Generic[S]):
    """The requirements of one protocol, filled by the modules that hold the checks."""

    def __init__(self, protocol: str, pages: Mapping[str, str]) -> None:
        """``pages`` are the places in the specification, by family: ``INIT`` of the id ``INIT-001``."""
        self.protocol = protocol
        self.rows: dict[str, Requirement[S]] = {}
        self._pages = pages

    def requirement(
        self, id: str, level: Level, sentence: str, *, last: bool = False
    ) -> Callable[[_Check[S]], _Check[S]]:
        """Add a check to the table."""
        name = f"{self.protocol.upper()}-{id}"
        assert name not in self.rows, f"{name} is there twice"
        address = self._pages[id.rpartition("-")[0]]

        def add(check: _Check[S]) -> _Check[S]:
            self.rows[name] = Requirement(name, level, sentence, address, check, last)
            return check

        return add

    def judge(
        self, subject: S, only: Collection[str] | None = None, *, unchecked: Mapping[str, str] | None = None
    ) -> dict[str, Verdict]:
        """Hold a subject against the table, or against the requirements that are named.

        ``unchecked`` are requirements that cannot be checked with this subject, each with the reason.
        """
        skipped = {name: Verdict("skip", why) for name, why in (unchecked or {}).items()}
        wanted = [row for row in self.rows.values() if only is None or row.id in only]
        tried = [row for row in wanted if row.id not in skipped]
        found = {row.id: _judge(row, subject) for row in sorted(tried, key=lambda row: row.last)}
        return {row.id: found.get(row.id) or skipped[row.id] for row in wanted}


def _judge(row: Requirement[S], subject: S) -> Verdict:
    mark = subject.mark()
    try:
        note = row.check(subject) or ""
    except NotApplicable as error:
        return Verdict("skip", str(error))
    except Failure as error:
        return Verdict("fail", str(error), tuple(subject.transcript_since(mark)))
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, RecursionError) as error:
        # The check reads what the subject sent: it has another shape than the specification says.
        note = f"not the expected shape: {type(error).__name__}: {error}"
        return Verdict("fail", note, tuple(subject.transcript_since(mark)))
    return Verdict("info" if row.level == "I" else "pass", note)


def fail(why: str) -> NoReturn:
    """Say that the requirement is not kept."""
    raise Failure(why)


def need(condition: object, why: str) -> None:
    """Fail unless something holds."""
    if not condition:
        fail(why)
