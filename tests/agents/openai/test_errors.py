from typing import Any

import httpx2
import openai
import pytest
from agents.exceptions import ModelRefusalError, ModelTimeoutError

from agents import (
    Agent,
    GuardrailFunctionOutput,
    InputGuardrail,
    InputGuardrailResult,
    InputGuardrailTripwireTriggered,
    MaxTurnsExceeded,
    ModelBehaviorError,
    OutputGuardrail,
    OutputGuardrailResult,
    OutputGuardrailTripwireTriggered,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrail,
    ToolInputGuardrailTripwireTriggered,
    ToolOutputGuardrail,
    ToolOutputGuardrailTripwireTriggered,
    UserError,
)
from trunkline.agents.openai.errors import code_of, explain, provider_code, stop_reason_of, tripwire_of
from trunkline.errors import ConfigurationError

REQUEST = httpx2.Request("POST", "https://api.openai.com/v1/responses")


def refused(kind: Any, status: int, code: str | None = None, text: str = "no", **headers: str) -> Exception:
    """What OpenAI's client raises for a response of the provider."""
    response = httpx2.Response(status, request=REQUEST, headers=headers)
    return kind(f"Error code: {status}", response=response, body={"message": text, "code": code})


def judge(*given: Any) -> Any:
    raise AssertionError("nothing is judged here")


def tripwires() -> list[Exception]:
    """What the SDK raises for a guardrail that stops a run, of each of its four kinds."""
    told = GuardrailFunctionOutput(output_info=None, tripwire_triggered=True)
    by_input = InputGuardrailResult(guardrail=InputGuardrail(guardrail_function=judge), output=told)
    by_output = OutputGuardrailResult(
        guardrail=OutputGuardrail(guardrail_function=judge),
        agent_output="said",
        agent=Agent[Any](name="main"),
        output=told,
    )
    stop = ToolGuardrailFunctionOutput.raise_exception()
    return [
        InputGuardrailTripwireTriggered(by_input),
        OutputGuardrailTripwireTriggered(by_output),
        ToolInputGuardrailTripwireTriggered(ToolInputGuardrail(guardrail_function=judge), stop),
        ToolOutputGuardrailTripwireTriggered(ToolOutputGuardrail(guardrail_function=judge), stop),
    ]


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
        (ModelBehaviorError("no answer (finish_reason='length')"), "max_tokens"),
        (ValueError("x"), None),
    ],
)
def test_what_is_no_failure_has_a_stop_reason(error: Exception, reason: str | None) -> None:
    assert stop_reason_of(error) == reason


@pytest.mark.parametrize("error", tripwires(), ids=lambda error: type(error).__name__)
def test_a_guardrail_that_stops_a_run_is_a_refusal_also_below_a_wrapper(error: Exception) -> None:
    wrapper = UserError("Error running tool")
    wrapper.__cause__ = error
    assert [stop_reason_of(error), stop_reason_of(wrapper)] == ["refusal", "refusal"]
    assert [tripwire_of(error), tripwire_of(wrapper)] == [error, error]


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
