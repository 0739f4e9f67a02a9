"""Which category a description tells, and which one a person means."""

import pytest

from trunkline.demos.finance.ledger.categories import (
    PARENTS,
    SYNONYMS,
    TAXONOMY,
    find_category,
    find_keyword,
    is_refund_text,
)
from trunkline.demos.finance.ledger.errors import LedgerError
from trunkline.demos.finance.ledger.words import fold


def test_a_name_is_a_category_or_a_group_and_there_once() -> None:
    names = [name for names in TAXONOMY.values() for name in names]
    assert len(names) == len(set(names))
    assert not set(names) & set(TAXONOMY)
    assert set(SYNONYMS.values()) <= {*PARENTS, *TAXONOMY}


@pytest.mark.parametrize(
    ("description", "amount", "category"),
    [
        ("APOTHEKE AM PARK", -500, "Pharmacy"),
        ("LOHN/GEHALT 10/2026", 300000, "Salary"),
        ("CREDIT CARD PAYMENT 77", -5000, "Card payment"),
        ("Umbuchung Tagesgeld", -5000, "Transfer"),
        ("SHELL GAS STATION", -5000, "Fuel"),
        ("Bäckerei Sonne", -300, "Coffee"),
        ("BAECKEREI SONNE", -300, "Coffee"),
        ("GA NR00001234 BLZ10050000", -10000, "Cash"),
        ("Entgeltabrechnung siehe Anlage", -495, "Bank fees"),
    ],
)
def test_words_tell_a_category(description: str, amount: int, category: str) -> None:
    keyword = find_keyword(fold(description), amount)
    assert keyword is not None
    assert keyword.category == category


def test_words_count_for_their_sign_only() -> None:
    assert find_keyword(fold("LOHN AUSHILFE"), -100) is None
    assert find_keyword(fold("MIETE UNTERMIETER"), 80000) is None


def test_refunds_say_so() -> None:
    assert is_refund_text(fold("ZALANDO RETOURE"))
    assert not is_refund_text(fold("ZALANDO"))


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("groceries", "Groceries"),
        ("Grocerie", "Groceries"),
        ("FOOD", "Food"),
        ("eating out", "Restaurants"),
        ("restaurant", "Restaurants"),
        ("flight", "Flights"),
        ("internet & phone", "Internet and phone"),
        ("uncategorized", "Uncategorized"),
    ],
)
def test_a_person_may_say_it_in_other_words(text: str, category: str) -> None:
    forms = {"internet & phone": "internet and phone"}
    assert find_category(forms.get(text, text)) == category


def test_own_categories_are_known_too() -> None:
    assert find_category("model trains", ["Model trains"]) == "Model trains"


def test_an_unknown_one_is_refused_with_what_is_near() -> None:
    with pytest.raises(LedgerError, match="did you mean Groceries"):
        find_category("Grocceries")
    with pytest.raises(LedgerError, match="known ones: Family, Food"):
        find_category("zzz")
