"""The client of the wire: where it goes, what it accepts, and what it says."""

import socket
import threading

import pytest
from tests.demos.finance.bank.banks import TOKEN, client_of, new_bank, transaction

from trunkline.demos.finance.bank.fake_bank import CLIENT_ID
from trunkline.demos.finance.bank.plaid_client import BankError, PlaidClient, is_local


@pytest.mark.parametrize(
    ("variables", "address"),
    [
        ({}, "https://sandbox.plaid.com"),
        ({"PLAID_ENV": "production"}, "https://production.plaid.com"),
        ({"PLAID_ENV": "production", "PLAID_BASE_URL": "http://127.0.0.1:5/"}, "http://127.0.0.1:5"),
    ],
)
def test_the_server_is_that_of_the_environment(variables: dict[str, str], address: str) -> None:
    client = PlaidClient.from_environment({"PLAID_CLIENT_ID": "a", "PLAID_SECRET": "b", **variables})
    assert client.base_url == address


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"PLAID_SECRET": "b"}, "PLAID_CLIENT_ID is not set"),
        ({"PLAID_CLIENT_ID": "a", "PLAID_SECRET": "b", "PLAID_ENV": "moon"}, "sandbox or production"),
        (
            {"PLAID_CLIENT_ID": "a", "PLAID_SECRET": "b", "PLAID_BASE_URL": "http://bank.example"},
            "not encrypted",
        ),
        ({"PLAID_CLIENT_ID": "a", "PLAID_SECRET": "b", "PLAID_BASE_URL": "ftp://x"}, "no web address"),
    ],
)
def test_a_wrong_environment_is_named(variables: dict[str, str], said: str) -> None:
    with pytest.raises(BankError, match=said):
        PlaidClient.from_environment(variables)


def test_only_addresses_of_this_machine_are_local() -> None:
    assert all(map(is_local, ("http://127.0.0.1:1", "http://[::1]:1", "http://localhost")))
    assert not any(map(is_local, ("http://127.0.0.1.example", "http://10.0.0.1", "")))


def test_amounts_of_the_wire_are_exact() -> None:
    with new_bank() as bank:
        bank.put(transaction(1, 0.29))
        bank.put(transaction(2, 1234567.89))
        page = client_of(bank).sync_page(TOKEN, "")
    assert [str(one.amount) for one in page.added] == ["0.29", "1234567.89"]


def test_wrong_keys_are_refused_and_never_repeated() -> None:
    with new_bank() as bank:
        client = PlaidClient(bank.base_url, CLIENT_ID, "a-wrong-secret")
        with pytest.raises(BankError, match="INVALID_API_KEYS") as caught:
            client.sync_page(TOKEN, "")
    assert "a-wrong-secret" not in str(caught.value)


def test_a_server_that_is_silent_is_given_up() -> None:
    with new_bank() as bank:
        bank.order_faults("silence")
        with pytest.raises(BankError, match=r"did not answer within 0\.2 s"):
            client_of(bank, timeout=0.2).sync_page(TOKEN, "")


def test_a_server_that_is_gone_is_said() -> None:
    with new_bank() as bank:
        client = client_of(bank)
    with pytest.raises(BankError, match="cannot be reached"):
        client.sync_page(TOKEN, "")


def test_an_answer_without_end_is_cut_off() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(20)

        def pour() -> None:
            peer, _ = server.accept()
            with peer:
                peer.settimeout(20)
                peer.recv(65536)
                try:
                    peer.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                    for _ in range(40):
                        peer.sendall(b"x" * (1 << 20))
                except OSError:
                    return

        thread = threading.Thread(target=pour)
        thread.start()
        client = PlaidClient(f"http://127.0.0.1:{server.getsockname()[1]}", "a", "b")
        with pytest.raises(BankError, match="more than 16 MB"):
            client.sync_page("t", "")
        thread.join(20)
