"""Options and modes are one thing for us and two for older clients."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import values_of

from trunkline.conformance.acp.schema import find_fault
from trunkline.options import Choice, ChoiceGroup, ConfigOption
from trunkline.protocols.acp.config_options import mode_option, modes_to_wire, options_to_wire

CHOICES = (Choice(value="ask", name="Ask", description="Ask first"), Choice(value="code", name="Code"))
MODE = ConfigOption(option_id="m", name="Mode", value="code", category="mode", choices=CHOICES)
MODEL = ConfigOption(
    option_id="model",
    name="Model",
    value="ask",
    description="Which one",
    category="model",
    groups=(
        ChoiceGroup(group="a", name="A", choices=CHOICES[:1]),
        ChoiceGroup(group="b", name="B", choices=CHOICES[1:]),
    ),
)
SWITCH = ConfigOption(option_id="loud", name="Loud", value=False, category="thought_level")


def test_a_flat_select_lists_its_choices() -> None:
    assert options_to_wire([MODE], boolean=False) == [
        {
            "id": "m",
            "name": "Mode",
            "type": "select",
            "currentValue": "code",
            "category": "mode",
            "options": [
                {"value": "ask", "name": "Ask", "description": "Ask first"},
                {"value": "code", "name": "Code"},
            ],
        }
    ]


def test_a_grouped_select_keeps_its_groups() -> None:
    (shown,) = options_to_wire([MODEL], boolean=False)
    assert shown["description"] == "Which one"
    assert shown["options"] == [
        {"group": "a", "name": "A", "options": [{"value": "ask", "name": "Ask", "description": "Ask first"}]},
        {"group": "b", "name": "B", "options": [{"value": "code", "name": "Code"}]},
    ]


def test_a_switch_is_shown_only_to_a_client_that_can_draw_it() -> None:
    assert options_to_wire([SWITCH], boolean=False) == []
    assert options_to_wire([SWITCH], boolean=True) == [
        {"id": "loud", "name": "Loud", "type": "boolean", "currentValue": False, "category": "thought_level"}
    ]


def test_the_mode_is_the_first_select_of_that_category() -> None:
    switch = ConfigOption(option_id="s", name="S", value=True, category="mode")
    assert mode_option([SWITCH, switch, MODEL, MODE]) is MODE
    assert mode_option([SWITCH, switch, MODEL]) is None
    assert modes_to_wire([MODEL]) is None


def test_older_clients_get_the_mode_too() -> None:
    assert modes_to_wire([MODEL, MODE]) == {
        "currentModeId": "code",
        "availableModes": [
            {"id": "ask", "name": "Ask", "description": "Ask first"},
            {"id": "code", "name": "Code"},
        ],
    }


@given(st.lists(values_of(ConfigOption), max_size=3), st.booleans())
def test_any_options_are_valid_on_the_wire(options: list[ConfigOption], boolean: bool) -> None:
    result: dict[str, Any] = {"sessionId": "s", "configOptions": options_to_wire(options, boolean=boolean)}
    if (modes := modes_to_wire(options)) is not None:
        result["modes"] = modes
    assert find_fault({"jsonrpc": "2.0", "id": 1, "result": result}, "session/new") is None
