"""The fake bank speaks the wire as the real one does."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.demos.finance.bank.banks import TOKEN, transaction

from trunkline.demos.finance.bank.fake_bank import CLIENT_ID, SECRET, FakeBank


def ask(bank: FakeBank, cursor: str = "", **more: Any) -> tuple[int, dict[str, Any]]:
    request = {"client_id": CLIENT_ID, "secret": SECRET, "access_token": TOKEN, "cursor": cursor, **more}
    return bank.answer(request)


def read_all(bank: FakeBank, cursor: str = "", count: int = 100) -> tuple[dict[str, list[Any]], str]:
    found: dict[str, list[Any]] = {"added": [], "modified": [], "removed": []}
    while True:
        status, page = ask(bank, cursor, count=count)
        assert status == 200
        for kind, changes in found.items():
            changes.extend(page[kind])
        cursor = page["next_cursor"]
        if not page["has_more"]:
            return found, cursor


@pytest.fixture
def bank() -> FakeBank:
    return FakeBank(TOKEN, page_size=2)


def test_net_changes_since_a_cursor_are_given(bank: FakeBank) -> None:
    bank.put(transaction(1))
    bank.put(transaction(2))
    _, cursor = read_all(bank)
    bank.put(transaction(1, 9.0))
    bank.remove("t2")
    bank.put(transaction(3))
    bank.put(transaction(4))
    bank.remove("t4")
    changes, _ = read_all(bank, cursor)
    assert [one["transaction_id"] for one in changes["added"]] == ["t3"]
    assert [one["amount"] for one in changes["modified"]] == [9.0]
    assert [one["transaction_id"] for one in changes["removed"]] == ["t2"]


def test_a_page_after_a_change_is_refused_and_the_first_cursor_still_works(bank: FakeBank) -> None:
    for number in range(4):
        bank.put(transaction(number))
    _, page = ask(bank)
    bank.put(transaction(9))
    status, error = ask(bank, page["next_cursor"])
    assert (status, error["error_code"]) == (400, "TRANSACTIONS_SYNC_MUTATION_DURING_PAGINATION")
    assert len(read_all(bank)[0]["added"]) == 5


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        ({"secret": "x"}, "INVALID_API_KEYS"),
        ({"access_token": "x"}, "INVALID_ACCESS_TOKEN"),
        ({"count": 0}, "INVALID_FIELD"),
        ({"cursor": "???"}, "INVALID_FIELD"),
        ({"cursor": "OTk5Ojk5OTow"}, "INVALID_FIELD"),
    ],
)
def test_wrong_requests_get_the_error_of_the_wire(
    bank: FakeBank, request_: dict[str, Any], code: str
) -> None:
    request = {"client_id": CLIENT_ID, "secret": SECRET, "access_token": TOKEN, **request_}
    status, error = bank.answer(request)
    assert (status, error["error_code"]) == (400, code)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=15), st.integers(1, 4))
def test_any_pages_add_up_to_what_there_is(steps: list[tuple[int, int]], count: int) -> None:
    bank = FakeBank(TOKEN, page_size=3)
    held: dict[str, dict[str, Any]] = {}
    cursor = ""
    for number, amount in steps:
        if amount:
            bank.put(transaction(number, float(amount)))
        else:
            bank.remove(f"t{number}")
        if number % 2:
            changes, cursor = read_all(bank, cursor, count)
            held |= {one["transaction_id"]: one for one in (*changes["added"], *changes["modified"])}
            for gone in changes["removed"]:
                del held[gone["transaction_id"]]
            assert held == bank.transactions()


def test_a_bank_has_an_address_only_while_it_is_open(bank: FakeBank) -> None:
    with bank:
        assert bank.base_url.startswith("http://127.0.0.1:")
    with pytest.raises(RuntimeError, match="closed"):
        _ = bank.base_url
