"""The editor's own files and terminals, behind the same methods as the sandboxed ones.

An editor shows unsaved buffers and draws terminals itself, so where it offers them they are used.
Every rule of ours still holds and is checked before the editor is asked: folders, links, protected
files, limits, and the variables of a command. The editor then opens the path by its name, so a link
that is made between the check and the opening is for the editor to refuse.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable, Generator, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from trunkline.errors import NoSuchFile, WorkspaceError
from trunkline.protocols.acp import wire
from trunkline.protocols.acp.lossless import decode
from trunkline.protocols.jsonrpc.messages import RESOURCE_NOT_FOUND, RpcError
from trunkline.workspace import Exit, Files, TerminalOutputView
from trunkline.workspace.files import check_lines
from trunkline.workspace.guard import AccessGuard
from trunkline.workspace.launch_checks import Launch, LaunchChecks

_RELEASE_WITHIN = 1.0


class Requests(Protocol):
    """Asks an editor."""

    async def request(self, method: str, params: Any, /) -> Any:
        """Send a request and give its answer."""
        ...

    @property
    def closed(self) -> bool:
        """Whether nothing can be asked any more."""
        ...

    @property
    def input_closed(self) -> bool:
        """Whether the editor will answer nothing any more."""
        ...


class EditorFiles(Files):
    """Files that an editor reads and writes; what it does not offer goes to the sandbox."""

    def __init__(
        self, roots: Sequence[str], connection: Requests, session_id: str, offers: wire.FileSystemCapabilities
    ) -> None:
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
        check_lines(line, limit)
        await self.check_access("read", path)
        absolute, _ = await asyncio.to_thread(self.vet, path, change=False)
        params: dict[str, Any] = {"sessionId": self._session_id, "path": absolute}
        if line is not None:
            params["line"] = line
        if limit is not None:
            params["limit"] = limit
        with _explained(f"read {os.fspath(path)!r}"):
            result = await self._connection.request("fs/read_text_file", params)
            content = decode(wire.ReadTextFileResponse, result).content
        self.encoded(path, content)
        return content

    async def write(self, path: str | os.PathLike[str], text: str) -> None:
        """Write through the editor, which shows the change."""
        absolute, found = None, None
        if self._offers.write_text_file:
            self.encoded(path, text)
            await self.check_access("edit", path, text)
            absolute, found = await asyncio.to_thread(self.vet, path, change=True)
        # An editor writes into the file, and so into all its names. We replace the one that was meant.
        if absolute is None or (found is not None and found.st_nlink > 1):
            await super().write(path, text)
            return
        params = {"sessionId": self._session_id, "path": absolute, "content": text}
        with _explained(f"write {os.fspath(path)!r}"):
            await self._connection.request("fs/write_text_file", params)


class EditorTerminals:
    """Terminals that an editor runs and draws.

    "The Agent MUST release the terminal using terminal/release when it's no longer needed."
    (https://agentclientprotocol.com/protocol/v1/terminals)
    """

    def __init__(self, connection: Requests, session_id: str) -> None:
        """Ask this connection for the terminals of one session, after ``move`` has set where they may run."""
        self._launches = LaunchChecks(())
        self._connection = connection
        self._session_id = session_id
        self.ids: set[str] = set()
        """The terminals the editor knows."""
        self._running: dict[str, EditorTerminal] = {}
        self._starting = 0
        self.guard: AccessGuard | None = None

    def move(self, roots: Sequence[str]) -> None:
        """Run commands in these folders from now on."""
        self._launches = LaunchChecks(roots)

    async def create(
        self,
        argv: Sequence[str],
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        output_byte_limit: int | None = None,
    ) -> EditorTerminal:
        """Start a command in the editor."""
        launch = self._launches.judge(argv, cwd, env, output_byte_limit, opened=self._opened)
        return await self._launch(launch, {"command": launch.argv[0], "args": list(launch.argv[1:])})

    async def create_line(
        self,
        line: str,
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        output_byte_limit: int | None = None,
    ) -> EditorTerminal:
        """Give the editor a line as it is: which shell reads it is for the editor to say."""
        launch = self._launches.judge_line(line, cwd, env, output_byte_limit, opened=self._opened)
        return await self._launch(launch, {"command": line})

    @property
    def _opened(self) -> int:
        return len(self._running) + self._starting

    async def _launch(self, launch: Launch, command: dict[str, Any]) -> EditorTerminal:
        if self.guard is not None:
            await self.guard.check_command(launch.command, launch.env, launch.place.path)
        await asyncio.to_thread(self._launches.check_folder, launch.place)
        params: dict[str, Any] = {
            "sessionId": self._session_id,
            **command,
            "env": [{"name": name, "value": value} for name, value in launch.env.items()],
            "cwd": launch.place.path,
            "outputByteLimit": launch.output_byte_limit,
        }
        self._starting += 1
        try:
            with _explained(f"run {command['command']!r}"):
                result = await self._connection.request("terminal/create", params)
                made = decode(wire.CreateTerminalResponse, result)
        finally:
            self._starting -= 1
        self.ids.add(made.terminal_id)
        terminal = EditorTerminal(self._connection, self._session_id, made.terminal_id, self._discard)
        self._running[made.terminal_id] = terminal
        return terminal

    def _discard(self, terminal_id: str) -> None:
        self._running.pop(terminal_id, None)

    async def close(self) -> None:
        """Release every terminal, also in the editor, which may take a moment but not for ever."""
        running, self._running = self._running, {}
        if running and not self._connection.closed and not self._connection.input_closed:
            releases = [asyncio.ensure_future(terminal.release()) for terminal in running.values()]
            await asyncio.wait(releases, timeout=_RELEASE_WITHIN)
            for release in releases:
                release.cancel()
            await asyncio.gather(*releases, return_exceptions=True)


class EditorTerminal:
    """One terminal of the editor's."""

    def __init__(
        self, connection: Requests, session_id: str, terminal_id: str, discard: Callable[[str], None]
    ) -> None:
        self._discard = discard
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
            self._discard(self.terminal_id)
            with _explained("release a terminal"):
                await self._connection.request("terminal/release", self._params)


@contextlib.contextmanager
def _explained(what: str) -> Generator[None]:
    """Give an editor's error the form that the sandbox's own have."""
    try:
        yield
    except RpcError as error:
        kind = NoSuchFile if error.rpc_code == RESOURCE_NOT_FOUND else WorkspaceError
        raise kind(f"the editor could not {what}: {error}") from None
    except msgspec.ValidationError as error:
        raise WorkspaceError(f"the editor was asked to {what} and its answer is not ACP: {error}") from None
