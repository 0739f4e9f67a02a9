"""Words that can be compared, and the tables in which they are found."""

from hypothesis import given
from hypothesis import strategies as st

from trunkline.demos.finance.ledger.words import WordIndex, contains, fold, read_table

WORDS = st.sampled_from(("a", "b", "a b", "b a", "ab*", "a*", "b a*"))


@given(st.lists(WORDS, unique=True), st.lists(st.sampled_from(("a", "b", "ab", "abc", "ba"))))
def test_an_index_finds_what_a_search_from_the_first_to_the_last_finds(
    entries: list[str], words: list[str]
) -> None:
    folded = fold(" ".join(words))
    expected = next((entry for entry in entries if contains(folded, entry)), None)
    assert WordIndex((entry, entry) for entry in entries).find(folded) == expected


def test_letters_of_every_script_are_kept() -> None:
    assert fold("Кафе «Пушкин»_1") == " кафе пушкин 1 "
    assert fold("日本 料理") != fold("中国 料理")


def test_what_does_not_fit_is_passed_over() -> None:
    index = WordIndex([("a", 1), ("a b", 2), ("b", 3)])
    assert index.find(" a b ", lambda value: value > 1) == 2
    assert index.find(" a b ", lambda value: value > 3) is None


def test_a_line_of_a_table_may_go_on() -> None:
    assert read_table("\nFood: a b, c,\n    d\nHome: e\n", ",") == {"Food": ["a b", "c", "d"], "Home": ["e"]}
