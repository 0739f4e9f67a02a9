"""Graphs written for ag-ui-langgraph, unchanged: what their pages need is on the wire."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from tests.agents.langchain.dojo_graphs import (
    DOCUMENT,
    FLIGHTS,
    GRAPHS,
    HAIKU,
    HOTELS,
    RECIPE,
    SCRIPTS,
    STEPS,
)
from tests.frontends.agui.client_runs import client_of, run
from trunkline import adapt
from trunkline.conformance.agui.reference_client import JsonObject, ReferenceClient
from trunkline.errors import InvalidCommand
from trunkline.frontends.agui.endpoint import AguiEndpoint
from trunkline.frontends.agui.options import AguiOptions
from trunkline.testing.chat import ScriptedChatModel

HAIKU_TOOL = {"name": "generate_haiku", "description": "Show it.", "parameters": {"type": "object"}}
CONFIRM_TOOL = {"name": "confirm_changes", "description": ""}
CHOSEN = "The user selected the following steps: Dig"
DURABLE = pytest.mark.parametrize("durable", [True, False])


class Page:
    """A client of one graph."""

    def __init__(self, endpoint: AguiEndpoint, client: ReferenceClient, model: ScriptedChatModel) -> None:
        self.endpoint = endpoint
        self.client = client
        self.model = model

    async def run(self, **fields: Any) -> list[JsonObject]:
        return await run(self.endpoint, self.client, **fields)

    async def say(self, words: str = "go", **fields: Any) -> list[JsonObject]:
        self.client.say(words)
        return await self.run(**fields)

    async def answer(self, payload: Any) -> list[JsonObject]:
        return await self.run(resume=self.client.resume(every=payload))

    @property
    def text(self) -> Any:
        """What the agent said last."""
        return self.client.messages[-1].get("content")


@asynccontextmanager
async def opened(
    name: str, *, durable: bool = True, options: AguiOptions | None = None, script: Any = None
) -> AsyncGenerator[Page]:
    model = ScriptedChatModel(*(script or SCRIPTS[name]), chunk_size=12)
    graph = GRAPHS[name](model, InMemorySaver() if durable else None)
    async with client_of(adapt(graph), options) as (endpoint, client):
        yield Page(endpoint, client, model)


def of(events: list[JsonObject], *kinds: str) -> list[JsonObject]:
    return [event for event in events if event["type"] in kinds]


def customs(events: list[JsonObject], name: str) -> list[Any]:
    return [event["value"] for event in of(events, "CUSTOM") if event["name"] == name]


# -- the eight features --------------------------------------------------------------------------------


async def test_the_context_of_the_page_is_in_the_prompt_and_its_tools_are_offered_once() -> None:
    async with opened("agentic_chat") as page:
        await page.say(context=[{"description": "The user", "value": "Ada"}], tools=[HAIKU_TOOL])
    assert page.model.calls[0].messages[0].content == "Help.\nThe user: Ada"
    assert page.model.calls[0].tool_names == ["generate_haiku"]
    assert page.client.state == {}, "what the page sent is not its state"


async def test_the_result_of_a_tool_reaches_the_page() -> None:
    async with opened("backend_tool_rendering") as page:
        events = await page.say()
    (result,) = of(events, "TOOL_CALL_RESULT")
    assert json.loads(result["content"])["temperature"] == 20
    assert page.text == "It is sunny."


@DURABLE
async def test_an_interrupt_reaches_the_page_whole_and_takes_a_text(durable: bool) -> None:
    async with opened("human_in_the_loop", durable=durable) as page:
        events = await page.say()
        (asked,) = page.client.interrupts
        raw = asked["metadata"]["langgraph"]["raw"]
        assert [step["status"] for step in raw["steps"]] == ["enabled"] * 3
        assert "responseSchema" not in asked, "the graph does not say what it takes"
        assert [json.loads(text) for text in customs(events, "on_interrupt")] == [raw]
        await page.answer(CHOSEN)
    assert page.model.calls[1].messages[-1].content == CHOSEN
    assert page.text == "Done, with a smile."
    assert page.client.state["steps"] == raw["steps"]


async def test_state_that_a_node_emits_reaches_the_page_before_the_node_ends() -> None:
    async with opened("agentic_generative_ui") as page:
        events = await page.say()
    kinds = [event["type"] for event in of(events, "STATE_SNAPSHOT", "STATE_DELTA", "TOOL_CALL_RESULT")]
    assert kinds == ["STATE_SNAPSHOT"] * 2 + ["STATE_DELTA"] * 2 + ["TOOL_CALL_RESULT"]
    assert [step["status"] for step in page.client.state["steps"]] == ["completed"] * 3


@DURABLE
async def test_a_call_that_the_graph_leaves_to_the_page_waits_for_it(durable: bool) -> None:
    async with opened("tool_based_generative_ui", durable=durable) as page:
        await page.say(tools=[HAIKU_TOOL])
        (call_id,) = page.client.pending
        assert page.model.calls[0].tool_names == ["generate_haiku"]
        arguments = page.client.messages[-1]["toolCalls"][0]["function"]["arguments"]
        assert json.loads(arguments) == HAIKU
        page.client.messages.append(
            {"id": "r1", "role": "tool", "toolCallId": call_id, "content": "Haiku generated!"}
        )
        await page.run(tools=[HAIKU_TOOL])
    assert page.text == "There it is."


@DURABLE
async def test_page_and_agent_change_one_state(durable: bool) -> None:
    script = (*SCRIPTS["shared_state"], "Fine.")
    async with opened("shared_state", durable=durable, script=script) as page:
        page.client.state = {"recipe": {"title": "", "ingredients": [], "instructions": ["Boil"]}}
        await page.say()
        assert page.client.state == {"recipe": {**RECIPE, "instructions": ["Boil"]}}
        page.client.state["recipe"]["title"] = "Stew"
        await page.say("Anything else?")
    assert '"title": "Stew"' in str(page.model.calls[-1].messages[0].content)
    assert page.client.state["recipe"]["title"] == "Stew"


async def test_a_state_that_the_graph_begins_with_is_shown_at_once() -> None:
    async with opened("shared_state") as page:
        events = await page.say()
    first = of(events, "STATE_SNAPSHOT", "TOOL_CALL_START")[0]
    assert first["snapshot"]["recipe"]["instructions"] == ["First step"]


async def test_the_page_is_told_which_argument_is_the_document_and_then_confirms_it() -> None:
    async with opened("predictive_state_updates") as page:
        events = await page.say(tools=[CONFIRM_TOOL])
        kinds = [event["type"] for event in of(events, "CUSTOM", "TOOL_CALL_START", "STATE_SNAPSHOT")]
        assert kinds == ["CUSTOM", "TOOL_CALL_START", "TOOL_CALL_START", "STATE_SNAPSHOT"]
        assert customs(events, "PredictState") == [
            [{"state_key": "document", "tool": "write_document", "tool_argument": "document"}]
        ]
        assert page.client.state == {"document": DOCUMENT}
        (call_id,) = page.client.pending
        page.client.messages.append(
            {"id": "r1", "role": "tool", "toolCallId": call_id, "content": '{"accepted":true}'}
        )
        await page.run(tools=[CONFIRM_TOOL])
    assert page.text == "Glad you like it."


@DURABLE
@pytest.mark.parametrize("as_text", [True, False])
async def test_the_option_that_was_chosen_in_a_subgraph_comes_back_whole(
    as_text: bool, durable: bool
) -> None:
    async with opened("subgraphs", durable=durable) as page:
        page.client.state = {"itinerary": {}, "flights": [], "hotels": [], "experiences": []}
        await page.say("Plan a trip")
        for options, at in ((FLIGHTS, 1), (HOTELS, 0)):
            (asked,) = page.client.interrupts
            raw = asked["metadata"]["langgraph"]["raw"]
            assert raw["options"] == [asdict(option) for option in options]
            assert asked["responseSchema"] == {"enum": raw["options"]}
            chosen = raw["options"][at]
            await page.answer(json.dumps(chosen) if as_text else chosen)
    assert page.client.state["itinerary"] == {"flight": asdict(FLIGHTS[1]), "hotel": asdict(HOTELS[0])}
    assert page.client.state["experiences"] == [{"name": "Pier 39", "type": "activity"}]
    assert page.text == "Have a good trip!"


# -- interrupts as older pages know them ---------------------------------------------------------------


def command(payload: Any, event: Any = None) -> JsonObject:
    beside = {} if event is None else {"interruptEvent": event}
    return {"command": {"resume": payload, **beside}}


async def test_an_older_page_gets_an_event_and_answers_with_a_command() -> None:
    async with opened("subgraphs", options=AguiOptions(interrupts="event")) as page:
        page.client.state = {"itinerary": {}}
        events = await page.say()
        for options in (FLIGHTS, HOTELS):
            (text,) = customs(events, "on_interrupt")
            assert "outcome" not in page.client.terminal
            chosen = json.dumps(asdict(options[0]))
            # CopilotKit answers under the id of the run that asked.
            events = await page.run(forwardedProps=command(chosen, text), runId="same")
    assert page.client.state["itinerary"] == {"flight": asdict(FLIGHTS[0]), "hotel": asdict(HOTELS[0])}


async def test_an_older_page_that_says_something_else_is_asked_again() -> None:
    async with opened("human_in_the_loop", options=AguiOptions(interrupts="event")) as page:
        asked = customs(await page.say(), "on_interrupt")
        again = customs(await page.say("Something else"), "on_interrupt")
        assert again == asked
        assert "Something else" not in [one.get("content") for one in page.client.messages]
        await page.run(forwardedProps=command(CHOSEN, asked[0]))
    assert page.text == "Done, with a smile."


async def test_a_command_for_a_question_that_is_not_open_any_more_comes_too_late() -> None:
    async with opened("subgraphs") as page:
        page.client.state = {"itinerary": {}}
        (text,) = customs(await page.say(), "on_interrupt")
        await page.answer(asdict(FLIGHTS[0]))
        waiting = page.client.interrupts
        await page.run(forwardedProps=command(asdict(FLIGHTS[1]), text))
        assert page.client.terminal["outcome"]["interrupts"] == waiting, "the hotel is still asked for"
        await page.answer(asdict(HOTELS[0]))
    assert page.client.state["itinerary"]["flight"] == asdict(FLIGHTS[0])


async def test_a_command_in_a_thread_that_asked_nothing_is_refused() -> None:
    async with opened("agentic_chat") as page:
        with pytest.raises(InvalidCommand, match="asked anything"):
            await page.say(forwardedProps=command("yes"))


async def test_an_answer_that_is_refused_leaves_the_question_open() -> None:
    async with opened("human_in_the_loop") as page:
        await page.say()
        entry = {**page.client.resume(every="x")[0], "interruptId": "nobody"}
        with pytest.raises(InvalidCommand, match="no run of this thread asked nobody"):
            await page.run(resume=[entry])
        await page.answer(CHOSEN)
    assert page.text == "Done, with a smile."


async def test_without_events_the_outcome_alone_asks() -> None:
    async with opened("human_in_the_loop", options=AguiOptions(interrupts="outcome")) as page:
        events = await page.say()
    assert customs(events, "on_interrupt") == []
    assert [step["description"] for step in STEPS] == [
        step["description"] for step in page.client.interrupts[0]["metadata"]["langgraph"]["raw"]["steps"]
    ]
