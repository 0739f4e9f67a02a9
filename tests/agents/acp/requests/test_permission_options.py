"""Which of an agent's options an answer stands for."""

from typing import Any

import pytest

from trunkline.agents.acp.requests.permission_options import (
    CANCELLED,
    chosen_option,
    option_of_kind,
    read_options,
    selected,
    without_always,
)
from trunkline.protocols.jsonrpc.messages import RpcError

GIVEN: list[dict[str, Any]] = [
    {"optionId": "aa", "name": "Always", "kind": "allow_always"},
    {"optionId": "a", "name": "Yes", "kind": "allow_once"},
    {"optionId": "r", "name": " ", "kind": "reject_once"},
]


def test_options_are_read_as_far_as_they_have_an_id() -> None:
    odd = [
        None,
        {"name": "No id"},
        {"optionId": 1},
        {"optionId": "x"},
        {"optionId": "x", "kind": "allow_once"},
    ]
    found = read_options({"options": [*GIVEN, *odd]})
    assert [(option.option_id, option.name, option.kind) for option in found] == [
        ("aa", "Always", "allow_always"),
        ("a", "Yes", "allow_once"),
        ("r", "r", "reject_once"),
        ("x", "x", "other"),
    ]


@pytest.mark.parametrize("options", [None, [], {}, [{"name": "No id", "kind": "allow_once"}], "a"])
def test_without_any_option_there_is_nothing_to_answer(options: Any) -> None:
    with pytest.raises(RpcError, match="options must be a list"):
        read_options({"options": options})


def test_an_option_without_a_kind_stands_for_neither_yes_nor_no() -> None:
    found = read_options({"options": [{"optionId": "x", "kind": None}]})
    assert option_of_kind(found, "allow_once", "allow_always", "reject_once", "reject_always") is None
    assert [chosen_option(found, choice) for choice in (True, False)] == [None, None]
    assert chosen_option(found, "x") is found[0]


def test_an_answer_is_one_of_the_options_or_cancelled() -> None:
    found = read_options({"options": GIVEN})
    chosen = {True: "a", False: "r", "aa": "aa", "allow_once": "a", "never": None}
    for choice, option_id in chosen.items():
        option = chosen_option(found, choice)
        assert (option and option.option_id) == option_id
    assert selected(found[1]) == {"outcome": {"outcome": "selected", "optionId": "a"}}
    assert selected(None) == CANCELLED


def test_what_is_for_good_is_left_out_where_there_is_another_way_to_allow() -> None:
    found = read_options({"options": GIVEN})
    assert [option.option_id for option in without_always(found)] == ["a", "r"]
    assert without_always((found[0], found[2])) == (found[0], found[2])
