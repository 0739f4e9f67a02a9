"""Custom events that stand for something else: state, a message or a call that a node emits itself."""

from typing import Any

import pytest
from langchain_core.callbacks import adispatch_custom_event, dispatch_custom_event
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState
from tests.agents.langchain.graphs import check_settled, folded, run_turn
from tests.agents.langchain.untyped_langchain import StateGraph
from tests.hubs import collect, only, session_for

from trunkline import adapt
from trunkline import events as ev
from trunkline.commands import Answer, Prompt
from trunkline.questions import ClientCall

TOOL = {"name": "paint", "description": "Paint it.", "parameters": {"type": "object"}}
PREFIXES = pytest.mark.parametrize("prefix", ["", "copilotkit_"])
CALL = {"id": "c1", "name": "paint", "args": {"colour": "red"}}


class Work(MessagesState):
    """Progress, and a list that stays as it is."""

    progress: int
    notes: list[str]


def emitting(*emitted: tuple[str, Any], returns: Any = None, saver: Any = None) -> Any:
    async def work(state: Work) -> Any:
        for name, data in emitted:
            await adispatch_custom_event(name, data)
        return {} if returns is None else returns

    builder = StateGraph(Work)
    builder.add_node("work", work)
    builder.add_edge(START, "work")
    return adapt(builder.compile(checkpointer=saver))


def states(events: list[Any]) -> list[Any]:
    """The states that a client has after each change."""
    ends = [at for at, event in enumerate(events) if isinstance(event, ev.StateReplaced | ev.StatePatched)]
    return [folded(events[: at + 1]).state for at in ends]


@pytest.mark.parametrize(
    "name",
    [
        "manually_emit_state",
        "manually_emit_intermediate_state",
        "copilotkit_manually_emit_intermediate_state",
    ],
)
async def test_emitted_state_is_shown_at_once_and_what_it_leaves_out_stays(name: str) -> None:
    agent = emitting((name, {"progress": 50}), (name, {"progress": 90}), returns={"progress": 100})
    events = await run_turn(agent, Prompt.of("go", state={"progress": 0, "notes": ["a"]}))
    assert [state["progress"] for state in states(events)] == [0, 50, 90, 100]
    assert {tuple(state["notes"]) for state in states(events)} == {("a",)}
    assert only(events, ev.Custom) == []


async def test_a_function_that_is_not_async_emits_too() -> None:
    def work(state: Work, config: RunnableConfig) -> Any:
        dispatch_custom_event("manually_emit_state", {"progress": 50}, config=config)
        return {}

    builder = StateGraph(Work)
    builder.add_node("work", work)
    builder.add_edge(START, "work")
    assert states(await run_turn(adapt(builder.compile()))) == [{"progress": 50}]


@PREFIXES
async def test_an_emitted_message_is_a_message_and_comes_once(prefix: str) -> None:
    emitted = (f"{prefix}manually_emit_message", {"message": "Half done.", "message_id": "m1"})
    agent = emitting(emitted, returns={"messages": [AIMessage("Half done.", id="m1")]})
    events = await run_turn(agent)
    assert [(text.message_id, text.delta) for text in only(events, ev.Text)] == [("m1", "Half done.")]


@PREFIXES
@pytest.mark.parametrize("args", [CALL["args"], '{"colour": "red"}'])
async def test_an_emitted_call_that_nobody_runs_is_shown_complete(prefix: str, args: Any) -> None:
    events = await run_turn(emitting((f"{prefix}manually_emit_tool_call", {**CALL, "args": args})))
    check_settled(events)
    made = folded(events).calls["c1"]
    assert (made.name, made.input, made.status) == ("paint", {"colour": "red"}, "completed")


@pytest.mark.parametrize("durable", [True, False])
async def test_an_emitted_call_of_a_tool_of_the_front_end_is_run_there(durable: bool) -> None:
    agent = emitting(("manually_emit_tool_call", CALL), saver=InMemorySaver() if durable else None)
    async with session_for(agent) as session:

        async def answer(asked: ev.Asked) -> None:
            assert isinstance(asked.question, ClientCall)
            await session.answer(Answer(question_id=asked.question_id, outcome="accepted", content="red"))

        events = await collect(session, Prompt.of("go", tools=(TOOL,)), {ev.Asked: answer})
    check_settled(events)
    assert folded(events).calls["c1"].raw_output == "red"


@pytest.mark.parametrize(
    ("name", "data", "shown"),
    [
        ("exit", None, ("exit", None)),
        ("copilotkit_exit", None, ("Exit", True)),
        ("manually_emit_message", "no fields", ("manually_emit_message", "no fields")),
        ("manually_emit_tool_call", {"id": "c1"}, ("manually_emit_tool_call", {"id": "c1"})),
        ("manually_emit_state", [1], ("manually_emit_state", [1])),
        ("progress", {"done": 1}, ("progress", {"done": 1})),
    ],
)
async def test_any_other_event_goes_to_the_front_end_as_it_is(name: str, data: Any, shown: Any) -> None:
    events = await run_turn(emitting((name, data)))
    assert [(event.name, event.value) for event in only(events, ev.Custom)] == [shown]
