import asyncio
import concurrent.futures
import enum
from typing import Any

import pytest
from langchain.agents.middleware import ModelCallLimitMiddleware, ToolCallLimitMiddleware
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.errors import GraphRecursionError

from tests.agents.langchain.graphs import weather
from tests.agents.langchain.test_errors import named
from tests.agents.langchain.untyped_langchain import create_agent
from trunkline import events as ev
from trunkline.agents.langchain.stop_reasons import map_to_stop_reason
from trunkline.errors import TurnCancelled
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


@pytest.mark.parametrize("ended", ["stop", "length", "content_filter"])
def test_the_result_of_a_run_is_understood(ended: str) -> None:
    asked, given = HumanMessage("go"), AIMessage("x", response_metadata={"finish_reason": ended})
    result: dict[str, Any] = {"messages": [AIMessage("earlier"), asked, given], "note": "kept"}
    assert map_to_stop_reason(result) == map_to_stop_reason(ended)
    assert map_to_stop_reason({"messages": [given, asked]}) == "end_turn", "an earlier answer is not this one"
    assert map_to_stop_reason({"messages": []}) == map_to_stop_reason(None) == "end_turn"


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
    reply = AIMessage(
        content="Model call limits exceeded: that is a message.", response_metadata={"finish_reason": "stop"}
    )
    assert map_to_stop_reason(reply) == "end_turn"


# -- errors ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (asyncio.CancelledError(), "cancelled"),
        (concurrent.futures.CancelledError(), "cancelled"),
        (TurnCancelled("a permission was cancelled"), "cancelled"),
        (GeneratorExit(), "cancelled"),
        (KeyboardInterrupt(), "cancelled"),
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
