"""Open questions after a restart: they are where the checkpointer is, whatever the journal holds."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import MessagesState
from langgraph.types import interrupt
from tests.agents.langchain.graphs import graph_of, weather
from tests.agents.langchain.tools.test_client_tools import COLOUR, RED, routed
from tests.agents.langchain.untyped_langchain import create_agent
from tests.frontends.agui.client_runs import run
from tests.frontends.agui.test_run import connect
from tests.hubs import collect, hub_for, reopened, soon, until

from trunkline import adapt
from trunkline import events as ev
from trunkline.agents.interface import HasHistory
from trunkline.agents.langchain.agent import LangChainAgent
from trunkline.commands import Answer, Prompt
from trunkline.conformance.agui.reference_client import ReferenceClient
from trunkline.conversation import Conversation
from trunkline.frontends.agui.endpoint import AguiEndpoint
from trunkline.journal import open_journal
from trunkline.questions import Form, Permission
from trunkline.session.hub import Hub
from trunkline.session.session import Session
from trunkline.session.view import SessionView
from trunkline.testing.chat import ScriptedChatModel, call

OSLO = call("weather", {"city": "Oslo"}, "w1")
ROME = call("weather", {"city": "Rome"}, "w2")
REVIEW = HumanInTheLoopMiddleware({"weather": True})


def reviewed(saver: Any) -> Any:
    return create_agent(_model([OSLO, ROME]), [weather], middleware=[REVIEW], checkpointer=saver)


def stopping(saver: Any) -> Any:
    return create_agent(_model([OSLO]), [weather], checkpointer=saver, interrupt_before=["tools"])


def asking(saver: Any) -> Any:
    def node(state: MessagesState) -> Any:
        return {"messages": [AIMessage(f"Done: {interrupt('Which one?')}.")]}

    return graph_of(node, checkpointer=saver)


def painting(saver: Any) -> Any:
    return create_agent(_model(RED), [weather], checkpointer=saver)


def painting_alone(saver: Any) -> Any:
    return create_agent(_model(RED), [], checkpointer=saver)


def painting_at_the_end(saver: Any) -> Any:
    return routed(_model(RED), saver)


def _model(*calls: Any) -> ScriptedChatModel:
    # After a restart the model is asked for what it says behind the calls.
    return ScriptedChatModel(*calls, "Done.", each_turn=True)


GRAPHS = [reviewed, stopping, asking, painting, painting_alone, painting_at_the_end]
Make = Callable[[Any], Any]


@asynccontextmanager
async def process(make: Make, folder: Path, journal: str = "memory:") -> AsyncGenerator[Hub]:
    """A process with a graph on a checkpointer that outlives it; its journal does not."""
    store = await open_journal(journal)
    async with AsyncSqliteSaver.from_conn_string(str(folder / "threads.db")) as saver:
        async with hub_for(adapt(make(saver)), journal=store, target="graph") as hub:
            yield hub
        # LangGraph still writes after it was cancelled. A connection that is closed in the middle of it would
        # keep its lock as long as this process lives.
        if left := asyncio.all_tasks() - {asyncio.current_task()}:
            await soon(asyncio.wait(left))
    await store.close()


async def leave_open(hub: Hub, **fields: Any) -> dict[str, ev.Asked]:
    """Ask something in session s, and give the questions that are open then."""
    session = await hub.create("s")
    await session.prompt(Prompt.of("go", tools=(COLOUR,), message_id="u1", **fields))
    await until(lambda: bool(session.open_questions) and session.is_suspended)
    return dict(session.open_questions)


def about(asked: ev.Asked) -> tuple[Any, ...]:
    """What a question is about; an "always" is offered only where the session's policy is known."""
    question = asked.question
    return type(question), question.message, question.call_id, asked.group, asked.lane


def answer_to(asked: ev.Asked) -> Answer:
    if isinstance(asked.question, Permission):
        return Answer(question_id=asked.question_id, option_id="approve")
    content = {"answer": "this"} if isinstance(asked.question, Form) else "painted"
    return Answer(question_id=asked.question_id, outcome="accepted", content=content)


async def answer_all(session: Session) -> Conversation:
    """Answer what is open, and give the conversation when the turn is over."""
    await session.answer(*(answer_to(one) for one in session.open_questions.values()))
    await until(lambda: not session.busy)
    return await session.history()


@pytest.mark.parametrize("make", GRAPHS)
async def test_what_a_thread_waits_for_is_asked_again_without_its_journal_and_goes_on(
    make: Make, tmp_path: Path
) -> None:
    async with process(make, tmp_path) as hub:
        before = await leave_open(hub)
    async with process(make, tmp_path) as hub:
        session = await hub.session("s")
        assert session.open_questions.keys() == before.keys(), "an answer that is on its way fits"
        again = [about(one) for one in session.open_questions.values()]
        assert again == [about(one) for one in before.values()]
        assert all(one.expires_at for one in session.open_questions.values())
        folded = await answer_all(session)
    assert folded.turns[-1].stop_reason == "end_turn"
    assert folded.messages[-1].text.startswith("Done")
    assert {made.status for made in folded.calls.values()} <= {"completed"}
    assert [message.message_id for message in folded.messages].count("u1") == 1
    assert folded.notices == []


@pytest.mark.parametrize("make", GRAPHS)
async def test_a_page_that_was_open_all_the_time_answers_and_one_that_comes_back_is_asked(
    make: Make, tmp_path: Path
) -> None:
    page, other = ReferenceClient("s", name="page"), ReferenceClient("s", name="other")
    page.say("go")
    async with process(make, tmp_path) as hub:
        await run(AguiEndpoint(hub), page, tools=[COLOUR])
    assert page.interrupts or page.pending
    async with process(make, tmp_path) as hub:
        endpoint = AguiEndpoint(hub)
        await connect(endpoint, other, tools=[COLOUR])
        assert [one["id"] for one in other.interrupts] == [one["id"] for one in page.interrupts]
        assert other.pending == page.pending
        if page.pending:
            page.messages.append({"id": "r1", "role": "tool", "toolCallId": "k1", "content": "painted"})
            await run(endpoint, page, tools=[COLOUR])
        else:
            every = {"answer": "this"} if make is asking else {"approved": True}
            await run(endpoint, page, resume=page.resume(every=every))
        assert page.messages[-1]["content"].startswith("Done")
        assert page.terminal["outcome"] == {"type": "success"}


async def test_a_thread_that_stopped_elsewhere_is_asked_here() -> None:
    saver = InMemorySaver()
    graph = reviewed(saver)
    await graph.ainvoke({"messages": [("user", "go")]}, {"configurable": {"thread_id": "s"}})
    async with reopened("s", adapt(graph)) as session:
        assert [type(one.question) for one in session.open_questions.values()] == [Permission, Permission]
        folded = await answer_all(session)
    assert {made.status for made in folded.calls.values()} == {"completed"}
    assert folded.messages[-1].text == "Done."


async def test_a_question_that_is_given_up_leaves_a_thread_that_goes_on(tmp_path: Path) -> None:
    async with process(reviewed, tmp_path) as hub:
        await leave_open(hub)
    async with process(reviewed, tmp_path) as hub:
        session = await hub.session("s")
        assert await session.cancel()
        folded = await collect(session, "something else", {ev.Asked: lambda _: answer_all(session)})
    assert isinstance(folded[-1], ev.TurnFinished)


async def test_a_call_of_a_tool_that_a_server_may_have_is_not_the_pages(tmp_path: Path) -> None:
    async with process(painting, tmp_path) as hub:
        await leave_open(hub)
    async with process(painting, tmp_path) as hub:
        view = SessionView(session_id="s", mcp_servers=[{"name": "w", "url": "http://127.0.0.1:9/mcp"}])
        folded = await cast("HasHistory", hub.agent).history(view)
    assert folded is not None
    assert folded.questions == {}
    assert {made.status for made in folded.calls.values()} == {"cancelled"}


# -- a checkpointer that forgets -------------------------------------------------------------------


@pytest.mark.parametrize("make", GRAPHS)
async def test_a_question_whose_checkpoint_is_gone_is_settled_and_the_thread_goes_on(
    make: Make, tmp_path: Path
) -> None:
    store = await open_journal(f"sqlite:{tmp_path / 'journal.db'}")
    async with hub_for(adapt(make(InMemorySaver())), journal=store, target="graph") as hub:
        await leave_open(hub)
    async with reopened("s", adapt(make(InMemorySaver())), journal=store, target="graph") as session:
        assert await session.own()
        assert not session.open_questions
        failed = (await session.history()).turns[-1]
        assert (failed.status, failed.code) == ("failed", "interrupted")
        assert "no longer holds what it asked; send the prompt again" in (failed.message or "")
        folded = await collect(session, "again", {ev.Asked: lambda _: answer_all(session)})
        assert isinstance(folded[-1], ev.TurnFinished)
    await store.close()


async def test_an_answer_whose_checkpoint_is_gone_meanwhile_fails_with_a_sentence(tmp_path: Path) -> None:
    place = f"sqlite:{tmp_path / 'journal.db'}"
    async with process(reviewed, tmp_path, place) as hub:
        await leave_open(hub)
    async with process(reviewed, tmp_path, place) as hub:
        session = await hub.session("s")
        assert await session.own()
        assert len(session.open_questions) == 2
        await cast("LangChainAgent", hub.agent).delete_session(session.view)
        failed = (await answer_all(session)).turns[-1]
        assert (failed.status, failed.code) == ("failed", "interrupted")
        assert "no longer holds what this answer is for" in (failed.message or "")
        folded = await collect(session, "again", {ev.Asked: lambda _: answer_all(session)})
    assert isinstance(folded[-1], ev.TurnFinished)


async def test_an_agent_that_cannot_say_whether_it_waits_is_asked_by_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = f"sqlite:{tmp_path / 'journal.db'}"
    async with process(reviewed, tmp_path, place) as hub:
        await leave_open(hub)

    async def fails(*_: Any) -> bool:
        raise OSError("no connection")

    async with process(reviewed, tmp_path, place) as hub:
        session = await hub.session("s")
        with monkeypatch.context() as patched:
            patched.setattr(LangChainAgent, "still_waits", fails)
            assert await session.own()
        folded = await answer_all(session)
    assert folded.messages[-1].text == "Done."
