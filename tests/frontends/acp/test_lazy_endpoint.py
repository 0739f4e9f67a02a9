"""The door greets before the agent is there, brings it in once, and reports what would not come."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.frontends.acp.memory_editor import Editor, join
from tests.hubs import forever, hub_for, make, soon, until

from trunkline.agents.interface import AgentCard, PromptCapabilities
from trunkline.commands import Prompt
from trunkline.errors import AgentError, TargetError
from trunkline.frontends.acp.card_cache import CardCache
from trunkline.frontends.acp.lazy_endpoint import LazyEndpoint
from trunkline.options import ConfigOption
from trunkline.protocols.jsonrpc.connection import Connection
from trunkline.session.context import SessionView, TurnContext
from trunkline.session.hub import Hub

NEW: dict[str, Any] = {"cwd": "/", "mcpServers": []}


class House:
    """Opens a hub when it is asked to; says how often that was."""

    def __init__(self, hub: Hub | None) -> None:
        self.hub = hub
        self.opened = 0
        self.opening = False
        self.may_open = asyncio.Event()
        self.may_open.set()

    async def open(self) -> Hub:
        self.opened += 1
        assert not self.opening, "it must not be opened twice at once"
        self.opening = True
        await self.may_open.wait()
        self.opening = False
        if self.hub is None:
            raise TargetError("agent.py cannot be imported: no module named 'soup'")
        return self.hub


@asynccontextmanager
async def at_the_door(
    house: House, cache: CardCache | None = None
) -> AsyncGenerator[tuple[Editor, LazyEndpoint]]:
    editor = Editor()
    connection = Connection(editor.agents_wire)
    door = connection.handler = LazyEndpoint(connection, house.open, cache)
    join(editor.connection, editor.wire, connection, editor.agents_wire)
    yield editor, door
    house.may_open.set()
    await soon(door.close())
    await soon(connection.close("over"))
    await soon(editor.connection.close("over"))


@pytest.fixture
def cache(tmp_path: Path) -> CardCache:
    return CardCache("demo", tmp_path)


async def test_without_a_known_card_the_greeting_waits_for_the_agent(cache: CardCache) -> None:
    async with hub_for(make(forever, name="hal")) as hub:
        house = House(hub)
        house.may_open.clear()
        async with at_the_door(house, cache) as (editor, _):
            greeting = asyncio.create_task(editor.call("initialize", protocolVersion=1))
            await until(lambda: house.opened == 1)
            assert not greeting.done()
            house.may_open.set()
            assert (await soon(greeting))["agentInfo"]["name"] == "hal"
            assert cache.load() == msgspec.to_builtins(hub.agent.card)


class Shaking:
    """Knows its card after a handshake, which may fail."""

    def __init__(self, *, fails: bool = False) -> None:
        self.card = AgentCard(name="not asked yet")
        self.fails = fails
        self.asked = 0

    async def prepare(self) -> None:
        self.asked += 1
        if self.fails:
            raise AgentError("the program does not answer")
        options = (ConfigOption(option_id="fast", name="Fast", value=True),)
        self.card = AgentCard(name="hal", prompt=PromptCapabilities(image=True), options=options)

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield "hi"


async def test_a_card_from_a_handshake_is_waited_for_and_no_placeholder_is_cached(cache: CardCache) -> None:
    async with hub_for(Shaking()) as hub, at_the_door(House(hub), cache) as (editor, _):
        greeted = await editor.call("initialize", protocolVersion=1)
        assert greeted["agentInfo"]["name"] == "hal"
        assert greeted["agentCapabilities"]["promptCapabilities"]["image"] is True
        await editor.call("session/new", **NEW)
        assert (await hub.session((await hub.list())[0].session_id)).view.config == {"fast": True}
        assert isinstance(hub.agent, Shaking)
        assert hub.agent.asked == 1
    cached = cache.load()
    assert cached is not None
    assert msgspec.convert(cached, AgentCard) == hub.agent.card


async def test_a_failed_handshake_is_an_error_of_session_new_and_is_not_cached(cache: CardCache) -> None:
    async with hub_for(Shaking(fails=True)) as hub, at_the_door(House(hub), cache) as (editor, _):
        assert (await editor.call("initialize", protocolVersion=1))["agentInfo"]["name"] == "agent"
        assert "does not answer" in (await editor.refused("session/new", **NEW)).message
        assert cache.load() is None
        with pytest.raises(AgentError):
            await hub.create()
        assert isinstance(hub.agent, Shaking)
        hub.agent.fails = False
        assert (await hub.create()).view.config == {"fast": True}, "it is asked again"


async def test_a_card_that_is_learned_with_a_session_is_known_at_the_next_start(cache: CardCache) -> None:
    class Late(Shaking):
        prepare = None  # type: ignore[assignment]

        async def open_session(self, session: SessionView) -> None:
            self.card = AgentCard(name="hal")

    for name in ("not asked yet", "hal"):
        async with hub_for(Late()) as hub, at_the_door(House(hub), cache) as (editor, _):
            assert (await editor.call("initialize", protocolVersion=1))["agentInfo"]["name"] == name
            await editor.call("session/new", **NEW)


async def test_with_a_known_card_the_greeting_comes_first_and_the_agent_after_it(cache: CardCache) -> None:
    cache.store({"name": "known"})
    async with hub_for(make(forever, name="hal")) as hub:
        house = House(hub)
        house.may_open.clear()
        async with at_the_door(house, cache) as (editor, _):
            greeted = await editor.call("initialize", protocolVersion=1)
            assert greeted["agentInfo"]["name"] == "known"
            await until(lambda: house.opened == 1)
            opening = asyncio.create_task(editor.call("session/new", **NEW))
            house.may_open.set()
            assert "sessionId" in await soon(opening)
            assert house.opened == 1
            card = cache.load()
            assert card is not None
            assert card["name"] == "hal", "what was stale is right the next time"


async def test_everything_at_once_never_opens_the_agent_twice_at_once() -> None:
    async with hub_for(make(forever)) as hub:
        house = House(hub)
        house.may_open.clear()
        async with at_the_door(house) as (editor, _):
            calls = asyncio.gather(
                editor.call("initialize", protocolVersion=1),
                editor.call("session/new", **NEW),
                editor.call("session/list"),
            )
            await until(lambda: house.opened > 0 and len(editor.wire.messages) == 3)
            await asyncio.sleep(0.01)
            house.may_open.set()
            await soon(calls)


@pytest.mark.parametrize("known", [True, False])
async def test_an_agent_that_will_not_come_is_reported_with_every_session(
    known: bool, cache: CardCache
) -> None:
    if known:
        cache.store({"name": "known"})
    async with at_the_door(House(None), cache) as (editor, _):
        assert (await editor.call("initialize", protocolVersion=1))["protocolVersion"] == 1
        for _ in range(2):
            error = await editor.refused("session/new", **NEW)
            assert error.rpc_code == -32603
            assert "no module named 'soup'" in error.data["details"]


async def test_unknown_methods_are_answered_before_the_agent_is_loaded() -> None:
    house = House(None)
    async with at_the_door(house) as (editor, _):
        assert (await editor.refused("_zed/anything")).rpc_code == -32601
        assert house.opened == 0, "for this nobody is called"


@pytest.mark.parametrize("version", ["1", 1.5, True, None, [1]])
async def test_a_version_that_is_no_number_is_refused(version: Any) -> None:
    async with at_the_door(House(None)) as (editor, _):
        assert (await editor.refused("initialize", protocolVersion=version)).rpc_code == -32602
        assert (await editor.refused("initialize")).rpc_code == -32602


@pytest.mark.parametrize("version", [0, 1, 2, 65535, -1])
async def test_any_version_is_answered_with_ours(version: int) -> None:
    async with at_the_door(House(None)) as (editor, _):
        assert (await editor.call("initialize", protocolVersion=version))["protocolVersion"] == 1


@pytest.mark.parametrize("capabilities", [None, 7, [], {"fs": 7, "terminal": "yes"}, {"future": {"x": 1}}])
async def test_capabilities_that_make_no_sense_are_none(capabilities: Any) -> None:
    async def agent(prompt: Prompt, ctx: Any) -> AsyncGenerator[str]:
        yield type(ctx.session.terminals).__name__

    async with hub_for(agent) as hub, at_the_door(House(hub)) as (editor, _):
        await editor.call("initialize", protocolVersion=1, clientCapabilities=capabilities)
        session_id = await editor.open()
        await editor.prompt(session_id, "hi")
        assert editor.text == "Terminals"


async def test_a_session_can_be_had_without_a_greeting() -> None:
    async with hub_for(make(forever)) as hub, at_the_door(House(hub)) as (editor, _):
        assert await editor.open()


async def test_notifications_and_withdrawals_before_the_agent_is_there_harm_nothing() -> None:
    house = House(None)
    house.may_open.clear()
    async with at_the_door(house) as (editor, door):
        editor.connection.notify("session/cancel", {"sessionId": "s"})
        asking = asyncio.create_task(editor.call("session/new", **NEW))
        await until(lambda: house.opened == 1)
        assert not door.withdraw("session/new", NEW)
        asking.cancel()
        await until(lambda: "$/cancel_request" in str(editor.wire.messages))


async def test_leaving_cancels_prompts_and_answers_everything() -> None:
    async def agent(prompt: Prompt) -> AsyncGenerator[str]:
        yield "begun"
        await forever()

    async with hub_for(agent) as hub, at_the_door(House(hub)) as (editor, door):
        session_id = await editor.open()
        running = asyncio.create_task(editor.prompt(session_id, "go"))
        await until(lambda: editor.text == "begun")
        await soon(door.close())
        assert (await soon(running))["stopReason"] == "cancelled"


async def test_a_client_that_leaves_early_loads_no_agent(cache: CardCache) -> None:
    cache.store({"name": "known"})
    house = House(None)
    async with at_the_door(house, cache) as (_, door):
        reply = await door.handle("initialize", {"protocolVersion": 1})
        await soon(door.close())
        reply.then()
        await asyncio.sleep(0)
        assert house.opened == 0


async def test_leaving_while_the_agent_is_being_called_waits_for_it(cache: CardCache) -> None:
    cache.store({"name": "known"})
    async with hub_for(make(forever)) as hub:
        house = House(hub)
        house.may_open.clear()
        async with at_the_door(house, cache) as (editor, door):
            await editor.call("initialize", protocolVersion=1)
            await until(lambda: house.opened == 1)
            leaving = asyncio.create_task(door.close())
            await asyncio.sleep(0.01)
            assert not leaving.done()
            house.may_open.set()
            await soon(leaving)
