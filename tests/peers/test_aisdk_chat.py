"""The AI SDK's own chat against our server: what useChat does, without React, at 5, 6 and 7.

Wherever a page is at rest, what it holds is what ``GET messages`` gives, and what the agent said.
"""

import asyncio
import base64
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.browser.agents import agent as langchain_agent
from tests.demos.finance.conversations import agent as finance_agent
from tests.hubs import echo, make, soon, until
from tests.peers.aisdk_pages import ChatPage, ChatPages
from tests.server.running_server import SECRET, served
from trunkline import events as ev
from trunkline.commands import Prompt
from trunkline.server.app import Server
from trunkline.session.context import TurnContext
from trunkline.session.session import Session

ALL = pytest.mark.parametrize("version", [5, 6, 7])
APPROVING = pytest.mark.parametrize("version", [6, 7])


@pytest.fixture(scope="module")
def pages(root: Path) -> Iterator[ChatPages]:
    """One node process for all tests of the module."""
    pages = ChatPages(root)
    yield pages
    pages.close()


class World:
    """A server, and a page on it."""

    def __init__(self, app: Server, client: httpx.AsyncClient, pages: ChatPages) -> None:
        self.app = app
        self.client = client
        self._pages = pages
        self.server = str(client.base_url).rstrip("/")

    async def page(self, version: int = 7, chat: str = "c1", **fields: Any) -> ChatPage:
        return await self._pages.open(self.server, chat, version=version, **fields)

    async def session(self, chat: str = "c1") -> Session:
        return await (await self.app.agents.hub()).session(chat)

    async def reloaded(self, page: ChatPage, **fields: Any) -> ChatPage:
        """The page after a reload: it loads the messages, and resumes what is under way."""
        fresh = await self.page(page.version, page.chat, messages=await self.stored(page), **fields)
        await fresh.order("resume")
        return fresh

    async def stored(self, page: ChatPage) -> list[Any]:
        answer = await self.client.get(f"/api/chat/{page.chat}/messages?v={page.version}")
        assert answer.status_code == 200
        return answer.json()

    async def check(self, page: ChatPage) -> None:
        """What the page holds is what we hold, and what the agent said."""
        session = await self.session(page.chat)
        await soon(session.wait_for_ending_turn())
        assert page.messages == await self.stored(page)
        conversation = await session.history()
        said = [one.text for one in conversation.messages if one.role != "user" and one.lane is None]
        parts = [part for one in page.messages if one["role"] == "assistant" for part in one["parts"]]
        assert "".join(part["text"] for part in parts if part["type"] == "text") == "".join(said)


@asynccontextmanager
async def world(pages: ChatPages, agent: Any = None, **options: Any) -> AsyncGenerator[World]:
    async with served(agent, **options) as (app, client):
        yield World(app, client, pages)


@ALL
@pytest.mark.parametrize(
    "scenario", ["/text", "/tools", "/thoughts", "/plan", "/subagents", "/state", "/media"]
)
async def test_a_turn_is_folded_to_what_we_hold(pages: ChatPages, version: int, scenario: str) -> None:
    async with world(pages) as here:
        page = await here.page(version)
        await page.say(scenario)
        assert (page.report["status"], page.report["error"]) == ("ready", None)
        assert page.last["id"] == (await here.session()).last_turn_id
        await here.check(page)
        await page.say("/text")
        await here.check(page)


@APPROVING
@pytest.mark.parametrize("approved", [True, False])
async def test_an_approval_is_answered(pages: ChatPages, version: int, approved: bool) -> None:
    async with world(pages) as here:
        page = await here.page(version)
        await page.say("/permission")
        assert page.calls[0]["state"] == "approval-requested"
        await here.check(page)
        await page.approve(approved, reason="as agreed" if approved else "not today")
        assert page.calls[0]["state"] == ("output-available" if approved else "output-denied")
        assert page.report["requests"] == ["POST /api/chat"] * 2
        assert (page.report["status"], page.report["error"]) == ("ready", None)
        await here.check(page)


@APPROVING
async def test_two_approvals_are_answered(pages: ChatPages, version: int) -> None:
    async with world(pages) as here:
        page = await here.page(version)
        await page.say("/permission-twice")
        while any(call["state"] == "approval-requested" for call in page.calls):
            await page.approve()
        assert page.report["finished"][-1]["finishReason"] == "stop"
        await here.check(page)


async def test_a_permission_is_a_data_part_at_version_5(
    pages: ChatPages,
) -> None:
    async with world(pages) as here:
        page = await here.page(5)
        await page.say("/permission")
        (part,) = page.parts("data-permission")
        place = f"/api/chat/c1/permissions/{part['data']['questionId']}?v=5"
        assert (await here.client.post(place, json={"approved": True})).status_code == 200
        await soon((await here.session()).wait_until_idle())
        fresh = await here.reloaded(page)
        await fresh.settle()
        assert fresh.parts("data-permission")[0]["data"]["approved"] is True
        await here.check(fresh)


@ALL
async def test_a_form_is_answered_beside_the_stream(pages: ChatPages, version: int) -> None:
    begin = asyncio.Event()

    async def asks(ctx: TurnContext) -> AsyncIterator[str]:
        fields = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        answer = await ctx.form("Who are you?", fields)
        yield "Hello "
        await begin.wait()
        yield (answer or {})["name"]

    async with world(pages, make(asks)) as here:
        page = await here.page(version)
        await page.say("go")
        (part,) = page.parts("data-question")
        place = f"/api/chat/c1/questions/{part['data']['questionId']}"
        answer = await here.client.post(place, json={"content": {"name": "Ada"}})
        assert answer.status_code == 200
        await page.order("resume")
        await page.order("until", text="Hello ")
        begin.set()
        await page.settle()
        assert page.text == "Hello Ada"
        assert page.parts("data-question")[0]["data"]["state"] == "answered"
        await here.check(page)


@ALL
async def test_a_tool_of_the_page_is_run_by_the_page(pages: ChatPages, version: int) -> None:
    async def asks(ctx: TurnContext) -> AsyncIterator[str]:
        yield "Let me ask your page. "
        found = await ctx.client_call("paint", {"colour": "red"})
        yield f"It said {found}."

    async with world(pages, make(asks)) as here:
        page = await here.page(version, outputs={"paint": "done"}, body={"tools": [{"name": "paint"}]})
        await page.say("go")
        assert page.text == "Let me ask your page. It said done."
        assert page.calls[0]["type"] == "tool-paint"
        assert page.report["requests"] == ["POST /api/chat"] * 2
        await here.check(page)


@ALL
async def test_a_tool_that_waits_is_run_by_the_page_that_comes_back(pages: ChatPages, version: int) -> None:
    async def asks(ctx: TurnContext) -> AsyncIterator[str]:
        found = await ctx.client_call("paint", {"colour": "red"})
        yield f"It said {found}."

    async with world(pages, make(asks)) as here:
        page = await here.page(version, body={"tools": [{"name": "paint"}]})
        await page.say("go")
        assert page.calls[0]["state"] == "input-available", "it went away before it gave an output"
        fresh = await here.reloaded(page, outputs={"paint": "done"})
        await until_async(fresh, lambda: fresh.text == "It said done.")
        assert fresh.report["ran"] == page.report["ran"] == [page.calls[0]["toolCallId"]], (
            "the id is the same"
        )
        await here.check(fresh)
        again = await here.reloaded(fresh, outputs={"paint": "done"})
        await again.settle()
        assert again.report["ran"] == [], "what is answered is not run again"


@ALL
async def test_a_page_whose_tool_is_slower_than_that_of_another_page_gets_the_rest(
    pages: ChatPages, version: int
) -> None:
    async def asks(ctx: TurnContext) -> AsyncIterator[str]:
        yield f"It is {await ctx.client_call('paint')}."

    async with world(pages, make(asks)) as here:
        first = await here.page(version, body={"tools": [{"name": "paint"}]})
        await first.say("paint")
        second = await here.page(version, messages=first.report["messages"])
        await first.order("output", output="red")
        await first.settle()
        await second.order("output", output="blue")
        await second.settle()
        assert first.text == second.text == "It is red."
        assert second.report["statuses"] == [200]
        await here.check(second)


@ALL
async def test_an_output_of_a_pages_tool_after_the_end_is_sent_once(pages: ChatPages, version: int) -> None:
    async def asks(ctx: TurnContext) -> AsyncIterator[str]:
        yield str(await ctx.client_call("paint"))

    async with world(pages, make(asks)) as here:
        page = await here.page(version, body={"tools": [{"name": "paint"}]})
        await page.say("paint")
        assert (await here.client.post("/api/chat/c1/stop")).json() == {"stopped": True}
        await page.order("output", output="done")
        await page.settle()
        assert page.report["status"] == "ready"
        assert page.report["statuses"] == [200, 200]


@ALL
async def test_to_stop_a_page_is_to_leave_and_a_turn_is_stopped_by_its_id(
    pages: ChatPages, version: int
) -> None:
    async with world(pages) as here:
        page = await here.page(version)
        await page.order("send", text="/slow 10000 0.01")
        await page.order("until", text="turn_")
        await page.order("stop")
        session = await here.session()
        assert session.busy, "to leave is not to stop"
        assert page.report["status"] == "ready"
        turn_id = session.running_turn_id
        answer = await here.client.post("/api/chat/c1/stop", json={"turnId": turn_id})
        assert answer.json() == {"stopped": True}
        fresh = await here.reloaded(page)
        await fresh.settle()
        assert fresh.last["metadata"]["stopReason"] == "cancelled"
        await here.check(fresh)


@ALL
async def test_a_resumed_stream_is_stopped(pages: ChatPages, version: int) -> None:
    async with world(pages) as here:
        first = await here.page(version)
        await first.order("send", text="/slow 10000 0.01")
        await first.order("until", text="turn_")
        page = await here.reloaded(first)
        await page.order("until", text="turn_")
        turn_id = page.last["id"]
        assert (await here.client.post("/api/chat/c1/stop", json={"turnId": turn_id})).json() == {
            "stopped": True
        }
        await page.settle()
        await first.settle()
        assert page.report["status"] == first.report["status"] == "ready"
        await here.check(page)
        await here.check(first)
        await page.say("/text")
        stale = await here.client.post("/api/chat/c1/stop", json={"turnId": turn_id})
        assert stale.status_code == 409
        await here.check(page)


@ALL
async def test_a_reload_in_the_middle_shows_everything(pages: ChatPages, version: int) -> None:
    begin = asyncio.Event()

    async def talks(ctx: TurnContext) -> AsyncIterator[Any]:
        yield "before "
        call_id = ctx.start_call("look", {"where": "here"})
        yield ev.ToolUpdate(call_id=call_id, status="completed", output="seen")
        yield "between "
        await begin.wait()
        yield "after"

    async with world(pages, make(talks)) as here:
        first = await here.page(version)
        await first.order("send", text="go")
        await first.order("until", text="between")
        await first.order("drop")
        page = await here.reloaded(first)
        await page.order("until", text="between")
        begin.set()
        await page.settle()
        assert page.text == "before between after"
        assert page.report["error"] is None
        await here.check(page)


@APPROVING
@pytest.mark.parametrize("approved", [True, False])
async def test_a_reload_after_an_answered_approval_shows_everything(
    pages: ChatPages, version: int, approved: bool
) -> None:
    begin = asyncio.Event()

    async def asks(ctx: TurnContext) -> AsyncIterator[Any]:
        yield "May I? "
        call_id = ctx.start_call("write", {"what": "x"}, "edit", "Write x")
        decision = await ctx.permission("Write x?", tool="write", call_id=call_id)
        if decision:
            yield ev.ToolUpdate(call_id=call_id, status="completed", output="written")
        yield "I could. " if decision else "I could not. "
        await begin.wait()
        yield "Done."

    async with world(pages, make(asks)) as here:
        first = await here.page(version)
        await first.say("go")
        await first.order("approve", approved=approved)
        await first.order("until", text="could")
        page = await here.reloaded(first)
        await page.order("until", text="could")
        begin.set()
        await page.settle()
        await first.settle()
        assert page.text == first.text
        assert page.text.endswith("Done.")
        assert page.report["error"] is None
        assert page.report["invalid"] is None
        assert first.messages == await here.stored(first)
        if version == 6:
            # A stream cannot tell an answer there: the call has no approval, and what was denied is an error.
            (call,) = page.calls
            assert call["state"] == ("output-available" if approved else "output-error")
            assert "approval" not in call
            told = next(part for part in first.last["parts"] if part.get("toolCallId") == call["toolCallId"])
            page.last["parts"][page.last["parts"].index(call)] = told
        await here.check(page)


@APPROVING
@pytest.mark.parametrize("approved", [True, False])
async def test_a_tab_that_answers_otherwise_and_later_holds_a_message_that_is_valid(
    pages: ChatPages, version: int, approved: bool
) -> None:
    async with world(pages) as here:
        page = await here.page(version)
        await page.say("/permission")
        late = await here.reloaded(page)
        await late.settle()
        assert late.calls[0]["state"] == "approval-requested"
        await page.approve(approved)
        await late.approve(not approved)
        for one in (page, late):
            assert (one.report["status"], one.report["error"]) == ("ready", None)
            assert one.report["invalid"] is None
            assert one.last["metadata"]["stopReason"] == "end_turn"
        await here.check(page)
        ends = [call["state"] for call in late.calls]
        if version == 7:
            assert late.messages == page.messages
        else:
            # Its approval stays as this tab answered it: a stream of version 6 cannot tell it better.
            assert ends == (["output-denied", "output-available"] if approved else ["output-error"])
        await late.say("/text")
        assert (late.report["status"], late.report["invalid"]) == ("ready", None)
        await here.check(await here.reloaded(late))


async def test_a_tab_of_version_5_sees_who_answered_first(pages: ChatPages) -> None:
    async with world(pages) as here:
        page = await here.page(5)
        await page.say("/permission")
        (part,) = page.parts("data-permission")
        question = part["data"]["questionId"]
        place = f"/api/chat/c1/permissions/{question}?v=5"
        assert (await here.client.post(place, json={"approved": False})).status_code == 200
        assert (await here.client.post(place, json={"approved": True})).status_code == 409
        await page.order("submit", body={"answers": {question: {"approved": True}}})
        await page.settle()
        assert page.parts("data-permission")[0]["data"]["approved"] is False
        assert (page.report["error"], page.report["invalid"]) == (None, None)
        await here.check(page)


@ALL
async def test_an_error_of_the_turn_is_shown_and_tried_again(pages: ChatPages, version: int) -> None:
    tries: list[int] = []

    async def fails_once(prompt: Prompt) -> AsyncIterator[str]:
        tries.append(1)
        yield "so far "
        if len(tries) == 1:
            raise ValueError("a secret")
        yield "so good"

    async with world(pages, make(fails_once)) as here:
        page = await here.page(version)
        await page.say("go")
        assert page.report["status"] == "error"
        assert "a secret" not in page.report["error"]
        await page.order("regenerate")
        await page.settle()
        assert (page.report["status"], page.text) == ("ready", "so far so good")
        assert [one["role"] for one in page.messages] == ["user", "assistant"]
        await here.check(page)


@ALL
async def test_what_is_refused_is_the_sentence_that_the_page_shows(pages: ChatPages, version: int) -> None:
    async with world(pages) as here:
        page = await here.page(version, api=f"{here.server}/api/chat/nobody")
        await page.say("hello")
        assert page.report["status"] == "error"
        assert page.report["error"] == "there is no agent of that name; there are default"


async def test_an_error_of_the_server_is_a_sentence_without_secrets(pages: ChatPages) -> None:
    agent: Any = make(echo)

    async def open_session(session: Any) -> None:
        raise RuntimeError("a file of the server")

    agent.open_session = open_session
    async with world(pages, agent) as here:
        page = await here.page()
        await page.say("hello")
        assert page.report["status"] == "error"
        assert page.report["error"]
        assert "a file" not in page.report["error"]


@asynccontextmanager
async def lost_connection(
    pages: ChatPages, version: int
) -> AsyncGenerator[tuple[World, ChatPage, asyncio.Event]]:
    """A page that lost its connection after "before "; its agent says "after" once the event is set."""
    begin = asyncio.Event()

    async def talks(ctx: TurnContext) -> AsyncIterator[str]:
        yield "before "
        await begin.wait()
        yield "after"

    async with world(pages, make(talks)) as here:
        page = await here.page(version)
        await page.order("send", text="go")
        await page.order("until", text="before")
        await page.order("drop")
        await page.settle()
        yield here, page, begin


@ALL
async def test_a_lost_connection_is_resumed(pages: ChatPages, version: int) -> None:
    async with lost_connection(pages, version) as (here, page, begin):
        assert page.report["status"] == "error"
        assert page.report["finished"][-1]["isDisconnect"]
        assert (await here.session()).busy
        if version == 5:
            # It appends to what it has after a lost connection: such a page loads its messages anew.
            page = await here.reloaded(page)
        else:
            await page.order("resume")
        begin.set()
        await page.settle()
        assert (page.report["status"], page.text) == ("ready", "before after")
        await here.check(page)


@pytest.mark.parametrize("version", [6, 7])
async def test_a_connection_that_is_lost_before_the_end_does_not_lose_the_end(
    pages: ChatPages, version: int
) -> None:
    async with lost_connection(pages, version) as (here, page, begin):
        session = await here.session()
        await until(lambda: not session.followers)
        begin.set()
        await soon(session.wait_until_idle())
        await page.resume()
        assert (page.report["status"], page.text) == ("ready", "before after")
        await page.resume()
        assert (page.report["status"], page.text) == ("ready", "before after")
        assert page.report["statuses"] == [200, 200, 204], "nothing is shown to a page that has it all"
        await here.check(page)


@ALL
async def test_a_page_that_is_loaded_at_rest_resumes_nothing(pages: ChatPages, version: int) -> None:
    async with world(pages) as here:
        page = await here.page(version)
        await page.order("send", text="/slow 10000 0.01")
        await page.order("until", text="turn_")
        await page.order("stop")
        assert (await here.client.post("/api/chat/c1/stop")).json() == {"stopped": True}
        for _ in range(2):
            fresh = await here.reloaded(page)
            await fresh.settle()
            assert (fresh.report["status"], fresh.report["statuses"]) == ("ready", [204])
            await here.check(fresh)


@ALL
async def test_messages_are_edited_and_answers_made_anew(pages: ChatPages, version: int) -> None:
    async def counts(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        before = len([one for one in (await ctx.history()).messages if one.role == "user"])
        yield f"{prompt.text} after {before}"

    async with world(pages, make(counts)) as here:
        page = await here.page(version)
        await page.say("one")
        await page.say("two")
        first = page.messages[0]["id"]
        await page.order("regenerate")
        await page.settle()
        assert page.text == "two after 1"
        await page.order("regenerate", messageId=page.messages[1]["id"])
        await page.settle()
        assert (len(page.messages), page.text) == (2, "one after 0")
        await here.check(page)
        await page.say("three", messageId=first)
        assert (len(page.messages), page.text) == (2, "three after 0")
        await here.check(page)


async def test_a_message_may_follow_an_approval_at_once(pages: ChatPages) -> None:
    async with world(pages) as here:
        page = await here.page(queue=True)
        await page.say("/permission")
        await page.order("send", text="/text")
        assert page.report["queued"] == 1
        await page.order("approve", approved=True)
        await until_async(page, lambda: page.report["queued"] == 0 and page.report["status"] == "ready")
        roles = [one["role"] for one in page.messages]
        assert roles == ["user", "assistant", "user", "assistant"]
        assert page.messages[1]["parts"][-1]["type"] in ("text", "data-usage")
        assert page.messages[1]["metadata"]["stopReason"] == "end_turn", "it was not interrupted"
        await here.check(page)


async def test_a_queued_message_may_be_sent_in_place_of_an_approval(pages: ChatPages) -> None:
    async with world(pages) as here:
        page = await here.page(queue=True)
        await page.say("/permission")
        await page.order("send", text="/text")
        assert page.report["queued"] == 1
        await page.order("now")
        await until_async(page, lambda: page.report["queued"] == 0 and page.report["status"] == "ready")
        assert [one["role"] for one in page.messages] == ["user", "assistant"] * 2
        assert page.last["metadata"]["stopReason"] == "end_turn"
        assert page.report["invalid"] is None
        assert not (await here.session()).open_questions, "nobody is asked any more"
        stored = await here.stored(page)
        assert (stored[1]["metadata"]["stopReason"], stored[-1]) == ("cancelled", page.last)


async def until_async(page: ChatPage, condition: Any) -> None:
    async with asyncio.timeout(20):
        await page.settle()
        while not condition():
            await page.settle()


async def test_the_websocket_transport_once_through(pages: ChatPages) -> None:
    async with world(pages) as here:
        url = here.server.replace("http", "ws") + "/api/chat/ws"
        socket = {"url": url, "protocols": ["trunkline", f"trunkline.bearer.{SECRET}"]}
        page = await here.page(socket=socket)
        await page.say("/tools")
        await here.check(page)
        await page.say("/permission")
        await page.approve()
        await here.check(page)
        await page.order("send", text="/slow 10000 0.01")
        await page.order("until", text="turn_")
        await page.order("drop")
        await page.settle()
        assert page.report["status"] == "error"
        await page.order("resume")
        session = await here.session()
        await until(lambda: session.followers > 0)
        assert (await here.client.post("/api/chat/c1/stop", json={})).json() == {"stopped": True}
        await page.settle()
        assert page.report["status"] == "ready"
        await here.check(page)
        await page.say("")
        assert page.report["status"] == "error"
        assert "is empty" in page.report["error"]


@APPROVING
async def test_an_agent_of_langchain_asks_for_approval_and_is_asked_again(
    pages: ChatPages, version: int
) -> None:
    async with world(pages, langchain_agent) as here:
        page = await here.page(version, f"langchain-{version}")
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
        await here.check(page)


# -- the finance agent ---------------------------------------------------------------------------------


async def test_the_finance_agent_answers_a_page_with_its_call_an_approval_and_a_chart(
    pages: ChatPages,
) -> None:
    async with world(pages, finance_agent()) as here:
        page = await here.page()
        await page.say("How much did I spend on groceries last month?")
        assert page.text.startswith("In October 2026 you spent **")
        (called,) = page.calls
        assert (called["state"], called["input"]["category"]) == ("output-available", "Groceries")
        assert called["output"]["totals"][0] in page.text
        await here.check(page)
        await page.say("SELECT count(*) AS n FROM spending")
        assert page.calls[0]["state"] == "approval-requested"
        await page.approve(True)
        assert page.calls[0]["state"] == "output-available"
        assert page.text.startswith("The query gives:")
        await here.check(page)
        await page.say("Put Rewe under Restaurants")
        await page.approve(False, reason="not this one")
        assert page.calls[0]["state"] == "output-denied"
        assert page.text == "Nothing was done: not this one."
        await page.say("Chart my spending by category last month")
        assert "The chart shows your spending by category" in page.text
        about = page.calls[0]["resultProviderMetadata"]["trunkline"]["content"]
        (picture,) = [part for part in about if part["type"] == "file"]
        assert picture["mediaType"] == "image/png"
        assert base64.b64decode(picture["url"].partition("base64,")[2]).startswith(b"\x89PNG")
        assert (page.report["status"], page.report["error"]) == ("ready", None)
        await here.check(page)


@APPROVING
async def test_a_page_imports_an_attached_file_with_one_form(pages: ChatPages, version: int) -> None:
    table = b"Date,Payee,Amount,Currency\n2026-10-05,REWE,-12.50,EUR\n2026-10-06,EDEKA,-7.50,EUR\n"
    file = {
        "type": "file",
        "mediaType": "text/csv",
        "filename": "bank.csv",
        "url": f"data:text/csv;base64,{base64.b64encode(table).decode()}",
    }
    async with world(pages, finance_agent()) as here:
        page = await here.page(version)
        await page.say("import bank.csv", files=[file])
        (part,) = page.parts("data-question")
        place = f"/api/chat/c1/questions/{part['data']['questionId']}"
        assert (await here.client.post(place, json={"content": {"account": "My giro"}})).status_code == 200
        await page.resume()
        assert page.calls[0]["state"] == "approval-requested"
        await page.approve(True)
        assert page.report["requests"].count("POST /api/chat") == 2, "the page sent its answer, once"
        assert "**2 new**" in page.text
        await here.check(page)
        await page.say("How much did I spend on groceries last month?")
        assert page.text.startswith("In October 2026 you spent **20.00 EUR**")
