"""Tests of the value that a mode is."""

from types import MappingProxyType
from typing import Any, get_args

import pytest

from trunkline import events as ev
from trunkline.agents.langchain.middleware.mode_definition import READ_LIKE, READY_MODES, Mode
from trunkline.errors import ConfigurationError

KINDS: tuple[ev.ToolKind, ...] = get_args(ev.ToolKind)
READING = ["read", "search", "think", "fetch"]


def test_a_mode_that_says_nothing_changes_nothing() -> None:
    mode = Mode()
    assert not mode.restricts
    assert all(mode.permits("any_tool", kind) and not mode.asks("any_tool", kind) for kind in KINDS)


def test_tools_are_allowed_by_pattern_or_by_kind() -> None:
    mode = Mode(allowed_tools=["web_*", "clock"], allowed_kinds=["read"])
    tools: dict[str, ev.ToolKind] = {"web_post": "edit", "clock": "other", "Clock": "other", "cat": "read"}
    assert [name for name, kind in tools.items() if mode.permits(name, kind)] == ["web_post", "clock", "cat"]


def test_a_mode_that_allows_no_tool_allows_none() -> None:
    assert not Mode(allowed_tools=[]).permits("read_file", "read")


def test_permission_is_asked_for_whatever_does_more_than_read() -> None:
    mode = Mode(require_permission=True)
    assert [kind for kind in KINDS if not mode.asks("tool", kind)] == READING


def test_permission_is_asked_for_by_pattern_whatever_the_tool_does() -> None:
    mode = Mode(require_permission=["read_secret*"])
    assert mode.asks("read_secrets", "read")
    assert not mode.asks("delete_file", "delete")


def test_lists_and_mappings_of_any_kind_become_values() -> None:
    mode = Mode(allowed_tools={"a"}, require_permission=["b"], model_settings=MappingProxyType({"t": 1}))
    assert mode == Mode(allowed_tools=("a",), require_permission=("b",), model_settings={"t": 1})
    with pytest.raises(AttributeError):
        mode.name = "other"  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(
    ("field", "wrong", "why"),
    [
        ("allowed_tools", "read*", "Expected `array | null`, got `str`"),
        ("allowed_tools", [1], "Expected `str`, got `int`"),
        ("allowed_kinds", ["reading"], "Invalid enum value 'reading'.*; the kinds are read, edit, delete"),
        ("require_permission", "write*", "Expected `bool | array`, got `str`"),
        ("system_prompt", b"Be brief", "Expected `str | null`, got `bytes`"),
        ("model_settings", ["temperature"], "Expected `object`, got `array`"),
        ("planning", "yes", "Expected `bool`, got `str`"),
    ],
)
def test_a_mode_that_could_never_work_is_refused(field: str, wrong: Any, why: str) -> None:
    with pytest.raises(ConfigurationError, match=f"a mode's {field} cannot be .*: {why}".replace("|", r"\|")):
        Mode(**{field: wrong})


def test_the_ready_modes_do_what_their_names_say() -> None:
    assert list(READY_MODES) == ["agentic", "interactive", "readonly", "planning"]
    agentic, interactive, readonly, planning = READY_MODES.values()
    assert agentic == Mode(name=agentic.name, description=agentic.description)
    assert not interactive.restricts
    assert interactive.asks("write_file", "edit")
    assert not interactive.asks("read_file", "read")
    assert [kind for kind in KINDS if readonly.permits("tool", kind)] == READING
    assert planning.planning
    plans = [name for name in ("write_todos", "update_plan", "write_file") if planning.permits(name, "edit")]
    assert plans == ["write_todos", "update_plan"]
    assert set(READ_LIKE) == {"read", "search", "fetch", "think"}
