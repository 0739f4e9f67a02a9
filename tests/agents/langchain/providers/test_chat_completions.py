"""Chat completions with the classes of those who send them, each in its own way: pieces, thoughts, ends."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy

from tests.agents.langchain.expected_blocks import PNG
from tests.agents.langchain.graphs import (
    calls_of,
    converse,
    failure_of,
    folded,
    run_turn,
    stop_of,
    weather,
)
from tests.agents.langchain.providers import chat_completions, wires
from tests.agents.langchain.providers.chat_completions import Delta, piece
from tests.agents.langchain.providers.conftest import City, Make, look, name_of
from tests.agents.langchain.providers.model_server import ModelServer, pause
from tests.agents.langchain.providers.wires import Call, Text, Wire
from tests.hubs import collect, hub_for, only, text_of
from trunkline import content as c
from trunkline import events as ev
from trunkline.commands import Prompt

pytestmark = pytest.mark.asyncio(loop_scope="module")

OPENAI, DEEPSEEK, MISTRAL = wires.OpenAiChat(), wires.DeepSeek(), wires.Mistral()
DONE = chat_completions.say({"content": "Done."})


@pytest.fixture(params=[OPENAI, DEEPSEEK, MISTRAL], ids=name_of)
def wire(request: pytest.FixtureRequest) -> Wire:
    return request.param


# -- calls -------------------------------------------------------------------------------------------

PARIS, ROME = '{"city": "Paris"}', '{"city": "Rome"}'
ONE_BY_ONE: dict[str, list[Delta]] = {
    "by index": [
        piece(0, "a", name="weather", arguments=""),
        piece(1, "b", name="weather", arguments=""),
        piece(0, arguments='{"city": '),
        piece(1, arguments='{"city": "Ro'),
        piece(0, arguments='"Paris"}'),
        piece(1, arguments='me"}'),
    ],
    "id and name late": [
        {"content": None},
        piece(0, arguments='{"city": '),
        piece(0, "a"),
        piece(0, name="weather"),
        piece(0, arguments='"Paris"}'),
        piece(1, "b", name="weather", arguments=ROME),
    ],
    "id every time": [
        piece(0, "a", name="weather", arguments=""),
        piece(0, "a", arguments='{"city": '),
        piece(0, "a", name="", arguments='"Paris"}'),
        piece(1, "b", name="weather", arguments=ROME),
    ],
}
AT_ONCE: dict[str, list[Delta]] = {
    "the same index": [
        piece(0, "a", name="weather", arguments=PARIS),
        piece(0, "b", name="weather", arguments=ROME),
    ],
    "no index": [
        {
            "content": "",
            "tool_calls": [
                {"id": "a", "function": {"name": "weather", "arguments": PARIS}},
                {"id": "b", "function": {"name": "weather", "arguments": ROME}},
            ],
        }
    ],
}
CALLS = [
    *((wire, how, said) for wire in (OPENAI, DEEPSEEK) for how, said in (ONE_BY_ONE | AT_ONCE).items()),
    *((MISTRAL, how, said) for how, said in AT_ONCE.items()),
]


@pytest.mark.parametrize(
    ("wire", "expected"),
    [(wire, expected) for wire, _, expected in CALLS],
    ids=[f"{name_of(wire)} {how}" for wire, how, _ in CALLS],
    indirect=["wire"],
)
async def test_calls_are_put_together_however_they_come(
    wire: Wire, server: ModelServer, make: Make, expected: list[Delta]
) -> None:
    server.play(chat_completions.say(*expected, stop="tool_calls"), DONE)
    events = await run_turn(make(wire, server, weather), "How is the weather?")
    calls = calls_of(events)
    assert {call_id: (call.name, call.input, call.status) for call_id, call in calls.items()} == {
        "a": ("weather", {"city": "Paris"}, "completed"),
        "b": ("weather", {"city": "Rome"}, "completed"),
    }
    assert [json.loads(call.arguments) for call in calls.values()] == [{"city": "Paris"}, {"city": "Rome"}]
    assert (text_of(events), stop_of(events)) == ("Done.", "end_turn")
    chat_completions.check_history(server.asked[1])


# -- words -------------------------------------------------------------------------------------------


async def test_deltas_without_content_say_nothing(wire: Wire, server: ModelServer, make: Make) -> None:
    deltas = (
        {"role": "assistant", "content": None},
        {"content": "One"},
        {"content": None},
        {"content": " two"},
    )
    server.play(chat_completions.say(*deltas))
    events = await run_turn(make(wire, server), "Count!")
    assert [event.delta for event in only(events, ev.Text)] == ["One", " two"]
    assert stop_of(events) == "end_turn"


async def test_an_answer_that_never_says_why_it_ended_has_ended(
    wire: Wire, server: ModelServer, make: Make
) -> None:
    server.play(chat_completions.say({"content": "One"}, stop=None), DONE)
    events, later = await converse(make(wire, server), "Count!", "Go on!")
    assert text_of(later) == "Done."
    assert (text_of(events), stop_of(events)) == ("One", "end_turn")


@pytest.mark.parametrize(
    "fields",
    [("reasoning_content",), ("reasoning",), ("reasoning", "reasoning_content")],
    ids=["DeepSeek", "OpenRouter", "both"],
)
async def test_thoughts_beside_the_content_are_shown_once(
    server: ModelServer, make: Make, fields: tuple[str, ...]
) -> None:
    thoughts = [{"content": None} | dict.fromkeys(fields, output) for output in ("Let me ", "look.")]
    server.play(chat_completions.say(*thoughts, {"content": "Sunny."}))
    events = await run_turn(make(DEEPSEEK, server), "How is the weather?")
    assert [event.delta for event in only(events, ev.Thought)] == ["Let me ", "look."]
    assert text_of(events) == "Sunny."


@pytest.mark.parametrize("settings", [{}, {"output_version": "v1"}], ids=["own", "v1"])
async def test_thoughts_of_mistral_are_shown_as_words(
    server: ModelServer, make: Make, memory: dict[str, Any], settings: dict[str, Any]
) -> None:
    thoughts = [{"type": "thinking", "thinking": [{"type": "text", "text": text}]} for text in ("Hm", ".")]
    server.play(chat_completions.say(*({"content": [one]} for one in thoughts), {"content": "Sunny."}), DONE)
    events, _ = await converse(
        make(MISTRAL, server, settings=settings, **memory), "How is the weather?", "And now?"
    )
    assert [event.delta for event in only(events, ev.Thought)] == ["Hm", "."]
    assert text_of(events) == "Sunny."
    chat_completions.check_history(server.asked[1])


@pytest.mark.parametrize("wire", [OPENAI, DEEPSEEK], ids=name_of, indirect=True)
async def test_an_error_in_the_middle_of_a_stream_is_told(
    wire: Wire, server: ModelServer, make: Make
) -> None:
    error = {"message": "The engine died.", "type": "server_error", "code": 502}
    server.play(chat_completions.say({"content": "Half"}, stop=None, error=error), DONE)
    events, later = await converse(make(wire, server), "Hello", "Hello again")
    assert text_of(later) == "Done."
    assert failure_of(events) == ("model_failed", "APIError: The engine died.")
    assert text_of(events) == "Half"


# -- what is sent ------------------------------------------------------------------------------------

PROMPTS: dict[str, tuple[c.Content, dict[str, Any]]] = {
    "wave": (
        c.AudioBlock(data="UklGRg==", mime_type="audio/x-wav"),
        {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
    ),
    "song": (
        c.AudioBlock(data="SUQz", mime_type="audio/mpeg"),
        {"type": "input_audio", "input_audio": {"data": "SUQz", "format": "mp3"}},
    ),
    "paper": (
        c.ResourceBlock(uri="file:///a.pdf", data="JVBERi0=", mime_type="application/pdf"),
        {"type": "file", "file": {"file_data": "data:application/pdf;base64,JVBERi0=", "filename": "a.pdf"}},
    ),
    "text": (
        c.ResourceBlock(uri="file:///a.py", data="YSA9IDE=", mime_type="text/x-python"),
        {"type": "text", "text": '<resource uri="file:///a.py">\na = 1\n</resource>'},
    ),
    "address of an image": (
        c.ImageBlock(url="https://example.org/a.png", mime_type="image/png"),
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
    ),
    "link": (c.LinkBlock(uri="file:///b.md", name="b.md"), {"type": "text", "text": "[b.md](file:///b.md)"}),
}


@pytest.mark.parametrize("prompt", PROMPTS.values(), ids=PROMPTS)
async def test_what_a_person_sends_reaches_the_model(
    wire: Wire, server: ModelServer, make: Make, memory: dict[str, Any], prompt: tuple[c.Content, Any]
) -> None:
    given, sent = prompt
    server.play(DONE, DONE)
    async with hub_for(make(wire, server, **memory)) as hub:
        session = await hub.create()
        await collect(session, Prompt(content=(c.TextBlock(text="What is it?"), given)))
        await collect(session, "And now?")
        (first, *_) = (await session.history()).messages
    assert [asked["messages"][0]["content"][1] for asked in server.asked] == [sent, sent]
    assert first.content[1] == given


async def test_an_image_of_a_tool_is_told_the_same_way_in_the_next_turn(
    wire: Wire, server: ModelServer, make: Make, memory: dict[str, Any]
) -> None:
    server.play(wire.say(Call("toolu_1", "look", ("{}",))), DONE, DONE)
    async with hub_for(make(wire, server, look, **memory)) as hub:
        session = await hub.create()
        (call,) = calls_of(await collect(session, "Go on!")).values()
        await collect(session, "And now?")
    assert call.content == (c.TextBlock(text="A dot."), c.ImageBlock(data=PNG, mime_type="image/png"))
    live, after = (wire.results(asked) for asked in server.asked[1:])
    assert PNG in live[0]
    assert [json.loads(one) for one in live] == [json.loads(one) for one in after]


async def test_a_prompt_after_a_cancelled_answer_finds_a_whole_history(
    wire: Wire, server: ModelServer, make: Make, memory: dict[str, Any]
) -> None:
    half = wire.say(Text(("Half a ", "word")), Call("toolu_1", "weather", ('{"city": ', '"Paris"}')))
    reply, held = pause(half, 2)
    server.play(reply, DONE)
    async with hub_for(make(wire, server, weather, **memory)) as hub:
        session = await hub.create()

        async def stop(_: ev.ToolInput) -> None:
            await session.cancel()

        events = await collect(session, "Hello", {ev.ToolInput: stop})
        held.end()
        assert text_of(await collect(session, "Hello again")) == "Done."
    assert stop_of(events) == "cancelled"
    assert [call.status for call in calls_of(events).values()] == ["cancelled"]
    assert folded(events).messages[-1].text == "Half a word"
    chat_completions.check_history(server.asked[1])


@pytest.mark.parametrize("way", [ToolStrategy, ProviderStrategy])
async def test_an_answer_with_a_structure_is_shown(
    wire: Wire, server: ModelServer, make: Make, way: Any
) -> None:
    pieces = ('{"name": "Paris", ', '"people": 2}')
    server.play(wire.say(Call("toolu_1", "City", pieces) if way is ToolStrategy else Text(pieces)))
    events = await run_turn(make(wire, server, response_format=way(City)), "Where?")
    paris = {"name": "Paris", "people": 2}
    calls = [(call.name, call.status, call.input) for call in calls_of(events).values()]
    if way is ToolStrategy:
        assert calls == [("City", "completed", paris)]
    else:
        assert (calls, json.loads(text_of(events))) == ([], paris)
    assert stop_of(events) == "end_turn"


async def test_words_of_a_refusal_are_shown_where_a_structure_was_wanted(
    server: ModelServer, make: Make
) -> None:
    refusal = (
        {"role": "assistant", "content": None, "refusal": ""},
        {"refusal": "I will "},
        {"refusal": "not."},
    )
    server.play(chat_completions.say(*refusal))
    events = await run_turn(make(OPENAI, server, response_format=ProviderStrategy(City)), "Where?")
    assert text_of(events) == "I will not."
    assert stop_of(events) == "refusal"
