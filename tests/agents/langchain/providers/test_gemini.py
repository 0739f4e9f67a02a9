"""Gemini by LangChain's own class: parts of every kind, why it stops, and what it is told of them again."""

from typing import Any

import pytest
from langchain.agents.middleware import HumanInTheLoopMiddleware

from tests.agents.langchain.expected_blocks import PNG
from tests.agents.langchain.graphs import answering, calls_of, converse, failure_of, folded, stop_of, weather
from tests.agents.langchain.providers.conftest import Options
from tests.agents.langchain.providers.model_server import ModelServer, Reply
from tests.agents.langchain.providers.wires.gemini import Gemini, chunk
from tests.agents.langchain.providers.wires.parts import events as says
from tests.hubs import collect, only, session_for, text_of
from trunkline import content as c
from trunkline import events as ev
from trunkline.conversation import SourcePart

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.filterwarnings(r"ignore:\s*Warning:UserWarning"),
]

WIRE = Gemini()
SEAL = "c2ln"
Part = dict[str, Any]


def answers(text: str) -> Reply:
    """A stream of one text."""
    return says(chunk({"text": text}, stop="STOP"))


def call(city: str, name: str = "weather", *, seal: str | None = None, **fields: Any) -> Part:
    """A call of a function, with the seal that the first of a step has."""
    made = {"functionCall": {"name": name, "args": {"city": city}, **fields}}
    return {**made, "thoughtSignature": seal} if seal else made


# -- what is shown -----------------------------------------------------------------------------------


async def test_thoughts_and_text_with_a_seal_are_what_they_are(
    server: ModelServer, settings: Options, memory: Options
) -> None:
    thoughts = [chunk({"text": piece, "thought": True}) for piece in ("Hm. ", "So.")]
    sealed = chunk({"text": "there", "thoughtSignature": SEAL}, stop="STOP")
    server.play(says(*thoughts, chunk({"text": "Hi "}), sealed), answers("Again."))
    events, after = await converse(server.agent(WIRE, settings=settings, **memory), "Hello", "Again!")
    assert [event.delta for event in only(events, ev.Thought)] == ["Hm. ", "So."]
    assert [text_of(events), text_of(after)] == ["Hi there", "Again."]
    output = next(one for one in server.asked[1]["contents"] if one["role"] == "model")["parts"][-1]
    assert output == {"text": "Hi there", **({"thoughtSignature": SEAL} if memory else {})}
    WIRE.check(server.asked[1])


@pytest.mark.parametrize(
    ("ids", "together"),
    [(("one", "two"), False), ((None, None), True), ((None, None), False)],
    ids=["named", "unnamed in one chunk", "unnamed in two"],
)
async def test_calls_of_one_step_are_told_apart_and_keep_their_seal(
    server: ModelServer, settings: Options, memory: Options, ids: tuple[Any, Any], together: bool
) -> None:
    named = [{"id": one} if one else {} for one in ids]
    parts = [call("Paris", seal=SEAL, **named[0]), call("Rome", **named[1])]
    chunks = [chunk(*parts)] if together else [chunk(part) for part in parts]
    server.play(says(*chunks, chunk({"text": ""}, stop="STOP")), answers("Sunny."), answers("Again."))
    agent = server.agent(WIRE, weather, settings=settings, **memory)
    events, _ = await converse(agent, "How is the weather?", "Again?")
    calls = list(calls_of(events).values())
    assert [(one.input["city"], one.status, one.raw_output) for one in calls] == [
        ("Paris", "completed", "It is sunny in Paris."),
        ("Rome", "completed", "It is sunny in Rome."),
    ]
    for asked in server.asked:
        WIRE.check(asked)


async def test_a_call_that_a_person_allowed_goes_on_with_its_seal(
    server: ModelServer, settings: Options, memory: Options
) -> None:
    server.play(says(chunk(call("Paris", seal=SEAL), stop="STOP")), answers("Sunny."))
    asking = HumanInTheLoopMiddleware(interrupt_on={"weather": True})
    agent = server.agent(WIRE, weather, settings=settings, middleware=[asking], **memory)
    async with session_for(agent) as session:
        allow = answering(session, option_id="approve", by="ann")
        events = await collect(session, "How is the weather?", allow)
    assert text_of(events) == "Sunny."
    WIRE.check(server.asked[1])


async def test_pages_that_an_answer_rests_on_are_sources(server: ModelServer, settings: Options) -> None:
    pages = [{"web": {"uri": f"https://{name}.example", "title": name}} for name in "ab"]
    supports = [
        {"segment": {"startIndex": 0, "endIndex": 5, "text": "Sunny"}, "groundingChunkIndices": [0, 1]},
        {"segment": {"startIndex": 6, "endIndex": 9, "text": "now"}, "groundingChunkIndices": [0]},
    ]
    found = {"webSearchQueries": ["sun"], "groundingChunks": pages, "groundingSupports": supports}
    last = chunk({"text": " now"}, stop="STOP", groundingMetadata=found)
    server.play(says(chunk({"text": "Sunny"}), last))
    (events,) = await converse(server.agent(WIRE, settings=settings), "How is the weather?")
    parts = folded(events).messages[-1].parts
    assert [(part.source_id, part.title) for part in parts if isinstance(part, SourcePart)] == [
        ("https://a.example", "a"),
        ("https://b.example", "b"),
    ]
    places = [(event.meta or {})["citation"]["start_index"] for event in only(events, ev.Source)]
    assert places[:2] == [0, 0]


async def test_a_document_that_an_answer_rests_on_is_a_source_too(server: ModelServer) -> None:
    kept = {"retrievedContext": {"title": "notes.txt", "text": "Sunny."}}
    found = {"groundingChunks": [kept, {"maps": {"uri": "https://maps.example", "title": "Paris"}}]}
    server.play(says(chunk({"text": "Sunny"}, stop="STOP", groundingMetadata=found)))
    (events,) = await converse(server.agent(WIRE), "How is the weather?")
    assert [(one.url, one.document or one.title) for one in only(events, ev.Source)] == [
        (None, "notes.txt"),
        ("https://maps.example", "Paris"),
    ]


async def test_code_that_google_runs_is_a_call_with_what_it_printed(
    server: ModelServer, settings: Options, memory: Options
) -> None:
    ran = [
        {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}},
        {"executableCode": {"language": "PYTHON", "code": "1 / 0"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "ZeroDivisionError"}},
    ]
    server.play(says(*map(chunk, ran), chunk({"text": "One."}, stop="STOP")), answers("Again."))
    events, _ = await converse(server.agent(WIRE, settings=settings, **memory), "Compute!", "Again?")
    first, second = calls_of(events).values()
    assert (first.kind, first.input["code"], first.status) == ("execute", "print(1)", "completed")
    assert first.content == (c.TextBlock(text="1\n"),)
    assert (second.input["code"], second.status, second.reason) == ("1 / 0", "failed", "ZeroDivisionError")
    assert not only(events, ev.Notice)
    WIRE.check(server.asked[1])


@pytest.mark.parametrize("seal", [{}, {"thoughtSignature": SEAL}], ids=["plain", "sealed"])
async def test_a_picture_in_an_answer_reaches_the_client_and_the_next_turn(
    server: ModelServer, settings: Options, memory: Options, seal: Part
) -> None:
    picture = {"inlineData": {"mimeType": "image/png", "data": PNG}, **seal}
    server.play(says(chunk({"text": "A dot:"}), chunk(picture, stop="STOP")), answers("Yes."))
    events, _ = await converse(server.agent(WIRE, settings=settings, **memory), "Draw!", "Is it a dot?")
    (shown,) = [event.content for event in only(events, ev.Media)]
    assert isinstance(shown, c.ImageBlock)
    assert (shown.data, shown.mime_type, text_of(events)) == (PNG, "image/png", "A dot:")
    assert WIRE.images(server.asked[1]) == [PNG]


@pytest.mark.parametrize(
    ("expected", "reason"),
    [
        ({"candidates": [{"finishReason": "RECITATION", "index": 0}]}, "refusal"),
        ({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}, "refusal"),
        ({"candidates": [{"content": {"role": "model"}, "finishReason": "STOP", "index": 0}]}, "end_turn"),
        ({"candidates": [{"finishReason": "MAX_TOKENS", "index": 0}]}, "max_tokens"),
    ],
    ids=["recitation", "blocked", "empty", "length"],
)
async def test_an_answer_without_content_says_why_and_does_not_spoil_the_thread(
    server: ModelServer, memory: Options, expected: dict[str, Any], reason: ev.StopReason
) -> None:
    server.play(says({**expected, "modelVersion": WIRE.name}), answers("Better."))
    events, after = await converse(server.agent(WIRE, **memory), "Go on!", "Again!")
    assert (stop_of(events), text_of(after)) == (reason, "Better.")
    WIRE.check(server.asked[1])


async def test_a_call_that_google_could_not_make_is_a_failure_and_not_silence(
    server: ModelServer, memory: Options
) -> None:
    output = {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "index": 0}]}
    server.play(says({**output, "modelVersion": WIRE.name}), answers("Better."))
    events, after = await converse(server.agent(WIRE, weather, **memory), "Go on!", "Again!")
    code, words = failure_of(events)
    assert (code, words.partition(":")[0]) == (
        "model_failed",
        "the model stopped with MALFORMED_FUNCTION_CALL",
    )
    assert text_of(after) == "Better."
    WIRE.check(server.asked[1])


async def test_an_error_in_the_middle_ends_the_turn_in_googles_words(
    server: ModelServer, settings: Options, memory: Options
) -> None:
    error = {"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}
    server.play(says(chunk({"text": "Half"}), error), answers("Better."))
    events, after = await converse(server.agent(WIRE, settings=settings, **memory), "Go on!", "Again!")
    code, words = failure_of(events)
    assert (code, "The model is overloaded." in words) == ("model_failed", True)
    assert [text_of(events), text_of(after)] == ["Half", "Better."]
    WIRE.check(server.asked[1])
