"""ACP over a WebSocket and over streamable HTTP: the same sessions, limits and ends on both."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.hubs import make, only, soon, text_of, until
from tests.server.acp_clients import (
    GREETING,
    TOKENS,
    Dial,
    agent_that_waits,
    bearer,
    over_http,
    over_websocket,
    session_in,
)
from tests.server.running_server import BEARER, SECRET, run_events, run_input, served
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Subprotocol

import trunkline
from trunkline import events as ev
from trunkline.commands import Prompt
from trunkline.server.limits import Limits
from trunkline.session.context import TurnContext
from trunkline.workspace import Files


@pytest.fixture(params=[over_websocket, over_http], ids=["ws", "http"])
def dial(request: pytest.FixtureRequest) -> Dial:
    return request.param


# -- conversations ---------------------------------------------------------------------------------


async def test_a_turn_with_tools_is_shown_in_order(dial: Dial, tmp_path: Path) -> None:
    async with served() as (_, client), dial(client) as caller:
        session_id = await caller.open(tmp_path)
        result = await caller.prompt(session_id, "/tools")
        heard = caller.heard()
    assert caller.greeting["agentInfo"]["name"] == "demo"
    assert result["stopReason"] == "end_turn"
    assert heard.index("tool_call") < heard.index("tool_call_update") < heard.index("= session/prompt")


async def test_a_permission_is_asked_and_its_answer_counts(dial: Dial, tmp_path: Path) -> None:
    async with served() as (_, client), dial(client) as caller:
        session_id = await caller.open(tmp_path)
        caller.permit("reject_once", "allow_once")
        await caller.prompt(session_id, "/permission")
        assert not (tmp_path / "hello.txt").exists()
        await caller.prompt(session_id, "/permission")
        assert (tmp_path / "hello.txt").read_text(encoding="utf-8") == "hello\n"


async def test_a_cancel_ends_the_turn(dial: Dial) -> None:
    agent, running, stopped = agent_that_waits()
    async with served(agent) as (_, client), dial(client) as caller:
        session_id = await caller.open()
        prompting = asyncio.create_task(caller.prompt(session_id, "go"))
        await soon(running.wait())
        caller.connection.notify("session/cancel", {"sessionId": session_id})
        assert (await soon(prompting))["stopReason"] == "cancelled"
        assert stopped.is_set()


async def test_a_prompt_that_is_taken_back_ends_the_turn(dial: Dial) -> None:
    agent, running, stopped = agent_that_waits()
    async with served(agent) as (_, client), dial(client) as caller:
        session_id = await caller.open()
        params = {"sessionId": session_id, "prompt": [{"type": "text", "text": "go"}]}
        request_id, answer = caller.connection.ask("session/prompt", params)
        await soon(running.wait())
        caller.connection.withdraw_request(request_id)
        assert (await soon(answer))["stopReason"] == "cancelled"
        assert stopped.is_set()


async def test_a_session_begun_elsewhere_is_loaded_with_its_history_before_the_answer(dial: Dial) -> None:
    async with served() as (_, client):
        await run_events(client, run_input("hello from a page", thread="t1"))
        async with over_websocket(client) as first:
            await first.call("session/load", sessionId="t1", cwd="/", mcpServers=[])
            await first.prompt("t1", "hello from an editor")
        async with dial(client) as caller:
            await caller.call("session/load", sessionId="t1", cwd="/", mcpServers=[])
            output = [update["content"]["text"] for update in caller.updates("user_message_chunk")]
            heard = caller.heard()
    assert output == ["hello from a page", "hello from an editor"]
    assert heard.index("= session/load") > max(i for i, name in enumerate(heard) if name.endswith("_chunk"))


async def test_sessions_on_a_journal_outlive_the_server(dial: Dial, tmp_path: Path) -> None:
    journal = f"sqlite:{tmp_path}/journal.db"
    async with served(journal=journal) as (_, client), dial(client) as caller:
        session_id = await caller.open()
        await caller.prompt(session_id, "remember me")
    async with served(journal=journal) as (_, client), dial(client) as caller:
        await caller.call("session/load", sessionId=session_id, cwd="/", mcpServers=[])
        assert caller.updates("user_message_chunk")[0]["content"]["text"] == "remember me"


async def test_two_sessions_of_one_connection_do_not_mix(dial: Dial) -> None:
    async with served() as (_, client), dial(client) as caller:
        one, two = await caller.open(), await caller.open()
        await asyncio.gather(caller.prompt(one, "/long 300"), caller.prompt(two, "/long 300"))
        whole = "".join(f"{number} " for number in range(1, 301))
        for session_id in (one, two):
            updates = [
                m["params"] for m in caller.agents_wire.messages if m.get("method") == "session/update"
            ]
            mine = [params["update"] for params in updates if params["sessionId"] == session_id]
            chunks = [update for update in mine if update["sessionUpdate"] == "agent_message_chunk"]
            assert "".join(chunk["content"]["text"] for chunk in chunks) == whole


# -- who may do what -------------------------------------------------------------------------------


async def test_the_sessions_of_another_principal_do_not_exist(dial: Dial) -> None:
    async with served(tokens=TOKENS) as (_, client):
        async with dial(client, headers=bearer("the-secret-of-ada")) as ada:
            session_id = await ada.open()
            await ada.prompt(session_id, "/text")
        async with dial(client, headers=bearer("the-secret-of-bob")) as bob:
            error = await bob.refused("session/load", sessionId=session_id, cwd="/", mcpServers=[])
            assert error.rpc_code == -32002
            assert (await bob.call("session/list"))["sessions"] == []


async def test_a_token_that_may_not_answer_is_asked_nothing(dial: Dial, tmp_path: Path) -> None:
    async with (
        served(tokens=TOKENS) as (app, client),
        dial(client, headers=bearer("she-only-prompts-")) as caller,
    ):
        session_id = await caller.open(tmp_path)
        prompting = asyncio.create_task(caller.prompt(session_id, "/permission"))
        session = await session_in(app, session_id, "ada")
        await until(lambda: bool(session.open_questions))
        await session.answer(
            *(trunkline.Answer(question_id=name, option_id="allow_once") for name in session.open_questions)
        )
        await soon(prompting)
        assert caller.asked("session/request_permission") == []
        assert (tmp_path / "hello.txt").exists()


async def test_several_agents_have_an_address_each_and_keep_to_their_own_sessions(dial: Dial) -> None:
    async def one(prompt: Prompt) -> AsyncIterator[str]:
        yield "I am one"

    async def two(prompt: Prompt) -> AsyncIterator[str]:
        yield "I am two"

    async with served({"one": make(one, name="one"), "two": make(two, name="two")}) as (_, client):
        async with dial(client, "/acp/two") as caller:
            session_id = await caller.open()
            await caller.prompt(session_id, "who?")
            assert caller.text == "I am two"
        async with dial(client, "/acp") as caller:
            assert caller.greeting["agentInfo"]["name"] == "one", "the first is the default"
            for method in ("session/load", "session/resume", "session/fork"):
                error = await caller.refused(method, sessionId=session_id, cwd="/", mcpServers=[])
                assert (error.rpc_code, "another agent" in str(error)) == (-32002, True)


async def websocket_status(url: str, headers: dict[str, str]) -> int:
    """The status that an upgrade is refused with."""
    with pytest.raises(InvalidStatus) as refused:
        async with connect(url, additional_headers=headers):
            pass
    return refused.value.response.status_code


async def test_nobody_is_accepted_who_does_not_pass_the_gate() -> None:
    async with served(tokens=[SECRET, *TOKENS]) as (_, client):
        url = f"ws://{client.base_url.netloc.decode()}/acp"
        cases: list[tuple[dict[str, str], int]] = [
            ({"authorization": "Bearer wrong"}, 401),
            ({"origin": "https://evil.example", **BEARER}, 403),
            (bearer("she-only-follows-"), 403),
        ]
        for headers, status in cases:
            assert await websocket_status(url, headers) == status
            answer = await client.post("/acp", json=GREETING, headers=headers)
            assert answer.status_code == status
        assert (await client.post("/acp", json=GREETING, headers={"host": "evil.example"})).status_code == 421
        assert await websocket_status(f"{url}/nobody", BEARER) == 404
        assert (await client.post("/acp/nobody", json=GREETING)).status_code == 404


async def test_a_browser_sends_its_token_as_a_subprotocol() -> None:
    async with served() as (_, client):
        url = f"ws://{client.base_url.netloc.decode()}/acp"
        offered = [Subprotocol("trunkline"), Subprotocol(f"trunkline.bearer.{SECRET}")]
        async with connect(url, subprotocols=offered) as line:
            assert line.subprotocol == "trunkline"
            await line.send(json.dumps(GREETING))
            assert json.loads(await soon(line.recv()))["result"]["protocolVersion"] == 1


async def test_a_principal_has_so_many_connections_and_no_more() -> None:
    async with served(tokens=TOKENS, limits=Limits(acp_connections=2)) as (_, client):
        url = f"ws://{client.base_url.netloc.decode()}/acp"
        ada, bob = bearer("the-secret-of-ada"), bearer("the-secret-of-bob")
        async with connect(url, additional_headers=ada), over_http(client, headers=ada):
            assert await websocket_status(url, ada) == 429
            assert (await client.post("/acp", json=GREETING, headers=ada)).status_code == 429
            async with over_http(client, headers=bob) as another:
                assert another.greeting["protocolVersion"] == 1
        async with asyncio.timeout(5):
            while (await client.post("/acp", json=GREETING, headers=ada)).status_code == 429:
                await asyncio.sleep(0.01)


async def test_a_connection_waits_for_so_many_answers_and_no_more(dial: Dial) -> None:
    agent, running, _ = agent_that_waits()
    async with served(agent, limits=Limits(acp_requests=1)) as (_, client), dial(client) as caller:
        session_id = await caller.open()
        prompting = asyncio.create_task(caller.prompt(session_id, "go"))
        await soon(running.wait())
        refused = await caller.refused("session/list")
        assert "too many" in refused.message
        caller.connection.notify("session/cancel", {"sessionId": session_id})
        await soon(prompting)
        assert len((await caller.call("session/list"))["sessions"]) == 1


# -- leaving ---------------------------------------------------------------------------------------


@pytest.fixture
def hasty() -> Limits:
    """Clients over HTTP are gone as soon as they read nothing."""
    return Limits(away_seconds=0.4)


async def test_a_client_that_is_cut_off_ends_its_turn(dial: Dial, hasty: Limits) -> None:
    agent, running, stopped = agent_that_waits()
    async with served(agent, limits=hasty) as (app, client):
        async with dial(client) as caller:
            session_id = await caller.open()
            prompting = asyncio.create_task(caller.prompt(session_id, "go"))
            await soon(running.wait())
            caller.request_close()
            await soon(stopped.wait())
            prompting.cancel()
        session = await session_in(app, session_id)
        await until(lambda: not session.busy and session.followers == 0)
        last = [entry.event async for entry in session.replay()][-1]
        ends = only([entry.event async for entry in session.replay()], ev.TurnFinished)
        assert [end.stop_reason for end in ends] == ["cancelled"], last


async def test_a_turn_that_somebody_else_follows_goes_on_with_its_question(
    dial: Dial, hasty: Limits, tmp_path: Path
) -> None:
    async with served(limits=hasty) as (app, client):
        async with dial(client) as caller:
            session_id = await caller.open(tmp_path)
            caller.answers["session/request_permission"] = lambda _: asyncio.Event().wait()
            prompting = asyncio.create_task(caller.prompt(session_id, "/permission"))
            session = await session_in(app, session_id)
            await until(lambda: bool(caller.asked("session/request_permission")))
            reader = session.follow()
            caller.request_close()
            await until(lambda: session.followers == 1)
            prompting.cancel()
        (question,) = session.open_questions
        assert session.busy
        await session.answer(trunkline.Answer(question_id=question, option_id="allow_once"))
        await until(lambda: not session.busy)
        reader.close()
        assert (tmp_path / "hello.txt").exists()


async def test_a_request_that_the_client_takes_with_it_fails_and_its_files_are_given_back(
    dial: Dial, hasty: Limits, tmp_path: Path
) -> None:
    (tmp_path / "notes.txt").write_text("on the disk", encoding="utf-8")
    failures: list[str] = []

    async def reads(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        try:
            yield await ctx.files.read("notes.txt")
        except trunkline.TrunklineError as error:
            failures.append(str(error))
            yield "failed"

    async with served(make(reads), limits=hasty) as (app, client):
        async with dial(client, able={"fs": {"readTextFile": True}, "terminal": True}) as caller:
            session_id = await caller.open(tmp_path)
            caller.answers["fs/read_text_file"] = lambda _: asyncio.Event().wait()
            prompting = asyncio.create_task(caller.prompt(session_id, "go"))
            await until(lambda: bool(caller.asked("fs/read_text_file")))
            session = await session_in(app, session_id)
            async with session.follow():
                caller.request_close()
                await until(lambda: not session.busy)
            prompting.cancel()
        assert "got no answer" in failures[0]
        assert type(session.view.files) is Files
        events = [event async for event in session.stream("again")]
        assert text_of(events) == "on the disk"


# -- the end of the server -------------------------------------------------------------------------


async def test_a_client_that_says_nothing_is_let_go() -> None:
    async with served(limits=Limits(body_seconds=0.05)) as (_, client):
        url = f"ws://{client.base_url.netloc.decode()}/acp"
        async with connect(url, additional_headers=BEARER) as line:
            with pytest.raises(ConnectionClosed):
                await soon(line.recv())
            assert (line.close_code, line.close_reason) == (1002, "no message came: begin with initialize")


async def test_a_server_that_goes_down_ends_turns_and_connections_properly(dial: Dial) -> None:
    agent, running, _ = agent_that_waits()
    async with served(agent) as (app, client), dial(client) as caller:
        session_id = await caller.open()
        prompting = asyncio.create_task(caller.prompt(session_id, "go"))
        await soon(running.wait())
        idling = asyncio.create_task(app.agents.wait_for_runs(30))
        await asyncio.sleep(0)
        assert not idling.done(), "a prompt is something to wait for"
        await soon(app.aclose())
        assert (await soon(prompting))["stopReason"] == "cancelled"
        await soon(idling, 5.0)


async def test_nothing_new_begins_while_the_server_waits_for_its_runs(dial: Dial) -> None:
    agent, running, _ = agent_that_waits()
    async with served(agent) as (app, client), dial(client) as caller:
        session_id, other = await caller.open(), await caller.open()
        prompting = asyncio.create_task(caller.prompt(session_id, "go"))
        await soon(running.wait())
        app.agents.closing = True
        refused = await caller.refused("session/prompt", sessionId=other, prompt=[])
        assert refused.data == {"details": "the server is going down: try again later"}
        caller.connection.notify("session/cancel", {"sessionId": session_id})
        assert (await soon(prompting))["stopReason"] == "cancelled"


async def test_a_websocket_is_told_that_the_server_goes_down() -> None:
    async with served() as (app, client):
        url = f"ws://{client.base_url.netloc.decode()}/acp"
        async with connect(url, additional_headers=BEARER) as line:
            await line.send(json.dumps(GREETING))
            await soon(line.recv())
            await soon(app.aclose())
            with pytest.raises(ConnectionClosed):
                await soon(line.recv())
            assert (line.close_code, line.close_reason) == (1001, "the server is going down")
