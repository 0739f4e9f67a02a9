"""Questions and the buttons they have."""

from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given

from tests.strategies import values_of
from trunkline.questions import ALLOW_KINDS, OptionKind, Question, default_options


@given(values_of(Question))
def test_any_question_survives_json(question: Question) -> None:
    decoded: Any = msgspec.json.decode(msgspec.json.encode(question), type=Question)
    assert decoded == question
    assert type(decoded) is type(question)


@pytest.mark.parametrize("always", [True, False])
def test_the_usual_buttons_allow_first_and_have_unique_ids(always: bool) -> None:
    options = default_options(always=always)
    kinds = [option.kind for option in options]
    assert kinds == sorted(kinds, key=lambda kind: kind not in ALLOW_KINDS)
    assert len({option.option_id for option in options}) == len(options)
    assert set(kinds) == ({*get_args(OptionKind)} if always else {"allow_once", "reject_once"})


def test_the_kinds_that_allow_are_those_that_say_so() -> None:
    assert {kind for kind in get_args(OptionKind) if kind.startswith("allow")} == ALLOW_KINDS
