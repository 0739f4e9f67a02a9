"""Connections of ACP clients: how many a principal may have, who finds them, and when they close."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from tests.hubs import BRISK, echo, make, soon

from trunkline.server.agents import ServedAgents, name_agents
from trunkline.server.errors import HttpError
from trunkline.server.limits import Limits
from trunkline.server.routes.acp_connections import AcpConnections, HttpAcpConnection
from trunkline.server.security.tokens import Access

ALICE, BOB = Access("alice"), Access("bob")


@asynccontextmanager
async def served(limits: Limits) -> AsyncGenerator[tuple[ServedAgents, AcpConnections]]:
    agents = ServedAgents(name_agents(make(echo)), settings=BRISK, limits=limits)
    connections = AcpConnections(limits)
    try:
        yield agents, connections
    finally:
        await connections.close()
        await agents.close()


async def connect(agents: ServedAgents, access: Access) -> HttpAcpConnection:
    return HttpAcpConnection(agents, "default", access, await agents.hub())


async def test_a_principal_has_a_limited_number_of_connections() -> None:
    async with served(Limits(acp_connections=1)) as (agents, connections):
        first = await connect(agents, ALICE)
        connections.add(first)
        connections.add(await connect(agents, BOB))
        with pytest.raises(HttpError, match="1 connections are open already"):
            connections.add(await connect(agents, ALICE))
        first.request_close("the client is gone")
        await soon(first.closed.wait())
        connections.add(await connect(agents, ALICE))


async def test_a_connection_of_another_principal_or_agent_does_not_exist() -> None:
    async with served(Limits()) as (agents, connections):
        connection = await connect(agents, ALICE)
        connections.add(connection)
        assert connections.find(connection.id, "default", ALICE) is connection
        for agent, access in (("default", BOB), ("other", ALICE)):
            with pytest.raises(HttpError, match="no such connection"):
                connections.find(connection.id, agent, access)


async def test_a_client_that_reads_no_stream_is_closed_with_the_reason() -> None:
    async with served(Limits(away_seconds=0.02)) as (agents, connections):
        connection = await connect(agents, ALICE)
        connections.add(connection)
        reader = connection.attach(None)
        assert not connection.close_requested.done()
        await connection.detach(reader)
        assert (await soon(connection.close_requested)).reason == "no stream was read for 0.02 seconds"


async def test_the_first_reason_to_close_counts() -> None:
    async with served(Limits()) as (agents, connections):
        connection = await connect(agents, ALICE)
        connections.add(connection)
        connection.request_close("first", 1001)
        connection.request_close("second")
        assert (await connection.close_requested) == ("first", 1001)
