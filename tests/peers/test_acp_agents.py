"""Real coding agents on the trunk: what their model meant is what the journal holds.

Each agent is the program from npm, as a person has it. Its model is a script on loopback, so that what has to
come out is known beforehand. Afterwards no process of the agent is left, and it has reached for nothing
outside of this machine.
"""

import asyncio
import re
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.hubs import collect, only, soon, until
from tests.peers.coding_agents import AGENTS, CLAUDE, CLAUDE_CODE, CODEX, GEMINI, CodingAgent
from tests.peers.model.replies import Use, say
from tests.peers.model.server import serving
from tests.peers.workplace import (
    SECONDS,
    Workplace,
    ask,
    is_asked,
    script_for,
    shown,
    turn_parts,
)
from trunkline import events as ev
from trunkline.commands import Answer
from trunkline.questions import Form, Permission

CLAUDE_ONLY = pytest.mark.parametrize("agent", [CLAUDE], ids=lambda agent: agent.name)
pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.fixture(params=AGENTS, ids=lambda agent: agent.name)
def agent(request: pytest.FixtureRequest) -> CodingAgent:
    return request.param


@pytest.fixture
async def place(agent: CodingAgent, root: Path, tmp_path: Path) -> AsyncGenerator[Workplace]:
    with serving(script_for(agent, tmp_path / "work")) as model:
        place = Workplace(root, agent, tmp_path, model)
        yield place
        await asyncio.to_thread(place.wait_until_left)
        assert {*model.outside} <= agent.reaches_for
        assert model.unknown == []


async def test_what_the_model_says_and_does_is_the_conversation(place: Workplace) -> None:
    async with place.session() as session:
        await ask(session, "Please #greet me")
        await ask(session, "Please #think of it")
        await ask(session, "Please #shell it")
        await ask(session, "Please #write it")
        told = await session.history()
    assert [turn.stop_reason for turn in told.turns] == ["end_turn"] * 4
    assert turn_parts(told, 0) == [("user", "Please #greet me"), ("text", "Hello world.")]
    assert turn_parts(told, 1) == [
        ("user", "Please #think of it"),
        ("thought", "**Plan** I think."),
        ("text", "I thought."),
    ]
    assert turn_parts(told, 2) == [
        ("user", "Please #shell it"),
        ("text", "I will."),
        ("call", "completed"),
        ("text", "I did."),
    ]
    assert turn_parts(told, 3) == [
        ("user", "Please #write it"),
        ("call", "completed"),
        ("text", "Written."),
    ]
    assert (place.work / "made.txt").read_text() == "made\n"
    assert (place.work / "written.txt").read_text() == "hello\n"
    ran, wrote = told.calls.values()
    assert (ran.kind, wrote.kind) == ("execute", "edit")
    assert "written.txt" in shown(wrote)
    if place.agent is not GEMINI:  # It never says what came out.
        assert "made" in shown(ran).replace("made.txt", "").replace("echo made", "")
    assert all(question.answered is not None for question in told.questions.values())


async def test_a_tool_that_is_always_allowed_is_not_asked_about_again(place: Workplace) -> None:
    async with place.session() as session:
        assert is_asked(await ask(session, "Please #shell it", "allow_always"))
        (place.work / "made.txt").unlink()
        assert not is_asked(await ask(session, "Please #shell it"))
        told = await session.history()
        session_id = session.session_id
    assert turn_parts(told)[1:] == [("text", "I will."), ("call", "completed"), ("text", "I did.")]
    (place.work / "made.txt").unlink()
    async with place.session(session_id) as session:  # Nor by a later process of ours.
        assert not is_asked(await ask(session, "Please #shell it"))
    assert (place.work / "made.txt").exists()


async def test_a_session_goes_on_after_a_refusal_a_cancel_and_an_error(place: Workplace) -> None:
    """One session for all of it: to start a real agent takes most of the time."""
    async with place.session() as session:

        async def cancel(_: ev.Event) -> None:
            await session.cancel()

        async def goes_on() -> None:
            await ask(session, "Please #greet me")
            assert turn_parts(await session.history()) == [
                ("user", "Please #greet me"),
                ("text", "Hello world."),
            ]

        assert is_asked(await ask(session, "Please #shell it", "reject_once"))
        told = await session.history()
        assert turn_parts(told)[:3] == [("user", "Please #shell it"), ("text", "I will."), ("call", "denied")]
        await goes_on()

        await collect(session, "Please #shell it", {ev.Asked: cancel}, SECONDS)
        told = await session.history()
        assert told.turns[-1].stop_reason == "cancelled"
        assert [call.status for call in told.calls.values()] == ["denied", "cancelled"]
        await goes_on()
        assert not (place.work / "made.txt").exists(), "neither call ran"

        await collect(session, "Please #wait here", {ev.Text: cancel}, SECONDS)
        told = await session.history()
        assert told.turns[-1].stop_reason == "cancelled"
        assert turn_parts(told) == [("user", "Please #wait here"), ("text", "First ")]
        await goes_on()

        await ask(session, "Please #error now")
        told = await session.history()
        assert told.turns[-1].status == "failed"
        assert "scripted refusal" in (told.turns[-1].message or "")
        await goes_on()


async def test_an_agent_that_is_killed_in_a_turn_comes_back_with_the_next_prompt(place: Workplace) -> None:
    async with place.session() as session:
        await ask(session, "Please #greet me")

        async def kill(_: ev.Text) -> None:
            place.kill_agent()

        await collect(session, "Please #wait here", {ev.Text: kill}, SECONDS)
        failed = (await session.history()).turns[-1]
        await ask(session, "Please do it #again")
        told = await session.history()
        session_id = session.session_id
    assert failed.status == "failed"
    assert "SIGKILL" in (failed.message or "")
    assert turn_parts(told, 1) == [("user", "Please #wait here"), ("text", "First ")]
    assert turn_parts(told, 2) == [("user", "Please do it #again"), ("text", "Still here.")]
    assert _remembers(place, "#again", "#greet")

    # A later process of ours has all of it, and the agent too.
    async with place.session(session_id) as session:
        await ask(session, "Please #think of it")
        later = await session.history()
    assert [turn_parts(later, number) for number in range(3)] == [
        turn_parts(told, number) for number in range(3)
    ]
    assert turn_parts(later)[1:] == [("thought", "**Plan** I think."), ("text", "I thought.")]
    assert _remembers(place, "#think", "#again")
    # One that cannot load is sent the conversation, and the person is told. Gemini CLI can, but not within
    # the minute in which it began the session.
    lost = [notice for notice in later.notices if notice.code == "memory_lost"]
    assert not lost or place.agent is GEMINI


@pytest.mark.parametrize("agent", [CLAUDE, CLAUDE_CODE], ids=lambda agent: agent.name)
async def test_an_agent_that_lives_on_without_its_session_comes_back_too(place: Workplace) -> None:
    """Claude Code runs each session in a process below its own."""
    async with place.session() as session:
        await ask(session, "Please #greet me")

        async def kill(_: ev.Text) -> None:
            place.kill_what_it_started()

        await collect(session, "Please #wait here", {ev.Text: kill}, SECONDS)
        failed = (await session.history()).turns[-1]
        await ask(session, "Please do it #again")
        place.kill_what_it_started()  # Nothing runs now, so no turn is lost.
        await ask(session, "Please #think of it")
        told = await session.history()
    assert failed.status == "failed"
    assert turn_parts(told, 2)[1:] == [("text", "Still here.")]
    assert turn_parts(told, 3)[1:] == [("thought", "**Plan** I think."), ("text", "I thought.")]
    assert _remembers(place, "#think", "#greet")


@pytest.mark.parametrize("agent", [GEMINI], ids=lambda agent: agent.name)
async def test_a_replay_that_comes_after_the_answer_to_load_is_not_taken_for_news(place: Workplace) -> None:
    async with place.session() as session:
        await ask(session, "Please #greet me")
        await ask(session, "Please #think of it")
        session_id = session.session_id
    # It names the file of a session by the minute, and in that minute it cannot load it.
    for file in place.installed.home.rglob("chats/session-*"):
        file.rename(file.with_name(re.sub(r"\d+-\d+-\d+T\d+-\d+", "2020-01-01T00-00", file.name)))
    async with place.session(session_id) as session:
        await ask(session, "Please do it #again")
        told = await session.history()
    assert turn_parts(told) == [("user", "Please do it #again"), ("text", "Still here.")]
    assert [notice for notice in told.notices if notice.severity == "warning"] == []
    assert [role for role, _ in place.model.asked("#again")[-1].messages].count("model") == 2


def _remembers(place: Workplace, word: str, earlier: str) -> bool:
    """Whether the model was told of an earlier prompt of the person when it was asked for a word."""
    exchange = place.model.asked(word)[-1]
    return any(earlier in text for role, text in exchange.messages if role == "user")


@CLAUDE_ONLY
async def test_a_question_of_the_agents_own_tool_is_a_form(place: Workplace) -> None:
    choices = [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]
    question = {"question": "Which?", "header": "Colour", "multiSelect": False, "options": choices}
    place.model.script["#ask"] = [(Use("AskUserQuestion", {"questions": [question]}),), (say("Thanks."),)]
    async with place.session() as session:

        async def choose(asked: ev.Asked) -> None:
            assert isinstance(asked.question, Form)
            (field, *_) = asked.question.fields["properties"]
            answer = Answer(question_id=asked.question_id, outcome="accepted", content={field: "Blue"})
            await session.answer(answer)

        await collect(session, "Please #ask me", {ev.Asked: choose}, SECONDS)
        told = await session.history()
    assert turn_parts(told)[1:] == [("call", "completed"), ("text", "Thanks.")]
    assert "Blue" in place.model.asked("#ask")[-1].messages[-1][1]


@CLAUDE_ONLY
async def test_what_the_agent_means_to_do_is_the_plan(place: Workplace) -> None:
    steps = [("One", "completed"), ("Two", "in_progress"), ("Three", "pending")]
    todos = [{"content": step, "status": status, "activeForm": step} for step, status in steps]
    place.model.script["#plan"] = [(Use("TodoWrite", {"todos": todos}),), (say("Planned."),)]
    async with place.session() as session:
        await ask(session, "Please #plan it")
        told = await session.history()
    assert [(entry.content, entry.status) for entry in told.plan] == steps
    assert turn_parts(told)[1:] == [("text", "Planned.")]


@CLAUDE_ONLY
async def test_what_a_subagent_does_is_in_a_lane_of_its_own(place: Workplace) -> None:
    task = {"description": "Look", "prompt": "Please #inner it", "subagent_type": "general-purpose"}
    place.model.script["#delegate"] = [(Use("Agent", task),), (say("It looked."),)]
    place.model.script["#inner"] = [(place.agent.shell("echo inner"),), (say("Seen."),)]
    async with place.session() as session:
        await ask(session, "Please #delegate it")
        told = await session.history()
    outer, inner = told.calls.values()
    assert (outer.lane, inner.lane) == (None, *told.lanes)
    assert (outer.status, inner.status) == ("completed", "completed")
    (lane,) = told.lanes.values()
    assert (lane.parent_call_id, lane.outcome) == (outer.call_id, "completed")
    assert "Seen." in shown(outer)


@pytest.mark.parametrize("agent", [CLAUDE_CODE], ids=lambda agent: agent.name)
async def test_a_whole_shell_line_runs_in_a_terminal_of_ours(place: Workplace) -> None:
    async with place.session() as session:
        await ask(session, "Please #shell it")
        told = await session.history()
    (terminal,) = told.terminals.values()
    assert (terminal.data, terminal.exited, terminal.exit_code) == ("made\n", True, 0)


async def test_two_tools_at_once_are_each_asked_about_and_options_and_card_are_the_agents(
    place: Workplace,
) -> None:
    async with place.session() as session:
        events = await ask(session, "Please do #both")
        told = await session.history()
        await until(lambda: bool(session.view.commands) or place.agent is CODEX, SECONDS)
        names = {option.category for option in session.view.options}
        mode = next((option for option in session.view.options if option.category == "mode"), None)
        if mode is not None:
            other = next(choice.value for choice in mode.choices if choice.value != mode.value)
            await soon(session.set_config(mode.option_id, other), SECONDS)
            assert next(o for o in session.view.options if o.category == "mode").value == other
        card = session.agent.card
    asked = [
        event.question.call_id for event in only(events, ev.Asked) if isinstance(event.question, Permission)
    ]
    assert asked == list(told.calls)
    assert turn_parts(told)[1:] == [("call", "completed"), ("call", "completed"), ("text", "Both.")]
    assert ((place.work / "one.txt").read_text(), (place.work / "two.txt").read_text()) == ("one\n", "two\n")
    assert "model" in names
    assert card.version
    assert card.name


@CLAUDE_ONLY
async def test_a_fork_is_the_agents_own_and_the_original_goes_on(place: Workplace) -> None:
    async with place.hub() as hub:
        session = await hub.create(cwd=str(place.work))
        await ask(session, "Please #greet me")
        fork = await hub.fork(session)
        await ask(fork, "Please #think of it")
        await ask(session, "Please do it #again")
        told = await fork.history()
    assert [message.text for message in told.messages if message.role == "agent"] == [
        "Hello world.",
        "I thought.",
    ]
    assert told.notices == []
    roles = [role for role, _ in place.model.asked("#think")[-1].messages if role != "system"]
    assert roles == ["user", "model", "user"], "it has the conversation itself, not as a text about it"
    assert not _remembers(place, "#again", "#think")


@pytest.mark.parametrize("agent", [CLAUDE, CODEX], ids=lambda agent: agent.name)
async def test_two_sessions_of_one_agent_do_not_mix(place: Workplace) -> None:
    async with place.hub() as hub:
        first, second = await hub.create(cwd=str(place.work)), await hub.create(cwd=str(place.work))
        await asyncio.gather(ask(first, "Please #greet me"), ask(second, "Please #think of it"))
        one, other = await first.history(), await second.history()
    assert turn_parts(one) == [("user", "Please #greet me"), ("text", "Hello world.")]
    assert turn_parts(other)[1:] == [("thought", "**Plan** I think."), ("text", "I thought.")]
