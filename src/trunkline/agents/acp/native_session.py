"""One of our sessions at an agent: its process, its id there, its options; opened again in another process.

The journal is the history. The agent's id of the session is kept with ours; when its process is gone, another
one is started and told to load that session. What it replays then is skipped: the journal knows more.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from trunkline import events as ev
from trunkline.agents.acp.connection import AgentConnection
from trunkline.agents.acp.held_updates import HeldUpdates
from trunkline.agents.acp.idle_close import IdleClose
from trunkline.agents.acp.initialize import capability
from trunkline.agents.acp.mcp_servers import usable_servers
from trunkline.agents.acp.replayed_updates import KeptUpdates
from trunkline.agents.acp.requests.session_requests import AgentRequests
from trunkline.agents.acp.turn_events import TurnEvents
from trunkline.agents.acp.wire_log import WireLog
from trunkline.errors import (
    AgentError,
    AgentExited,
    AuthenticationRequired,
    InvalidCommand,
    SessionClosed,
    TrunklineError,
)
from trunkline.options import ConfigOption
from trunkline.protocols.acp.decoder import AcpDecoder
from trunkline.protocols.jsonrpc.messages import AUTH_REQUIRED, Params, RpcError
from trunkline.session.view import SessionView

if TYPE_CHECKING:
    from trunkline.agents.acp.agent import AcpAgent

log = logging.getLogger("trunkline.acp")

KEPT = "acp"
"""The name of what is kept with our session: ``session_id`` at the agent, and ``refeed``."""

FACTS = frozenset(
    {
        "available_commands_update",
        "config_option_update",
        "current_mode_update",
        "session_info_update",
        "usage_update",
    }
)
"""Updates that count also while a session is replayed."""


class NativeSession:
    """A session at an agent, for as long as ours is open in this process."""

    def __init__(self, agent: AcpAgent, view: SessionView, on_end: Callable[[], None]) -> None:
        """Prepare; ``open`` starts what is needed. ``on_end`` is called when the process ends by itself."""
        self._agent = agent
        self._view = view
        self._on_end = on_end
        self.connection: AgentConnection | None = None
        self.wire: WireLog | None = None
        """The newest lines of the process, also after its end."""
        self.native_id: str | None = None
        self.decoder = AcpDecoder(agent.profile)
        self.requests = AgentRequests(view, self.decoder, permission=agent.settings.permission)
        self.events = TurnEvents(view, self.decoder, self.requests)
        self.must_refeed = False
        """Whether the agent does not know the conversation so far."""
        self.held = HeldUpdates(self._emit_update)
        self.lock = asyncio.Lock()
        self.idle_close = IdleClose(agent.settings.idle_close, self._is_used, self._end_unused)
        self._ending: asyncio.Task[None] | None = None
        """Ends a process that did not stop, or that nobody uses."""
        self._loading = False
        self._opened = False
        self._noisy: AgentConnection | None = None
        self._replay: KeptUpdates | None = None

    @property
    def is_running(self) -> bool:
        """Whether the agent has a process for this session."""
        return self.connection is not None and not self.connection.ended.is_set()

    def _is_used(self) -> bool:
        return self.events.is_busy or self.lock.locked() or self.requests.has_running_command

    # -- opening -----------------------------------------------------------------------------------

    async def open(self) -> AgentConnection:
        """Make sure that the agent has this session open, in a process that runs; hold the lock."""
        if self.connection is not None and self.is_running:
            return self.connection
        await self.release_process()
        failures: dict[str, str] = {}
        while True:
            connection = self._process_of_fork() or await self._agent.processes.take(self._folder())
            try:
                result = await self._open_at(connection, failures)
                break
            except AuthenticationRequired:
                # The login is then known to the process that will be used.
                self._agent.processes.keep_for_next(connection)
                raise
            except BaseException as error:
                await self._agent.processes.release(connection)
                # Loading a session may even end a process; a new session then needs another one.
                if not isinstance(error, AgentExited) or "session/new" in failures:
                    raise
        self._use(connection)
        await self._take_options(connection, result)
        self.tell_of_noise()
        self._opened = True
        return connection

    def tell_of_noise(self) -> None:
        """Tell the person, once for a process, that it writes lines on stdout that are no messages."""
        connection = self.connection
        if connection is not None and connection.noise and connection is not self._noisy:
            self._noisy = connection
            title = f"{self._agent.card.title} writes lines on stdout that are no messages; they are skipped"
            self.notice(title, "\n".join(connection.noise)[:1000], code="stdout_noise")

    async def _open_at(self, connection: AgentConnection, failures: dict[str, str]) -> dict[str, Any]:
        """Load, resume or make the session in a process; gives the agent's answer.

        ``failures`` are the methods that failed already, and why.
        """
        kept = self._kept()
        known: Any = kept.get("session_id")
        self.must_refeed = self.must_refeed or bool(kept.get("refeed"))
        params = self._session_params(connection)
        lost = None
        if isinstance(known, str):
            fork = self._agent.forks.pop(known, None)
            if fork is not None and fork[0] is connection:
                self._attach(connection, known)
                return fork[1]
            for method in _ways_to_reopen(connection.initialize):
                if method in failures:
                    continue
                try:
                    return await self._reopen(connection, method, known, params)
                except (RpcError, TimeoutError) as error:
                    if isinstance(error, RpcError) and error.rpc_code == AUTH_REQUIRED:
                        # Nothing is lost: after the login it can be opened.
                        raise self._agent.explain(error, method) from None
                    failures[method] = str(error) or "no answer in time"
                except AgentExited as error:
                    failures[method] = str(error)
                    raise
            lost = dict(failures)
        failures["session/new"] = ""
        return await self._begin(connection, params, lost)

    async def _reopen(
        self, connection: AgentConnection, method: str, native_id: str, params: dict[str, Any]
    ) -> dict[str, Any]:
        self._loading = True
        self._attach(connection, native_id)
        try:
            return await self.request(connection, method, {"sessionId": native_id, **params})
        except BaseException:
            connection.detach(native_id)
            raise
        finally:
            self._loading = False

    async def load_history(self) -> list[Mapping[str, Any]]:
        """Load the session at the agent and give what it replays; raises AgentError if it cannot."""
        native_id = str(self._kept().get("session_id"))
        connection = await self._agent.processes.take(self._folder())
        self._replay = replay = KeptUpdates()
        params = self._session_params(connection)
        try:
            await self._reopen(connection, "session/load", native_id, params)
        except RpcError as error:
            raise self._agent.explain(error, f"session/load of {native_id!r}") from None
        finally:
            self._replay = None
            self.native_id = None
            connection.detach(native_id)
            await self._agent.processes.release(connection)
        if replay.is_full:
            raise AgentError(f"{self._agent.card.name} replays more of {native_id!r} than can be taken over")
        return replay.updates

    async def _begin(
        self, connection: AgentConnection, params: dict[str, Any], lost: Mapping[str, str] | None
    ) -> dict[str, Any]:
        """Make a new session; ``lost`` says why an earlier one could not be opened again."""
        if meta := self._agent.session_meta():
            params = {**params, "_meta": meta}
        with connection.opening(self.events):
            try:
                result = await self.request(connection, "session/new", params)
            except RpcError as error:
                raise self._agent.explain(error, "session/new") from None
            except TimeoutError:
                why = f"did not answer session/new within {self._agent.settings.session_within:g} s"
                raise AgentError(connection.blame(why, self._agent.card.name)) from None
        native_id = result.get("sessionId")
        if not isinstance(native_id, str):
            raise AgentError(f"{self._agent.card.name} answered session/new without a sessionId")
        if lost is not None:
            self._tell_of_loss(lost)
        await self.keep(native_id)
        self._attach(connection, native_id)
        return result

    def _folder(self) -> str:
        return self._agent.folder_for(self._view.cwd)

    def _session_params(self, connection: AgentConnection) -> dict[str, Any]:
        view = self._view
        given = view.mcp_servers
        if view.cwd is None:
            # The files and terminals that it asks for are then in the folder where it works.
            view.move(self._agent.cwd, view.roots, given)
        servers, notes = usable_servers(given, connection.initialize)
        params: dict[str, Any] = {"cwd": view.cwd, "mcpServers": servers}
        if view.roots:
            if capability(connection.initialize, "sessionCapabilities", "additionalDirectories"):
                params["additionalDirectories"] = list(view.roots)
            else:
                notes.append(f"it works in one folder only, and not in {', '.join(view.roots)}")
        for note in notes:
            self.notice(f"{self._agent.card.title}: {note}", severity="warning", code="not_supported")
        return params

    async def request(self, connection: AgentConnection, method: str, params: Params) -> dict[str, Any]:
        """Send a request whose answer is an object, and wait for it within the agent's limit."""
        result = await connection.request(method, params, timeout=self._agent.settings.session_within)
        return cast("dict[str, Any]", result) if isinstance(result, dict) else {}

    def _attach(self, connection: AgentConnection, native_id: str) -> None:
        self.native_id = native_id
        connection.attach(native_id, self.take_update, self.events, self._take_notification)

    def _use(self, connection: AgentConnection) -> None:
        self.connection = connection
        self.wire = connection.wire
        connection.on_end.append(self._on_end)

    async def use_opened(
        self, connection: AgentConnection, native_id: str, result: Mapping[str, Any]
    ) -> None:
        """Use a session that is open at the agent already; ``result`` is what the agent answered then."""
        self._use(connection)
        self.native_id = native_id
        if self._kept().get("session_id") != native_id:
            await self.keep(native_id)
        self.decoder.take_result(result)
        if self.decoder.options != self._view.options:
            self._view.options = self.decoder.options
        self._opened = True

    # -- what is kept with our session -------------------------------------------------------------

    async def keep(self, native_id: str | None, *, refeed: bool | None = None) -> None:
        """Remember the agent's id of this session, and whether the conversation must be sent again."""
        self.must_refeed = self.must_refeed if refeed is None else refeed
        more = {"refeed": True} if self.must_refeed else {}
        await self._view.keep(KEPT, {"session_id": native_id, **more})

    def _kept(self) -> dict[str, Any]:
        return _kept_with(self._view.kept)

    def _tell_of_loss(self, failures: Mapping[str, str]) -> None:
        self.must_refeed = self._agent.settings.refeed
        why = "; ".join(f"{method}: {error}" for method, error in failures.items())
        then = "The conversation so far is sent to it with the next prompt."
        self.notice(
            f"{self._agent.card.title} has lost its memory of this session, and begins a new one",
            f"{why or 'it offers neither session/resume nor session/load'}. "
            f"{then if self.must_refeed else 'It knows nothing of what was said before.'}",
            severity="warning",
            code="memory_lost",
        )

    # -- options -----------------------------------------------------------------------------------

    async def _take_options(self, connection: AgentConnection, result: Mapping[str, Any]) -> None:
        """Take the session's options; those that a person chose before are set again."""
        wished = {option.option_id: option.value for option in self._view.options}
        self.decoder.take_result(result)
        for option in self.decoder.options:
            value = wished.get(option.option_id, option.value)
            if value != option.value and (option.is_switch or value in option.values()):
                try:
                    await self._set_option(connection, option.option_id, value)
                except (RpcError, TimeoutError, AgentExited) as error:
                    self.notice(f"{option.name} could not be set to {value} again", str(error))
        if self.decoder.options == self._view.options:
            return
        if self._opened:
            self._emit(ev.ConfigChanged(options=self.decoder.options))
        else:
            self._view.options = self.decoder.options

    async def set_config(self, options: tuple[ConfigOption, ...]) -> tuple[ConfigOption, ...]:
        """Set what differs from the agent's options; gives the options as the agent has them then."""
        connection = await self.open()
        present = {option.option_id: option.value for option in self.decoder.options}
        name = self._agent.card.name
        for option in options:
            if option.value == present.get(option.option_id, option.value):
                continue
            try:
                await self._set_option(connection, option.option_id, option.value)
            except RpcError as error:
                if error.rpc_code == AUTH_REQUIRED:
                    raise self._agent.explain(error, f"the option {option.name}") from None
                raise InvalidCommand(f"{name} refused {option.name} = {option.value}: {error}") from None
            except TimeoutError:
                raise AgentError(f"{name} did not set {option.name} in time") from None
        return self.decoder.options

    async def _set_option(self, connection: AgentConnection, option_id: str, value: str | bool) -> None:
        method, params = self.decoder.agent_options.request_to_set(option_id, value)
        result = await self.request(connection, method, {"sessionId": self.native_id, **params})
        if "configOptions" in result:
            self.decoder.take_result(result)
        else:
            self.decoder.set_option(option_id, value)

    # -- what the agent says -----------------------------------------------------------------------

    def take_update(self, update: Mapping[str, Any]) -> Any:
        """Take an update; gives something to wait for when the agent should not say more now."""
        if self._loading:
            if self._replay is not None:
                self._replay.add(update)
                return None
            if update.get("sessionUpdate") not in FACTS:
                return None
        return None if self.held.keeps(update) else self._emit_update(update)

    def _emit_update(self, update: Mapping[str, Any]) -> Any:
        waiting = self.events.take(self.decoder.feed(update))
        self.requests.take_update(update)
        return waiting

    def _take_notification(self, method: str, params: Params) -> Any:
        self.requests.handle_notification(method, params)
        return self.events.take([ev.Raw(source="acp", payload={"method": method, "params": params})])

    # -- copies and ends ---------------------------------------------------------------------------

    async def fork(self) -> str | None:
        """Copy this session at the agent and give the id of the copy; None if the agent does not offer it."""
        connection = await self.open()
        if not capability(connection.initialize, "sessionCapabilities", "fork"):
            return None
        params = {"sessionId": self.native_id, **self._session_params(connection)}
        try:
            result = await self.request(connection, "session/fork", params)
        except (RpcError, TimeoutError) as error:
            log.warning("%s could not fork: %s", self._agent.card.name, error)
            return None
        copy = result.get("sessionId")
        if not isinstance(copy, str):
            return None
        self._agent.forks[copy] = (connection, result)
        return copy

    def _process_of_fork(self) -> AgentConnection | None:
        """The process that made this session as a fork; Claude Code has it nowhere else until it is used."""
        fork = self._agent.forks.get(str(self._kept().get("session_id")))
        return fork[0] if fork is not None and self._agent.processes.join(fork[0]) else None

    async def release_process(self, *, interrupt: bool = False) -> None:
        """Give the process back; the session stays known."""
        connection, self.connection = self.connection, None
        if connection is None:
            return
        with suppress(ValueError):
            connection.on_end.remove(self._on_end)
        if self.native_id is not None:
            connection.detach(self.native_id)
        await self._agent.processes.release(connection, interrupt=interrupt)

    def end_soon(self, work: Coroutine[Any, Any, None]) -> None:
        """Let ``work`` end the process, beside whoever calls."""
        self._ending = asyncio.create_task(work)

    async def wait_for_end(self) -> None:
        """Wait for a process that is being ended."""
        if self._ending is not None:
            await asyncio.wait({self._ending})

    def _end_unused(self) -> None:
        if self.is_running:
            log.info("%s is not used and is closed", self._agent.card.name)
            self.end_soon(self.release_process())

    async def close_at_agent(self) -> None:
        """Tell the agent that the session is not needed now, where it wants to know."""
        connection = self.connection
        if connection is None or connection.ended.is_set() or self.native_id is None:
            return
        if capability(connection.initialize, "sessionCapabilities", "close"):
            with suppress(TrunklineError, TimeoutError):
                params = {"sessionId": self.native_id}
                await connection.request("session/close", params, self._agent.settings.close_within)

    # -- bookkeeping -------------------------------------------------------------------------------

    def notice(
        self, title: str, description: str | None = None, *, severity: Any = "info", code: str | None = None
    ) -> None:
        """Tell the followers of our session something, in a turn or out of one."""
        self._emit(ev.Notice(title=title, description=description, severity=severity, code=code))

    def _emit(self, event: ev.Event) -> None:
        with suppress(SessionClosed):
            self._view.emit(event)


def _ways_to_reopen(initialize: Mapping[str, Any]) -> list[str]:
    ways: list[str] = []
    if capability(initialize, "sessionCapabilities", "resume"):
        ways.append("session/resume")
    if capability(initialize, "loadSession"):
        ways.append("session/load")
    return ways


def kept_id(kept: Mapping[str, Any] | None) -> str | None:
    """Give the agent's id of a session, of what is kept with it."""
    native_id = _kept_with(kept or {}).get("session_id")
    return native_id if isinstance(native_id, str) else None


def _kept_with(kept: Mapping[str, Any]) -> dict[str, Any]:
    found = kept.get(KEPT)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
