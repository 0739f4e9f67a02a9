"""What the page asks first: who it is, what is served, and in which state each agent is."""

import asyncio
from typing import Any

from tests.hubs import echo, make, soon
from tests.server.running_server import served

from trunkline import events as ev
from trunkline._version import __version__
from trunkline.agents.function import FunctionAgent
from trunkline.agents.interface import AgentCard, PromptCapabilities
from trunkline.options import Choice, ConfigOption
from trunkline.server.limits import Limits

CARD = AgentCard(
    name="writer",
    title="The writer",
    description="Writes.",
    commands=(ev.CommandInfo(name="draft", description="Writes a draft"),),
    options=(
        ConfigOption(option_id="tone", name="Tone", value="dry", choices=(Choice(value="dry", name="Dry"),)),
    ),
    prompt=PromptCapabilities(image=True, embedded_context=False),
)


class Slow(FunctionAgent):
    """An agent that says what it is when it is let."""

    def __init__(self, failure: Exception | None = None) -> None:
        super().__init__(echo, AgentCard(name="placeholder"))
        self.let = asyncio.Event()
        self.asked = 0
        self.failure = failure

    async def prepare(self) -> None:
        self.asked += 1
        await self.let.wait()
        if self.failure is not None:
            failure, self.failure = self.failure, None
            raise failure
        self.card = AgentCard(name="real", title="Real")


async def page_of(client: Any) -> dict[str, Any]:
    return (await soon(client.get("/page"))).json()


async def test_the_page_learns_who_it_is_and_what_is_served() -> None:
    async with served({"writer": FunctionAgent(echo, CARD), "plain": make(echo)}) as (_, client):
        page = await page_of(client)
    writer, plain = page.pop("agents")
    assert page == {
        "version": __version__,
        "principal": "local",
        "scopes": ["admin", "answer", "follow", "prompt"],
        "login": True,
        "limits": {"body_bytes": 4 * 1024 * 1024, "keep_alive_seconds": 15.0},
    }
    assert writer == {
        "name": "writer",
        "title": "The writer",
        "description": "Writes.",
        "commands": [{"name": "draft", "description": "Writes a draft"}],
        "options": [
            {
                "option_id": "tone",
                "name": "Tone",
                "value": "dry",
                "choices": [{"value": "dry", "name": "Dry"}],
            }
        ],
        "prompt": {"image": True, "audio": False, "embedded": False},
        "ready": True,
        "error": None,
    }
    assert (plain["name"], plain["title"], plain["description"]) == ("plain", "plain", None)


async def test_agents_of_the_same_title_are_told_apart_by_their_names() -> None:
    agents = {name: Slow() for name in ("one", "two")}
    for agent in agents.values():
        agent.let.set()
    async with served(agents) as (_, client):
        page = await page_of(client)
    assert [agent["title"] for agent in page["agents"]] == ["Real (one)", "Real (two)"]


async def test_an_agent_that_starts_slowly_is_not_waited_for_and_is_asked_once() -> None:
    agent = Slow()
    async with served(agent, limits=Limits(open_seconds=0.05)) as (_, client):
        first, second = await page_of(client), await page_of(client)
        agent.let.set()
        third = await page_of(client)
    assert [page["agents"][0]["ready"] for page in (first, second, third)] == [False, False, True]
    assert first["agents"][0]["error"] is None, "it starts"
    assert third["agents"][0]["title"] == "Real"
    assert agent.asked == 1


async def test_an_agent_that_cannot_start_is_asked_again_and_its_words_stay_here() -> None:
    agent = Slow(RuntimeError("the file /home/ann/secret is missing"))
    agent.let.set()
    async with served(agent) as (_, client):
        first, second = await page_of(client), await page_of(client)
    assert first["agents"][0]["ready"] is False
    assert "secret" not in first["agents"][0]["error"]
    assert second["agents"][0]["ready"] is True


async def test_a_server_that_closes_does_not_wait_for_an_agent_that_starts() -> None:
    agent = Slow()
    async with served(agent, limits=Limits(open_seconds=0.05)) as (_, client):
        assert (await page_of(client))["agents"][0]["ready"] is False
