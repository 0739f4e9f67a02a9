"""Terminals: commands run as argv inside a session's folders, with bounded output and a sure end.

Above are agents and the endpoints that act for them; below is one ``Terminal`` per command. Whether a command
may run at all is for the ``guard`` to say, which asks the session's policy.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Self

from trunkline.errors import WorkspaceError
from trunkline.transports.process.environment import DEFAULT_ENV_ALLOW, scrub
from trunkline.transports.process.secrets import forbid_inspection
from trunkline.workspace.guard import AccessGuard
from trunkline.workspace.launch_checks import MAX_TERMINALS, OUTPUT_BYTE_LIMIT, Launch, LaunchChecks
from trunkline.workspace.path_errors import explained
from trunkline.workspace.roots import Place, StrPath
from trunkline.workspace.terminal import Terminal


class Terminals:
    """The terminals of a session."""

    def __init__(
        self,
        roots: Iterable[StrPath],
        *,
        max_terminals: int = MAX_TERMINALS,
        output_byte_limit: int = OUTPUT_BYTE_LIMIT,
        environ: Mapping[str, str] | None = None,
        ids: Callable[[], str] = lambda: f"term_{secrets.token_hex(12)}",
    ) -> None:
        """Bind to folders that exist.

        ``output_byte_limit`` is the most that any terminal keeps; ``environ`` is what commands may get
        variables from (this process's own, unless given).
        """
        self._launches = LaunchChecks(roots, max_terminals=max_terminals, output_byte_limit=output_byte_limit)
        self._environ = os.environ if environ is None else environ
        self._ids = ids
        self._open: dict[str, Terminal] = {}
        self._starting: set[asyncio.Task[None]] = set()
        self._closed = False
        self.guard: AccessGuard | None = None
        """What decides whether a command may start; None for terminals without a session."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def create(
        self,
        argv: Sequence[str],
        *,
        cwd: StrPath | None = None,
        env: Mapping[str, str] | None = None,
        output_byte_limit: int | None = None,
    ) -> Terminal:
        """Start a command and give its terminal, which must be released."""
        return await self._launch(
            lambda: self._launches.judge(argv, cwd, env, output_byte_limit, opened=len(self._open))
        )

    async def create_line(
        self,
        line: str,
        *,
        cwd: StrPath | None = None,
        env: Mapping[str, str] | None = None,
        output_byte_limit: int | None = None,
    ) -> Terminal:
        """Start ``/bin/sh -c LINE`` and give its terminal, which must be released. The policy judges it.

        For agents that give commands as lines. Use ``create`` where the words are known.
        """
        return await self._launch(
            lambda: self._launches.judge_line(line, cwd, env, output_byte_limit, opened=len(self._open))
        )

    async def _launch(self, judge: Callable[[], Launch]) -> Terminal:
        if self._closed:
            raise WorkspaceError("the session is closing: no terminal can be started any more")
        launch = judge()
        if self.guard is not None:
            await self.guard.check_command(launch.command, launch.env, launch.place.path)
            # Others may have been started meanwhile.
            launch = judge()
        terminal = Terminal(self._ids(), launch.output_byte_limit, self._discard)
        environment = scrub(self._environ, DEFAULT_ENV_ALLOW) | launch.env | {"PWD": launch.place.path}
        self._open[terminal.terminal_id] = terminal
        starting = asyncio.create_task(self._start(terminal, launch.argv, launch.place, environment))
        self._starting.add(starting)
        starting.add_done_callback(self._starting.discard)
        try:
            await asyncio.shield(starting)
        except asyncio.CancelledError:
            # Half a start cannot be undone, so it is let through and then ended.
            await asyncio.wait([starting])
            await terminal.release()
            raise
        return terminal

    def get(self, terminal_id: str) -> Terminal:
        """Look an open terminal up."""
        try:
            return self._open[terminal_id]
        except KeyError:
            raise WorkspaceError(
                f"there is no terminal {terminal_id[:80]!r}: it was released or never made"
            ) from None

    async def close(self) -> None:
        """Release every terminal; none can be made afterwards."""
        self._closed = True
        if self._starting:
            await asyncio.wait(self._starting)
        await asyncio.gather(*(terminal.release() for terminal in list(self._open.values())))

    async def _start(
        self, terminal: Terminal, argv: Sequence[str], place: Place, env: Mapping[str, str]
    ) -> None:
        forbid_inspection()
        try:
            with explained(place.path), self._launches.roots.enter(place) as folder:
                await terminal.start(argv, folder, place.path, env)
        except BaseException:
            self._discard(terminal)
            raise

    def _discard(self, terminal: Terminal) -> None:
        self._open.pop(terminal.terminal_id, None)
