"""Whose words a failure has, and what is said without them."""

from typing import Any

import pytest

from trunkline import events as ev
from trunkline.error_redaction import exception_in, marks_of, without_words
from trunkline.errors import AgentError


def failed(error: Exception, code: str = "agent_failed") -> ev.TurnFailed:
    return ev.TurnFailed(turn_id="turn-7", code=code, message=f"x: {error}", meta=marks_of(error))


def test_an_error_of_ours_keeps_its_words() -> None:
    event = failed(AgentError("the model is asleep"))
    assert exception_in(event) is None
    assert without_words(event) is event


@pytest.mark.parametrize(
    ("code", "why"),
    [("agent_failed", "the agent failed"), ("rate_limited", "fewer requests"), ("odd", "the agent failed")],
)
def test_any_other_exception_is_told_by_its_type_and_where_to_look(code: str, why: str) -> None:
    output = without_words(failed(FileNotFoundError("/home/ada/.key"), code))
    assert "/home/ada" not in output.message
    assert why in output.message
    assert "FileNotFoundError" in output.message
    assert "turn-7" in output.message


@pytest.mark.parametrize("meta", [None, {}, {"trunkline": 7}, {"trunkline": {"exception": 7}}, {"other": {}}])
def test_strange_marks_are_none(meta: Any) -> None:
    event = ev.TurnFailed(code="c", message="m", meta=meta)
    assert without_words(event) is event
