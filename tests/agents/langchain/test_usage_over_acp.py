"""The ACP side as its users write it: each example and each option, in every way to call an agent."""

import operator
from collections.abc import Callable, Sequence
from typing import Annotated, Any, NotRequired, cast

import pytest
from langchain.agents import AgentState
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from langchain_mcp_adapters.client import MultiServerMCPClient
from langgraph.types import Command

from tests.agents.langchain.agui_client import WAYS, Way
from tests.agents.langchain.mcp_example import STDIO, patiently
from tests.agents.langchain.recorded_updates import (
    PROMPT,
    call_of,
    kinds,
    on_thread,
    pieces,
    session_ids,
    states,
    statuses,
    text,
)
from tests.agents.langchain.untyped_langchain import create_agent
from trunkline.agents.langchain import (
    READY_MODES,
    ContentBlockMapper,
    ModeMiddleware,
    PermissionMiddleware,
    PlanMiddleware,
    SessionMiddleware,
    ToolMiddleware,
    TrunklineCallbackHandler,
    TrunklineContext,
    acp_agent,
    acp_middleware,
    emit_plan,
    load_mcp_tools,
    map_error_to_content,
    map_to_stop_reason,
)
from trunkline.errors import TurnCancelled
from trunkline.testing import RecordingTransport, validate_acp_update
from trunkline.testing.chat import ScriptedChatModel, call, thinks


class Counted(AgentState[Any]):
    tally: NotRequired[Annotated[int, operator.add]]


@tool
def read_file(path: str) -> str:
    """Read a file."""
    return f"the text of {path}"


@tool
def write_file(path: str, text: str) -> str:
    """Write a file."""
    return f"wrote {path}"


@tool
def count(tool_call_id: Annotated[str, InjectedToolCallId]) -> Any:
    """Count one, and show a plan."""
    emit_plan([{"content": "Count", "status": "completed", "priority": "high"}])
    return Command(update={"tally": 1, "messages": [ToolMessage("one", tool_call_id=tool_call_id)]})


TOOLS = [read_file, write_file, count]
POLICY: Any = {
    "write_file": {"kind": "edit", "require_permission": True, "allowed_decisions": ["approve", "reject"]},
    "read_file": {"kind": "read", "require_permission": False},
}


def script(*more: Any) -> ScriptedChatModel:
    return ScriptedChatModel(
        [thinks("1. Read\n2. Count"), "Let me look. ", call("read_file", {"path": "/a"})],
        *more,
        call("count", {}),
        "Done.",
    )


def with_handler(transport: RecordingTransport, model: Any, *middleware: Any) -> Any:
    """An agent with middlewares, and the callback handler bound to it."""
    agent = create_agent(model, TOOLS, middleware=list(middleware), state_schema=Counted)
    return agent.with_config({"callbacks": [TrunklineCallbackHandler(transport=transport)]})


# -- the examples ----------------------------------------------------------------------------------


@WAYS
async def test_a_basic_agent_is_a_session_middleware_and_a_callback_handler(run: Way) -> None:
    transport = RecordingTransport(session_id="default")
    await run(with_handler(transport, script(), SessionMiddleware(emit_state_snapshots="initial")), PROMPT)
    assert kinds(transport)[:3] == ["agent_thought_chunk", "agent_message_chunk", "tool_call"]
    assert pieces(transport) == ["Let ", "me ", "look. ", "Done."]
    assert statuses(transport, "call_1") == ["pending", "in_progress", "completed"]
    card = call_of(transport, "call_1")
    assert (card["kind"], card["rawInput"], card["rawOutput"]) == ("read", {"path": "/a"}, "the text of /a")
    assert session_ids(transport) == {"default"}


@WAYS
@pytest.mark.parametrize(
    "middleware",
    [[SessionMiddleware], [ToolMiddleware], [SessionMiddleware, PlanMiddleware], [ModeMiddleware]],
    ids=lambda given: "+".join(one.__name__ for one in given),
)
async def test_each_middleware_works_without_the_others(run: Way, middleware: Sequence[Any]) -> None:
    transport = RecordingTransport(session_id="s1")
    made = [one() for one in middleware]
    agent = create_agent(
        script(), TOOLS, middleware=made, state_schema=Counted, context_schema=TrunklineContext
    )
    await run(agent, PROMPT, context=TrunklineContext(transport=transport))
    for call_id in ("call_1", "call_2"):
        assert statuses(transport, call_id)[-1:] in ([], ["completed"])
    assert "failed" not in str(transport.updates)


@pytest.mark.slow
@WAYS
async def test_an_agent_has_the_tools_of_mcp_servers(run: Way) -> None:
    model = ScriptedChatModel(call("example__add", {"a": 1, "b": 2}), "Three.")
    options = {"prefix_tool_name": True, "standard_content_blocks": True}
    middleware = SessionMiddleware(mcp_servers={"example": STDIO}, mcp_tool_options=options)
    transport = RecordingTransport(session_id="s1")
    async with middleware:
        await run(with_handler(transport, model, middleware), PROMPT)
    assert (statuses(transport, "call_1")[-1], content(transport)) == ("completed", ["3"])


@pytest.mark.slow
async def test_tools_of_mcp_servers_are_loaded_by_us_or_by_langchains_own_client() -> None:
    servers: Any = {"example": STDIO}
    theirs = await patiently(MultiServerMCPClient(servers).get_tools())
    plain = await patiently(load_mcp_tools(servers, prefix_tool_name=False))
    ours = await patiently(load_mcp_tools(servers))
    names = {one.name for one in theirs}
    assert "add" in names
    assert {one.name for one in plain} == names
    assert {one.name for one in ours} == {f"example__{name}" for name in names}


@WAYS
@pytest.mark.parametrize(
    ("answer", "last"), [("allow_once", "completed"), ("reject_once", "failed")], ids=["yes", "no"]
)
async def test_a_policy_asks_on_the_transport_of_the_callback_handler(
    run: Way, answer: str, last: str
) -> None:
    transport = RecordingTransport(session_id="s1", permissions=[answer])
    model = script(call("write_file", {"path": "/a", "text": "hi"}))
    await run(with_handler(transport, model, PermissionMiddleware(POLICY)), PROMPT)
    (asked,) = transport.requested
    assert asked.method == "session/request_permission"
    assert (asked.params["toolCall"]["toolCallId"], asked.params["toolCall"]["kind"]) == ("call_2", "edit")
    assert {option["kind"] for option in asked.params["options"]} >= {"allow_once", "reject_once"}
    assert (statuses(transport, "call_1")[-1], statuses(transport, "call_2")[-1]) == ("completed", last)
    assert text(transport).endswith("Done.")


@WAYS
async def test_one_object_is_made_of_all_parts(run: Way) -> None:
    class Counter(BaseCallbackHandler):
        seen = 0

        def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:
            self.seen += 1

    transport, mine = RecordingTransport(), Counter()
    agent = acp_agent(
        script(), TOOLS, middleware=[], callbacks=[mine], transport=transport, state_schema=Counted
    )
    await run(agent, PROMPT, on_thread("s1"))
    assert (text(transport), session_ids(transport), mine.seen) == ("Let me look. Done.", {"s1"}, 3)


@pytest.mark.parametrize(
    "update",
    [
        {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "hi"}},
        {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "hm"}},
        {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Read", "status": "pending"},
        {"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed"},
        {"sessionUpdate": "plan", "entries": [{"content": "x", "priority": "low", "status": "pending"}]},
        {"sessionUpdate": "current_mode_update", "currentModeId": "code"},
    ],
    ids=lambda update: update["sessionUpdate"],
)
def test_an_update_is_checked_by_the_schema(update: Any) -> None:
    validate_acp_update(update)
    with pytest.raises(ValueError, match=r"."):
        validate_acp_update({**update, "sessionUpdate": "session_started"})


# -- the options -----------------------------------------------------------------------------------


class Loud(ContentBlockMapper):
    def to_neutral(self, block: Any, message_id: str = "") -> Any:
        return super().to_neutral({**block, "reasoning": block["reasoning"].upper()}, message_id)


def content(transport: RecordingTransport) -> Any:
    return [one["content"]["text"] for one in call_of(transport, "call_1").get("content", ())]


def plans(transport: RecordingTransport) -> list[list[str]]:
    found = [one for one in transport.updates if one["sessionUpdate"] == "plan"]
    return [[entry["content"] for entry in one["entries"]] for one in found]


OF_ACP = {"type": "text", "text": "of ACP"}


def gives(value: Any) -> Callable[[Any], Any]:
    return lambda _: value


def renamed(state: Any) -> Any:
    return {"n": state["tally"]}


def option_names(options: Any) -> str:
    return ",".join(options) if isinstance(options, dict) else ""  # pyright: ignore[reportUnknownArgumentType]


def boom(*_: Any) -> Any:
    raise RuntimeError("a mapper that is broken")


Check = Callable[[RecordingTransport], Any]
OPTIONS: list[tuple[dict[str, Any], Check, Any]] = [
    ({"session_id_extractor": gives("of the user")}, session_ids, {"of the user"}),
    ({"emit_state_snapshots": "initial"}, lambda t: len(states(t)), 2),
    ({"emit_state_snapshots": "all"}, states, [{"tally": 1}, {"tally": 2}]),
    ({"emit_state_snapshots": "final"}, states, [{"tally": 2}]),
    ({"emit_state_snapshots": "none"}, states, []),
    ({"emit_state_snapshots": "final", "state_mapper": renamed}, states, [{"n": 2}]),
    ({"emit_state_snapshots": "final", "state_mapper": boom}, states, []),
    ({"emit_tool_start": False}, lambda t: statuses(t, "call_1"), ["pending", "completed"]),
    ({"emit_tool_results": False}, content, []),
    ({"emit_tool_results": True}, content, ["the text of /a"]),
    ({"tool_kind_mapper": gives("think")}, lambda t: call_of(t, "call_1")["kind"], "think"),
    ({"tool_kind_mapper": gives(None)}, lambda t: call_of(t, "call_1")["kind"], "read"),
    ({"tool_kind_mapper": boom}, lambda t: call_of(t, "call_1")["kind"], "other"),
    ({"content_mapper": gives("in short")}, content, ["in short"]),
    ({"content_mapper": gives(None)}, content, ["the text of /a"]),
    ({"content_mapper": gives([{"type": "text", "text": "block"}])}, content, ["block"]),
    ({"content_mapper": gives([{"type": "content", "content": OF_ACP}])}, content, ["of ACP"]),
    ({"content_mapper": boom}, content, ["the text of /a"]),
    ({"auto_detect_planning": True}, plans, [["Read", "Count"], ["Count"]]),
    ({"auto_detect_planning": False}, plans, [["Count"]]),
    ({"build_plan": gives(["Built"]), "auto_detect_planning": False}, lambda t: plans(t)[0], ["Built"]),
    ({"build_plan": boom, "auto_detect_planning": False}, plans, [["Count"]]),
    ({"emit_on": ["reasoning"]}, plans, [["Read", "Count"]]),
    ({"emit_on": ["manual"]}, plans, [["Count"]]),
    ({"emit_on": ["tool_calls"]}, plans, []),
    ({"emit_text_chunks": False}, text, ""),
    ({"emit_reasoning_chunks": False}, lambda t: text(t, "agent_thought_chunk"), ""),
    ({"content_block_mapper": Loud()}, lambda t: text(t, "agent_thought_chunk"), "1. READ\n2. COUNT"),
]


@WAYS
@pytest.mark.parametrize(("options", "check", "expected"), OPTIONS, ids=option_names)
@pytest.mark.parametrize("wrapped", [True, False], ids=["acp_agent", "acp_middleware"])
async def test_an_option_does_what_its_name_says(
    run: Way,
    wrapped: bool,
    options: dict[str, Any],
    check: Check,
    expected: Any,
    transport: RecordingTransport,
) -> None:
    if wrapped:
        agent = acp_agent(script(), TOOLS, transport=transport, state_schema=Counted, **options)
    else:
        own = acp_middleware(transport, **options)
        agent = create_agent(script(), TOOLS, middleware=[own], state_schema=Counted)
    await run(agent, {**PROMPT, "tally": 1}, on_thread("s1"))
    assert check(transport) == expected


@WAYS
async def test_one_middleware_takes_the_options_of_all(run: Way) -> None:
    transport = RecordingTransport(permissions=["allow_once"])
    own = acp_middleware(
        transport,
        session_id_extractor=gives("s9"),
        emit_state_snapshots="none",
        emit_tool_results=False,
        tool_kind_mapper=gives("other"),
        policy=POLICY,
        default_mode="agentic",
    )
    model = script(call("write_file", {"path": "/a", "text": "hi"}))
    agent = create_agent(model, TOOLS, middleware=own, state_schema=Counted)
    await run(agent, PROMPT, {"callbacks": own.callbacks})
    assert (session_ids(transport), states(transport), len(transport.requested)) == ({"s9"}, [], 1)
    assert content(transport) == []


# -- modes -----------------------------------------------------------------------------------------

MODES: Any = {
    "careful": {"system_prompt": "Take care.", "allowed_tools": ["read_*"], "description": "Looks only"},
    "free": {"system_prompt": "Go ahead."},
}


@WAYS
@pytest.mark.parametrize(
    ("mode", "tools"), [("careful", ["read_file"]), ("free", [one.name for one in TOOLS])]
)
async def test_a_mode_shapes_what_the_model_is_given(run: Way, mode: str, tools: list[str]) -> None:
    model = ScriptedChatModel("Hello.")
    agent = acp_agent(model, TOOLS, transport=RecordingTransport(), modes=MODES, default_mode=mode)
    await run(agent, PROMPT, on_thread("s1"))
    assert model.calls[0].tool_names == tools
    assert model.calls[0].messages[0].text == MODES[mode]["system_prompt"]


@WAYS
@pytest.mark.parametrize("how", ["set_mode", "configurable"])
async def test_a_mode_is_chosen_for_a_thread(run: Way, how: str) -> None:
    model, transport = ScriptedChatModel("Hello.", each_turn=True), RecordingTransport()
    agent = acp_agent(model, TOOLS, transport=transport, modes=MODES)
    config = on_thread("s1")
    if how == "set_mode":
        agent.set_mode("s1", "free")
    else:
        config["configurable"]["mode"] = "free"
    await run(agent, PROMPT, config)
    await run(agent, PROMPT, on_thread("s2"))
    assert [one.messages[0].text for one in model.calls] == ["Go ahead.", "Take care."]
    changes = [one for one in transport.updates if one["sessionUpdate"] == "current_mode_update"]
    assert [one["currentModeId"] for one in changes][:1] == ["free"]


def test_the_four_modes_of_an_agent_are_there() -> None:
    assert set(READY_MODES) == {"agentic", "interactive", "readonly", "planning"}


# -- how a run ended -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        ({"messages": [AIMessage("Done.")]}, "end_turn"),
        ({"messages": [AIMessage("Do", response_metadata={"finish_reason": "length"})]}, "max_tokens"),
        (AIMessage("", response_metadata={"finish_reason": "content_filter"}), "refusal"),
        ({"finish_reason": "length"}, "max_tokens"),
        (AIMessage("", tool_calls=[{"name": "x", "args": {}, "id": "1"}]), "end_turn"),
        (AIMessage("x", response_metadata={"stop_reason": "stop_sequence"}), "end_turn"),
        (TurnCancelled("by the person"), "cancelled"),
    ],
    ids=lambda one: type(one).__name__,
)
def test_the_end_of_a_run_is_a_stop_reason(outcome: Any, reason: str) -> None:
    assert map_to_stop_reason(outcome) == reason
    if isinstance(outcome, dict) and "messages" in outcome:
        (answer,) = cast("list[Any]", outcome["messages"])
        agent = acp_agent(ScriptedChatModel(answer), transport=RecordingTransport())
        assert map_to_stop_reason(agent.invoke(PROMPT)) == reason


def test_an_error_is_content_with_its_text() -> None:
    (block,) = map_error_to_content(ValueError("no fuel"))
    assert "no fuel" in str(block)
