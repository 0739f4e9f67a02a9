"""The processes of an agent: which one a session gets, and when each ends."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.agents.acp.scripted import scripted
from tests.hubs import soon, until
from trunkline.agents.acp.connection import AgentConnection
from trunkline.agents.acp.process_pool import AgentProcesses


@asynccontextmanager
async def processes(*, shared: bool = False, spare_idle: float = 60.0) -> AsyncGenerator[AgentProcesses]:
    """The processes of a scripted agent."""

    async def start(cwd: str | None) -> AgentConnection:
        command, args = scripted()
        connection = AgentConnection(command, args, cwd=cwd)
        await connection.start()
        return connection

    made = AgentProcesses(start, shared=shared, spare_idle=spare_idle)
    try:
        yield made
    finally:
        await soon(made.close())


async def test_the_first_session_gets_the_process_that_was_prepared_and_the_next_another() -> None:
    async with processes() as pool:
        prepared = await pool.prepare()
        assert await pool.prepare() is prepared
        assert await pool.take() is prepared
        assert await pool.prepare() is prepared, "a login is done where a session runs"
        other = await pool.take()
        assert other is not prepared
        assert pool.users_of(prepared) == pool.users_of(other) == 1
        await soon(pool.release(prepared))
        assert prepared.ended.is_set()
        assert not other.ended.is_set()


async def test_two_who_ask_at_once_get_two_processes_or_share_one() -> None:
    async with processes() as pool:
        first, second = await soon(asyncio.gather(pool.take(), pool.take()))
        assert first is not second
    async with processes(shared=True) as pool:
        first, second = await soon(asyncio.gather(pool.take(), pool.take()))
        assert first is second
        await soon(pool.release(first))
        assert not first.ended.is_set()
        await soon(pool.release(first))
        assert first.ended.is_set()


async def test_a_process_that_hangs_at_its_start_holds_up_nobody_else() -> None:
    hangs, started = [True], asyncio.Event()

    async def start(cwd: str | None) -> AgentConnection:
        if hangs:
            hangs.clear()
            started.set()
            await asyncio.Event().wait()
        command, args = scripted()
        connection = AgentConnection(command, args, cwd=cwd)
        await connection.start()
        return connection

    pool = AgentProcesses(start, shared=False, spare_idle=60.0)
    first = asyncio.create_task(pool.take())
    try:
        await soon(started.wait())
        second = await soon(pool.take())
        assert pool.users_of(second) == 1
        assert not first.done()
    finally:
        first.cancel()
        await soon(pool.close())


async def test_a_process_that_is_gone_is_not_given_out() -> None:
    async with processes(shared=True) as pool:
        first = await pool.take()
        await soon(first.close())
        assert await pool.take() is not first
    async with processes() as pool:
        spare = await pool.prepare()
        await soon(spare.close())
        assert await pool.prepare() is not spare


async def test_a_process_that_could_not_be_used_yet_waits_for_the_next_who_asks() -> None:
    async with processes() as pool:
        first, second = await pool.take(), await pool.take()
        pool.keep_for_next(first)
        pool.keep_for_next(second)
        assert await pool.take() is first
        await soon(second.ended.wait())
    async with processes(shared=True) as pool:
        first = await pool.take()
        await pool.take()
        pool.keep_for_next(first)
        assert pool.users_of(first) == 1


async def test_a_process_that_nobody_takes_ends_after_a_while() -> None:
    async with processes(spare_idle=0.05) as pool:
        spare = await pool.prepare()
        await until(spare.ended.is_set)


async def test_who_is_cancelled_while_a_process_ends_still_ends_it() -> None:
    async with processes() as pool:
        connection = await pool.take()
        releasing = asyncio.create_task(pool.release(connection))
        await asyncio.sleep(0)
        releasing.cancel()
        await asyncio.wait({releasing})
        await soon(connection.ended.wait())


async def test_a_process_is_started_in_the_folder_of_its_session(tmp_path: Path) -> None:
    async with processes() as pool:
        prepared = await pool.prepare()
        taken = await pool.take(str(tmp_path))
        assert (taken is prepared, taken.cwd) == (False, str(tmp_path))
        await soon(prepared.ended.wait())
        pool.keep_for_next(taken)
        assert await pool.take(str(tmp_path)) is taken


async def test_a_process_that_was_logged_in_serves_the_next_session_in_any_folder(tmp_path: Path) -> None:
    async with processes() as pool:
        prepared = await pool.prepare()
        pool.prefer(prepared)
        assert await pool.take(str(tmp_path)) is prepared


async def test_a_shared_process_stays_in_the_folder_of_the_agent(tmp_path: Path) -> None:
    async with processes(shared=True) as pool:
        first, second = await pool.take(str(tmp_path)), await pool.take("/")
        assert first is second
        assert first.cwd is None
