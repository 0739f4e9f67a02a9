"""Modes and plans, each shown once: scenes that deepagents-acp gets wrong."""

from typing import Any

import pytest
from langchain.agents.middleware import TodoListMiddleware
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool

from tests.agents.langchain.graphs import agent_of
from tests.agents.langchain.untyped_langchain import create_deep_agent
from tests.frontends.acp.memory_editor import Editor, editing
from tests.hubs import hub_for
from trunkline import adapt
from trunkline.agents.langchain.middleware.mode import ModeMiddleware
from trunkline.agents.langchain.middleware.permission import PermissionMiddleware, Rule
from trunkline.agents.langchain.middleware.plan import PlanMiddleware
from trunkline.testing.chat import ScriptedChatModel, call

TODOS = [{"content": "Look", "status": "in_progress"}, {"content": "Write", "status": "pending"}]
WRITE_TODOS = call("write_todos", {"todos": TODOS}, "t1")


def plans(editor: Editor) -> list[list[str]]:
    return [[entry["content"] for entry in plan["entries"]] for plan in editor.updates("plan")]


# -- 15: an unknown mode is accepted, and a change of the mode is never told --------------------------


async def test_an_unknown_mode_is_refused_and_changes_nothing() -> None:
    agent, model = agent_of("Done.", middleware=[ModeMiddleware(default_mode="readonly")])
    async with hub_for(agent) as hub, editing(hub) as editor:
        session = await editor.open()
        refused = await editor.refused("session/set_mode", sessionId=session, modeId="yolo")
        await editor.prompt(session, "go")
    assert refused.rpc_code == -32602
    assert "agentic, interactive, readonly, planning" in refused.message
    assert editor.updates("current_mode_update") == []
    assert model.calls[0].tool_names == []


async def test_a_session_begins_with_its_modes_and_tells_each_change() -> None:
    agent, _ = agent_of("Done.", middleware=[ModeMiddleware()])
    async with hub_for(agent) as hub, editing(hub) as editor:
        made = await editor.call("session/new", cwd="/", mcpServers=[])
        session = made["sessionId"]
        await editor.call("session/set_mode", sessionId=session, modeId="readonly")
        await editor.prompt(session, "go")
    assert made["modes"]["currentModeId"] == "agentic"
    known = [mode["id"] for mode in made["modes"]["availableModes"]]
    assert known == ["agentic", "interactive", "readonly", "planning"]
    assert [update["currentModeId"] for update in editor.updates("current_mode_update")] == ["readonly"]
    [changed] = editor.updates("config_option_update")
    assert [(one["id"], one["currentValue"]) for one in changed["configOptions"]] == [("mode", "readonly")]


# -- 18: a plan is told twice, before permission, and even when the tool fails ------------------------


@pytest.mark.parametrize("middleware", [[], [PlanMiddleware()]], ids=["alone", "with PlanMiddleware"])
async def test_a_plan_is_told_once_and_after_the_tool_has_run(middleware: list[Any]) -> None:
    agent, _ = agent_of([WRITE_TODOS], "Done.", middleware=[*middleware, TodoListMiddleware()])
    async with hub_for(agent) as hub, editing(hub) as editor:
        await editor.prompt(await editor.open(), "go")
    assert plans(editor) == [["Look", "Write"]]
    assert _running(editor, "t1") < editor.heard().index("plan")


async def test_a_deep_agent_tells_its_plan_once() -> None:
    model = ScriptedChatModel([WRITE_TODOS], "Done.")
    agent = adapt(create_deep_agent(model=model, tools=[], middleware=[TodoListMiddleware()]))
    async with hub_for(agent) as hub, editing(hub) as editor:
        await editor.prompt(await editor.open(), "go")
    assert plans(editor) == [["Look", "Write"]]


@pytest.mark.parametrize(
    ("answer", "expected"), [("allow_once", [["Look", "Write"]]), ("reject_once", list[list[str]]())]
)
async def test_a_plan_waits_for_permission_and_goes_with_a_refusal(answer: str, expected: list[Any]) -> None:
    ask = PermissionMiddleware({"write_todos": Rule()})
    agent, _ = agent_of([WRITE_TODOS], "Done.", middleware=[PlanMiddleware(), ask, TodoListMiddleware()])
    async with hub_for(agent) as hub, editing(hub) as editor:
        editor.permit(answer)
        await editor.prompt(await editor.open(), "go")
    assert plans(editor) == expected
    assert "plan" not in editor.heard()[: editor.heard().index("session/request_permission")]


async def test_a_todo_tool_that_fails_changes_no_plan() -> None:
    @tool
    def write_todos(todos: list[dict[str, Any]]) -> ToolMessage:
        """Write the plan, which cannot be done."""
        raise OSError("the disk is full")

    agent, _ = agent_of([WRITE_TODOS], "Sorry.", tools=[write_todos], middleware=[PlanMiddleware()])
    async with hub_for(agent) as hub, editing(hub) as editor:
        await editor.prompt(await editor.open(), "go")
    assert plans(editor) == []
    assert editor.updates("tool_call_update")[-1]["status"] == "failed"


def _running(editor: Editor, call_id: str) -> int:
    """Where on the wire a call began to run."""
    messages = [message.get("params", {}).get("update", {}) for message in editor.agents_wire.messages]
    wanted = ("in_progress", call_id)
    return next(at for at, one in enumerate(messages) if (one.get("status"), one.get("toolCallId")) == wanted)
