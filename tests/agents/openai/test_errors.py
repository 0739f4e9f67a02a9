from typing import Any

import httpx2
import openai
import pytest
from agents.exceptions import ModelRefusalError, ModelTimeoutError

from agents import MaxTurnsExceeded, ModelBehaviorError, UserError
from trunkline.agents.openai.errors import code_of, explain, provider_code, stop_reason_of
from trunkline.errors import ConfigurationError

REQUEST = httpx2.Request("POST", "https://api.openai.com/v1/responses")


def refused(kind: Any, status: int, code: str | None = None, text: str = "no", **headers: str) -> Exception:
    """What OpenAI's client raises for a response of the provider."""
    response = httpx2.Response(status, request=REQUEST, headers=headers)
    return kind(f"Error code: {status}", response=response, body={"message": text, "code": code})


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (refused(openai.RateLimitError, 429), "rate_limited"),
        (refused(openai.RateLimitError, 429, "insufficient_quota"), "rate_limited"),
        (refused(openai.AuthenticationError, 401, "invalid_api_key"), "authentication_failed"),
        (refused(openai.PermissionDeniedError, 403), "authentication_failed"),
        (refused(openai.NotFoundError, 404, "model_not_found"), "model_not_found"),
        (refused(openai.BadRequestError, 400, "context_length_exceeded"), "context_overflow"),
        (refused(openai.APIStatusError, 413), "context_overflow"),
        (refused(openai.InternalServerError, 500), "model_failed"),
        (openai.APITimeoutError(REQUEST), "model_timeout"),
        (openai.APIConnectionError(request=REQUEST), "model_unreachable"),
        (ModelTimeoutError(3), "model_timeout"),
        (ModelBehaviorError("no such tool"), "model_failed"),
        (UserError("wrong"), "agent_failed"),
        (ZeroDivisionError("x"), "agent_failed"),
        (ConfigurationError("a setting"), ConfigurationError("a setting").code),
        (openai.OpenAIError("The api_key client option must be set"), "authentication_failed"),
    ],
)
def test_an_error_has_the_code_that_says_what_to_do(error: Exception, code: str) -> None:
    assert code_of(error) == code


def test_a_cause_says_what_a_wrapper_hides() -> None:
    error = UserError("Error running tool")
    error.__cause__ = refused(openai.RateLimitError, 429)
    assert code_of(error) == "rate_limited"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (MaxTurnsExceeded("10"), "max_turn_requests"),
        (ModelRefusalError("never"), "refusal"),
        (refused(openai.BadRequestError, 400, "content_filter"), "refusal"),
        (ValueError("x"), None),
    ],
)
def test_what_is_no_failure_has_a_stop_reason(error: Exception, reason: str | None) -> None:
    assert stop_reason_of(error) == reason


def test_people_read_the_providers_own_text_and_when_to_try_again() -> None:
    limited = refused(openai.RateLimitError, 429, text="Too many\nrequests.", **{"retry-after": "7"})
    assert explain(limited) == "RateLimitError: Too many requests. (try again in 7 s)"
    dated = refused(openai.RateLimitError, 429, **{"retry-after": "Wed, 18 Nov 2026 08:00:00 GMT"})
    assert explain(dated).endswith("(try again after Wed, 18 Nov 2026 08:00:00 GMT)")
    assert explain(ValueError()) == "ValueError"
    assert len(explain(ValueError("x" * 2000))) == 500
    assert "OPENAI_API_KEY" in explain(openai.OpenAIError("The api_key client option must be set"))
    apart = explain(UserError("Server not initialized. Make sure you call `connect()` first."))
    assert "MCP server of the agent is not connected" in apart
    assert "@asynccontextmanager" in apart
    assert explain(ConfigurationError("say it so")) == "say it so"


def test_the_code_is_in_the_body_where_the_client_does_not_read_it() -> None:
    class Raised(Exception):
        def __init__(self) -> None:
            self.body = {"error": {"type": "insufficient_quota"}}

    assert provider_code(Raised()) == "insufficient_quota"
    assert provider_code(ValueError("x")) == ""
