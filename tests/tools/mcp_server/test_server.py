"""The MCP server, spoken to by a JSON-RPC connection of our own in the same process."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.hubs import soon, until
from tests.tools.mcp_server import bank_tools

from trunkline.protocols.jsonrpc.connection import Connection
from trunkline.protocols.jsonrpc.messages import RpcError
from trunkline.tools.mcp_server.listing import HANDSHAKE_VERSIONS
from trunkline.tools.mcp_server.server import McpServer, ServerInfo
from trunkline.tools.registry import ToolRegistry
from trunkline.transports.memory import MemoryTransport
from trunkline.workspace import Policy

FORMS: dict[str, Any] = {"elicitation": {}}
MODERN: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
}


class Client:
    """A client: it answers forms, and keeps the notifications."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.answer: Any = {"action": "accept", "content": {"decision": "allow_once"}}
        self.forms: list[Any] = []
        self.notifications: list[Any] = []

    async def handle(self, method: str, params: Any) -> Any:
        assert method == "elicitation/create"
        self.forms.append(params)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def handle_notification(self, method: str, params: Any) -> None:
        self.notifications.append((method, params))

    def withdraw(self, method: str, params: Any) -> bool:
        return False

    async def request(self, method: str, **params: Any) -> Any:
        """Ask the server."""
        return await self.connection.request(method, params, timeout=10)

    async def initialize(self, version: str = HANDSHAKE_VERSIONS[-1], capabilities: Any = None) -> Any:
        """Begin with the handshake."""
        return await self.request("initialize", protocolVersion=version, capabilities=capabilities or {})

    async def call(self, name: str, meta: Any = None, **arguments: Any) -> Any:
        """Call a tool."""
        extra = {} if meta is None else {"_meta": meta}
        return await self.request("tools/call", name=name, arguments=arguments, **extra)


@asynccontextmanager
async def serving(
    registry: ToolRegistry = bank_tools.registry, **options: Any
) -> AsyncGenerator[tuple[Client, McpServer]]:
    """A client and a server, connected."""
    out, back = MemoryTransport(), MemoryTransport()
    near = Connection(out, cancel_method="notifications/cancelled")
    far = Connection(back, cancel_method="notifications/cancelled", answers_cancelled=False)
    out.deliver_to(far.receive)
    back.deliver_to(near.receive)
    client = near.handler = Client(near)
    server = far.handler = McpServer(registry, far, **options)
    try:
        yield client, server
    finally:
        await server.close()
        await far.close("over")
        await near.close("over")


def text_of(result: Any) -> str:
    """The text of a result."""
    return result["content"][0]["text"]


# -- versions ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [*HANDSHAKE_VERSIONS, "1999-01-01"])
async def test_the_version_of_the_client_is_spoken_or_the_newest_of_ours(version: str) -> None:
    async with serving(info=ServerInfo(name="bank", title="Bank", instructions="Ask.")) as (client, _):
        started = await client.initialize(version)
        wanted = version if version in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
        assert started["protocolVersion"] == wanted
        assert started["serverInfo"]["title"] == "Bank"
        assert started["instructions"] == "Ask."
        assert await client.request("ping") == {}
        (listed,) = [
            one for one in (await client.request("tools/list"))["tools"] if one["name"] == "spending"
        ]
        assert ("annotations" in listed) is (wanted >= "2025-03-26")
        assert ("outputSchema" in listed) is (wanted >= "2025-06-18")
        result = await client.call("spending", category="food")
        assert ("structuredContent" in result) is (wanted >= "2025-06-18")


async def test_without_a_handshake_each_request_names_its_version() -> None:
    async with serving() as (client, _):
        found = await client.request("server/discover", _meta=MODERN)
        assert found["supportedVersions"] == ["2026-07-28"]
        assert found["resultType"] == "complete"
        listed = await client.request("tools/list", _meta=MODERN)
        assert {"ttlMs", "cacheScope", "tools", "resultType"} <= listed.keys()
        wrong = {**MODERN, "io.modelcontextprotocol/protocolVersion": "2027-01-01"}
        with pytest.raises(RpcError) as refused:
            await client.request("tools/list", _meta=wrong)
        assert refused.value.rpc_code == -32022
        assert refused.value.data["supported"] == ["2026-07-28"]


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("initialize", {}, -32602),
        ("tools/list", {"cursor": "x"}, -32602),
        ("tools/list", {"cursor": "9999"}, -32602),
        ("tools/call", {}, -32602),
        ("tools/call", {"name": "nope"}, -32602),
        ("tools/call", {"name": "spending", "arguments": [1]}, -32602),
        ("resources/list", {}, -32601),
        ("server/discover", {}, -32601),
    ],
)
async def test_bad_requests_get_the_errors_of_json_rpc(method: str, params: Any, code: int) -> None:
    async with serving() as (client, _):
        with pytest.raises(RpcError) as early:
            await client.request("tools/list")
        assert early.value.rpc_code == -32600
        await client.initialize()
        with pytest.raises(RpcError) as refused:
            await client.request(method, **params)
        assert refused.value.rpc_code == code


# -- tools -------------------------------------------------------------------------------------------


async def test_a_long_list_comes_in_pages() -> None:
    async with serving(bank_tools.many) as (client, _):
        await client.initialize()
        names: list[str] = []
        pages = 0
        cursor: dict[str, Any] = {}
        while pages == 0 or cursor:
            page = await client.request("tools/list", **cursor)
            names += [one["name"] for one in page["tools"]]
            cursor = {"cursor": page["nextCursor"]} if "nextCursor" in page else {}
            pages += 1
        assert names == [f"number_{number}" for number in range(120)]
        assert pages == 3


async def test_progress_is_sent_with_the_token_of_the_request_and_before_the_result() -> None:
    async with serving() as (client, _):
        await client.initialize()
        await client.call("count", {"progressToken": "p"}, to=2)
        sent = [params for method, params in client.notifications if method == "notifications/progress"]
        assert sent == [
            {"progressToken": "p", "progress": 1, "message": "0\n"},
            {"progressToken": "p", "progress": 2, "message": "1\n"},
        ]
        await client.call("count", to=2)
        assert len(client.notifications) == 2


async def test_a_failure_is_a_result_that_the_model_reads() -> None:
    async with serving() as (client, _):
        await client.initialize()
        assert await client.call("broken") == {
            "content": [{"type": "text", "text": "out of paper"}],
            "isError": True,
        }
        assert "the argument 'category'" in text_of(await client.call("spending", category=1))


async def test_a_cancelled_call_stops_and_gets_no_answer(tmp_path: Path, monkeypatch: Any) -> None:
    mark = tmp_path / "mark"
    monkeypatch.setenv("MARK", str(mark))
    async with serving() as (client, _):
        await client.initialize()
        params = {"name": "wait_for_ever", "arguments": {}, "_meta": {"progressToken": 1}}
        request_id, answer = client.connection.ask("tools/call", params)
        await until(lambda: bool(client.notifications))
        client.connection.withdraw_request(request_id)
        await until(mark.exists)
        assert await client.request("ping") == {}
        assert not answer.done()


# -- permissions -------------------------------------------------------------------------------------


async def test_a_tool_that_asks_asks_by_elicitation_with_the_whole_call_and_its_own_words() -> None:
    async with serving() as (client, _):
        await client.initialize(capabilities=FORMS)
        assert await client.call("run_sql", query="SELECT 1") == {
            "content": [{"type": "text", "text": '{"rows":["SELECT 1"]}'}],
            "structuredContent": {"rows": ["SELECT 1"]},
        }
        (form,) = client.forms
        assert '"query": "SELECT 1"' in form["message"]
        choice = form["requestedSchema"]["properties"]["decision"]
        assert choice["enum"] == ["allow_once", "allow_always", "reject_once"]
        assert choice["enumNames"] == ["Allow once", "Always allow SQL (run_sql)", "Reject"]


@pytest.mark.parametrize(
    "answer",
    [
        {"action": "decline"},
        {"action": "cancel"},
        {"action": "accept", "content": {"decision": "reject_once"}},
        {"action": "accept", "content": {"decision": "sure"}},
        {"action": "accept"},
        "yes",
        RpcError(-32603, "no window"),
    ],
)
async def test_whatever_is_no_clear_yes_is_a_no(answer: Any) -> None:
    async with serving() as (client, _):
        await client.initialize(capabilities=FORMS)
        client.answer = answer
        refused = await client.call("run_sql", query="SELECT 1")
        assert refused["isError"]
        assert "the user refused it" in text_of(refused)


async def test_always_holds_for_the_tool_until_the_server_ends() -> None:
    async with serving() as (client, _):
        await client.initialize(capabilities=FORMS)
        client.answer = {"action": "accept", "content": {"decision": "allow_always"}}
        for number in range(3):
            assert "isError" not in await client.call("run_sql", query=f"SELECT {number}")
        assert len(client.forms) == 1


@pytest.mark.parametrize("offered", [{}, {"elicitation": {"url": {}}}])
async def test_a_client_that_cannot_ask_gets_a_sentence_that_names_the_policy(offered: Any) -> None:
    async with serving() as (client, _):
        await client.initialize(capabilities=offered)
        assert "--policy" in text_of(await client.call("run_sql", query="SELECT 1"))
        assert "cannot ask its user" in text_of(await client.call("ask_plainly"))
    async with serving(policy=Policy.allow_all()) as (client, _):
        await client.initialize(capabilities=offered)
        assert "isError" not in await client.call("run_sql", query="SELECT 1")


async def test_a_policy_denies_and_asks_also_about_tools_that_ask_nothing() -> None:
    async with serving(policy=Policy.deny()) as (client, _):
        await client.initialize(capabilities=FORMS)
        assert "the default is to deny" in text_of(await client.call("spending", category="food"))
        assert not client.forms
    async with serving(policy=Policy.ask()) as (client, _):
        await client.initialize(capabilities=FORMS)
        assert "isError" not in await client.call("spending", category="food")
        assert len(client.forms) == 1


async def test_a_tool_asks_in_the_middle_and_a_plain_one_too() -> None:
    async with serving() as (client, _):
        await client.initialize(capabilities=FORMS)
        assert text_of(await client.call("rename", category="food")) == "renamed"
        assert "14 transactions change" in client.forms[-1]["message"]
        client.answer = {"action": "accept", "content": {"many": 3}}
        assert text_of(await client.call("ask_plainly")) == '{"many":3}'


# -- without a handshake -------------------------------------------------------------------------------


async def modern(client: Client, name: str, arguments: Any, **more: Any) -> Any:
    """Call a tool in a version without a handshake."""
    return await client.request("tools/call", name=name, arguments=arguments, _meta=MODERN, **more)


async def test_a_question_is_a_result_and_the_retry_goes_on_with_the_same_call() -> None:
    async with serving() as (client, _):
        asked = await modern(client, "rename", {"category": "food"})
        assert asked["resultType"] == "input_required"
        (request,) = asked["inputRequests"].values()
        assert request["method"] == "elicitation/create"
        yes = {"form": {"action": "accept", "content": {"decision": "allow_once"}}}
        again = {"requestState": asked["requestState"], "inputResponses": yes}
        assert text_of(await modern(client, "rename", {"category": "food"}, **again)) == "renamed"
        with pytest.raises(RpcError, match="requestState is of no call"):
            await modern(client, "rename", {"category": "food"}, **again)


async def test_an_answer_is_for_this_call_and_no_other() -> None:
    async with serving() as (client, _):
        asked = await modern(client, "run_sql", {"query": "SELECT 1"})
        yes = {"form": {"action": "accept", "content": {"decision": "allow_once"}}}
        again = {"requestState": asked["requestState"], "inputResponses": yes}
        with pytest.raises(RpcError, match="or of another call"):
            await modern(client, "run_sql", {"query": "DROP"}, **again)
        refused = await modern(
            client, "run_sql", {"query": "SELECT 1"}, requestState=asked["requestState"], inputResponses={}
        )
        assert refused["isError"]


async def test_calls_that_wait_for_input_are_bounded_and_end_with_the_server() -> None:
    async with serving() as (client, server):
        first = await modern(client, "run_sql", {"query": "0"})
        for number in range(1, 65):
            await modern(client, "run_sql", {"query": str(number)})
        with pytest.raises(RpcError, match="requestState"):
            await modern(client, "run_sql", {"query": "0"}, requestState=first["requestState"])
        await soon(server.close())
    assert not [one for one in asyncio.all_tasks() if "run_sql" in repr(one.get_coro())]


async def test_a_cancelled_call_without_a_handshake_stops_its_tool(tmp_path: Path, monkeypatch: Any) -> None:
    mark = tmp_path / "mark"
    monkeypatch.setenv("MARK", str(mark))
    async with serving() as (client, _):
        meta = {**MODERN, "progressToken": 1}
        params = {"name": "wait_for_ever", "arguments": {}, "_meta": meta}
        request_id, _ = client.connection.ask("tools/call", params)
        await until(lambda: bool(client.notifications))
        client.connection.withdraw_request(request_id)
        await until(mark.exists)
