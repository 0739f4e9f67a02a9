"""Tests of the middlewares that are made together from one set of options."""

from types import SimpleNamespace
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import MessagesState
from tests.agents.langchain.recorded_updates import PROMPT, call_graph
from tests.agents.langchain.untyped_langchain import StateGraph, create_agent
from tests.hubs import soon

from trunkline.agents.langchain import (
    ModeMiddleware,
    PermissionMiddleware,
    Rule,
    ToolMiddleware,
    acp_agent,
    acp_middleware,
    agui_agent,
    agui_middleware,
)
from trunkline.agents.langchain.hosted.middleware import OwnMiddleware, known_options
from trunkline.errors import ConfigurationError
from trunkline.session.hosted.frontends import load_front_end
from trunkline.testing import AguiRecorder
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


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ({"prompt": "Be kind."}, r"no option 'prompt'; did you mean system_prompt\?"),
        ({"emit_plan_on": ()}, r"did you mean .*emit_on"),
        ({"emit_steps": "node"}, "emit_steps is an option of agui_agent only"),
        ({"tool_kind_mapper": {"look": "read"}}, "tool_kind_mapper is an object of type dict: .*the get of"),
        ({"content_mapper": "text"}, "content_mapper is an object of type str: give a function"),
        ({"state_mapper": 3}, "state_mapper is an object of type int"),
        ({"session_id_extractor": "thread"}, "session_id_extractor is an object of type str"),
        ({"content_block_mapper": str}, "a subclass of ContentBlockMapper"),
    ],
)
@pytest.mark.parametrize("given", ["model", "agent"])
def test_a_wrong_option_is_refused_with_the_likely_right_one(option: Any, text: str, given: str) -> None:
    model = ScriptedChatModel("Hi.")
    with pytest.raises(ConfigurationError, match=text):
        acp_agent(model if given == "model" else create_agent(model), **option)


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


FRONT_ENDS = pytest.mark.parametrize("front_end", ["acp", "agui"])
WRAPPERS: dict[str, Any] = {"acp": acp_agent, "agui": agui_agent}
WRAP = pytest.mark.parametrize("wrap", [acp_agent, agui_agent])


def test_an_option_that_belongs_elsewhere_is_refused_with_the_place() -> None:
    for name, place in {"keep_alive": "sse_transport", "import_history": "asgi"}.items():
        wrong: Any = {name: 1}
        with pytest.raises(ConfigurationError, match=f"{name} cannot be given here.*{place}"):
            agui_agent(ScriptedChatModel("Hi."), **wrong)


@WRAP
@pytest.mark.parametrize("name", ["description", "persist", "mcp_tool_options"])
def test_an_option_without_the_one_it_is_about_is_refused(wrap: Any, name: str) -> None:
    with pytest.raises(ConfigurationError, match=f"{name} does nothing without"):
        wrap(ScriptedChatModel("Hi."), **{name: {}})


SAMPLES: dict[str, Any] = {
    "mcp_servers": {"files": {"transport": "stdio", "command": "true", "args": []}},
    "policy": {"*": Rule()},
    "modes": {"a": {}},
    "default_mode": "agentic",
    "emit_on": ("manual",),
    "persist": {},
    "build_plan": list,
}
FOR_BUILT_AGENTS = {
    *("session_id_extractor", "emit_tool_start", "emit_tool_results", "tool_kind_mapper", "content_mapper"),
    *("emit_text_chunks", "emit_reasoning_chunks", "content_block_mapper", "state_mapper"),
    "emit_state_snapshots",
}


@FRONT_ENDS
def test_around_a_built_agent_every_option_counts_or_is_refused_with_the_way_out(front_end: str) -> None:
    built, wrap = create_agent(ScriptedChatModel("Hi."), []), WRAPPERS[front_end]
    needed = {"description": "policy", "persist": "policy", "subagents": "policy"}
    of_front_end = {*load_front_end(front_end).option_names}
    for name in {*known_options(front_end)} - of_front_end - FOR_BUILT_AGENTS - {"mcp_tool_options"}:
        given = {name: SAMPLES.get(name, False)}
        if name in needed:
            given[needed[name]] = SAMPLES[needed[name]]
        with pytest.raises(
            ConfigurationError, match=rf"{name}.* cannot.*give {front_end}_agent the model.*_middleware"
        ):
            wrap(built, **given)


def test_an_agent_that_is_built_already_takes_what_callbacks_can_do() -> None:
    built = create_agent(ScriptedChatModel("Hi."), [])
    for_callbacks: dict[str, Any] = {"emit_text_chunks": False, "emit_tool_results": False, "policy": None}
    acp_agent(built, tool_kind_mapper=lambda name: "read", **for_callbacks)
    agui_agent(built, on_disconnect="cancel", **for_callbacks)


@WRAP
def test_what_is_no_agent_is_refused_with_the_fix(wrap: Any) -> None:
    graph = StateGraph(MessagesState)
    wrapped = acp_agent(ScriptedChatModel("Hi."))
    for wrong, fix in ((graph, r"its compile\(\)"), (wrapped, r"its \.agent"), (42, "takes a chat model")):
        with pytest.raises(ConfigurationError, match=fix):
            wrap(wrong)


def spellings(own: OwnMiddleware) -> list[Any]:
    return [own, [own], [*own], list(own), own + [], [] + own, own[:]]  # noqa: RUF005


@pytest.mark.parametrize("at", range(7))
@pytest.mark.parametrize("make", [acp_middleware, agui_middleware])
async def test_a_middleware_may_be_given_alone_in_a_list_or_as_a_list(make: Any, at: int) -> None:
    shown: list[Any] = []

    def emit(*event: Any) -> None:
        shown.append(event)

    own = make(SimpleNamespace(emit=emit, request=None if make is agui_middleware else print))
    agent = create_agent(ScriptedChatModel("Hi."), [], middleware=spellings(own)[at])
    await soon(agent.ainvoke({"messages": [("user", "x")]}, {"callbacks": own.callbacks}))
    assert "Hi." in str(shown)
    assert len(own) == 1


@pytest.mark.parametrize("plain", [True, False])
async def test_callbacks_in_a_list_of_their_own_are_refused_with_the_fix(plain: bool) -> None:
    own = agui_middleware(AguiRecorder())
    agent = create_agent(ScriptedChatModel("Hello."), middleware=own)
    with pytest.raises(ConfigurationError, match="a list already"):
        await call_graph(agent, PROMPT, {"callbacks": [own.callbacks]}, plain=plain)


@pytest.mark.parametrize("wrap", [acp_agent, agui_agent])
def test_a_run_takes_no_argument_that_nothing_reads(wrap: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"no thread_id: .*configurable"):
        wrap(ScriptedChatModel("Hello.")).invoke(PROMPT, thread_id="t1")


async def test_a_thread_is_loaded_by_the_request_of_its_client() -> None:
    agent: Any = acp_agent(ScriptedChatModel("Hello."), checkpointer=InMemorySaver())
    with pytest.raises(ConfigurationError, match="the client's request as it came"):
        await agent.load("s1")
