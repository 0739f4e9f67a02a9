"""Read a question: English by rules, with the conversation before it, into the steps that answer it.

It is no language model: a question that no rule fits, or that names something that the ledger does not
have, is not answered with a guess. The grammar is in docs/finance.md; `rules` has its words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

import msgspec

from trunkline.demos.finance.questions.clause_reading import TIMELESS, ClauseReader
from trunkline.demos.finance.questions.intent import Intent, Reading
from trunkline.demos.finance.questions.names import Vocabulary
from trunkline.demos.finance.questions.rules import STEP_VERBS

__all__ = ["read_question"]

_SQL = re.compile(
    r"^\s*(?:(?:please )?(?:run|execute)(?: this| the)?(?: sql| query)?\s*:?\s*|sql\s*:?\s*|query\s*:\s*)?"
    r"[`\"]*"
    r"((?:select\b.+|with\s+\w+.*\bas\s*\(.+|values\s*\(.+|pragma\b.+|insert\s+into\b.+|"
    r"explain\s+(?:query\s+plan\s+)?(?:select|with|values|insert|update|delete)\b.+|"
    r"replace\s+into\b.+|update\s+\w+\s+set\b.+|delete\s+from\b.+|"
    r"(?:drop|create)\s+(?:table|view|index|trigger|temp)\b.+|alter\s+table\b.+|"
    r"(?:at|de)tach\s+(?:database\b|['\"]).+|vacuum\b.*))$",
    re.IGNORECASE | re.DOTALL,
)
_STEPS = re.compile(
    r"(?:\s*[,;.]\s*(?:and\s+)?(?:then\s+)?(?:also\s+)?|\s+and\s+(?:then\s+|also\s+)?|\s+then\s+)"
    rf"(?=(?:please\s+)?(?:{STEP_VERBS})\b)",
    re.IGNORECASE,
)


def read_question(text: str, vocabulary: Vocabulary, today: date, earlier: Sequence[Intent] = ()) -> Reading:
    """Read a message; ``earlier`` are the steps of the conversation so far, the latest first."""
    if sql := _SQL.match(text):
        return Reading(steps=(Intent(what="sql", text=sql[1].strip('`" \n;')),))
    text = re.sub(r"<_*", " ", text)  # What is found is written in such brackets.
    clauses = [part for part in _STEPS.split(text.strip()) if part.strip()]
    if len(clauses) > 1:
        reading = _read_steps(clauses, vocabulary, today, earlier)
        if reading is not None:
            return reading
    return ClauseReader(text, vocabulary, today, earlier).read()


def _read_steps(
    clauses: list[str], vocabulary: Vocabulary, today: date, earlier: Sequence[Intent]
) -> Reading | None:
    """Read a request of several steps; None when one of them is not understood by itself."""
    steps: list[Intent] = []
    unknown: list[str] = []
    for clause in clauses:
        before = (*reversed(steps), *earlier)
        reading = ClauseReader(clause, vocabulary, today, before, is_step=bool(steps)).read()
        if steps and reading.problem is not None:
            return reading
        if not reading.steps and not reading.unknown:
            return None
        steps.extend(reading.steps)
        unknown.extend(reading.unknown)
    if unknown:
        return Reading(unknown=tuple(unknown))
    # "How much did I spend and how much did I earn in October?" names the period once, at its end.
    named = next((step.period for step in steps if step.has_period), None)
    if named is not None and not steps[0].has_period:
        steps = [
            step
            if step.has_period or step.what in TIMELESS
            else msgspec.structs.replace(step, period=named, has_period=True)
            for step in steps
        ]
    return Reading(steps=tuple(steps))
