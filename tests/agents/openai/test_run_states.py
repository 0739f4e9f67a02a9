"""Calls that the agent wants to be approved, answered by the next process."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from agents.testing import ScriptedModel

from agents import Agent, Usage
from tests.agents.openai.sdk_agents import (
    PAY,
    Payments,
    agent_of,
    answers_to,
    call,
    conversation,
    finish,
    paying,
    say,
    sent,
    started,
    statuses,
    stopped,
)
from tests.hubs import collect, hub_for, opened, session_for, soon, until
from trunkline.agents.openai import OpenAIAgent
from trunkline.commands import Prompt
from trunkline.journal.sqlite import SqliteJournal

COST = Usage(requests=1, input_tokens=10, output_tokens=2, total_tokens=12)
"""What each response of a model costs."""


def nested(payments: Payments, outer: Any, inner: Any) -> tuple[OpenAIAgent, ScriptedModel, ScriptedModel]:
    """An agent that calls another as a tool, whose tool must be approved."""
    below, above = ScriptedModel(inner), ScriptedModel(outer)
    clerk: Agent[Any] = Agent(name="Clerk", model=below, tools=[payments.tool])
    boss: Agent[Any] = Agent(
        name="Boss", model=above, tools=[clerk.as_tool("ask_clerk", "Let the clerk do it.")]
    )
    return OpenAIAgent(boss), above, below


@pytest.mark.parametrize("first", ["allow_once", "reject_once"])
async def test_answers_after_a_restart_are_taken_by_the_next_process(tmp_path: Path, first: str) -> None:
    payments = Payments()
    async with opened(SqliteJournal(tmp_path / "j.db")) as journal:
        agent, model, _ = paying("Hello.", PAY, payments=payments)
        model.set_default_usage(COST)
        async with hub_for(agent, journal=journal) as hub:
            session = await hub.create("s")
            await collect(session, "Hi.")
            await started(session)
            await stopped(session, 2)
        again, model, _ = paying("Done.", payments=payments)
        model.set_default_usage(COST)
        async with hub_for(again, journal=journal) as hub:
            session = await hub.session("s")
            asked = await stopped(session, 2)
            options = {asked[0].question.call_id: first, asked[1].question.call_id: "allow_once"}
            shown = await finish(session, options)
    assert payments.paid == ([3, 4] if first == "allow_once" else [4])
    assert statuses(shown) == {
        "p1": "completed" if first == "allow_once" else "denied", "w1": "completed", "p2": "completed",
    }  # fmt: skip
    assert [kind for kind, _ in sent(model)][:4] == ["user", "assistant", "user", "call p1"]
    assert shown.turns[-1].status == "finished"
    (spent,) = shown.turns[-1].usage
    assert (spent.input_tokens, spent.output_tokens) == (20, 4), "both processes' responses count"


async def test_an_answer_before_the_restart_counts_with_one_after_it(tmp_path: Path) -> None:
    payments = Payments()
    async with opened(SqliteJournal(tmp_path / "j.db")) as journal:
        agent, _, _ = paying(PAY, payments=payments)
        async with hub_for(agent, journal=journal) as hub:
            session = await hub.create("s")
            await started(session)
            first, second = await stopped(session, 2)
            await soon(session.answer(*answers_to(session, {first.question.call_id: "allow_once"})))
            await until(lambda: len(session.open_questions) == 1)
            assert payments.paid == []
        again, _, _ = paying("Done.", payments=payments)
        async with hub_for(again, journal=journal) as hub:
            session = await hub.session("s")
            await until(lambda: len(session.open_questions) == 1)
            shown = await finish(session, {second.question.call_id: "allow_once"})
    assert payments.paid == [3, 4]
    assert set(statuses(shown).values()) == {"completed"}


@pytest.mark.parametrize("restart", [False, True])
async def test_an_approval_inside_an_agent_that_is_a_tool(tmp_path: Path, restart: bool) -> None:
    payments = Payments()
    outer, inner = [call("ask_clerk", "c1", input="pay 3")], [call("pay", "p1", amount=3)]
    async with opened(SqliteJournal(tmp_path / "j.db")) as journal:
        rest = [] if restart else [say("Paid, says the clerk.")]
        agent, _, _ = nested(payments, [outer, *rest], [inner, *([] if restart else [say("Paid.")])])
        async with hub_for(agent, journal=journal) as hub:
            session = await hub.create("s")
            await started(session)
            (asked,) = await stopped(session, 1)
            assert asked.lane is not None
            if not restart:
                await finish(session, {asked.question.call_id: "allow_once"})
        agent, _, _ = nested(payments, [say("Paid, says the clerk.")], [say("Paid.")])
        async with hub_for(agent, journal=journal) as hub:
            session = await hub.session("s")
            if restart:
                (asked,) = await stopped(session, 1)
                await finish(session, {asked.question.call_id: "allow_once"})
            shown = await conversation(session)
    assert payments.paid == [3]
    assert set(statuses(shown).values()) == {"completed"}
    assert [(lane.name, lane.outcome) for lane in shown.lanes.values()] == [("Clerk", "completed")]
    assert [message.text for message in shown.messages if message.lane is None][-1] == "Paid, says the clerk."


@pytest.mark.parametrize("restart", [False, True])
async def test_a_new_prompt_instead_of_an_answer_tells_the_model_that_the_calls_did_not_run(
    tmp_path: Path, restart: bool
) -> None:
    payments = Payments()
    async with opened(SqliteJournal(tmp_path / "j.db")) as journal:
        agent, model, _ = paying(PAY, "Fine.", payments=payments)
        async with hub_for(agent, journal=journal) as hub:
            session = await hub.create("s")
            await started(session)
            await stopped(session, 2)
            if not restart:
                await collect(session, Prompt.of("Never mind.", busy="interrupt"))
        if restart:
            agent, model, _ = paying("Fine.", payments=payments)
            async with hub_for(agent, journal=journal) as hub:
                session = await hub.session("s")
                await stopped(session, 2)
                await collect(session, Prompt.of("Never mind.", busy="interrupt"))
        shown = sent(model)
    assert payments.paid == []
    assert [kind for kind, _ in shown] == [
        "user", "call p1", "output p1", "call w1", "output w1", "call p2", "output p2", "user",
    ]  # fmt: skip
    assert dict(shown)["output w1"] == "It is sunny in Rome."
    assert "cancelled" in dict(shown)["output p1"]
    assert shown[-1] == ("user", "Never mind.")


async def test_a_run_that_is_too_large_to_be_kept_is_still_asked_about_in_this_process() -> None:
    agent, _, payments = paying()
    async with session_for(agent, keep_limit=100) as session:
        await started(session)
        asked = await stopped(session, 2)
        assert [one.durable_key for one in asked] == [None, None]
        await finish(session, {one.question.call_id: "allow_once" for one in asked})
    assert payments.paid == [3, 4]


async def test_an_agent_that_changed_since_it_asked_ends_the_turn_with_a_sentence(tmp_path: Path) -> None:
    async with opened(SqliteJournal(tmp_path / "j.db")) as journal:
        agent, _, _ = paying()
        async with hub_for(agent, journal=journal) as hub:
            session = await hub.create("s")
            await started(session)
            await stopped(session, 2)
        other, _ = agent_of("Hm.", name="Somebody else")
        async with hub_for(other, journal=journal) as hub:
            session = await hub.session("s")
            asked = await stopped(session, 2)
            shown = await finish(session, {one.question.call_id: "allow_once" for one in asked})
    assert shown.turns[-1].status == "failed"
    assert "changed since it asked" in (shown.turns[-1].message or "")


PROCESS = """
import asyncio, os, sys

import trunkline
from tests.agents.openai.letter_app import agent
from trunkline.commands import Answer


async def main(step):
    journal = await trunkline.open_journal("sqlite:runs.db")
    async with trunkline.Hub(trunkline.adapt(agent), journal) as hub:
        if step == "ask":
            session = await hub.create("s")
            await session.prompt("Send a letter")
            while not session.is_suspended:
                await asyncio.sleep(0.01)
            await session.durable()  # A client is told no earlier.
            os._exit(9)
        session = await hub.session("s")
        (asked,) = session.open_questions.values()
        await session.answer(Answer(question_id=asked.question_id, option_id="allow_once"))
        while session.busy:
            await asyncio.sleep(0.01)
        shown = await session.history()
        print(shown.messages[-1].text, len(shown.questions))
    await journal.close()


asyncio.run(asyncio.wait_for(main(sys.argv[1]), 60))
"""


def test_a_process_that_was_killed_is_followed_by_one_that_takes_the_answer(
    root: Path, tmp_path: Path
) -> None:
    def run(step: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(root)}
        argv = [sys.executable, "-c", PROCESS, step]
        return subprocess.run(argv, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=90)

    assert run("ask").returncode == 9
    answered = run("answer")
    assert answered.stdout.strip() == "The result was: sent to Ada 1", answered.stderr
