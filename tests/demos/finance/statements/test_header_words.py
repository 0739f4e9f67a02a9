"""The words above columns."""

import pytest

from trunkline.demos.finance.statements.csv_layout import normalise
from trunkline.demos.finance.statements.header_words import Role, count_roles, roles_of


@pytest.mark.parametrize(
    ("cell", "role"),
    [
        ("Buchungstag", "date"),
        ("Date de l'opération", "date"),
        ("Wertstellung", "value_date"),
        ("Betrag (€)", "amount"),
        ("Amount (USD)", "amount"),
        ("Balance in GBP", "balance"),
        ("Libellé", "text"),
        ("Zahlungsempfänger*in", "payee"),
        ("Währung", "currency"),
        ("Débit", "debit"),
        ("Paid in", "credit"),
        ("S/H", "marker"),
        ("Auftragskonto", "account"),
        ("Datum des Abschlusses", "date"),
        ("Sender / Empfänger", "payee"),
        ("Billing amount", "amount"),
        ("Ut", "debit"),
        ("Inn", "credit"),
    ],
)
def test_a_word_has_its_role_in_every_language(cell: str, role: Role) -> None:
    assert role in roles_of(normalise(cell))


@pytest.mark.parametrize("cell", ["Amount (Foreign Currency)", "Exchange rate", "Hello", ""])
def test_other_words_and_foreign_amounts_have_none(cell: str) -> None:
    assert "amount" not in roles_of(normalise(cell))


def test_a_header_has_several_roles_and_a_sentence_has_few() -> None:
    assert count_roles(["date", "amount", "description", "date"]) == 3
    assert count_roles(["dear customer", "thank you"]) == 0
