"""The same conversation with every provider's own class: what is on its wire is what a client sees."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from langchain_core.tools import tool

from tests.agents.langchain.expected_blocks import PNG
from tests.agents.langchain.graphs import (
    calls_of,
    converse,
    failure_of,
    folded,
    run_turn,
    stop_of,
    terminal,
    weather,
)
from tests.agents.langchain.providers import wires
from tests.agents.langchain.providers.conftest import Make, name_of
from tests.agents.langchain.providers.model_server import ModelServer, serve_model
from tests.agents.langchain.providers.wires import PROOF, Call, Text, Thought, Wire
from tests.hubs import only, text_of
from trunkline import content as c
from trunkline import events as ev
from trunkline.commands import Prompt

pytestmark = pytest.mark.asyncio(loop_scope="module")

WIRES = [
    wires.Anthropic(),
    wires.OpenAiChat(),
    wires.OpenAiResponses(),
    wires.Gemini(),
    wires.Ollama(),
    wires.DeepSeek(),
    wires.Mistral(),
]
PARIS = Call("toolu_1", "weather", ('{"ci', 'ty": "Paris"}'))
ROME = Call("toolu_2", "weather", ('{"city"', ': "Rome"}'))


@tool
def look() -> list[dict[str, Any]]:
    """Take a picture."""
    return [{"type": "image", "base64": PNG, "mime_type": "image/png"}]


@pytest.fixture(params=WIRES, ids=name_of)
def wire(request: pytest.FixtureRequest) -> Wire:
    return request.param


async def test_thoughts_text_and_parallel_calls_come_as_they_were_sent(
    wire: Wire, server: ModelServer, make: Make, memory: dict[str, Any]
) -> None:
    thought = [Thought(("Let me ", "look."))] if wire.thinks else []
    server.play(
        wire.say(*thought, Text(("I ask ", "both.")), PARIS, ROME), wire.say(Text(("Sunny ", "in both.")))
    )
    events = await run_turn(make(wire, server, weather, **memory), "How is the weather?")
    shown = folded(events)
    asking, answer = [message for message in shown.messages if message.role == "agent"]
    assert [asking.text, answer.text] == ["I ask both.", "Sunny in both."]
    assert "".join(event.delta for event in only(events, ev.Thought)) == "Let me look." * wire.thinks
    calls = calls_of(events)
    assert [(call.name, call.input, call.status, call.raw_output) for call in calls.values()] == [
        ("weather", {"city": "Paris"}, "completed", "It is sunny in Paris."),
        ("weather", {"city": "Rome"}, "completed", "It is sunny in Rome."),
    ]
    if wire.names_calls:
        assert list(calls) == ["toolu_1", "toolu_2"]
    output = wire.results(server.asked[1])
    assert ["Paris" in output[0], "Rome" in output[1]] == [True, True]
    assert stop_of(events) == "end_turn"


async def test_text_streams_piece_by_piece(wire: Wire, server: ModelServer, make: Make) -> None:
    server.play(wire.say(Text(("One ", "two ", "three"))))
    events = await run_turn(make(wire, server), "Count!")
    assert [event.delta for event in only(events, ev.Text) if event.delta] == ["One ", "two ", "three"]


@pytest.mark.parametrize("wire", [wire for wire in WIRES if wire.proves], indirect=True, ids=name_of)
async def test_what_a_model_thought_is_proven_to_it_when_its_calls_are_answered(
    wire: Wire, server: ModelServer, make: Make
) -> None:
    server.play(wire.say(Thought(("Hm.",)), PARIS), wire.say(Text(("Sunny.",))))
    await run_turn(make(wire, server, weather), "How is the weather?")
    assert PROOF in json.dumps(server.asked[1])
    assert PROOF not in json.dumps(server.asked[0])


async def test_the_next_turn_knows_the_last_one(
    wire: Wire, server: ModelServer, make: Make, memory: dict[str, Any]
) -> None:
    server.play(wire.say(PARIS), wire.say(Text(("Sunny.",))), wire.say(Text(("I said: sunny.",))))
    _, events = await converse(
        make(wire, server, weather, **memory), "How is the weather?", "What did you say?"
    )
    assert text_of(events) == "I said: sunny."
    asked = json.dumps(server.asked[2])
    places = [asked.index(words) for words in ("How is", "sunny in Paris", "Sunny.", "What did")]
    assert places == sorted(places)


@pytest.mark.parametrize(("end", "reason"), [("length", "max_tokens"), ("refusal", "refusal")])
async def test_why_a_model_stopped_is_told(
    wire: Wire, server: ModelServer, make: Make, end: Any, reason: ev.StopReason
) -> None:
    server.play(wire.say(Text(("I will ", "not")), end=end))
    events = await run_turn(make(wire, server), "Go on!")
    assert text_of(events) == "I will not"
    assert stop_of(events) == reason


async def test_tokens_are_counted(wire: Wire, server: ModelServer, make: Make) -> None:
    server.play(wire.say(PARIS), wire.say(Text(("Sunny.",))))
    events = await run_turn(make(wire, server, weather), "How is the weather?")
    (usage,) = terminal(events).usage
    assert (usage.provider, usage.model) == (wire.provider, wire.name)
    assert (usage.input_tokens, usage.output_tokens) == (24, 14)
    assert usage.cached_input_tokens == (10 if wire.caches else 0)


async def test_a_rate_limit_is_told_in_the_providers_own_words(
    wire: Wire, server: ModelServer, make: Make
) -> None:
    server.play(wire.limit(), wire.say(Text(("Better.",))))
    failed, later = await converse(make(wire, server), "Hello", "Hello again")
    code, words = failure_of(failed)
    assert code == "rate_limited"
    assert re.fullmatch(r"\w+: Slow down, friend\. \((try again in 30 s|status code: 429)\)", words)
    assert text_of(later) == "Better."


async def test_a_stream_that_breaks_off_ends_the_turn_and_keeps_what_came(
    wire: Wire, server: ModelServer, make: Make
) -> None:
    server.play(wire.cut(Text(("Half a ", "word"))), wire.say(Text(("Better.",))))
    events, later = await converse(make(wire, server), "Hello", "Hello again")
    assert (text_of(events), failure_of(events)[0]) == ("Half a word", "model_unreachable")
    assert text_of(later) == "Better."


async def test_a_server_that_is_not_there_is_named_as_the_cause(
    wire: Wire, server: ModelServer, make: Make
) -> None:
    with serve_model() as gone:
        agent = make(wire, gone)
    assert failure_of(await run_turn(agent, "Hello"))[0] == "model_unreachable"


async def test_an_image_of_the_person_reaches_the_model(
    wire: Wire, server: ModelServer, make: Make, memory: dict[str, Any]
) -> None:
    server.play(wire.say(Text(("A dot.",))), wire.say(Text(("Still a dot.",))))
    picture = c.ImageBlock(data=PNG, mime_type="image/png")
    await converse(
        make(wire, server, **memory), Prompt(content=(c.TextBlock(text="What is it?"), picture)), "And now?"
    )
    assert [wire.images(asked) for asked in server.asked] == [[PNG], [PNG]]


async def test_what_a_model_will_not_take_is_told_in_words_from_then_on(
    wire: Wire, server: ModelServer, make: Make, memory: dict[str, Any]
) -> None:
    server.play(wire.refuse(), wire.say(Text(("Never mind.",))))
    picture = c.ImageBlock(data=PNG, mime_type="image/png")
    first, later = await converse(
        make(wire, server, **memory), Prompt(content=(c.TextBlock(text="What is it?"), picture)), "Sorry!"
    )
    code, words = failure_of(first)
    assert code == "input_refused"
    assert "I take no pictures." in words
    assert text_of(later) == "Never mind."
    assert [wire.images(asked) for asked in server.asked] == [[PNG], []]
    output = json.dumps(server.asked[1])
    assert "What is it?" in output
    assert "[image/png: the model did not take it]" in output


async def test_a_picture_of_a_tool_that_a_model_will_not_take_does_not_end_the_conversation(
    wire: Wire, server: ModelServer, make: Make, memory: dict[str, Any]
) -> None:
    server.play(
        wire.say(Call("toolu_1", "look", ("{}",))), wire.refuse(), wire.say(Text(("I cannot see it.",)))
    )
    events, later = await converse(make(wire, server, look, **memory), "What do you see?", "And now?")
    assert getattr(terminal(events), "code", None) == "input_refused"
    assert [call.status for call in calls_of(events).values()] == ["completed"]
    assert text_of(later) == "I cannot see it."
    assert PNG in json.dumps(server.asked[1])
    assert PNG not in json.dumps(server.asked[2])
    assert "[image/png: the model did not take it]" in json.dumps(server.asked[2])


@pytest.mark.parametrize("wire", [wire for wire in WIRES if wire.pieces], indirect=True, ids=name_of)
async def test_arguments_that_are_no_json_are_a_failed_call_which_the_next_prompt_answers(
    wire: Wire, server: ModelServer, make: Make, memory: dict[str, Any]
) -> None:
    broken = Call("toolu_1", "weather", ('{"city": ', "Paris}"))
    server.play(wire.say(broken), wire.say(Text(("I will mend it.",))))
    events, later = await converse(make(wire, server, weather, **memory), "How is the weather?", "Again!")
    assert text_of(later) == "I will mend it."
    (call,) = calls_of(events).values()
    assert (call.status, call.reason) == ("failed", 'its arguments are not JSON: {"city": Paris}')
    (output,) = wire.results(server.asked[1])
    assert "arguments" in output
