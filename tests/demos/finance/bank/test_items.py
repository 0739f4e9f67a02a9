"""Banks that are linked."""

import pytest

from trunkline.demos.finance.bank.items import link_fake_bank, link_item, linked, list_items, unlink_item
from trunkline.demos.finance.bank.plaid_client import BankError
from trunkline.demos.finance.ledger.database import MEMORY, Ledger


def test_a_bank_is_linked_until_it_is_unlinked_and_its_token_is_not_listed() -> None:
    ledger = Ledger(MEMORY)
    with ledger.writing() as db:
        assert not linked(db)
        link_fake_bank(db)
        link_item(db, "it1", "First Bank", "access-secret")
        assert linked(db)
        assert [(item.id, item.institution, item.fake, item.synced) for item in list_items(db)] == [
            ("fake", "Fake Bank", True, False),
            ("it1", "First Bank", False, False),
        ]
        assert "access-secret" not in str(list_items(db))
        unlink_item(db, "fake")
        with pytest.raises(BankError, match="linked are: it1"):
            unlink_item(db, "fake")


def test_a_new_token_for_a_bank_keeps_its_cursor() -> None:
    ledger = Ledger(MEMORY)
    with ledger.writing() as db:
        link_item(db, "it1", "First Bank", "old")
        db.execute("UPDATE bank_items SET cursor = 'here'")
        link_item(db, "it1", "First Bank", "new")
        assert db.execute("SELECT access_token, cursor FROM bank_items").fetchall() == [("new", "here")]


@pytest.mark.parametrize(("item", "token"), [("", "t"), ("i", " ")])
def test_an_empty_id_or_token_is_refused(item: str, token: str) -> None:
    ledger = Ledger(MEMORY)
    with ledger.writing() as db, pytest.raises(BankError, match="one of them is empty"):
        link_item(db, item, "x", token)
