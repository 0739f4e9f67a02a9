"""The served agents: their names, their hubs, and what a shutdown waits for."""

import asyncio
from typing import Any

import pytest
from tests.hubs import BRISK, echo, make, soon

from trunkline.errors import ConfigurationError, OtherAgent, SessionNotFound
from trunkline.server.agents import DEFAULT, ServedAgents, name_agents
from trunkline.server.errors import HttpError


def serve(agents: Any = None, **options: Any) -> ServedAgents:
    return ServedAgents(name_agents(agents or make(echo)), settings=BRISK, **options)


def test_one_agent_is_the_default_and_several_have_their_names() -> None:
    assert [one.name for one in name_agents(make(echo))] == [DEFAULT]
    assert [one.name for one in name_agents({"a": make(echo), "b": make(echo)})] == ["a", "b"]


def test_agents_with_the_same_card_get_targets_of_their_own() -> None:
    named = name_agents({"a": make(echo, name="x"), "b": make(echo, name="x")})
    assert [one.target for one in named] == ["x/a", "x/b"]


@pytest.mark.parametrize("agents", [{}, {"ws": make(echo)}, {"a b": make(echo)}, {"": make(echo)}])
def test_a_name_that_cannot_stand_in_an_address_is_refused(agents: Any) -> None:
    with pytest.raises(ConfigurationError):
        name_agents(agents)


def test_the_first_agent_answers_for_those_who_name_none() -> None:
    agents = serve({"a": make(echo), "b": make(echo)})
    assert [agents.resolve_name(name) for name in (None, DEFAULT, "b")] == ["a", "a", "b"]
    with pytest.raises(HttpError, match="there are a, b"):
        agents.resolve_name("c")


async def test_a_session_of_another_agent_is_refused() -> None:
    agents = serve({"a": make(echo, name="one"), "b": make(echo, name="two")})
    try:
        await (await agents.hub("a")).create("s1")
        assert await agents.hub_for("a", "s1", "local") is await agents.hub("a")
        assert await agents.hub_for("b", "new", "local") is await agents.hub("b")
        with pytest.raises(OtherAgent, match="the agent 'a'"):
            await agents.hub_for("b", "s1", "local")
        hub, info = await agents.hub_of_session("s1", "local")
        assert (hub, info.session_id) == (await agents.hub("a"), "s1")
        with pytest.raises(SessionNotFound):
            await agents.hub_of_session("s1", "alice")
    finally:
        await agents.close()


async def test_closed_agents_open_nothing_until_they_are_reset() -> None:
    agents = serve()
    await agents.open()
    await agents.close()
    await agents.close()
    with pytest.raises(HttpError, match="going down"):
        await agents.hub()
    agents.reset()
    assert await agents.hub()
    await agents.close()


async def test_a_shutdown_waits_for_runs_but_not_for_ever() -> None:
    agents = serve()
    agents.add_run("r1")
    waiting = asyncio.create_task(agents.wait_for_runs(60))
    await soon(agents.wait_for_runs(0.01))
    assert not waiting.done()
    agents.remove_run("r1")
    await soon(waiting)
