"""Asks a server that speaks Plaid's wire for changes, one page at a time. Blocking: it is run in a thread.

TLS, except on this machine; no redirects; every answer has a limit in time and size. What is secret stays out
of every message.
"""

from __future__ import annotations

import http.client
import ipaddress
import ssl
import time
from collections.abc import Mapping
from typing import ClassVar
from urllib.parse import urlsplit

import msgspec

from trunkline.demos.finance.bank.plaid_wire import (
    LOGIN_REQUIRED,
    MUTATION,
    RATE_LIMIT,
    PlaidFailure,
    SyncPage,
)
from trunkline.errors import Fault, Hint, TrunklineError
from trunkline.safe_text import one_line

HOSTS = {"sandbox": "https://sandbox.plaid.com", "production": "https://production.plaid.com"}
PAGE_SIZE = 500
"""The most that the server gives in one page."""
_LARGEST_ANSWER = 16 * 1024 * 1024
_CHUNK = 64 * 1024


class BankError(TrunklineError):
    """A bank or its server did not do as asked; the message says why and what to do."""

    fault: ClassVar[Fault] = "peer"
    hint: ClassVar[Hint] = Hint(-32603, 502)
    code: ClassVar[str] = "bank"


class PaginationChanged(BankError):
    """The data changed between two pages: all pages are asked for again."""


class PlaidClient:
    """The server at an address, with the credentials for it."""

    def __init__(self, base_url: str, client_id: str, secret: str, *, timeout: float = 30.0) -> None:
        """Name the server; BankError if its address is not safe. ``timeout`` is for one whole page."""
        self.base_url = base_url.rstrip("/")
        self._address = urlsplit(self.base_url)
        self._client_id = client_id
        self._secret = secret
        self._timeout = timeout
        if self._address.scheme not in ("https", "http") or not self._address.hostname:
            raise BankError("PLAID_BASE_URL is no web address: write https://HOST")
        if self._address.scheme == "http" and not is_local(self.base_url):
            raise BankError("PLAID_BASE_URL is not encrypted: only a server on this machine may be http://")

    @classmethod
    def from_environment(cls, variables: Mapping[str, str]) -> PlaidClient:
        """Use ``PLAID_CLIENT_ID``, ``PLAID_SECRET`` and ``PLAID_ENV`` or ``PLAID_BASE_URL``."""
        missing = [name for name in ("PLAID_CLIENT_ID", "PLAID_SECRET") if not variables.get(name)]
        if missing:
            names = f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'}"
            raise BankError(
                f"a bank is linked and {names} not set: set what your Plaid account names, or unlink the bank"
            )
        environment = variables.get("PLAID_ENV") or "sandbox"
        base_url = variables.get("PLAID_BASE_URL") or HOSTS.get(environment)
        if base_url is None:
            raise BankError(f"PLAID_ENV is {one_line(environment)!r}: it must be {' or '.join(HOSTS)}")
        return cls(base_url, variables["PLAID_CLIENT_ID"], variables["PLAID_SECRET"])

    def sync_page(self, access_token: str, cursor: str) -> SyncPage:
        """Ask for the changes after a cursor; an empty one asks for all."""
        request: dict[str, object] = {
            "client_id": self._client_id,
            "secret": self._secret,
            "access_token": access_token,
            "count": PAGE_SIZE,
        }
        if cursor:
            request["cursor"] = cursor
        status, body = self._post("/transactions/sync", msgspec.json.encode(request))
        if status != 200:
            raise _failure(status, body)
        try:
            return msgspec.json.decode(body, type=SyncPage)
        except msgspec.MsgspecError as error:
            raise BankError(
                f"the bank's server gave an answer that is no page of changes ({error})"
            ) from error

    def _post(self, path: str, body: bytes) -> tuple[int, bytes]:
        deadline = time.monotonic() + self._timeout
        connection = self._connect()
        try:
            connection.request(
                "POST",
                f"{self._address.path}{path}",
                body,
                {"Content-Type": "application/json", "User-Agent": "trunkline", "Connection": "close"},
            )
            answer = connection.getresponse()
            parts: list[bytes] = []
            size = 0
            while chunk := answer.read1(_CHUNK):
                parts.append(chunk)
                size += len(chunk)
                if size > _LARGEST_ANSWER:
                    raise BankError("the bank's server gave more than 16 MB for one page: it is not read")
                if time.monotonic() > deadline:
                    raise TimeoutError
            if answer.length:
                raise http.client.IncompleteRead(b"")
            return answer.status, b"".join(parts)
        except TimeoutError:
            raise BankError(
                f"the bank's server did not answer within {self._timeout:g} s: try again later"
            ) from None
        except (OSError, http.client.HTTPException) as error:
            why = one_line(str(error) or type(error).__name__)
            raise BankError(
                f"the bank's server cannot be reached or broke off ({why}): try again later"
            ) from error
        finally:
            connection.close()

    def _connect(self) -> http.client.HTTPConnection:
        host, port = self._address.hostname or "", self._address.port
        if self._address.scheme == "http":
            return http.client.HTTPConnection(host, port, timeout=self._timeout)
        return http.client.HTTPSConnection(
            host, port, timeout=self._timeout, context=ssl.create_default_context()
        )


def _failure(status: int, body: bytes) -> BankError:
    """Give the error that a person can act upon."""
    try:
        failure = msgspec.json.decode(body, type=PlaidFailure)
    except msgspec.MsgspecError:
        failure = PlaidFailure()
    if failure.error_code == MUTATION:
        return PaginationChanged("the bank's data changed while it was read: try again")
    if failure.error_code == LOGIN_REQUIRED:
        return BankError("the bank wants a new login: link it again, then sync; nothing is lost")
    if status == 429 or failure.error_type == RATE_LIMIT or failure.error_code.startswith("RATE_LIMIT"):
        return BankError("the bank's server was asked too often: try again in a minute")
    reason = one_line(failure.display_message or failure.error_message, 300)
    code = one_line(failure.error_code, 80)
    return BankError(
        f"the bank's server refused ({status} {code}{': ' if reason else ''}{reason}): try again later"
    )


def is_local(address: str) -> bool:
    """Whether an address is on this machine."""
    host = urlsplit(address).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
