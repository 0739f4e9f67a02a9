"""The session as its agent sees it: folders, options, shared state, files and terminals."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from trunkline import events as ev
from trunkline.errors import AgentProtocolError, SessionClosed
from trunkline.json_patch import PatchError, apply_patch, copy_json, same_json
from trunkline.options import ConfigOption

if TYPE_CHECKING:
    from trunkline.workspace import Files
    from trunkline.workspace.guard import AccessGuard
    from trunkline.workspace.terminal_access import TerminalsAccess

Run = Callable[[Any], AsyncIterator[Any]]
"""A turn without a prompt: is given its TurnContext, and yields what ``Agent.run`` may yield."""

_ESCAPED = re.compile("%(?=25|2F)")


class SessionView:
    """What an agent sees of its session."""

    def __init__(
        self,
        *,
        session_id: str,
        principal: str = "local",
        cwd: str | None = None,
        roots: Sequence[str] = (),
        mcp_servers: Sequence[dict[str, Any]] = (),
        client: dict[str, Any] | None = None,
        meta: dict[str, Any] | None = None,
        kept: dict[str, Any] | None = None,
    ) -> None:
        """Describe a session; ``roots`` are folders besides the working folder."""
        self.session_id = session_id
        self.principal = principal
        self.cwd = cwd
        self.roots = tuple(roots)
        self._mcp_servers = tuple(mcp_servers)
        self._servers_read = False
        self.client = client or {}
        self.meta = meta or {}
        """What the client sent when it made the session; not to be trusted."""
        self.kept = kept or {}
        """What the agent keeps with the session (``keep``), also from an earlier process."""
        self.options: tuple[ConfigOption, ...] = ()
        """The agent's options in this session; every follower gets what ``open_session`` sets."""
        self.commands: tuple[ev.CommandInfo, ...] = ()
        """The agent's slash commands in this session, likewise."""
        self._emit: Callable[[ev.Event], None] | None = None
        self._begin_turn: Callable[[Run, bool], Awaitable[str]] | None = None
        self._keep: Callable[[str, Any], Awaitable[None]] | None = None
        self._keep_limit = 0
        self._state: Any = None
        self.memory: dict[Any, Any] = {}
        """The agent's own things; they live as long as the session in this process."""
        self.guard: AccessGuard | None = None
        """What decides about accesses to the files and terminals; None for a view without a session."""
        self.asks_before_access = False
        """Whether a policy that asks by default asks before accesses too: for agents in other processes."""
        self._files: Files | None = None
        self._terminals: TerminalsAccess | None = None
        self._retired: list[TerminalsAccess] = []

    @property
    def thread_id(self) -> str:
        """The session's name where one text must say whose it is too: a LangGraph thread, a remote thread.

        It is the session's id for the local user, and ``PRINCIPAL/ID`` for anyone else. Two sessions never
        have the same one: a slash in an id of the local user or in a principal is written ``%2F``.
        """
        if self.principal == "local":
            return _without_slash(self.session_id)
        return f"{_without_slash(self.principal)}/{self.session_id}"

    @property
    def mcp_servers(self) -> tuple[dict[str, Any], ...]:
        """The MCP servers that the client wants its agent to use."""
        self._servers_read = True
        return self._mcp_servers

    @property
    def unread_servers(self) -> list[str]:
        """The names of the client's MCP servers, as long as the agent has not looked at them."""
        return [] if self._servers_read else [str(one.get("name") or "?") for one in self._mcp_servers]

    @property
    def config(self) -> dict[str, str | bool]:
        """The options' present values by id."""
        return {option.option_id: option.value for option in self.options}

    @property
    def mode(self) -> str | None:
        """The present mode, if the agent has modes."""
        found = (option.value for option in self.options if option.category == "mode")
        return str(next(found, "")) or None

    @property
    def state(self) -> Any:
        """The shared state, as a copy: what is done to it changes nothing."""
        return copy_json(self._state)

    def patched(self, patch: Sequence[dict[str, Any]]) -> Any:
        """Give the shared state after a JSON Patch; one that does not fit raises PatchError."""
        return apply_patch(self._state, patch)

    def replace_state(self, state: Any) -> None:
        """Take another shared state; the caller must not change it from now on."""
        self._state = state

    def take_state(self, state: Any) -> bool:
        """Take the state that a client sent, if it sent one; False when it is the one we have.

        A client written in JavaScript sends 1 for 1.0, which is no change.
        """
        if state is None or same_json(state, self._state, numeric=True):
            return False
        self._state = copy_json(state)
        return True

    def connect(
        self,
        emit: Callable[[ev.Event], None],
        begin_turn: Callable[[Run, bool], Awaitable[str]],
        keep: Callable[[str, Any], Awaitable[None]],
        keep_limit: int,
    ) -> None:
        """Let the agent reach its open session through this view."""
        self._emit, self._begin_turn, self._keep, self._keep_limit = emit, begin_turn, keep, keep_limit

    def disconnect(self) -> None:
        """Refuse events and turns from now on: the session is closed in this process."""
        self._emit = self._begin_turn = None

    async def keep(self, name: str, value: Any) -> None:
        """Store a JSON value with the session, for this agent in every process; None removes it.

        It is in ``kept`` when the session is opened, forked or deleted later. All values together may have
        ``Settings.keep_limit`` bytes.
        """
        if self._keep is None:
            raise SessionClosed(f"the session {self.session_id!r} is not open here: nothing can be kept")
        kept = {key: one for key, one in self.kept.items() if key != name}
        if value is not None:
            value = kept[name] = _plain_json(name, value)
        size = len(_json(kept))
        if size > self._keep_limit:
            raise AgentProtocolError(
                f"{name!r} cannot be kept: the session would hold {size} bytes of kept values, and the limit "
                f"is {self._keep_limit}; keep less, or raise Settings.keep_limit"
            )
        await self._keep(name, value)
        self.kept = kept

    def emit(self, event: ev.Event) -> None:
        """Emit an event of the session at any time, in a turn or out of one. Safe from any thread.

        These are ConfigChanged, CommandsChanged, InfoChanged, ContextUsage, Notice, Custom and Raw.
        """
        if self._emit is None:
            raise SessionClosed(f"the session {self.session_id!r} is not open here: it has no followers")
        self._emit(event)

    async def begin_turn(self, run: Run, *, wait: bool = True) -> str:
        """Begin a turn without a prompt, and give its id; ``run(ctx)`` is the turn, as ``Agent.run`` is.

        Waits until no other turn runs; with ``wait=False`` a busy session raises SessionBusy instead. A turn
        must not wait for this, in its own task or in another one: it would wait for its own end.
        """
        if self._begin_turn is None:
            raise SessionClosed(f"the session {self.session_id!r} is not open here: it has no turns")
        return await self._begin_turn(run, wait)

    def apply(self, event: ev.Event) -> None:
        """Take what an event changes: the options, the commands and the shared state."""
        if isinstance(event, ev.ConfigChanged):
            self.options = event.options
        elif isinstance(event, ev.CommandsChanged):
            self.commands = event.commands
        elif isinstance(event, ev.StateReplaced):
            self.replace_state(event.state)
        elif isinstance(event, ev.StatePatched):
            with contextlib.suppress(PatchError):
                self.replace_state(self.patched(event.patch))

    @property
    def folders(self) -> tuple[str, ...]:
        """The working folder and the roots."""
        return ((self.cwd,) if self.cwd else ()) + self.roots

    @property
    def files(self) -> Files:
        """The editor's files when it offers them, else the sandboxed workspace."""
        if self._files is None:
            from trunkline.workspace import Files

            self._files = Files(self.folders)
        self._files.guard = self.guard
        return self._files

    @files.setter
    def files(self, files: Files) -> None:
        self._files = files

    @property
    def terminals(self) -> TerminalsAccess:
        """The editor's terminals when it offers them, else local ones."""
        if self._terminals is None:
            from trunkline.workspace import Terminals

            self._terminals = Terminals(self.folders)
        self._terminals.guard = self.guard
        return self._terminals

    @terminals.setter
    def terminals(self, terminals: TerminalsAccess) -> None:
        self._terminals = terminals

    def move(self, cwd: str | None, roots: Sequence[str], mcp_servers: Sequence[dict[str, Any]]) -> None:
        """Work in other folders and with other servers from now on."""
        self.cwd, self.roots, self._mcp_servers = cwd, tuple(roots), tuple(mcp_servers)
        self._servers_read = False
        self._files = None
        if self._terminals is not None:
            self._retired.append(self._terminals)
            self._terminals = None

    def discard_tools(self, tools: Files | TerminalsAccess) -> None:
        """Stop using the files or terminals of a client that is gone; the sandbox replaces them."""
        if self._files is tools:
            self._files = None
        if self._terminals is tools:
            self._terminals = None

    async def close(self) -> None:
        """Release what the session holds in this process."""
        for terminals in (*self._retired, self._terminals):
            if terminals is not None:
                await terminals.close()


def _json(value: Any) -> bytes:
    return json.dumps(value, allow_nan=False, ensure_ascii=False).encode()


def _plain_json(name: str, value: Any) -> Any:
    """Give a copy of a value; refuse one that the next process would not read as the same."""
    try:
        copy = json.loads(_json(value))
    except (TypeError, ValueError, RecursionError) as error:
        raise AgentProtocolError(f"{name!r} cannot be kept, as it is not JSON: {error}") from None
    if copy != value:
        raise AgentProtocolError(
            f"{name!r} cannot be kept: JSON has no tuples, and its keys are text; keep lists and such keys"
        )
    return copy


def _without_slash(text: str) -> str:
    """Give a text without slashes; two texts are never given as the same one."""
    # Only a % that could be taken for ours is written anew: other names stay what they always were.
    return _ESCAPED.sub("%25", text).replace("/", "%2F")
