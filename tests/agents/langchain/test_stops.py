from __future__ import annotations

import asyncio
import enum
from types import SimpleNamespace
from typing import Any

import anthropic
import httpx2
import pytest
from google.genai import errors as google
from hypothesis import given
from hypothesis import strategies as st
from langchain.agents.middleware import ModelCallLimitMiddleware, ToolCallLimitMiddleware
from langchain_core.exceptions import (
    ContextOverflowError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelError,
    ModelRateLimitError,
    ModelTimeoutError,
)
from langchain_core.messages import AIMessage, AIMessageChunk
from langgraph.errors import GraphRecursionError
from pydantic import BaseModel, ValidationError

from tests.agents.langchain.graphs import weather
from tests.agents.langchain.loose import create_agent
from trunkline import events as ev
from trunkline.agents.langchain.stops import (
    code_of,
    explain,
    map_error_to_content,
    map_to_stop_reason,
    usage_of,
)
from trunkline.content import TextBlock
from trunkline.errors import AuthenticationRequired
from trunkline.testing.chat import ScriptedChatModel, call

# -- finish reasons --------------------------------------------------------------------------------

FINISHES: dict[str, list[tuple[str, dict[str, Any], ev.StopReason]]] = {
    "openai": [
        ("stop", {"finish_reason": "stop"}, "end_turn"),
        ("tools", {"finish_reason": "tool_calls"}, "end_turn"),
        ("length", {"finish_reason": "length"}, "max_tokens"),
        ("filter", {"finish_reason": "content_filter"}, "refusal"),
        (
            "responses, length",
            {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            "max_tokens",
        ),
        (
            "responses, filter",
            {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
            "refusal",
        ),
        ("responses, complete", {"status": "completed", "incomplete_details": None}, "end_turn"),
    ],
    "anthropic": [
        ("end", {"stop_reason": "end_turn"}, "end_turn"),
        ("pause", {"stop_reason": "pause_turn"}, "end_turn"),
        ("sequence", {"stop_reason": "stop_sequence"}, "end_turn"),
        ("length", {"stop_reason": "max_tokens"}, "max_tokens"),
        ("window", {"stop_reason": "model_context_window_exceeded"}, "max_tokens"),
        ("refusal", {"stop_reason": "refusal"}, "refusal"),
    ],
    "google": [
        ("stop", {"finish_reason": "STOP"}, "end_turn"),
        ("length", {"finish_reason": "MAX_TOKENS"}, "max_tokens"),
        ("merged", {"finish_reason": "MAX_TOKENSMAX_TOKENS"}, "max_tokens"),
        ("safety", {"finish_reason": "FinishReason.SAFETY"}, "refusal"),
        ("recitation", {"finish_reason": "RECITATION"}, "refusal"),
        ("malformed", {"finish_reason": "MALFORMED_FUNCTION_CALL"}, "end_turn"),
        ("blocked", {"prompt_feedback": {"block_reason": "PROHIBITED_CONTENT"}}, "refusal"),
        ("not blocked", {"prompt_feedback": {"block_reason": 0}, "finish_reason": "STOP"}, "end_turn"),
        (
            "not blocked, in words",
            {"prompt_feedback": {"block_reason": "BLOCK_REASON_UNSPECIFIED"}},
            "end_turn",
        ),
    ],
    "bedrock": [
        ("end", {"stopReason": "end_turn"}, "end_turn"),
        ("length", {"stopReason": "max_tokens"}, "max_tokens"),
        ("guardrail", {"stopReason": "guardrail_intervened"}, "refusal"),
        ("filter", {"stopReason": "content_filtered"}, "refusal"),
    ],
    "ollama": [
        ("stop", {"done_reason": "stop"}, "end_turn"),
        ("length", {"done_reason": "length"}, "max_tokens"),
    ],
    "mistral": [("length", {"finish_reason": "model_length"}, "max_tokens")],
    "cohere": [
        ("complete", {"finish_reason": "COMPLETE"}, "end_turn"),
        ("length", {"finish_reason": "MAX_TOKENS"}, "max_tokens"),
        ("limit", {"finish_reason": "ERROR_LIMIT"}, "max_tokens"),
        ("toxic", {"finish_reason": "ERROR_TOXIC"}, "refusal"),
        ("cancelled", {"finish_reason": "USER_CANCEL"}, "cancelled"),
    ],
    "nobody": [("nothing", {}, "end_turn")],
}
ROWS = [pytest.param(row[1], row[2], id=f"{who}: {row[0]}") for who, rows in FINISHES.items() for row in rows]


@pytest.mark.parametrize(("metadata", "reason"), ROWS)
def test_a_finish_reason_is_understood(metadata: dict[str, Any], reason: str) -> None:
    assert map_to_stop_reason(metadata) == reason
    assert map_to_stop_reason({"response_metadata": metadata}) == reason
    assert map_to_stop_reason(AIMessage(content="x", response_metadata=metadata)) == reason


def test_a_reason_may_come_alone_or_as_an_enum() -> None:
    finish = enum.Enum("finish", ["MAX_TOKENS"])
    assert map_to_stop_reason("length") == "max_tokens"
    assert map_to_stop_reason({"finish_reason": finish["MAX_TOKENS"]}) == "max_tokens"
    assert map_to_stop_reason(None) == "end_turn"


def test_a_refusal_is_seen_wherever_the_provider_puts_it() -> None:
    beside = AIMessage(
        content="", additional_kwargs={"refusal": "No."}, response_metadata={"finish_reason": "stop"}
    )
    inside = AIMessage(content=[{"type": "refusal", "refusal": "No."}])
    neither = AIMessage(
        content=["fine", {"type": "text", "text": "refusal"}], additional_kwargs={"refusal": None}
    )
    assert map_to_stop_reason(beside) == map_to_stop_reason(inside) == "refusal"
    assert map_to_stop_reason(neither) == "end_turn"


# -- limits, as LangChain really reports them ------------------------------------------------------


@pytest.mark.parametrize(
    "limit",
    [
        ModelCallLimitMiddleware(run_limit=1, exit_behavior="end"),
        ToolCallLimitMiddleware(run_limit=1, exit_behavior="end"),
        ToolCallLimitMiddleware(tool_name="weather", run_limit=1, exit_behavior="end"),
    ],
    ids=["model calls", "tool calls", "calls of one tool"],
)
async def test_a_limit_that_ends_the_run_is_one_of_requests(limit: Any) -> None:
    asks = [call("weather", {"city": "Bonn"})], [call("weather", {"city": "Kiel"})], "never said"
    agent = create_agent(ScriptedChatModel(*asks), [weather], middleware=[limit])
    result = await agent.ainvoke({"messages": ["hi"]})
    assert map_to_stop_reason(result["messages"][-1]) == "max_turn_requests"


@pytest.mark.parametrize(
    "limit",
    [
        ModelCallLimitMiddleware(run_limit=1, exit_behavior="error"),
        ToolCallLimitMiddleware(run_limit=1, exit_behavior="error"),
        None,
    ],
    ids=["model calls", "tool calls", "recursion"],
)
async def test_a_limit_that_raises_is_one_of_requests(limit: Any) -> None:
    model = ScriptedChatModel(*([call("weather", {"city": "Bonn"})] for _ in range(9)))
    agent = create_agent(model, [weather], middleware=[] if limit is None else [limit])
    with pytest.raises(Exception, match=r"(?i)limit") as raised:
        await agent.ainvoke({"messages": ["hi"]}, {"recursion_limit": 6})
    assert map_to_stop_reason(raised.value) == "max_turn_requests"


def test_a_model_that_talks_about_limits_has_not_reached_one() -> None:
    said = AIMessage(
        content="Model call limits exceeded: that is a message.", response_metadata={"finish_reason": "stop"}
    )
    assert map_to_stop_reason(said) == "end_turn"


# -- errors ----------------------------------------------------------------------------------------


def anthropic_error(
    made: type[anthropic.APIStatusError], status: int, kind: str, message: str, **headers: str
) -> anthropic.APIStatusError:
    """An error of Anthropic's package, as it makes one of a response."""
    body = {"type": "error", "error": {"type": kind, "message": message}}
    request = httpx2.Request("POST", "https://api.anthropic.com/v1/messages")
    response = httpx2.Response(status, json=body, headers=headers, request=request)
    return made(f"Error code: {status} - {body}", response=response, body=body)


def named(name: str, message: str = "", **attributes: Any) -> Exception:
    """An error known by its name, as one of a package that is not installed."""
    error = type(name, (Exception,), {})(message)
    vars(error).update(attributes)
    return error


def test_a_rate_limit_is_told_in_the_providers_words_with_when_to_try_again() -> None:
    error = anthropic_error(
        anthropic.RateLimitError, 429, "rate_limit_error", "You sent\n too much.", **{"retry-after": "20"}
    )
    assert explain(error) == "RateLimitError: You sent too much. (try again in 20 s)"
    assert code_of(error) == "rate_limited"
    assert map_to_stop_reason(error) == "end_turn"


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"Retry-After-Ms": "150", "retry-after": "1"}, " (try again in 150 ms)"),
        (
            {"retry-after": "Mon, 16 Nov 2026 10:00:00 GMT"},
            " (try again after Mon, 16 Nov 2026 10:00:00 GMT)",
        ),
        ({}, ""),
    ],
)
def test_when_to_try_again_comes_in_several_shapes(headers: dict[str, str], wait: str) -> None:
    error = named("RateLimitError", "slow down", response=SimpleNamespace(headers=headers))
    assert explain(error) == f"RateLimitError: slow down{wait}"


def test_googles_delay_is_told() -> None:
    body = {
        "error": {
            "code": 429,
            "message": "Quota exceeded.",
            "status": "RESOURCE_EXHAUSTED",
            "details": ["odd", {"@type": "RetryInfo", "retryDelay": "17s"}],
        }
    }
    error = google.ClientError(429, body)
    assert explain(error) == "ClientError: Quota exceeded. (try again in 17s)"
    assert code_of(error) == "rate_limited"


CODES: list[tuple[str, BaseException, str, str]] = [
    ("our own", AuthenticationRequired("log in"), "authentication_required", "log in"),
    ("any other", ValueError("boom"), "agent_failed", "ValueError: boom"),
    ("without words", KeyError(), "agent_failed", "KeyError"),
    ("rate limit", ModelRateLimitError("slow"), "rate_limited", "ModelRateLimitError: slow"),
    ("overflow", ContextOverflowError("long"), "context_overflow", "ContextOverflowError: long"),
    ("key", ModelAuthenticationError("key"), "authentication_failed", "ModelAuthenticationError: key"),
    ("timeout", ModelTimeoutError("late"), "model_timeout", "ModelTimeoutError: late"),
    ("connection", ModelConnectionError("gone"), "model_unreachable", "ModelConnectionError: gone"),
    ("model", ModelError("odd"), "model_failed", "ModelError: odd"),
    (
        "anthropic key",
        anthropic_error(anthropic.AuthenticationError, 401, "authentication_error", "invalid x-api-key"),
        "authentication_failed",
        "AuthenticationError: invalid x-api-key",
    ),
    (
        "anthropic overload",
        anthropic_error(anthropic.OverloadedError, 529, "overloaded_error", "Overloaded"),
        "model_failed",
        "OverloadedError: Overloaded",
    ),
    (
        "anthropic model",
        anthropic_error(anthropic.NotFoundError, 404, "not_found_error", "model: x"),
        "model_not_found",
        "NotFoundError: model: x",
    ),
    (
        "openai overflow",
        named(
            "BadRequestError",
            "Error code: 400 - {...}",
            status_code=400,
            body={"message": "Too long.", "code": "context_length_exceeded"},
        ),
        "context_overflow",
        "BadRequestError: Too long.",
    ),
    (
        "openai quota",
        named("APIError", "x", body={"code": "insufficient_quota", "message": "Pay first."}),
        "rate_limited",
        "APIError: Pay first.",
    ),
    (
        "google server",
        google.ServerError(503, {"error": {"message": "Busy."}}),
        "model_failed",
        "ServerError: Busy.",
    ),
    (
        "aws",
        named(
            "ClientError",
            "An error occurred",
            response={
                "Error": {"Code": "ValidationException", "Message": "Bad."},
                "ResponseMetadata": {"HTTPStatusCode": 403},
            },
        ),
        "authentication_failed",
        "ClientError: Bad.",
    ),
    (
        "aws throttling",
        named("ClientError", "x", response={"Error": {"Code": "ThrottlingException", "Message": "Slow."}}),
        "rate_limited",
        "ClientError: Slow.",
    ),
    (
        "a tool's request",
        named(
            "HTTPStatusError", "Client error '404'", response=SimpleNamespace(status_code=404, headers=None)
        ),
        "agent_failed",
        "HTTPStatusError: Client error '404'",
    ),
    (
        "a plain body",
        named("APIError", "x", body={"error": "Just so."}),
        "model_failed",
        "APIError: Just so.",
    ),
    (
        "an empty body",
        named("APIError", "x", body={"error": {}, "message": " "}),
        "model_failed",
        "APIError: x",
    ),
]


@pytest.mark.parametrize(
    ("error", "code", "words"), [row[1:] for row in CODES], ids=[row[0] for row in CODES]
)
def test_an_error_has_a_code_and_words(error: BaseException, code: str, words: str) -> None:
    assert code_of(error) == code
    assert explain(error) == words
    (block,) = map_error_to_content(error)
    assert block == TextBlock(text=words, meta={"error": {"type": type(error).__name__, "code": code}})


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (asyncio.CancelledError(), "cancelled"),
        (GraphRecursionError("x"), "max_turn_requests"),
        (named("LengthFinishReasonError"), "max_tokens"),
        (named("ContentFilterFinishReasonError"), "refusal"),
        (named("BadRequestError", code="content_filter", status_code=400), "refusal"),
        (named("BadRequestError", body={"error": {"code": "content_filter"}}), "refusal"),
        (ExceptionGroup("all", [GraphRecursionError("x"), ValueError("y")]), "max_turn_requests"),
        (ValueError("content_filter"), "end_turn"),
        (ContextOverflowError("too long"), "end_turn"),
    ],
)
def test_an_error_may_be_a_way_to_stop(error: BaseException, reason: str) -> None:
    assert map_to_stop_reason(error) == reason


def test_what_caused_an_error_counts() -> None:
    error = RuntimeError("the node failed")
    error.__cause__ = anthropic_error(anthropic.RateLimitError, 429, "rate_limit_error", "Slow.")
    assert code_of(error) == "rate_limited"
    error.__cause__ = error
    assert code_of(error) == "agent_failed"
    assert map_to_stop_reason(error) == "end_turn"


def test_several_errors_at_once_are_told_by_the_first() -> None:
    several = ExceptionGroup("all", [ValueError("one"), KeyError("two")])
    assert explain(several) == "ValueError: one (and 1 more)"
    assert explain(ExceptionGroup("all", [ValueError("one")])) == "ValueError: one"


def test_arguments_that_do_not_fit_are_told_field_by_field() -> None:
    class City(BaseModel):
        name: str
        size: int

    with pytest.raises(ValidationError) as raised:
        City.model_validate({"size": "big"})
    assert explain(raised.value) == (
        "ValidationError: name: Field required; "
        "size: Input should be a valid integer, unable to parse string as an integer"
    )
    with pytest.raises(ValidationError) as raised:
        City.model_validate(3)
    assert explain(raised.value).startswith("ValidationError: Input should be")


def test_langgraphs_advertisement_is_left_out() -> None:
    error = GraphRecursionError("Recursion limit of 4 reached.\nFor troubleshooting, visit: https://x")
    assert explain(error) == "GraphRecursionError: Recursion limit of 4 reached."


def test_a_stack_trace_is_never_told() -> None:
    trace = 'Traceback (most recent call last):\n  File "/a.py", line 1\nValueError: boom'
    assert explain(RuntimeError(f"worker died\n{trace}")) == "RuntimeError: worker died"
    assert explain(ValueError(trace)) == "ValueError: boom"


def test_an_error_that_cannot_be_printed_still_has_its_name() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no")

    assert explain(Mute()) == "Mute"


@given(st.text(max_size=2000), st.sampled_from(["", "20"]))
def test_an_error_is_one_line_of_bounded_length(text: str, after: str) -> None:
    headers = {"retry-after": after} if after else {}
    told = explain(named("RateLimitError", text, response=SimpleNamespace(headers=headers)))
    assert len(told.splitlines()) == 1
    assert len(told) <= 500
    assert told.startswith("RateLimitError")


# -- tokens ----------------------------------------------------------------------------------------


def test_tokens_are_read_with_their_details() -> None:
    message = AIMessageChunk(
        content="x",
        usage_metadata={
            "input_tokens": 10,
            "output_tokens": 5,
            "total_tokens": 15,
            "input_token_details": {"cache_read": 4, "cache_creation": 3},
            "output_token_details": {"reasoning": 2},
        },
        response_metadata={"model_provider": "anthropic", "model_name": "claude"},
    )
    assert usage_of(message) == ev.TokenUsage(
        provider="anthropic",
        model="claude",
        input_tokens=10,
        output_tokens=5,
        reasoning_tokens=2,
        cached_input_tokens=4,
        cache_write_tokens=3,
    )


@pytest.mark.parametrize(
    "metadata",
    [
        {"token_usage": {"prompt_tokens": 3, "completion_tokens": 2}, "model": "m"},
        {"usage": {"input_tokens": 3, "output_tokens": 2}, "model": "m"},
    ],
)
def test_tokens_are_found_in_older_metadata(metadata: dict[str, Any]) -> None:
    message = AIMessage(content="x", response_metadata=metadata)
    assert usage_of(message) == ev.TokenUsage(model="m", input_tokens=3, output_tokens=2)


def test_a_message_without_tokens_cost_nothing_we_know_of() -> None:
    assert usage_of(AIMessage(content="x")) is None
    assert usage_of(None) is None
