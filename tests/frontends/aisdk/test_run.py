"""One response: what a page gets when a turn fails, when the journal fails, and when it leaves."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from tests.frontends.aisdk.chats import Page, user
from tests.hubs import hub_for, soon, until

from trunkline.commands import DropPrompt, Prompt
from trunkline.errors import SessionBusy
from trunkline.frontends.aisdk.endpoint import AisdkEndpoint
from trunkline.frontends.aisdk.options import AisdkOptions
from trunkline.frontends.aisdk.run import AisdkResponse
from trunkline.protocols.aisdk.wire import version_of
from trunkline.session.run_start import RunStart
from trunkline.testing import ScriptedAgent


async def endless(prompt: Prompt) -> AsyncIterator[str]:
    while True:
        yield "tick "
        await asyncio.sleep(0.001)


async def test_a_turn_that_fails_ends_with_its_error() -> None:
    async with hub_for(ScriptedAgent()) as hub:
        page = Page(AisdkEndpoint(hub))
        await page.send(user("/fails"))
        assert page.types[-1] == "error"
        hidden = Page(AisdkEndpoint(hub, AisdkOptions(error_detail_level="none")), "c2")
        await hidden.send(user("/fails"))
        assert hidden.chunks[-1] == {"type": "error", "errorText": "the turn failed"}


async def test_a_turn_that_does_not_exist_is_an_error_of_the_response() -> None:
    async with hub_for() as hub:
        session = await hub.create("c1")
        await session.own()
        response = AisdkResponse(session, RunStart("turn_x", None), AisdkOptions(), version_of(7))
        chunks = [chunk async for _, batch in response for chunk in batch]
        assert chunks[0]["type"] == "start"
        assert chunks[-1] == {"type": "error", "errorText": "there is no turn 'turn_x' in this session"}


async def test_a_turn_goes_on_when_its_page_leaves() -> None:
    async with hub_for(endless) as hub:
        page = Page(AisdkEndpoint(hub))
        response = await page.open(user("go"))
        batches = aiter(response)
        await soon(anext(batches))
        await batches.aclose()
        await response.close()
        session = await hub.session("c1")
        assert session.running_turn_id == response.turn_id
        assert await session.cancel()


async def test_a_turn_ends_when_its_last_page_leaves_if_the_options_say_so() -> None:
    async with hub_for(endless) as hub:
        page = Page(AisdkEndpoint(hub, AisdkOptions(on_disconnect="cancel")))
        response = await page.open(user("go"))
        session = await hub.session("c1")
        with_another = session.follow()
        async with with_another:
            await response.close()
            assert session.running_turn_id == response.turn_id
        await response.close()
        await until(lambda: not session.busy)


async def test_a_turn_that_nobody_follows_is_cancelled_after_a_while() -> None:
    async with hub_for(endless, abandon_after=0.05) as hub:
        page = Page(AisdkEndpoint(hub))
        response = await page.open(user("go"))
        batches = aiter(response)
        await soon(anext(batches))
        await soon(anext(batches))
        await batches.aclose()
        session = await hub.session("c1")
        await until(lambda: not session.busy)


async def test_a_message_that_is_taken_out_of_the_queue_is_an_error() -> None:
    async with hub_for(endless) as hub:
        page = Page(AisdkEndpoint(hub))
        first = await page.open(user("go"))
        response = await page.open(user("then", "u2"), busy="queue")
        session = await hub.session("c1")
        (waiting,) = session.open_state.queue
        await session.submit(DropPrompt(prompt_id=waiting))
        chunks = [chunk async for _, batch in response for chunk in batch]
        assert chunks == [{"type": "error", "errorText": "the message was taken out of the queue: withdrawn"}]
        assert await page.endpoint.stop("c1", first.turn_id)
        with pytest.raises(SessionBusy):
            await page.endpoint.stop("c1", first.turn_id)
