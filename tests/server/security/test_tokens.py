"""Tokens: how they are written, what is refused, and where they come from."""

import os

import pytest
from tests.server.asgi_requests import scope

from trunkline.errors import ConfigurationError
from trunkline.server.errors import HttpError
from trunkline.server.security.tokens import ALL_SCOPES, Access, Token, TokenRing, new_secret

SECRET = "0123456789abcdef"


@pytest.mark.parametrize(
    ("text", "token"),
    [
        (SECRET, Token(secret=SECRET)),
        (f"alice={SECRET}", Token(secret=SECRET, principal="alice")),
        (f"alice@x.org={SECRET}", Token(secret=SECRET, principal="alice@x.org")),
        (
            f"bob:follow,answer={SECRET}",
            Token(secret=SECRET, principal="bob", scopes=frozenset({"follow", "answer"})),
        ),
        ("c2VjcmV0LXNlY3JldA==", Token(secret="c2VjcmV0LXNlY3JldA==")),
    ],
)
def test_a_token_is_read_as_it_is_written(text: str, token: Token) -> None:
    assert Token.parse(text) == token


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("short", "16 to 512"),
        ("x" * 513, "16 to 512"),
        ("with spaces in it, see", "16 to 512"),
        ("émigré-émigré-émigré", "16 to 512"),
        (f"bob:fly={SECRET}", "there is no scope fly: the scopes are follow, prompt, answer, admin"),
    ],
)
def test_what_cannot_be_a_token_is_refused_without_being_repeated(text: str, expected: str) -> None:
    with pytest.raises(ConfigurationError, match=expected) as refused:
        Token.parse(text)
    assert text not in str(refused.value)


@pytest.mark.parametrize("principal", ["", "two\nlines"])
def test_a_principal_has_a_name(principal: str) -> None:
    with pytest.raises(ConfigurationError, match="principal"):
        Token(secret=SECRET, principal=principal)


def test_a_ring_needs_tokens_and_each_its_own_secret() -> None:
    with pytest.raises(ConfigurationError, match="at least one token"):
        TokenRing([])
    with pytest.raises(ConfigurationError, match="same secret"):
        TokenRing.of([SECRET, f"alice={SECRET}"])


def test_without_tokens_the_environment_counts_and_then_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRUNKLINE_TOKEN", f"env={SECRET}")
    assert TokenRing.of(None).tokens == (Token(secret=SECRET, principal="env"),)
    assert "TRUNKLINE_TOKEN" not in os.environ, "it was read once"
    assert TokenRing.of(None).tokens == (Token(secret=SECRET, principal="env"),), "and is kept"
    monkeypatch.setenv("TRUNKLINE_TOKEN", "")
    made = {TokenRing.of(None).tokens[0].secret for _ in range(3)}
    assert len(made) == 3
    assert all(len(secret) >= 43 for secret in made)


def test_a_new_secret_can_be_sent_in_every_way() -> None:
    assert Token(secret=new_secret()).scopes == ALL_SCOPES
    assert set(new_secret()) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


def test_every_token_stands_for_its_principal() -> None:
    ring = TokenRing.of([SECRET, "bob:follow=another-token-16"])

    def who(secret: str) -> Access | None:
        return ring(scope(headers={"authorization": f"Bearer {secret}"}, token=False))

    local, bob = who(SECRET), who("another-token-16")
    assert local is not None
    assert bob is not None
    assert (local.principal, local.scopes) == ("local", ALL_SCOPES)
    assert (bob.principal, bob.scopes) == ("bob", frozenset({"follow"}))
    assert SECRET not in repr(local)
    assert who("neither") is None


def test_a_scope_that_was_not_given_is_named() -> None:
    access = Access("bob", frozenset({"follow"}))
    access.need("follow")
    with pytest.raises(HttpError, match="'answer'") as refused:
        access.need("answer")
    assert refused.value.status == 403
