from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from tests.agents.langchain.saved_threads import (
    BOTH,
    MAKERS,
    ON_T,
    Slow,
    cancelled_in,
    messages_in,
    shape,
    state_of,
)
from tests.agents.langchain.untyped_langchain import create_agent
from tests.hubs import collect, events_of, hub_for, only, session_for

from trunkline import events as ev
from trunkline.agents.langchain.agent import LangChainAgent
from trunkline.agents.langchain.graph import threads
from trunkline.errors import InvalidCommand, SessionNotFound
from trunkline.folding import fold
from trunkline.journal import SessionKey, open_journal
from trunkline.session.hub import Hub
from trunkline.testing.chat import ScriptedChatModel, call

# -- going back --------------------------------------------------------------------------------------


async def ids_of(session: Any) -> list[str]:
    return [message.message_id for message in (await session.history()).messages]


@pytest.mark.parametrize("kind", ["create_agent", "deep", "plain", "nested"])
async def test_the_next_prompt_goes_on_from_where_one_went_back_to(kind: str, saver: Any) -> None:
    model = ScriptedChatModel("One.", "Two.", "Other two.")
    agent = LangChainAgent(MAKERS[kind](model, [Slow().tool], checkpointer=saver))
    async with session_for(agent, session_id="t") as session:
        await collect(session, "First")
        await collect(session, "Second")
        await session.rewind((await ids_of(session))[1])
        await collect(session, "Instead")
    wanted = [("human", "First"), ("ai", "One."), ("human", "Instead")]
    assert shape(model.calls[-1].messages) == wanted
    assert shape(await messages_in(agent.runnable, "t")) == [*wanted, ("ai", "Other two.")]


async def test_what_was_taken_back_stays_away_after_a_restart(tmp_path: Path) -> None:
    async def turn(prompt: str | None, *, back_to: int | None = None) -> list[Any]:
        async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "threads.db")) as saver:
            journal = await open_journal(f"sqlite:{tmp_path / 'journal.db'}")
            model = ScriptedChatModel("Yes.")
            agent = LangChainAgent(create_agent(model, [], checkpointer=saver))
            async with hub_for(agent, journal=journal) as hub:
                session = (
                    await hub.session("t")
                    if await journal.get(SessionKey("local", "t"))
                    else await hub.create("t")
                )
                if prompt is not None:
                    await collect(session, prompt)
                if back_to is not None:
                    await session.rewind((await ids_of(session))[back_to])
                shown = [message.text for message in (await session.history()).messages]
            await journal.close()
            return [shown, model.calls]

    await turn("First")
    await turn("Second", back_to=1)
    shown, _ = await turn(None)
    assert shown == ["First", "Yes."]
    shown, calls = await turn("Third")
    assert shown == ["First", "Yes.", "Third", "Yes."]
    assert shape(calls[-1].messages) == [("human", "First"), ("ai", "Yes."), ("human", "Third")]


@pytest.mark.parametrize(("to", "left"), [(2, ["First", "One.", "Second"]), (0, ["First"]), (None, [])])
async def test_going_back_forgets_what_came_after(to: int | None, left: list[str], saver: Any) -> None:
    model = ScriptedChatModel("One.", "Two.", "Again.")
    agent = LangChainAgent(create_agent(model, [], checkpointer=saver))
    async with session_for(agent, session_id="t") as session:
        await session.rewind(None)  # Nothing was said yet.
        await collect(session, "First")
        await collect(session, "Second")
        await session.rewind(None if to is None else (await ids_of(session))[to])
        assert [text for _, text in shape(await messages_in(agent.runnable, "t"))] == left
        await collect(session, "Well?")
    assert [text for _, text in shape(model.calls[-1].messages)] == [*left, "Well?"]


async def test_going_back_to_a_message_keeps_the_results_of_its_calls(saver: Any) -> None:
    made = [call("work", {"how": "quick"}, "a"), call("work", {"how": "quick"}, "b")]
    model = ScriptedChatModel(made, "Done.", "Else.")
    agent = LangChainAgent(create_agent(model, [Slow().tool], checkpointer=saver))
    async with session_for(agent, session_id="t") as session:
        await collect(session, "Go")
        await session.rewind((await ids_of(session))[1])
        await collect(session, "Else")
    assert [kind for kind, _ in shape(model.calls[-1].messages)] == ["human", "ai", "tool", "tool", "human"]


async def test_one_can_go_back_again_and_again(saver: Any) -> None:
    model = ScriptedChatModel(*(f"{number}." for number in range(9)))
    agent = LangChainAgent(create_agent(model, [], checkpointer=saver))
    async with session_for(agent, session_id="t") as session:
        for prompt in ("a", "b", "c"):
            await collect(session, prompt)
        await session.rewind((await ids_of(session))[3])
        await collect(session, "d")
        await session.rewind((await ids_of(session))[1])
        await collect(session, "e")
        shown = [message.text for message in (await session.history()).messages]
        assert [text for _, text in shape(await messages_in(agent.runnable, "t"))] == shown
    assert shown == ["a", "0.", "e", "4."]


async def test_a_message_that_the_thread_never_had_cannot_be_gone_back_to() -> None:
    graph = create_agent(ScriptedChatModel("One."), [], checkpointer=InMemorySaver())
    await graph.ainvoke({"messages": [("user", "Hi")]}, ON_T)
    with pytest.raises(InvalidCommand, match="'nobody'"):
        await threads.rewind(graph, "t", "nobody")


async def test_a_thread_without_its_past_is_cut_short_instead() -> None:
    class Forgetful(InMemorySaver):
        """Lists nothing but the last checkpoint."""

        async def alist(self, config: Any, *, before: Any = None, **options: Any) -> AsyncIterator[Any]:
            if before is None:
                yield await self.aget_tuple(config)

    made: Any = [{"id": "x", "name": "work", "args": {}}]
    thread = [
        HumanMessage("a", id="1"),
        AIMessage("", id="2", tool_calls=made),
        ToolMessage("r", id="3", tool_call_id="x"),
        AIMessage("b", id="4"),
        HumanMessage("c", id="5"),
    ]
    graph = create_agent(ScriptedChatModel("One.", each_turn=True), [], checkpointer=Forgetful())
    for target, left in (("2", ["1", "2", "3"]), ("1", ["1"]), (None, list[str]())):
        thread_id = f"back to {target}"
        await graph.ainvoke({"messages": thread}, {"configurable": {"thread_id": thread_id}})
        await threads.rewind(graph, thread_id, target)
        state = await state_of(graph, thread_id)
        assert [message.id for message in state.values.get("messages", [])] == left
        assert state.next == ()


async def test_a_long_past_is_searched_page_by_page(monkeypatch: pytest.MonkeyPatch, saver: Any) -> None:
    monkeypatch.setattr(threads, "_PAGE", 2)
    graph = create_agent(ScriptedChatModel(*"abcd"), [], checkpointer=saver)
    for number in range(4):
        await graph.ainvoke({"messages": [HumanMessage("?", id=f"u{number}")]}, ON_T)
    await threads.rewind(graph, "t", "u0")
    assert [message.id for message in await messages_in(graph, "t")] == ["u0"]


async def test_a_summary_does_not_stand_in_the_way_back() -> None:
    model = ScriptedChatModel("One.", "Two.", "A summary.", "Three.", "Other.")
    short = SummarizationMiddleware(model, trigger=("messages", 5), keep=("messages", 1))
    agent = LangChainAgent(create_agent(model, [], middleware=[short], checkpointer=InMemorySaver()))
    async with session_for(agent, session_id="t") as session:
        for prompt in ("a", "b", "c"):
            await collect(session, prompt)
        shown = [message.text for message in (await session.history()).messages]
        assert shown == ["a", "One.", "b", "Two.", "c", "Three."]
        await session.rewind((await ids_of(session))[1])
        await collect(session, "d")
    assert shape(model.calls[-1].messages) == [("human", "a"), ("ai", "One."), ("human", "d")]


# -- whole threads -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["create_agent", "deep"])
async def test_a_fork_and_its_origin_go_on_separately(kind: str, saver: Any) -> None:
    model = ScriptedChatModel(
        [*BOTH[:1], call("work", {"how": "quick"}, "q2")], "One.", "Left.", "Right.", "Back."
    )
    agent = LangChainAgent(MAKERS[kind](model, [Slow().tool], checkpointer=saver))
    async with hub_for(agent) as hub:
        origin = await hub.create("origin")
        await collect(origin, "First")
        fork = await hub.fork(origin)
        await collect(origin, "To the left")
        await collect(fork, "To the right")
        assert [text for _, text in shape(await messages_in(agent.runnable, "origin"))][-2:] == [
            "To the left",
            "Left.",
        ]
        right = shape(await messages_in(agent.runnable, fork.session_id))
        assert [text for _, text in right] == [
            "First", "", "quickly done", "quickly done", "One.", "To the right", "Right.",
        ]  # fmt: skip
        results = [
            m.tool_call_id for m in await messages_in(agent.runnable, fork.session_id) if m.type == "tool"
        ]
        assert results == ["q", "q2"]
        # The fork has the past of its origin: it can go back in it.
        await fork.rewind((await ids_of(fork))[0])
        await collect(fork, "Somewhere else")
    assert shape(model.calls[-1].messages) == [("human", "First"), ("human", "Somewhere else")]


async def test_a_saver_that_can_copy_threads_does_it_itself() -> None:
    class Copying(InMemorySaver):
        async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
            copied.append((source_thread_id, target_thread_id))

    copied: list[Any] = []
    await threads.fork(create_agent(ScriptedChatModel(), [], checkpointer=Copying()), "new", "old")
    assert copied == [("old", "new")]


async def test_a_fork_that_fails_leaves_no_session_behind() -> None:
    class Broken(InMemorySaver):
        async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
            raise OSError("disk full")

    agent = LangChainAgent(create_agent(ScriptedChatModel("One."), [], checkpointer=Broken()))
    async with hub_for(agent) as hub:
        origin = await hub.create("origin")
        await collect(origin, "First")
        with pytest.raises(OSError, match="disk full"):
            await hub.fork(origin)
        assert [info.session_id for info in await hub.list()] == ["origin"]


async def test_a_deleted_session_takes_its_thread_along(saver: Any) -> None:
    agent = LangChainAgent(create_agent(ScriptedChatModel("One."), [], checkpointer=saver))
    async with hub_for(agent) as hub:
        await collect(await hub.create("t"), "First")
        assert await hub.delete("t")
        assert await messages_in(agent.runnable, "t") == []
        with pytest.raises(SessionNotFound):
            await hub.session("t")


# -- threads that were made elsewhere ----------------------------------------------------------------


@asynccontextmanager
async def elsewhere(saver: Any, *prompts: str) -> AsyncGenerator[tuple[Hub, ScriptedChatModel, Any]]:
    """A hub whose agent was talked to without it, on thread t."""
    model = ScriptedChatModel([call("work", {"how": "quick"}, "q")], "One.", each_turn=True)
    graph = create_agent(model, [Slow().tool], checkpointer=saver)
    for number, prompt in enumerate(prompts):
        message = HumanMessage(prompt, id=f"h{number}")
        await graph.ainvoke({"messages": [message]}, ON_T)
    async with hub_for(LangChainAgent(graph)) as hub:
        yield hub, model, graph


async def test_a_thread_that_the_journal_does_not_know_is_loaded_as_it_is(saver: Any) -> None:
    async with elsewhere(saver, "First", "Second") as (hub, model, graph):
        session = await hub.session("t")
        folded = fold(events := await events_of(session))
        assert [message.message_id for message in folded.messages] == [
            message.id for message in await messages_in(graph, "t") if message.type != "tool"
        ]
        assert [turn.status for turn in folded.turns] == ["finished", "finished"]
        assert folded.calls["q"].raw_output == "quickly done"
        assert session.info.title == "First"
        assert not only(events, ev.Notice)
        await collect(session, "Third")
    assert [text for kind, text in shape(model.calls[-1].messages) if kind == "human"] == [
        "First",
        "Second",
        "Third",
    ]


async def test_a_thread_that_went_on_elsewhere_is_told_further_when_it_is_opened_again(saver: Any) -> None:
    async with elsewhere(saver) as (hub, _, graph):
        session = await hub.create("t")
        await collect(session, "Here")
        await session.close()
        await graph.ainvoke({"messages": [HumanMessage("There", id="h")]}, ON_T)
        for _ in range(2):
            session = await hub.session("t")
            shown = [message.text for message in (await session.history()).messages]
            assert shown == ["Here", "", "One.", "There", "", "One."]
            await session.close()


async def test_a_thread_that_took_another_way_elsewhere_wins(saver: Any) -> None:
    async with elsewhere(saver) as (hub, _, graph):
        session = await hub.create("t")
        await collect(session, "Here")
        await collect(session, "On")
        back = (await ids_of(session))[2]
        await session.close()
        await threads.rewind(graph, "t", back)
        await graph.ainvoke({"messages": [HumanMessage("There", id="h")]}, ON_T)
        session = await hub.session("t")
        shown = [message.text for message in (await session.history()).messages if message.role == "user"]
    assert shown == ["Here", "There"]


async def test_a_session_made_for_a_thread_begins_with_it(saver: Any) -> None:
    async with elsewhere(saver, "First") as (hub, _, _):
        session = await hub.create("t")
        assert [message.text for message in (await session.history()).messages] == ["First", "", "One."]


async def test_a_thread_of_somebody_else_is_no_session(saver: Any) -> None:
    async with elsewhere(saver, "First") as (hub, _, _):
        with pytest.raises(SessionNotFound):
            await hub.session("t", principal="mallory")
        session = await hub.create("t", principal="mallory")
        assert (await session.history()).messages == []


async def test_an_id_of_the_local_user_never_names_a_thread_of_somebody_else(saver: Any) -> None:
    agent = LangChainAgent(create_agent(ScriptedChatModel("One.", each_turn=True), [], checkpointer=saver))
    async with hub_for(agent) as hub:
        await collect(await hub.create("t", principal="ann"), "Mine")
        assert len(await messages_in(agent.runnable, "ann/t")) == 2
        with pytest.raises(SessionNotFound):
            await hub.session("ann/t")
        session = await hub.create("ann/t")
        await collect(session, "Yours")
        assert [message.text for message in (await session.history()).messages] == ["Yours", "One."]
        assert await hub.delete("ann/t")
        assert len(await messages_in(agent.runnable, "ann/t")) == 2


# -- without a checkpointer --------------------------------------------------------------------------


async def test_an_agent_without_a_checkpointer_is_fed_by_the_journal_also_after_a_restart(
    tmp_path: Path,
) -> None:
    async def process(*prompts: str) -> ScriptedChatModel:
        model = ScriptedChatModel([call("work", {"how": "quick"}, "q")], "One.", each_turn=True)
        journal = await open_journal(f"sqlite:{tmp_path / 'journal.db'}")
        async with hub_for(LangChainAgent(create_agent(model, [Slow().tool])), journal=journal) as hub:
            known = await journal.get(SessionKey("local", "t"))
            session = await hub.session("t") if known else await hub.create("t")
            for prompt in prompts:
                await collect(session, prompt)
        await journal.close()
        return model

    await process("First")
    model = await process("Second")
    kinds = [kind for kind, _ in shape(model.calls[-1].messages)]
    assert kinds == ["human", "ai", "tool", "ai", "human", "ai", "tool"]
    ids = [message.tool_call_id for message in model.calls[-1].messages if isinstance(message, ToolMessage)]
    assert ids == ["q", "q"]


async def test_a_cancelled_turn_feeds_an_agent_without_a_checkpointer_only_what_providers_take() -> None:
    slow, model = Slow(), ScriptedChatModel(BOTH, "Then not.", "Back.")
    agent = LangChainAgent(create_agent(model, [slow.tool]))
    async with hub_for(agent) as hub:
        session = await cancelled_in(slow, hub)
        await collect(session, "Never mind")
        assert shape(model.calls[-1].messages) == [
            ("human", "Go"),
            ("ai", ""),
            ("tool", "quickly done"),
            ("tool", "the turn was cancelled"),
            ("human", "Never mind"),
        ]
        await session.rewind((await ids_of(session))[0])
        fork = await hub.fork(session)
        await collect(fork, "Else")
    assert shape(model.calls[-1].messages) == [("human", "Go"), ("human", "Else")]
