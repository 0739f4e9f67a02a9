import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import MessagesState
from langgraph.types import interrupt
from tests.agents.langchain.graphs import agent_of, folded, graph_of
from tests.hubs import collect, hub_for, session_for, text_of

from trunkline import adapt
from trunkline import events as ev
from trunkline.agents.langchain.graph.checkpointers import in_threads
from trunkline.commands import Answer


@pytest.mark.parametrize("times", [1, 2, 3])
async def test_a_node_without_a_checkpointer_may_ask_as_often_as_it_likes(times: int) -> None:
    def node(state: MessagesState) -> dict[str, Any]:
        output = [str(interrupt(f"Question {number}?")) for number in range(times)]
        return {"messages": [AIMessage(", ".join(output))]}

    answers = iter("abc")

    async with session_for(adapt(graph_of(node))) as session:

        async def answer(asked: ev.Asked) -> None:
            given = {"answer": next(answers)}
            await session.answer(Answer(question_id=asked.question_id, outcome="accepted", content=given))

        events = await collect(session, "go", {ev.Asked: answer})
    assert text_of(events) == ", ".join("abc"[:times])


async def test_a_saver_that_only_plain_functions_can_call_remembers_goes_back_forks_and_forgets(
    tmp_path: Path,
) -> None:
    with closing(sqlite3.connect(tmp_path / "threads.db", check_same_thread=False)) as connection:
        saver = SqliteSaver(connection)
        agent, model = agent_of("One.", "Two.", "Three.", checkpointer=saver)
        async with hub_for(agent) as hub:
            session = await hub.create()
            answered = folded(await collect(session, "first")).messages[-1].message_id
            await collect(session, "second")
            fork = await hub.fork(session)
            await fork.rewind(answered)
            await collect(fork, "third")
            await hub.delete(session.session_id)
        threads = {saved.config.get("configurable", {})["thread_id"] for saved in saver.list(None)}
    heard = [[message.text for message in called.messages] for called in model.calls]
    assert heard == [["first"], ["first", "One.", "second"], ["first", "One.", "third"]]
    assert threads == {fork.session_id}


def test_a_saver_that_can_wait_is_left_as_it_is() -> None:
    saver = InMemorySaver()
    assert in_threads(saver) is saver
