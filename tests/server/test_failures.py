"""What web front ends hear of an exception of the agent's: its type, never its words."""

import json
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.hubs import make, soon
from tests.server.acp_clients import Dial, over_http, over_websocket
from tests.server.running_server import BEARER, frames, run_events, run_input, served
from websockets.asyncio.client import connect

from trunkline import events as ev
from trunkline.agents.interface import AgentCard
from trunkline.commands import Prompt
from trunkline.errors import AgentError
from trunkline.frontends.agui.options import AguiOptions
from trunkline.protocols.jsonrpc.messages import RpcError
from trunkline.server.app import Server
from trunkline.server.routes.error_details import redacted_options

SECRET_WORDS = "/home/ada/.key says sk-12345"


async def fail(prompt: Prompt) -> AsyncIterator[Any]:
    yield ev.ToolCall(call_id="c1", name="look")
    raise FileNotFoundError(SECRET_WORDS)


async def refuse(prompt: Prompt) -> AsyncIterator[Any]:
    yield "no"
    raise AgentError("the model is asleep: wake it")


async def everything(app: Server, client: Any) -> list[str]:
    """All that the web can hear of the thread t1, one text a road."""
    heard = [json.dumps(await run_events(client, run_input(thread="t1")))]
    heard.append(json.dumps(await run_events(client, run_input(thread="t1", run="r2"), "/agui/connect")))
    url = f"ws://{client.base_url.netloc.decode()}/agui/ws"
    async with connect(url, additional_headers=BEARER) as socket:
        await socket.send(json.dumps(run_input(thread="t2")))
        got = ""
        while "RUN_ERROR" not in got:
            got += str(await soon(socket.recv()))
        heard.append(got)
    heard.append((await client.get("/sessions/t1")).text)
    for place in ("0-0", "9-99.0"):
        headers = {"accept": "text/event-stream", "last-event-id": place}
        async with client.stream("GET", "/sessions/t1", headers=headers) as response:
            heard.append(json.dumps((await soon(anext(frames(response))))[1]))
    return heard


async def test_no_road_of_the_web_tells_the_words_of_an_exception(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        async with served(make(fail)) as (app, client):
            heard = await everything(app, client)
            assert [text for text in heard if "home" in text or "sk-12345" in text] == []
            error = json.loads(heard[0])[-1]
            assert error["code"] == "AGENT_EXECUTION_ERROR"
            assert "FileNotFoundError" in error["message"]
            turn_id = error["message"].rsplit(" ", 1)[-1]
    (record,) = [one for one in caplog.records if turn_id in one.getMessage()]
    assert record.exc_info is not None
    assert SECRET_WORDS in str(record.exc_info[1]), "the log has them, under the id that is told"


async def test_what_an_agent_says_of_its_failure_on_purpose_is_told() -> None:
    async with served(make(refuse)) as (_, client):
        assert (await run_events(client, run_input()))[-1]["message"] == "the model is asleep: wake it"


@pytest.mark.parametrize(
    ("server", "level"), [("127.0.0.1", "full"), ("::1", "full"), ("10.0.0.7", "message")]
)
def test_all_is_told_only_on_this_machine(server: str, level: str) -> None:
    class Asked:
        scope = {"server": (server, 80)}  # noqa: RUF012

    options = redacted_options(AguiOptions(error_detail_level="full"), Asked())  # type: ignore[arg-type]
    assert options.error_detail_level == level


async def test_who_asks_for_all_of_it_here_gets_all_of_it() -> None:
    async with served(make(fail), options=AguiOptions(error_detail_level="full")) as (_, client):
        assert SECRET_WORDS in (await run_events(client, run_input()))[-1]["message"]


class Unready:
    """An agent that cannot open a session."""

    card = AgentCard(name="unready")

    async def open_session(self, session: Any) -> None:
        raise OSError(SECRET_WORDS)

    async def run(self, prompt: Prompt, ctx: Any) -> AsyncIterator[Any]:
        yield "never"


@pytest.mark.parametrize("dial", [over_websocket, over_http])
async def test_a_client_of_acp_on_the_network_is_not_told_either(dial: Dial) -> None:
    async with served(make(fail)) as (_, client), dial(client) as caller:
        session_id = await caller.open()
        with pytest.raises(RpcError, match="FileNotFoundError"):
            await caller.prompt(session_id, "go")
        await caller.call("session/load", sessionId=session_id, cwd="/", mcpServers=[])
        assert "home" not in json.dumps(caller.agents_wire.messages)
    async with served(Unready()) as (_, client), dial(client) as caller:
        error = await caller.refused("session/new", cwd="/", mcpServers=[])
        assert "its log says what" in str(error)
        assert "home" not in json.dumps(caller.agents_wire.messages)
