"""The table of merchants is whole."""

from trunkline.demos.finance.ledger.categories import PARENTS
from trunkline.demos.finance.ledger.merchant_names import KNOWN


def test_every_merchant_has_a_category_and_every_word_one_merchant() -> None:
    assert {entry.category for entry in KNOWN} <= set(PARENTS)
    words = [entry.words for entry in KNOWN]
    assert len(words) == len(set(words))
    names = {(entry.name, entry.category) for entry in KNOWN}
    assert len(names) == len({name for name, _ in names})


def test_longer_words_are_tried_first() -> None:
    lengths = [len(entry.words) for entry in KNOWN]
    assert lengths == sorted(lengths, reverse=True)
