"""Tools of a registry in LangChain: alone, and in a session with one card for each call."""

import asyncio
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from tests.agents.langchain.graphs import agent_of, answering
from tests.hubs import collect, only, session_for, text_of

from trunkline import events as ev
from trunkline.content import TextBlock
from trunkline.questions import Permission
from trunkline.testing.chat import ScriptedChatModel, call
from trunkline.tools import Table, ToolContext, ToolRegistry, tool
from trunkline.tools.adapter_calls import declared_tool
from trunkline.workspace import Policy


@tool(
    kind="execute",
    title="SQL: {query}",
    permission="ask",
    options={"allow_once": "Allow once", "allow_always": "Always allow SQL", "reject_once": "Reject"},
)
async def run_sql(query: str, limit: int = 100, *, ctx: ToolContext) -> Table:
    """Run one read-only query."""
    ctx.progress(f"reading for {ctx.call_id}\n")
    return Table(("query", "limit"), [(query, limit)])


@tool(kind="edit", locations="{name}.md")
def write_note(name: str) -> dict[str, str]:
    """Write a note."""
    return {"written": name}


@tool(kind="edit")
async def recategorize(merchant: str, *, ctx: ToolContext) -> str:
    """Give a merchant another category."""
    await ctx.require_permission(f"Change {merchant}?", content="14 transactions change")
    return "changed"


REGISTRY = ToolRegistry([run_sql, write_note, recategorize])
SQL = call("run_sql", {"query": "SELECT 1"}, "call_1")
TEXT = '{"columns":["query","limit"],"rows":[["SELECT 1",100]]}'


def tool_in(name: str, **options: Any) -> Any:
    """One of LangChain's tools."""
    return next(one for one in REGISTRY.for_langchain(**options) if one.name == name)


def told(model: ScriptedChatModel) -> list[Any]:
    """The results that the model read in its second call."""
    return [one for one in model.calls[1].messages if isinstance(one, ToolMessage)]


def statuses(events: list[ev.Event]) -> list[str]:
    """What became of the calls, step by step."""
    return [str(update.status) for update in only(events, ev.ToolUpdate) if update.status]


# -- alone -------------------------------------------------------------------------------------------


async def test_a_tool_runs_alone_async_and_plainly_with_its_schema() -> None:
    note = tool_in("write_note")
    assert note.args == {"name": {"type": "string"}}
    assert await note.ainvoke({"name": "a"}) == '{"written":"a"}'
    assert await asyncio.to_thread(note.invoke, {"name": "a"}) == '{"written":"a"}'
    assert "was called by a plain function in the loop" in note.invoke({"name": "a"})
    assert declared_tool(note) is write_note


async def test_outside_of_a_session_a_tool_that_asks_is_refused_unless_the_caller_answers_for_it() -> None:
    sent = {"name": "run_sql", "args": {"query": "SELECT 1"}, "id": "c1", "type": "tool_call"}
    refused = await tool_in("run_sql").ainvoke(sent)
    assert (refused.status, refused.tool_call_id) == ("error", "c1")
    assert "there is no session in which somebody could be asked" in refused.content
    allowed = await tool_in("run_sql", on_no_session="allow").ainvoke(sent)
    assert allowed.content == TEXT


async def test_wrong_arguments_are_an_error_that_names_the_argument() -> None:
    sent = {"name": "write_note", "args": {"name": 3}, "id": "c1", "type": "tool_call"}
    answered = await tool_in("write_note").ainvoke(sent)
    assert answered.status == "error"
    assert answered.content == "write_note did not run: the argument 'name': expected `str`, got `int`"


# -- in a session ------------------------------------------------------------------------------------


@pytest.mark.parametrize("saver", [None, InMemorySaver], ids=["journal", "checkpointer"])
async def test_a_call_has_one_card_with_what_the_tool_declares(saver: Any) -> None:
    agent, model = agent_of(SQL, "One.", tools=REGISTRY.for_langchain(), checkpointer=saver and saver())
    async with session_for(agent) as session:
        events = await collect(session, "go", answering(session, option_id="allow_once"))
    (card,) = only(events, ev.ToolCall)
    assert (card.call_id, card.kind, card.title) == ("call_1", "execute", "SQL: …")
    (asked,) = only(events, ev.Asked)
    assert isinstance(asked.question, Permission)
    assert (asked.question.call_id, asked.question.message) == ("call_1", "SQL: SELECT 1?")
    assert [one.name for one in asked.question.options] == [
        "Allow once",
        "Always allow SQL (run_sql)",
        "Reject",
    ]
    updates = only(events, ev.ToolUpdate)
    assert "SQL: SELECT 1" in [update.title for update in updates]
    assert "reading for call_1\n" in [update.output for update in updates]
    assert statuses(events) == ["in_progress", "completed"]
    runs = next(one for one in updates if one.status == "in_progress")
    assert events.index(asked) < events.index(runs)
    shown = next(update for update in updates if update.status == "completed")
    assert shown.content == (TextBlock(text="| query | limit |\n| --- | --- |\n| SELECT 1 | 100 |"),)
    assert shown.raw_output == {"columns": ["query", "limit"], "rows": [["SELECT 1", 100]]}
    assert [one.content for one in told(model)] == [TEXT]
    assert text_of(events) == "One."
    assert not only(events, ev.Notice)


async def test_always_holds_for_later_calls_of_the_tool() -> None:
    again = call("run_sql", {"query": "SELECT 2"}, "call_2")
    agent, _ = agent_of(SQL, again, "Two.", tools=REGISTRY.for_langchain())
    async with session_for(agent) as session:
        events = await collect(session, "go", answering(session, option_id="allow_always"))
    assert len(only(events, ev.Asked)) == 1
    assert statuses(events).count("completed") == 2


async def test_a_refused_call_is_denied_and_the_model_is_told() -> None:
    agent, model = agent_of(SQL, "Then not.", tools=REGISTRY.for_langchain())
    async with session_for(agent) as session:
        events = await collect(session, "go", answering(session, option_id="reject_once"))
    assert statuses(events)[-1] == "denied"
    assert "completed" not in statuses(events)
    assert told(model)[0].status == "error"
    assert not only(events, ev.Notice)


@pytest.mark.parametrize(("policy", "questions"), [(Policy.ask(), 1), (Policy.allow_all(), 0)])
async def test_the_policy_of_the_operator_and_the_rule_of_the_tool_ask_once_together(
    policy: Policy, questions: int
) -> None:
    agent, model = agent_of(SQL, "One.", tools=REGISTRY.for_langchain())
    async with session_for(agent, policy=policy) as session:
        events = await collect(session, "go", answering(session, option_id="allow_once"))
    asked = only(events, ev.Asked)
    assert len(asked) == questions
    assert [one.content for one in told(model)] == [TEXT]
    for one in asked:
        assert isinstance(one.question, Permission)
        assert "Always allow SQL" not in [option.name for option in one.question.options]
        assert "Allow once" in [option.name for option in one.question.options]


async def test_declared_files_are_shown() -> None:
    agent, _ = agent_of(call("write_note", {"name": "todo"}, "n1"), "Done.", tools=REGISTRY.for_langchain())
    async with session_for(agent) as session:
        events = await collect(session, "go")
    assert (ev.Location(path="todo.md"),) in [update.locations for update in only(events, ev.ToolUpdate)]
    assert statuses(events) == ["in_progress", "completed"]


@pytest.mark.parametrize(("option", "status"), [("allow_once", "completed"), ("reject_once", "denied")])
async def test_a_tool_asks_in_the_middle_of_its_work(option: str, status: str) -> None:
    asks = call("recategorize", {"merchant": "Rewe"}, "m1")
    agent, model = agent_of(asks, "Done.", tools=REGISTRY.for_langchain())
    async with session_for(agent) as session:
        events = await collect(session, "go", answering(session, option_id=option))
    (asked,) = only(events, ev.Asked)
    assert isinstance(asked.question, Permission)
    assert (asked.question.message, asked.question.call_id) == ("Change Rewe?", "m1")
    assert (TextBlock(text="14 transactions change"),) in [one.content for one in only(events, ev.ToolUpdate)]
    assert statuses(events)[-1] == status
    assert (told(model)[0].content == "changed") is (status == "completed")
    assert not only(events, ev.Notice)
