import re
from typing import Any

import pytest

from trunkline.errors import ConfigurationError
from trunkline.frontends.aisdk.options import AisdkOptions


def test_the_defaults_are_those_that_pages_rely_on() -> None:
    options = AisdkOptions()

    assert options.version == 7
    assert options.emit_reasoning
    assert options.emit_sources
    assert not options.emit_raw
    assert options.on_disconnect == "continue"
    assert options.step_kinds == ("model",)
    assert AisdkOptions(emit_steps="node").step_kinds == ("model", "node")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"version": 4}, "there is no version 4"),
        ({"version": True}, "there is no version True"),
        ({"version": "7"}, "give one of 5, 6, 7"),
        ({"version": 7.0}, "there is no version 7.0"),
        ({"emit_steps": "all"}, "give one of model, node, none"),
        ({"error_detail_level": "stack"}, "give one of full, message, code, none"),
        ({"on_disconnect": "pause"}, "give one of cancel, continue"),
        ({"import_history": "all"}, "give one of marked, drop"),
        ({"emit_raw": 1}, "emit_raw is 1: give True or False"),
        ({"max_ui_payload_size": -1}, "a whole number of at least 0"),
        ({"max_ui_payload_size": True}, "a whole number of at least 0"),
        ({"busy": "wait"}, "give one of interrupt, queue, reject, steer"),
    ],
)
def test_an_option_that_cannot_be_is_refused(fields: Any, expected: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(expected)):
        AisdkOptions(**fields)


def test_options_are_made_of_names_and_an_unknown_name_is_refused() -> None:
    assert AisdkOptions.of(AisdkOptions(emit_raw=True), version=5).emit_raw
    assert AisdkOptions.of() == AisdkOptions()
    with pytest.raises(ConfigurationError, match="there is no option emit_row"):
        AisdkOptions.of(emit_row=True)


@pytest.mark.parametrize(
    ("level", "messages", "texts"),
    [("full", True, True), ("message", True, False), ("code", False, False), ("none", False, False)],
)
def test_a_level_says_how_much_of_an_error_is_shown(level: Any, messages: bool, texts: bool) -> None:
    options = AisdkOptions(error_detail_level=level)

    assert options.shows_error_messages is messages
    assert options.shows_exception_texts is texts
