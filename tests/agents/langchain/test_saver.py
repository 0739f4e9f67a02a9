from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState
from langgraph.types import interrupt

from tests.agents.langchain.loose import StateGraph
from tests.worlds import collect, text_of, world
from trunkline import adapt
from trunkline import events as ev
from trunkline.commands import Answer


@pytest.mark.parametrize("times", [1, 2, 3])
async def test_a_node_without_a_checkpointer_may_ask_as_often_as_it_likes(times: int) -> None:
    def node(state: MessagesState) -> dict[str, Any]:
        told = [str(interrupt(f"Question {number}?")) for number in range(times)]
        return {"messages": [AIMessage(", ".join(told))]}

    builder = StateGraph(MessagesState)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    answers = iter("abc")

    async with world(adapt(builder.compile())) as hub:
        session = await hub.create()

        async def answer(asked: ev.Asked) -> None:
            given = {"answer": next(answers)}
            await session.answer(Answer(question_id=asked.question_id, outcome="accepted", content=given))

        events = await collect(session, "go", {ev.Asked: answer})
    assert text_of(events) == ", ".join("abc"[:times])
