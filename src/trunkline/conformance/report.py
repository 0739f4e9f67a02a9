"""The report of a conformance run: as text for people, JSON for programs and JUnit for build servers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from xml.etree import ElementTree

from trunkline.conformance.table import LEVELS, Outcome, Requirement, Table, Verdict
from trunkline.safe_text import escape

_COUNTING = ("M", "C")
"""The levels that decide: advisory requirements count with ``strict``."""
_ALIKE = 4
"""So many requirements that were skipped for one reason are shown one by one."""
_AT_A_GLANCE = 12
"""In a longer report the failures are named once more at its end."""
_SHOWN_LINES = 12
_SHOWN_CHARACTERS = 300


class Row(NamedTuple):
    """A requirement and what was found."""

    requirement: Requirement[Any]
    verdict: Verdict


class Report(NamedTuple):
    """What was found about one subject."""

    protocol: str
    subject: str
    rows: tuple[Row, ...]
    seconds: float
    strict: bool = False

    @classmethod
    def of(
        cls,
        table: Table[Any],
        subject: str,
        verdicts: Mapping[str, Verdict],
        seconds: float,
        *,
        strict: bool = False,
    ) -> Report:
        """Join the verdicts with their requirements."""
        rows = tuple(Row(table.rows[name], verdict) for name, verdict in verdicts.items())
        return cls(table.protocol, subject, rows, seconds, strict)

    @property
    def failures(self) -> tuple[Row, ...]:
        """The requirements that are not kept and that count."""
        return tuple(row for row in self.rows if row.verdict.outcome == "fail" and self._counts(row))

    def _counts(self, row: Row) -> bool:
        return self.strict or row.requirement.level in _COUNTING

    @property
    def conformant(self) -> bool:
        """Whether nothing that counts failed, and not everything was skipped."""
        return self.counts["skip"] < len(self.rows) and not self.failures

    @property
    def counts(self) -> Counter[Outcome]:
        """How many requirements had each outcome."""
        return Counter(row.verdict.outcome for row in self.rows)

    # -- text --------------------------------------------------------------------------------------

    def lines(self, *, all_rows: bool = True) -> Iterator[str]:
        """Give the report as lines of text; without ``all_rows`` only what failed or was skipped."""
        yield f"{self.protocol} conformance of {escape(self.subject)}"
        yield ""
        width = max((len(row.requirement.id) for row in self.rows), default=0)
        common = self._common_skip()
        for requirement, verdict in self.rows:
            if not all_rows and verdict.outcome in ("pass", "info"):
                continue
            if verdict == common:
                continue
            advice = verdict.outcome == "fail" and not self._counts(Row(requirement, verdict))
            word = "warn" if advice else verdict.outcome
            yield f"{word:4}  {requirement.id:{width}}  {requirement.sentence}"
            if verdict.note and verdict.outcome != "pass":
                yield f"      {'':{width}}  {_short(verdict.note)}"
            if verdict.outcome == "fail":
                yield f"      {'':{width}}  {requirement.address}"
                yield from (f"        {_short(line)}" for line in verdict.transcript[-_SHOWN_LINES:])
        if common is not None:
            yield f"skip  {Counter(row.verdict for row in self.rows)[common]} requirements"
            yield f"      {'':{width}}  {_short(common.note)}"
        yield ""
        if self.failures and len(self.rows) > _AT_A_GLANCE:
            yield f"failed: {', '.join(row.requirement.id for row in self.failures)}"
        yield self.summary

    def _common_skip(self) -> Verdict | None:
        """Give the verdict of most requirements if they were skipped for one reason: it is told once."""
        [(verdict, times)] = Counter(row.verdict for row in self.rows).most_common(1) or [(None, 0)]
        is_most = verdict is not None and verdict.outcome == "skip" and times > len(self.rows) / 2
        return verdict if is_most and times > _ALIKE else None

    @property
    def summary(self) -> str:
        """One sentence that says how it went."""
        counts = self.counts
        advised = sum(row.verdict.outcome == "fail" for row in self.rows) - len(self.failures)
        counted = [f"{counts['pass']} passed", f"{len(self.failures)} failed"]
        counted += [f"{advised} warning{'s' if advised > 1 else ''}"] if advised else []
        counted += [f"{counts['skip']} skipped"] if counts["skip"] else []
        verdict = "conformant" if self.conformant else "NOT conformant"
        return f"{verdict}: {', '.join(counted)} in {self.seconds:.1f} s"

    # -- for programs ------------------------------------------------------------------------------

    def as_json(self) -> dict[str, Any]:
        """Give the report as plain values."""
        return {
            "protocol": self.protocol,
            "subject": self.subject,
            "conformant": self.conformant,
            "seconds": round(self.seconds, 3),
            "counts": dict(self.counts),
            "requirements": [
                {
                    "id": requirement.id,
                    "level": LEVELS[requirement.level],
                    "sentence": requirement.sentence,
                    "specification": requirement.address,
                    "outcome": verdict.outcome,
                    "note": verdict.note,
                    "transcript": list(verdict.transcript),
                }
                for requirement, verdict in self.rows
            ],
        }

    def as_junit(self) -> str:
        """Give the report in the XML that build servers read."""
        counts = self.counts
        suite = ElementTree.Element(
            "testsuite",
            name=f"trunkline check: {self.protocol}",
            tests=str(len(self.rows)),
            failures=str(len(self.failures)),
            errors="0",
            skipped=str(counts["skip"]),
            time=f"{self.seconds:.3f}",
        )
        for row in self.rows:
            requirement, verdict = row
            name = f"{requirement.id}: {requirement.sentence}"
            case = ElementTree.SubElement(suite, "testcase", classname=self.protocol, name=name)
            body = _xml("\n".join([requirement.address, *verdict.transcript]))
            if verdict.outcome == "fail" and self._counts(row):
                ElementTree.SubElement(case, "failure", message=_xml(verdict.note)).text = body
            elif verdict.outcome == "skip":
                ElementTree.SubElement(case, "skipped", message=_xml(verdict.note))
            elif verdict.note:
                ElementTree.SubElement(case, "system-out").text = _xml(verdict.note)
        ElementTree.indent(suite)
        return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suite, encoding="unicode")


def _short(text: str) -> str:
    one_line = escape(" ".join(text.split()))
    return one_line if len(one_line) <= _SHOWN_CHARACTERS else one_line[: _SHOWN_CHARACTERS - 1] + "…"


def _xml(text: str) -> str:
    """Leave out the characters that XML cannot hold; the control characters of an agent among them."""
    return "".join(one for one in text if one in "\t\n\r" or (one >= " " and one not in "\ufffe\uffff"))
