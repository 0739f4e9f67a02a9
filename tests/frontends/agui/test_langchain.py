"""LangChain agents as AG-UI: what a client folds is the thread itself, message by message."""

import json
import operator
from typing import Annotated, Any

import pytest
from ag_ui_validate.pytest_plugin import validate_agui
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState
from tests.agents.langchain.graphs import agent_of, broken, weather
from tests.agents.langchain.interrupting_agents import SCENES
from tests.agents.langchain.tools.test_client_tools import routed
from tests.agents.langchain.untyped_langchain import StateGraph
from tests.frontends.agui.client_runs import client_of, comparable, held, run, talk

from trunkline import adapt
from trunkline.conformance.agui.reference_client import JsonObject, ReferenceClient
from trunkline.frontends.agui.endpoint import AguiEndpoint
from trunkline.frontends.agui.options import AguiOptions
from trunkline.testing.chat import ScriptedChatModel, call, chunks, thinks

TWO = [call("weather", {"city": "Paris"}, "w1"), call("weather", {"city": "Rome"}, "w2")]


async def thread_of(graph: Any, thread_id: str = "t1") -> list[JsonObject]:
    """The messages of a LangGraph thread, as AG-UI spells them."""
    state = await graph.aget_state({"configurable": {"thread_id": thread_id}})
    return [_wire_message(message) for message in state.values["messages"]]


def _wire_message(message: Any) -> JsonObject:
    if isinstance(message, HumanMessage):
        return {"id": message.id, "role": "user", "content": message.text}
    if isinstance(message, ToolMessage):
        return {"id": message.id, "role": "tool", "toolCallId": message.tool_call_id, "content": message.text}
    assert isinstance(message, AIMessage)
    calls = [(made["id"], made["name"], made["args"]) for made in message.tool_calls]
    return {"id": message.id, "role": "assistant", "content": message.text, "calls": calls}


def shown(client: ReferenceClient) -> list[JsonObject]:
    """The messages of a client in the same form; a thread has reasoning inside of its messages."""
    output: list[JsonObject] = []
    for message in comparable(client.messages):
        if message["role"] == "reasoning" or "subagentRunId" in message:
            continue
        fields = {key: message[key] for key in ("id", "role", "toolCallId") if key in message}
        if "toolCallId" in fields:
            fields["toolCallId"] = native(fields["toolCallId"])
        fields["content"] = message.get("content", "")
        if message["role"] == "assistant":
            fields["calls"] = [
                (
                    native(made["id"]),
                    made["function"]["name"],
                    json.loads(made["function"]["arguments"] or "{}"),
                )
                for made in message.get("toolCalls", ())
            ]
        output.append(fields)
    return output


def native(call_id: str) -> str:
    """The id that the model gave to a call; where it used one again, the session tells them apart."""
    return call_id.partition("~")[0]


async def check_equal(endpoint: AguiEndpoint, client: ReferenceClient, graph: Any) -> None:
    """The client, the session and the thread hold the same messages in the same order, under the same ids."""
    messages, state = await held(endpoint, client.thread_id)
    assert comparable(client.messages) == comparable(messages)
    assert client.state == ({} if state is None else state)
    thread = comparable(await thread_of(graph, client.thread_id))
    for message, one in zip(shown(client), thread, strict=True):
        assert message == one


def check_valid(events: list[JsonObject]) -> None:
    found = validate_agui(list(events))
    assert (found.summary.errors, found.summary.warnings) == (0, 0), found.diagnostics


@pytest.mark.parametrize(
    ("answers", "options"),
    [
        (["Hello there."], {}),
        ([["Let me ", "see. ", *TWO], "Sunny in both."], {}),
        ([chunks(*TWO, size=3), "Sunny."], {}),
        ([[thinks("Where?"), "I look. ", *TWO], [thinks("So."), "Sunny."]], {}),
        ([TWO, [call("weather", {"city": "Oslo"}, "w3")], "Sunny."], {}),
        ([[call("weather", "{}", "w1")], "Where, please?"], {}),
        ([["a", call("weather", {"city": "Rome"}, "w1")], "b"], {"streaming": False}),
        ([[call("broken", {}, "b1"), *TWO], "Oh."], {"tools": (weather, broken)}),
    ],
    ids=["text", "tools", "pieces", "thoughts", "twice", "bad arguments", "whole", "broken"],
)
async def test_what_a_client_folds_is_the_thread(answers: list[Any], options: dict[str, Any]) -> None:
    agent, _ = agent_of(*answers, each_turn=True, checkpointer=InMemorySaver(), **options)
    async with client_of(agent) as (endpoint, client):
        for prompt in ("Go!", "Again!"):
            client.say(prompt, prompt)
            check_valid(await run(endpoint, client))
            await check_equal(endpoint, client, agent.runnable)


@pytest.mark.parametrize(("steps", "names"), [("model", "model model"), ("node", "model tools model")])
async def test_a_message_ends_before_its_tools_run_and_steps_are_shown(steps: Any, names: str) -> None:
    agent, _ = agent_of([thinks("Where?"), "I look. ", TWO[0]], "Sunny.")
    async with client_of(agent, AguiOptions(emit_steps=steps)) as (endpoint, client):
        client.say("Go!")
        events = await run(endpoint, client)
    kinds = [event["type"] for event in events]
    assert kinds.index("TEXT_MESSAGE_END") < kinds.index("TOOL_CALL_RESULT")
    assert [event["stepName"] for event in events if event["type"] == "STEP_STARTED"] == names.split()
    assert [event["stepName"] for event in events if event["type"] == "STEP_FINISHED"] == names.split()
    check_valid(events)


@pytest.mark.parametrize("name", sorted(SCENES))
@pytest.mark.parametrize("answer", ["yes", "no"])
async def test_what_a_client_folds_is_the_thread_also_when_it_was_asked(name: str, answer: str) -> None:
    made, count = SCENES[name]
    graph, _ = made(InMemorySaver())
    async with client_of(adapt(graph)) as (endpoint, client):
        client.say("Go!", "u1")
        check_valid(await run(endpoint, client))
        assert len(client.interrupts) == count
        while client.interrupts:
            payload = payload_for(client.interrupts[0]) if answer == "yes" else "cancelled"
            check_valid(await run(endpoint, client, resume=client.resume(every=payload)))

        assert client.terminal["outcome"] == {"type": "success"}
        await check_equal(endpoint, client, graph)


def payload_for(interrupt: JsonObject) -> Any:
    """Say yes in the form that an interrupt asks for."""
    if interrupt["reason"] == "tool_call":
        return {"approved": True}
    schema = interrupt.get("responseSchema", {"enum": ["blue"]})
    if "enum" in schema:
        return schema["enum"][0]
    fields = schema["properties"]
    samples = {"city": "Rome", "nights": 2}
    return {
        name: samples.get(name) or (field.get("enum") or [field.get("default", "blue")])[0]
        for name, field in fields.items()
    }


@pytest.mark.parametrize("name", ["batched", "per_call"])
async def test_a_refusal_with_a_reason_reads_the_same_for_the_person_and_the_model(name: str) -> None:
    graph, _ = SCENES[name][0](InMemorySaver())
    async with client_of(adapt(graph)) as (endpoint, client):
        again = ReferenceClient()
        client.say("Go!", "u1")
        await run(endpoint, client)
        await run(endpoint, client, resume=client.resume(every={"approved": False, "reason": "no way"}))
        await check_equal(endpoint, client, graph)
        again.say("And now?", "u2")
        await run(endpoint, again)

    results = [message for message in client.messages if message["role"] == "tool"]
    refused = [message for message in results if message.get("metadata")]
    assert len(refused) == 2
    for message in refused:
        assert message["content"].endswith("no way")
        assert message["content"] != "no way", "the model is told more than the reason"
        assert message["metadata"]["trunkline"] == {"status": "denied", "error": "no way"}
    reloaded = [message for message in comparable(again.messages) if message["role"] == "tool"]
    assert reloaded[: len(results)] == comparable(results)


@pytest.mark.parametrize("name", ["batched", "per_call"])
async def test_edited_arguments_are_those_of_the_call_that_ran(name: str) -> None:
    graph, _ = SCENES[name][0](InMemorySaver())
    async with client_of(adapt(graph)) as (endpoint, client):
        client.say("Go!", "u1")
        await run(endpoint, client)
        edited = {"approved": True, "editedArgs": {"path": "other"}}
        await run(endpoint, client, resume=client.resume(every=edited))
        messages, _ = await held(endpoint, "t1")

    assert comparable(client.messages) == comparable(messages)
    (called,) = [message for message in shown(client) if message.get("calls")]
    assert [args for _, name, args in called["calls"] if name == "delete"] == [{"path": "other"}] * 2
    results = [message["content"] for message in client.messages if message["role"] == "tool"]
    assert sum("other" in result for result in results) == 2


async def test_the_state_of_a_graph_is_the_shared_state() -> None:
    class Notes(MessagesState):
        notes: Annotated[list[str], operator.add]

    model = ScriptedChatModel("Noted.", each_turn=True)

    async def note(state: Notes) -> dict[str, Any]:
        output = await model.ainvoke(state["messages"])
        return {"messages": [output], "notes": [str(state["messages"][-1].content)]}

    builder = StateGraph(Notes)
    builder.add_node("note", note)
    builder.add_edge(START, "note")
    graph = builder.compile(checkpointer=InMemorySaver())
    async with client_of(adapt(graph)) as (endpoint, client):
        for prompt in ("milk", "bread"):
            check_valid(await talk(endpoint, client, prompt))

        assert client.state == {"notes": ["milk", "bread"]}
        await check_equal(endpoint, client, graph)


async def test_a_message_that_is_asked_again_goes_back_in_the_thread() -> None:
    agent, model = agent_of("One.", "Two.", "Other.", checkpointer=InMemorySaver())
    async with client_of(agent) as (endpoint, client):
        await talk(endpoint, client, "a")
        await talk(endpoint, client, "b")
        client.messages.pop()
        await run(endpoint, client)

        await check_equal(endpoint, client, agent.runnable)
        assert [message.content for message in model.calls[-1].messages] == ["a", "One.", "b"]
        assert client.messages[-1]["content"] == "Other."


async def test_a_thread_that_was_talked_to_elsewhere_is_shown() -> None:
    agent, _ = agent_of("Hello.", "Again.", each_turn=False, checkpointer=InMemorySaver())
    asked = {"messages": [HumanMessage("hi", id="h1")]}
    await agent.runnable.ainvoke(asked, {"configurable": {"thread_id": "t1"}})
    async with client_of(agent) as (endpoint, client):
        await talk(endpoint, client, "and now?")

        await check_equal(endpoint, client, agent.runnable)
        assert [message["content"] for message in client.messages] == ["hi", "Hello.", "and now?", "Again."]


async def test_a_page_runs_its_tool_that_a_graph_routes_to_the_end_and_gets_an_answer() -> None:
    model = ScriptedChatModel(call("set_colour", {"colour": "red"}, "k1"), "It is red.")
    graph = routed(model, InMemorySaver())
    async with client_of(adapt(graph)) as (endpoint, client):
        client.say("paint")
        tools = [{"name": "set_colour", "description": "Paint."}]
        first = await run(endpoint, client, tools=tools)
        assert first[-1]["outcome"] == {"type": "success", "pendingToolCallIds": ["k1"]}
        assert "TOOL_CALL_RESULT" not in [event["type"] for event in first]
        client.messages.append({"id": "r1", "role": "tool", "toolCallId": "k1", "content": "painted"})
        second = await run(endpoint, client, tools=tools)
        assert client.messages[-1]["content"] == "It is red."
        assert second[-1]["outcome"] == {"type": "success"}
