import pytest

from trunkline.demos.finance.statements.account_kinds import kind_by_words, read_kind
from trunkline.demos.finance.statements.statement import StatementError


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (("Gold card",), "card"),
        (("Umsaetze_Kreditkarte_2026",), "card"),
        (("VISA",), "card"),
        (("Tagesgeld",), "savings"),
        (("Épargne",), "savings"),
        (("Wallet",), "cash"),
        (("Girokonto",), "checking"),
        (("Debit card",), "checking"),
        (("2026-11-01_360PerformanceSavings...9876",), "savings"),
        (("KreditKarte",), "card"),
        (("CashBack Visa",), "card"),
        (("Main", "visa-2026"), "card"),
        (("My savings", "visa-2026"), "savings"),
        (("cardinal", "2026-01", ""), None),
        (("savings of my card",), None),
    ],
)
def test_words_tell_the_kind_of_an_account(texts: tuple[str, ...], kind: str | None) -> None:
    assert kind_by_words(*texts) == kind


def test_a_kind_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    assert read_kind("cash") == "cash"
    with pytest.raises(StatementError, match="must be one of checking, savings, card, cash"):
        read_kind("loan")
