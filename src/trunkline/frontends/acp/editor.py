"""The editor's own files and terminals, behind the same methods as the sandboxed ones.

An editor shows unsaved buffers and draws terminals itself, so where it offers them they are used.
The policy and the session's roots still hold: a path is checked before the editor is asked.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Generator, Mapping, Sequence
from typing import Any

import msgspec

from trunkline.errors import WorkspaceError
from trunkline.frontends.acp import wire
from trunkline.frontends.acp.connection import Connection
from trunkline.frontends.acp.lossless import decode
from trunkline.jsonrpc import RpcError
from trunkline.workspace import Exit, Files, TerminalOutputView

__all__ = ["EditorFiles", "EditorTerminal", "EditorTerminals"]

_RELEASE_WITHIN = 1.0


class EditorFiles(Files):
    """Files that an editor reads and writes; what it does not offer goes to the sandbox."""

    def __init__(
        self,
        roots: Sequence[str],
        connection: Connection,
        session_id: str,
        offers: wire.FileSystemCapabilities,
    ) -> None:
        """Ask this connection for the files of one session."""
        super().__init__(roots)
        self._connection = connection
        self._session_id = session_id
        self._offers = offers

    async def read(
        self, path: str | os.PathLike[str], *, line: int | None = None, limit: int | None = None
    ) -> str:
        """Read text as the editor shows it, unsaved changes included."""
        if not self._offers.read_text_file:
            return await super().read(path, line=line, limit=limit)
        params: dict[str, Any] = {"sessionId": self._session_id, "path": self.resolve(path)}
        if line is not None:
            params["line"] = line
        if limit is not None:
            params["limit"] = limit
        with _explained(f"read {os.fspath(path)!r}"):
            result = await self._connection.request("fs/read_text_file", params)
            return decode(wire.ReadTextFileResponse, result).content

    async def write(self, path: str | os.PathLike[str], text: str) -> None:
        """Write through the editor, which shows the change."""
        if not self._offers.write_text_file:
            await super().write(path, text)
            return
        self._changeable(path)
        params = {"sessionId": self._session_id, "path": self.resolve(path), "content": text}
        with _explained(f"write {os.fspath(path)!r}"):
            await self._connection.request("fs/write_text_file", params)


class EditorTerminals:
    """Terminals that an editor runs and draws."""

    def __init__(self, connection: Connection, session_id: str) -> None:
        """Ask this connection for the terminals of one session."""
        self._connection = connection
        self._session_id = session_id
        self.ids: set[str] = set()
        """The terminals the editor knows."""
        self._running: dict[str, EditorTerminal] = {}

    async def create(
        self,
        argv: Sequence[str],
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        output_byte_limit: int | None = None,
    ) -> EditorTerminal:
        """Start a command in the editor."""
        if isinstance(argv, str) or not argv:
            raise WorkspaceError("give the command as a list of words, as in ['git', 'status']")
        params: dict[str, Any] = {
            "sessionId": self._session_id,
            "command": argv[0],
            "args": list(argv[1:]),
            "env": [{"name": name, "value": value} for name, value in (env or {}).items()],
        }
        if cwd is not None:
            params["cwd"] = os.fspath(cwd)
        if output_byte_limit is not None:
            params["outputByteLimit"] = output_byte_limit
        with _explained(f"run {argv[0]!r}"):
            result = await self._connection.request("terminal/create", params)
            made = decode(wire.CreateTerminalResponse, result)
        self.ids.add(made.terminal_id)
        terminal = EditorTerminal(self._connection, self._session_id, made.terminal_id)
        self._running[made.terminal_id] = terminal
        return terminal

    async def close(self) -> None:
        """Release every terminal, also in the editor, which may take a moment but not for ever."""
        running, self._running = self._running, {}
        if running and not self._connection.closed and not self._connection.deaf:
            releases = [asyncio.ensure_future(terminal.release()) for terminal in running.values()]
            await asyncio.wait(releases, timeout=_RELEASE_WITHIN)
            for release in releases:
                release.cancel()
            await asyncio.gather(*releases, return_exceptions=True)


class EditorTerminal:
    """One terminal of the editor's."""

    def __init__(self, connection: Connection, session_id: str, terminal_id: str) -> None:
        """Speak of one terminal."""
        self.terminal_id = terminal_id
        self._connection = connection
        self._params = {"sessionId": session_id, "terminalId": terminal_id}
        self._released = False
        self._last = TerminalOutputView("", False, None, None)

    def output(self) -> TerminalOutputView:
        """The output as it was when it was last looked at."""
        return self._last

    async def look(self) -> TerminalOutputView:
        """Ask for the output as it stands."""
        with _explained("show a terminal's output"):
            result = await self._connection.request("terminal/output", self._params)
            got = decode(wire.TerminalOutputResponse, result)
        status = got.exit_status
        code, signal = (None, None) if status is None else (status.exit_code, status.signal)
        self._last = TerminalOutputView(got.output, got.truncated, code, signal)
        return self._last

    async def wait(self) -> Exit:
        """Wait for the command to end; afterwards ``output`` is complete."""
        with _explained("wait for a terminal"):
            result = await self._connection.request("terminal/wait_for_exit", self._params)
            got = decode(wire.WaitForTerminalExitResponse, result)
        await self.look()
        return Exit(got.exit_code, got.signal)

    async def stream(self) -> AsyncIterator[str]:
        """Give the output once the command ended: the editor draws it live by itself."""
        await self.wait()
        yield self._last.text

    async def kill(self) -> None:
        """Stop the command; its output stays."""
        with _explained("stop a terminal"):
            await self._connection.request("terminal/kill", self._params)

    async def release(self) -> None:
        """Stop the command and forget the terminal; idempotent."""
        if not self._released:
            self._released = True
            with _explained("release a terminal"):
                await self._connection.request("terminal/release", self._params)


@contextlib.contextmanager
def _explained(what: str) -> Generator[None]:
    """Give an editor's error the form that the sandbox's own have."""
    try:
        yield
    except RpcError as error:
        raise WorkspaceError(f"the editor could not {what}: {error}") from None
    except msgspec.ValidationError as error:
        raise WorkspaceError(f"the editor was asked to {what} and its answer is not ACP: {error}") from None
