"""The LangChain variant says and does what the plain agent does."""

from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from tests.demos.finance.conversations import TODAY, agent, talking
from tests.demos.finance.variants import SCRIPT, same

from trunkline.demos.finance.agent import finance_langchain
from trunkline.demos.finance.langchain import OfflineChatModel, read_messages
from trunkline.demos.finance.ledger.database import MEMORY
from trunkline.demos.finance.offline_model import Called, PlannedCall, Reply, Returned, Said


async def test_the_langchain_variant_is_the_plain_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TRUNKLINE_MODEL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for folder in ("plain", "langchain"):
        (tmp_path / folder).mkdir()
    async with (
        talking(agent(), cwd=tmp_path / "plain") as plain,
        talking(finance_langchain(MEMORY, lambda: TODAY), cwd=tmp_path / "langchain") as other,
    ):
        for question in SCRIPT:
            found = same(await other(question), tmp_path / "langchain")
            assert found == same(await plain(question), tmp_path / "plain"), question


def test_the_model_answers_without_streaming_too() -> None:
    call = PlannedCall("spending", {"start": "2026-01-01"})
    model = OfflineChatModel(lambda items, tools: Reply(f"{len(items)} {list(tools)}", (call,)))
    answer = model.bind_tools([{"name": "spending", "description": "", "parameters": {}}]).invoke("hello")
    assert answer.text == "1 ['spending']"
    assert answer.tool_calls[0]["name"] == "spending"
    assert answer.tool_calls[0]["args"] == {"start": "2026-01-01"}
    assert model._llm_type == "trunkline-finance-offline"  # pyright: ignore[reportPrivateUsage]


def test_messages_are_read_with_their_calls() -> None:
    call = {"id": "c1", "name": "spending", "args": {"a": 1}, "type": "tool_call"}
    messages = [
        HumanMessage("hi"),
        AIMessage("well", tool_calls=[call]),
        ToolMessage("{}", tool_call_id="c1"),
    ]
    assert read_messages(messages) == [
        Said("user", "hi"),
        Said("assistant", "well"),
        Called("c1", "spending", {"a": 1}),
        Returned("c1", "{}"),
    ]
