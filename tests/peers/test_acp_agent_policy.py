"""Real coding agents under a policy: a shell line is judged as a line, whoever runs it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.hubs import collect, events_of, only
from tests.peers.coding_agents import CLAUDE, CLAUDE_CODE, GEMINI, CodingAgent, install
from tests.peers.model.replies import say
from tests.peers.model.server import serving
from trunkline import events as ev
from trunkline.agents.acp import AcpAgent
from trunkline.commands import Answer
from trunkline.journal import open_journal
from trunkline.questions import Permission
from trunkline.session.hub import Hub
from trunkline.session.session import Session
from trunkline.workspace import Policy, Rule

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

LINE = "echo made > made.txt && cat made.txt"
WITHIN = 60.0


@asynccontextmanager
async def session_of(
    agent: CodingAgent, root: Path, folder: Path, policy: Policy
) -> AsyncGenerator[tuple[Session, Path]]:
    """A session with a real agent whose model wants to run a line."""
    work = folder / "work"
    work.mkdir()
    script = {"#shell": [(agent.shell(LINE),), (say("That was it."),)]}
    with serving(script) as model:
        installed = await asyncio.to_thread(install, root, agent, folder / "home", model)
        source = AcpAgent(installed.command, agent.arguments, env=installed.env, env_allow=())
        journal = await open_journal("memory:")
        try:
            async with Hub(source, journal, policy=policy) as hub:
                yield await hub.create(cwd=str(work)), work
        finally:
            await journal.close()


@pytest.fixture(params=[CLAUDE, CLAUDE_CODE, GEMINI], ids=lambda agent: agent.name)
def agent(request: pytest.FixtureRequest) -> CodingAgent:
    return request.param


async def test_a_rule_about_a_part_of_a_line_refuses_the_line(
    agent: CodingAgent, root: Path, tmp_path: Path
) -> None:
    policy = Policy(default="allow", rules=(Rule(decision="deny", command="cat *"),))
    async with session_of(agent, root, tmp_path, policy) as (session, work):
        await collect(session, "Please #shell it", within=WITHIN)
        events = await events_of(session)
    assert only(events, ev.Asked) == []
    assert {(one.allowed, one.command) for one in only(events, ev.Decided)} == {(False, LINE)}
    assert "denied" in [update.status for update in only(events, ev.ToolUpdate)]
    assert not (work / "made.txt").exists()


async def test_what_the_policy_allows_runs_unasked_and_is_recorded(
    agent: CodingAgent, root: Path, tmp_path: Path
) -> None:
    async with session_of(agent, root, tmp_path, Policy.allow_all()) as (session, work):
        await collect(session, "Please #shell it", within=WITHIN)
        events = await events_of(session)
    assert only(events, ev.Asked) == []
    assert {(one.allowed, one.command) for one in only(events, ev.Decided)} == {(True, LINE)}
    assert (work / "made.txt").read_text() == "made\n"


async def test_a_person_is_asked_once_where_the_agent_asks_and_then_uses_our_terminal(
    agent: CodingAgent, root: Path, tmp_path: Path
) -> None:
    async with session_of(agent, root, tmp_path, Policy.ask()) as (session, work):

        async def allow(asked: ev.Asked) -> None:
            assert isinstance(asked.question, Permission)
            option = next(one for one in asked.question.options if one.kind == "allow_once")
            await session.answer(Answer(question_id=asked.question_id, option_id=option.option_id))

        shown = await collect(session, "Please #shell it", {ev.Asked: allow}, within=WITHIN)
    assert len(only(shown, ev.Asked)) == 1
    assert (work / "made.txt").read_text() == "made\n"
    if agent is CLAUDE_CODE:
        outputs = only(shown, ev.TerminalOutput)
        assert "".join(event.data for event in outputs) == "made\n"
