"""Questions of a graph over ACP and as events: scenes that deepagents-acp and ag-ui-langgraph get wrong."""

import asyncio
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from tests.agents.langchain.graph.test_threads import Slow, messages_in, shape
from tests.agents.langchain.interrupting_agents import (
    asking,
    delegating,
    finish,
    look,
    reviewed,
    shown,
    stopped,
)
from tests.agents.langchain.untyped_langchain import create_agent
from tests.frontends.acp.memory_editor import ABLE, Editor, editing
from tests.hubs import hub_for, only, soon, until
from trunkline import events as ev
from trunkline.agents.langchain.agent import LangChainAgent
from trunkline.commands import Prompt
from trunkline.errors import SessionBusy
from trunkline.folding import fold
from trunkline.testing.chat import ScriptedChatModel, call

PERMIT = "session/request_permission"
MODES = pytest.mark.parametrize("mode", ["batched", "per_call"])


def agent_for(scene: tuple[Any, Any]) -> tuple[LangChainAgent, Any]:
    graph, model = scene
    return LangChainAgent(graph), model


def statuses(editor: Editor) -> dict[str, str]:
    """The last status of each call that the editor was told."""
    output = editor.updates("tool_call", "tool_call_update")
    return {update["toolCallId"]: update["status"] for update in output if update.get("status")}


# -- deepagents-acp 1 and 7: the dialog names the interrupt; a review per call is never asked -----------


@MODES
async def test_each_review_names_the_call_that_the_editor_shows_and_the_prompt_ends(mode: Any) -> None:
    agent, model = agent_for(reviewed(mode, InMemorySaver()))
    async with hub_for(agent) as hub, editing(hub, ABLE) as editor:
        editor.permit("approve")
        ended = await editor.prompt(await editor.open(), "go")
        announced = [update["toolCallId"] for update in editor.updates("tool_call")]
        asked = [request["toolCall"]["toolCallId"] for request in editor.asked(PERMIT)]
    assert ended["stopReason"] == "end_turn"
    assert announced == ["d1", "l1", "d2"]
    assert sorted(asked) == ["d1", "d2"]
    assert [kind for kind, _ in shape(model.calls[-1].messages)] == ["human", "ai", "tool", "tool", "tool"]
    assert len(model.calls) == 2


# -- deepagents-acp 8: two pending interrupts crash, and only the last one is asked ----------------------


@MODES
async def test_two_subagents_that_wait_are_both_asked_about(mode: Any) -> None:
    agent, _ = agent_for(delegating(mode, InMemorySaver()))
    async with hub_for(agent) as hub, editing(hub, ABLE) as editor:
        editor.permit("approve")
        ended = await editor.prompt(await editor.open(), "go")
        asked = [request["toolCall"]["toolCallId"] for request in editor.asked(PERMIT)]
    assert ended["stopReason"] == "end_turn"
    assert sorted(asked) == ["x1@t1", "x1@t2"]
    assert statuses(editor) == {
        "t1": "completed",
        "t2": "completed",
        "x1@t1": "completed",
        "x1@t2": "completed",
    }


# -- deepagents-acp 9: a free-form interrupt is an error -------------------------------------------------


async def test_a_free_interrupt_is_a_form_in_the_editor() -> None:
    agent, _ = agent_for(asking({"question": "Deploy?", "options": ["yes", "no"]}, InMemorySaver()))
    async with hub_for(agent) as hub, editing(hub, ABLE) as editor:
        editor.answers["elicitation/create"] = lambda params: {
            "action": "accept",
            "content": {"answer": "no"},
        }
        ended = await editor.prompt(await editor.open(), "go")
        (asked,) = editor.asked("elicitation/create")
    assert (asked["message"], asked["requestedSchema"]["properties"]["answer"]["enum"]) == (
        "Deploy?",
        ["yes", "no"],
    )
    assert editor.text == "You said 'no'."
    assert ended["stopReason"] == "end_turn"


@pytest.mark.parametrize(
    ("reply", "heard"), [("Red, of course", "Red, of course"), ("decline", "The user declined to answer.")]
)
async def test_in_an_editor_without_forms_the_next_message_is_the_answer(reply: str, heard: str) -> None:
    agent, _ = agent_for(asking("Which colour?", InMemorySaver()))
    async with hub_for(agent) as hub, editing(hub) as editor:
        session = await editor.open()
        asked = await editor.prompt(session, "go")
        assert editor.text.startswith("Which colour?")
        editor.log.clear()
        ended = await editor.prompt(session, reply)
    assert editor.text == f"You said {heard!r}."
    assert (asked["stopReason"], ended["stopReason"]) == ("end_turn", "end_turn")


async def test_options_are_named_in_words_in_an_editor_without_forms() -> None:
    agent, _ = agent_for(asking({"question": "Deploy?", "options": ["yes", "no"]}, InMemorySaver()))
    async with hub_for(agent) as hub, editing(hub) as editor:
        session = await editor.open()
        await editor.prompt(session, "go")
        assert editor.asked(PERMIT) == [], "clients that show kinds only would show the same button twice"
        assert editor.text.startswith("Deploy?\n\n1. yes\n2. no\n")
        editor.log.clear()
        await editor.prompt(session, "no")
    assert editor.text == "You said 'no'."


# -- deepagents-acp 12: a cancel waits for the tool, and for the answer to an open dialog ----------------


async def test_a_cancel_stops_the_tool_at_once_and_settles_its_call() -> None:
    slow = Slow()
    model = ScriptedChatModel([call("work", {"how": "slow"}, "s")], "Fine.")
    agent = LangChainAgent(create_agent(model, [slow.tool], checkpointer=InMemorySaver()))
    async with hub_for(agent) as hub, editing(hub, ABLE) as editor:
        session = await editor.open()
        prompt = asyncio.create_task(editor.prompt(session, "go"))
        await soon(slow.began.wait())
        editor.connection.notify("session/cancel", {"sessionId": session})
        await until(
            lambda: slow.cancelled
        )  # By itself it would never end; how fast it is, test_threads measures.
        ended = await soon(prompt)
        again = await editor.prompt(session, "never mind")
    assert ended["stopReason"] == "cancelled"
    assert statuses(editor)["s"] == "failed"
    assert again["stopReason"] == "end_turn"
    assert [kind for kind, _ in shape(model.calls[-1].messages)] == ["human", "ai", "tool", "human"]


@MODES
async def test_a_cancel_withdraws_the_open_dialogs(mode: Any) -> None:
    agent, model = agent_for(reviewed(mode, InMemorySaver()))
    async with hub_for(agent) as hub, editing(hub, ABLE) as editor:
        editor.answers[PERMIT] = lambda params: asyncio.Event().wait()
        session = await editor.open()
        prompt = asyncio.create_task(editor.prompt(session, "go"))
        await until(lambda: len(editor.asked(PERMIT)) == 2)
        editor.connection.notify("session/cancel", {"sessionId": session})
        ended = await soon(prompt)
        assert ended["stopReason"] == "cancelled"
        assert len(model.calls) == 1
        assert (await agent.runnable.aget_state({"configurable": {"thread_id": session}})).next == ()
        thread = await messages_in(agent.runnable, session)
    assert [message.type for message in thread] == ["human", "ai", "tool", "tool", "tool"]


@MODES
async def test_a_dialog_that_answers_cancelled_ends_the_turn(mode: Any) -> None:
    agent, model = agent_for(reviewed(mode, InMemorySaver()))
    async with hub_for(agent) as hub, editing(hub, ABLE) as editor:
        editor.permit("cancelled")
        ended = await editor.prompt(await editor.open(), "go")
    assert ended["stopReason"] == "cancelled"
    assert len(model.calls) == 1


# -- deepagents-acp 16: sessions cannot be found, listed, resumed, forked or closed ----------------------


async def test_sessions_are_found_listed_resumed_forked_closed_and_deleted() -> None:
    model = ScriptedChatModel("One.", "Two.", "Three.")
    agent = LangChainAgent(create_agent(model, [look], checkpointer=InMemorySaver()))
    place: dict[str, Any] = {"cwd": "/", "mcpServers": []}
    async with hub_for(agent) as hub, editing(hub, ABLE) as editor:
        missing = await editor.refused("session/load", sessionId="nope", **place)
        session = await editor.open()
        await editor.prompt(session, "first")
        listed = await editor.call("session/list")
        forked = (await editor.call("session/fork", sessionId=session, **place))["sessionId"]
        await editor.prompt(forked, "in the fork")
        await editor.call("session/close", sessionId=session)
        await editor.call("session/resume", sessionId=session, **place)
        await editor.prompt(session, "in the origin")
        await editor.call("session/delete", sessionId=forked)
        gone = await editor.refused("session/load", sessionId=forked, **place)
        assert await messages_in(agent.runnable, forked) == []
    assert (missing.rpc_code, gone.rpc_code) == (-32002, -32002)
    assert "nope" in missing.message
    assert [info["sessionId"] for info in listed["sessions"]] == [session]
    output = [[text for _, text in shape(made.messages)] for made in model.calls]
    assert output == [["first"], ["first", "One.", "in the fork"], ["first", "One.", "in the origin"]]


# -- deepagents-acp 19: one agent, one folder for all sessions -------------------------------------------


async def test_sessions_of_one_agent_wait_and_go_on_each_by_itself() -> None:
    agent, _ = agent_for(reviewed("per_call", InMemorySaver()))
    async with hub_for(agent) as hub:
        sessions = [await hub.create(cwd=cwd) for cwd in ("/", "/tmp")]
        for session in sessions:
            await session.prompt("go")
        for session in sessions:
            await stopped(session, 2)
        no = {"option_id": "reject", "reason": "not here"}
        yes = {"option_id": "approve"}
        first = shown(fold(await finish(sessions[0], {"d1": yes, "d2": yes})))
        assert len(sessions[1].open_questions) == 2
        second = shown(fold(await finish(sessions[1], {"d1": no, "d2": no})))
        assert [session.view.cwd for session in sessions] == ["/", "/tmp"]
    assert {call_id: status for call_id, (status, _) in first.items()} == dict.fromkeys(
        ("d1", "l1", "d2"), "completed"
    )
    assert (second["d1"], second["d2"]) == (("denied", None), ("denied", None))


# -- as events, for AG-UI ---------------------------------------------------------------------------


@MODES
async def test_a_prompt_while_a_question_is_open_is_refused_and_the_question_stays(mode: Any) -> None:
    agent, model = agent_for(reviewed(mode, InMemorySaver()))
    async with hub_for(agent) as hub:
        session = await hub.create()
        await session.prompt("go")
        asked = await stopped(session, 2)
        with pytest.raises(SessionBusy):
            await session.prompt("something else")
        assert list(session.open_questions.values()) == asked
        events = await finish(session, {"d1": {"option_id": "approve"}, "d2": {"option_id": "approve"}})
    assert len(only(list(events), ev.TurnStarted)) == 1
    assert len(model.calls) == 2


@MODES
async def test_a_prompt_that_may_interrupt_takes_the_place_of_the_question(mode: Any) -> None:
    agent, model = agent_for(reviewed(mode, InMemorySaver()))
    async with hub_for(agent) as hub:
        session = await hub.create()
        await session.prompt("go")
        await stopped(session, 2)
        await session.prompt(Prompt.of("something else", busy="interrupt"))
        await stopped(session, 2)
        answers = {
            str(getattr(one.question, "call_id", "")): {"option_id": "approve"}
            for one in session.open_questions.values()
        }
        folded = fold(await finish(session, answers))
    assert [turn.stop_reason for turn in folded.turns] == ["cancelled", "end_turn"]
    sent = [kind for kind, _ in shape(model.calls[1].messages)]
    assert sent == ["human", "ai", "tool", "tool", "tool", "human"]
