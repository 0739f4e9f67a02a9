"""A small bank on this machine that speaks ``/transactions/sync``, for the demo and for tests.

It keeps a log of what happened. A cursor is a position in that log; between two positions it gives the net
changes, in pages. When something happens while a client reads pages, the next page is refused as Plaid does
it. Faults can be ordered: each is used up by one request.
"""

from __future__ import annotations

import base64
import binascii
import threading
from collections import deque
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, Self

import msgspec

from trunkline.demos.finance.bank.plaid_wire import LOGIN_REQUIRED, MUTATION, RATE_LIMIT

CLIENT_ID = "fake-client"
SECRET = "fake-secret"
_LARGEST_REQUEST = 64 * 1024

Fault = Literal["login", "rate_limit", "server_error", "break_off", "garbage", "mutation", "silence"]
"""What goes wrong at a request; ``silence`` answers nothing until the bank is closed."""


class FakeBank:
    """The bank and its server. Use it with ``with``; ``base_url`` says where it is."""

    def __init__(self, access_token: str, *, page_size: int = 100) -> None:
        """Make a bank without accounts; ``page_size`` is the most changes in one page."""
        self._access_token = access_token
        self._page_size = page_size
        self._accounts: dict[str, dict[str, Any]] = {}
        self._log: list[tuple[str, dict[str, Any] | None]] = []
        self._faults: deque[Fault] = deque()
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self.requests: list[dict[str, Any]] = []
        """What clients asked, without what is secret."""
        self._server: ThreadingHTTPServer | None = None
        self._thread: threading.Thread | None = None

    @property
    def base_url(self) -> str:
        """The address for a client, while the bank is open."""
        if self._server is None:
            raise RuntimeError("the fake bank is closed: open it with `with`")
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed.set()
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._server.server_close()
            self._thread.join(10)
        self._server = None

    # -- what happens at the bank ------------------------------------------------------------------

    def add_account(self, account_id: str, **more: Any) -> None:
        """Open an account; ``more`` are further fields of the wire."""
        balances = {"iso_currency_code": more.pop("currency", "EUR"), "current": 0}
        with self._lock:
            self._accounts[account_id] = {
                "account_id": account_id,
                "name": "Checking",
                "mask": "0000",
                "type": "depository",
                "subtype": "checking",
                "balances": balances,
                **more,
            }

    def put(self, transaction: dict[str, Any]) -> None:
        """Add a transaction, or change the one with this id."""
        with self._lock:
            self._log.append((str(transaction["transaction_id"]), dict(transaction)))

    def remove(self, transaction_id: str) -> None:
        """Take a transaction back."""
        with self._lock:
            self._log.append((transaction_id, None))

    def order_faults(self, *faults: Fault) -> None:
        """Let the next requests fail, one for each fault."""
        with self._lock:
            self._faults.extend(faults)

    def transactions(self) -> dict[str, dict[str, Any]]:
        """Give all that there is now, by id."""
        with self._lock:
            return {one: state for one, state in _state(self._log).items() if state is not None}

    # -- the wire ----------------------------------------------------------------------------------

    def answer(self, request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Answer one request of the wire: a status and a body."""
        if request.get("client_id") != CLIENT_ID or request.get("secret") != SECRET:
            return _error(400, "INVALID_INPUT", "INVALID_API_KEYS", "invalid client_id or secret provided")
        if request.get("access_token") != self._access_token:
            return _error(
                400, "INVALID_INPUT", "INVALID_ACCESS_TOKEN", "could not find matching access token"
            )
        count = request.get("count", 100)
        if not isinstance(count, int) or not 1 <= count <= 500:
            return _error(400, "INVALID_REQUEST", "INVALID_FIELD", "count must be between 1 and 500")
        with self._lock:
            try:
                start, end, offset = _read_cursor(str(request.get("cursor") or ""), len(self._log))
            except ValueError:
                return _error(
                    400, "INVALID_INPUT", "INVALID_FIELD", "cursor not associated with access_token"
                )
            if offset and end != len(self._log):
                return _error(400, "TRANSACTIONS_ERROR", MUTATION, "Underlying transaction data changed")
            changes = _changes(self._log[:start], self._log[:end])
            size = min(count, self._page_size)
            page = changes[offset : offset + size]
            more = offset + size < len(changes)
            cursor = _write_cursor(start, end, offset + size) if more else _write_cursor(end, end, 0)
            body: dict[str, Any] = {"added": [], "modified": [], "removed": []}
            for kind, change in page:
                body[kind].append(change)
            accounts = list(self._accounts.values())
        return 200, {
            **body,
            "accounts": accounts,
            "next_cursor": cursor,
            "has_more": more,
            "request_id": "fake",
            "transactions_update_status": "HISTORICAL_UPDATE_COMPLETE",
        }

    def next_fault(self) -> Fault | None:
        """Take the next fault that was ordered."""
        with self._lock:
            return self._faults.popleft() if self._faults else None

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        bank = self

        class Handler(BaseHTTPRequestHandler):
            timeout = 30

            def do_POST(self) -> None:
                size = int(self.headers.get("Content-Length") or 0)
                if self.path != "/transactions/sync" or size > _LARGEST_REQUEST:
                    return self._send(404, b"{}")
                request: dict[str, Any] = msgspec.json.decode(self.rfile.read(size))
                bank.requests.append({"cursor": request.get("cursor"), "count": request.get("count")})
                fault = bank.next_fault()
                status, body = _FAULTS[fault] if fault in _FAULTS else bank.answer(request)
                raw = msgspec.json.encode(body)
                if fault == "silence":
                    bank._closed.wait(60)
                    return None
                if fault == "garbage":
                    raw = b"<html>busy</html>"
                self._send(status, raw, cut=fault == "break_off")
                return None

            def _send(self, status: int, raw: bytes, *, cut: bool = False) -> None:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw[: len(raw) // 2] if cut else raw)

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing: the terminal belongs to someone else."""

        return Handler


def _error(status: int, kind: str, code: str, message: str) -> tuple[int, dict[str, Any]]:
    return status, {
        "error_type": kind,
        "error_code": code,
        "error_message": message,
        "display_message": None,
        "request_id": "fake",
    }


_FAULTS: dict[str | None, tuple[int, dict[str, Any]]] = {
    "login": _error(400, "ITEM_ERROR", LOGIN_REQUIRED, "the login details of this item have changed"),
    "rate_limit": _error(429, RATE_LIMIT, "TRANSACTIONS_SYNC_LIMIT", "rate limit exceeded"),
    "server_error": _error(500, "API_ERROR", "INTERNAL_SERVER_ERROR", "an unexpected error occurred"),
    "mutation": _error(400, "TRANSACTIONS_ERROR", MUTATION, "Underlying transaction data changed"),
}


def _state(log: Sequence[tuple[str, dict[str, Any] | None]]) -> dict[str, dict[str, Any] | None]:
    return dict(log)


def _changes(
    before: Sequence[tuple[str, dict[str, Any] | None]], after: Sequence[tuple[str, dict[str, Any] | None]]
) -> list[tuple[str, dict[str, Any]]]:
    """Give the net changes between two positions of the log, in the order in which they began."""
    old, new = _state(before), _state(after)
    changes: list[tuple[str, dict[str, Any]]] = []
    for identifier in dict.fromkeys(one for one, _ in after[len(before) :]):
        was, state = old.get(identifier), new[identifier]
        if state is None:
            if was is not None:
                removed = {"transaction_id": identifier, "account_id": was["account_id"]}
                changes.append(("removed", removed))
        elif state != was:
            changes.append(("added" if was is None else "modified", state))
    return changes


def _write_cursor(start: int, end: int, offset: int) -> str:
    return base64.urlsafe_b64encode(f"{start}:{end}:{offset}".encode()).decode()


def _read_cursor(cursor: str, length: int) -> tuple[int, int, int]:
    """Give where to begin, where to end and how many changes were given; ValueError for another's cursor."""
    if not cursor:
        return 0, length, 0
    try:
        start, end, offset = (int(part) for part in base64.urlsafe_b64decode(cursor).decode().split(":"))
    except (binascii.Error, UnicodeDecodeError) as error:
        raise ValueError("no cursor") from error
    if not 0 <= start <= end <= length or offset < 0:
        raise ValueError("no cursor of this bank")
    return (start, end, offset) if offset else (start, length, 0)
