"""Tests of the types of AG-UI's events."""

from typing import get_args

import ag_ui.core

from trunkline.frontends.agui import AguiEvent, EventType, RunStarted, to_dict


def test_the_types_are_those_of_our_events_and_of_the_official_sdk() -> None:
    assert {kind.__struct_config__.tag for kind in get_args(AguiEvent)} == set(EventType)
    assert {one.value for one in ag_ui.core.EventType} >= set(EventType)


def test_an_event_has_its_type() -> None:
    started = RunStarted(thread_id="t", run_id="r")
    assert EventType.of(started) == to_dict(started)["type"] == EventType.RUN_STARTED == "RUN_STARTED"
