"""The splice on standard input and output, for the editor that started us."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from trunkline.agents.acp.agent import AcpAgent
from trunkline.agents.acp.splice.agent import SpliceAgent
from trunkline.agents.acp.splice.relay import Splice
from trunkline.errors import AgentExited, TrunklineError
from trunkline.journal import open_journal
from trunkline.session.hub import Hub
from trunkline.session.settings import Settings
from trunkline.transports.process.own_exit_processes import end_descendants
from trunkline.transports.process.own_exit_threads import run_async
from trunkline.transports.stdio import StdioTransport

if TYPE_CHECKING:
    from trunkline.workspace.policy import Policy

log = logging.getLogger("trunkline.splice")

SETTINGS = Settings(
    # The editor is no reader of the session: what it reads are the agent's own lines.
    abandon_after=None,
    # It waits for its person as long as it would without us.
    question_ttl=7 * 86400.0,
    queue_limit=1000,
)
"""How spliced sessions differ from others."""


def serve_splice(
    target: str,
    load: Callable[[], AcpAgent],
    *,
    journal: str | None = None,
    policy: Policy | None = None,
    settings: Settings = SETTINGS,
) -> None:
    """Forward lines between the editor that started this process and the agent of a TARGET.

    Returns when the editor closes our input; raises AgentExited when the agent ends before that.
    """
    transport = StdioTransport.claim()
    run_async(_serve(transport, target, load, journal, policy, settings))


async def _serve(
    transport: StdioTransport,
    target: str,
    load: Callable[[], AcpAgent],
    journal_address: str | None,
    policy: Policy | None,
    settings: Settings,
) -> None:
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(transport.close)

        async def open_hub(agent: SpliceAgent) -> Hub:
            journal = await open_journal(journal_address)
            stack.push_async_callback(journal.close)
            return await Hub(
                agent, journal, target=target, policy=policy, settings=msgspec.structs.replace(settings)
            ).__aenter__()

        splice = Splice(load(), transport, open_hub, has_policy=policy is not None)
        serving = asyncio.current_task()
        assert serving is not None
        for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(name, serving.cancel)
        reading = asyncio.create_task(transport.run(splice.receive))
        failure: TrunklineError | None = None
        try:
            with contextlib.suppress(asyncio.CancelledError):
                failure = await _run(splice, reading)
        finally:
            reading.cancel()
            await splice.close()
            end_descendants()
        if failure is not None:
            raise failure


async def _run(splice: Splice, reading: asyncio.Task[None]) -> TrunklineError | None:
    """Serve until the editor or the agent ends; gives why the agent could not go on."""
    try:
        await splice.start()
    except TrunklineError as error:
        await splice.refuse_all(str(error))
        return error
    opening = splice.hub_opening
    assert opening is not None
    opening.add_done_callback(_report)
    ended = asyncio.create_task(splice.ended.wait())
    try:
        await asyncio.wait({reading, ended}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        ended.cancel()
    if splice.ended.is_set():
        return AgentExited(splice.why_gone())
    reading.result()
    splice.receive_eof()
    return None


def _report(opening: asyncio.Task[Hub]) -> None:
    """Say that nothing will be journalled, as soon as it is known."""
    if not opening.cancelled() and (error := opening.exception()) is not None:
        log.error("nothing is journalled: the journal cannot be opened: %s", error)
