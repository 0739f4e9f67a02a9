"""ACP agents behind a hub: one on the official Python SDK, and our own demo through two sessions."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.agents.acp.worlds import PATIENT, notices_of
from tests.hubs import collect, hub_for, only, text_of
from trunkline import events as ev
from trunkline.agents.acp import AcpAgent
from trunkline.commands import Answer
from trunkline.demos.scripted import ScriptedAgent
from trunkline.questions import Permission
from trunkline.session.session import Session


@pytest.fixture(scope="module")
def echo(root: Path) -> AcpAgent:
    """The agent on the official SDK, which lives in an environment of its own."""
    made = subprocess.run(
        [root / "scripts/peer-venv", "acp-sdk-0.12"], capture_output=True, text=True, check=True, timeout=300
    )
    python = f"{made.stdout.strip()}/bin/python"
    return AcpAgent(python, [str(root / "tests/peers/python/serve_echo.py")], cwd=root)


def demo() -> AcpAgent:
    return AcpAgent(sys.executable, ["-m", "trunkline", "acp", "demo", "--journal", "memory:"])


def first_option(session: Session):
    async def answer(asked: ev.Asked) -> None:
        assert isinstance(asked.question, Permission)
        option = asked.question.options[0]
        await session.answer(Answer(question_id=asked.question_id, option_id=option.option_id))

    return answer


async def test_an_agent_on_the_official_sdk_is_prompted_asks_and_is_answered(echo: AcpAgent) -> None:
    async with hub_for(echo, settings=PATIENT) as hub:
        session = await hub.create()
        assert text_of(await collect(session, "hello there")) == "hello there "
        events = await collect(session, "ask me", {ev.Asked: first_option(session)})
        assert text_of(events) == "ask me: yes "
        assert only(events, ev.ToolCall)[0].kind == "think"
        assert only(events, ev.ToolUpdate)[-1].status == "completed"


async def test_an_agent_that_forgets_gets_the_conversation_again(echo: AcpAgent) -> None:
    async with hub_for(echo, settings=PATIENT) as hub:
        session = await hub.create()
        await collect(session, "hello there")
        await echo.close_session(session.view)
        events = await collect(session, "again")
        assert "User: hello there" in text_of(events)
        assert len(notices_of(events)) == 2


@pytest.mark.parametrize("scenario", ["/text", "/tools", "/permission", "/plan", "/all"])
async def test_our_own_demo_means_the_same_through_acp(scenario: str, tmp_path: Path) -> None:
    told: list[tuple[str, list[str], int]] = []
    for name, agent in (("direct", ScriptedAgent()), ("acp", demo())):
        (tmp_path / name).mkdir()
        async with hub_for(agent, settings=PATIENT) as hub:
            session = await hub.create(cwd=str(tmp_path / name))
            events = await collect(session, scenario, {ev.Asked: first_option(session)}, within=30.0)
            kinds = [call.title or call.name for call in only(events, ev.ToolCall)]
            told.append((text_of(events), kinds, len(only(events, ev.Plan))))
    assert told[0] == told[1]
