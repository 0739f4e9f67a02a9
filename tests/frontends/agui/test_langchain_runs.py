"""Runs of LangChain agents over AG-UI: calls, questions, state, failures and large results."""

from __future__ import annotations

import json
import operator
from typing import Annotated, Any

import pytest
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState
from tests.agents.langchain.graphs import PARIS, ROME, agent_of, broken, pieces
from tests.agents.langchain.interrupting_agents import SCENES
from tests.agents.langchain.untyped_langchain import StateGraph
from tests.frontends.agui.client_runs import client_of, comparable, held, run, talk
from tests.frontends.agui.reference_client import Client, JsonObject
from tests.frontends.agui.test_langchain import check_equal, check_valid, thread_of
from tests.hubs import hub_for

from trunkline import adapt
from trunkline.frontends.agui.endpoint import AguiEndpoint
from trunkline.protocols.agui.wire import encode
from trunkline.testing.chat import ScriptedChatModel, call, thinks


def kinds(events: list[JsonObject]) -> list[str]:
    return [event["type"] for event in events]


def only(events: list[JsonObject], kind: str) -> list[JsonObject]:
    return [event for event in events if event["type"] == kind]


def arguments(events: list[JsonObject]) -> dict[str, str]:
    """The arguments of every call as they were streamed."""
    output: dict[str, str] = {event["toolCallId"]: "" for event in only(events, "TOOL_CALL_START")}
    for event in only(events, "TOOL_CALL_ARGS"):
        output[event["toolCallId"]] += event["delta"]
    return output


async def heard(agent: Any, prompt: str = "Go!") -> list[JsonObject]:
    """What a client hears of one run."""
    async with hub_for(agent) as hub:
        events = await talk(AguiEndpoint(hub), Client(), prompt)
    check_valid(events)
    return events


async def test_a_result_has_the_id_of_its_message_and_stands_before_the_answer() -> None:
    agent, _ = agent_of([call("weather", {"city": "Rome"}, "w1")], "Sunny.", checkpointer=InMemorySaver())
    async with client_of(agent) as (endpoint, client):
        await talk(endpoint, client, "Rome?")

        assert [message["role"] for message in client.messages] == ["user", "assistant", "tool", "assistant"]
        thread = await thread_of(agent.runnable)
        assert [message["id"] for message in client.messages] == [message["id"] for message in thread]
        await check_equal(endpoint, client, agent.runnable)


async def test_name_and_arguments_in_one_chunk_are_both_sent() -> None:
    agent, _ = agent_of([pieces(("w1", "weather", PARIS, 0))], "Sunny.")

    assert arguments(await heard(agent)) == {"w1": PARIS}


async def test_two_calls_in_one_chunk_are_both_sent_before_any_result() -> None:
    agent, _ = agent_of([pieces(("w1", "weather", PARIS, 0), ("w2", "weather", ROME, 1))], "Sunny.")
    events = await heard(agent)

    assert arguments(events) == {"w1": PARIS, "w2": ROME}
    first = kinds(events).index("TOOL_CALL_RESULT")
    assert kinds(events[:first]).count("TOOL_CALL_END") == 2


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

    assert arguments(await heard(agent)) == {"w1": PARIS, "w2": ROME}


@pytest.mark.parametrize("name", ["batched", "per_call", "batched_subagents", "per_call_subagents"])
async def test_two_interrupts_are_answered_at_once(name: str) -> None:
    graph, _ = SCENES[name][0](InMemorySaver())
    async with client_of(adapt(graph)) as (endpoint, client):
        client.say("Go!")
        await run(endpoint, client)
        assert len(client.interrupts) == 2
        await run(endpoint, client, resume=client.resume(every={"approved": True}))

        assert client.terminal["outcome"] == {"type": "success"}
        await check_equal(endpoint, client, graph)


async def test_an_interrupt_is_the_outcome_and_names_its_call_and_its_answer() -> None:
    graph, _ = SCENES["batched"][0](InMemorySaver())
    async with hub_for(adapt(graph)) as hub:
        client = Client()
        client.say("Go!")
        events = await run(AguiEndpoint(hub), client)

    assert client.terminal["outcome"]["type"] == "interrupt"
    for interrupt in client.interrupts:
        assert interrupt["reason"] == "tool_call"
        assert interrupt["toolCallId"] in {event["toolCallId"] for event in only(events, "TOOL_CALL_START")}
        assert "approved" in interrupt["responseSchema"]["properties"]


@pytest.mark.parametrize("name", ["batched", "per_call"])
async def test_a_resumed_run_sends_only_results(name: str) -> None:
    graph, _ = SCENES[name][0](InMemorySaver())
    async with client_of(adapt(graph)) as (endpoint, client):
        client.say("Go!")
        await run(endpoint, client)
        events = await run(endpoint, client, resume=client.resume(every={"approved": True}))

    assert not {"TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END"} & set(kinds(events))
    for message in client.messages:
        for made in message.get("toolCalls", ()):
            json.loads(made["function"]["arguments"])


async def test_a_tool_of_the_front_end_is_the_models_to_call_and_the_front_ends_to_run() -> None:
    agent, model = agent_of(
        [call("pick", {"of": "colours"}, "p1")], "Blue it is.", checkpointer=InMemorySaver()
    )
    tools = [
        {
            "name": "pick",
            "description": "Let the person pick",
            "parameters": {"type": "object", "properties": {"of": {"type": "string"}}},
        }
    ]
    async with client_of(agent) as (endpoint, client):
        client.say("Which?")
        events = await run(endpoint, client, tools=tools)
        assert "pick" in model.calls[0].tool_names
        assert client.pending == ["p1"]
        assert only(events, "TOOL_CALL_RESULT") == []
        client.messages.append({"id": "mine", "role": "tool", "toolCallId": "p1", "content": "blue"})
        await run(endpoint, client, tools=tools)

        assert client.messages[-1]["content"] == "Blue it is."
        assert model.calls[1].messages[-1].text == "blue"
        messages, _ = await held(endpoint, "t1")
        assert comparable(client.messages) == comparable(messages)


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
    async with hub_for(adapt(builder.compile(checkpointer=InMemorySaver()))) as hub:
        events = await talk(AguiEndpoint(hub), Client(), "Go!")
    follower, states = Client(), list[Any]()
    for event in events:
        if event["type"].startswith("STATE_"):
            follower.take([event])
            states.append(json.loads(json.dumps(follower.state)))

    assert [state["notes"] for state in states if "notes" in state][-1] == ["a", "b"]
    assert all(state.get("notes", []) == ["a", "b"][: len(state.get("notes", []))] for state in states)
    assert all("messages" not in state for state in states)


@pytest.mark.parametrize("where", ["text", "thought", "call"])
async def test_a_model_that_raises_leaves_nothing_open(where: str) -> None:
    begun = {"text": "Half a ", "thought": thinks("Half a "), "call": pieces(("w1", "weather", '{"ci', 0))}
    agent, _ = agent_of([begun[where], RuntimeError("the provider hung up")])
    async with hub_for(agent) as hub:
        events = await talk(AguiEndpoint(hub), Client(), "Go!")

    assert kinds(events).count("RUN_ERROR") == 1
    assert kinds(events)[-1] == "RUN_ERROR"
    for opened, closed in (
        ("TEXT_MESSAGE_START", "TEXT_MESSAGE_END"),
        ("TOOL_CALL_START", "TOOL_CALL_END"),
        ("REASONING_START", "REASONING_END"),
        ("STEP_STARTED", "STEP_FINISHED"),
    ):
        assert kinds(events).count(opened) == kinds(events).count(closed)


async def test_a_tool_that_raises_is_a_failed_result_and_the_run_has_its_end() -> None:
    agent, _ = agent_of([call("broken", {}, "b1")], "Oh.", tools=[broken])
    async with hub_for(agent) as hub:
        client = Client()
        events = await talk(AguiEndpoint(hub), client, "Go!")

    (result,) = only(events, "TOOL_CALL_RESULT")
    assert result["metadata"]["trunkline"]["status"] == "failed"
    assert kinds(events)[-1] in ("RUN_FINISHED", "RUN_ERROR")


async def test_a_model_that_cannot_stream_is_shown_all_the_same() -> None:
    agent, _ = agent_of("All at once.", streaming=False)
    events = await heard(agent)

    assert "".join(event["delta"] for event in only(events, "TEXT_MESSAGE_CONTENT")) == "All at once."
    assert kinds(events).count("TEXT_MESSAGE_START") == 1


async def test_without_a_checkpointer_the_next_turn_remembers() -> None:
    agent, model = agent_of("One.", "Two.")
    async with client_of(agent) as (endpoint, client):
        await talk(endpoint, client, "a")
        await talk(endpoint, client, "b")

    assert client.terminal["outcome"] == {"type": "success"}
    assert [message.text for message in model.calls[1].messages] == ["a", "One.", "b"]


async def test_a_result_of_a_megabyte_is_not_copied_onto_the_wire() -> None:
    @tool
    def fetch() -> str:
        """Give a long text."""
        return "x" * 1_000_000

    agent, model = agent_of([call("fetch", {}, "f1")], "Long.", tools=[fetch])
    events = await heard(agent)

    assert sum(len(encode(event)) for event in events) < 60_000
    (result,) = only(events, "TOOL_CALL_RESULT")
    assert result["metadata"]["trunkline"]["bytes"] == 1_000_000
    assert len(model.calls[1].messages[-1].text) == 1_000_000


async def test_reasoning_is_in_the_snapshot_under_the_id_it_was_streamed_under() -> None:
    agent, _ = agent_of([thinks("Hm."), "Yes."], each_turn=True, checkpointer=InMemorySaver())
    async with client_of(agent) as (endpoint, client):
        events = await talk(endpoint, client, "Go!")
        (started,) = only(events, "REASONING_MESSAGE_START")
        again = Client(name="again")
        again.say("And?")
        *_, snapshot = only(await run(endpoint, again), "MESSAGES_SNAPSHOT")

    (output,) = [message for message in snapshot["messages"] if message["role"] == "reasoning"]
    assert (output["id"], output["content"]) == (started["messageId"], "Hm.")
