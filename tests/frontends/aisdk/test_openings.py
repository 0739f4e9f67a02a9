"""What becomes of a stop, a load and a resume while the agent of a request is still being started."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from tests.frontends.aisdk.chats import Page, user
from tests.hubs import hub_for, soon, until

from trunkline.frontends.aisdk.endpoint import AisdkEndpoint
from trunkline.journal import SessionInfo, SessionKey
from trunkline.testing import ScriptedAgent


class LateProgram(ScriptedAgent):
    """An agent whose program takes its time to start: until then no session is stored."""

    def __init__(self) -> None:
        super().__init__()
        self.prepares: Any = None

    async def prepare(self) -> None:
        await self.prepares()


@pytest.fixture(params=["program", "session"])
def slow(request: pytest.FixtureRequest) -> str:
    """What of the agent takes its time to start."""
    return request.param


@asynccontextmanager
async def starting(
    text: str = "hello", slow: str = "session"
) -> AsyncGenerator[tuple[Page, asyncio.Task[Any], asyncio.Event]]:
    """A page that has sent a message to an agent that does not start before the event."""
    begin, called = asyncio.Event(), asyncio.Event()

    async def wait(*_: Any) -> None:
        called.set()
        await soon(begin.wait())

    agent: Any = LateProgram() if slow == "program" else ScriptedAgent()
    setattr(agent, "prepares" if slow == "program" else "open_session", wait)
    async with hub_for(agent) as hub:
        page = Page(AisdkEndpoint(hub))
        sending = asyncio.create_task(page.send(user(text)))
        await soon(called.wait())
        yield page, sending, begin
        begin.set()
        await soon(asyncio.gather(sending, return_exceptions=True))


async def test_a_turn_that_is_stopped_before_its_agent_has_started_ends_as_it_begins(slow: str) -> None:
    async with starting("/wait-for-cancel", slow) as (page, sending, begin):
        assert await soon(page.endpoint.stop("c1"))
        begin.set()
        message = await soon(sending)
        assert message["metadata"]["stopReason"] == "cancelled"
        assert page.types[-2:] == ["abort", "finish"]
        assert not await page.endpoint.stop("c1"), "nothing is left to stop"
        assert (await page.send(user("again", "u2")))["metadata"]["stopReason"] == "end_turn"


async def test_a_page_that_is_reloaded_meanwhile_has_its_message_and_gets_the_answer(slow: str) -> None:
    async with starting(slow=slow) as (page, sending, begin):
        reloaded = Page(page.endpoint)
        assert await soon(reloaded.reload()) == [user("hello")]
        resuming = asyncio.create_task(reloaded.endpoint.resume("c1"))
        begin.set()
        response = await soon(resuming)
        assert response is not None
        await soon(reloaded.take(response, resumes=True))
        await soon(sending)
        assert reloaded.messages == page.messages == await page.endpoint.messages("c1")


async def test_a_page_that_is_loaded_just_when_the_turn_begins_has_its_message() -> None:
    async with starting("/wait-for-cancel", "program") as (page, sending, begin):
        journal = page.endpoint.hub.journal
        get = journal.get

        async def get_and_see_the_turn_begin(key: SessionKey) -> SessionInfo | None:
            found = await get(key)
            journal.get = get
            begin.set()
            await until(lambda: not page.endpoint.is_opening("c1"))
            return found

        journal.get = get_and_see_the_turn_begin
        assert await soon(page.endpoint.messages("c1")) == [user("/wait-for-cancel")]
        session = await page.endpoint.hub.session("c1")
        await session.cancel()
        await soon(sending)


async def test_a_page_that_loaded_the_messages_meanwhile_may_resume_after_the_end(slow: str) -> None:
    async with starting(slow=slow) as (page, sending, begin):
        await soon(page.endpoint.messages("c1"))
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
