"""The tables of words are whole."""

from trunkline.demos.finance.ledger.categories import PARENTS
from trunkline.demos.finance.ledger.category_words import KEYWORDS, REFUNDS
from trunkline.demos.finance.ledger.words import fold


def test_every_word_is_folded_and_has_a_category() -> None:
    assert {keyword.category for keyword in KEYWORDS} <= set(PARENTS)
    words = [keyword.words.rstrip("*") for keyword in KEYWORDS] + list(REFUNDS)
    assert [word for word in words if fold(word).strip() != word] == []


def test_a_word_tells_one_category_for_one_sign() -> None:
    told = [(keyword.words, keyword.sign) for keyword in KEYWORDS]
    assert len(told) == len(set(told))
