"""The same conversation with every provider's own class: what is on its wire is what a client sees."""

import json
import re
from typing import Any

import pytest
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy

from tests.agents.langchain.expected_blocks import PNG
from tests.agents.langchain.graphs import (
    calls_of,
    converse,
    failure_of,
    folded,
    only_call,
    run_turn,
    stop_of,
    terminal,
    weather,
)
from tests.agents.langchain.providers.conftest import City, Options, look, name_of
from tests.agents.langchain.providers.model_server import ModelServer, serve_model
from tests.agents.langchain.providers.wires.anthropic import Anthropic
from tests.agents.langchain.providers.wires.chat import DeepSeek, Mistral, OpenAiChat
from tests.agents.langchain.providers.wires.gemini import Gemini
from tests.agents.langchain.providers.wires.ollama import Ollama
from tests.agents.langchain.providers.wires.parts import PROOF, Call, Text, Thought, Wire
from tests.agents.langchain.providers.wires.responses import OpenAiResponses
from tests.hubs import collect, only, session_for, text_of
from trunkline import content as c
from trunkline import events as ev
from trunkline.commands import Prompt

pytestmark = pytest.mark.asyncio(loop_scope="module")

ANTHROPIC, GEMINI, OLLAMA, RESPONSES = Anthropic(), Gemini(), Ollama(), OpenAiResponses()
CHATS = [OpenAiChat(), DeepSeek(), Mistral()]
WIRES: list[Wire] = [ANTHROPIC, GEMINI, OLLAMA, RESPONSES, *CHATS]
PARIS = Call("toolu_1", "weather", ('{"ci', 'ty": "Paris"}'))
ROME = Call("toolu_2", "weather", ('{"city"', ': "Rome"}'))


LOOK = Prompt(content=(c.TextBlock(text="What is it?"), c.ImageBlock(data=PNG, mime_type="image/png")))


@pytest.fixture(params=WIRES, ids=name_of)
def wire(request: pytest.FixtureRequest) -> Wire:
    return request.param


async def test_thoughts_text_and_parallel_calls_come_as_they_were_sent(
    wire: Wire, server: ModelServer, memory: Options
) -> None:
    thought = [Thought(("Let me ", "look."))] if wire.thinks else []
    server.play(
        wire.say(*thought, Text(("I ask ", "both.")), PARIS, ROME), wire.say(Text(("Sunny ", "in both.")))
    )
    events = await run_turn(server.agent(wire, weather, **memory), "How is the weather?")
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


async def test_text_streams_piece_by_piece(wire: Wire, server: ModelServer) -> None:
    server.play(wire.say(Text(("One ", "two ", "three"))))
    events = await run_turn(server.agent(wire), "Count!")
    assert [event.delta for event in only(events, ev.Text) if event.delta] == ["One ", "two ", "three"]


@pytest.mark.parametrize("wire", [wire for wire in WIRES if wire.proves], indirect=True, ids=name_of)
async def test_what_a_model_thought_is_proven_to_it_when_its_calls_are_answered(
    wire: Wire, server: ModelServer
) -> None:
    server.play(wire.say(Thought(("Hm.",)), PARIS), wire.say(Text(("Sunny.",))))
    await run_turn(server.agent(wire, weather), "How is the weather?")
    assert PROOF in json.dumps(server.asked[1])
    assert PROOF not in json.dumps(server.asked[0])


async def test_the_next_turn_knows_the_last_one(wire: Wire, server: ModelServer, memory: Options) -> None:
    server.play(wire.say(PARIS), wire.say(Text(("Sunny.",))), wire.say(Text(("I said: sunny.",))))
    _, events = await converse(
        server.agent(wire, weather, **memory), "How is the weather?", "What did you say?"
    )
    assert text_of(events) == "I said: sunny."
    asked = json.dumps(server.asked[2])
    places = [asked.index(words) for words in ("How is", "sunny in Paris", "Sunny.", "What did")]
    assert places == sorted(places)


@pytest.mark.parametrize(("end", "reason"), [("length", "max_tokens"), ("refusal", "refusal")])
async def test_why_a_model_stopped_is_told(
    wire: Wire, server: ModelServer, end: Any, reason: ev.StopReason
) -> None:
    server.play(wire.say(Text(("I will ", "not")), end=end))
    events = await run_turn(server.agent(wire), "Go on!")
    assert text_of(events) == "I will not"
    assert stop_of(events) == reason


async def test_tokens_are_counted(wire: Wire, server: ModelServer) -> None:
    server.play(wire.say(PARIS), wire.say(Text(("Sunny.",))))
    events = await run_turn(server.agent(wire, weather), "How is the weather?")
    (usage,) = terminal(events).usage
    assert (usage.provider, usage.model) == (wire.provider, wire.name)
    assert (usage.input_tokens, usage.output_tokens) == (24, 14)
    assert usage.cached_input_tokens == (10 if wire.caches else 0)


async def test_a_rate_limit_is_told_in_the_providers_own_words(wire: Wire, server: ModelServer) -> None:
    server.play(wire.limit(), wire.say(Text(("Better.",))))
    failed, later = await converse(server.agent(wire), "Hello", "Hello again")
    code, words = failure_of(failed)
    assert code == "rate_limited"
    assert re.fullmatch(r"\w+: Slow down, friend\. \((try again in 30 s|status code: 429)\)", words)
    assert text_of(later) == "Better."


async def test_a_stream_that_breaks_off_ends_the_turn_and_keeps_what_came(
    wire: Wire, server: ModelServer
) -> None:
    server.play(wire.cut(Text(("Half a ", "word"))), wire.say(Text(("Better.",))))
    events, later = await converse(server.agent(wire), "Hello", "Hello again")
    assert (text_of(events), failure_of(events)[0]) == ("Half a word", "model_unreachable")
    assert text_of(later) == "Better."


async def test_a_server_that_is_not_there_is_named_as_the_cause(wire: Wire, server: ModelServer) -> None:
    with serve_model() as gone:
        agent = gone.agent(wire)
    assert failure_of(await run_turn(agent, "Hello"))[0] == "model_unreachable"


async def test_an_image_of_the_person_reaches_the_model(
    wire: Wire, server: ModelServer, memory: Options
) -> None:
    server.play(wire.say(Text(("A dot.",))), wire.say(Text(("Still a dot.",))))
    await converse(server.agent(wire, **memory), LOOK, "And now?")
    assert [wire.images(asked) for asked in server.asked] == [[PNG], [PNG]]


async def test_what_a_model_will_not_take_is_told_in_words_from_then_on(
    wire: Wire, server: ModelServer, memory: Options
) -> None:
    server.play(wire.refuse(), wire.say(Text(("Never mind.",))))
    first, later = await converse(server.agent(wire, **memory), LOOK, "Sorry!")
    code, words = failure_of(first)
    assert code == "input_refused"
    assert "I take no pictures." in words
    assert text_of(later) == "Never mind."
    assert [wire.images(asked) for asked in server.asked] == [[PNG], []]
    output = json.dumps(server.asked[1])
    assert "What is it?" in output
    assert "[image/png: the model did not take it]" in output


async def test_a_picture_of_a_tool_that_a_model_will_not_take_does_not_end_the_conversation(
    wire: Wire, server: ModelServer, memory: Options
) -> None:
    server.play(
        wire.say(Call("toolu_1", "look", ("{}",))), wire.refuse(), wire.say(Text(("I cannot see it.",)))
    )
    events, later = await converse(server.agent(wire, look, **memory), "What do you see?", "And now?")
    assert getattr(terminal(events), "code", None) == "input_refused"
    assert [call.status for call in calls_of(events).values()] == ["completed"]
    assert text_of(later) == "I cannot see it."
    assert PNG in json.dumps(server.asked[1])
    assert PNG not in json.dumps(server.asked[2])
    assert "[image/png: the model did not take it]" in json.dumps(server.asked[2])


@pytest.mark.parametrize("wire", [wire for wire in WIRES if wire.pieces], indirect=True, ids=name_of)
async def test_arguments_that_are_no_json_are_a_failed_call_which_the_next_prompt_answers(
    wire: Wire, server: ModelServer, memory: Options
) -> None:
    broken = Call("toolu_1", "weather", ('{"city": ', "Paris}"))
    server.play(wire.say(broken), wire.say(Text(("I will mend it.",))))
    events, later = await converse(server.agent(wire, weather, **memory), "How is the weather?", "Again!")
    assert text_of(later) == "I will mend it."
    (call,) = calls_of(events).values()
    assert (call.status, call.reason) == ("failed", 'its arguments are not JSON: {"city": Paris}')
    (output,) = wire.results(server.asked[1])
    assert "arguments" in output
    wire.check(server.asked[1])


async def test_a_picture_of_a_tool_reaches_the_model_in_this_turn_and_the_next(
    wire: Wire, server: ModelServer, settings: Options, memory: Options
) -> None:
    server.play(wire.say(Call("toolu_1", "look", ("{}",))), *[wire.say(Text(("Nice.",)))] * 2)
    agent = server.agent(wire, look, settings=settings, **memory)
    events, _ = await converse(agent, "What do you see?", "Is it nice?")
    image = c.ImageBlock(data=PNG, mime_type="image/png")
    assert only_call(events).content == (c.TextBlock(text="A dot."), image)
    assert [PNG in json.dumps(asked) for asked in server.asked] == [False, True, True]
    for asked in server.asked:
        wire.check(asked)


PDF = c.ResourceBlock(uri="file:///a.pdf", data="JVBERi0=", mime_type="application/pdf")
SOURCE = c.ResourceBlock(uri="file:///a.py", text="x = 1")
READ = '<resource uri="file:///a.py">\nx = 1\n</resource>'
IMAGE = c.ImageBlock(url="https://example.org/a.png", mime_type="image/png")
LINK = c.LinkBlock(uri="file:///b.md", name="b.md")
IN_CHATS: list[tuple[c.Content, Any]] = [
    (
        c.AudioBlock(data="UklGRg==", mime_type="audio/x-wav"),
        {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
    ),
    (
        c.AudioBlock(data="SUQz", mime_type="audio/mpeg"),
        {"type": "input_audio", "input_audio": {"data": "SUQz", "format": "mp3"}},
    ),
    (
        PDF,
        {"type": "file", "file": {"file_data": "data:application/pdf;base64,JVBERi0=", "filename": "a.pdf"}},
    ),
    (SOURCE, {"type": "text", "text": READ}),
    (IMAGE, {"type": "image_url", "image_url": {"url": IMAGE.url}}),
    (LINK, {"type": "text", "text": "[b.md](file:///b.md)"}),
]
ATTACHED: list[tuple[Wire, c.Content, Any]] = [
    *((wire, block, sent) for wire in CHATS for block, sent in IN_CHATS),
    (
        ANTHROPIC,
        PDF,
        {
            "type": "document",
            "source": {"type": "base64", "media_type": PDF.mime_type, "data": PDF.data},
            "title": "a.pdf",
        },
    ),
    (ANTHROPIC, SOURCE, {"type": "text", "text": READ}),
    (
        ANTHROPIC,
        c.ResourceBlock(uri="file:///a.py", data="eCA9IDE=", mime_type="application/json"),
        {"type": "text", "text": READ},
    ),
    (
        ANTHROPIC,
        c.ResourceBlock(uri="file:///a.txt", data="/w==", mime_type="text/plain"),
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "text/plain", "data": "/w=="},
            "title": "a.txt",
        },
    ),
    (ANTHROPIC, IMAGE, {"type": "image", "source": {"type": "url", "url": IMAGE.url}}),
    (ANTHROPIC, LINK, {"type": "text", "text": "[b.md](file:///b.md)"}),
    (
        RESPONSES,
        PDF,
        {"type": "input_file", "file_data": "data:application/pdf;base64,JVBERi0=", "filename": "a.pdf"},
    ),
    (RESPONSES, SOURCE, {"type": "input_text", "text": READ}),
    (RESPONSES, IMAGE, {"type": "input_image", "image_url": IMAGE.url}),
    (
        GEMINI,
        c.AudioBlock(data="UklGRg==", mime_type="audio/wav"),
        {"inlineData": {"data": "UklGRg==", "mime_type": "audio/wav"}},
    ),
    (
        GEMINI,
        c.VideoBlock(data="AAAA", mime_type="video/mp4"),
        {"inlineData": {"data": "AAAA", "mime_type": "video/mp4"}},
    ),
    (
        GEMINI,
        c.VideoBlock(url="https://youtu.be/x", mime_type="video/mp4"),
        {"fileData": {"file_uri": "https://youtu.be/x", "mime_type": "video/mp4"}},
    ),
    (GEMINI, PDF, {"inlineData": {"data": PDF.data, "mime_type": PDF.mime_type}}),
    (GEMINI, SOURCE, {"text": READ}),
    (OLLAMA, SOURCE, READ),
]


@pytest.mark.parametrize(("wire", "block", "sent"), ATTACHED, indirect=["wire"])
async def test_what_a_person_attaches_reaches_the_model_in_this_turn_and_the_next(
    wire: Wire, server: ModelServer, memory: Options, block: c.Content, sent: Any
) -> None:
    server.play(*[wire.say(Text(("I see.",)))] * 2)
    async with session_for(server.agent(wire, **memory)) as session:
        await collect(session, Prompt(content=(c.TextBlock(text="Look!"), block)))
        await collect(session, "And now?")
        (first, *_) = (await session.history()).messages
    assert [wire.attached(asked) for asked in server.asked] == [sent, sent]
    assert first.content[1] == block


@pytest.mark.parametrize("wire", [ANTHROPIC, RESPONSES, *CHATS], indirect=True, ids=name_of)
@pytest.mark.parametrize("way", [ToolStrategy, ProviderStrategy])
async def test_an_answer_with_a_structure_is_shown_and_the_conversation_goes_on(
    wire: Wire, server: ModelServer, settings: Options, memory: Options, way: Any
) -> None:
    cities: list[Any] = [{"name": name, "people": 2} for name in ("Paris", "Rome")]
    for city in cities:
        pieces = tuple(json.dumps(city).partition(", "))
        server.play(wire.say(Call(city["name"], "City", pieces) if way is ToolStrategy else Text(pieces)))
    if wire is ANTHROPIC:  # One that thinks may not be made to call a tool.
        settings = {**settings, "thinking": None}
    agent = server.agent(wire, settings=settings, response_format=way(City), **memory)
    for city, events in zip(cities, await converse(agent, "Where?", "And where else?"), strict=True):
        calls = [(call.name, call.status, call.input) for call in calls_of(events).values()]
        if way is ToolStrategy:
            assert calls == [("City", "completed", city)]
        else:
            assert (calls, json.loads(text_of(events))) == ([], city)
        assert stop_of(events) == "end_turn"
    wire.check(server.asked[1])
