"""An agent of the OpenAI Agents SDK at real clients: the official ACP SDK, AG-UI's client, useChat."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.openai import letter_app
from tests.peers.agui import Browser
from tests.peers.aisdk_pages import ChatPages
from tests.peers.client_plans import Stage
from tests.peers.contract import agent_text, heard_view, requests
from tests.peers.test_agui_client import staged
from tests.peers.test_aisdk_chat import world
from tests.peers.test_python_sdk import driver_in

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def pages(root: Path) -> Iterator[ChatPages]:
    """One node process for all tests of the module."""
    pages = ChatPages(root)
    yield pages
    pages.close()


def test_the_official_acp_client_is_asked_and_shown_what_became_of_it(root: Path, tmp_path: Path) -> None:
    stage = Stage(tmp_path, driver_in("acp-sdk-0.12", root))
    steps = stage.play(
        [
            stage.new("s"),
            stage.prompt("look", "s", "How is the weather?"),
            stage.prompt("yes", "s", "Send a letter", answers=["allow_once"]),
            stage.prompt("no", "s", "Send a letter", answers=["reject_once"]),
            stage.prompt("always", "s", "Send a letter", answers=["allow_always"]),
            stage.prompt("unasked", "s", "Send a letter"),
            stage.open("load", "load", "s"),
        ],
        target=f"{root}/tests/agents/openai/letter_app.py:agent",
        capabilities={},
    )["steps"]
    assert agent_text(steps["look"]) == "Let me look. The result was: 22 degrees in Paris"
    assert agent_text(steps["yes"]) == "The result was: sent to Ada"
    assert agent_text(steps["always"]) == "The result was: sent to Ada"
    asked = [len(requests(steps[name], "session/request_permission")) for name in ("yes", "no", "unasked")]
    assert asked == [1, 1, 0]
    statuses = [
        next(iter(heard_view(steps[name]["heard"])["calls"].values()))["status"]
        for name in ("look", "yes", "no", "always", "unasked")
    ]
    assert statuses == ["completed", "completed", "failed", "completed", "completed"]
    assert agent_text(steps["load"]).startswith("Let me look. The result was: 22 degrees in Paris")


async def test_the_agui_client_holds_what_we_hold(browser: Browser) -> None:
    async with staged(browser, letter_app.agent) as stage:
        page = await stage.page()
        await page.say("How is the weather?")
        await stage.check(page)
        for payload in ({"approved": True}, None):
            await page.say("Send a letter")
            assert len(page.interrupts) == 1
            await page.run(resume=page.resume(payload))
            assert page.report["finished"]["outcome"] == "success"
            await stage.check(page)


@pytest.mark.parametrize("version", [6, 7])
async def test_use_chat_asks_for_approval_and_is_asked_again(pages: ChatPages, version: int) -> None:
    async with world(pages, letter_app.agent) as here:
        page = await here.page(version, f"openai-{version}")
        await page.say("How is the weather?")
        assert page.text == "Let me look. The result was: 22 degrees in Paris"
        assert page.calls[0]["output"] == "22 degrees in Paris"
        await here.check(page)
        await page.say("Send a letter")
        assert page.calls[0]["state"] == "approval-requested"
        await page.approve()
        assert page.text == "The result was: sent to Ada"
        await here.check(page)
        await page.order("regenerate")
        await page.settle()
        await page.approve(False, reason="not today")
        assert page.calls[0]["state"] == "output-denied"
        assert page.text == "The result was: not today"
        await here.check(page)
