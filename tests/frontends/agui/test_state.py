from typing import Any

import jsonpatch
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import json_values

from trunkline import events as ev
from trunkline.conformance.agui.event_verifier import plain
from trunkline.conformance.agui.reference_client import ReferenceClient
from trunkline.frontends.agui.state import StateView
from trunkline.json_patch import diff

ADD = ({"op": "add", "path": "/a", "value": 1},)


def kinds(expected: list[Any]) -> list[str]:
    return [type(event).__name__ for event in expected]


def test_a_state_that_the_client_has_is_not_sent_again() -> None:
    view = StateView("initial", {"a": 1})

    assert view.replace(ev.StateReplaced(state={"a": 1}), 7) == []
    assert kinds(view.replace(ev.StateReplaced(state=None), 7)) == ["StateSnapshot"]
    assert view.replace(ev.StateReplaced(state=None), 7) == []


@pytest.mark.parametrize(("before", "after"), [(1, True), (0, False), (1, 1.0)])
def test_a_value_of_another_type_is_another_state(before: Any, after: Any) -> None:
    view = StateView("initial", {"a": [before]})

    assert kinds(view.replace(ev.StateReplaced(state={"a": [after]}), 7)) == ["StateSnapshot"]


def test_without_a_state_the_first_one_is_sent_even_if_it_is_nothing() -> None:
    assert kinds(StateView("initial", None).replace(ev.StateReplaced(state=None), 7)) == ["StateSnapshot"]


def test_a_change_is_a_patch_and_an_empty_one_is_nothing() -> None:
    view = StateView("initial", {})

    (output,) = view.patch(ev.StatePatched(patch=ADD), 7)
    assert plain([output]) == [{"type": "STATE_DELTA", "timestamp": 7, "delta": list(ADD)}]
    assert view.patch(ev.StatePatched(patch=()), 7) == []


def test_a_patch_that_is_longer_than_the_state_is_sent_as_the_state() -> None:
    view = StateView("initial", {"a": 0})
    back_and_forth = tuple({"op": "replace", "path": "/a", "value": number} for number in range(9))

    (output,) = plain(view.patch(ev.StatePatched(patch=back_and_forth), 7))

    assert output["snapshot"] == {"a": 8}


def test_a_patch_that_does_not_fit_is_passed_on_and_nothing_is_made_up_after_it() -> None:
    view = StateView("all", None)

    assert kinds(view.patch(ev.StatePatched(patch=ADD), 7)) == ["StateDelta"]
    assert kinds(view.patch(ev.StatePatched(patch=ADD), 7)) == ["StateDelta"]
    assert kinds(view.replace(ev.StateReplaced(state={}), 7)) == ["StateSnapshot"]
    assert kinds(view.patch(ev.StatePatched(patch=ADD), 7)) == ["StateSnapshot"]


@pytest.mark.parametrize("mode", ["none", "final"])
def test_nothing_is_sent_on_the_way_where_it_is_not_wanted(mode: Any) -> None:
    view = StateView(mode, {})

    assert view.replace(ev.StateReplaced(state={"b": 1}), 7) == []
    assert view.patch(ev.StatePatched(patch=ADD), 7) == []
    output = plain(view.final(8))
    assert output == (
        [{"type": "STATE_SNAPSHOT", "timestamp": 8, "snapshot": {"b": 1, "a": 1}}] * (mode == "final")
    )
    assert view.final(9) == []


@settings(max_examples=60)
@given(st.lists(json_values, min_size=1, max_size=6), st.sampled_from(["initial", "all", "final"]))
def test_whatever_becomes_of_the_state_the_client_has_it_in_the_end(states: list[Any], mode: Any) -> None:
    before = states[0]
    view, client = StateView(mode, before), ReferenceClient(state=before)
    client.state = before
    for state in states[1:]:
        patch = diff(before, state)
        if len(patch) % 2:
            output = view.patch(ev.StatePatched(patch=tuple(patch)), 7)
            assert jsonpatch.apply_patch(before, patch) == state
        else:
            output = view.replace(ev.StateReplaced(state=state), 7)
        client.take(plain(output))
        before = state
    client.take(plain(view.final(8)))

    assert client.state == before


@pytest.mark.parametrize("mode", ["initial", "all", "final", "none"])
def test_a_state_that_the_client_predicts_is_sent_whole_once_more(mode: Any) -> None:
    shown = {"initial": ["StateSnapshot"], "all": ["StateSnapshot"], "final": [], "none": []}[mode]
    view = StateView(mode, {"b": [1]})
    view.predict()

    assert kinds(view.patch(ev.StatePatched(patch=ADD), 7)) == shown, "a patch may not fit what it predicted"
    assert kinds(view.final(7)) == (["StateSnapshot"] if mode == "final" else [])
    assert view.final(7) == []


def test_a_prediction_that_nothing_follows_is_set_right_at_the_end() -> None:
    view = StateView("initial", {"a": 1})
    view.predict()

    assert plain(view.final(7)) == [{"type": "STATE_SNAPSHOT", "timestamp": 7, "snapshot": {"a": 1}}]
    view.predict()
    assert kinds(view.replace(ev.StateReplaced(state={"a": 1}), 7)) == ["StateSnapshot"]
