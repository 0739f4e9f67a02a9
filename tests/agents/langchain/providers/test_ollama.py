"""Ollama by LangChain's own class: lines of JSON, whose calls come whole and whose errors come late."""

import pytest

from tests.agents.langchain.graphs import calls_of, converse, failure_of, stop_of, weather
from tests.agents.langchain.providers.conftest import Options
from tests.agents.langchain.providers.model_server import ModelServer, answer
from tests.agents.langchain.providers.wires.ollama import Ollama, call, line, says
from tests.hubs import only, text_of
from trunkline import events as ev

pytestmark = pytest.mark.asyncio(loop_scope="module")


WIRE = Ollama()


async def test_thoughts_are_said_once(server: ModelServer, settings: Options, memory: Options) -> None:
    server.play(
        says(line(thinking="Hm. "), line(thinking="So."), line(content="Hi")), says(line(content="Again"))
    )
    events, _ = await converse(server.agent(WIRE, settings=settings, **memory), "Hello", "Again?")
    assert [event.delta for event in only(events, ev.Thought)] == ["Hm. ", "So."]
    assert text_of(events) == "Hi"
    (output,) = [one for one in server.asked[1]["messages"] if one["role"] == "assistant"]
    assert (output["content"].strip(), output.get("thinking")) == ("Hi", "Hm. So." if memory else None)


async def test_thoughts_between_tags_stay_the_text_that_they_are(
    server: ModelServer, settings: Options
) -> None:
    server.play(says(*(line(content=piece) for piece in ("<think>", "Hm.", "</think>", "Hi"))))
    (events,) = await converse(server.agent(WIRE, settings={**settings, "reasoning": None}), "Hello")
    assert text_of(events) == "<think>Hm.</think>Hi"
    assert "think" not in server.asked[0]


async def test_calls_in_several_lines_are_told_apart_and_answered_in_their_order(
    server: ModelServer, settings: Options, memory: Options
) -> None:
    asking = [line(content="I ask."), line(tool_calls=[call("Paris")])]
    server.play(
        says(*asking, line(tool_calls=[call("Rome"), call("Oslo")])),
        says(line(content="Sunny.")),
        says(line(content="Yes.")),
    )
    agent = server.agent(WIRE, weather, settings=settings, **memory)
    events, _ = await converse(agent, "How is the weather?", "Really?")
    cities = ["Paris", "Rome", "Oslo"]
    output = [f"It is sunny in {city}." for city in cities]
    made = [(one.input["city"], one.status, one.raw_output) for one in calls_of(events).values()]
    assert made == [(city, "completed", words) for city, words in zip(cities, output, strict=True)]
    for asked in server.asked[1:]:
        sent = [one for one in asked["messages"] if one.get("tool_calls")]
        assert [one["function"]["arguments"]["city"] for one in sent[0]["tool_calls"]] == cities
        assert [one["content"] for one in asked["messages"] if one["role"] == "tool"] == output


async def test_an_error_in_the_middle_ends_the_turn_in_its_own_words(
    server: ModelServer, memory: Options
) -> None:
    broken = says(line(content="Half"), {"error": "the model runner has stopped"}, reason=None)
    server.play(broken, says(line(content="Better.")))
    events, after = await converse(server.agent(WIRE, **memory), "Hello", "Again!")
    code, words = failure_of(events)
    assert (code, "the model runner has stopped" in words) == ("model_failed", True)
    assert [text_of(events), text_of(after)] == ["Half", "Better."]


async def test_a_model_that_is_not_there_is_named(server: ModelServer) -> None:
    server.play(answer(404, {"error": "model 'qwen3' not found"}))
    (events,) = await converse(server.agent(WIRE), "Hello")
    code, words = failure_of(events)
    assert (code, "model 'qwen3' not found" in words) == ("model_not_found", True)


@pytest.mark.parametrize("reason", ["load", "unload"])
async def test_a_model_that_is_only_loaded_says_nothing_and_the_next_prompt_is_answered(
    server: ModelServer, memory: Options, reason: str
) -> None:
    server.play(says(reason=reason), says(line(content="Better.")))
    events, after = await converse(server.agent(WIRE, **memory), "Hello", "Again!")
    assert [text_of(events), text_of(after)] == ["", "Better."]
    if reason == "load":
        assert failure_of(events) == ("model_failed", "ValueError: No generations found in stream.")
    else:
        assert stop_of(events) == "end_turn"
    assert [one["role"] for one in server.asked[1]["messages"]] == ["user", "user"]
