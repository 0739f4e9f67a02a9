"""The events of a run, in order and complete: scenes that ag-ui-langgraph gets wrong."""

from __future__ import annotations

import asyncio
import operator
from typing import Annotated, Any

import pytest
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessageChunk
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState

from tests.agents.langchain.graphs import agent_of, broken, calls_of, folded, terminal, weather
from tests.agents.langchain.streamed_turns import PARIS, ROME, check_settled, order_of, pieces, run
from tests.agents.langchain.untyped_langchain import StateGraph, create_agent
from tests.worlds import collect, events_of, only, text_of, world
from trunkline import content as c
from trunkline import events as ev
from trunkline.agents.langchain.agent import LangChainAgent
from trunkline.commands import Answer, Prompt
from trunkline.conversation import CallPart, TextPart, ThoughtPart
from trunkline.testing.chat import ScriptedChatModel, call, thinks


async def test_a_result_has_the_id_of_its_message_and_comes_before_the_answer_to_it() -> None:
    agent, _ = agent_of([call("weather", {"city": "Rome"}, "w1")], "Sunny.", checkpointer=InMemorySaver())
    async with world(agent) as hub:
        session = await hub.create("t")
        events = await collect(session, Prompt.of("Rome?", message_id="mine"))
        state = await agent.runnable.aget_state({"configurable": {"thread_id": "t"}})
    shown: list[str | None] = []
    for event in events:
        found = getattr(event, "message_id", None) or getattr(event, "result_message_id", None)
        if found is not None and found not in shown:
            shown.append(found)
    assert shown == [message.id for message in state.values["messages"]]


async def test_name_and_arguments_in_one_chunk_are_both_said() -> None:
    agent, _ = agent_of([pieces(("w1", "weather", PARIS, 0))], "Sunny.")
    made = calls_of(await run(agent))["w1"]
    assert (made.arguments, made.input, made.status) == (PARIS, {"city": "Paris"}, "completed")


async def test_two_calls_in_one_chunk_are_both_said_before_any_tool_runs() -> None:
    agent, _ = agent_of([pieces(("w1", "weather", PARIS, 0), ("w2", "weather", ROME, 1))], "Sunny.")
    events = await run(agent)
    began = next(at for at, event in enumerate(events) if getattr(event, "status", None) == "in_progress")
    before = calls_of([*events[:began], events[-1]])
    assert [(made.call_id, made.arguments) for made in before.values()] == [("w1", PARIS), ("w2", ROME)]
    assert {made.status for made in calls_of(events).values()} == {"completed"}


async def test_interleaved_arguments_reach_their_own_calls() -> None:
    agent, _ = agent_of(
        [
            pieces(("w1", "weather", "", 0)),
            pieces(("w2", "weather", "", 1)),
            *(
                pieces((None, None, piece, index))
                for pair in zip(PARIS.partition("Par"), ROME.partition("Ro"), strict=True)
                for index, piece in enumerate(pair)
            ),
        ],
        "Sunny.",
    )
    made = calls_of(await run(agent))
    assert [(one.arguments, one.input) for one in made.values()] == [
        (PARIS, {"city": "Paris"}),
        (ROME, {"city": "Rome"}),
    ]


@pytest.mark.parametrize("mode", ["batched", "per_call"])
async def test_a_call_that_was_reviewed_is_not_announced_again(mode: Any) -> None:
    review = HumanInTheLoopMiddleware({"weather": True}, interrupt_mode=mode)
    agent, _ = agent_of(
        [call("weather", {"city": "Paris"}, "w1")],
        "Sunny.",
        middleware=[review],
        checkpointer=InMemorySaver(),
    )
    async with world(agent) as hub:
        session = await hub.create()

        async def approve(asked: ev.Asked) -> None:
            await session.answer(
                Answer(question_id=asked.question_id, outcome="selected", option_id="approve")
            )

        events = await collect(session, "Go!", {ev.Asked: approve})
    assert len(only(events, ev.ToolCall)) == 1
    assert calls_of(events)["w1"].arguments == PARIS
    assert [event.status for event in only(events, ev.ToolUpdate) if event.status] == [
        "in_progress",
        "completed",
    ]


async def test_state_is_reduced_at_every_moment_and_holds_no_messages() -> None:
    class Notes(MessagesState):
        notes: Annotated[list[str], operator.add]

    model = ScriptedChatModel("One.", "Two.")

    def note(word: str) -> Any:
        async def node(state: Notes) -> dict[str, Any]:
            return {"messages": [await model.ainvoke(state["messages"])], "notes": [word]}

        return node

    builder = StateGraph(Notes)
    builder.add_node("one", note("a"))
    builder.add_node("two", note("b"))
    builder.add_edge(START, "one")
    builder.add_edge("one", "two")
    events = await run(LangChainAgent(builder.compile()))
    seen = [
        folded([*events[: at + 1], events[-1]]).state
        for at, event in enumerate(events)
        if isinstance(event, ev.StateReplaced | ev.StatePatched)
    ]
    assert seen[-2:] == [{"notes": ["a"]}, {"notes": ["a", "b"]}]
    assert all(state.keys() == {"notes"} for state in seen)


async def test_a_model_that_breaks_off_leaves_nothing_open() -> None:
    agent, _ = agent_of(
        ["Let me see. ", call("weather", {"city": "Rome"}, "w1"), ConnectionError("line cut")]
    )
    events = await run(agent)
    check_settled(events)
    ended = terminal(events)
    assert isinstance(ended, ev.TurnFailed)
    assert ended.message == "ConnectionError: line cut"
    assert text_of(events) == "Let me see. "
    assert calls_of(events)["w1"].status == "failed"


async def test_a_tool_that_ends_the_run_leaves_nothing_open() -> None:
    asks = [call("broken", {}, "b1"), call("weather", {"city": "Rome"}, "w1")]
    made = create_agent(ScriptedChatModel(asks), [broken, weather])
    events = await run(LangChainAgent(made, raise_tool_errors=True))
    check_settled(events)
    assert isinstance(terminal(events), ev.TurnFailed)
    assert calls_of(events)["b1"].reason == "ValueError: no fuel"


async def test_a_model_that_cannot_stream_is_heard() -> None:
    agent, _ = agent_of([call("weather", {"city": "Paris"}, "w1")], "Sunny.", streaming=False)
    events = await run(agent)
    assert text_of(events) == "Sunny."
    assert order_of(events, ev.ToolCall, ev.Text) == ["ToolCall", "Text"]


async def test_no_checkpointer_is_needed_for_a_run_nor_for_the_next() -> None:
    agent, model = agent_of("Hello.", "Again.")
    async with world(agent) as hub:
        session = await hub.create()
        first = await collect(session, "Hi")
        second = await collect(session, "Hi again")
    assert [text_of(first), text_of(second)] == ["Hello.", "Again."]
    assert [message.text for message in model.calls[1].messages] == ["Hi", "Hello.", "Hi again"]


async def test_a_big_result_is_told_once() -> None:
    size = 1_000_000

    @tool
    def dump() -> str:
        """Give a lot."""
        return "x" * size

    agent, _ = agent_of([call("dump", {}, "d1")], "Done.", tools=[dump], checkpointer=InMemorySaver())
    events = await run(agent)
    heavy = [event for event in events if len(ev.encode_event(event)) > size]
    # Once to be read, and once as it was returned.
    assert len(heavy) == 1
    assert sum(len(ev.encode_event(event)) for event in events) < 2.1 * size


async def test_runs_of_one_thread_wait_for_each_other_and_none_is_lost() -> None:
    agent, _ = agent_of("One.", "Two.", "Three.", checkpointer=InMemorySaver())
    async with world(agent) as hub:
        session = await hub.create("t")
        prompts = [Prompt.of(word, message_id=word, busy="queue") for word in ("a", "b", "c")]
        turns = await asyncio.gather(*(collect(session, prompt) for prompt in prompts))
        state = await agent.runnable.aget_state({"configurable": {"thread_id": "t"}})
    assert [text_of(events) for events in turns] == ["One.", "Two.", "Three."]
    assert [message.text for message in state.values["messages"]] == ["a", "One.", "b", "Two.", "c", "Three."]


async def test_reasoning_stays_in_what_is_replayed() -> None:
    agent, _ = agent_of([thinks("Rome, then."), "Sunny."], checkpointer=InMemorySaver())
    async with world(agent) as hub:
        session = await hub.create()
        events = await collect(session, "Go!")
        replayed = folded(list(await events_of(session)))
    for shown in (folded(events), replayed):
        parts = shown.messages[-1].parts
        assert [type(part) for part in parts] == [ThoughtPart, TextPart]
        assert isinstance(parts[0], ThoughtPart)
        assert parts[0].text == "Rome, then."


# -- what else a provider may send -----------------------------------------------------------------


async def test_a_providers_own_search_is_shown_as_a_call_with_its_input_and_its_sources() -> None:
    found = [{"type": "web_search_result", "url": "https://example.org", "title": "Example"}]
    answer = [
        AIMessageChunk(
            content=[{"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}, "index": 0}]
        ),
        AIMessageChunk(content=[{"type": "input_json_delta", "partial_json": '{"query": ', "index": 0}]),
        AIMessageChunk(content=[{"type": "input_json_delta", "partial_json": '"x"}', "index": 0}]),
        AIMessageChunk(
            content=[{"type": "web_search_tool_result", "tool_use_id": "s1", "content": found, "index": 1}]
        ),
        AIMessageChunk(content=[{"type": "text", "text": "Found.", "index": 2}]),
    ]
    agent, _ = agent_of(answer)
    events = await run(agent)
    check_settled(events)
    made = calls_of(events)["s1"]
    assert (made.name, made.kind, made.status) == ("web_search", "search", "completed")
    assert made.input == {"query": "x"}
    assert made.content == (
        c.SourceBlock(source_id="https://example.org", url="https://example.org", title="Example"),
    )
    (message,) = [one for one in folded(events).messages if one.role == "agent"]
    assert [type(part) for part in message.parts] == [CallPart, TextPart]
