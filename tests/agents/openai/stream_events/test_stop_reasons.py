"""How runs of the real SDK end."""

import asyncio
from typing import Any

import httpx2
import openai
import pytest
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call

from agents import (
    Agent,
    GuardrailFunctionOutput,
    InputGuardrail,
    OutputGuardrail,
    ToolGuardrailFunctionOutput,
    function_tool,
    tool_input_guardrail,
)
from tests.agents.openai.stream_events import runs
from trunkline import events as ev
from trunkline.agents.openai.stream_events.stop_reasons import RunFacts, notice_of, stop_of
from trunkline.errors import TurnCancelled


@function_tool
def again() -> str:
    """Say it again."""
    return "again"


def trip(*given: Any) -> GuardrailFunctionOutput:
    return GuardrailFunctionOutput(output_info="about weapons", tripwire_triggered=True)


async def test_too_many_turns_are_a_stop_reason() -> None:
    agent = runs.agent(*([function_call("again", {}, call_id=f"c{one}")] for one in range(3)), tools=[again])
    played = await runs.play(agent, max_turns=2)
    assert played.stop == "max_turn_requests"


async def test_an_input_guardrail_stops_with_a_refusal_and_is_named() -> None:
    guardrail: Any = InputGuardrail(guardrail_function=trip, name="weapons", run_in_parallel=False)
    played = await runs.play(runs.agent([assistant_message("no")], input_guardrails=[guardrail]))
    (notice,) = played.of(ev.Notice)
    assert played.stop == "refusal"
    assert (notice.title, notice.description) == ("The guardrail weapons stopped the run", "about weapons")


async def test_an_output_guardrail_stops_with_a_refusal_after_the_text() -> None:
    guardrail: Any = OutputGuardrail(guardrail_function=trip, name="weapons")
    played = await runs.play(runs.agent([assistant_message("said")], output_guardrails=[guardrail]))
    assert (played.text, played.stop) == ("said", "refusal")
    assert len(played.of(ev.Notice)) == 1


async def test_a_guardrail_of_a_tool_stops_with_a_refusal_and_is_named() -> None:
    @tool_input_guardrail(name="no shell")
    def stop(data: Any) -> ToolGuardrailFunctionOutput:
        return ToolGuardrailFunctionOutput.raise_exception("shell")

    @function_tool(tool_input_guardrails=[stop])
    def run() -> str:
        """Run."""
        return "ran"

    played = await runs.play(runs.agent([function_call("run", {}, call_id="c1")], tools=[run]))
    (notice,) = played.of(ev.Notice)
    assert (played.stop, notice.title) == ("refusal", "The guardrail no shell stopped the run")
    assert played.call("c1").status == "failed"


def api_error(kind: type[openai.APIStatusError], status: int, **body: Any) -> openai.APIStatusError:
    request = httpx2.Request("POST", "https://a.example")
    return kind("raw text", response=httpx2.Response(status, request=request), body=body)


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (
            api_error(openai.RateLimitError, 429, message="slow down"),
            "rate_limited",
            "RateLimitError: slow down",
        ),
        (
            api_error(openai.AuthenticationError, 401, message="who are you"),
            "authentication_failed",
            "AuthenticationError: who are you",
        ),
        (
            api_error(openai.BadRequestError, 400, code="context_length_exceeded", message="too long"),
            "context_overflow",
            "BadRequestError: too long",
        ),
        (RuntimeError("broken"), "agent_failed", "RuntimeError: broken"),
    ],
)
async def test_an_error_of_the_model_fails_the_turn_with_a_code(
    error: Exception, code: str, message: str
) -> None:
    agent = Agent[Any](name="main", model=ScriptedModel([ModelStep.raise_error(error)]))
    played = await runs.play(agent)
    assert isinstance(played.terminal, ev.TurnFailed)
    assert (played.terminal.code, played.terminal.message) == (code, message)


async def test_a_prompt_that_the_provider_filtered_is_a_refusal() -> None:
    error = api_error(openai.BadRequestError, 400, code="content_filter", message="no")
    agent = Agent[Any](name="main", model=ScriptedModel([ModelStep.raise_error(error)]))
    assert (await runs.play(agent)).stop == "refusal"


@pytest.mark.parametrize("error", [asyncio.CancelledError(), TurnCancelled("gone"), KeyboardInterrupt()])
def test_a_cancelled_run_is_cancelled(error: BaseException) -> None:
    assert stop_of(error, RunFacts()) == ev.TurnFinished(stop_reason="cancelled")


def test_an_incomplete_response_of_another_kind_has_failed() -> None:
    facts = RunFacts()
    facts.incomplete = "steered"
    terminal = stop_of(RuntimeError("x"), facts)
    assert isinstance(terminal, ev.TurnFailed)
    assert "steered" in terminal.message


def test_a_policy_violation_in_the_stream_is_a_refusal() -> None:
    facts = RunFacts()
    facts.failed, facts.error_code = True, "bio_policy"
    assert stop_of(RuntimeError("x"), facts) == ev.TurnFinished(stop_reason="refusal")


def test_only_guardrails_are_named() -> None:
    assert notice_of(None) is None
    assert notice_of(RuntimeError("x")) is None
