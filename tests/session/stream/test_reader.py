"""Readers at their own pace."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.hubs import session_for, soon, until

from trunkline import events as ev


async def test_one_that_fell_behind_gets_piece_by_piece_what_is_still_in_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gate = asyncio.Event()

    async def chatty() -> AsyncIterator[str]:
        yield "first"
        await gate.wait()
        for _ in range(1000):
            yield "x"
        gate.clear()
        await gate.wait()

    async with session_for(chatty, reader_backlog=10, coalesce_window=60.0) as session:
        async with session.follow() as reader:
            await session.prompt("go")
            while not isinstance((await soon(reader.next()))[-1].event, ev.Text):
                pass
            gate.set()
            await until(lambda: not gate.is_set())
            assert not reader.live

            async def unread(*args: Any, **kwargs: Any) -> Any:
                raise AssertionError("all of it is in memory")

            with monkeypatch.context() as patched:
                patched.setattr(session.hub.journal, "read", unread)
                pieces: list[str] = []
                while len(pieces) < 1000:
                    batch = await soon(reader.next())
                    pieces += [entry.event.delta for entry in batch if isinstance(entry.event, ev.Text)]
            assert pieces == ["x"] * 1000
            assert reader.live
        gate.set()
