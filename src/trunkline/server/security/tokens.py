"""Tokens: who sends a request, and what it may do.

Every token stands for a principal, whose sessions are the only ones it sees, and has scopes: one that may
follow a session may not answer its questions. A WebSocket of a browser cannot send headers, so there the
token may come as the subprotocol ``trunkline.bearer.<token>``, next to ``trunkline``.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, Literal, Union, get_args

import msgspec

from trunkline.errors import ConfigurationError
from trunkline.server.errors import HttpError
from trunkline.transports.process.secrets import take_secret

__all__ = [
    "ALL_SCOPES",
    "Access",
    "Authenticate",
    "PermissionScope",
    "Token",
    "TokenRing",
    "access_of",
    "new_secret",
    "offers_token",
]

PermissionScope = Literal["follow", "prompt", "answer", "admin"]
ALL_SCOPES: frozenset[str] = frozenset(get_args(PermissionScope))
ACCESS = "trunkline.access"
"""The key of an ASGI scope under which the gate puts the ``Access`` of a request."""

_SECRET = re.compile(r"[A-Za-z0-9._~+/=-]{16,512}")
_NAMED = re.compile(r"([A-Za-z0-9._@+-]{1,128})(?::([a-z,]+))?=(.{16,})")
_SUBPROTOCOL = "trunkline.bearer."

Scope = MutableMapping[str, Any]


class Access(msgspec.Struct, frozen=True):
    """The principal of a request, and what it may do."""

    principal: str = "local"
    scopes: frozenset[str] = ALL_SCOPES
    token: str = ""
    """Tells the tokens of one principal apart; no secret."""

    @property
    def starter(self) -> str | None:
        """Whose runs may be seen: None for all of the principal's, else only those of this token."""
        return None if "follow" in self.scopes else f"{self.principal}\n{self.token}"

    def need(self, scope: PermissionScope) -> None:
        """Refuse unless this scope was given."""
        if scope not in self.scopes:
            raise HttpError(
                403, "scope", f"this token may not do that: it takes one with the scope {scope!r}"
            )


Authenticate = Callable[[Scope], Union[Access, Awaitable[Union[Access, None]], None]]
"""Says who sends a request; None when that is unknown."""


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """A secret, its principal, and what it allows."""

    secret: str
    principal: str = "local"
    scopes: frozenset[str] = ALL_SCOPES

    def __post_init__(self) -> None:
        """Refuse a secret that cannot be sent or can be guessed."""
        if not _SECRET.fullmatch(self.secret):
            raise ConfigurationError(
                "a token has 16 to 512 letters, digits or any of . _ ~ + / = -; "
                'make one with: python -c "import secrets; print(secrets.token_urlsafe(32))"'
            )
        if unknown := sorted(self.scopes - ALL_SCOPES):
            raise ConfigurationError(
                f"there is no scope {', '.join(unknown)}: "
                f"the scopes are {', '.join(get_args(PermissionScope))}"
            )
        if not self.principal or not self.principal.isprintable():
            raise ConfigurationError("a token's principal is a name that can be printed")

    @classmethod
    def parse(cls, text: str) -> Token:
        """Read ``SECRET``, ``PRINCIPAL=SECRET`` or ``PRINCIPAL:SCOPE,SCOPE=SECRET``."""
        named = _NAMED.fullmatch(text)
        if named is None:
            return cls(secret=text)
        principal, scopes, secret = named.groups()
        return cls(
            secret=secret, principal=principal, scopes=frozenset(scopes.split(",")) if scopes else ALL_SCOPES
        )


def new_secret() -> str:
    """Make a secret of 256 bits."""
    return secrets.token_urlsafe(32)


class TokenRing:
    """Finds the access of a request by the secret of its token."""

    def __init__(self, tokens: Iterable[Token]) -> None:
        self.tokens = tuple(tokens)
        if not self.tokens:
            raise ConfigurationError("give at least one token, or leave them out to have one made")
        self._known = [(token.secret.encode(), self.access_of(token)) for token in self.tokens]
        if len({secret for secret, _ in self._known}) != len(self._known):
            raise ConfigurationError("two tokens have the same secret: give each its own")

    @classmethod
    def of(cls, tokens: str | Token | Iterable[str | Token] | None) -> TokenRing:
        """Make a ring of tokens or their texts; without any, of TRUNKLINE_TOKEN or a new token."""
        if tokens is None:
            tokens = take_secret("TRUNKLINE_TOKEN") or new_secret()
        given = [tokens] if isinstance(tokens, str | Token) else list(tokens)
        return cls(token if isinstance(token, Token) else Token.parse(token) for token in given)

    @staticmethod
    def access_of(token: Token) -> Access:
        """Give what a token allows."""
        return Access(token.principal, token.scopes, _name_of(token.secret))

    def __call__(self, scope: Scope) -> Access | None:
        """Give the access of the token that a request carries."""
        return self.find(_offered(scope))

    def find(self, offered: bytes) -> Access | None:
        """Give the access of the token with this secret."""
        found: Access | None = None
        for secret, access in self._known:
            # Every secret is compared, so that the time shows nothing about them.
            if hmac.compare_digest(secret, offered):
                found = access
        return found


def _name_of(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()[:16]


def _offered(scope: Scope) -> bytes:
    given = [value for name, value in scope["headers"] if name == b"authorization"]
    if len(given) == 1:
        kind, _, secret = given[0].partition(b" ")
        return secret.strip() if kind.lower() == b"bearer" else b""
    names = [name for name in scope.get("subprotocols") or () if name.startswith(_SUBPROTOCOL)]
    if scope["type"] == "websocket" and not given and len(names) == 1:
        return names[0].removeprefix(_SUBPROTOCOL).encode()
    return b""


def offers_token(scope: Scope) -> bool:
    """Whether a request carries a token, right or wrong."""
    names: Iterable[str] = scope.get("subprotocols") or ()
    return any(name == b"authorization" for name, _ in scope["headers"]) or any(
        name.startswith(_SUBPROTOCOL) for name in names
    )


def access_of(scope: Scope) -> Access:
    """Give the access of a request that the gate let in."""
    access: Access = scope[ACCESS]
    return access
