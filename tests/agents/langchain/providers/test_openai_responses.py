"""OpenAI's Responses by LangChain's own class: items of every kind, and what the server is told of them."""

import json
from typing import Any

import pytest
from langchain_core.tools import tool
from langchain_openai import custom_tool
from langgraph.checkpoint.memory import InMemorySaver

from tests.agents.langchain.expected_blocks import PNG
from tests.agents.langchain.graphs import calls_of, converse, failure_of, folded, stop_of, terminal, weather
from tests.agents.langchain.providers.conftest import Options
from tests.agents.langchain.providers.model_server import ModelServer, pause
from tests.agents.langchain.providers.wires.responses import (
    Item,
    OpenAiResponses,
    breaks,
    comes_whole,
    function_call,
    message,
    reasoning,
    responds,
    stream,
)
from tests.hubs import collect, only, session_for, text_of
from trunkline import content as c
from trunkline import events as ev
from trunkline.commands import Prompt
from trunkline.session.session import Session

pytestmark = pytest.mark.asyncio(loop_scope="module")

WIRE = OpenAiResponses()
SITE = "https://a.example"
SEARCH: Item = {
    "id": "ws_1",
    "type": "web_search_call",
    "status": "completed",
    "action": {"type": "search", "query": "sun", "sources": [{"type": "url", "url": SITE}]},
}
LISTED: Item = {
    "id": "mcpl_1",
    "type": "mcp_list_tools",
    "server_label": "dice",
    "tools": [{"name": "roll", "input_schema": {"type": "object"}}],
}
ROLLED: Item = {
    "id": "mcp_1",
    "type": "mcp_call",
    "status": "completed",
    "server_label": "dice",
    "name": "roll",
    "arguments": '{"n": 2}',
    "output": "7",
    "error": None,
}
PARIS = function_call("call_a", "weather", {"city": "Paris"})
ROME = function_call("call_b", "weather", {"city": "Rome"})


@tool
def photograph(city: str) -> list[Any]:
    """Take a picture of a city."""
    return [
        {"type": "text", "text": city},
        {"type": "image", "base64": PNG, "mime_type": "image/png"},
        {"type": "file", "base64": "JVBERi0=", "mime_type": "application/pdf", "filename": "city.pdf"},
    ]


@custom_tool
def execute(code: str) -> str:
    """Run code."""
    return f"ran {code}"


@pytest.fixture(params=[None, "responses/v1", "v1"], ids=["unset", "responses", "standard"])
def settings(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Which shape LangChain gives its messages."""
    return {} if request.param is None else {"output_version": request.param}


def thoughts_in(events: list[Any]) -> str:
    return "".join(event.delta for event in only(events, ev.Thought))


# -- what is shown -----------------------------------------------------------------------------------


async def test_the_parts_of_a_summary_are_paragraphs(server: ModelServer, settings: Options) -> None:
    server.play(
        responds(reasoning("**First**\n\nOne.", "**Then**\n\nTwo."), reasoning("Three."), message("Hi"))
    )
    (events,) = await converse(server.agent(WIRE, settings=settings), "Think!")
    assert thoughts_in(events) == "**First**\n\nOne.\n\n**Then**\n\nTwo.\n\nThree."
    assert text_of(events) == "Hi"


async def test_a_thread_tells_the_paragraphs_that_were_streamed(
    server: ModelServer, settings: Options
) -> None:
    server.play(responds(reasoning("One.", "Two."), reasoning("Three."), message("Hi"), message("there")))
    agent = server.agent(WIRE, settings=settings, checkpointer=InMemorySaver())
    async with session_for(agent) as session:
        shown = folded(await collect(session, "Think!")).messages[-1]
        conversation = (await agent.history(session.view)).messages[-1]
    assert [conversation.text, shown.text] == ["Hi\n\nthere"] * 2


async def test_reasoning_without_a_summary_is_only_its_seal(server: ModelServer, settings: Options) -> None:
    server.play(responds(reasoning(sealed="c2VhbA=="), message("Hi")))
    (events,) = await converse(server.agent(WIRE, settings=settings), "Think!")
    assert [(one.delta, one.signature) for one in only(events, ev.Thought)] == [("", "c2VhbA==")]


async def test_two_messages_of_a_response_are_paragraphs_and_the_parts_of_one_too(
    server: ModelServer, settings: Options
) -> None:
    first, second = message("I look.", phase="commentary"), message("Found", "it.", phase="final_answer")
    server.play(responds(first, second))
    (events,) = await converse(server.agent(WIRE, settings=settings), "Look!")
    assert text_of(events) == "I look.\n\nFound\n\nit."


async def test_a_search_of_the_providers_own_is_a_call_with_pages_and_its_notes_are_sources(
    server: ModelServer, settings: Options
) -> None:
    notes = [
        {"type": "url_citation", "start_index": 0, "end_index": 5, "url": SITE, "title": "A"},
        {"type": "file_citation", "file_id": "file_1", "filename": "a.pdf", "index": 3},
        {"type": "file_citation", "file_id": "file_2", "filename": "b.pdf", "index": 4},
        {
            "type": "container_file_citation",
            "file_id": "cfile_1",
            "container_id": "cntr_1",
            "filename": "plot.png",
            "start_index": 0,
            "end_index": 4,
        },
        {"type": "file_path", "file_id": "file_3", "index": 5},
    ]
    server.play(responds(SEARCH, message("Sunny now", notes=notes)))
    (events,) = await converse(server.agent(WIRE, settings=settings), "How is the weather?")
    (call,) = calls_of(events).values()
    assert (call.name, call.kind, call.status) == ("web_search", "search", "completed")
    assert call.input == {"type": "search", "query": "sun"}
    assert call.content == (c.SourceBlock(source_id=SITE, url=SITE),)
    assert [(one.source_id, one.url, one.document) for one in only(events, ev.Source)] == [
        (SITE, SITE, None),
        ("file_1", None, "a.pdf"),
        ("file_2", None, "b.pdf"),
        ("cfile_1", None, "plot.png"),
        ("file_3", None, "file_3"),
    ]
    assert not only(events, ev.Notice)


async def test_what_a_search_in_files_found_is_shown_by_file(server: ModelServer, settings: Options) -> None:
    found: Item = {"file_id": "file_1", "filename": "a.pdf", "score": 0.9, "text": "Sunny.", "attributes": {}}
    item = {"id": "fs_1", "type": "file_search_call", "status": "completed", "queries": ["sun"]}
    server.play(responds({**item, "results": [found]}, {**item, "id": "fs_2"}, message("Sunny")))
    (events,) = await converse(server.agent(WIRE, settings=settings), "How is the weather?")
    first, second = calls_of(events).values()
    assert (first.status, first.input, first.raw_output) == ("completed", {"queries": ["sun"]}, [found])
    assert [(one.uri, one.text) for one in first.content] == [("file:a.pdf", "Sunny.")]
    assert (second.status, second.content) == ("completed", ())


async def test_code_that_the_provider_runs_shows_what_it_printed_and_drew(
    server: ModelServer, settings: Options
) -> None:
    item = {"type": "code_interpreter_call", "code": "print(1)", "container_id": "cntr_1"}
    drawn = [{"type": "logs", "logs": "1\n"}, {"type": "image", "url": f"{SITE}/i.png"}]
    ran = {**item, "id": "ci_1", "status": "completed", "outputs": drawn}
    half: Item = {**item, "id": "ci_2", "status": "incomplete", "outputs": []}
    server.play(responds(ran, half, message("Done")))
    (events,) = await converse(server.agent(WIRE, settings=settings), "Compute!")
    first, second = calls_of(events).values()
    assert (first.name, first.kind, first.input) == ("code_interpreter", "execute", {"code": "print(1)"})
    assert first.content == (c.TextBlock(text="1\n"), c.ImageBlock(mime_type="image/*", url=f"{SITE}/i.png"))
    assert (second.status, second.reason) == ("failed", "it was not finished")


async def test_a_picture_that_the_provider_makes_reaches_the_client_once(
    server: ModelServer, settings: Options
) -> None:
    made = {"id": "ig_1", "type": "image_generation_call", "status": "completed", "result": PNG}
    server.play(responds({**made, "output_format": "png", "revised_prompt": "a dot"}, message("A dot.")))
    (events,) = await converse(server.agent(WIRE, settings=settings), "Draw!")
    (picture,) = [event.content for event in only(events, ev.Media)]
    assert isinstance(picture, c.ImageBlock)
    assert (picture.data, picture.mime_type) == (PNG, "image/png")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ({"type": "mcp_tool_execution_error", "content": [{"type": "text", "text": "no dice"}]}, "no dice"),
        ({"type": "mcp_protocol_error", "code": 32600, "message": "no such tool"}, "no such tool"),
        ({"type": "mcp_tool_execution_error", "content": None}, "mcp_tool_execution_error"),
    ],
    ids=["tool", "protocol", "nothing"],
)
async def test_the_calls_of_a_remote_server_are_calls_and_their_errors_are_told(
    server: ModelServer, settings: Options, error: dict[str, Any], reason: str
) -> None:
    failed = {**ROLLED, "id": "mcp_2", "status": "failed", "output": None, "error": error}
    server.play(responds(LISTED, ROLLED, failed, message("Seven")))
    (events,) = await converse(server.agent(WIRE, settings=settings), "Roll!")
    listed, rolled, lost = calls_of(events).values()
    assert [listed.name, rolled.name, lost.name] == ["mcp_list_tools", "roll", "roll"]
    assert (rolled.status, rolled.input, rolled.raw_output) == ("completed", {"n": 2}, "7")
    assert (listed.status, lost.status, lost.reason) == ("completed", "failed", reason)
    assert not only(events, ev.Notice)


async def test_a_call_that_waits_for_an_approval_is_shown_and_says_so(
    server: ModelServer, settings: Options
) -> None:
    asked = {"id": "mcpr_1", "type": "mcp_approval_request", "server_label": "dice", "name": "roll"}
    server.play(responds(LISTED, {**asked, "arguments": '{"n": 2}'}))
    (events,) = await converse(server.agent(WIRE, settings=settings), "Roll!")
    call = calls_of(events)["mcpr_1"]
    assert (call.name, call.input, call.status) == ("roll", {"n": 2}, "failed")
    assert "require_approval" in str(call.reason)


async def test_a_custom_tool_is_called_with_its_text_and_its_output_is_shown(
    server: ModelServer, settings: Options, memory: Options
) -> None:
    item = {"id": "ctc_1", "type": "custom_tool_call", "status": "completed", "call_id": "call_1"}
    server.play(
        responds({**item, "name": "execute", "input": "print(1)"}),
        responds(message("Done")),
        responds(message("Yes")),
    )
    events, _ = await converse(server.agent(WIRE, execute, settings=settings, **memory), "Run!", "Really?")
    (call,) = calls_of(events).values()
    assert (call.name, call.input, call.status) == ("execute", {"__arg1": "print(1)"}, "completed")
    assert call.content == (c.TextBlock(text="ran print(1)"),)
    assert not only(events, ev.Raw)
    for asked in server.asked:
        WIRE.check(asked)
    assert "ran print(1)" in json.dumps(server.asked[2])


async def test_a_refusal_is_shown_and_is_the_reason_why_the_turn_ended(
    server: ModelServer, settings: Options
) -> None:
    server.play(responds(message(refusal="I will not do that.")), responds(message("Gladly.")))
    events, after = await converse(server.agent(WIRE, settings=settings), "Do it!", "Then help me.")
    assert [text_of(events), text_of(after)] == ["I will not do that.", "Gladly."]
    assert stop_of(events) == "refusal"


@pytest.mark.parametrize(
    "last",
    [
        {
            "type": "response.failed",
            "response": {
                "id": "resp_x",
                "object": "response",
                "created_at": 1,
                "status": "failed",
                "model": "gpt-5",
                "output": [],
                "error": {"code": "server_error", "message": "We broke."},
            },
        },
        {"type": "error", "code": "server_error", "message": "We broke.", "param": None},
    ],
    ids=["failed", "error"],
)
async def test_a_failure_in_the_middle_ends_the_turn_in_the_servers_words_and_the_next_one_works(
    server: ModelServer, settings: Options, memory: Options, last: dict[str, Any]
) -> None:
    server.play(breaks([*stream(0, message("Half")), *stream(1, PARIS)], last), responds(message("Better.")))
    events, after = await converse(
        server.agent(WIRE, weather, settings=settings, **memory), "How is the weather?", "Again!"
    )
    assert failure_of(events) == ("model_failed", "ValueError: We broke.")
    assert [text_of(events), text_of(after)] == ["Half", "Better."]
    (call,) = calls_of(events).values()
    assert call.status == "failed"
    WIRE.check(server.asked[1])


async def test_a_limit_that_is_reached_in_the_middle_is_one(server: ModelServer) -> None:
    error = {"type": "error", "code": "rate_limit_exceeded", "message": "Slow down.", "param": None}
    server.play(breaks(stream(0, message("Half")), error))
    (events,) = await converse(server.agent(WIRE), "Hello")
    assert failure_of(events) == ("rate_limited", "ValueError: Slow down.")


async def test_a_video_that_no_request_can_hold_does_not_end_the_conversation(
    server: ModelServer, memory: Options
) -> None:
    film = c.VideoBlock(data="AAAA", mime_type="video/mp4")
    prompt = Prompt(content=(c.TextBlock(text="Watch this!"), film))
    server.play(responds(message("I see none.")))
    events, after = await converse(server.agent(WIRE, **memory), prompt, "And?")
    assert failure_of(events)[0] == "input_refused"
    assert text_of(after) == "I see none."
    (asked,) = server.asked
    assert "[video/mp4: the model did not take it]" in json.dumps(asked)


async def test_a_response_that_is_not_streamed_shows_the_same(server: ModelServer, settings: Options) -> None:
    items = reasoning("One.", "Two.", sealed="a"), reasoning("Three.", sealed="b"), SEARCH, message("I ask.")
    server.play(comes_whole(*items, message("Now."), PARIS), comes_whole(message("Sunny.")))
    agent = server.agent(WIRE, weather, settings={"disable_streaming": True, **settings})
    (events,) = await converse(agent, "How is the weather?")
    assert thoughts_in(events) == "One.\n\nTwo.\n\nThree."
    assert text_of(events) == "I ask.\n\nNow.Sunny."
    assert [call.status for call in calls_of(events).values()] == ["completed", "completed"]
    WIRE.check(server.asked[1])


async def test_reasoning_tokens_are_counted(server: ModelServer) -> None:
    server.play(responds(reasoning("Hm."), PARIS), responds(message("Sunny.")))
    (events,) = await converse(server.agent(WIRE, weather), "How is the weather?")
    (usage,) = terminal(events).usage
    assert (usage.reasoning_tokens, usage.cached_input_tokens, usage.output_tokens) == (4, 10, 14)


# -- what the server is told -------------------------------------------------------------------------


async def test_the_history_of_thoughts_and_calls_is_one_that_the_server_takes(
    server: ModelServer, settings: Options, memory: Options
) -> None:
    server.play(
        responds(
            reasoning("One.", "Two.", sealed="a"), message("I ask."), PARIS, reasoning(sealed="b"), ROME
        ),
        responds(reasoning(sealed="c"), SEARCH, message("Sunny.")),
        responds(message("Again: sunny.")),
    )
    agent = server.agent(WIRE, weather, settings=settings, **memory)
    await converse(agent, "How is the weather?", "Again?")
    for asked in server.asked:
        WIRE.check(asked)
    kinds = [item.get("type") for item in server.asked[1]["input"]]
    assert kinds == [
        *("message", "reasoning", "message", "function_call", "reasoning", "function_call"),
        *("function_call_output", "function_call_output"),
    ]
    sealed = [item["encrypted_content"] for item in server.asked[2]["input"] if item["type"] == "reasoning"]
    assert sealed == (["a", "b", "c"] if memory else [])


async def test_an_answer_that_ended_in_its_thoughts_does_not_spoil_the_thread(
    server: ModelServer, settings: Options, memory: Options
) -> None:
    full = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    server.play(responds(reasoning("Hm.", sealed="a"), **full), responds(message("Better.")))
    events, after = await converse(server.agent(WIRE, settings=settings, **memory), "Think!", "Shorter!")
    assert (stop_of(events), text_of(after)) == ("max_tokens", "Better.")
    WIRE.check(server.asked[1])


async def test_a_response_is_followed_by_its_id_where_the_thread_knows_it(
    server: ModelServer, settings: Options, memory: Options
) -> None:
    server.play(responds(PARIS), responds(message("Sunny.")), responds(message("Again: sunny.")))
    agent = server.agent(WIRE, weather, settings={"use_previous_response_id": True, **settings}, **memory)
    await converse(agent, "How is the weather?", "Again?")
    first, second, third = server.asked
    assert "previous_response_id" not in first
    assert [item["type"] for item in second["input"]] == ["function_call_output"]
    assert str(second["previous_response_id"]).startswith("resp_")
    assert ("previous_response_id" in third) is bool(memory)
    WIRE.check(third)
    assert len(third["input"]) == (1 if memory else 5)


async def test_pictures_and_files_in_results_reach_the_model(server: ModelServer, memory: Options) -> None:
    server.play(
        responds(function_call("call_a", "photograph", {"city": "Paris"})),
        responds(message("Nice.")),
        responds(message("Still nice.")),
    )
    events, _ = await converse(server.agent(WIRE, photograph, **memory), "Show me Paris!", "And?")
    (call,) = calls_of(events).values()
    assert [type(block) for block in call.content] == [c.TextBlock, c.ImageBlock, c.ResourceBlock]
    for asked in server.asked[1:]:
        (output,) = [item["output"] for item in asked["input"] if item["type"] == "function_call_output"]
        assert [part["type"] for part in output] == ["input_text", "input_image", "input_file"]
        assert output[2]["filename"] == "city.pdf"


# -- cancelling --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("at", "place"), [(ev.Thought, 6), (ev.Text, 13), (ev.ToolInput, 18)])
async def test_after_a_cancelled_answer_the_next_prompt_is_one_that_the_server_takes(
    server: ModelServer, settings: Options, memory: Options, at: type[ev.Event], place: int
) -> None:
    whole = responds(reasoning("Hm.", sealed="a"), message("I ask."), PARIS)
    begun, rest = pause(whole, len(whole.pieces) - place)
    server.play(begun, responds(message("Gladly.")))
    async with session_for(server.agent(WIRE, weather, settings=settings, **memory)) as session:
        events = await collect(session, "How is the weather?", {at: lambda event: _cancel(session)})
        rest.end()
        after = await collect(session, "Something else!")
    assert (stop_of(events), text_of(after)) == ("cancelled", "Gladly.")
    WIRE.check(server.asked[1])


async def _cancel(session: Session) -> None:
    await session.cancel()
