import pytest
from tests.demos.finance.questions.vocabulary import WORDS

from trunkline.demos.finance.questions.names import Vocabulary, find_names, near_names, simplify


def names(text: str, vocabulary: Vocabulary = WORDS) -> list[tuple[str, str]]:
    return [(name.kind, name.value) for name in find_names(text, vocabulary, frozenset({"spend", "last"}))]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("groceries", ("category", "Groceries")),
        ("grocery", ("category", "Groceries")),
        ("grocreies", ("category", "Groceries")),
        ("eating out", ("category", "Restaurants")),
        ("rewe", ("merchant", "Rewe")),
        ("strabucks", ("merchant", "Starbucks")),
        ("deutsche bahn", ("merchant", "Deutsche Bahn")),
        ("deutsche", ("merchant", "Deutsche Bahn")),
        ("credit card", ("account", "Credit Card")),
        ("vacation", ("tag", "vacation")),
    ],
)
def test_a_name_is_found_whole_by_a_synonym_or_misspelt(text: str, found: tuple[str, str]) -> None:
    assert names(text) == [found]


def test_what_stands_after_at_is_a_merchant_first() -> None:
    both = Vocabulary(categories=("Coffee",), merchants=("Coffee",))
    assert names("on coffee", both) == [("category", "Coffee")]
    assert names("at the coffee", both) == [("merchant", "Coffee")]


def test_short_or_everyday_words_are_not_taken_for_misspelt_names() -> None:
    assert names("spend") == []
    assert names("row") == []
    assert names("pence") == []


def test_the_beginning_that_two_merchants_share_names_neither() -> None:
    two = Vocabulary(merchants=("Amazon Prime", "Amazon Fresh"))
    assert names("amazon", two) == []
    assert names("amazon prime", two) == [("merchant", "Amazon Prime")]


def test_names_are_compared_without_signs_and_case() -> None:
    assert simplify("McDonald's  (Köln)") == "mcdonalds köln"


def test_the_names_that_are_most_like_a_word_are_given() -> None:
    assert near_names("grocerys", WORDS)[0] == "Groceries"
    assert near_names("xyzzy", WORDS) == []
