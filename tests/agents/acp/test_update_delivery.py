import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from tests.hubs import soon
from trunkline.agents.acp.update_delivery import UpdateDelivery


async def test_a_plain_function_is_called_at_once() -> None:
    seen: list[Any] = []
    delivery = UpdateDelivery()
    delivery.callback = seen.append
    assert delivery.deliver({"n": 1}) is None
    assert seen == [{"n": 1}]


async def test_without_a_function_nothing_waits() -> None:
    delivery = UpdateDelivery()
    assert delivery.deliver({"n": 1}) is None
    await soon(delivery.delivered())


async def test_an_async_function_gets_one_update_after_the_other() -> None:
    seen: list[Any] = []
    running = 0

    async def take(update: Mapping[str, Any]) -> None:
        nonlocal running
        running += 1
        assert running == 1
        # The earlier ones take longer.
        for _ in range(5 - update["n"]):
            await asyncio.sleep(0)
        seen.append(update["n"])
        running -= 1

    delivery = UpdateDelivery()
    delivery.callback = take
    waits = [delivery.deliver({"n": n}) for n in range(5)]
    assert all(wait is not None for wait in waits)
    await soon(delivery.delivered())
    assert seen == [0, 1, 2, 3, 4]


async def test_a_function_that_fails_gets_the_next_update(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[Any] = []

    async def take(update: Mapping[str, Any]) -> None:
        seen.append(update["n"])
        if update["n"] == 1:
            raise RuntimeError("oh")

    def plain(update: Mapping[str, Any]) -> None:
        raise RuntimeError("no")

    delivery = UpdateDelivery()
    delivery.callback = take
    for n in range(3):
        delivery.deliver({"n": n})
    await soon(delivery.delivered())
    assert seen == [0, 1, 2]
    delivery.callback = plain
    assert delivery.deliver({"n": 3}) is None
    assert caplog.text.count("the function that takes updates failed") == 2


async def test_a_closed_delivery_delivers_no_more_and_ends_what_runs() -> None:
    started, seen = asyncio.Event(), list[int]()

    async def take(update: Mapping[str, Any]) -> None:
        seen.append(update["n"])
        started.set()
        await asyncio.Event().wait()

    delivery = UpdateDelivery()
    delivery.callback = take
    delivery.deliver({"n": 1})
    delivery.deliver({"n": 2})
    await soon(started.wait())
    delivery.close()
    await soon(delivery.delivered())
    assert seen == [1]
