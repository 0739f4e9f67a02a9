"""Runs that steer: their message joins the turn that is running, or waits for the next one."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from tests.frontends.agui.client_runs import check_equal, client_of, only, run
from tests.hubs import WAIT, events_of, soon
from tests.steered_agents import Taking

from trunkline import events as ev
from trunkline.commands import DropPrompt, Prompt
from trunkline.conformance.agui.event_verifier import plain
from trunkline.conformance.agui.reference_client import JsonObject, ReferenceClient
from trunkline.content import ImageBlock, TextBlock
from trunkline.errors import InvalidCommand, SessionBusy
from trunkline.frontends.agui.decoder import read_input
from trunkline.frontends.agui.endpoint import AguiEndpoint
from trunkline.frontends.agui.steering import wants_to_steer

STEER = {"trunkline": {"busy": "steer"}}


def once(do: Callable[[], Awaitable[Any]]) -> Callable[[], Awaitable[Any]]:
    """Do something at the first event only."""
    done: list[None] = []

    async def first() -> None:
        if not done:
            done.append(None)
            await do()

    return first


async def test_a_second_run_joins_the_turn_and_both_clients_hold_the_same() -> None:
    async with client_of(Taking()) as (endpoint, client):
        other = ReferenceClient(name="b")
        second: list[asyncio.Task[list[JsonObject]]] = []

        async def steer() -> None:
            other.messages = [dict(message) for message in client.messages]
            second.append(asyncio.create_task(run(endpoint, other, "more", forwardedProps=STEER)))

        events = await run(endpoint, client, "first", on={"TEXT_MESSAGE_CONTENT": once(steer)})
        await soon(second[0])
        session = await endpoint.hub.session("t1")
        assert len([e for e in await events_of(session) if isinstance(e, ev.TurnStarted)]) == 1
        assert [message["content"] for message in client.messages] == [
            "first", "began first. ", "more", "also more",
        ]  # fmt: skip
        assert len(only(events, "MESSAGES_SNAPSHOT")) == 1
        await check_equal(endpoint, client)
        await check_equal(endpoint, other)


async def test_a_client_that_has_its_message_already_does_not_get_it_twice() -> None:
    async with client_of(Taking()) as (endpoint, client):

        async def steer() -> None:
            # The page adds what the person wrote, and sends it by the same client.
            body = {**client.body(forwardedProps=STEER), "messages": [*client.messages, mine]}
            client.messages.append(dict(mine))
            opened = await endpoint.open(read_input(json.dumps(body).encode()))
            await opened.close()

        mine = {"id": "mine", "role": "user", "content": "more"}
        await run(endpoint, client, "first", on={"TEXT_MESSAGE_CONTENT": once(steer)})
        assert [one["content"] for one in client.messages if one["id"] == "mine"] == ["more"]


async def test_a_message_with_an_image_is_shown_with_it() -> None:
    async with client_of(Taking()) as (endpoint, client):

        async def steer() -> None:
            session = await endpoint.hub.session("t1")
            content = (TextBlock(text="like this"), ImageBlock(data="aGk=", mime_type="image/png"))
            await session.prompt(Prompt(content=content, busy="steer", message_id="m-2"))

        await run(endpoint, client, "first", on={"TEXT_MESSAGE_CONTENT": once(steer)})
        (joined,) = [message for message in client.messages if message["id"] == "m-2"]
        assert [part["type"] for part in joined["content"]] == ["text", "image"]
        await check_equal(endpoint, client)


async def test_a_run_waits_for_its_own_turn_if_no_agent_takes_its_message() -> None:
    async def deaf(prompt: Prompt) -> AsyncIterator[str]:
        yield f"began {prompt.text}"
        await asyncio.wait_for(go_on.wait(), WAIT)

    go_on = asyncio.Event()
    async with client_of(deaf) as (endpoint, client):
        other = ReferenceClient(name="b")
        second: list[asyncio.Task[list[JsonObject]]] = []

        async def steer() -> None:
            other.messages = [dict(message) for message in client.messages]
            other.say("second")
            request = read_input(json.dumps(other.body(forwardedProps=STEER)).encode())
            opened = await endpoint.open(request)

            async def show() -> list[JsonObject]:
                return [event async for _, batch in opened for event in plain(batch)]

            second.append(asyncio.create_task(show()))
            go_on.set()

        await run(endpoint, client, "first", on={"TEXT_MESSAGE_CONTENT": once(steer)})
        events = await soon(second[0])
        other.take(events)
        assert events[0]["type"] == "RUN_STARTED"
        assert "".join(event["delta"] for event in only(events, "TEXT_MESSAGE_CONTENT")) == "began second"
        await check_equal(endpoint, other)


async def waiting_run(endpoint: AguiEndpoint, client: ReferenceClient) -> Any:
    client.say("second")
    return await endpoint.open(read_input(json.dumps(client.body(forwardedProps=STEER)).encode()))


async def block(prompt: Prompt) -> AsyncIterator[str]:
    yield "working"
    await asyncio.Event().wait()


async def test_a_client_that_leaves_takes_its_waiting_message_with_it() -> None:
    async with client_of(block) as (endpoint, client):
        session = await endpoint.hub.create("t1")
        await session.prompt("first")
        opened = await waiting_run(endpoint, client)
        await opened.close()
        dropped = [e for e in await events_of(session) if isinstance(e, ev.PromptDropped)]
        assert [event.reason for event in dropped] == ["withdrawn"]


async def test_a_message_that_is_withdrawn_ends_its_run_with_the_reason() -> None:
    async with client_of(block) as (endpoint, client):
        session = await endpoint.hub.create("t1")
        await session.prompt("first")
        opened = await waiting_run(endpoint, client)
        (queued,) = [e for e in await events_of(session) if isinstance(e, ev.PromptQueued)]
        await session.submit(DropPrompt(prompt_id=queued.prompt_id))
        batches = [batch async for _, batch in opened]
        assert "withdrawn" in batches[-1][-1].message


async def test_a_run_that_is_sent_again_is_the_same_message() -> None:
    agent = Taking()
    async with client_of(agent) as (endpoint, client):
        session = await endpoint.hub.create("t1")
        await session.prompt(Prompt.of("first", message_id="m-1"))
        client.messages = [{"id": "m-1", "role": "user", "content": "first"}]
        client.say("more")
        request = read_input(json.dumps(client.body(forwardedProps=STEER)).encode())
        async with asyncio.timeout(WAIT):
            while not [e for e in await events_of(session) if isinstance(e, ev.Text)]:
                await asyncio.sleep(0.001)
        first, again = await endpoint.open(request), await endpoint.open(request)
        await soon(session.wait_until_idle())
        late = await endpoint.open(request)
        for opened in (first, again, late):
            batches = [batch async for _, batch in opened]
            assert type(batches[-1][-1]).__name__ == "RunFinished"
        said = [e.content for e in await events_of(session) if isinstance(e, ev.UserMessage)]
        assert len(said) == 2


async def test_without_a_running_turn_the_run_is_like_any_other_and_the_agent_does_not_see_the_wish() -> None:
    agent = Taking()
    async with client_of(agent) as (endpoint, client):
        await run(endpoint, client, "hello", forwardedProps={**STEER, "mine": 1})
        assert agent.props == [{"mine": 1}]
        await check_equal(endpoint, client)


async def test_without_the_wish_a_second_run_is_refused() -> None:
    async with client_of(block) as (endpoint, client):
        session = await endpoint.hub.create("t1")
        await session.prompt("first")
        client.say("second")
        request = client.body(forwardedProps={"trunkline": {"busy": "reject"}})
        with pytest.raises(SessionBusy):
            await endpoint.open(read_input(json.dumps(request).encode()))


async def test_a_client_that_may_not_see_the_turn_may_not_join_it() -> None:
    async with client_of(Taking()) as (endpoint, client):
        session = await endpoint.hub.create("t1")
        await session.prompt("first")
        client.say("more")
        request = read_input(json.dumps(client.body(forwardedProps=STEER)).encode())
        with pytest.raises(SessionBusy, match="follow"):
            await endpoint.open(request, starter="stranger")


@pytest.mark.parametrize("props", [{"trunkline": "steer"}, {"trunkline": {"busy": "queue"}}])
def test_a_wish_that_is_not_known_is_refused(props: dict[str, Any]) -> None:
    request = read_input(json.dumps(ReferenceClient().body(forwardedProps=props)).encode())
    with pytest.raises(InvalidCommand, match="busy"):
        wants_to_steer(request)
