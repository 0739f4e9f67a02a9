"""The official AG-UI client over HTTP: what it folds is what the agent holds, and it warns of nothing."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from ag_ui_validate.pytest_plugin import validate_agui, validate_agui_endpoint
from langgraph.checkpoint.memory import InMemorySaver

from tests.agents.langchain.graphs import agent_of
from tests.agents.langchain.interrupting_agents import SCENES
from tests.agents.langchain.tools.test_client_tools import COLOUR
from tests.demos.finance.conversations import agent as finance_agent
from tests.frontends.agui.client_runs import EDITED, NAMES, comparable, prompt_of
from tests.frontends.agui.test_early_results import BOTH, reviewed
from tests.frontends.agui.test_runs_inside_turns import LATER, Talker
from tests.frontends.agui.test_substitute_messages import failing
from tests.hubs import make, until
from tests.peers.agui import Browser, JsonObject, Page, open_page
from tests.server.running_server import BEARER, SECRET, served
from trunkline.protocols.agui.messages import snapshot_of
from trunkline.protocols.agui.protobuf import MEDIA_TYPE
from trunkline.server.app import Server
from trunkline.testing.chat import call, thinks

pytestmark = pytest.mark.slow

VERSIONS = pytest.mark.parametrize("version", ["1.0", "0.x"])
ORDER = {"name": "Ada", "colour": "red"}


class Stage:
    """A server with an agent, and pages that talk to it."""

    def __init__(self, app: Server, client: httpx.AsyncClient, browser: Browser) -> None:
        self.app = app
        self.client = client
        self.browser = browser
        self.address = f"{client.base_url}".rstrip("/") + "/agui"

    async def page(self, thread: str = "t1", **options: Any) -> Page:
        """Open a thread."""
        return await open_page(self.browser, self.address, thread, **options)

    async def check(self, page: Page, thread: str = "t1", *, modern: bool = True) -> None:
        """The client had nothing to complain about, and holds what the agent holds."""
        report = page.report
        assert (report["error"], report["written"]) == (None, [])
        found = validate_agui(page.frames)
        assert (found.summary.errors, found.summary.warnings) == (0, 0), found.diagnostics
        session = await (await self.app.agents.hub()).session(thread)
        conversation = await session.history()
        held = snapshot_of(conversation, 51_200, modern=modern, with_metadata=True, errors=False)
        assert comparable(page.messages) == comparable(held)
        assert report["state"] == ({} if conversation.state is None else conversation.state)


@asynccontextmanager
async def staged(browser: Browser, agent: Any = None, **options: Any) -> AsyncGenerator[Stage]:
    async with served(agent, **options) as (app, client):
        yield Stage(app, client, browser)


def payload_for(interrupt: JsonObject) -> Any:
    fields = interrupt.get("responseSchema", {}).get("properties", {})
    if "editedArgs" in fields:
        return {"approved": True, "editedArgs": EDITED}
    return ORDER if "colour" in fields else {"approved": True}


async def finish(page: Page) -> None:
    """Answer whatever is asked, until the turn is over."""
    for _ in range(4):
        if page.interrupts:
            await page.run(resume=page.resume(payload_for(page.interrupts[0])))
        elif page.pending:
            made = [
                {"id": f"mine:{key}", "role": "tool", "toolCallId": key, "content": "blue"}
                for key in page.pending
            ]
            await page.run(*made)
    assert not page.interrupts
    assert not page.pending


# -- every scenario --------------------------------------------------------------------------------


@VERSIONS
@pytest.mark.parametrize("name", NAMES)
async def test_a_scenario_is_folded_to_what_the_agent_holds(
    browser: Browser, name: str, version: str
) -> None:
    async with staged(browser) as stage:
        page = await stage.page(version=version)
        await page.say(prompt_of(name))
        await finish(page)

        await stage.check(page, modern=version == "1.0")


@VERSIONS
async def test_one_thread_with_every_scenario_stays_the_same_on_both_sides(
    browser: Browser, version: str
) -> None:
    async with staged(browser) as stage:
        page = await stage.page(version=version)
        for name in ("thoughts", "tools", "permission", "subagents", "state", "client-tool", "edit", "text"):
            await page.say(prompt_of(name))
            await finish(page)
            await stage.check(page, modern=version == "1.0")


@pytest.mark.parametrize("name", NAMES)
async def test_the_validator_finds_nothing_at_the_address(browser: Browser, name: str) -> None:
    async with staged(browser) as stage:
        message = {"id": "u1", "role": "user", "content": prompt_of(name)}
        body = {"threadId": "t1", "runId": "r1", "protocolVersion": "1.0", "messages": [message]}
        report = await validate_agui_endpoint(stage.address, input=body, headers=BEARER)

    assert (report.summary.errors, report.summary.warnings) == (0, 0), report.diagnostics


# -- protobuf --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
async def test_a_scenario_is_folded_from_protobuf_to_what_the_agent_holds(
    browser: Browser, name: str
) -> None:
    async with staged(browser) as stage:
        page = await stage.page(accept=MEDIA_TYPE)
        await page.say(prompt_of(name))
        await finish(page)

        assert page.report["mediaType"] == MEDIA_TYPE
        await stage.check(page)


async def test_a_page_that_is_reloaded_has_the_whole_thread_from_protobuf(browser: Browser) -> None:
    async with staged(browser) as stage:
        page = await stage.page(accept=f"{MEDIA_TYPE}, text/event-stream;q=0.5")
        for name in ("thoughts", "tools", "permission", "subagents", "state", "client-tool", "edit", "media"):
            await page.say(prompt_of(name))
            await finish(page)
            await stage.check(page)
        again = await stage.page(name="again", accept=MEDIA_TYPE)
        await again.run({"id": "u9", "role": "user", "content": "hello"})

        assert [one.report["mediaType"] for one in (page, again)] == [MEDIA_TYPE] * 2
        await stage.check(again)
        assert comparable(again.messages)[:-2] == comparable(page.messages)


async def test_a_client_whose_protobuf_knows_too_little_is_given_text(browser: Browser) -> None:
    async with staged(browser) as stage:
        page = await stage.page(accept=MEDIA_TYPE, version="0.x")
        await page.say("/tools")

        assert page.report["mediaType"].startswith("text/event-stream")
        await stage.check(page, modern=False)


# -- interrupts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("payload", [{"approved": True}, {"approved": False, "reason": "no"}, None])
async def test_two_approvals_at_once_are_answered_together(browser: Browser, payload: Any) -> None:
    async with staged(browser) as stage:
        page = await stage.page()
        await page.say("/permission-twice")
        assert len(page.interrupts) == 2
        await page.run(resume=page.resume(payload))

        assert page.interrupts == []
        await stage.check(page)
        word = "allowed" if payload == {"approved": True} else "refused"
        assert page.messages[-1]["content"] == f"read_notes: {word}, send_report: {word}"


async def test_a_resume_that_misses_one_is_refused_and_the_thread_goes_on_waiting(browser: Browser) -> None:
    async with staged(browser) as stage:
        page = await stage.page()
        await page.say("/permission-twice")
        entries = page.resume({"approved": True})
        # The client would not even send it: somebody else's does.
        body = {"threadId": "t1", "runId": "r9", "messages": page.messages, "resume": entries[:1]}
        answer = await stage.client.post("/agui", json=body)
        assert answer.status_code == 422
        assert entries[1]["interruptId"] in answer.text
        report = await page.run(resume=entries[:1])
        assert "not addressed by resume" in report["error"]
        await page.run(resume=entries)

        await stage.check(page)


@VERSIONS
@pytest.mark.parametrize("place", [1, 2, 5, 7, 10])
async def test_an_answer_that_comes_while_the_agent_talks_is_folded_to_what_the_agent_holds(
    browser: Browser, version: str, place: int
) -> None:
    talker = Talker()
    async with staged(browser, make(talker)) as stage:
        page = await stage.page(version=version)
        await page.say("go")
        assert len(page.interrupts) == 1
        await talker.say(*LATER[:place])
        session = await (await stage.app.agents.hub()).session("t1")
        going_on = asyncio.create_task(page.run(resume=page.resume({"name": "Ada"})))
        await until(lambda: not session.open_questions)
        await talker.say(*LATER[place:])
        talker.finish()
        await going_on

        await stage.check(page, modern=version == "1.0")


@VERSIONS
async def test_two_pages_that_both_answer_while_the_agent_talks_hold_what_the_agent_holds(
    browser: Browser, root: Path, version: str
) -> None:
    talker, another = Talker(), Browser(root)
    try:
        async with staged(browser, make(talker)) as stage:
            page = await stage.page(version=version)
            await page.say("go")
            other = await open_page(another, stage.address, "t1", messages=page.messages, version=version)
            resume = page.resume({"name": "Ada"})
            await talker.say(*LATER[:7])
            session = await (await stage.app.agents.hub()).session("t1")
            first = asyncio.create_task(page.run(resume=resume))
            await until(lambda: not session.open_questions)
            await talker.say(*LATER[7:9])
            readers = session.followers
            second = asyncio.create_task(other.run(resume=resume))
            await until(lambda: session.followers > readers)
            await talker.say(*LATER[9:])
            talker.finish()
            await asyncio.gather(first, second)

            await stage.check(page, modern=version == "1.0")
            await stage.check(other, modern=version == "1.0")
    finally:
        another.close()


@VERSIONS
async def test_an_approval_and_the_result_of_the_pages_own_tool_come_together(
    browser: Browser, version: str
) -> None:
    agent, _ = reviewed(BOTH, "All done.")
    async with staged(browser, agent) as stage:
        page = await stage.page(version=version)
        await page.say("go", tools=[COLOUR])
        result = {"id": "mine", "role": "tool", "toolCallId": "k1", "content": "painted"}
        await page.run(result, tools=[COLOUR], resume=page.resume({"approved": True}))

        assert page.messages[-1]["content"] == "All done."
        await stage.check(page, modern=version == "1.0")


@VERSIONS
async def test_a_run_that_fails_after_an_answer_leaves_the_client_free_to_go_on(
    browser: Browser, version: str
) -> None:
    async with staged(browser, make(failing)) as stage:
        page = await stage.page(version=version)
        await page.say("go")
        await page.run(resume=page.resume({"approved": True}))

        assert page.messages[-1]["content"] == "The run failed: no fuel"
        await stage.check(page, modern=version == "1.0")
        await page.say("go")
        assert (page.report["error"], len(page.interrupts)) == (None, 1)


async def test_a_resume_that_comes_too_late_frees_the_thread(browser: Browser) -> None:
    async with staged(browser) as stage:
        page = await stage.page()
        await page.say("/permission")
        session = await (await stage.app.agents.hub()).session("t1")
        await session.cancel()
        await page.run(resume=page.resume({"approved": True}))

        assert page.report["finished"]["result"]["stopReason"] == "too_late"
        assert page.messages[-1]["content"].startswith("Your answer came too late and was not used: ")
        assert page.interrupts == []
        await stage.check(page)
        await page.say("still here?")
        await stage.check(page)


async def test_a_run_that_is_stopped_is_cancelled(browser: Browser) -> None:
    async with staged(browser) as stage:
        page = await stage.page()
        running = asyncio.create_task(page.say("/wait-for-cancel"))
        hub = await stage.app.agents.hub()
        async with asyncio.timeout(20):
            while not await hub.list():
                await asyncio.sleep(0.005)
            session = await hub.session("t1")
            while not any(one.status == "in_progress" for one in (await session.history()).calls.values()):
                await asyncio.sleep(0.005)
        await session.cancel()
        await running

        assert page.report["finished"]["outcome"] == "cancelled"
        await stage.check(page)


# -- coming back, going back -----------------------------------------------------------------------


async def test_a_page_that_was_reloaded_has_the_thread_in_its_order(browser: Browser) -> None:
    async with staged(browser) as stage:
        page = await stage.page()
        for prompt in ("/thoughts", "/tools", "/state"):
            await page.say(prompt)
        again = await stage.page(name="again")
        await again.run({"id": "u9", "role": "user", "content": "hello"})

        await stage.check(again)
        assert comparable(again.messages)[:-2] == comparable(page.messages)


async def test_a_message_that_is_asked_again_and_one_that_is_edited(browser: Browser) -> None:
    async with staged(browser) as stage:
        page = await stage.page()
        await page.say("one")
        await page.say("/tools")
        await page.run(set=page.messages[:3])
        await stage.check(page)
        await page.run({"id": "u9", "role": "user", "content": "instead"}, set=page.messages[:2])
        await stage.check(page)

    assert [message["content"] for message in page.messages] == ["one", "one", "instead", "instead"]


async def test_pictures_and_documents_arrive(browser: Browser) -> None:
    image = {"type": "image", "source": {"type": "data", "value": "aGk=", "mimeType": "image/png"}}
    paper = {"type": "document", "source": {"type": "url", "value": "https://example.org/a.pdf"}}
    async with staged(browser) as stage:
        page = await stage.page()
        await page.say([{"type": "text", "text": "look"}, image, paper])

        assert page.messages[-1]["content"] == "look [image image/png] [link https://example.org/a.pdf]"
        await stage.check(page)


# -- LangChain -------------------------------------------------------------------------------------


async def test_a_langchain_agent_is_folded_to_what_it_holds(browser: Browser) -> None:
    two = [call("weather", {"city": "Paris"}, "w1"), call("weather", {"city": "Rome"}, "w2")]
    agent, _ = agent_of(
        [thinks("Where?"), "I look. ", *two], "Sunny.", each_turn=True, checkpointer=InMemorySaver()
    )
    async with staged(browser, agent) as stage:
        page = await stage.page()
        for prompt in ("Go!", "Again!"):
            await page.say(prompt)
            await stage.check(page)

    roles = [message["role"] for message in page.messages[:6]]
    assert roles == ["user", "reasoning", "assistant", "tool", "tool", "assistant"]


@pytest.mark.parametrize("name", sorted(set(SCENES) - {"words", "options", "form"}))
@pytest.mark.parametrize("payload", [{"approved": True}, None])
async def test_a_langchain_agent_that_asks_is_folded_to_what_it_holds(
    browser: Browser, name: str, payload: Any
) -> None:
    graph, _ = SCENES[name][0](InMemorySaver())
    async with staged(browser, graph) as stage:
        page = await stage.page()
        await page.say("Go!")
        assert len(page.interrupts) == 2
        await page.run(resume=page.resume(payload))

        assert page.report["finished"]["outcome"] == "success"
        await stage.check(page)


AGENT = '''
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
import aiosqlite

from trunkline.testing.chat import ScriptedChatModel, call


@tool
def delete(path: str) -> str:
    """Delete a file."""
    return f"deleted {{path}}"


model = ScriptedChatModel([call("delete", {{"path": "a"}}, "d1")], "Gone.", each_turn=True)
review = HumanInTheLoopMiddleware({{"delete": True}})


async def agent(session):
    saver = AsyncSqliteSaver(await aiosqlite.connect({thread!r}))
    return create_agent(model, [delete], middleware=[review], checkpointer=saver)
'''


@asynccontextmanager
async def process(folder: Path) -> AsyncGenerator[str]:
    """``trunkline serve`` in a process of its own; it is killed at the end, without a word."""
    running = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "trunkline", "serve", f"{folder / 'app.py'}:agent", "--port", "0",
        "--token", SECRET, "--journal", f"sqlite:{folder / 'journal.db'}",
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    try:
        assert running.stdout is not None
        async with asyncio.timeout(30):
            async for line in running.stdout:
                words = line.decode().split()
                found = [word for word in words if word.startswith("http://")]
                if found:
                    host = (
                        found[0].removeprefix("http://").partition("/")[0].partition("?")[0].partition("#")[0]
                    )
                    yield f"http://{host}/agui"
                    break
            else:
                raise AssertionError("the server said no address")
    finally:
        running.kill()
        await running.wait()
        await running.communicate()


async def test_an_approval_is_given_after_the_server_was_killed(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(AGENT.format(thread=str(tmp_path / "threads.db")))
    async with process(tmp_path) as address:
        page = await open_page(browser, address, "t1")
        report = await page.say("Go!")
        assert report["error"] is None, report
        assert len(page.interrupts) == 1
        messages, entries = page.messages, page.resume({"approved": True})
    async with process(tmp_path) as address:
        again = await open_page(browser, address, "t1", name="again", messages=messages)
        report = await again.run(resume=entries)

    assert (report["error"], report["written"]) == (None, [])
    assert report["finished"]["outcome"] == "success"
    assert [message["role"] for message in again.messages] == ["user", "assistant", "tool", "assistant"]
    assert [again.messages[2]["content"], again.messages[3]["content"]] == ["deleted a", "Gone."]
    (made,) = again.messages[1]["toolCalls"]
    assert made["function"]["arguments"] == '{"path": "a"}'


async def test_the_finance_agent_takes_a_file_by_a_form_and_an_approval(
    browser: Browser, tmp_path: Path
) -> None:
    rows = "When,What,How much\n01/02/2026,REWE SAGT DANKE,20.00\n03/04/2026,Cinema,12.50\n"
    (tmp_path / "bank.csv").write_text(rows)
    async with staged(browser, finance_agent(), cwd=str(tmp_path)) as stage:
        page = await stage.page()
        await page.say("How much did I spend on groceries last month?")
        assert page.messages[-1]["content"].startswith("In October 2026 you spent **")
        await stage.check(page)
        await page.say("import bank.csv")
        answers = {"date_order": "mdy", "sign": "positive_is_out", "currency": "USD", "account": "Card"}
        await page.run(resume=page.resume(answers))
        assert page.interrupts[0]["message"] == "Import bank.csv into Card (2 new, 0 known)?"
        await page.run(resume=page.resume({"approved": True}))
        assert "**2 new**" in page.messages[-1]["content"]
        await stage.check(page)
        await page.say("How much did I spend on groceries in January?")
        assert page.messages[-1]["content"].startswith(
            "In January 2026 you spent **20.00 USD** on Groceries."
        )
