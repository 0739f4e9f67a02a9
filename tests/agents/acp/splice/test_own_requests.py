"""Requests of our own in a splice: their ids and answers."""

import asyncio

from trunkline.agents.acp.splice.own_requests import OwnIds, settle
from trunkline.protocols.jsonrpc.messages import Response


def test_our_ids_are_texts_that_differ_from_those_of_every_other_splice() -> None:
    first, second = OwnIds(), OwnIds()
    ids = [first.next(), first.next(), second.next()]
    assert all(one.startswith("trunkline-") for one in ids)
    assert len(set(ids)) == 3


async def test_an_answer_that_comes_twice_counts_once() -> None:
    future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    settle(future, Response("trunkline-1", 1))
    settle(future, Response("trunkline-1", 2))
    assert future.result() == 1
