"""What becomes of a stop, a load and a resume while the agent of a request is still being started."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from tests.frontends.aisdk.chats import Page, user
from tests.hubs import hub_for, soon, until

from trunkline.frontends.aisdk.endpoint import AisdkEndpoint
from trunkline.testing import ScriptedAgent


@asynccontextmanager
async def starting(text: str = "hello") -> AsyncGenerator[tuple[Page, asyncio.Task[Any], asyncio.Event]]:
    """A page that has sent a message to an agent that does not start before the event."""
    agent: Any = ScriptedAgent()
    begin, called = asyncio.Event(), asyncio.Event()

    async def open_session(session: Any) -> None:
        called.set()
        await begin.wait()

    agent.open_session = open_session
    async with hub_for(agent) as hub:
        page = Page(AisdkEndpoint(hub))
        sending = asyncio.create_task(page.send(user(text)))
        await soon(called.wait())
        yield page, sending, begin
        begin.set()
        await soon(asyncio.gather(sending, return_exceptions=True))


async def test_a_turn_that_is_stopped_before_its_agent_has_started_ends_as_it_begins() -> None:
    async with starting("/wait-for-cancel") as (page, sending, begin):
        assert await page.endpoint.stop("c1")
        begin.set()
        message = await soon(sending)
        assert message["metadata"]["stopReason"] == "cancelled"
        assert page.types[-2:] == ["abort", "finish"]
        assert not await page.endpoint.stop("c1"), "nothing is left to stop"
        assert (await page.send(user("again", "u2")))["metadata"]["stopReason"] == "end_turn"


async def test_a_page_that_is_reloaded_meanwhile_has_its_message_and_gets_the_answer() -> None:
    async with starting() as (page, sending, begin):
        reloaded = Page(page.endpoint)
        assert await reloaded.reload() == [user("hello")]
        resuming = asyncio.create_task(reloaded.endpoint.resume("c1"))
        begin.set()
        response = await soon(resuming)
        assert response is not None
        await soon(reloaded.take(response, resumes=True))
        await soon(sending)
        assert reloaded.messages == page.messages == await page.endpoint.messages("c1")


async def test_a_page_that_loaded_the_messages_meanwhile_may_resume_after_the_end() -> None:
    async with starting() as (page, sending, begin):
        await page.endpoint.messages("c1")
        begin.set()
        await soon(sending)
        session = await page.endpoint.hub.session("c1")
        await until(lambda: not session.busy)
        response = await page.endpoint.resume("c1")
        assert response is not None
        await response.close()


async def test_a_request_that_cannot_be_read_is_no_message() -> None:
    async with starting() as (page, _, _):
        second = asyncio.create_task(page.send({"id": "u2", "role": "user", "parts": [{"type": "hologram"}]}))
        await asyncio.sleep(0)
        assert await page.endpoint.messages("c1") == [user("hello")]
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)
