"""Bank sync: pages, changes and faults lose nothing and bring nothing twice."""

import asyncio
import datetime
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.demos.finance.bank.banks import (
    AT,
    TOKEN,
    client_of,
    held,
    new_bank,
    new_ledger,
    sync,
    transaction,
    wanted,
)

from trunkline.demos.finance.bank.fake_bank import CLIENT_ID, SECRET, FakeBank, Fault
from trunkline.demos.finance.bank.items import link_fake_bank, link_item
from trunkline.demos.finance.bank.plaid_client import BankError
from trunkline.demos.finance.bank.sync import bank_variables, sync_all, sync_banks, sync_item
from trunkline.demos.finance.ledger.database import MEMORY, Ledger
from trunkline.demos.finance.statements.accounts import list_accounts


def test_all_pages_come_and_a_second_sync_brings_nothing() -> None:
    ledger = new_ledger()
    with new_bank(page_size=3) as bank:
        for number in range(10):
            bank.put(transaction(number, day=number + 1))
        first, second = sync(ledger, bank), sync(ledger, bank)
        assert (first.added, first.pages) == (10, 4)
        assert (second.added, second.modified, second.removed, second.pages) == (0, 0, 0, 1)
        assert held(ledger) == wanted(bank)
        assert [request["cursor"] is None for request in bank.requests] == [True, False, False, False, False]


def test_positive_amounts_of_the_wire_are_money_out() -> None:
    ledger = new_ledger()
    with new_bank() as bank:
        bank.put(transaction(1, 12.34, name="Shop"))
        bank.put(transaction(2, -1900.0, name="Wages"))
        sync(ledger, bank)
    with ledger.reading() as db:
        rows = db.execute("SELECT description, amount, kind FROM transactions ORDER BY id").fetchall()
    assert rows == [("Shop", -1234, "spend"), ("Wages", 190000, "income")]


def test_changes_and_removals_arrive() -> None:
    ledger = new_ledger()
    with new_bank() as bank:
        bank.put(transaction(1))
        bank.put(transaction(2))
        sync(ledger, bank)
        bank.put(transaction(1, 5.0, name="Coffee and cake"))
        bank.remove("t2")
        result = sync(ledger, bank)
        assert (result.added, result.modified, result.removed) == (0, 1, 1)
        assert held(ledger) == wanted(bank)


def test_a_posted_transaction_takes_over_the_pending_one_with_its_tags() -> None:
    ledger = new_ledger()
    with new_bank() as bank:
        bank.put(transaction(1, pending=True))
        sync(ledger, bank)
        with ledger.writing() as db:
            db.execute("INSERT INTO tags SELECT id, 'work' FROM transactions")
        bank.put(transaction(2, 4.75, day=3, pending_transaction_id="t1"))
        bank.remove("t1")
        sync(ledger, bank)
        assert held(ledger) == wanted(bank) == {"t2": ("2026-03-03", -475, "Coffee", 0)}
        with ledger.reading() as db:
            assert db.execute("SELECT tag FROM tags").fetchall() == [("work",)]


def test_data_that_changes_between_pages_is_read_again_from_the_first_cursor_of_the_run() -> None:
    ledger = new_ledger()
    with new_bank(page_size=2) as bank:
        bank.put(transaction(0))
        sync(ledger, bank)
        for number in range(1, 6):
            bank.put(transaction(number))
        seen: list[str] = []

        def change(text: str) -> None:
            seen.append(text)
            if len(seen) == 2:
                bank.put(transaction("late"))
                bank.remove("t1")

        bank.requests.clear()
        result = sync_item(ledger, client_of(bank), "item", at=AT, progress=change)
        assert (result.restarts, result.added) == (1, 5)
        cursors = [request["cursor"] for request in bank.requests]
        assert cursors[0] == cursors[3]
        assert held(ledger) == wanted(bank)


def test_data_that_never_rests_is_given_up_with_a_sentence() -> None:
    ledger = new_ledger()
    with new_bank() as bank:
        faults: list[Fault] = ["mutation"] * 10
        bank.order_faults(*faults)
        with pytest.raises(BankError, match="again and again"):
            sync(ledger, bank)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("login", "wants a new login"),
        ("rate_limit", "asked too often"),
        ("server_error", "500 INTERNAL_SERVER_ERROR"),
        ("break_off", "broke off"),
        ("garbage", "no page of changes"),
    ],
)
def test_a_fault_in_the_middle_changes_nothing_and_the_next_sync_has_everything(
    fault: Fault, said: str
) -> None:
    ledger = new_ledger()
    with new_bank(page_size=2) as bank:
        for number in range(5):
            bank.put(transaction(number))

        def fail_next(_: str) -> None:
            bank.order_faults(fault)

        with pytest.raises(BankError, match=said):
            sync_item(ledger, client_of(bank), "item", at=AT, progress=fail_next)
        assert held(ledger) == {}
        assert sync(ledger, bank).added == 5
        assert held(ledger) == wanted(bank)


CHILD = """
import datetime, sys
from trunkline.demos.finance.bank.fake_bank import CLIENT_ID, SECRET
from trunkline.demos.finance.bank.plaid_client import PlaidClient
from trunkline.demos.finance.bank.sync import sync_item
from trunkline.demos.finance.ledger.database import Ledger
at = datetime.datetime(2026, 11, 18, tzinfo=datetime.UTC)
sync_item(Ledger(sys.argv[1]), PlaidClient(sys.argv[2], CLIENT_ID, SECRET), "item", at=at,
          progress=lambda text: print(text, flush=True))
"""


def test_a_sync_that_is_killed_half_way_loses_and_duplicates_nothing(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    ledger = new_ledger(url)
    with new_bank(page_size=2) as bank:
        bank.put(transaction("before"))
        sync(ledger, bank)
        for number in range(5):
            bank.put(transaction(number))
        arguments = [sys.executable, "-c", CHILD, url, bank.base_url]
        with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            assert child.stdout.readline().startswith("Test Bank: 2 changes")
            bank.order_faults("silence")
            child.kill()
            child.wait(10)
        bank.next_fault()
        assert list(held(ledger)) == ["tbefore"] or held(ledger) == wanted(bank)
        sync(ledger, bank)
        assert held(ledger) == wanted(bank)


STEP = st.one_of(
    st.tuples(st.just("put"), st.integers(0, 5), st.integers(1, 9)),
    st.tuples(st.just("remove"), st.integers(0, 5), st.just(0)),
    st.tuples(st.just("sync"), st.just(0), st.just(0)),
    st.tuples(st.just("fail"), st.integers(0, 3), st.just(0)),
)


@settings(max_examples=25)
@given(st.lists(STEP, max_size=20), st.integers(1, 3))
def test_any_changes_with_syncs_and_faults_between_end_in_what_the_bank_has(
    steps: list[tuple[str, int, int]], page_size: int
) -> None:
    ledger = new_ledger()
    faults: tuple[Fault, ...] = ("login", "mutation", "garbage", "server_error")
    with new_bank(page_size) as bank:
        for word, number, cents in steps:
            if word == "put":
                bank.put(transaction(number, cents / 100))
            elif word == "remove":
                bank.remove(f"t{number}")
            else:
                if word == "fail":
                    bank.order_faults(faults[number])
                try:
                    sync(ledger, bank)
                except BankError:
                    continue
                assert held(ledger) == wanted(bank)
        sync(ledger, bank)
        assert held(ledger) == wanted(bank)


def test_every_linked_bank_is_synced_and_one_that_fails_stops_no_other() -> None:
    ledger = new_ledger()
    with ledger.writing() as db:
        link_item(db, "a", "Other Bank", "access-unknown")
    with new_bank() as bank:
        bank.put(transaction(1))
        variables = {
            "PLAID_CLIENT_ID": CLIENT_ID,
            "PLAID_SECRET": SECRET,
            "PLAID_BASE_URL": bank.base_url,
        }
        told: list[str] = []
        result = asyncio.run(sync_banks(ledger, at=AT, variables=variables, progress=told.append))
    assert result.added == 1
    assert told == ["Test Bank: 1 changes in 1 page"]
    assert [item.error is None for item in result.items] == [False, True]
    assert "INVALID_ACCESS_TOKEN" in result.errors[0]
    assert TOKEN not in str(result)


def test_missing_credentials_are_named() -> None:
    result = sync_all(new_ledger(), at=AT, variables={})
    assert "PLAID_CLIENT_ID and PLAID_SECRET are not set" in result.errors[0]


def test_the_fake_bank_of_the_demo_needs_no_credentials_and_goes_on_day_by_day() -> None:
    ledger = Ledger(MEMORY)
    with ledger.writing() as db:
        link_fake_bank(db)
    first = sync_all(ledger, at=AT, variables={})
    assert first.errors == ()
    assert first.added > 100
    again = sync_all(ledger, at=AT, variables={})
    assert (again.added, again.items[0].modified) == (0, 0)
    later = sync_all(ledger, at=AT + datetime.timedelta(3), variables={})
    assert later.added > 0
    assert later.items[0].modified > 0  # Pending payments that are posted now.
    with ledger.reading() as db:
        assert [(one.name, one.source) for one in list_accounts(db)] == [("Fake Bank Checking", "demo")]
        pending = db.execute("SELECT count(*) FROM transactions WHERE pending").fetchone()[0]
    assert 0 < pending <= 3


def test_a_file_env_cannot_send_tokens_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLAID_BASE_URL", raising=False)
    (tmp_path / ".env").write_text("PLAID_BASE_URL=https://evil.example\n")
    with pytest.raises(BankError, match=r"\.env names a bank server"):
        bank_variables(tmp_path)
    (tmp_path / ".env").write_text("PLAID_BASE_URL=http://127.0.0.1:9\nPLAID_SECRET=x\n")
    assert bank_variables(tmp_path)["PLAID_SECRET"] == "x"


def test_a_sync_that_was_overtaken_changes_nothing() -> None:
    ledger = new_ledger()
    with new_bank() as bank:
        bank.put(transaction(1))

        with pytest.raises(BankError, match="was quicker"):
            sync_item(ledger, client_of(bank), "item", at=AT, progress=lambda _: sync(ledger, bank))
        assert held(ledger) == wanted(bank)


def test_a_bank_without_transactions_is_fine() -> None:
    ledger = new_ledger()
    with FakeBank(TOKEN) as bank:
        assert sync(ledger, bank).added == 0
