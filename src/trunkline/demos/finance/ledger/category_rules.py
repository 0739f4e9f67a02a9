"""A person's own rules: a pattern of descriptions or merchants, and the category of what it finds. Pure.

``=Rewe`` is the merchant of that name. Any other pattern is words that the description or the merchant has; a
star at its end takes any ending. Of several that fit, the longest counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from trunkline.demos.finance.ledger.words import contains, fold


class Rule(NamedTuple):
    """A rule as it is stored."""

    pattern: str
    category: str


def merchant_pattern(merchant: str) -> str:
    """Give the pattern of one merchant."""
    return f"={merchant}"


class RuleBook:
    """All rules, ready to be asked about many transactions."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._merchants: dict[str, Rule] = {}
        self._words: list[tuple[str, Rule]] = []
        for rule in sorted(rules, key=lambda rule: (-len(rule.pattern), rule.pattern)):
            if rule.pattern.startswith("="):
                self._merchants.setdefault(fold(rule.pattern), rule)
            else:
                star = "*" if rule.pattern.endswith("*") else ""
                self._words.append((f"{fold(rule.pattern).strip()}{star}", rule))

    def find(self, folded: str, merchant: str) -> Rule | None:
        """Give the rule for a folded description and a merchant, if there is one."""
        name = fold(merchant)
        if rule := self._merchants.get(name):
            return rule
        fits = (rule for words, rule in self._words if contains(folded, words) or contains(name, words))
        return next(fits, None)
