"""Files of any format with their accounts."""

import pytest
from tests.demos.finance.statements.imports import bring, new_ledger, plan, question
from tests.demos.finance.statements.ofx_files import CARDS_2, ofx_of

from trunkline.demos.finance.statements.statement import StatementError


def test_each_statement_of_a_file_goes_into_its_own_account() -> None:
    ledger = new_ledger()
    planned = plan(ledger, CARDS_2)
    assert [(account.name, account.kind, account.is_new) for account in planned.accounts] == [
        ("Card Co AV1", "savings", True),
        ("Card Co 1111", "card", True),
    ] or [account.number for account in planned.accounts] == ["SAV1", "41111111"]
    bring(ledger, CARDS_2)
    assert [account.is_new for account in plan(ledger, CARDS_2).accounts] == [False, False]
    with pytest.raises(StatementError, match="several accounts"):
        plan(ledger, CARDS_2, account="One")


def test_a_file_without_an_account_asks_for_it_alone() -> None:
    ledger = new_ledger()
    data = ofx_of([("20260301", "-4.50", "A", "Coffee")]).replace(b"<ACCTID>DE89370400440532013000", b"")
    assert list(question(ledger, data).fields["properties"]) == ["account"]
    assert plan(ledger, data, answers={"account": "Giro"}).accounts[0].name == "Giro"


def test_an_account_is_found_by_its_number_name_or_id() -> None:
    ledger = new_ledger()
    data = ofx_of([("20260301", "-4.50", "A", "Coffee")])
    account = bring(ledger, data, account="My Giro").accounts[0]
    other = "Date,Payee,Amount,Currency\n2026-05-05,x,-1.00,EUR\n"
    for words in ("my giro", account.id, "DE89 3704 0044 0532 0130 00"):
        assert plan(ledger, other, account=words).accounts[0].id == account.id
    assert plan(ledger, other, account="New one").accounts[0].is_new


def test_the_currency_of_an_account_that_is_known_is_not_asked_again() -> None:
    ledger = new_ledger()
    bring(ledger, ofx_of([("20260301", "-4.50", "A", "Coffee")]), account="Giro")
    data = "Date,Payee,Amount\n2026-05-05,x,-1.00\n"
    assert plan(ledger, data, account="Giro").new[0].row.currency == "EUR"
    assert list(question(ledger, data).fields["properties"]) == ["currency", "account"]
