"""Reads one clause of a message, with the questions before it, into the steps that answer it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

import msgspec

from trunkline.demos.finance.questions.clause import CURRENCIES, Clause, take_apart
from trunkline.demos.finance.questions.comparison import compared_periods, name_period_before
from trunkline.demos.finance.questions.intent import By, Intent, Reading, What
from trunkline.demos.finance.questions.names import Vocabulary
from trunkline.demos.finance.questions.periods import BEGINNING, Period, month_of
from trunkline.demos.finance.questions.refusals import (
    has_untold_words,
    say_other_budget,
    say_unused_names,
    say_unused_values,
    say_wrong_step,
)
from trunkline.demos.finance.questions.rules import (
    FOLLOW_UP,
    GROUP_WORDS,
    NOT_DONE,
    OF_A_GROUP,
    POINTS_BACK,
    find_group,
    find_unit,
    find_what,
    mark,
)

__all__ = ["TIMELESS", "ClauseReader"]

_TAGGED = re.compile(
    r"^(?P<rest>.*?)\s+(?:as|with(?: the)?(?: tag)?|by(?: the)? tag)\s+"
    r"[\"'#]?(?P<tag>[\w-]+(?: [\w-]+)?)[\"']?\s*[.!?]?$",
    re.IGNORECASE | re.DOTALL,
)
_ADD_TAG = re.compile(
    r"\badd (?:the |a )?tag [\"'#]?(?P<tag>[\w-]+)[\"']? to (?P<rest>.*)$", re.IGNORECASE | re.DOTALL
)
_TAGS = re.compile(r"^\s*(?:please )?(?:tag|label|mark|flag)\b|\badd (?:the |a )?tag\b", re.IGNORECASE)
_BUDGETS = re.compile(
    r"^\s*(?:(?:please|pls|can you|could you|i want to|i'd like to|let us|let's)\s+)*"
    r"(?:(?:set|make|create|change|raise|lower|add|give|increase|reduce|cut)\b.*\bbudget\b|"
    r"budget\s+[€$£]?\s?\d)",
    re.IGNORECASE | re.DOTALL,
)
_SIGNS = {"€": "EUR", "$": "USD", "£": "GBP"}
_AMOUNT = re.compile(
    r"(?P<sign>[€$£])?\s?(?P<number>\d+(?:,\d{3})*(?:\.\d{1,2})?)(?![\w.,]*\d)\s?"
    r"(?P<unit>[€$£]|(?:eur|usd|gbp|chf)\b|euros?\b|dollars?\b|pounds?\b|francs?\b)?",
    re.IGNORECASE,
)
_REMOVES = re.compile(r"\b(?:remove|delete|drop|cancel)\b")
_WHICH_BUDGET = "Say the category and the amount, as in: set a budget of 400 EUR for groceries."
_WHICH_TAG = "Say what to tag and how, as in: tag Lufthansa transactions in June as vacation."
_CANNOT = (
    "I cannot cancel, pay, send or delete anything: I read your ledger, and change only categories, tags and "
    'budgets in it. "Which subscriptions do I have?" shows what each costs and when it is due.'
)
_TWO_PERIODS = "I compare two periods, as in: compare October with September."
_WHICH_CATEGORY = "Say the merchant and a category that I know, as in: put Rewe under Groceries."

_BARE: tuple[What, ...] = (
    "show_sql", "run_shown_sql", "help", "instructions", "greeting", "thanks", "sync", "undo_import",
    "undo_edit",
)  # fmt: skip
"""What needs nothing else."""
TIMELESS: tuple[What, ...] = (
    "subscriptions", "price_rises", "due", "accounts", "uncategorized", "why_category", "import",
    "recategorize", "tag", "categorize", "set_budget", "sql", "list", *_BARE,
)  # fmt: skip
"""What has no period unless one is said."""
_FILTERED: tuple[What, ...] = (
    "spend", "count", "average", "share", "list", "chart", "compare", "breakdown", "top", "report", "tag",
)  # fmt: skip
"""What goes on with the names of the question before."""
_NARROWED: tuple[What, ...] = (
    "spend", "count", "average", "share", "list", "breakdown", "top", "compare", "income", "chart", "tag",
)  # fmt: skip
"""What a word that is not understood would have narrowed down."""
_AND = r",? (?:and|or|plus) (?:(?:at|on|for|the|my) )*"
_DID_SPEND = re.compile(
    r"^(?:did|have|had) (?:i|we) (?:\w+ )?(?:spen[dt]|paid|pay) <_minimum>"
    r"(?! (?:charge|purchase|transaction|payment))"
)
_WITH_OTHER = re.compile(
    r"\b(?:with|to|against|than|versus|vs) (?:at |on |the |my )?<_(?:merchant|category)>$"
)
_HOW_MUCH = re.compile(r"(?:by )?how much(?: (?:is|was|are|were) (?:it|that|they))?(?: more| less| over)?")
_IN_TOTAL = re.compile(r"\b(?:in total|altogether|in all)\b")
_SALARY = re.compile(r"\b(?:salary|salaries|wages?|paycheck|payroll)\b")
_LAST_ONE = re.compile(
    r"\b(?:last|latest|most recent|newest)(?: <_(?:merchant|category)>)? "
    r"(?:purchase|transaction|payment|charge|expense|order|thing)\b"
)
_JOINED = re.compile(f"<_merchant>{_AND}<_category>|<_category>{_AND}<_merchant>")
"""Names of which each is asked about; "groceries at Rewe" are those of both."""
_CHANGES: tuple[What, ...] = ("recategorize", "set_budget", "categorize", "import")
"""What changes the ledger."""
_SUMS: tuple[What, ...] = ("spend", "count")
"""What is a list where only charges of some size count."""
_SHORT_ONES: tuple[What, ...] = ("breakdown", "top", "count", "average", "share", "spend")
"""What goes on with the question before where it names nothing itself: "how often", "top 3"."""
_COMPARABLE: tuple[What, ...] = ("spend", "share", "breakdown", "compare", "count", "chart", "top", "list")
_NAMES_UNKNOWN: tuple[What, ...] = ("tag", "recategorize", "help", "greeting", "thanks", "import")
_FILTERS = ("category", "merchant", "account", "tag", "currency", "minimum", "excluding")


class ClauseReader:
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
        self.amount: int | None = None
        self.unit: str | None = None
        if _BUDGETS.match(text) and (amount := _AMOUNT.search(text)):
            self.amount = round(float(amount["number"].replace(",", "")) * 100)
            self.unit = _currency_of(amount["sign"] or amount["unit"])
            text = f"{text[: amount.start()]} {mark('amount')} {text[amount.end() :]}"
        self.vocabulary = vocabulary
        self.today = today
        self.earlier = earlier
        self.before = earlier[0] if earlier else None
        last = next((one.period for one in earlier if one.period is not None), None)
        self.clause: Clause = take_apart(name_period_before(text, last, today), vocabulary, today)
        lead = FOLLOW_UP.match(self.clause.text)
        self.words = self.clause.text[lead.end() :] if lead else self.clause.text
        if _DID_SPEND.search(self.words):
            self.clause.minimum = None  # "Did I spend more than 500?" is answered by the sum.
        self.is_short = len(re.sub(r"<\w+>", "", self.words).split()) <= 4
        self.goes_on = bool(lead) or is_step or POINTS_BACK.search(self.words) is not None
        self.has_lead = bool(lead)

    @property
    def periods(self) -> list[Period]:
        """The periods that the clause names."""
        return self.clause.periods

    def read(self) -> Reading:
        """Find out what is asked for, and fill in the rest."""
        clause, what = self.clause, find_what(self.clause.text)
        if NOT_DONE.search(self.words) and what not in ("undo_import", "undo_edit", "set_budget"):
            return Reading(problem=_CANNOT)
        if clause.unknown and what not in _NAMES_UNKNOWN:
            return Reading(unknown=tuple(clause.unknown))
        if clause.odd and (what is None or what in _NARROWED or what == "categorize"):
            # "How often did I go swimming?" must not be answered with the sum of everything.
            return Reading(unknown=tuple(clause.odd)) if what else Reading()
        has_values = bool(
            self.periods or clause.names or clause.currency or clause.minimum or clause.excluded
        )
        if self.before is not None and self.before.what not in _BARE:
            again = (
                what is None and (self.has_lead or self.is_short) and (has_values or find_group(self.words))
            )
            again = again or (what == "spend" and self.has_lead and clause.names and not self.periods)
            # What is changed is said again: only "and Lidl?" goes on with a change.
            again = again and (self.before.what not in _CHANGES or (self.has_lead and bool(clause.names)))
            before = "list" if clause.minimum and self.before.what in _SUMS else self.before.what
            # A name that the question before does not take begins another one.
            if again and not (clause.names and say_unused_values(before, clause)):
                return self._checked(self._ask_again(self.before))
            if what == "spend" and self.before.what not in _FILTERED and _HOW_MUCH.fullmatch(self.words):
                return Reading()
            if what in _SHORT_ONES and self.is_short and not has_values:
                self.goes_on = True
            if (
                what in _FILTERED
                and self.before.what not in _FILTERED
                and self._means_only_the_last(has_values)
            ):
                return Reading()
        if what is None:
            if not has_values or not self.is_short:
                return Reading()
            what = "spend"
        return self._checked(self._build(what))

    def _means_only_the_last(self, has_values: bool) -> bool:
        """Whether a question is about what was shown last ("how much are they a year")."""
        points_back = POINTS_BACK.search(self.words) is not None
        return not has_values and points_back and OF_A_GROUP.search(self.words) is None

    def _checked(self, reading: Reading) -> Reading:
        """Give a reading, if its figure leaves out no word and no value of the question."""
        if not reading.steps:
            return reading
        what = reading.steps[0].what
        if has_untold_words(what, self.words, self.clause):
            return Reading()
        problems = [say_unused_values(what, self.clause), say_unused_names(reading.steps, self.clause)]
        problems += [say_wrong_step(step, self.words, self.today) for step in reading.steps]
        problem = next(filter(None, problems), None)
        return reading if problem is None else Reading(problem=problem)

    # -- with the question before --

    def _ask_again(self, before: Intent) -> Reading:
        """Ask the question before again, with what was said now in the place of what was said then."""
        changes: dict[str, Any] = self._values()
        if before.what not in _CHANGES and ("category" in changes or "merchant" in changes):
            changes = {"category": None, "merchant": None, "excluding": ()} | changes
        for kind in ("category", "merchant"):
            if getattr(before, kind) in changes.get("excluding", ()):
                changes[kind] = None  # "Only Rewe", and then "without Rewe".
        if "minimum" in changes and before.what in _SUMS:
            changes["what"] = "list"
        if before.what == "compare" and self.periods:
            period, against = compared_periods(
                self.clause.text, self.periods, self.today, self._periods_before
            )
            changes |= {"period": period, "against": against}
        elif self.periods:
            changes["period"] = self._whole_period()
        if (by := find_group(self.words)) is not None:
            changes["by"] = by
            if before.what in ("spend", "count", "average", "share"):
                changes["what"] = "breakdown"
        elif before.what == "breakdown" and before.by == "category" and changes.get("category"):
            changes |= {"what": "spend", "by": None}
        changes["has_period"] = before.has_period or bool(self.periods)
        step = msgspec.structs.replace(before, **changes)
        return Reading(steps=self._each_period(step) if before.what != "compare" else (step,))

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

    def _build(self, what: What) -> Reading:
        if what in _BARE:
            return Reading(steps=(Intent(what=what),))
        if what == "import":
            return Reading(steps=(Intent(what=what, file=self.clause.file),))
        if what == "recategorize":
            return self._recategorize()
        if what == "set_budget" or (what == "budget" and _REMOVES.search(self.words)):
            return self._set_budget()
        inherited, values = self._inherited(what), self._values()
        if inherited is not None and what in _FILTERED and not ("category" in values or "merchant" in values):
            by = find_group(self.words)  # One merchant by merchant would be the same again.
            dropped = {by} if what == "compare" or by == "merchant" else set[str | None]()
            if inherited.what == "income" and not _IN_TOTAL.fullmatch(self.words):
                dropped.add("category")  # What was spent has no source of income.
            kept = {name: getattr(inherited, name) for name in _FILTERS if name not in dropped}
            values = {name: value for name, value in kept.items() if value is not None} | values
        if what in _SUMS and "minimum" in values:
            what = "list"  # "Any charges over 500?" asks which, and a sum has no such limit.
        if what == "tag":
            if self.new_tag is None or not (values or self.periods):
                return Reading(problem=_WHICH_TAG)
            values["text"] = self.new_tag
        if what == "compare":
            return self._compare(inherited, values)
        if what == "income" and _SALARY.search(self.words):
            other = values.setdefault("category", "Salary")
            if other != "Salary":
                return Reading(
                    problem=f"I can do that for one at a time: ask about Salary and {other} one by one."
                )
        if what == "share" and not ("category" in values or "merchant" in values):
            what = "breakdown"  # Its table has the share of each part.
        values = self._shape(what, inherited, values.get("category")) | values
        what = values.pop("what", what)
        if self.periods:
            values |= {"period": self._whole_period(), "has_period": True}
        elif inherited is not None and inherited.period is not None and what != "budget":
            values |= {"period": inherited.period, "has_period": inherited.has_period}
        elif what not in TIMELESS:
            if what in _SUMS and _IN_TOTAL.search(self.words):
                values["period"] = Period(BEGINNING, self.today)
            of_months = values.get("by") == "month"
            values.setdefault("period", _default_period("average" if of_months else what, self.today))
        joined = len(self.clause.names) == 2 and _JOINED.search(self.words) is not None
        if what in ("spend", "share") and (several := self._several(mixed=joined)):
            return Reading(steps=self._each_period(*self._each(several, values, what).steps))
        return Reading(steps=self._each_period(Intent(what=what, **values)))

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
            "excluding": clause.excluded or None,
        }
        return {name: value for name, value in values.items() if value is not None}

    def _whole_period(self) -> Period:
        """The one period of a clause; "September and October" are one."""
        return Period(min(self.periods).start, max(one.end for one in self.periods))

    def _each_period(self, *steps: Intent) -> tuple[Intent, ...]:
        """Repeat steps for each period of the clause, if there are days between: those do not count."""
        periods = sorted(self.periods)
        apart = any(
            later.start > max(one.end for one in periods[:at]) + timedelta(days=1)
            for at, later in enumerate(periods)
            if at
        )
        if not apart:
            return steps
        return tuple(msgspec.structs.replace(step, period=one) for step in steps for one in periods)

    def _recategorize(self) -> Reading:
        merchant, category = self.clause.first("merchant"), self.clause.last("category")
        if len(merchants := self.clause.all("merchant")) > 1:
            return Reading(
                problem=f"I can do that for one merchant at a time: say {' and '.join(merchants)} one by one."
            )
        if merchant is not None and category is not None:
            return Reading(steps=(Intent(what="recategorize", merchant=merchant, category=category),))
        named = re.search(
            r"^\w+ (?:all |every |the |my )?([^<]+?)(?: \w+)? (?:under|as|to|into|in|with) ", self.words
        )
        if category is not None and named:
            return Reading(unknown=(named[1],))
        return Reading(problem=_WHICH_CATEGORY)

    def _set_budget(self) -> Reading:
        if refusal := say_other_budget(self.words):
            return Reading(problem=refusal)
        category, removes = self.clause.first("category"), _REMOVES.search(self.words) is not None
        if category is None or (self.amount is None) is not removes:
            return Reading(problem=_WHICH_BUDGET)
        unit = self.unit or self.clause.currency
        step = Intent(what="set_budget", category=category, amount=self.amount, currency=unit)
        return Reading(steps=(step,))

    def _compare(self, inherited: Intent | None, values: dict[str, Any]) -> Reading:
        if len(self.periods) > 2:
            return Reading(problem=_TWO_PERIODS)
        several = self._several(mixed=True) or self._with_other(inherited)
        if several and len(self.periods) < 2 and "why" not in self.words.split():
            period = self._whole_period() if self.periods else _default_period("spend", self.today)
            if inherited is not None and inherited.period is not None and not self.periods:
                period = inherited.period
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

    def _with_other(self, inherited: Intent | None) -> list[dict[str, Any]]:
        """What the question before was about, and the name that "compare it with Lidl" adds."""
        if inherited is None or self.periods or not _WITH_OTHER.search(self.words):
            return []
        kinds = ("category", "merchant")
        found = [{kind: name} for kind in kinds if (name := getattr(inherited, kind)) is not None]
        return [*found, *({kind: name} for kind, name in self.clause.names if kind in kinds)] if found else []

    def _several(self, *, mixed: bool) -> list[dict[str, Any]]:
        """The names of a question that asks about more than one."""
        kinds = ("category", "merchant")
        each = {kind: self.clause.all(kind) for kind in kinds}
        if mixed and all(each.values()):
            return [{kind: name} for kind, name in self.clause.names if kind in kinds]
        found = next((kind for kind in kinds if len(each[kind]) > 1), None)
        return [{found: name} for name in each[found]] if found else []

    def _each(self, several: list[dict[str, Any]], values: dict[str, Any], what: What = "spend") -> Reading:
        several_of = {kind for one in several for kind in one}
        rest = {name: value for name, value in values.items() if name not in several_of}
        return Reading(steps=tuple(Intent(what=what, **(rest | name)) for name in several))

    def _shape(self, what: What, inherited: Intent | None, category: str | None) -> dict[str, Any]:
        """How the answer is cut: by what, in which order, per what."""
        words, by = self.words, find_group(self.words)
        # Within a category its merchants are what differs.
        inner: By = "merchant" if category else "category"
        if what == "breakdown":
            return {"by": inner if by is None or re.search(r"\bwhere\b", words) else by}
        if what == "top":
            before = (
                inherited.by if inherited is not None and inherited.what in ("top", "breakdown") else None
            )
            return {"by": by or before or "merchant"}
        if what == "chart":
            if by is None and re.search(rf"\bover (?:the )?{mark('period')}", words):
                by = "month"
            return {"by": by or (inherited.by if inherited else None) or inner}
        if what == "spend" and by is not None and GROUP_WORDS.search(words):
            return {"what": "breakdown", "by": by}
        if what == "average":
            return {"per": find_unit(words)}
        if what == "list":
            big = r"\b(?:biggest|largest|highest|expensive|priciest|dearest|greatest|big|large)\b"
            if not re.search(r"\b(?:recent|latest|newest)\b", words):
                big = rf"{big}|\b(?:top|most)\b"
            if re.search(r"\bwhen\b", words) or (self.clause.count is None and _LAST_ONE.search(words)):
                return {"order": "newest", "count": 1}
            return {"order": "largest" if re.search(big, words) else "newest"}
        return {}


def _currency_of(word: str | None) -> str | None:
    return None if word is None else _SIGNS.get(word) or CURRENCIES[word.lower().removesuffix("s")]


def _default_period(what: What, today: date) -> Period:
    """The period of a question that names none; the answer says which one it took."""
    if what == "average":
        return Period(month_of(today, 12).start, month_of(today, 1).end)
    if what in ("unusual", "double_charges"):
        return Period(month_of(today, 2).start, today)
    if what in ("income", "savings", "report"):
        return month_of(today, 1)
    return Period(month_of(today).start, today)
