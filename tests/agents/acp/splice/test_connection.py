"""The agent's process in a splice: requests of our own."""

import asyncio

import pytest

from tests.agents.acp.scripted import scripted
from tests.hubs import soon
from trunkline.agents.acp.splice.connection import OwnIds, SpliceConnection, settle
from trunkline.agents.acp.splice.lines import read_line
from trunkline.errors import AgentExited
from trunkline.protocols.jsonrpc.messages import Response, RpcError


def test_our_ids_are_texts_that_differ_from_those_of_every_other_splice() -> None:
    first, second = OwnIds(), OwnIds()
    ids = [first.next(), first.next(), second.next()]
    assert all(one.startswith("trunkline-") for one in ids)
    assert len(set(ids)) == 3


async def started(*options: str) -> SpliceConnection:
    """A process whose answers to us are settled, as the splice does it."""
    command, args = scripted(*options)

    def take(line: bytes) -> bool:
        message = read_line(line)
        if isinstance(message, Response) and (own := connection.take_answer(message)) is not None:
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


async def test_an_answer_that_comes_twice_counts_once() -> None:
    future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    settle(future, Response("trunkline-1", 1))
    settle(future, Response("trunkline-1", 2))
    assert future.result() == 1
