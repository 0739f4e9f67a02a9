"""Tests of the middlewares that are made together from one set of options."""

from __future__ import annotations

from typing import Any

import pytest
from tests.agents.langchain.untyped_langchain import create_agent

from trunkline.agents.langchain import (
    ModeMiddleware,
    PermissionMiddleware,
    Rule,
    ToolMiddleware,
    acp_agent,
    agui_agent,
)
from trunkline.agents.langchain.hosted.middleware import OwnMiddleware, assemble, known_options
from trunkline.errors import ConfigurationError
from trunkline.testing.chat import ScriptedChatModel


def kinds(own: OwnMiddleware) -> set[type[Any]]:
    return {type(piece) for piece in own.pieces}


def test_permissions_and_modes_are_there_when_they_are_asked_for() -> None:
    plain = OwnMiddleware("acp", None, {})
    full = OwnMiddleware("acp", None, {"policy": {"*": Rule()}, "default_mode": "agentic"})
    assert kinds(full) - kinds(plain) == {PermissionMiddleware, ModeMiddleware}
    assert len(full) == 1, "LangChain wraps them as one"


@pytest.mark.parametrize("front_end", ["acp", "agui"])
def test_an_option_that_does_not_exist_is_refused_with_those_that_do(front_end: str) -> None:
    with pytest.raises(ConfigurationError, match=r"no option 'colour'.*emit_state_snapshots.*policy"):
        OwnMiddleware(front_end, None, {"colour": "red"})


def test_each_front_end_adds_its_own_options() -> None:
    assert "client_capabilities" in known_options("acp")
    assert "client_capabilities" not in known_options("agui")
    assert "on_disconnect" in known_options("agui")


def test_results_are_left_out_by_the_encoder_where_it_can() -> None:
    hides: dict[str, Any] = {"emit_tool_results": False}
    for front_end, shows in (("acp", False), ("agui", True)):
        tools = next(
            one for one in OwnMiddleware(front_end, None, hides).pieces if isinstance(one, ToolMiddleware)
        )
        assert tools.emit_tool_results is shows


def test_an_agent_that_is_built_already_takes_no_tools() -> None:
    own = OwnMiddleware("acp", None, {})
    built = assemble("acp_agent", ScriptedChatModel("Hi."), None, own, (), known_options("acp"), {})
    with pytest.raises(ConfigurationError, match="built already, so tools cannot be added"):
        assemble("acp_agent", built, [print], own, (), known_options("acp"), {})


@pytest.mark.parametrize(
    "options",
    [
        {"policy": {"*": Rule()}},
        {"default_mode": "agentic"},
        {"mcp_servers": {"files": {"transport": "stdio", "command": "true", "args": []}}},
        {"emit_state_snapshots": "final"},
        {"content_mapper": str},
        {"build_plan": list},
    ],
)
@pytest.mark.parametrize("wrap", [acp_agent, agui_agent])
def test_an_agent_that_is_built_already_takes_no_option_of_a_middleware(wrap: Any, options: Any) -> None:
    (name,) = options
    with pytest.raises(
        ConfigurationError, match=rf"so {name} cannot.*give a\w+_agent the model.*_middleware"
    ):
        wrap(create_agent(ScriptedChatModel("Hi."), []), **options)


def test_an_agent_that_is_built_already_takes_what_callbacks_can_do() -> None:
    built = create_agent(ScriptedChatModel("Hi."), [])
    for_callbacks: dict[str, Any] = {"emit_text_chunks": False, "emit_tool_results": False, "policy": None}
    acp_agent(built, tool_kind_mapper=str, **for_callbacks)
    agui_agent(built, on_disconnect="cancel", **for_callbacks)
