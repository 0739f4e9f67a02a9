"""Answers ``terminal/*`` by the session's terminals: the editor's own where it offers them, else local ones.

What a terminal prints during a turn is stored in the journal, up to a limit, so that every front end and
every later reader sees it where a tool call shows the terminal.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any, NamedTuple, cast

from trunkline.agents.acp.requests.permission_requests import CallDecoder
from trunkline.agents.acp.requests.request_params import check_absolute, read_params
from trunkline.agents.acp.requests.request_turn import RequestTurn
from trunkline.errors import WorkspaceError
from trunkline.protocols.acp import wire
from trunkline.protocols.jsonrpc.connection import error_with_details
from trunkline.protocols.jsonrpc.messages import INVALID_PARAMS, RESOURCE_NOT_FOUND
from trunkline.workspace.patterns import split_command
from trunkline.workspace.terminal import TerminalOutputView
from trunkline.workspace.terminal_access import TerminalAccess

STORED_OUTPUT = 1024 * 1024
"""How many characters of one terminal's output are stored."""
_STORED_WITHIN = 1.0


class _Owned(NamedTuple):
    terminal: TerminalAccess
    storing: asyncio.Task[None]


class TerminalRequests:
    """Runs the commands of one session's agent; another session's terminals are not known here."""

    def __init__(self, scope: RequestTurn, decoder: CallDecoder) -> None:
        self._scope = scope
        self._decoder = decoder
        self._owned: dict[str, _Owned] = {}
        self._closed = False

    @property
    def has_running_command(self) -> bool:
        """Whether a command runs that the agent has started and not released."""
        return any(not owned.storing.done() for owned in self._owned.values())

    async def create(self, params: Any) -> dict[str, Any]:
        """Start a command; one without arguments may be a whole line for a shell."""
        wanted = read_params(wire.CreateTerminalRequest, params)
        if wanted.cwd is not None:
            check_absolute("cwd", wanted.cwd)
        if not wanted.command.strip():
            raise error_with_details(INVALID_PARAMS, "invalid params: command must not be empty")
        self._scope.check_not_cancelled()
        terminals = self._scope.view.terminals
        env = {variable.name: variable.value for variable in wanted.env}
        if wanted.args or is_program(wanted.command):
            terminal = await terminals.create(
                (wanted.command, *wanted.args),
                cwd=wanted.cwd,
                env=env,
                output_byte_limit=wanted.output_byte_limit,
            )
        else:
            # "terminal/create" has a command and its args; claude-code-acp sends `a > b && c` as the command.
            terminal = await terminals.create_line(
                wanted.command, cwd=wanted.cwd, env=env, output_byte_limit=wanted.output_byte_limit
            )
        if self._closed:
            await terminal.release()
            raise WorkspaceError("the session is closing: no terminal can be started any more")
        self._owned[terminal.terminal_id] = _Owned(terminal, asyncio.create_task(self._store(terminal)))
        return {"terminalId": terminal.terminal_id}

    async def output(self, params: Any) -> dict[str, Any]:
        """Give the output as it stands now, and the exit if there is one."""
        owned = self._find(params)
        seen = await owned.terminal.look()
        answer: dict[str, Any] = {"output": seen.text, "truncated": seen.truncated}
        if _has_ended(seen):
            answer["exitStatus"] = _exit(seen.exit_code, seen.signal)
            await self._stored(owned)
        return answer

    async def wait_for_exit(self, params: Any) -> dict[str, Any]:
        """Wait for the command to end."""
        owned = self._find(params)
        ended = await owned.terminal.wait()
        await self._stored(owned)
        return _exit(*ended)

    async def kill(self, params: Any) -> dict[str, Any]:
        """End the command; the terminal stays until it is released."""
        await self._find(params).terminal.kill()
        return {}

    async def release(self, params: Any) -> dict[str, Any]:
        """End the command if it runs, and forget the terminal."""
        owned = self._find(params)
        del self._owned[owned.terminal.terminal_id]
        await self._end(owned)
        return {}

    async def close(self) -> None:
        """Release every terminal."""
        self._closed = True
        owned, self._owned = list(self._owned.values()), {}
        await asyncio.gather(*map(self._end, owned))

    async def _end(self, owned: _Owned) -> None:
        try:
            await owned.terminal.release()
            await self._stored(owned)
        except WorkspaceError:
            pass  # An editor that is gone has released it.
        finally:
            owned.storing.cancel()
            await asyncio.wait({owned.storing})

    def _find(self, params: Any) -> _Owned:
        terminal_id = read_params(wire.TerminalOutputRequest, params).terminal_id
        owned = self._owned.get(terminal_id)
        if owned is None:
            raise error_with_details(
                RESOURCE_NOT_FOUND,
                f"Resource not found: there is no terminal {terminal_id[:80]!r} in this session; it was "
                "released or never made",
            )
        return owned

    # -- the journal -------------------------------------------------------------------------------

    async def _store(self, terminal: TerminalAccess) -> None:
        """Emit the output in the turns that it is printed in."""
        stored = 0
        try:
            async for piece in terminal.stream():
                room = STORED_OUTPUT - stored
                stored += len(piece)
                if room > 0:
                    cut = "" if len(piece) <= room else "\n[... more output is not stored ...]\n"
                    await self._emit(terminal.terminal_id, piece[:room] + cut)
            seen = terminal.output()
        except WorkspaceError:
            return  # The editor is gone, or has forgotten the terminal.
        await self._emit(terminal.terminal_id, "", _exit(seen.exit_code, seen.signal))

    async def _emit(self, terminal_id: str, data: str, exit_status: dict[str, Any] | None = None) -> None:
        turn = self._scope.turn
        if turn is None:
            return
        for event in self._decoder.terminal(terminal_id, data, exit_status):
            turn.emit(cast("Any", event))
        await turn.ready()

    async def _stored(self, owned: _Owned) -> None:
        """Wait until the output of a command that ended is stored, so that no turn ends before it."""
        await asyncio.wait({owned.storing}, timeout=_STORED_WITHIN)


def is_program(command: str) -> bool:
    """Whether a command without arguments names a program and is no line for a shell."""
    return split_command(command) == (command,) or (
        os.path.isabs(command) and os.path.isfile(command) and os.access(command, os.X_OK)
    )


def _has_ended(seen: TerminalOutputView) -> bool:
    return seen.exit_code is not None or seen.signal is not None


def _exit(code: int | None, signal: str | None) -> dict[str, Any]:
    return {"exitCode": code, "signal": signal}
