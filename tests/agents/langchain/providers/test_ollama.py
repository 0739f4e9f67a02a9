"""Ollama by LangChain's own class: lines of JSON, whose calls come whole and whose errors come late."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.agents.langchain.expected_blocks import PNG
from tests.agents.langchain.graphs import calls_of, converse, failure_of, stop_of, terminal, weather
from tests.agents.langchain.providers import wires
from tests.agents.langchain.providers.conftest import Make, photograph
from tests.agents.langchain.providers.model_server import ModelServer, Reply, answer
from tests.hubs import only, text_of
from trunkline import content as c
from trunkline import events as ev
from trunkline.commands import Prompt

pytestmark = pytest.mark.asyncio(loop_scope="module")


class Quiet(wires.Ollama):
    """A model of which nobody said whether it is to think."""

    def model(self, url: str, **options: Any) -> Any:
        from langchain_ollama import ChatOllama

        return ChatOllama(model=self.name, base_url=url, **options)


WIRE = wires.Ollama()


def line(**message: Any) -> dict[str, Any]:
    """A line of a stream."""
    output = {"role": "assistant", "content": "", **message}
    return {"model": WIRE.name, "created_at": "2026-01-01T00:00:00Z", "message": output, "done": False}


def says(*lines: dict[str, Any], reason: str | None = "stop") -> Reply:
    """A stream of lines, and why it ends; one without a reason just ends."""
    last = {**line(), "done": True, "done_reason": reason, "prompt_eval_count": 12, "eval_count": 7}
    output = [*lines, last] if reason else lines
    return Reply([json.dumps(one).encode() + b"\n" for one in output], "application/x-ndjson")


def call(city: str, name: str = "weather") -> dict[str, Any]:
    """A call as Ollama sends it: whole, and without an id."""
    return {"function": {"name": name, "arguments": {"city": city}}}


async def test_thoughts_are_said_once(
    server: ModelServer, make: Make, settings: dict[str, Any], memory: dict[str, Any]
) -> None:
    server.play(
        says(line(thinking="Hm. "), line(thinking="So."), line(content="Hi")), says(line(content="Again"))
    )
    events, _ = await converse(make(WIRE, server, settings=settings, **memory), "Hello", "Again?")
    assert [event.delta for event in only(events, ev.Thought)] == ["Hm. ", "So."]
    assert text_of(events) == "Hi"
    (output,) = [one for one in server.asked[1]["messages"] if one["role"] == "assistant"]
    assert (output["content"].strip(), output.get("thinking")) == ("Hi", "Hm. So." if memory else None)


async def test_thoughts_between_tags_stay_the_text_that_they_are(
    server: ModelServer, make: Make, settings: dict[str, Any]
) -> None:
    server.play(says(*(line(content=piece) for piece in ("<think>", "Hm.", "</think>", "Hi"))))
    (events,) = await converse(make(Quiet(), server, settings=settings), "Hello")
    assert text_of(events) == "<think>Hm.</think>Hi"
    assert "think" not in server.asked[0]


async def test_calls_in_several_lines_are_told_apart_and_answered_in_their_order(
    server: ModelServer, make: Make, settings: dict[str, Any], memory: dict[str, Any]
) -> None:
    asking = [line(content="I ask."), line(tool_calls=[call("Paris")])]
    server.play(
        says(*asking, line(tool_calls=[call("Rome"), call("Oslo")])),
        says(line(content="Sunny.")),
        says(line(content="Yes.")),
    )
    agent = make(WIRE, server, weather, settings=settings, **memory)
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
    server: ModelServer, make: Make, memory: dict[str, Any]
) -> None:
    broken = says(line(content="Half"), {"error": "the model runner has stopped"}, reason=None)
    server.play(broken, says(line(content="Better.")))
    events, after = await converse(make(WIRE, server, **memory), "Hello", "Again!")
    ended = terminal(events)
    assert isinstance(ended, ev.TurnFailed)
    assert (ended.code, "the model runner has stopped" in ended.message) == ("model_failed", True)
    assert [text_of(events), text_of(after)] == ["Half", "Better."]


async def test_a_model_that_is_not_there_is_named(server: ModelServer, make: Make) -> None:
    server.play(answer(404, {"error": "model 'qwen3' not found"}))
    (events,) = await converse(make(WIRE, server), "Hello")
    ended = terminal(events)
    assert isinstance(ended, ev.TurnFailed)
    assert (ended.code, "model 'qwen3' not found" in ended.message) == ("model_not_found", True)


@pytest.mark.parametrize("reason", ["load", "unload"])
async def test_a_model_that_is_only_loaded_says_nothing_and_the_next_prompt_is_answered(
    server: ModelServer, make: Make, memory: dict[str, Any], reason: str
) -> None:
    server.play(says(reason=reason), says(line(content="Better.")))
    events, after = await converse(make(WIRE, server, **memory), "Hello", "Again!")
    assert [text_of(events), text_of(after)] == ["", "Better."]
    if reason == "load":
        assert failure_of(events) == ("model_failed", "ValueError: No generations found in stream.")
    else:
        assert stop_of(events) == "end_turn"
    assert [one["role"] for one in server.asked[1]["messages"]] == ["user", "user"]


async def test_pictures_in_prompts_and_results_reach_the_model(
    server: ModelServer, make: Make, settings: dict[str, Any], memory: dict[str, Any]
) -> None:
    server.play(
        says(line(tool_calls=[call("Paris", "photograph")])),
        says(line(content="Nice.")),
        says(line(content="Yes.")),
    )
    prompt = Prompt(content=(c.TextBlock(text="Like this!"), c.ImageBlock(data=PNG, mime_type="image/png")))
    events, _ = await converse(
        make(WIRE, server, photograph, settings=settings, **memory), prompt, "Is it nice?"
    )
    (made,) = calls_of(events).values()
    assert [type(block) for block in made.content] == [c.TextBlock, c.ImageBlock]
    assert [WIRE.images(asked) for asked in server.asked] == [[PNG], [PNG, PNG], [PNG, PNG]]


async def test_a_text_that_a_person_attaches_is_read_as_text(
    server: ModelServer, make: Make, memory: dict[str, Any]
) -> None:
    server.play(says(line(content="I see.")), says(line(content="Still.")))
    source = c.ResourceBlock(uri="file:///a.py", text="x = 1")
    await converse(make(WIRE, server, **memory), Prompt(content=(c.TextBlock(text="Look!"), source)), "Now?")
    for asked in server.asked:
        assert "Look!" in asked["messages"][0]["content"]
        assert '<resource uri="file:///a.py">\nx = 1\n</resource>' in asked["messages"][0]["content"]
