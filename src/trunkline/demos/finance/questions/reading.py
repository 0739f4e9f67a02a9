"""Read a question: English by rules, with the conversation before it, into the steps that answer it.

It is no language model: a question that no rule fits, or that names something that the ledger does not
have, is not answered with a guess. The grammar is in docs/finance.md; `rules` has its words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import Any

import msgspec

from trunkline.demos.finance.questions.clause import Clause, take_apart
from trunkline.demos.finance.questions.comparison import compared_periods
from trunkline.demos.finance.questions.intent import By, Intent, Reading, What
from trunkline.demos.finance.questions.names import Vocabulary
from trunkline.demos.finance.questions.periods import Period, month_of
from trunkline.demos.finance.questions.rules import (
    FOLLOW_UP,
    GROUP_WORDS,
    POINTS_BACK,
    STEP_VERBS,
    find_group,
    find_what,
)

__all__ = ["read_question"]

_SQL = re.compile(
    r"^\s*(?:(?:please )?(?:run|execute)(?: this| the)?(?: sql| query)?\s*:?\s*|sql\s*:?\s*|query\s*:\s*)?"
    r"[`\"]*"
    r"((?:select\b.+|with\s+\w+.*\bas\s*\(.+|values\s*\(.+|explain\b.+|pragma\b.+|insert\s+into\b.+|"
    r"replace\s+into\b.+|update\s+\w+\s+set\b.+|delete\s+from\b.+|drop\s+\w+\s+\w+.*|"
    r"create\s+(?:table|view|index|trigger|temp)\b.+|alter\s+table\b.+|attach\b.+|detach\b.+|vacuum\b.*))$",
    re.IGNORECASE | re.DOTALL,
)
_STEPS = re.compile(
    r"(?:\s*[,;.]\s*(?:and\s+)?(?:then\s+)?(?:also\s+)?|\s+and\s+(?:then\s+|also\s+)?|\s+then\s+)"
    rf"(?=(?:please\s+)?(?:{STEP_VERBS})\b)",
    re.IGNORECASE,
)
_TAGGED = re.compile(
    r"^(?P<rest>.*?)\s+(?:as|with(?: the)?(?: tag)?|by(?: the)? tag)\s+"
    r"[\"'#]?(?P<tag>[\w-]+(?: [\w-]+)?)[\"']?\s*[.!?]?$",
    re.IGNORECASE | re.DOTALL,
)
_ADD_TAG = re.compile(
    r"\badd (?:the |a )?tag [\"'#]?(?P<tag>[\w-]+)[\"']? to (?P<rest>.*)$", re.IGNORECASE | re.DOTALL
)
_TAGS = re.compile(r"^\s*(?:please )?(?:tag|label|mark|flag)\b|\badd (?:the |a )?tag\b", re.IGNORECASE)
_WHICH_TAG = "Say what to tag and how, as in: tag Lufthansa transactions in June as vacation."
_WHICH_CATEGORY = "Say the merchant and a category that I know, as in: put Rewe under Groceries."

_BARE: tuple[What, ...] = (
    "show_sql", "run_shown_sql", "help", "instructions", "greeting", "thanks", "sync", "undo_import",
)  # fmt: skip
"""What needs nothing else."""
_TIMELESS: tuple[What, ...] = (
    "subscriptions", "price_rises", "due", "accounts", "uncategorized", "why_category", "import",
    "recategorize", "tag", "categorize", "sql", "list", *_BARE,
)  # fmt: skip
"""What has no period unless one is said."""
_FILTERED: tuple[What, ...] = (
    "spend", "count", "average", "list", "chart", "compare", "breakdown", "top", "report", "tag",
)  # fmt: skip
"""What goes on with the names of the question before."""
_NARROWED: tuple[What, ...] = ("spend", "count", "average", "list", "breakdown", "top", "compare", "income")
"""What a word that is not understood would have narrowed down."""
_COMPARABLE: tuple[What, ...] = ("spend", "breakdown", "compare", "count", "chart", "top", "list")
_NAMES_UNKNOWN: tuple[What, ...] = ("tag", "recategorize", "help", "greeting", "thanks", "import")
_FILTERS = ("category", "merchant", "account", "tag", "currency", "minimum")


def read_question(text: str, vocabulary: Vocabulary, today: date, earlier: Sequence[Intent] = ()) -> Reading:
    """Read a message; ``earlier`` are the steps of the conversation so far, the latest first."""
    if sql := _SQL.match(text):
        return Reading(steps=(Intent(what="sql", text=sql[1].strip('`" \n;')),))
    clauses = [part for part in _STEPS.split(text.strip()) if part.strip()]
    if len(clauses) > 1:
        reading = _read_steps(clauses, vocabulary, today, earlier)
        if reading is not None:
            return reading
    return _Clause(text, vocabulary, today, earlier).read()


def _read_steps(
    clauses: list[str], vocabulary: Vocabulary, today: date, earlier: Sequence[Intent]
) -> Reading | None:
    """Read a request of several steps; None when one of them is not understood by itself."""
    steps: list[Intent] = []
    unknown: list[str] = []
    for clause in clauses:
        before = (*reversed(steps), *earlier)
        reading = _Clause(clause, vocabulary, today, before, is_step=bool(steps)).read()
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
            if step.has_period or step.what in _TIMELESS
            else msgspec.structs.replace(step, period=named, has_period=True)
            for step in steps
        ]
    return Reading(steps=tuple(steps))


class _Clause:
    """One clause on its way to its intent."""

    def __init__(
        self,
        text: str,
        vocabulary: Vocabulary,
        today: date,
        earlier: Sequence[Intent],
        *,
        is_step: bool = False,
    ) -> None:
        self.new_tag: str | None = None
        if _TAGS.search(text) and (tagged := _ADD_TAG.search(text) or _TAGGED.match(text)):
            self.new_tag, text = tagged["tag"].strip().lower(), f"tag {tagged['rest']}"
        self.vocabulary = vocabulary
        self.today = today
        self.earlier = earlier
        self.before = earlier[0] if earlier else None
        self.clause: Clause = take_apart(text, vocabulary, today)
        lead = FOLLOW_UP.match(self.clause.text)
        self.words = self.clause.text[lead.end() :] if lead else self.clause.text
        self.is_short = len(re.sub(r"<\w+>", "", self.words).split()) <= 4
        self.goes_on = bool(lead) or is_step or POINTS_BACK.search(self.words) is not None
        self.has_lead = bool(lead)

    @property
    def periods(self) -> list[Period]:
        return self.clause.periods

    def read(self) -> Reading:
        """Find out what is asked for, and fill in the rest."""
        clause, what = self.clause, find_what(self.clause.text)
        if clause.unknown and what not in _NAMES_UNKNOWN:
            return Reading(unknown=tuple(clause.unknown))
        has_values = bool(self.periods or clause.names or clause.currency or clause.minimum)
        if self.before is not None and self.before.what not in _BARE:
            again = (
                what is None and (self.has_lead or self.is_short) and (has_values or find_group(self.words))
            )
            again = again or (what == "spend" and self.has_lead and clause.names and not self.periods)
            if again:
                return self._ask_again(self.before)
            if what == "breakdown" and self.is_short and not has_values:
                self.goes_on = True
        if what is None:
            if not has_values or not self.is_short:
                return Reading()
            what = "spend"
        if what in _NARROWED and clause.odd and not clause.names:
            # "How often did I go swimming?" must not be answered with the sum of everything.
            return Reading(unknown=tuple(clause.odd))
        return self._build(what)

    # -- with the question before --

    def _ask_again(self, before: Intent) -> Reading:
        """Ask the question before again, with what was said now in the place of what was said then."""
        changes: dict[str, Any] = self._values()
        if "category" in changes or "merchant" in changes:
            changes = {"category": None, "merchant": None} | changes
        if before.what == "compare" and self.periods:
            period, against = compared_periods(
                self.clause.text, self.periods, self.today, self._periods_before
            )
            changes |= {"period": period, "against": against}
        elif self.periods:
            changes["period"] = self._whole_period()
        if (by := find_group(self.words)) is not None:
            changes["by"] = by
            if before.what in ("spend", "count", "average"):
                changes["what"] = "breakdown"
        elif before.what == "breakdown" and before.by == "category" and changes.get("category"):
            changes |= {"what": "spend", "by": None}
        changes["has_period"] = before.has_period or bool(self.periods)
        return Reading(steps=(msgspec.structs.replace(before, **changes),))

    @property
    def _periods_before(self) -> list[Period]:
        return [one.period for one in self.earlier if one.period is not None]

    def _inherited(self, what: What) -> Intent | None:
        """The question before, if this one goes on with it."""
        if self.before is None or self.before.what in _BARE:
            return None
        if self.goes_on:
            return self.before
        # "Why more than in September?" goes on with what was asked about.
        named = self.clause.first("category") or self.clause.first("merchant")
        is_about_it = (
            what == "compare" and not named and len(self.periods) < 2 and len(self.words.split()) <= 8
        )
        return self.before if is_about_it and self.before.what in _COMPARABLE else None

    # -- on its own --

    def _build(self, what: What) -> Reading:
        if what in _BARE:
            return Reading(steps=(Intent(what=what),))
        if what == "import":
            return Reading(steps=(Intent(what=what, file=self.clause.file),))
        if what == "recategorize":
            return self._recategorize()
        inherited, values = self._inherited(what), self._values()
        if inherited is not None and what in _FILTERED and not ("category" in values or "merchant" in values):
            kept = {name: getattr(inherited, name) for name in _FILTERS}
            values = {name: value for name, value in kept.items() if value is not None} | values
        if what == "tag":
            if self.new_tag is None or not (values or self.periods):
                return Reading(problem=_WHICH_TAG)
            values["text"] = self.new_tag
        if what == "compare":
            return self._compare(inherited, values)
        values = self._shape(what, inherited, values.get("category")) | values
        what = values.pop("what", what)
        if self.periods:
            values |= {"period": self._whole_period(), "has_period": True}
        elif inherited is not None and inherited.period is not None and what != "budget":
            values |= {"period": inherited.period, "has_period": inherited.has_period}
        elif what not in _TIMELESS:
            values["period"] = _default_period(what, self.today)
        if what == "spend" and (several := self._several(mixed=False)):
            return self._each(several, values)
        return Reading(steps=(Intent(what=what, **values),))

    def _values(self) -> dict[str, Any]:
        clause, account = self.clause, self.clause.first("account")
        ids = [one for one, name in self.vocabulary.accounts.items() if name == account]
        values = {
            "category": clause.first("category"),
            "merchant": clause.first("merchant"),
            "account": ids[0] if ids else None,
            "tag": clause.first("tag"),
            "currency": clause.currency,
            "minimum": clause.minimum,
            "count": clause.count,
        }
        return {name: value for name, value in values.items() if value is not None}

    def _whole_period(self) -> Period:
        """The one period of a clause; "September and October" are one."""
        return Period(min(self.periods).start, max(one.end for one in self.periods))

    def _recategorize(self) -> Reading:
        merchant, category = self.clause.first("merchant"), self.clause.last("category")
        if merchant is not None and category is not None:
            return Reading(steps=(Intent(what="recategorize", merchant=merchant, category=category),))
        named = re.search(
            r"^\w+ (?:all |every |the |my )?([^<]+?)(?: \w+)? (?:under|as|to|into|in|with) ", self.words
        )
        if category is not None and named:
            return Reading(unknown=(named[1],))
        return Reading(problem=_WHICH_CATEGORY)

    def _compare(self, inherited: Intent | None, values: dict[str, Any]) -> Reading:
        several = self._several(mixed=True)
        if several and len(self.periods) < 2 and "why" not in self.words.split():
            period = self._whole_period() if self.periods else _default_period("spend", self.today)
            return self._each(several, values | {"period": period, "has_period": bool(self.periods)})
        period, against = compared_periods(
            self.clause.text,
            self.periods,
            self.today,
            self._periods_before if inherited else (),
            inherited.against if inherited else None,
        )
        step = Intent(what="compare", period=period, against=against, has_period=True, **values)
        return Reading(steps=(step,))

    def _several(self, *, mixed: bool) -> list[dict[str, Any]]:
        """The names of a question that asks about more than one."""
        kinds = ("category", "merchant")
        each = {kind: self.clause.all(kind) for kind in kinds}
        if mixed and all(each.values()):
            return [{kind: name} for kind, name in self.clause.names if kind in kinds]
        found = next((kind for kind in kinds if len(each[kind]) > 1), None)
        return [{found: name} for name in each[found]] if found else []

    def _each(self, several: list[dict[str, Any]], values: dict[str, Any]) -> Reading:
        rest = {name: value for name, value in values.items() if name not in ("category", "merchant")}
        return Reading(steps=tuple(Intent(what="spend", **(rest | name)) for name in several))

    def _shape(self, what: What, inherited: Intent | None, category: str | None) -> dict[str, Any]:
        """How the answer is cut: by what, in which order, per what."""
        words, by = self.words, find_group(self.words)
        # Within a category its merchants are what differs.
        inner: By = "merchant" if category else "category"
        if what == "breakdown":
            return {"by": inner if by is None or re.search(r"\bwhere\b", words) else by}
        if what == "top":
            return {"by": by or "merchant"}
        if what == "chart":
            return {"by": by or (inherited.by if inherited else None) or inner}
        if what == "spend" and by is not None and GROUP_WORDS.search(words):
            return {"what": "breakdown", "by": by}
        if what == "average":
            unit = re.search(r"\b(?:per|each|every|a) (month|week|day)\b|\b(month|week|dai)ly\b", words)
            found = (unit[1] or unit[2]) if unit else "month"
            return {"per": "day" if found == "dai" else found}
        if what == "list":
            big = r"\b(?:biggest|largest|highest|expensive|priciest|dearest|top|greatest|big|large)\b"
            if re.search(r"\bwhen\b", words):
                return {"order": "newest", "count": 1}
            return {"order": "largest" if re.search(big, words) else "newest"}
        return {}


def _default_period(what: What, today: date) -> Period:
    """The period of a question that names none; the answer says which one it took."""
    if what == "average":
        return Period(month_of(today, 12).start, month_of(today, 1).end)
    if what in ("unusual", "double_charges"):
        return Period(month_of(today, 2).start, today)
    if what in ("income", "savings", "report"):
        return month_of(today, 1)
    return Period(month_of(today).start, today)
