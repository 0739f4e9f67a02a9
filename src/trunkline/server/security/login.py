"""Logins of the page: a one-use code, or a token, becomes a cookie.

The cookie is a secret of its own that stands for the access of a token, never the token itself. Secrets are
kept as digests, so that the time of a search shows nothing of them. Nothing is stored: after a restart a
browser logs in again, unless the process before handed its logins over (``serve --reload``). The gate says
which requests may use a cookie.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

from trunkline.server.errors import HttpError
from trunkline.server.security.cors import all_headers, first_header
from trunkline.server.security.hosts import HostPort
from trunkline.server.security.tokens import Access, Scope, new_secret

__all__ = ["CODE_SECONDS", "LOGIN_SECONDS", "Logins"]

CODE_SECONDS = 600.0
"""How long a code can be used."""
LOGIN_SECONDS = 7 * 24 * 3600.0
"""How long a browser stays logged in."""
_REPLACED_SECONDS = 10.0
"""How long the cookie before still works, for what another tab has just asked with it."""
_CODES = 16
"""Codes that wait for their use; the oldest is forgotten for a new one."""
_LOGINS = 1024
"""Browsers that are logged in; the one that was used longest ago is logged out for a new one."""
_TOKEN_LOGINS = 64
"""Browsers that are logged in by one token, so that its holder cannot log others out."""
_WRONG = 10
"""Wrong codes and tokens of one address in a minute; the next ones are only told to wait."""
_WRONG_SECONDS = 60.0
_ADDRESSES = 1024
"""Addresses whose wrong codes are counted."""
_COOKIES = 8
"""Cookies of our name that are looked at in one request: pages on other ports of the host can set some."""


class _Granted(NamedTuple):
    access: Access
    until: float


class _Wrong(NamedTuple):
    tries: int
    since: float


class Logins:
    """The codes that can be used, and the browsers that are logged in."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._codes: dict[bytes, _Granted] = {}
        self._logins: dict[bytes, _Granted] = {}
        self._wrong: dict[str, _Wrong] = {}

    def __len__(self) -> int:
        """How many browsers are logged in."""
        return len(self._logins)

    def new_code(self, access: Access) -> str:
        """Make a code of 256 bits that logs one browser in, once."""
        secret = new_secret()
        _add(self._codes, secret, _Granted(access, self._clock() + CODE_SECONDS), _CODES)
        return secret

    def use_code(self, code: str) -> Access | None:
        """Give the access of a code, which works once; None for one that is used, old or unknown."""
        found = self._codes.pop(_digest(code), None)
        return found.access if found is not None and self._clock() < found.until else None

    def log_in(self, scope: Scope, access: Access) -> str:
        """Log a browser in and give the header that sets its cookie; an earlier login of it ends.

        One by the same token ends a moment later: other tabs of the browser may have sent its cookie already.
        """
        ends = self._clock() + _REPLACED_SECONDS
        for key in map(_digest, _cookies(scope)):
            found = self._logins.pop(key, None)
            if found is not None and found.access.token == access.token:
                self._logins[key] = found._replace(until=min(found.until, ends))
        same = [key for key, grant in self._logins.items() if grant.access.token == access.token]
        for key in same[: max(0, len(same) + 1 - _TOKEN_LOGINS)]:
            del self._logins[key]
        secret = new_secret()
        _add(self._logins, secret, _Granted(access, self._clock() + LOGIN_SECONDS), _LOGINS)
        return _set_cookie(scope, secret, int(LOGIN_SECONDS))

    def log_out(self, scope: Scope) -> str:
        """Log the browser out that sends a request, and give the header that removes its cookie."""
        for secret in _cookies(scope):
            self._logins.pop(_digest(secret), None)
        return _set_cookie(scope, "", 0)

    def access_of(self, scope: Scope) -> Access | None:
        """Give the access of the browser that sends a request, if it is logged in."""
        for secret in _cookies(scope):
            key = _digest(secret)
            found = self._logins.pop(key, None)
            if found is not None and self._clock() < found.until:
                self._logins[key] = found  # The one that was used last stands last.
                return found.access
        return None

    def state(self) -> dict[str, list[tuple[str, str, float]]]:
        """Give what another process of this machine needs to go on: digests, names of tokens and ends."""
        return {
            kind: [(key.hex(), grant.access.token, grant.until) for key, grant in granted.items()]
            for kind, granted in (("codes", self._codes), ("logins", self._logins))
        }

    def restore(self, state: Mapping[str, Any], accesses: Iterable[Access]) -> None:
        """Go on where another process ended; what belonged to a token that is gone does not count."""
        by_token = {access.token: access for access in accesses}
        for kind, granted in (("codes", self._codes), ("logins", self._logins)):
            for key, token, until in state.get(kind, ()):
                if token in by_token:
                    granted[bytes.fromhex(key)] = _Granted(by_token[token], until)

    def check_wrong(self, address: str) -> None:
        """Count a wrong code or token of an address; refuse when there are too many of them.

        A right one always works: with 256 bits it cannot be guessed, and behind a proxy all browsers have one
        address, so that a stranger could keep everybody out.
        """
        now = self._clock()
        wrong = self._wrong.pop(address, None)
        if wrong is None or now - wrong.since >= _WRONG_SECONDS:
            wrong = _Wrong(0, now)
        if len(self._wrong) >= _ADDRESSES:
            del self._wrong[next(iter(self._wrong))]
        self._wrong[address] = wrong = wrong._replace(tries=wrong.tries + 1)
        if wrong.tries > _WRONG:
            left = max(1, round(wrong.since + _WRONG_SECONDS - now))
            raise HttpError(
                429,
                "too_many_logins",
                f"there were too many wrong codes: wait {left} seconds",
                {"retry-after": str(left)},
            )


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).digest()


def _add(granted: dict[bytes, _Granted], secret: str, grant: _Granted, most: int) -> None:
    while len(granted) >= most:
        del granted[next(iter(granted))]
    granted[_digest(secret)] = grant


# -- cookies ---------------------------------------------------------------------------------------


def _cookie_name(scope: Scope) -> str:
    """Name the cookie by the port: a browser sends a host's cookies to all ports, and each is another server.

    "Cookies do not provide isolation by port." (RFC 6265, section 8.5,
    https://www.rfc-editor.org/rfc/rfc6265#section-8.5)
    """
    host = HostPort.parse(first_header(scope, b"host").decode("latin-1"))
    return f"trunkline-{host.port}" if host is not None and host.port is not None else "trunkline"


def _cookies(scope: Scope) -> list[str]:
    """Give the values of our cookie that a request carries."""
    name = _cookie_name(scope)
    pairs = b";".join(all_headers(scope, b"cookie")).decode("latin-1").split(";")
    split = (pair.strip().partition("=") for pair in pairs)
    return [value for key, _, value in split if key == name and value][:_COOKIES]


def _set_cookie(scope: Scope, value: str, seconds: int) -> str:
    """Write the header that sets our cookie; it is sent to this server alone, and to no script.

    A proxy may speak https for us: then the page's own origin says so.
    """
    is_secure = scope.get("scheme") in ("https", "wss") or first_header(scope, b"origin").startswith(
        b"https:"
    )
    root = quote(scope.get("root_path") or "")
    parts = [
        f"{_cookie_name(scope)}={value}",
        f"Path={root}/",
        f"Max-Age={seconds}",
        "HttpOnly",
        "SameSite=Strict",
        *(["Secure"] if is_secure else []),
    ]
    return "; ".join(parts)
