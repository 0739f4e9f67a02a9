"""How a turn ended, and what it cost."""

from typing import Any

import pytest

from trunkline import events as ev
from trunkline.protocols.acp.profiles import GEMINI, STANDARD, Profile
from trunkline.protocols.acp.prompt_result import prompt_result, turn_finished

WHOLE = {
    "inputTokens": 9,
    "outputTokens": 8,
    "thoughtTokens": 7,
    "cachedReadTokens": 6,
    "cachedWriteTokens": 5,
}
QUOTA = {
    "model_usage": [{"model": "m", "token_count": {"input_tokens": 2, "output_tokens": 1}}, {"model": "n"}, 7]
}
OURS = {"trunkline": {"usage": [{"provider": "p", "model": "m", "input_tokens": 3}]}}


@pytest.mark.parametrize(
    ("result", "profile", "usage"),
    [
        ({}, STANDARD, ()),
        (
            {"usage": WHOLE},
            STANDARD,
            (
                ev.TokenUsage(
                    input_tokens=9,
                    output_tokens=8,
                    reasoning_tokens=7,
                    cached_input_tokens=6,
                    cache_write_tokens=5,
                ),
            ),
        ),
        (
            {"usage": WHOLE, "_meta": OURS},
            STANDARD,
            (ev.TokenUsage(provider="p", model="m", input_tokens=3),),
        ),
        ({"_meta": {"quota": QUOTA}}, STANDARD, ()),
        ({"_meta": {"quota": QUOTA}}, GEMINI, (ev.TokenUsage(model="m", input_tokens=2, output_tokens=1),)),
        ({"_meta": {"trunkline": {"usage": [{"input_tokens": "many"}]}}}, STANDARD, ()),
        ({"usage": {"inputTokens": "many"}}, STANDARD, (ev.TokenUsage(),)),
    ],
)
def test_tokens_are_read_by_model_where_the_agent_says_so(
    result: dict[str, Any], profile: Profile, usage: tuple[ev.TokenUsage, ...]
) -> None:
    assert turn_finished({"stopReason": "end_turn", **result}, profile).usage == usage


def test_what_we_answer_is_read_again() -> None:
    usage = (ev.TokenUsage(provider="p", model="m", input_tokens=3), ev.TokenUsage(output_tokens=2))
    for stop_reason, used in (("cancelled", usage), ("end_turn", ())):
        read = turn_finished(prompt_result(stop_reason, used))
        assert (read.stop_reason, read.usage) == (stop_reason, used)


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ({"stopReason": "cancelled"}, "cancelled"),
        ({"stopReason": "out_of_budget"}, "out_of_budget"),
        ({"stopReason": None}, "end_turn"),
        ({}, "end_turn"),
        (None, "end_turn"),
        ([], "end_turn"),
    ],
)
def test_any_answer_ends_the_turn(result: Any, reason: str) -> None:
    assert turn_finished(result).stop_reason == reason


def test_what_the_agent_adds_is_kept() -> None:
    assert turn_finished({"stopReason": "end_turn", "_meta": {"quota": QUOTA}}).meta == {"quota": QUOTA}
