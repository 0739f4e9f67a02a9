"""A chat-completions model: all ids of items are the same, and arguments of calls interleave."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from agents import Agent, ModelSettings, function_tool
from tests.agents.openai import chat_server
from tests.agents.openai.stream_events import runs
from trunkline import events as ev


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with chat_server.serving() as address:
        yield address


@function_tool
def echo(text: str) -> str:
    """Say it again."""
    return text


async def talk(url: str, *answers: dict[str, Any], **options: Any) -> runs.Played:
    """Play the answers of one prompt."""
    async with chat_server.chat_model(url) as model:
        agent = Agent[Any](name="main", model=model, tools=[echo], **options)
        return await runs.play(agent, json.dumps(answers))


def piece(index: int, arguments: str, **fields: Any) -> dict[str, Any]:
    """A delta of a call."""
    function = {"arguments": arguments, **({"name": "echo"} if fields else {})}
    return {"tool_calls": [{"index": index, "function": function, **fields}]}


async def test_parallel_calls_keep_their_own_arguments(url: str) -> None:
    chunks = [
        {"content": "Both. "},
        *(piece(at, "", id=f"call_{at}", type="function") for at in (0, 1)),
        *(piece(at, text) for text in ('{"te', 'xt":') for at in (0, 1)),
        *(piece(at, f'"{at}"}}') for at in (1, 0)),
    ]
    played = await talk(url, {"chunks": chunks, "finish": "tool_calls"}, {"chunks": [{"content": "Done."}]})
    assert [(one.call_id, one.input, one.raw_output) for one in played.folded.calls.values()] == [
        ("call_0", {"text": "0"}, "0"),
        ("call_1", {"text": "1"}, "1"),
    ]
    assert [one.arguments for one in played.folded.calls.values()] == ['{"text":"0"}', '{"text":"1"}']
    assert played.text == "Both. Done."
    assert len({message.message_id for message in played.folded.messages}) == 2


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
async def test_reasoning_comes_before_the_answer(url: str, key: str) -> None:
    chunks = [{key: "I "}, {key: "think"}, {"content": "so"}]
    played = await talk(url, {"chunks": chunks})
    (message,) = played.folded.messages
    assert (runs.thoughts_of(message), runs.text_of(message)) == ("I think", "so")


async def test_a_refusal_is_shown_and_stops(url: str) -> None:
    played = await talk(url, {"chunks": [{"refusal": "I "}, {"refusal": "will not"}]})
    assert (played.text, played.stop) == ("I will not", "refusal")


async def test_an_answer_that_was_filtered_is_a_refusal(url: str) -> None:
    played = await talk(url, {"chunks": [], "finish": "content_filter"})
    assert played.stop == "refusal"
    assert "content filter" in played.text


async def test_an_answer_that_is_cut_off_at_its_limit_says_so(url: str) -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}
    settings = ModelSettings(max_tokens=5, include_usage=True)
    cut = {"chunks": [{"content": "half an"}], "finish": "length", "usage": usage}
    played = await talk(url, cut, model_settings=settings)
    assert (played.text, played.stop) == ("half an", "max_tokens")


async def test_an_answer_that_is_cut_off_before_it_began_says_so(url: str) -> None:
    played = await talk(url, {"chunks": [], "finish": "length"})
    assert played.error is not None
    assert played.stop == "max_tokens"


async def test_usage_names_provider_and_model(url: str) -> None:
    usage = {
        "prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14,
        "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 2},
    }  # fmt: skip
    played = await talk(url, {"chunks": [{"content": "x"}], "usage": usage})
    assert played.usage == [
        ev.TokenUsage(
            provider="acme", model="player", input_tokens=9, output_tokens=5, reasoning_tokens=2,
            cached_input_tokens=4,
        )
    ]  # fmt: skip


async def test_usage_may_be_missing(url: str) -> None:
    assert (await talk(url, {"chunks": [{"content": "x"}]})).usage == []


async def test_citations_at_the_end_are_sources(url: str) -> None:
    cited = {"url": "https://a.example", "title": "A", "start_index": 0, "end_index": 1}
    chunks = [{"content": "x", "annotations": [{"type": "url_citation", "url_citation": cited}]}]
    played = await talk(url, {"chunks": chunks})
    assert [(one.url, one.title) for one in played.of(ev.Source)] == [("https://a.example", "A")]


@pytest.mark.parametrize(
    ("status", "code", "ours"),
    [
        (401, "invalid_api_key", "authentication_failed"),
        (404, "model_not_found", "model_not_found"),
        (429, "rate_limit_exceeded", "rate_limited"),
        (400, "context_length_exceeded", "context_overflow"),
        (500, None, "model_failed"),
    ],
)
async def test_an_error_of_the_server_has_a_code_and_its_text(
    url: str, status: int, code: str | None, ours: str
) -> None:
    played = await talk(url, {"error": [status, {"message": "not like this", "code": code}]})
    assert isinstance(played.terminal, ev.TurnFailed)
    assert played.terminal.code == ours
    assert "not like this" in played.terminal.message


async def test_a_call_of_a_tool_that_does_not_exist_fails_the_turn_and_the_call(url: str) -> None:
    call = {"index": 0, "id": "c1", "type": "function", "function": {"name": "nobody", "arguments": "{}"}}
    played = await talk(url, {"chunks": [{"tool_calls": [call]}], "finish": "tool_calls"})
    assert isinstance(played.terminal, ev.TurnFailed)
    assert played.terminal.code == "model_failed"
    assert played.call("c1").status == "failed"


async def test_thinking_blocks_seal_the_reasoning(url: str) -> None:
    blocks = [{"type": "thinking", "thinking": "so"}, {"type": "thinking", "signature": "sealed"}]
    chunks = [{"reasoning_content": "so", "thinking_blocks": [blocks[0]]}, {"thinking_blocks": [blocks[1]]},
              {"content": "yes"}]  # fmt: skip
    played = await talk(url, {"chunks": chunks})
    assert played.text == "yes"
    assert [one.signature for one in played.of(ev.Thought)] == [None, "sealed"]


async def test_structured_output_is_the_text_of_its_json(url: str) -> None:
    chunks = [{"content": '{"response":'}, {"content": "[1]}"}]
    played = await talk(url, {"chunks": chunks}, output_type=list[int])
    assert (played.text, played.result.final_output) == ('{"response":[1]}', [1])
