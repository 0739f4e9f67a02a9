"""Chat completions with the classes of those who send them, each in its own way: pieces, thoughts, ends."""

import json

import pytest
from langchain.agents.structured_output import ProviderStrategy

from tests.agents.langchain.graphs import calls_of, converse, failure_of, folded, run_turn, stop_of, weather
from tests.agents.langchain.providers.conftest import City, Options, name_of
from tests.agents.langchain.providers.model_server import ModelServer, pause
from tests.agents.langchain.providers.wires.chat import DeepSeek, Delta, Mistral, OpenAiChat, piece, say
from tests.agents.langchain.providers.wires.parts import Call, Text, Wire
from tests.hubs import collect, only, session_for, text_of
from trunkline import events as ev

pytestmark = pytest.mark.asyncio(loop_scope="module")

OPENAI, DEEPSEEK, MISTRAL = OpenAiChat(), DeepSeek(), Mistral()
DONE = say({"content": "Done."})


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
    wire: Wire, server: ModelServer, expected: list[Delta]
) -> None:
    server.play(say(*expected, stop="tool_calls"), DONE)
    events = await run_turn(server.agent(wire, weather), "How is the weather?")
    calls = calls_of(events)
    assert {call_id: (call.name, call.input, call.status) for call_id, call in calls.items()} == {
        "a": ("weather", {"city": "Paris"}, "completed"),
        "b": ("weather", {"city": "Rome"}, "completed"),
    }
    assert [json.loads(call.arguments) for call in calls.values()] == [{"city": "Paris"}, {"city": "Rome"}]
    assert (text_of(events), stop_of(events)) == ("Done.", "end_turn")
    wire.check(server.asked[1])


# -- words -------------------------------------------------------------------------------------------


async def test_deltas_without_content_say_nothing(wire: Wire, server: ModelServer) -> None:
    deltas = (
        {"role": "assistant", "content": None},
        {"content": "One"},
        {"content": None},
        {"content": " two"},
    )
    server.play(say(*deltas))
    events = await run_turn(server.agent(wire), "Count!")
    assert [event.delta for event in only(events, ev.Text)] == ["One", " two"]
    assert stop_of(events) == "end_turn"


async def test_an_answer_that_never_says_why_it_ended_has_ended(wire: Wire, server: ModelServer) -> None:
    server.play(say({"content": "One"}, stop=None), DONE)
    events, later = await converse(server.agent(wire), "Count!", "Go on!")
    assert text_of(later) == "Done."
    assert (text_of(events), stop_of(events)) == ("One", "end_turn")


@pytest.mark.parametrize(
    "fields",
    [("reasoning_content",), ("reasoning",), ("reasoning", "reasoning_content")],
    ids=["DeepSeek", "OpenRouter", "both"],
)
async def test_thoughts_beside_the_content_are_shown_once(
    server: ModelServer, fields: tuple[str, ...]
) -> None:
    thoughts = [{"content": None} | dict.fromkeys(fields, output) for output in ("Let me ", "look.")]
    server.play(say(*thoughts, {"content": "Sunny."}))
    events = await run_turn(server.agent(DEEPSEEK), "How is the weather?")
    assert [event.delta for event in only(events, ev.Thought)] == ["Let me ", "look."]
    assert text_of(events) == "Sunny."


async def test_thoughts_of_mistral_are_shown_as_words(
    server: ModelServer, memory: Options, settings: Options
) -> None:
    thoughts = [{"type": "thinking", "thinking": [{"type": "text", "text": text}]} for text in ("Hm", ".")]
    server.play(say(*({"content": [one]} for one in thoughts), {"content": "Sunny."}), DONE)
    events, _ = await converse(
        server.agent(MISTRAL, settings=settings, **memory), "How is the weather?", "And now?"
    )
    assert [event.delta for event in only(events, ev.Thought)] == ["Hm", "."]
    assert text_of(events) == "Sunny."
    MISTRAL.check(server.asked[1])


@pytest.mark.parametrize("wire", [OPENAI, DEEPSEEK], ids=name_of, indirect=True)
async def test_an_error_in_the_middle_of_a_stream_is_told(wire: Wire, server: ModelServer) -> None:
    error = {"message": "The engine died.", "type": "server_error", "code": 502}
    server.play(say({"content": "Half"}, stop=None, error=error), DONE)
    events, later = await converse(server.agent(wire), "Hello", "Hello again")
    assert text_of(later) == "Done."
    assert failure_of(events) == ("model_failed", "APIError: The engine died.")
    assert text_of(events) == "Half"


# -- what is sent ------------------------------------------------------------------------------------


async def test_a_prompt_after_a_cancelled_answer_finds_a_whole_history(
    wire: Wire, server: ModelServer, memory: Options
) -> None:
    half = wire.say(Text(("Half a ", "word")), Call("toolu_1", "weather", ('{"city": ', '"Paris"}')))
    reply, held = pause(half, 2)
    server.play(reply, DONE)
    async with session_for(server.agent(wire, weather, **memory)) as session:

        async def stop(_: ev.ToolInput) -> None:
            await session.cancel()

        events = await collect(session, "Hello", {ev.ToolInput: stop})
        held.end()
        assert text_of(await collect(session, "Hello again")) == "Done."
    assert stop_of(events) == "cancelled"
    assert [call.status for call in calls_of(events).values()] == ["cancelled"]
    assert folded(events).messages[-1].text == "Half a word"
    wire.check(server.asked[1])


async def test_words_of_a_refusal_are_shown_where_a_structure_was_wanted(server: ModelServer) -> None:
    refusal = (
        {"role": "assistant", "content": None, "refusal": ""},
        {"refusal": "I will "},
        {"refusal": "not."},
    )
    server.play(say(*refusal))
    events = await run_turn(server.agent(OPENAI, response_format=ProviderStrategy(City)), "Where?")
    assert text_of(events) == "I will not."
    assert stop_of(events) == "refusal"
