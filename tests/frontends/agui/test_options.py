import re
from typing import Any

import pytest

from trunkline.errors import ConfigurationError
from trunkline.frontends.agui.options import AguiOptions


def test_the_defaults_are_those_that_pages_rely_on() -> None:
    options = AguiOptions()

    assert options.emit_tool_results
    assert options.emit_state_snapshots == "initial"
    assert not options.emit_activities
    assert not options.emit_raw
    assert options.max_ui_payload_size == 51_200
    assert options.error_detail_level == "message"
    assert options.on_disconnect == "cancel"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"emit_state_snapshots": "often"}, "give one of initial, final, all, none"),
        ({"error_detail_level": "stack"}, "give one of full, message, code, none"),
        ({"on_disconnect": "pause"}, "give one of cancel, continue"),
        ({"emit_tool_results": 1}, "emit_tool_results is 1: give True or False"),
        ({"emit_activities": None}, "emit_activities is None: give True or False"),
        ({"max_ui_payload_size": -1}, "a whole number of at least 0"),
        ({"max_ui_payload_size": True}, "a whole number of at least 0"),
        ({"high_water_mark": 0}, "a whole number of at least 1"),
        ({"high_water_mark": 2.5}, "a whole number of at least 1"),
        ({"keep_alive": 0}, "seconds, from 0.1 to a day"),
        ({"keep_alive": "15"}, "seconds, from 0.1 to a day"),
        ({"disconnect_grace": 86_400}, "seconds, from 0 to a day"),
        ({"thread_id_override": ""}, "a text that is not empty, or None"),
        ({"run_id_override": 7}, "a text that is not empty, or None"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_can(fields: dict[str, Any], expected: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(expected)):
        AguiOptions(**fields)


def test_options_are_made_of_names_and_values() -> None:
    base = AguiOptions(emit_raw=True)

    assert AguiOptions.of() == AguiOptions()
    assert AguiOptions.of(base) is base
    assert AguiOptions.of(base, emit_activities=True) == AguiOptions(emit_raw=True, emit_activities=True)
    with pytest.raises(
        ConfigurationError, match=r"no option emit_step; did you mean emit_steps\? The options are"
    ):
        AguiOptions.of(emit_step="node")
    with pytest.raises(ConfigurationError, match="keep_alive"):
        AguiOptions.of(base, keep_alive=-1)


def test_pages_of_copilotkit_get_what_they_need_unless_something_was_chosen() -> None:
    assert AguiOptions().for_copilotkit() == AguiOptions(disconnect_grace=30.0, interrupts="event")
    chosen = AguiOptions(disconnect_grace=0.0, interrupts="both")
    assert chosen.for_copilotkit() == chosen
