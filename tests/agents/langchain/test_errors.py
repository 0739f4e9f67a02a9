from types import SimpleNamespace
from typing import Any

import anthropic
import httpx
import httpx2
import pytest
from google.genai import errors as google
from hypothesis import given
from hypothesis import strategies as st
from langchain.agents.structured_output import ToolStrategy
from langchain_core.exceptions import (
    ContextOverflowError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelError,
    ModelRateLimitError,
    ModelTimeoutError,
)
from langgraph.errors import GraphRecursionError
from pydantic import BaseModel, ValidationError

from tests.agents.langchain.graphs import agent_of, calls_of, run_turn
from trunkline.agents.langchain.errors import code_of, explain, map_error_to_content
from trunkline.content import TextBlock
from trunkline.errors import AuthenticationRequired
from trunkline.testing.chat import ScriptedChatModel, call


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


CODES: dict[str, tuple[BaseException, str, str]] = {
    "our own": (AuthenticationRequired("log in"), "authentication_required", "log in"),
    "any other": (ValueError("boom"), "agent_failed", "ValueError: boom"),
    "without words": (KeyError(), "agent_failed", "KeyError"),
    "rate limit": (ModelRateLimitError("slow"), "rate_limited", "ModelRateLimitError: slow"),
    "overflow": (ContextOverflowError("long"), "context_overflow", "ContextOverflowError: long"),
    "key": (ModelAuthenticationError("key"), "authentication_failed", "ModelAuthenticationError: key"),
    "timeout": (ModelTimeoutError("late"), "model_timeout", "ModelTimeoutError: late"),
    "connection": (ModelConnectionError("gone"), "model_unreachable", "ModelConnectionError: gone"),
    "model": (ModelError("odd"), "model_failed", "ModelError: odd"),
    "anthropic key": (
        anthropic_error(anthropic.AuthenticationError, 401, "authentication_error", "invalid x-api-key"),
        "authentication_failed",
        "AuthenticationError: invalid x-api-key",
    ),
    "anthropic overload": (
        anthropic_error(anthropic.OverloadedError, 529, "overloaded_error", "Overloaded"),
        "model_failed",
        "OverloadedError: Overloaded",
    ),
    "anthropic model": (
        anthropic_error(anthropic.NotFoundError, 404, "not_found_error", "model: x"),
        "model_not_found",
        "NotFoundError: model: x",
    ),
    "openai overflow": (
        named(
            "BadRequestError",
            "Error code: 400 - {...}",
            status_code=400,
            body={"message": "Too long.", "code": "context_length_exceeded"},
        ),
        "context_overflow",
        "BadRequestError: Too long.",
    ),
    "openai quota": (
        named("APIError", "x", body={"code": "insufficient_quota", "message": "Pay first."}),
        "rate_limited",
        "APIError: Pay first.",
    ),
    "google server": (
        google.ServerError(503, {"error": {"message": "Busy."}}),
        "model_failed",
        "ServerError: Busy.",
    ),
    "aws": (
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
    "aws throttling": (
        named("ClientError", "x", response={"Error": {"Code": "ThrottlingException", "Message": "Slow."}}),
        "rate_limited",
        "ClientError: Slow.",
    ),
    "a tool's request": (
        named(
            "HTTPStatusError", "Client error '404'", response=SimpleNamespace(status_code=404, headers=None)
        ),
        "agent_failed",
        "HTTPStatusError: Client error '404'",
    ),
    "a plain body": (
        named("APIError", "x", body={"error": "Just so."}),
        "model_failed",
        "APIError: Just so.",
    ),
    "an empty body": (
        named("APIError", "x", body={"error": {}, "message": " "}),
        "model_failed",
        "APIError: x",
    ),
}


@pytest.mark.parametrize(("error", "code", "words"), CODES.values(), ids=CODES)
def test_an_error_has_a_code_and_words(error: BaseException, code: str, words: str) -> None:
    assert code_of(error) == code
    assert explain(error) == words
    (block,) = map_error_to_content(error)
    assert block == TextBlock(text=words, meta={"error": {"type": type(error).__name__, "code": code}})


def test_what_caused_an_error_counts() -> None:
    error = RuntimeError("the node failed")
    error.__cause__ = anthropic_error(anthropic.RateLimitError, 429, "rate_limit_error", "Slow.")
    assert code_of(error) == "rate_limited"
    error.__cause__ = error
    assert code_of(error) == "agent_failed"


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
    output = explain(named("RateLimitError", text, response=SimpleNamespace(headers=headers)))
    assert len(output.splitlines()) == 1
    assert len(output) <= 500
    assert output.startswith("RateLimitError")


def answered(status: int, text: str) -> httpx.HTTPStatusError:
    """An error of a client that asked by itself and got this."""
    request = httpx.Request("POST", "https://models.test/v1")
    response = httpx.Response(status, text=text, headers={"retry-after": "5"}, request=request)
    return httpx.HTTPStatusError(f"Error response {status}: {text}", request=request, response=response)


def raise_in_model(error: Exception) -> Exception:
    """The error as it comes out of a model whose client raised it."""
    model = ScriptedChatModel(error)
    with pytest.raises(type(error)) as raised:
        model.invoke("Go!")
    return raised.value


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (httpx.RemoteProtocolError("peer closed"), "model_unreachable"),
        (httpx.ConnectError("refused"), "model_unreachable"),
        (httpx.ReadTimeout("slow"), "model_timeout"),
        (ConnectionResetError("reset"), "model_unreachable"),
        (TimeoutError("slow"), "model_timeout"),
        (answered(429, "busy"), "rate_limited"),
        (answered(500, "broken"), "model_failed"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_a_models_client_raises_is_the_models_failure_and_nobody_elses(
    error: Exception, code: str
) -> None:
    assert code_of(error) == "agent_failed", "a node that asks somebody else"
    assert code_of(raise_in_model(error)) == code


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"error": {"message": "Too much."}}', "HTTPStatusError: Too much. (try again in 5 s)"),
        ('{"detail": "Too much."}', "HTTPStatusError: Too much. (try again in 5 s)"),
        ("no JSON", "HTTPStatusError: Error response 429: no JSON (try again in 5 s)"),
    ],
)
def test_the_answer_to_a_models_client_is_told_in_its_own_words(text: str, words: str) -> None:
    assert explain(raise_in_model(answered(429, text))) == words


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"error": {"message": "This model does not support image input."}}', "input_refused"),
        ('{"error": {"message": "The request is too large."}}', "input_refused"),
        ('{"error": {"message": "messages.0.content.1.image_url: not taken"}}', "input_refused"),
        ('{"error": {"message": "Your credit balance is too low."}}', "request_refused"),
        (
            '{"error": {"message": "Your profile has no provision: see our documentation."}}',
            "request_refused",
        ),
    ],
)
def test_a_refusal_says_whether_it_is_for_what_the_request_holds(text: str, code: str) -> None:
    assert code_of(raise_in_model(answered(400, text))) == code
    assert code_of(answered(400, text)) == "agent_failed", "nobody asked a model"
    assert code_of(named("HTTPException", text, status_code=400)) == "model_failed"


def test_what_stands_around_a_models_failure_does_not_hide_it() -> None:
    limit = raise_in_model(answered(429, "{}"))
    for around in (ValueError("the planner failed"), RuntimeError("the planner failed")):
        around.__cause__ = limit
        assert code_of(around) == "rate_limited"


@pytest.mark.parametrize(
    ("expected", "code", "words"),
    [
        ({"code": "rate_limit_exceeded", "message": "Slow."}, "rate_limited", "Slow."),
        (SimpleNamespace(code="server_error", message="We broke."), "model_failed", "We broke."),
        ("ResponseError(code='server_error', message=\"It's us.\", type=None)", "model_failed", "It's us."),
        ("rate_limit_exceeded: Slow.", "rate_limited", "Slow."),
        ("No generations found in stream.", "model_failed", "No generations found in stream."),
        ("image_url: only https is taken", "input_refused", "image_url: only https is taken"),
        ("a_" * 16_000, "input_refused", "a_"),
    ],
    ids=["object", "error", "repr", "words", "nothing", "input", "long"],
)
def test_an_answer_that_failed_is_read_from_the_words_of_a_plain_error(
    expected: Any, code: str, words: str
) -> None:
    error = raise_in_model(ValueError(expected))
    assert code_of(error) == code
    assert explain(error).startswith(f"ValueError: {words}")


def test_the_answer_to_a_tools_own_request_is_told_as_the_tool_does() -> None:
    assert explain(answered(404, '{"detail": "gone"}')).startswith(
        'HTTPStatusError: Error response 404: {"detail'
    )


async def test_an_answer_that_does_not_fit_its_structure_is_a_failed_call() -> None:
    class Weather(BaseModel):
        degrees: int

    agent, _ = agent_of(
        [call("Weather", {"degrees": "many"}, "c1")],
        [call("Weather", {"degrees": 22}, "c2")],
        tools=(),
        response_format=ToolStrategy(Weather),
    )
    calls = calls_of(await run_turn(agent, "go"))
    assert [made.status for made in calls.values()] == ["failed", "completed"]
    assert "degrees" in (calls["c1"].reason or "")
