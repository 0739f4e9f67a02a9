"""The session as its agent sees it: the one name that says whose it is too, and what it keeps."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hubs import hub_for

from trunkline.errors import AgentProtocolError
from trunkline.session.settings import Settings
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


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({1, 2}, "not JSON: Object of type set"),
        (b"bytes", "not JSON: Object of type bytes"),
        (float("nan"), "not JSON: Out of range float"),
        ("\ud800", "not JSON: .*surrogates"),
        ({"a": (1, 2)}, "JSON has no tuples"),
        ({1: "a"}, "its keys are text"),
        ("x" * 1000, "would hold 1009 bytes of kept values, and the limit is 100"),
    ],
)
async def test_what_an_agent_keeps_is_plain_json_of_a_bounded_size(value: Any, message: str) -> None:
    async with hub_for(settings=Settings(keep_limit=100)) as hub:
        view = (await hub.create()).view
        await view.keep("a", [1])
        with pytest.raises(AgentProtocolError, match=message):
            await view.keep("a", value)
        assert view.kept == {"a": [1]}


async def test_what_is_kept_is_a_copy_and_none_removes_it() -> None:
    async with hub_for() as hub:
        view = (await hub.create()).view
        value = [1]
        await view.keep("a", value)
        value.append(2)
        assert view.kept == {"a": [1]}
        await view.keep("a", None)
        assert view.kept == {}
