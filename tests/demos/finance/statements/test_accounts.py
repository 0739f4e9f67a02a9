"""Accounts of the ledger that statements belong to."""

import pytest
from tests.demos.finance.statements.imports import new_ledger

from trunkline.demos.finance.statements.accounts import (
    LedgerAccount,
    find_account,
    find_by_end,
    insert_account,
    list_accounts,
    new_account,
    own_accounts,
)
from trunkline.demos.finance.statements.statement import Account, StatementError


def account(name: str, number: str = "", source: str = "file") -> LedgerAccount:
    return LedgerAccount(
        id=f"id-{name}-{number}", name=name, kind="checking", currency="EUR", number=number, source=source
    )


def test_two_accounts_of_one_name_are_told_apart_by_their_ids() -> None:
    accounts = [account("Giro", "1"), account("Giro", "2")]
    with pytest.raises(StatementError, match="id-Giro-1, id-Giro-2"):
        find_account(accounts, "giro")
    assert find_account(accounts, "id-Giro-2") == accounts[1]
    assert find_account(accounts, "1") == accounts[0]
    assert find_account(accounts, "Savings") is None


def test_the_end_of_a_number_finds_its_account_where_only_one_fits() -> None:
    iban, card = account("Giro", "DE89370400440532013000"), account("Visa", "4111111111111234")
    for number in ("370400440532013000", "0532013000", "XXXX-3000", "3000"):
        assert find_by_end([iban, card], number, "EUR", None) == iban
    assert find_by_end([account("Card 1234", "XXXX1234")], "4111111111111234", "EUR", "checking") is not None
    assert find_by_end([iban, account("Other", "99993000")], "3000", "EUR", None) is None
    assert find_by_end([iban, card], "000", "EUR", None) is None
    assert find_by_end([iban, card], "3000", "USD", None) is None
    assert find_by_end([iban, card], "3000", "EUR", "card") is None


def test_a_new_account_has_the_same_id_each_time() -> None:
    hint = Account(number="DE89 3704", kind="card", institution="First Bank")
    first, second = new_account(hint, None, "EUR"), new_account(Account(number="de893704"), "Mine", "EUR")
    assert first.id == second.id
    assert (first.name, first.number, second.name) == ("First Bank 3704", "DE893704", "Mine")


def test_made_up_accounts_are_never_imported_into() -> None:
    ledger = new_ledger()
    with ledger.writing() as db:
        insert_account(db, account("Demo", source="demo"))
        insert_account(db, account("Own"))
        insert_account(db, account("Own"))
        assert [one.name for one in own_accounts(db)] == ["Own"]
        assert [one.name for one in list_accounts(db)] == ["Demo", "Own"]


def test_an_account_that_is_named_by_its_number_keeps_it_to_itself() -> None:
    made = new_account(Account(), "DE89 3704 0044 0532 0130 00", "EUR")
    assert (made.name, made.number) == ("Account 3000", "DE89370400440532013000")
    assert new_account(Account(), "Giro 1234567890", "EUR").name == "Giro ****7890"
