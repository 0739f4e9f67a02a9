"""Steering an ACP agent in a process of its own: `_session/steering` where it offers that, else the queue."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.agents.acp.worlds import PATIENT, World, world
from tests.hubs import WAIT, events_of, hub_for, only, soon, text_of
from trunkline import events as ev
from trunkline.agents.acp.agent import AcpAgent
from trunkline.commands import Prompt
from trunkline.errors import SessionBusy
from trunkline.folding import fold
from trunkline.session.session import Session

IDLE = {"steering": {"idleBehavior": "promptRequired"}}


async def waiting(agent: World) -> Session:
    """A session whose agent works on a prompt, and waits for more."""
    session = await agent.hub.create()
    await session.prompt("silent")
    async with asyncio.timeout(2 * WAIT):
        while "waiting" not in text_of(await events_of(session)):
            await asyncio.sleep(0.005)
    return session


def said(events: list[Any]) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in fold(events).messages]


async def test_a_message_joins_the_turn_at_an_agent_that_offers_it(tmp_path: Path) -> None:
    async with world(tmp_path, "--steering", "injected") as agent:
        session = await waiting(agent)
        receipt = await soon(session.prompt(Prompt.of("in French", busy="steer")))
        assert receipt.steered
        await soon(session.wait_until_idle())
        events = await events_of(session)
        assert said(events) == [
            ("user", "silent"), ("agent", "waiting"), ("user", "in French"), ("agent", "also in French"),
        ]  # fmt: skip
        assert len(only(events, ev.TurnStarted)) == 1
        (sent,) = agent.sent("_session/steering")
        assert (sent["prompt"], sent["_meta"]) == ([{"type": "text", "text": "in French"}], IDLE)


@pytest.mark.parametrize("outcome", ["idle", "failed", "error", ""])
async def test_a_message_that_the_agent_does_not_take_begins_the_next_turn(
    outcome: str, tmp_path: Path
) -> None:
    async with world(tmp_path, *(["--steering", outcome] if outcome else [])) as agent:
        session = await waiting(agent)
        receipt = await soon(session.prompt(Prompt.of("blocks", busy="steer")))
        assert (receipt.turn_id, receipt.steered) == (None, False)
        await soon(session.cancel())
        await soon(session.wait_until_idle())
        events = await events_of(session)
        assert [text for role, text in said(events) if role == "user"] == ["silent", "blocks"]
        assert len(agent.sent("session/prompt")) == 2
        assert len(agent.sent("_session/steering")) == bool(outcome)


async def test_an_agent_that_dies_over_a_message_fails_its_turn_and_the_message_is_not_lost(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, "--steering", "exit") as agent:
        session = await waiting(agent)
        receipt = await soon(session.prompt(Prompt.of("recall", busy="steer", key="k")), 2 * WAIT)
        assert not receipt.steered
        await soon(session.wait_until_idle(), 2 * WAIT)
        events = await events_of(session)
        assert len(only(events, ev.TurnFailed)) == 1
        assert [text for role, text in said(events) if role == "user"] == ["silent", "recall"]


async def test_an_agent_that_does_not_answer_leaves_it_undecided_and_says_so(tmp_path: Path) -> None:
    async with world(tmp_path, "--steering", "never", hub={"command_timeout": 0.3}) as agent:
        session = await waiting(agent)
        with pytest.raises(SessionBusy, match="did not say"):
            await soon(session.prompt(Prompt.of("lost?", busy="steer")))
        assert await soon(session.cancel())


OWN_AGENT = '''
import asyncio

from trunkline import AgentCard


class Taking:
    """Takes a message into its turn, and ends with it."""

    card = AgentCard(name="taking")

    def __init__(self):
        self.taken = None

    async def run(self, prompt, ctx):
        self.taken = asyncio.Queue()
        yield "waiting"
        yield f" for {await self.taken.get()}"

    async def steer(self, session, prompt):
        self.taken.put_nowait(prompt.text)
        return True


taking = Taking()
'''


async def test_our_own_front_end_in_another_process_is_steered_like_any_agent(tmp_path: Path) -> None:
    (tmp_path / "taking.py").write_text(OWN_AGENT)
    target = f"{tmp_path / 'taking.py'}:taking"
    args = ["-m", "trunkline", "acp", target, "--journal", f"sqlite:{tmp_path / 'inner.db'}"]
    agent = AcpAgent(sys.executable, args, cwd=tmp_path)
    async with hub_for(agent, settings=PATIENT) as hub:
        session = await waiting(World(agent, hub, tmp_path / "log"))
        receipt = await soon(session.prompt(Prompt.of("the bus", busy="steer")))
        assert receipt.steered
        await soon(session.wait_until_idle())
        events = await events_of(session)
        assert text_of(events) == "waiting for the bus"
        assert [text for role, text in said(events) if role == "user"] == ["silent", "the bus"]
