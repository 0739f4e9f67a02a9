"""An ACP agent as an agent: Claude Code, Codex, Gemini CLI, or any other program that speaks ACP."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, cast

import msgspec

from trunkline.agents.acp.connection import HANDSHAKE_WITHIN, AgentConnection, command_line
from trunkline.agents.acp.errors import AgentCommandNotFound, translate_error
from trunkline.agents.acp.initialize import capability, card_of
from trunkline.agents.acp.native_session import KEPT, NativeSession
from trunkline.agents.acp.process_pool import AgentProcesses
from trunkline.agents.acp.requests.permission_requests import Permission, check_permission
from trunkline.agents.acp.session_list import list_sessions
from trunkline.agents.acp.session_prompts import SessionPrompts
from trunkline.agents.interface import AgentCard, AuthMethod, LoginCommand, OwnSession, Sayable, WireLines
from trunkline.commands import Prompt
from trunkline.conversation import Conversation
from trunkline.errors import AgentError, ConfigurationError, InvalidCommand, TrunklineError
from trunkline.options import ConfigOption
from trunkline.protocols.acp.profiles import Profile, profile_for, profile_named
from trunkline.protocols.acp.replay import replayed_conversation
from trunkline.protocols.jsonrpc.messages import RpcError
from trunkline.session.context import TurnContext
from trunkline.session.view import SessionView

log = logging.getLogger("trunkline.acp")

_LAUNCHERS = frozenset({"npx", "bunx", "uvx", "pipx", "node", "bun", "deno", "python", "sh", "bash", "env"})


class AcpSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How the sessions of an agent behave; times are in seconds."""

    permission: Any
    refeed: bool
    idle_close: float | None
    silent_after: float | None
    stop_silent_after: float | None
    session_within: float
    cancel_within: float
    close_within: float = 2.0


class AcpAgent:
    """Runs a program that speaks ACP as an agent."""

    def __init__(
        self,
        command: str,
        args: Sequence[str] = (),
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        env_allow: Sequence[str] = ("*",),
        session_meta: Mapping[str, Any] | None = None,
        session_options: Mapping[str, Any] | None = None,
        profile: Profile | str | None = None,
        permission: Permission = "ask",
        shared: bool = False,
        refeed: bool = True,
        idle_close: float | None = 1800.0,
        silent_after: float | None = 120.0,
        stop_silent_after: float | None = None,
        handshake_within: float = HANDSHAKE_WITHIN,
        session_within: float = 120.0,
        cancel_within: float = 3.0,
    ) -> None:
        """Use a command that speaks ACP on its stdin and stdout; it is started when it is needed.

        * ``cwd``: the folder of sessions whose client names none (ours), and of a shared process; any other
          process is started in the folder of its session
        * ``env``: variables to add; ``env_allow``: patterns of the variables of ours that it gets (all of
          them, but never those that begin with TRUNKLINE_)
        * ``session_meta``: the ``_meta`` of session/new; ``session_options``: options of the agent's own,
          which its profile puts in the right place
        * ``profile``: what the agent does beside the standard (found by its name or its command)
        * ``permission``: who answers what the policy leaves open: ``ask`` a person, ``allow``, ``refuse``, or
          a function
        * ``shared``: one process for all sessions, instead of one for each
        * ``refeed``: an agent that does not remember a conversation is sent it with the next prompt
        * ``idle_close``: seconds after which the process of a session ends that is unused and runs no command
          (None: never)
        * ``silent_after``: seconds without a word in a turn until a notice says so (None: never);
          ``stop_silent_after``: the same until the turn is stopped (None: never)
        """
        self.command_line = command_line(command, args)
        if cwd is not None and not os.path.isabs(cwd):
            raise ConfigurationError(f"cwd={os.fspath(cwd)!r} is not an absolute path")
        check_permission(permission)
        if isinstance(env_allow, str):
            raise ConfigurationError(f"env_allow={env_allow!r} is one text: give a list of patterns")
        self.cwd = os.path.abspath(cwd or os.getcwd())
        self.settings = AcpSettings(
            permission=permission,
            refeed=refeed,
            idle_close=idle_close,
            silent_after=silent_after,
            stop_silent_after=stop_silent_after,
            session_within=session_within,
            cancel_within=cancel_within,
        )
        _check_seconds(self.settings)
        self.forks: dict[str, tuple[AgentConnection, dict[str, Any]]] = {}
        """Sessions that were forked and are not opened yet: the process, and its answer."""
        self._given_profile = _named(profile) if isinstance(profile, str) else profile
        self.profile = self._given_profile or profile_for({}, self.command_line)
        self._env = dict(env or {})
        self._env_allow = tuple(env_allow)
        self._session_meta = dict(session_meta or {})
        self._session_options = dict(session_options or {})
        self._shared = shared
        self._handshake_within = handshake_within
        self._sessions: dict[str, SessionPrompts] = {}
        self._processes: AgentProcesses | None = None
        self.card = AgentCard(name=_name_of(self.command_line), foreign_words=True)

    @property
    def processes(self) -> AgentProcesses:
        """The processes of this agent in the event loop that runs."""
        if self._processes is None:
            idle = self.settings.idle_close
            self._processes = AgentProcesses(
                self._start, shared=self._shared, spare_idle=1800.0 if idle is None else idle
            )
        return self._processes

    async def _start(self, cwd: str | None = None) -> AgentConnection:
        profile = self.profile
        connection = AgentConnection(
            self.command_line[0],
            self.command_line[1:],
            cwd=cwd or self.cwd,
            env=self._env,
            env_allow=self._env_allow,
            fs=profile.files,
            client_meta=profile.client_meta,
            handshake_within=self._handshake_within,
        )
        await connection.start()
        self.take_initialize(connection.initialize)
        return connection

    def folder_for(self, cwd: str | None) -> str:
        """Give the folder in which to start the process of a session that works in ``cwd``.

        It is ours when that folder is not there, and for a command that names a file, a folder or a module
        of our folder (``python agent.py``, ``python -m module``, ``agent --config=settings.json``), which
        would not be found elsewhere.
        """
        is_bound = any(os.path.exists(os.path.join(self.cwd, path)) for path in self._relative_paths)
        return cwd if cwd is not None and not is_bound and os.path.isdir(cwd) else self.cwd

    @property
    def _relative_paths(self) -> list[str]:
        """What in the command may be a path that is relative to our folder."""
        paths = list(self.command_line)
        for before, word in pairwise(self.command_line):
            if word.startswith("-"):
                paths.append(word.partition("=")[2])
            elif before == "-m":
                module = word.replace(".", os.sep)
                paths += [module, f"{module}.py"]
        return [path for path in paths if path and not os.path.isabs(path) and not _is_dots(path)]

    def take_initialize(self, answer: Mapping[str, Any]) -> None:
        """Take the agent's answer to ``initialize``: its profile and its card."""
        self.profile = self._given_profile or profile_for(answer, self.command_line)
        self.card = card_of(answer, _name_of(self.command_line))

    def session_meta(self) -> dict[str, Any]:
        """The ``_meta`` of session/new."""
        if not self._session_options:
            return self._session_meta
        try:
            return {**self.profile.session_meta(self._session_options), **self._session_meta}
        except ValueError as error:
            raise ConfigurationError(f"session_options cannot be used: {error}") from None

    def explain(self, error: RpcError, what: str) -> AgentError:
        """Say what an error of the agent means."""
        return translate_error(error, what, self.card)

    # -- the agent's side --------------------------------------------------------------------------

    def check_command(self) -> None:
        """Raise if the agent's command is not on this machine."""
        command = self.command_line[0]
        if shutil.which(command) is None and not os.path.isfile(command):
            raise AgentCommandNotFound(command)

    async def prepare(self) -> None:
        """Do the handshake, so that the card is the agent's own; its process serves the first session."""
        await self.processes.prepare()

    async def close_agent(self) -> None:
        """End every process that is left."""
        for session in list(self._sessions.values()):
            await session.close()
        self._sessions.clear()
        if self._processes is not None:
            await self._processes.close()
            self._processes = None

    async def open_session(self, session: SessionView) -> None:
        """Open the session at the agent."""
        await self._session(session).open()

    async def close_session(self, session: SessionView) -> None:
        """End the session's process; the agent's memory of it stays."""
        opened = self._sessions.pop(session.thread_id, None)
        if opened is not None:
            await opened.close()

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[Sayable]:
        """Send a prompt to the agent; its updates are emitted as they come."""
        yield await self._session(ctx.session).run(prompt, ctx)

    async def set_config(
        self, session: SessionView, options: tuple[ConfigOption, ...]
    ) -> tuple[ConfigOption, ...] | None:
        """Set the agent's own options."""
        return await self._session(session).set_config(options)

    async def steer(self, session: SessionView, prompt: Prompt) -> bool:
        """Give a message to the turn that runs, if the agent offers that."""
        opened = self._sessions.get(session.thread_id)
        return opened is not None and await opened.steer(prompt)

    def wire_lines(self, session: SessionView) -> WireLines | None:
        """Give the newest lines of a session's process; a shared one has those of other sessions, too."""
        opened = self._sessions.get(session.thread_id)
        return opened.wire_lines() if opened is not None and not self._shared else None

    def _session(self, view: SessionView) -> SessionPrompts:
        opened = self._sessions.get(view.thread_id)
        if opened is None:
            opened = self._sessions[view.thread_id] = SessionPrompts(self, view)
        return opened

    # -- going back, forking, forgetting -----------------------------------------------------------

    async def rewind(self, session: SessionView, to_message_id: str | None) -> None:
        """Go back: ACP has no way to, so the next prompt begins a new session with the conversation."""
        self._check_refeed("go back")
        await self._session(session).begin_anew()

    async def fork(self, session: SessionView, origin: SessionView) -> None:
        """Copy a session at the agent, or let the copy begin with the conversation."""
        kept: Any = origin.kept.get(KEPT)
        copy = None
        if isinstance(kept, dict) and cast("dict[str, Any]", kept).get("session_id"):
            opened = self._session(origin)
            copy = await opened.fork()
        if copy is None:
            self._check_refeed("fork")
        await session.keep(KEPT, {"session_id": copy, **({} if copy is not None else {"refeed": True})})

    def _check_refeed(self, what: str) -> None:
        if not self.settings.refeed:
            raise InvalidCommand(
                f"{self.card.name} cannot {what} by itself, and it may not be sent the conversation again: "
                "allow that with AcpAgent(refeed=True), or begin a new session"
            )

    async def delete_session(self, session: SessionView) -> None:
        """Let the agent forget a session, if it can; whether or not it does, ours is deleted."""
        kept: Any = session.kept.get(KEPT)
        native_id = cast("dict[str, Any]", kept).get("session_id") if isinstance(kept, dict) else None
        if native_id is None:
            return
        try:
            connection = await self.processes.prepare()
            if capability(connection.initialize, "sessionCapabilities", "delete"):
                within = self.settings.session_within
                await connection.request("session/delete", {"sessionId": native_id}, within)
        except (TrunklineError, TimeoutError) as error:
            log.warning("%s could not delete the session %s: %s", self.card.name, native_id, error)

    # -- sessions that the agent has of its own ----------------------------------------------------

    async def list_sessions(self, cwd: str | None = None) -> list[OwnSession]:
        """List the sessions that exist at the agent, also those of other programs."""
        connection = await self.processes.prepare()
        try:
            return await list_sessions(connection, self.card.name, cwd, self.settings.session_within)
        except RpcError as error:
            raise self.explain(error, "session/list") from None

    async def link_session(self, session: SessionView, session_id: str) -> None:
        """Let a new session of ours be one of the agent's, which it must be able to load."""
        connection = await self.processes.prepare()
        if not capability(connection.initialize, "loadSession"):
            raise AgentError(f"{self.card.name} does not offer to load sessions (session/load)")
        await session.keep(KEPT, {"session_id": session_id, "imported": True})

    async def history(self, session: SessionView) -> Conversation | None:
        """Give what the agent replays of a session that was imported; it fills ours once."""
        kept: Any = session.kept.get(KEPT)
        if not isinstance(kept, dict) or not cast("dict[str, Any]", kept).get("imported"):
            return None
        replay = await NativeSession(self, session, lambda: None).load_history()
        return replayed_conversation(replay, profile=self.profile)

    # -- login -------------------------------------------------------------------------------------

    async def authenticate(self, method_id: str) -> None:
        """Log in by a method of the agent's."""
        connection = await self.processes.prepare()
        method = self._auth_method(method_id)
        if method.kind != "agent":
            # "The client MUST NOT pass this method to authenticate"
            # (https://agentclientprotocol.com/protocol/v1/schema#authmethodterminal).
            names = ", ".join(method.variables)
            way = f"by variables: set {names}" if method.kind == "env_var" else "in a terminal: run it there"
            raise InvalidCommand(f"{method_id!r} is a login {way}, and start the agent again")
        try:
            await connection.request("authenticate", {"methodId": method_id})
            self.processes.prefer(connection)
        except RpcError as error:
            why = f"{self.card.name} could not log in by {method.name}: {error}"
            # claude-code-acp offers a login that it does not carry out, and says only here how it is done.
            about = f". It says of it: {method.description}" if method.description else ""
            raise AgentError(why + about) from None

    async def logout(self) -> None:
        """Log out, if the agent offers it."""
        connection = await self.processes.prepare()
        if not capability(connection.initialize, "auth", "logout"):
            raise InvalidCommand(f"{self.card.name} offers no logout")
        try:
            await connection.request("logout", {}, self.settings.session_within)
        except RpcError as error:
            raise self.explain(error, "logout") from None

    def login_command(self, method_id: str) -> LoginCommand:
        """Give the command of a login in a terminal: the agent's own, with what the method adds."""
        method = self._auth_method(method_id)
        if method.kind != "terminal":
            raise InvalidCommand(f"{method_id!r} is no login in a terminal")
        return LoginCommand(argv=(*self.command_line, *method.args), env={**self._env, **method.env})

    def _auth_method(self, method_id: str) -> AuthMethod:
        method = next((one for one in self.card.auth_methods if one.method_id == method_id), None)
        if method is None:
            known = ", ".join(one.method_id for one in self.card.auth_methods) or "none"
            raise InvalidCommand(f"{self.card.name} has no way {method_id!r} to log in; known: {known}")
        return method


def _is_dots(path: str) -> bool:
    """Whether a path names a folder by its place alone: it is another one in each folder, and meant so."""
    return os.path.normpath(path) in (".", "..")


def _name_of(command_line: Sequence[str]) -> str:
    """Name an agent by its command, until it says its own name; of a launcher, what that launches."""
    command = os.path.basename(command_line[0])
    if command.rstrip("0123456789.") not in _LAUNCHERS:
        return command
    launched = next((word for word in command_line[1:] if not word.startswith("-")), command)
    name = os.path.basename(launched).partition("@")[0]
    return os.path.splitext(name)[0] or command


def _named(profile: str) -> Profile:
    try:
        return profile_named(profile)
    except ValueError as error:
        raise ConfigurationError(f"profile={profile!r}: {error}") from None


def _check_seconds(settings: AcpSettings) -> None:
    for name in ("idle_close", "silent_after", "stop_silent_after", "session_within", "cancel_within"):
        seconds: float | None = getattr(settings, name)
        if seconds is not None and not seconds > 0:
            raise ConfigurationError(f"{name}={seconds!r}: give seconds above 0, or None for no limit")
