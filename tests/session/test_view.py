"""The session as its agent sees it: the one name that says whose it is too."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from trunkline.session.view import SessionView

PARTS = st.lists(
    st.sampled_from(["local", "alice", "t1", "/", "%", "%2F", "%25", "2F", ".", "..", "\u2215", "a\n"]),
    max_size=6,
).map("".join)
WORDS = PARTS | st.text(max_size=8)


def name(principal: str, session_id: str) -> str:
    return SessionView(session_id=session_id, principal=principal).thread_id


@given(st.tuples(WORDS, WORDS), st.tuples(WORDS, WORDS))
def test_two_sessions_never_have_the_same_thread(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert (name(*one) == name(*other)) == (one == other)


@given(WORDS, WORDS, WORDS)
def test_no_id_names_the_thread_of_another_principal(principal: str, mine: str, theirs: str) -> None:
    other = name(principal, theirs)
    assert principal == "local" or name("local", other) != other
    assert principal == "local" or name("local", mine) != other


@given(st.text().filter(lambda text: "/" not in text and "%" not in text))
def test_a_thread_of_the_local_user_has_the_sessions_id(session_id: str) -> None:
    assert name("local", session_id) == session_id


@given(st.text().filter(lambda text: "/" not in text and "%" not in text and text != "local"), st.text())
def test_others_have_threads_under_their_own_names(principal: str, session_id: str) -> None:
    assert name(principal, session_id) == f"{principal}/{session_id}"


def test_a_slash_that_is_no_border_is_escaped() -> None:
    assert name("local", "alice/t1") == "alice%2Ft1"
    assert name("local", "alice%2Ft1") == "alice%252Ft1"
    assert name("alice/t1", "x") == "alice%2Ft1/x"


def test_a_percent_sign_that_escapes_nothing_leaves_a_thread_its_name() -> None:
    assert name("local", "50% off") == "50% off"
    assert name("local", "%2f%20") == "%2f%20"
    assert name("local", "%/") == "%%2F"
