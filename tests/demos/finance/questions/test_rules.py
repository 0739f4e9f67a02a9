import pytest

from trunkline.demos.finance.questions.rules import KNOWN_WORDS, find_group, find_what, mark


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("how much did i spend on <_category> <_period>", "spend"),
        ("what did i spend my money on <_period>", "breakdown"),
        ("which subscriptions got dearer", "price_rises"),
        ("which subscriptions do i have", "subscriptions"),
        ("why is <_merchant> in <_category>", "why_category"),
        ("put <_merchant> under <_category>", "recategorize"),
        ("categorize my uncategorized transactions", "categorize"),
        ("show uncategorized transactions", "uncategorized"),
        ("was i charged twice", "double_charges"),
        ("what is my savings rate", "savings"),
        ("savings account", None),
        ("the weather", None),
    ],
)
def test_the_first_rule_that_fits_counts(text: str, what: str | None) -> None:
    assert find_what(text) == what


def test_a_name_is_not_taken_for_a_word_of_the_rules() -> None:
    assert find_group(f"and for {mark('category')}") is None
    assert find_group("by category") == "category"
    assert find_group("per month") == "month"


def test_the_words_of_the_rules_are_known() -> None:
    assert {"subscriptions", "subscription", "shop", "shops", "recent"} <= KNOWN_WORDS
