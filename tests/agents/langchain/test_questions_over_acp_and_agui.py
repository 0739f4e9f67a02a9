"""Questions of a graph over ACP and as events: scenes that deepagents-acp and ag-ui-langgraph get wrong."""

import asyncio
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from tests.agents.langchain.graph.test_threads import messages_in, shape
from tests.agents.langchain.interrupting_agents import (
    delegating,
    finish,
    reviewed,
    shown,
    stopped,
)
from tests.frontends.acp.memory_editor import ABLE, Editor, editing
from tests.hubs import hub_for, only, session_for, soon, until
from trunkline import events as ev
from trunkline.agents.langchain.agent import LangChainAgent
from trunkline.commands import Prompt
from trunkline.errors import SessionBusy
from trunkline.folding import fold

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


# -- deepagents-acp 12: a cancel waits for the tool, and for the answer to an open dialog ----------------


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
    async with session_for(agent) as session:
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
    async with session_for(agent) as session:
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
