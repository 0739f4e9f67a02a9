"""Agents that stop for a person: answered live, and after the process that asked was killed."""

import asyncio
import shutil
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from tests.agents.langchain.interrupting_agents import SCENES, ended, finish, reviewed, shown, staged, stopped
from tests.frontends.acp.memory_editor import editing
from tests.hubs import events_of, only, reopened, session_for, soon, until
from trunkline import events as ev
from trunkline.agents.langchain.agent import LangChainAgent
from trunkline.commands import Answer
from trunkline.folding import fold
from trunkline.journal import open_journal
from trunkline.questions import Form, Permission
from trunkline.session.session import Session
from trunkline.testing.chat import call
from trunkline.workspace import Policy, Rule


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a process that was killed while every scene waited for its answers."""
    folder = tmp_path_factory.mktemp("killed")
    program = [sys.executable, "-m", "tests.agents.langchain.interrupting_agents", str(folder)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "asked\n"
        finally:
            process.kill()
    return folder


Suspended = Callable[[str], AbstractAsyncContextManager[tuple[Session, Any]]]


def suspended_in(killed: Path, folder: Path, *, restarted: bool) -> Suspended:
    """Give sessions of a scene that wait for their answers: this process's own, or those of the dead."""

    @asynccontextmanager
    async def suspended(name: str) -> AsyncGenerator[tuple[Session, Any]]:
        place = folder / name
        shutil.copytree(killed, place) if restarted else place.mkdir()
        async with staged(place, name) as (hub, _, model):
            if restarted:
                session = await hub.session(name)
                assert await soon(session.own())
            else:
                session = await hub.create(name)
                await session.prompt("Go on.")
            await stopped(session, SCENES[name][1])
            yield session, model

    return suspended


@pytest.fixture(params=[False, True], ids=["live", "restarted"])
def suspended(request: pytest.FixtureRequest, killed: Path, tmp_path: Path) -> Suspended:
    return suspended_in(killed, tmp_path, restarted=request.param)


def check_said_once(events: list[ev.AnyEvent]) -> None:
    """Nothing is announced twice, whatever runs again after an answer."""
    for kind, key in ((ev.ToolCall, "call_id"), (ev.Asked, "question_id"), (ev.SubagentStarted, "lane")):
        ids = [getattr(event, key) for event in only(events, kind)]
        assert len(ids) == len(set(ids))
    described = [event.call_id for event in only(events, ev.ToolUpdate) if event.input is not None]
    assert len(described) == len(set(described))
    running = [event.call_id for event in only(events, ev.ToolUpdate) if event.status == "in_progress"]
    assert len(running) == len(set(running))
    assert not only(events, ev.Notice)
    assert len(only(events, ev.TurnStarted)) == 1
    assert isinstance(events[-1], ev.TurnFinished)


APPROVE = {"option_id": "approve"}


@pytest.mark.parametrize("mode", ["batched", "per_call"])
async def test_an_always_holds_for_the_next_reviews_of_the_tool_also_after_a_restart(mode: Any) -> None:
    def again(number: int) -> list[Any]:
        return [call("delete", {"path": "a"}, f"d{number}")]

    answers = (again(1), again(2), "Done.")
    graph, _ = reviewed(mode, InMemorySaver(), answers=answers)
    journal = await open_journal("memory:")
    async with session_for(LangChainAgent(graph), journal=journal) as session:
        await session.prompt("go")
        (asked,) = await stopped(session, 1)
        assert isinstance(asked.question, Permission)
        names = {option.kind: option.name for option in asked.question.options}
        assert names["allow_always"] == "Always approve (delete)"
        output = await finish(session, {"": {"option_id": "approve_always"}})
        await session.prompt("again")
        output = await ended(session)
    async with reopened(session.session_id, LangChainAgent(graph), journal=journal) as session:
        await session.prompt("once more")
        output = await ended(session)
    await journal.close()
    assert len(only(output, ev.Asked)) == 1
    done = [update for update in only(output, ev.ToolUpdate) if update.status == "completed"]
    assert len(done) == 6


async def test_where_a_rule_asks_a_review_offers_no_always() -> None:
    graph, _ = reviewed("batched", InMemorySaver())
    policy = Policy.ask().also(Rule(decision="ask", tool="delete"))
    async with session_for(LangChainAgent(graph), policy=policy) as session:
        await session.prompt("go")
        for asked in await stopped(session, 2):
            assert isinstance(asked.question, Permission)
            assert "allow_always" not in {option.kind for option in asked.question.options}
        await session.cancel()


@pytest.mark.parametrize("name", ["batched", "per_call"])
async def test_two_reviewed_calls_are_asked_about_at_once_and_decided_each_by_itself(
    name: str, suspended: Suspended
) -> None:
    async with suspended(name) as (session, model):
        asked = list(session.open_questions.values())
        assert [getattr(one.question, "call_id", None) for one in asked] == ["d1", "d2"]
        assert all(isinstance(one.question, Permission) and one.question.allows_edit for one in asked)
        suspended_on = only(await events_of(session), ev.TurnSuspended)[-1].question_ids
        assert set(suspended_on) == {one.question_id for one in asked}
        events = await finish(session, {"d1": APPROVE, "d2": {"option_id": "reject", "reason": "keep it"}})
    folded = fold(events)
    assert shown(folded) == {
        "d1": ("completed", "deleted a"),
        "l1": ("completed", "looked at b"),
        "d2": ("denied", None),
    }
    assert folded.calls["d2"].reason == "keep it"
    assert folded.messages[-1].text == "Done."
    answer = next(one for one in model.calls[-1].messages if getattr(one, "tool_call_id", "") == "d2")
    assert answer.status == "error"
    assert "keep it" in answer.content
    check_said_once(events)


@pytest.mark.parametrize("way", ["load", "resume"])
async def test_an_editor_that_comes_back_is_asked_again_and_sees_the_turn_end(
    way: str, killed: Path, tmp_path: Path
) -> None:
    shutil.copytree(killed, tmp_path, dirs_exist_ok=True)
    async with staged(tmp_path, "batched") as (hub, _, _), editing(hub) as editor:
        editor.permit("approve", "reject")
        await editor.call(f"session/{way}", sessionId="batched", cwd="/", mcpServers=[])
        session = await hub.session("batched")
        await until(lambda: not session.busy and editor.text.endswith("Done."))
        asked = [request["toolCall"] for request in editor.asked("session/request_permission")]
        assert [one["toolCallId"] for one in asked] == ["d1", "d2"]
        for one in asked:
            assert (one["title"], one["kind"]) == ("Delete a", "delete")
            assert one["rawInput"] == {"path": "a"}
            assert one["locations"] == [{"path": "/a"}]
        cards = {card["toolCallId"]: card for card in editor.updates("tool_call")}
        assert {"d1", "d2"} <= set(cards), "a client that resumes was never told of them"
        if way == "resume":
            assert cards["d1"]["rawInput"] == {"path": "a"}
        ends = [update for update in editor.updates("tool_call_update") if update.get("status")]
        finals = {update["toolCallId"]: update["status"] for update in ends}
        assert finals == {"d1": "completed", "l1": "completed", "d2": "failed"}


async def test_an_editor_that_comes_back_with_something_else_to_say_is_heard(
    killed: Path, tmp_path: Path
) -> None:
    shutil.copytree(killed, tmp_path, dirs_exist_ok=True)
    async with staged(tmp_path, "batched") as (hub, _, _), editing(hub) as editor:
        asked = 0

        async def choose(params: Any) -> Any:
            nonlocal asked
            asked += 1
            if asked <= SCENES["batched"][1]:
                await asyncio.Event().wait()  # The questions of the dead, which nobody answers.
            return {"outcome": {"outcome": "selected", "optionId": "approve"}}

        editor.answers["session/request_permission"] = choose
        await editor.call("session/load", sessionId="batched", cwd="/", mcpServers=[])
        await until(lambda: asked == SCENES["batched"][1])
        ended = await editor.prompt("batched", "Something else.")
        assert ended["stopReason"] == "end_turn"
        left = [call.status for call in (await (await hub.session("batched")).history()).calls.values()]
        assert not {"pending", "in_progress"} & set(left)
        failed = [update["toolCallId"] for update in editor.log if update.get("status") == "failed"]
        assert sorted(failed) == ["d1", "d2", "l1"]


@pytest.mark.parametrize("name", ["batched", "per_call"])
async def test_a_call_runs_with_the_arguments_that_its_reviewer_gave_it(
    name: str, suspended: Suspended
) -> None:
    async with suspended(name) as (session, _):
        events = await finish(session, {"d1": {**APPROVE, "input": {"path": "z"}}, "d2": APPROVE})
    folded = fold(events)
    assert folded.calls["d1"].input == {"path": "z"}
    assert str(folded.calls["d1"].raw_output).endswith("deleted z")
    assert shown(folded)["d2"] == ("completed", "deleted a")


@pytest.mark.parametrize("name", ["batched", "per_call"])
async def test_a_reviewer_may_answer_in_a_tools_place(name: str, suspended: Suspended) -> None:
    async with suspended(name) as (session, _):
        output = {"option_id": "respond", "reason": "It is gone already."}
        events = await finish(session, {"d1": output, "d2": APPROVE})
    assert shown(fold(events))["d1"] == ("completed", "It is gone already.")
    check_said_once(events)


async def test_a_reviewer_who_gave_no_words_is_asked_for_them(suspended: Suspended) -> None:
    async with suspended("per_call") as (session, _):
        first, second = session.open_questions.values()
        await session.answer(
            Answer(question_id=first.question_id, option_id="respond"),
            Answer(question_id=second.question_id, option_id="approve"),
        )
        (words,) = await stopped(session, 1)
        assert isinstance(words.question, Form)
        assert words.question.call_id == "d1"
        events = await finish(session, {"": {"outcome": "accepted", "content": {"answer": "Gone."}}})
    assert shown(fold(events))["d1"] == ("completed", "Gone.")


@pytest.mark.parametrize("name", ["batched_subagents", "per_call_subagents"])
async def test_two_subagents_that_wait_at_once_are_told_apart(name: str, suspended: Suspended) -> None:
    async with suspended(name) as (session, _):
        asked = list(session.open_questions.values())
        assert sorted(str(one.lane) for one in asked) == ["t1", "t2"]
        ids = {str(one.lane): getattr(one.question, "call_id", "") for one in asked}
        calls = fold([entry.event async for entry in session.replay()]).calls
        assert {lane: calls[call_id].lane for lane, call_id in ids.items()} == {"t1": "t1", "t2": "t2"}
        events = await finish(
            session, {ids["t1"]: APPROVE, ids["t2"]: {"option_id": "reject", "reason": "no"}}
        )
    folded = fold(events)
    assert folded.calls[ids["t1"]].status == "completed"
    assert folded.calls[ids["t2"]].status == "denied"
    assert folded.calls["t1"].raw_output == "one: deleted a"
    assert "with reason: no" in folded.calls["t2"].raw_output
    assert {lane: state.outcome for lane, state in folded.lanes.items()} == {
        "t1": "completed",
        "t2": "completed",
    }
    check_said_once(events)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("words", {"answer": "red"}, "You said 'red'."),
        ("options", {"answer": "no"}, "You said 'no'."),
        ("form", {"city": "Rome", "nights": 3}, "You said Trip(city='Rome', nights=3)."),
    ],
)
async def test_a_free_question_is_a_form_and_its_answer_goes_to_the_graph(
    name: str, content: dict[str, Any], expected: str, suspended: Suspended
) -> None:
    async with suspended(name) as (session, _):
        (asked,) = session.open_questions.values()
        assert isinstance(asked.question, Form)
        events = await finish(session, {"": {"outcome": "accepted", "content": content}})
    assert fold(events).messages[-1].text == expected
    check_said_once(events)


async def test_an_answer_that_does_not_fit_is_asked_for_again(suspended: Suspended) -> None:
    async with suspended("form") as (session, _):
        (asked,) = session.open_questions.values()
        await session.answer(Answer(question_id=asked.question_id, outcome="accepted", content={"city": "R"}))
        (again,) = await stopped(session, 1)
        assert again.question == asked.question
        events = await finish(session, {"": {"outcome": "accepted", "content": {"city": "Rome"}}})
    assert fold(events).messages[-1].text == "You said Trip(city='Rome', nights=1)."
    (notice,) = only(events, ev.Notice)
    assert "city" in str(notice.description)


async def test_a_declined_question_is_answered_in_words_or_ends_the_turn(suspended: Suspended) -> None:
    async with suspended("words") as (session, _):
        events = await finish(session, {"": {"outcome": "declined"}})
    assert fold(events).messages[-1].text == "You said 'The user declined to answer.'."
    async with suspended("form") as (session, _):
        events = await finish(session, {"": {"outcome": "declined"}})
    (failed,) = only(events, ev.TurnFailed)
    assert "cannot go on without an answer" in failed.message


async def test_a_hub_that_closes_leaves_its_questions_to_the_next_process(tmp_path: Path) -> None:
    async with staged(tmp_path, "batched") as (hub, _, _):
        session = await hub.create("batched")
        await session.prompt("Go on.")
        await stopped(session, 2)
    async with staged(tmp_path, "batched") as (hub, _, _):
        session = await hub.session("batched")
        await session.own()
        events = await finish(session, {"d1": APPROVE, "d2": APPROVE})
    assert shown(fold(events))["d2"] == ("completed", "deleted a")
    check_said_once(events)


async def test_cancelling_a_turn_of_a_dead_process_leaves_a_thread_that_goes_on(
    killed: Path, tmp_path: Path
) -> None:
    async with suspended_in(killed, tmp_path, restarted=True)("batched") as (session, model):
        assert await session.cancel()
        await session.prompt("And now?")
        await stopped(session, 2)
    sent = model.calls[-1].messages
    assert [message.type for message in sent] == ["human", "ai", "tool", "tool", "tool", "human"]
    assert {message.status for message in sent if message.type == "tool"} == {"error"}


async def test_a_predicate_decides_which_of_equal_calls_are_reviewed() -> None:
    def only_the_second(request: Any) -> bool:
        return request.tool_call["id"] == "d2"

    gate: Any = {"allowed_decisions": ["approve", "reject"], "when": only_the_second}
    graph, _ = reviewed("per_call", InMemorySaver(), gate=gate)
    async with session_for(LangChainAgent(graph)) as session:
        await session.prompt("Go on.")
        (asked,) = await stopped(session, 1)
        assert isinstance(asked.question, Permission)
        assert asked.question.call_id == "d2"
        assert not asked.question.allows_edit
        events = await finish(session, {"d2": APPROVE})
    assert shown(fold(events))["d1"] == ("completed", "deleted a")


@pytest.mark.parametrize("mode", ["batched", "per_call"])
async def test_an_agent_without_a_checkpointer_can_be_reviewed_too(mode: Any) -> None:
    graph, _ = reviewed(mode, None)
    async with session_for(LangChainAgent(graph)) as session:
        await session.prompt("Go on.")
        asked = await stopped(session, 2)
        assert [one.durable_key for one in asked] == [None, None]
        events = await finish(session, {"d1": APPROVE, "d2": {"option_id": "reject"}})
        assert shown(fold(events))["d1"] == ("completed", "deleted a")
        check_said_once(await ended(session))


@pytest.mark.parametrize("mode", ["batched", "per_call"])
async def test_nobody_can_approve_in_a_review_what_the_policy_denies(mode: Any) -> None:
    calls = [call("delete", {"path": "secrets/a"}, "d1"), call("delete", {"path": "b"}, "d2")]
    graph, _ = reviewed(mode, InMemorySaver(), answers=(calls, "Done."))
    policy = Policy.ask().also(Rule(decision="deny", path="secrets/**"))
    async with session_for(LangChainAgent(graph), policy=policy) as session:
        await session.prompt("go")
        (asked,) = await stopped(session, 1)
        assert getattr(asked.question, "call_id", None) == "d2"
        edited = {"option_id": "approve", "input": {"path": "secrets/c"}}
        folded = fold(await finish(session, {"": edited}))
    assert [made.status for made in folded.calls.values()] == ["denied", "denied"]
    assert "deleted" not in str(folded)
