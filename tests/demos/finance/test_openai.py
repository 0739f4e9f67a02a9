"""The offline model in the OpenAI Agents SDK, run by the SDK itself."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.demos.finance.conversations import TODAY, agent, talking
from tests.demos.finance.tools.desks import desk
from tests.demos.finance.variants import SCRIPT, same

from agents import RunConfig, Runner
from trunkline.demos.finance.agent import finance_openai
from trunkline.demos.finance.ledger.database import MEMORY
from trunkline.demos.finance.offline_model import Called, PlannedCall, Reply, Returned, Said
from trunkline.demos.finance.openai import OfflineModel, make_agent, read_items, stream_events


async def test_the_openai_variant_is_the_plain_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRUNKLINE_MODEL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for folder in ("plain", "openai"):
        (tmp_path / folder).mkdir()
    async with (
        talking(agent(), cwd=tmp_path / "plain") as plain,
        talking(finance_openai(MEMORY, lambda: TODAY), cwd=tmp_path / "openai") as other,
    ):
        for question in SCRIPT:
            found = same(await other(question), tmp_path / "openai")
            assert found == same(await plain(question), tmp_path / "plain"), question


QUESTION = "How much did I spend on groceries last month?"


async def test_the_sdk_runs_the_offline_model_with_the_same_call_and_words() -> None:
    one, quiet = desk(), RunConfig(tracing_disabled=True)
    finance = make_agent(one.tools, one.plan, None)
    whole = await Runner.run(finance, QUESTION, run_config=quiet)
    calls = [item.raw_item for item in whole.new_items if item.type == "tool_call_item"]
    assert [(call.name, json.loads(call.arguments)) for call in calls] == [  # type: ignore[union-attr]
        ("spending", {"start": "2026-10-01", "end": "2026-10-31", "category": "Groceries"})
    ]
    streamed = Runner.run_streamed(finance, QUESTION, run_config=quiet)
    words: list[str] = []
    async for event in streamed.stream_events():
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
            words.append(event.data.delta)
    assert "".join(words) == streamed.final_output == whole.final_output
    assert len(words) > 10
    assert whole.final_output.startswith("In October 2026 you spent **")


def test_a_response_is_streamed_as_the_api_does() -> None:
    model = OfflineModel(lambda items, tools: Reply("two words", (PlannedCall("spending", {"a": 1}),)))
    response_id, outputs = model._outputs("hello", [])  # pyright: ignore[reportPrivateUsage]
    kinds = [event.type for event in stream_events(response_id, outputs)]
    assert kinds == [
        "response.created",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.output_item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_item.done",
        "response.completed",
    ]


def test_input_items_are_read_with_their_calls() -> None:
    items: list[Any] = [
        {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "well"}]},
        {"type": "function_call", "call_id": "c1", "name": "spending", "arguments": '{"a": 1}'},
        {"type": "function_call_output", "call_id": "c1", "output": "{}"},
        {"type": "reasoning", "id": "r", "summary": []},
    ]
    assert read_items(items) == [
        Said("user", "hi"),
        Said("assistant", "well"),
        Called("c1", "spending", {"a": 1}),
        Returned("c1", "{}"),
    ]
    assert read_items("hi") == [Said("user", "hi")]


def test_a_real_model_is_used_by_its_name() -> None:
    one = agent().desk
    assert make_agent(one.tools, one.plan, "gpt-5.5").model == "gpt-5.5"
    assert make_agent(one.tools, one.plan, "").model is None
