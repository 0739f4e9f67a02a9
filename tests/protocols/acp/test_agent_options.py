"""The options of a session at an agent, as one list."""

from typing import Any

import pytest

from trunkline.options import Choice, ChoiceGroup, ConfigOption
from trunkline.protocols.acp.agent_options import AgentOptions
from trunkline.protocols.acp.config_options import modes_to_wire, options_to_wire

MODES = {
    "currentModeId": "default",
    "availableModes": [
        {"id": "default", "name": "Default"},
        {"id": "plan", "name": "Plan", "description": "d"},
    ],
}
MODELS = {
    "currentModelId": "fake-model[medium]",
    "availableModels": [{"modelId": "fake-model", "name": "Fake"}],
}
MODE_OPTION = {
    "id": "mode",
    "name": "Mode",
    "category": "mode",
    "type": "select",
    "currentValue": "plan",
    "options": [{"value": "default", "name": "Default"}, {"value": "plan", "name": "Plan"}],
}


def taken(result: dict[str, Any]) -> AgentOptions:
    """Give the options after an answer that can be read."""
    options = AgentOptions()
    assert options.take_result(result)
    return options


def test_a_mode_and_a_model_of_the_older_kind_are_options() -> None:
    options = taken({"modes": MODES, "models": MODELS})

    assert options.all() == (
        ConfigOption(
            option_id="mode",
            name="Mode",
            category="mode",
            value="default",
            choices=(
                Choice(value="default", name="Default"),
                Choice(value="plan", name="Plan", description="d"),
            ),
        ),
        ConfigOption(
            option_id="model",
            name="Model",
            category="model",
            value="fake-model[medium]",
            choices=(
                Choice(value="fake-model", name="Fake"),
                # The current value is a choice, though the agent does not list it.
                Choice(value="fake-model[medium]", name="fake-model[medium]"),
            ),
        ),
    )
    assert options.request_to_set("mode", "plan") == ("session/set_mode", {"modeId": "plan"})
    assert options.request_to_set("model", "fake-model") == ("session/set_model", {"modelId": "fake-model"})


def test_modes_that_are_options_too_are_shown_once() -> None:
    options = taken({"modes": MODES, "models": MODELS, "configOptions": [MODE_OPTION]})

    assert [(o.option_id, o.category, o.value) for o in options.all()] == [
        ("mode", "mode", "plan"),
        ("model", "model", "fake-model[medium]"),
    ]
    assert options.request_to_set("mode", "default") == (
        "session/set_config_option",
        {"configId": "mode", "value": "default"},
    )


def test_a_mode_gets_another_id_where_its_own_is_taken() -> None:
    other = MODE_OPTION | {"category": "collaboration_mode"}
    options = taken({"modes": MODES, "configOptions": [other]})

    assert [(o.option_id, o.category) for o in options.all()] == [
        ("mode", "collaboration_mode"),
        ("session_mode", "mode"),
    ]
    assert options.request_to_set("session_mode", "plan") == ("session/set_mode", {"modeId": "plan"})
    options.set("session_mode", "plan")
    assert options.all()[1].value == "plan"


def test_switches_and_groups_are_read() -> None:
    switch = {"id": "fast", "name": "Fast", "type": "boolean", "currentValue": True}
    grouped = {
        "id": "model",
        "name": "Model",
        "category": "model",
        "type": "select",
        "currentValue": "b",
        "options": [
            {"group": "g", "name": "G", "options": [{"value": "a", "name": "A"}]},
            {"value": "b", "name": "B"},
        ],
    }
    options = taken({"configOptions": [switch, grouped]})

    fast, model = options.all()
    assert (fast.value, fast.is_switch, fast.category) == (True, True, "other")
    assert model.groups == (
        ChoiceGroup(group="g", name="G", choices=(Choice(value="a", name="A"),)),
        ChoiceGroup(group="other", name="Other", choices=(Choice(value="b", name="B"),)),
    )
    assert options.request_to_set("fast", False) == (
        "session/set_config_option",
        {"configId": "fast", "value": False, "type": "boolean"},
    )


def test_what_cannot_be_read_is_told_and_the_rest_counts() -> None:
    options = AgentOptions()

    assert not options.take_result(
        {"modes": 7, "models": MODELS, "configOptions": [MODE_OPTION, {"id": "x"}, 3]}
    )
    assert [option.option_id for option in options.all()] == ["mode", "model"]
    assert not options.take_list("all")
    assert not options.take_list([MODE_OPTION, MODE_OPTION])
    assert [option.option_id for option in options.all()] == ["mode", "model"]


def test_a_list_without_modes_leaves_those_of_the_older_kind() -> None:
    options = taken({"modes": MODES})
    assert options.take_list([])
    assert [option.option_id for option in options.all()] == ["mode"]


@pytest.mark.parametrize("result", [{"modes": MODES}, {"configOptions": [MODE_OPTION]}])
def test_the_mode_changes_wherever_it_came_from(result: dict[str, Any]) -> None:
    options = taken(result)
    options.take_mode("yolo")

    [mode] = options.all()
    assert (mode.value, mode.values()[-1]) == ("yolo", "yolo")


def test_a_mode_without_a_list_of_modes_is_its_only_choice() -> None:
    options = AgentOptions()
    options.take_mode("plan")
    assert [(o.option_id, o.value, o.values()) for o in options.all()] == [("mode", "plan", ("plan",))]


def test_a_model_of_the_older_kind_is_set() -> None:
    options = taken({"models": MODELS})
    options.set("model", "fake-model")
    assert options.all()[0].value == "fake-model"


def test_a_value_of_another_type_or_of_an_unknown_option_changes_nothing() -> None:
    options = taken({"modes": MODES})
    options.set("mode", True)
    options.set("speed", "fast")

    assert options.all()[0].value == "default"
    with pytest.raises(KeyError):
        options.request_to_set("speed", "fast")


def test_modes_without_a_current_one_begin_with_the_first() -> None:
    options = taken({"modes": {"availableModes": MODES["availableModes"]}})
    assert options.all()[0].value == "default"


def test_it_reads_what_our_own_front_end_writes() -> None:
    written = (
        ConfigOption(
            option_id="mode", name="Mode", value="a", category="mode", choices=(Choice(value="a", name="A"),)
        ),
        ConfigOption(option_id="fast", name="Fast", value=False, description="quick"),
    )
    options = taken(
        {"modes": modes_to_wire(written), "configOptions": options_to_wire(written, boolean=True)}
    )
    assert options.all() == written
