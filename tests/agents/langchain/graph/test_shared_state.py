"""The shared state of a graph: every change is told, also one that is made in place or only in its type."""

from typing import Any, TypedDict

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState
from tests.agents.langchain.graphs import converse, graph_of, run_turn
from tests.agents.langchain.untyped_langchain import StateGraph
from tests.hubs import collect, events_of, only, session_for

from trunkline import events as ev
from trunkline.agents.langchain.agent import LangChainAgent
from trunkline.agents.langchain.graph.shared_state import StateEvents
from trunkline.commands import Prompt
from trunkline.folding import fold
from trunkline.json_patch import apply_patch


class Box(MessagesState):
    """A state with a field of its own."""

    box: dict[str, Any]


def graph(work: Any, checkpointer: Any = None) -> Any:
    return graph_of(work, Box, checkpointer=checkpointer)


def count_in_place(state: Box) -> Any:
    state["box"]["n"] += 1
    return {"box": state["box"]}


@pytest.mark.parametrize("durable", [False, True])
async def test_a_node_that_changes_the_clients_state_in_place_tells_the_change(durable: bool) -> None:
    agent = LangChainAgent(graph(count_in_place, InMemorySaver() if durable else None))
    async with session_for(agent) as session:
        state: dict[str, Any] = {"box": {"n": 0}}
        for number in (1, 2, 3):
            sent = {"box": dict(state["box"])}
            events = await collect(session, Prompt.of("go", state=sent))
            assert sent == {"box": {"n": number - 1}}, "what the client sent stays as it was sent"
            folded = fold(await events_of(session)).state
            assert folded == {"box": {"n": number}}
            assert only(events, ev.StatePatched)
            state = folded


@pytest.mark.parametrize(("before", "after"), [(1, True), (0, False), (1, 1.0), (True, 1)])
async def test_a_value_that_changes_only_its_type_is_told(before: Any, after: Any) -> None:
    def work(state: Box) -> Any:
        return {"box": {"n": after}}

    events = await run_turn(LangChainAgent(graph(work)), Prompt.of("go", state={"box": {"n": before}}))
    (patched,) = only(events, ev.StatePatched)
    assert [(type(step["value"]), step["value"]) for step in patched.patch] == [(type(after), after)]


async def test_a_number_that_a_javascript_client_sends_back_is_no_change() -> None:
    def work(state: Box) -> Any:
        return {"box": {"n": 1.0}}

    _, events = await converse(
        LangChainAgent(graph(work, InMemorySaver())),
        Prompt.of("go", state={"box": {"n": 0.5}}),
        Prompt.of("go", state={"box": {"n": 1}}),
    )
    assert not only(events, ev.StateReplaced) + only(events, ev.StatePatched)


async def test_what_only_some_nodes_share_is_not_shown() -> None:
    class Notes(TypedDict):
        notes: str

    def write(state: Box) -> Notes:
        return {"notes": "a secret"}

    def read(state: Notes) -> Any:
        return {"box": {"n": len(state["notes"])}}

    builder = StateGraph(Box)
    builder.add_node("write", write)
    builder.add_node("read", read)
    builder.add_edge(START, "write")
    builder.add_edge("write", "read")
    events = await run_turn(LangChainAgent(builder.compile()))
    assert [event.state for event in only(events, ev.StateReplaced)] == [{"box": {"n": 8}}]
    assert "secret" not in repr(events)


@pytest.mark.parametrize(
    ("when", "events"),
    [
        ("initial", [ev.StateReplaced(state={"n": 1}), ev.StatePatched, None]),
        ("all", [ev.StateReplaced(state={"n": 1}), ev.StateReplaced(state={"n": 2}), None]),
        ("final", [None, None, ev.StateReplaced(state={"n": 2})]),
        ("none", [None, None, None]),
    ],
)
def test_the_policy_says_which_event_shows_a_state(when: str, events: list[Any]) -> None:
    policy = StateEvents(when, fields={"n"})
    shown: Any = None
    for number, (values, last) in enumerate((({"n": 1}, False), ({"n": 2}, False), ({"n": 2}, True))):
        event = policy.event({**values, "secret": number, "messages": []}, shown, last=last)
        assert event == events[number] or type(event) is events[number]
        if isinstance(event, ev.StateReplaced):
            shown = event.state
        elif event is not None:
            shown = {"n": 2}


def test_what_a_state_mapper_gives_is_json_or_not_shown() -> None:
    given: list[Any] = [{1: "a"}, {1: object()}, {1: "b", "t": (1,)}]
    policy = StateEvents("initial", lambda _: given.pop(0))
    assert policy.event({"n": 1}, None) == ev.StateReplaced(state={"1": "a"})
    assert policy.event({"n": 1}, {"1": "a"}) is None
    patched = policy.event({"n": 1}, {"1": "a"})
    assert isinstance(patched, ev.StatePatched)
    assert apply_patch({"1": "a"}, patched.patch) == {"1": "b", "t": [1]}


def test_a_state_mapper_that_fails_is_logged_once_and_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    def mapper(state: dict[str, Any]) -> Any:
        return {"half": state["n"] / state["by"]}

    policy = StateEvents("initial", mapper)
    assert [policy.event({"n": 1, "by": by}, None) for by in (0, 0, 2)] == [
        None,
        None,
        ev.StateReplaced(state={"half": 0.5}),
    ]
    assert [record.message for record in caplog.records] == [
        "the state mapper failed, so this state is not shown"
    ]
