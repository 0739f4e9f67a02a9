"""Tools of a registry in an agent of the SDK: one card and one question a call, in their author's words."""

from typing import Any

import pytest
from agents.testing import ScriptedModel

from agents import Agent, function_tool
from tests.agents.openai.sdk_agents import agent_of, call, finish, named, say, sent, started, stopped
from tests.hubs import collect, events_of, only, session_for
from trunkline import events as ev
from trunkline.tools import Table, ToolContext, ToolRegistry, tool
from trunkline.workspace import Policy
from trunkline.workspace.rules import Rule


def registry() -> tuple[ToolRegistry, list[str]]:
    ran: list[str] = []

    @tool(
        kind="execute",
        title="SQL: {query}",
        permission="ask",
        options={"allow_once": "Allow once", "allow_always": "Always allow SQL", "reject_once": "Reject"},
    )
    async def run_sql(query: str, *, ctx: ToolContext) -> str:
        """Run a query."""
        ctx.progress("half way\n")
        ran.append(query)
        return f"ran {query}"

    made = ToolRegistry()
    made.register(run_sql)
    return made, ran


def querying(made: ToolRegistry, *more: Any) -> tuple[Any, Any]:
    return agent_of([call("run_sql", "q1", query="SELECT 1")], "Done.", *more, tools=made.for_openai())


@pytest.mark.parametrize("policy", [None, Policy.ask()])
async def test_its_permission_is_asked_once_in_its_own_words(policy: Policy | None) -> None:
    made, ran = registry()
    agent, model = querying(made)
    async with session_for(agent, policy=policy) as session:
        await started(session, "Count.")
        (asked,) = await stopped(session, 1)
        assert asked.question.message == "SQL: SELECT 1?"
        assert "Always allow SQL" in [option.name.partition(" (")[0] for option in asked.question.options]
        shown = await finish(session, {asked.question.call_id: "allow_once"})
        events = await events_of(session)
    card = named(shown)["q1"]
    assert (card.title, card.kind, card.status, card.output) == (
        "SQL: SELECT 1", "execute", "completed", "half way\n",
    )  # fmt: skip
    assert ran == ["SELECT 1"]
    assert len(only(events, ev.Asked)) == 1
    assert len(only(events, ev.ToolCall)) == 1
    assert sent(model)[-1] == ("output q1", "ran SELECT 1")


async def test_a_refusal_reaches_the_model_and_always_is_kept() -> None:
    made, ran = registry()
    agent, _ = querying(made, [call("run_sql", "q2", query="SELECT 2")], "Done again.")
    async with session_for(agent) as session:
        await started(session, "Count.")
        (asked,) = await stopped(session, 1)
        await finish(session, {asked.question.call_id: "allow_always"})
        events = await collect(session, "Again.")
    assert ran == ["SELECT 1", "SELECT 2"]
    assert not only(events, ev.Asked)


async def test_a_tool_of_another_agent_is_not_judged_by_what_a_tool_of_its_name_declares() -> None:
    removed: list[str] = []

    @tool(kind="read", name="page")
    def read_page(name: str) -> str:
        """Read a page."""
        return name

    @function_tool(name_override="page")
    def remove_page(name: str) -> str:
        """Remove a page."""
        removed.append(name)
        return "gone"

    cleaner: Agent[Any] = Agent(
        name="Cleaner",
        model=ScriptedModel([[call("page", "p1", name="a")], say("Done.")]),
        tools=[remove_page],
    )
    agent, _ = agent_of(
        [call("transfer_to_cleaner", "h1")], tools=ToolRegistry([read_page]).for_openai(), handoffs=[cleaner]
    )
    policy = Policy(rules=(Rule(decision="allow", kind="read"),), default="deny")
    async with session_for(agent, policy=policy) as session:
        await collect(session, "Clean up.")
    assert removed == []


async def test_the_next_turn_reads_the_result_as_the_model_did_and_not_as_people_see_it() -> None:
    @tool(shows="table")
    def count() -> Table:
        """Count."""
        return Table(("n",), ((3,),))

    made = ToolRegistry([count])
    agent, model = agent_of([call("count", "k1")], "Three.", "Yes.", tools=made.for_openai())
    async with session_for(agent) as session:
        await collect(session, "Count.")
        await collect(session, "Sure?")
    assert dict(sent(model, 1))["output k1"] == dict(sent(model))["output k1"]
