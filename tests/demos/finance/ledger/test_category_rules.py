"""A person's own rules."""

import pytest

from trunkline.demos.finance.ledger.category_rules import Rule, RuleBook, check_pattern, merchant_pattern
from trunkline.demos.finance.ledger.failures import LedgerError
from trunkline.demos.finance.ledger.words import fold


def category(rules: list[Rule], description: str, merchant: str = "Somebody") -> str | None:
    rule = RuleBook(rules).find(fold(description), merchant)
    return rule and rule.category


def test_a_rule_is_about_a_merchant_or_about_words() -> None:
    rules = [Rule("=Corner Shop", "Groceries"), Rule("guitar", "Leisure"), Rule("gift*", "Gifts")]
    assert category(rules, "X", "corner shop") == "Groceries"
    assert category(rules, "Corner shop two", "Corner shop two") is None
    assert category(rules, "GUITAR LESSON 12") == "Leisure"
    assert category(rules, "X", "The Guitar Place") == "Leisure"
    assert category(rules, "GIFTS AND MORE") == "Gifts"


def test_a_merchants_rule_counts_before_words_and_long_words_before_short_ones() -> None:
    rules = [Rule("shop", "Shopping"), Rule("book shop", "Books"), Rule("=Book Shop", "Gifts")]
    assert category(rules, "BOOK SHOP 1", "Other") == "Books"
    assert category(rules, "BOOK SHOP 1", "Book Shop") == "Gifts"


def test_a_pattern_that_would_find_everything_is_refused() -> None:
    assert check_pattern("  a   b ") == "a b"
    assert merchant_pattern("Rewe") == "=Rewe"
    for pattern in ("", "*", "= ", "x" * 300):
        with pytest.raises(LedgerError, match="a rule"):
            check_pattern(pattern)
