"""The paths that a policy finds in the arguments of a call."""

from typing import Any

import pytest

from trunkline.workspace.call_paths import openable_paths, paths_of


@pytest.mark.parametrize(
    "args",
    [
        {"path": "secret/x"},
        {"dir_path": "secret/x"},
        {"fileName": "secret/x"},
        {"targetFile": "secret/x"},
        {"absolutePath": "secret/x"},
        {"RELATIVE-PATH": "secret/x"},
        {"path": ["secret/x"]},
        {"src": "secret/x", "dst": "b"},
        {"uri": "file:///secret/x"},
        {"url": "file:///%73ecret/x"},
        {"changes": {"secret/x": {"type": "add"}}},
        {"changes": [{"path": "secret/x"}]},
        {"args": {"path": "secret/x"}},
        {"tool": "read", "input": [{"arguments": {"file_path": "secret/x"}}]},
    ],
)
def test_a_path_is_found_under_any_usual_name_and_inside_of_other_arguments(args: Any) -> None:
    assert any(path.endswith("secret/x") for path in paths_of(args))


@pytest.mark.parametrize(
    "args",
    [
        None,
        "secret/x",
        {},
        {"pattern": "secret/**", "query": "a/b"},
        {"source": "web", "limit": 3},
        {"url": "https://example.org/secret/x"},
        {"headers": {"a/b": "text"}},
        {"path": 3, "files": {"a": 1}},
    ],
)
def test_what_is_no_path_is_not_taken_for_one(args: Any) -> None:
    assert paths_of(args) == ()


def test_arguments_that_are_very_deep_are_read_as_far_as_tools_go() -> None:
    deep: Any = {"path": "x"}
    for _ in range(100_000):
        deep = {"a": deep}
    assert paths_of(deep) == ()


def test_a_client_is_offered_what_it_can_open_alone() -> None:
    assert list(openable_paths({"args": {"path": "a"}, "path": "b"})) == ["b"]
