"""A coding agent from npm in useChat: the real AI SDK on one end, the real agent on the other.

Its model is a script on loopback, so that what has to come out is known beforehand.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import pytest

from tests.peers.aisdk_pages import ChatPages
from tests.peers.coding_agents import CLAUDE
from tests.peers.model.server import serving
from tests.peers.workplace import Workplace, script_for
from tests.server.running_server import served
from trunkline.agents.acp import AcpAgent
from trunkline.session.settings import Settings

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.fixture(scope="module")
def pages(root: Path) -> Iterator[ChatPages]:
    """One node process for all tests of the module."""
    pages = ChatPages(root)
    yield pages
    pages.close()


@pytest.fixture
async def place(root: Path, tmp_path: Path) -> AsyncGenerator[Workplace]:
    with serving(script_for(CLAUDE, tmp_path / "work")) as model:
        place = Workplace(root, CLAUDE, tmp_path, model)
        yield place
        await asyncio.to_thread(place.wait_until_left)


@pytest.mark.parametrize("version", [6, 7])
async def test_a_coding_agent_asks_the_page_and_works(
    pages: ChatPages, place: Workplace, version: int
) -> None:
    command, env = place.installed.command, place.installed.env
    agent = AcpAgent(command, place.agent.arguments, env=env, env_allow=())
    async with served(agent, settings=Settings(), cwd=str(place.work)) as (_, client):
        page = await pages.open(str(client.base_url).rstrip("/"), version=version)
        await page.say("Please #greet me")
        assert (page.report["error"], page.text) == (None, "Hello world.")
        await page.say("Please #shell it")
        assert page.calls[0]["state"] == "approval-requested"
        if version == 7:
            kinds = [one["kind"] for one in page.calls[0]["approval"]["descriptor"]["options"]]
            assert {"allow_once", "reject_once"} <= {*kinds}
        await page.approve()
        assert page.calls[0]["state"] == "output-available"
        assert page.text == "I will.I did."
        assert (place.work / "made.txt").read_text() == "made\n"
        stored = await client.get(f"/api/chat/c1/messages?v={version}")
        assert page.messages == stored.json()
