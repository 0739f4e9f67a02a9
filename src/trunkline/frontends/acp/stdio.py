"""Serving ACP on standard input and output, from a TARGET or from an agent in hand."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from trunkline.errors import TargetError, TrunklineError
from trunkline.frontends.acp.card_cache import CardCache
from trunkline.frontends.acp.lazy_endpoint import LazyEndpoint
from trunkline.protocols.jsonrpc.connection import Connection
from trunkline.transports.process.own_exit_processes import end_descendants
from trunkline.transports.process.own_exit_threads import run_async
from trunkline.transports.stdio import StdioTransport

if TYPE_CHECKING:
    from trunkline.agents.interface import Agent
    from trunkline.session.hub import Hub
    from trunkline.workspace.policy import Policy

__all__ = ["serve_acp", "serve_target"]

Load: TypeAlias = "Callable[[], tuple[str, Agent]]"
"""Gives the agent of a TARGET, and the whole TARGET: that of a file may leave the agent's name out."""


def serve_acp(
    agent: Any,
    *,
    name: str | None = None,
    journal: str | None = None,
    target: str = "",
    policy: Policy | str | os.PathLike[str] | None = None,
) -> None:
    """Serve an agent, or anything adapt() knows, to the editor that started this process.

    ``policy`` is a Policy, the name of a ready one, or a file. Returns when the editor closes our input.
    """
    from trunkline.agents.adapt import adapt
    from trunkline.workspace.policy import read_policy

    _check_journal(journal)
    rules = read_policy(policy)
    adapted = adapt(agent, name=name)
    transport = StdioTransport.claim()
    name = target or adapted.card.name
    run_async(_serve(transport, lambda: (name, adapted), journal, name, None, rules))


def serve_target(
    target: str, load: Load, *, journal: str | None = None, policy: Policy | None = None
) -> None:
    """Serve the agent of a TARGET; ``load`` imports it once ``initialize`` has been answered."""
    _check_journal(journal)
    transport = StdioTransport.claim()
    run_async(_serve(transport, load, journal, target, CardCache(target), policy))


def _check_journal(address: str | None) -> None:
    """Refuse a wrong address before an editor is greeted; our own default needs no check."""
    if address or "TRUNKLINE_JOURNAL" in os.environ:
        from trunkline.journal.address import parse_address

        parse_address(address)


async def _serve(
    transport: StdioTransport,
    load: Load,
    journal_url: str | None,
    target: str,
    cache: CardCache | None,
    policy: Policy | None,
) -> None:
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(transport.close)
        connection = Connection(transport)
        lazy_hub = _LazyHub(stack, load, journal_url, target, policy)
        endpoint = connection.handler = LazyEndpoint(connection, lazy_hub.open, cache, local=True)
        serving = asyncio.current_task()
        if serving is not None:
            for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                asyncio.get_running_loop().add_signal_handler(name, serving.cancel)
        with contextlib.suppress(asyncio.CancelledError):
            await transport.run(connection.receive)
            connection.receive_eof()
        connection.input_closed = True
        # Turns are cancelled first, so that their prompts are answered before the connection is closed.
        await endpoint.close()
        await lazy_hub.close()
        await connection.close("the editor closed the connection")
        end_descendants()


class _LazyHub:
    """Opens the agent, its journal and its hub once, when they are first needed."""

    def __init__(
        self,
        stack: contextlib.AsyncExitStack,
        load: Load,
        journal_url: str | None,
        target: str,
        policy: Policy | None,
    ) -> None:
        self._stack = stack
        self._load = load
        self._journal_url = journal_url
        self._target = target
        self._policy = policy
        self._hub: Hub | None = None

    async def open(self) -> Hub:
        if self._hub is None:
            from trunkline.journal import open_journal
            from trunkline.session.hub import Hub
            from trunkline.target_names import normalize_target

            target, agent = self._loaded()
            journal = await open_journal(self._journal_url)
            self._stack.push_async_callback(journal.close)
            target = normalize_target(target)
            self._hub = await Hub(agent, journal, target=target, policy=self._policy).__aenter__()
        return self._hub

    def _loaded(self) -> tuple[str, Agent]:
        try:
            return self._load()
        except TrunklineError:
            raise
        except BaseException as error:
            # Also an exit that the agent's module calls: the client learns why no session can be opened.
            raise TargetError(f"{self._target} cannot be loaded: {type(error).__name__}: {error}") from error

    async def close(self) -> None:
        if self._hub is not None:
            await self._hub.close()
