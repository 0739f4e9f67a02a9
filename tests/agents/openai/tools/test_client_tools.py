"""The front end's own tools, as an AG-UI client gives and runs them."""

from typing import Any

from tests.agents.openai.sdk_agents import agent_of, call, sent
from tests.frontends.agui.client_runs import client_of, run
from tests.hubs import collect, session_for
from trunkline import events as ev
from trunkline.commands import Answer, Prompt
from trunkline.folding import fold
from trunkline.questions import ClientCall

LOOK: dict[str, Any] = {
    "name": "look_around",
    "description": "Look around on the page.",
    "parameters": {"type": "object", "properties": {"where": {"type": "string"}}, "required": ["where"]},
}


async def play(answer: dict[str, Any]) -> tuple[list[ev.Event], Any]:
    agent, model = agent_of([call("look_around", "l1", where="left")], "I see.")
    async with session_for(agent) as session:

        async def react(asked: ev.Asked) -> None:
            assert isinstance(asked.question, ClientCall)
            assert (asked.question.name, asked.question.input) == ("look_around", {"where": "left"})
            await session.answer(Answer(question_id=asked.question_id, **answer))

        prompt = Prompt.of("What is there?", tools=(LOOK, {"description": "has no name"}))
        events = await collect(session, prompt, {ev.Asked: react})
    assert [tool.name for tool in model.calls[0].tools] == ["weather", "look_around"]
    return events, model


async def test_the_front_ends_result_is_what_the_model_reads() -> None:
    events, model = await play({"outcome": "accepted", "content": {"seen": "a door"}})
    assert sent(model)[-1] == ("output l1", '{"seen": "a door"}')
    assert fold(events).calls["l1"].status == "completed"


async def test_a_front_end_that_declines_fails_the_call() -> None:
    events, model = await play({"outcome": "declined", "reason": "nobody there"})
    assert sent(model)[-1] == ("output l1", "Error: nobody there")
    assert fold(events).calls["l1"].status == "failed"


async def test_an_image_of_the_front_end_is_shown_to_the_model() -> None:
    image = {"type": "image", "source": {"type": "data", "value": "iVBORw0KGgo=", "mimeType": "image/png"}}
    _, model = await play({"outcome": "accepted", "content": [image]})
    (_, output) = sent(model)[-1]
    assert [part["type"] for part in output] == ["input_image"]


async def test_an_agui_client_runs_its_tool_in_a_run_of_its_own() -> None:
    agent, model = agent_of([call("look_around", "l1", where="left")], "I see.")
    async with client_of(agent) as (endpoint, client):
        client.say("What is there?")
        first = await run(endpoint, client, tools=[LOOK])
        assert first[-1]["outcome"] == {"type": "success", "pendingToolCallIds": ["l1"]}
        client.messages.append({"id": "r1", "role": "tool", "toolCallId": "l1", "content": "a door"})
        second = await run(endpoint, client, tools=[LOOK])
        assert client.messages[-1]["content"] == "I see."
        assert second[-1]["outcome"] == {"type": "success"}
    assert sent(model)[-1] == ("output l1", "a door")
