"""Tools of a registry in graphs: in somebody's own run, below a subagent, and after a restart."""

from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from tests.agents.langchain.graphs import agent_of, answering
from tests.agents.langchain.permission_helpers import chooses, outlive, permissions
from tests.agents.langchain.untyped_langchain import create_agent
from tests.hubs import collect, only, session_for

from trunkline import events as ev
from trunkline.agents.langchain import acp_agent
from trunkline.agents.langchain.tools.registered_tools import declared_tools
from trunkline.journal import Journal, open_journal
from trunkline.testing.chat import ScriptedChatModel, call
from trunkline.testing.recording import RecordingTransport
from trunkline.tools import ToolContext, ToolRegistry, tool

RAN: list[str] = []


@tool(
    kind="execute",
    title="SQL: {query}",
    permission="ask",
    options={"allow_once": "Allow once", "allow_always": "Always allow SQL", "reject_once": "Reject"},
)
async def run_sql(query: str, *, ctx: ToolContext) -> dict[str, Any]:
    """Run one query."""
    RAN.append(query)
    ctx.progress("reading\n")
    return {"rows": [query]}


REGISTRY = ToolRegistry([run_sql])
SQL = call("run_sql", {"query": "SELECT 1"}, "call_1")


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    RAN.clear()


def test_only_tools_of_a_registry_are_declared() -> None:
    made = REGISTRY.for_langchain()
    assert declared_tools([*made, object()]) == {"run_sql": run_sql}


@pytest.mark.parametrize(("option", "status"), [("allow_once", "completed"), ("reject_once", "failed")])
async def test_in_somebodys_own_run_a_call_has_one_card_and_is_asked_about(option: str, status: str) -> None:
    transport = RecordingTransport(permissions=[option])
    model = ScriptedChatModel(SQL, "One.")
    agent = acp_agent(model, REGISTRY.for_langchain(), transport=transport)
    await agent.ainvoke({"messages": [{"role": "user", "content": "go"}]})
    begun = [one for one in transport.updates if one["sessionUpdate"] == "tool_call"]
    assert [one["toolCallId"] for one in begun] == ["call_1"]
    shown: dict[str, Any] = {}
    for one in transport.updates:
        if one.get("toolCallId") == "call_1":
            shown.update(one)
    assert (shown["kind"], shown["title"], shown["status"]) == ("execute", "SQL: SELECT 1", status)
    assert len(transport.requested) == 1
    assert (["SELECT 1"] if status == "completed" else []) == RAN
    (told,) = [one for one in model.calls[1].messages if isinstance(one, ToolMessage)]
    assert (told.status == "success") is (status == "completed")


async def test_after_a_restart_the_answer_runs_the_call_that_was_asked_about(tmp_path: Path) -> None:
    saver = InMemorySaver()

    def graph(*answers: Any) -> Any:
        return create_agent(ScriptedChatModel(*answers), REGISTRY.for_langchain(), checkpointer=saver)

    async def journal() -> Journal:
        return await open_journal(f"sqlite:{tmp_path / 'j.db'}")

    events, shown = await outlive(graph(SQL, "never"), graph("One."), journal, chooses("allow_once"))
    assert RAN == ["SELECT 1"]
    assert not permissions(events)
    (made,) = shown.calls.values()
    assert (made.call_id, made.kind, made.status) == ("call_1", "execute", "completed")


async def test_below_a_subagent_a_call_is_shown_in_its_lane() -> None:
    inner = create_agent(ScriptedChatModel(SQL, "One."), REGISTRY.for_langchain())

    async def delegate(question: str) -> str:
        """Let another agent answer."""
        answered = await inner.ainvoke({"messages": [{"role": "user", "content": question}]})
        return str(answered["messages"][-1].content)

    agent, _ = agent_of(call("delegate", {"question": "?"}, "outer"), "Done.", tools=[delegate])
    async with session_for(agent) as session:
        events = await collect(session, "go", answering(session, option_id="allow_once"))
    calls = {one.name: one for one in only(events, ev.ToolCall)}
    assert len(only(events, ev.ToolCall)) == 2
    asked = permissions(events)
    assert [one.call_id for one in asked] == [calls["run_sql"].call_id]
    assert calls["run_sql"].lane == "outer"
    (question,) = only(events, ev.Asked)
    assert question.lane == "outer"
    updates = [one for one in only(events, ev.ToolUpdate) if one.call_id == calls["run_sql"].call_id]
    assert {one.lane for one in updates} == {"outer"}
    assert RAN == ["SELECT 1"]
    assert not only(events, ev.Notice)
