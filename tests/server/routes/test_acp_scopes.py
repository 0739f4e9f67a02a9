"""What a client of ``/acp`` may ask: by the scopes of its token, and which MCP servers it may name."""

from typing import Any

import pytest
from tests.server.acp_clients import TOKENS, Dial, bearer, over_http, over_websocket, session_in
from tests.server.running_server import served

from trunkline.agents.targets import resolve_target
from trunkline.server.limits import Limits


@pytest.fixture(params=[over_websocket, over_http], ids=["ws", "http"])
def dial(request: pytest.FixtureRequest) -> Dial:
    return request.param


async def test_a_login_of_the_agent_takes_the_scope_admin(dial: Dial) -> None:
    agent = resolve_target("demo-auth")
    async with served(agent, tokens=TOKENS) as (_, client):
        async with dial(client, headers=bearer("she-only-prompts-")) as caller:
            error = await caller.refused("authenticate", methodId="demo-login")
            assert error.rpc_code == -32600
            assert "'admin'" in error.data["details"]
        async with dial(client, headers=bearer("the-secret-of-ada")) as caller:
            assert (await caller.refused("session/new", cwd="/", mcpServers=[])).rpc_code == -32000
            await caller.call("authenticate", methodId="demo-login")
            assert await caller.open()


async def test_what_a_token_does_not_open_is_refused_as_over_http(dial: Dial) -> None:
    async with (
        served(tokens=TOKENS) as (_, client),
        dial(client, headers=bearer("she-only-prompts-")) as caller,
    ):
        session_id = await caller.open()
        for method, scope in (("session/set_mode", "answer"), ("session/delete", "admin")):
            error = await caller.refused(method, sessionId=session_id, modeId="code")
            assert f"the scope {scope!r}" in str(error)
        assert (await caller.prompt(session_id, "/text"))["stopReason"] == "end_turn"


async def test_no_client_starts_programs_on_the_server_unless_it_is_allowed(dial: Dial) -> None:
    programs: list[Any] = [{"name": "shell", "command": "/bin/sh", "args": [], "env": []}]
    async with served() as (_, client), dial(client) as caller:
        error = await caller.refused("session/new", cwd="/", mcpServers=programs)
        assert (error.rpc_code, "client_programs" in str(error)) == (-32602, True)
    async with served(limits=Limits(client_programs=True)) as (_, client), dial(client) as caller:
        assert await caller.call("session/new", cwd="/", mcpServers=programs)


def remote(url: str, **fields: Any) -> list[Any]:
    return [{"type": "http", "name": "far", "url": url, "headers": [], **fields}]


async def test_no_client_names_servers_on_the_web_unless_their_host_is_allowed(dial: Dial) -> None:
    far = remote("https://mcp.example.org/mcp", reach=["127.0.0.1"])
    async with served() as (_, client), dial(client) as caller:
        assert caller.greeting["agentCapabilities"]["mcpCapabilities"] == {"http": False, "sse": False}
        known = await caller.open()
        for method in ("session/new", "session/load", "session/resume", "session/fork"):
            error = await caller.refused(method, sessionId=known, cwd="/", mcpServers=far)
            assert (error.rpc_code, "--allow-mcp" in str(error)) == (-32602, True)
    async with served(allow_mcp=["mcp.example.org"]) as (app, client), dial(client) as caller:
        for url in (
            "http://127.0.0.1/mcp",
            "http://localhost/",
            "http://mcp.example.org@127.0.0.1/",
            "x",
            "//a",
        ):
            error = await caller.refused("session/new", cwd="/", mcpServers=remote(url))
            assert error.rpc_code == -32602
        session_id = (await caller.call("session/new", cwd="/", mcpServers=far))["sessionId"]
        view = (await session_in(app, session_id)).view
        assert [server["reach"] for server in view.mcp_servers] == [["mcp.example.org"]], "not the client's"
