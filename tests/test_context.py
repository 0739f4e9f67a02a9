"""The current turn is known wherever its code runs, and nowhere else."""

import asyncio
from collections.abc import AsyncIterator

from tests.hubs import collect, make, session_for, text_of
from trunkline import context
from trunkline.session.context import TurnContext


async def test_the_current_turn_is_known_in_tasks_and_threads_of_its_agent() -> None:
    found: list[context.TurnContext | None] = []

    async def deep() -> None:
        found.append(context.current())

    async def asking(ctx: TurnContext) -> AsyncIterator[str]:
        await deep()
        await asyncio.create_task(deep())
        found.append(await asyncio.to_thread(context.current))
        assert found == [ctx, ctx, ctx]
        yield ctx.turn_id

    assert context.current() is None
    async with session_for(asking) as session:
        assert text_of(await collect(session, "go")) == session.last_turn_id
    assert context.current() is None


async def test_a_plain_function_has_the_current_turn_too() -> None:
    def plain() -> str:
        ctx = context.current()
        return "none" if ctx is None else ctx.turn_id

    async with session_for(make(plain)) as session:
        assert text_of(await collect(session, "go")) == session.last_turn_id
