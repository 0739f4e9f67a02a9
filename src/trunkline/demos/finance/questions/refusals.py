"""What a question cannot ask for: values and words that its figure would leave out. Pure.

A figure that leaves out a word of the question answers another one. So each kind of question says what it can
be narrowed by, and which words it does not understand; a question with more than that is not answered.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from trunkline.demos.finance.ledger.categories import INCOME, PARENTS, TRANSFERS
from trunkline.demos.finance.questions.clause import Clause
from trunkline.demos.finance.questions.intent import Intent, What
from trunkline.demos.finance.questions.names import Kind
from trunkline.demos.finance.questions.periods import BEGINNING, Period, month_of

__all__ = [
    "SHORTEST",
    "has_untold_words",
    "say_other_budget",
    "say_unused_names",
    "say_unused_values",
    "say_wrong_step",
]

_NAMES: tuple[Kind, ...] = ("category", "merchant", "account", "tag")
_ALL = frozenset((*_NAMES, "currency", "excluding", "period", "count"))
_FILTERS = frozenset((*_NAMES, "currency", "excluding", "minimum"))
_TAKEN: dict[What, frozenset[str]] = {
    "spend": _ALL - {"count"},
    "breakdown": _ALL,
    "top": _ALL,
    "chart": _ALL - {"count"},
    "count": _ALL - {"count"},
    "average": _ALL - {"count"},
    "compare": _ALL - {"count"},
    "list": _ALL | {"minimum"},
    "uncategorized": _ALL - {"excluding"} | {"minimum"},
    "share": frozenset((*_NAMES, "currency", "period")),
    "tag": frozenset((*_NAMES, "currency", "period")),
    "unusual": frozenset(("category", "merchant", "account", "period")),
    "double_charges": frozenset(("category", "merchant", "account", "period")),
    "subscriptions": frozenset(("category", "merchant", "account")),
    "price_rises": frozenset(("category", "merchant", "account")),
    "due": frozenset(("category", "merchant", "account", "count")),
    "income": frozenset(("period",)),
    "savings": frozenset(("period",)),
    "report": frozenset(("period",)),
    "budget": frozenset(("category", "period")),
    "accounts": frozenset(("account",)),
    "why_category": frozenset(("category", "merchant")),
    "recategorize": frozenset(("category", "merchant")),
    "categorize": frozenset(("category",)),
    "set_budget": frozenset(("category", "currency")),
}
"""By what each kind of question can be narrowed; one that is not here takes anything."""
_SAID: dict[What, str] = {
    "spend": "a sum",
    "breakdown": "a breakdown",
    "top": "a ranking",
    "chart": "a chart",
    "count": "a count",
    "average": "an average",
    "compare": "a comparison",
    "list": "a list",
    "uncategorized": "that list",
    "share": "a share",
    "tag": "what is tagged",
    "unusual": "unusual charges",
    "double_charges": "double charges",
    "subscriptions": "subscriptions",
    "price_rises": "price rises",
    "due": "what is due",
    "income": "income",
    "savings": "savings",
    "report": "a report",
    "budget": "budgets",
    "accounts": "accounts",
    "why_category": "the reason for a category",
    "recategorize": "a change of category",
    "categorize": "what is categorized",
    "set_budget": "a budget",
}
_OF_SEVERAL: tuple[What, ...] = ("recategorize", "why_category", "accounts")
"""What may name an old and a new category, or tells all accounts anyway."""
_VALUES = {
    "minimum": "an amount",
    "excluding": "what does not count",
    "period": "a period",
    "count": "a number of rows",
    "category": "a category",
    "merchant": "a merchant",
    "account": "an account",
    "tag": "a tag",
    "currency": "a currency",
}

_UNIT = r"(?:day|week|weekend|month|quarter|year)"
_FIGURES: tuple[What, ...] = (
    "spend", "breakdown", "top", "count", "average", "share", "list", "compare", "chart", "income", "savings",
    "tag",
)  # fmt: skip
_OF_SPENDING: tuple[What, ...] = (
    "spend",
    "breakdown",
    "top",
    "count",
    "average",
    "share",
    "compare",
    "chart",
    "list",
)
_NO_SPENDING = {
    INCOME: 'Ask for it as income, with all other income: "How much did I earn in October?"',
    TRANSFERS: "What moves between own accounts is neither spending nor income, so I do not count it. "
    "`SELECT * FROM entries WHERE kind = 'transfer'` shows it.",
}
_NOT = re.compile(
    r"\b(?:not|never|without|except\w*|exclud\w*|excl|besides|minus|unlike|(?:apart|aside) from)\b|"
    r"\bother than\b|\bbut\b|n't\b"
)
_OTHER = re.compile(
    r"\b(?:you|your|first|earliest|oldest|smallest|cheapest|lowest|least|fewest|median|smaller|cheaper)\b|"
    r"\b(?:in|by|with|of|much) cash\b|\bcash (?:spen|expens|payment|purchase)|\bone[- ]time\b|"
    r"(?<!by )(?<!per )(?<!each )(?<!which )(?<!every )\bcards?\b|"
    r"\b(?:and|or|plus) (?:eur\w*|usd|(?:us )?dollars?|gbp|pounds?|chf|(?:swiss )?francs?)\b|"
    r"\bby (?:the )?(?:number|count)\b|\b(?:morning|afternoon|evening|night)s?\b|"
    r"\bduring (?:my|our|the|an?|this|that) "
    r"(?!<|month|week|year|quarter|day|last|past|first|second|(?:whole|entire) (?:of )?<)\w+|"
    r"\bnew (?:merchants?|shops?|stores?|places?|ones?|categor\w+)\b|"
    r"\b(?:tagged(?: as| with)?|(?:on|with|under|for|the) tag) <_(?:category|merchant|account)>"
)
_OTHER_GROUP = re.compile(r"\b(?:by|per|each|every) (?:quarters?|years?|tags?|weekdays?)\b")
_FUTURE = re.compile(
    r"\b(?:will|going to|gonna|forecast|predict\w*|project(?:ed|ion)|next|tomorrow|upcoming|would|should)\b"
)
_PART_OF_PERIOD = re.compile(
    r"\b(?:until|till|up to|before|prior to|around|early|mid|late|by(?: the)?|every|each|through|as of|"
    r"(?:start|beginning|middle|mid|end|half|part|rest|weeks?|weekends?|\w*days?) of|by (?:the )?end of)"
    r"(?: the)? <_period>"
)
_PERIOD_OF_PERIOD = re.compile(
    r"<_period>(?: ?'?s)? (?:of |in |on )(?:the )?<_period>|<_period> ?'?s <_period>"
)
_LOOSE_TIME = re.compile(r"\b(?:since|until|till|between|before|after|ago|earlier|onwards?)\b")
_TOLD_UNITS = re.compile(
    r"\b(?:by|per|each|every|for each|over the|across the|a|an|which|what|expensive|highest) "
    rf"(?:single )?{_UNIT}s?\b|"
    rf"\b{_UNIT} (?:by|on|over) {_UNIT}\b|\b(?:month|year) of <_period>|\b<_period> {_UNIT}\b"
)
_LEFT_UNIT = re.compile(rf"\b{_UNIT}s?\b")
_OF_OTHER_TIME = re.compile(
    r"\b(?:a|per|each|every|for a|for the) (?:day|week|quarter|year)\b|"
    r"\b(?:daily|weekly|quarterly|yearly|annual)\b"
)
_BY_AMOUNT = re.compile(
    r"\bby <_amount>|<_amount> (?:more|less|extra|higher|lower)\b|\b(?:another|extra) <_amount>"
)
_DUE_SPAN = re.compile(
    r"\b(?:today|tomorrow|tonight|(?:this|next) (?:week|weekend|month|quarter|year)|spen[dt])\b|"
    r"\bnext (?!30 days|4 weeks|four weeks|1 month|one month)\w+ (?:days?|weeks?|months?|years?)\b"
)
_DUE = "I tell what is due in the next 30 days, with the day of each: ask for that."
_ONE_MONTH = "A budget is for a month: ask about one, as in: how was my budget in October."
SHORTEST = {"year": 365, "month": 28, "week": 7}
"""How many days a period must have for an average of a unit: a part of one is not made a whole one."""
_TOO_SHORT = "An average would be a guess, since the period is shorter than a"
_TRIPS = re.compile(r"\b(?:trips?|rides?|meals?|visits?)\b")
_NOT_SPENT = re.compile(
    r"\b(?:get|got|gets|given|gave|give|money|came|come) back\b|\breturn(?:ed|s)?\b|"
    r"\b(?:get|got|received?)\b.*\bfrom\b|\b(?:more|less|fewer)\b|"
    r"\b(?:put|transfer(?:red)?|moved?|deposit(?:ed)?) (?:<|on|to|in|into|aside)|"
    r"\b(?:went|goes|gone|sent) (?:on|to|in|into) (?:my |the )?<_account>|"
    r"\bpa(?:y|id) (?:it |them )?(?:off|back)\b|\b(?:last|latest|previous|recent) <_(?:category|merchant)>"
)
_OFTEN = r"\b(?:often|frequent\w*|times)\b"
_UNTOLD: dict[What, re.Pattern[str]] = {
    "breakdown": re.compile(
        r"\bbills?\b|"
        r"\b(?:percent\w*|share|proportion|fraction)\b.*\b(?:by|per|each|every) (?:month|week|day)\b"
    ),
    "list": re.compile(r"\b(?:i (?:was|got|get)|was i|(?:did|do) i get) paid\b|\bpaid (?:me|us)\b"),
    "share": re.compile(
        r"<_category> (?:in|of|within|inside) <_category>|\b(?:that|this|it|they) of (?:my |the )?<_category>"
    ),
    "top": re.compile(_OFTEN),
    "chart": re.compile(r"\b(?:income|salary|earn\w*|savings?|balances?)\b"),
    "spend": _NOT_SPENT,
    "average": re.compile(r"\bhow (?:many|often|frequently)\b|\b(?:income|salary|earn\w*|savings?)\b"),
    "income": re.compile(
        r"\b(?:than|compared?|versus|vs|when|average|avg|mean|typical\w*|by|per|each|every|"
        r"largest|biggest|highest|top|most|which|chang\w+|differ\w*|ris\w+|rose|gr[eo]w\w*|"
        r"(?:in|de)creas\w+|more|less|higher|lower|up|down)\b|"
        r"\b(?:on|in(?:to)?) (?:my |the |our )?(?:\w+ )?(?:accounts?|savings|cards?)\b"
    ),
    "count": re.compile(
        r"\b(?:per|each|every|a) (?:day|week|month|year)\b|\b(?:how many|number of) (?:\w+ )?"
        r"(?:merchants|shops|stores|places|companies|categories|kinds|groups)\b"
    ),
    "savings": re.compile(
        r"\b(?:put|transfer(?:red)?|moved?|deposit(?:ed)?) (?:on|to|in|into)\b|\bwhich\b|\bmost\b|"
        r"\b(?:than|compared?|versus|vs|better|worse|when|average|avg|mean|typical\w*|by|per|each|every)\b|"
        r"^(?:how|where) (?:do|can|could|should|to) (?:i )?save\b"
    ),
    "compare": re.compile(
        rf"\b(?:average|avg|mean|median|usual\w*|normal\w*|typical\w*|income|salary|balances?)\b|{_OFTEN}"
    ),
    "price_rises": re.compile(r"\bthan\b"),
    "budget": re.compile(r"\b(?:per|each|every|a) (?:day|week)\b|\b(?:dai|week)ly\b"),
    "subscriptions": re.compile(
        r"\b(?:new|newest|cancel+ed|did i cancel|ended|stopped|expired|old|oldest|unused|cheap\w*)\b"
    ),
}


def say_unused_values(what: What, clause: Clause) -> str | None:
    """Say which value of a clause its figure would leave out; None if it uses all."""
    if refusal := _say_no_spending(what, clause.all("category")):
        return refusal
    taken = _TAKEN.get(what)
    if taken is None:
        return None
    given = {kind for kind, name in clause.names if not _is_told(what, name)}
    given |= {
        name
        for name, value in (
            ("minimum", clause.minimum),
            ("excluding", clause.excluded),
            ("period", clause.periods),
            ("count", clause.count),
            ("currency", clause.currency),
        )
        if value
    }
    unused = [words for name, words in _VALUES.items() if name in given and name not in taken]
    if not unused:
        return None
    return (
        f"I cannot narrow {_SAID[what]} down by {' or '.join(unused)}, and I do not leave that out: "
        "ask without it."
    )


def say_other_budget(words: str) -> str | None:
    """Say that a budget is an amount for a month; None if the words do not ask for another one."""
    if _OF_OTHER_TIME.search(words):
        return (
            "A budget is for a month: say the amount for one, as in: set a budget of 200 EUR for restaurants."
        )
    if _BY_AMOUNT.search(words):
        return "Say the new amount, as in: raise the groceries budget to 450 EUR."
    return None


def say_unused_names(steps: Sequence[Intent], clause: Clause) -> str | None:
    """Say that a question names several of a kind where its steps have only some of them."""
    if steps[0].what in _OF_SEVERAL:
        return None
    for kind in _NAMES:
        names = clause.all(kind)
        if len(names) > 1 and not set(names) <= {getattr(step, kind) for step in steps}:
            return f"I can do that for one {kind} at a time: ask about {' and '.join(names)} one by one."
    return None


def say_wrong_step(step: Intent, words: str, today: date) -> str | None:
    """Say why the figure of a finished step would be another; its values may be of the question before."""
    if step.what == "due" and _DUE_SPAN.search(words):
        return _DUE
    if step.what == "budget" and step.period is not None and not _is_month(step.period, today):
        return _ONE_MONTH
    if step.what == "average" and step.period is not None:
        if step.period.start == BEGINNING:
            return "An average needs a first day: name a period, as in: the last 2 years."
        if step.period.days < SHORTEST.get(step.per or "month", 1):
            return f"{_TOO_SHORT} {step.per or 'month'}: name a longer one."
    if step.what == "count" and not (step.category or step.merchant) and (trips := _TRIPS.search(words)):
        return f"I count purchases, not {trips[0]}: name a merchant or a category."
    if refusal := _say_no_spending(step.what, [step.category] if step.category else []):
        return refusal
    taken = _TAKEN.get(step.what, _FILTERS)
    named = {name: value for name in sorted(_FILTERS - taken) if (value := getattr(step, name))}
    unused = [_VALUES[name] for name, value in named.items() if not _is_told(step.what, str(value))]
    if not unused:
        return None
    return (
        f"I cannot narrow {_SAID[step.what]} down by {' or '.join(unused)}, as the question before was, "
        "and I do not leave that out: ask it as a question of its own."
    )


def _is_told(what: What, name: str) -> bool:
    """Whether a figure tells a name apart without being narrowed down by it: income has its sources."""
    return what == "income" and PARENTS.get(name) == INCOME


def _is_month(period: Period, today: date) -> bool:
    month = month_of(period.start)
    return period.start == month.start and period.end in (month.end, min(today, month.end))


def _say_no_spending(what: What, categories: list[str]) -> str | None:
    for category in categories if what in _OF_SPENDING else ():
        if refusal := _NO_SPENDING.get(PARENTS.get(category, category)):
            return f"{category} is not spending. {refusal}"
    return None


def has_untold_words(what: What, words: str, clause: Clause) -> bool:
    """Whether a question has words that its figure would leave out."""
    untold = _UNTOLD.get(what)
    if untold is not None and untold.search(words):
        return True
    if what not in _FIGURES:
        return False
    if _NOT.search(words) or _OTHER.search(words) or _FUTURE.search(words) or _PART_OF_PERIOD.search(words):
        return True
    if what != "average" and _OTHER_GROUP.search(words):
        return True
    if _PERIOD_OF_PERIOD.search(words):
        return True
    if what not in ("compare", "savings") and _LOOSE_TIME.search(words):
        return True
    return what != "compare" and _LEFT_UNIT.search(_TOLD_UNITS.sub("", words)) is not None
