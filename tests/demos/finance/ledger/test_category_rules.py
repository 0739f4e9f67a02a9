"""A person's own rules."""

from trunkline.demos.finance.ledger.category_rules import Rule, RuleBook
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
