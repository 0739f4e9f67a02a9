"""Options refuse what nobody could set, and values they do not have."""

from typing import Any

import msgspec
import pytest
from hypothesis import given

from tests.strategies import values_of
from trunkline.errors import InvalidCommand
from trunkline.options import Choice, ChoiceGroup, ConfigOption, choose

FAST, SLOW = Choice(value="fast", name="Fast"), Choice(value="slow", name="Slow")
SPEED = ConfigOption(option_id="speed", name="Speed", value="fast", choices=(FAST, SLOW))
MODEL = ConfigOption(
    option_id="model",
    name="Model",
    value="slow",
    category="model",
    groups=(
        ChoiceGroup(group="a", name="A", choices=(FAST,)),
        ChoiceGroup(group="b", name="B", choices=(SLOW,)),
    ),
)
LOUD = ConfigOption(option_id="loud", name="Loud", value=False)
ALL = (SPEED, MODEL, LOUD)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"value": "fast", "choices": (FAST,), "groups": MODEL.groups}, "both choices and groups"),
        ({"value": True, "choices": (FAST,)}, "is a switch"),
        ({"value": True, "groups": MODEL.groups}, "is a switch"),
    ],
)
def test_an_option_that_nobody_could_set_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ConfigOption(option_id="o", name="O", **fields)


def test_a_present_value_outside_the_choices_becomes_a_choice() -> None:
    other = Choice(value="fast[low]", name="fast[low]")
    option = ConfigOption(option_id="o", name="O", value="fast[low]", choices=(FAST,))
    assert option.choices == (FAST, other)
    grouped = msgspec.structs.replace(MODEL, value="fast[low]")
    assert grouped.values() == ("fast", "slow", "fast[low]")
    assert ConfigOption(option_id="o", name="O", value="fast").values() == ("fast",)
    for made in (option, grouped):
        assert msgspec.json.decode(msgspec.json.encode(made), type=ConfigOption) == made
    with pytest.raises(InvalidCommand, match="no value 'faster'"):
        choose((option,), "o", "faster")


def test_groups_are_choices_under_headings() -> None:
    assert MODEL.all_choices() == (FAST, SLOW) == SPEED.all_choices()
    assert MODEL.values() == ("fast", "slow")
    assert (MODEL.is_switch, LOUD.is_switch) == (False, True)


@given(values_of(ConfigOption))
def test_any_option_survives_json(option: ConfigOption) -> None:
    assert msgspec.json.decode(msgspec.json.encode(option), type=ConfigOption) == option


@given(values_of(ConfigOption))
def test_every_value_of_an_option_can_be_chosen(option: ConfigOption) -> None:
    for value in (True, False) if option.is_switch else option.values():
        (chosen,) = choose([option], option.option_id, value)
        assert chosen == msgspec.structs.replace(option, value=value)


def test_choosing_changes_one_option_and_keeps_the_order() -> None:
    options = choose(ALL, "model", "fast")
    assert [option.value for option in options] == ["fast", "fast", False]
    assert options[0] is SPEED
    assert ALL[1].value == "slow"


@pytest.mark.parametrize(
    ("option_id", "value", "message"),
    [
        ("colour", "red", "no option 'colour'; known options: speed, model, loud"),
        ("speed", "warp", "no value 'warp'; choose one of fast, slow"),
        ("speed", True, "takes one of fast, slow, not True"),
        ("loud", "true", "takes true or false, not 'true'"),
    ],
)
def test_an_illegal_choice_is_the_fault_of_the_peer_and_names_the_way_out(
    option_id: str, value: str | bool, message: str
) -> None:
    with pytest.raises(InvalidCommand, match=message):
        choose(ALL, option_id, value)


def test_without_options_the_refusal_says_so() -> None:
    with pytest.raises(InvalidCommand, match="known options: none"):
        choose((), "speed", "fast")
