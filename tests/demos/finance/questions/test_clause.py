import pytest
from tests.demos.finance.questions.vocabulary import TODAY, WORDS

from trunkline.demos.finance.questions.clause import Clause, take_apart


def clause(text: str) -> Clause:
    return take_apart(text, WORDS, TODAY)


def test_everything_that_is_a_value_is_taken_out() -> None:
    found = clause("Could you please show me the top 3 purchases over €1,200.50 at Rewe in October?")
    assert found.text == "show me the top <_n> purchases <_minimum> at <_merchant> in <_period>"
    assert (found.count, found.minimum, found.first("merchant")) == (3, 120050, "Rewe")
    assert len(found.periods) == 1


def test_a_file_keeps_its_letters() -> None:
    assert clause("import 'My Bank/Export 2026.CSV' please").file == "My Bank/Export 2026.CSV"
    assert clause("import Statement.ofx").file == "Statement.ofx"
    assert clause('tag them as "my trip"').file is None


def test_a_currency_is_its_code() -> None:
    assert clause("spending in swiss francs").currency == "CHF"
    assert clause("spending in euros last month").currency == "EUR"


@pytest.mark.parametrize("text", ["show my subscritpions", "my averge spending", "transacions at rewe"])
def test_misspelt_words_of_the_rules_are_mended(text: str) -> None:
    mended = clause(text).text.split()
    assert {"subscriptions", "average", "transactions"} & set(mended)


def test_a_name_that_the_ledger_does_not_have_is_reported() -> None:
    assert clause("how much did i spend at blorbo last month").unknown == ["blorbo"]
    assert clause("how much did i spend at rewe last month").unknown == []


def test_what_does_not_count_is_no_filter() -> None:
    found = clause("groceries in october without rewe and edeka")
    assert (found.names, found.excluded) == ([("category", "Groceries")], ("Rewe", "Edeka"))
    assert clause("show transactions without a category").excluded == ()


@pytest.mark.parametrize(
    ("text", "excluded", "names"),
    [
        ("without groceries at rewe", ("Groceries",), [("merchant", "Rewe")]),
        ("besides rent and groceries at rewe", ("Rent", "Groceries"), [("merchant", "Rewe")]),
        ("except rewe, edeka and at starbucks", ("Rewe", "Edeka", "Starbucks"), []),
        ("without rent or for the groceries", ("Rent", "Groceries"), []),
    ],
)
def test_a_place_goes_on_with_what_does_not_count_only_after_and(
    text: str, excluded: tuple[str, ...], names: list[tuple[str, str]]
) -> None:
    found = clause(text)
    assert (found.excluded, found.names) == (excluded, names)


def test_who_is_only_polite_is_heard() -> None:
    assert clause("Hello!").text == "hello"
    assert clause("thanks").text == "thanks"


def test_several_names_of_a_kind_are_kept_in_order() -> None:
    found = clause("groceries and restaurants and groceries")
    assert found.all("category") == ["Groceries", "Restaurants"]
    assert (found.first("category"), found.last("category")) == ("Groceries", "Groceries")
    assert found.first("merchant") is None
