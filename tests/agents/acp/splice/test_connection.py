"""The agent's process in a splice: requests of our own."""

import asyncio

import pytest

from tests.agents.acp.scripted import scripted
from tests.hubs import soon
from trunkline.agents.acp.splice.connection import SpliceConnection
from trunkline.agents.acp.splice.loose_parsing import read_line
from trunkline.agents.acp.splice.own_requests import settle
from trunkline.errors import AgentExited
from trunkline.protocols.jsonrpc.messages import Response, RpcError


async def started(*options: str) -> SpliceConnection:
    """A process whose answers to us are settled, as the splice does it."""
    command, args = scripted(*options)

    def take(line: bytes) -> bool:
        message = read_line(line)
        if (
            isinstance(message, Response)
            and (own := connection.own_requests.take_answer(message)) is not None
        ):
            settle(own.future, message)
        return True

    connection = SpliceConnection(command, args, on_line=take)
    await soon(connection.spawn())
    return connection


async def test_a_request_of_ours_gets_its_answer_or_its_error() -> None:
    connection = await started()
    try:
        answer = await soon(connection.request("initialize", {}))
        assert answer["agentInfo"]["name"] == "scripted-agent"
        with pytest.raises(RpcError, match="Method not found"):
            await soon(connection.request("no/such", {}))
    finally:
        await soon(connection.close())


async def test_a_request_without_an_answer_times_out_and_fails_when_the_agent_ends() -> None:
    connection = await started("--mute")
    with pytest.raises(TimeoutError):
        await connection.request("initialize", {}, timeout=0.05)
    waiting = asyncio.create_task(connection.request("initialize", {}))
    await asyncio.sleep(0)
    await soon(connection.close())
    with pytest.raises(AgentExited, match="is gone"):
        await soon(waiting)
    with pytest.raises(AgentExited):
        connection.ask("initialize", {})
