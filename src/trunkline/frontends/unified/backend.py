"""Any agent behind BeamCode's ``BackendAdapter`` and ``BackendSession``, as a Python API.

::

    async with BackendAdapter(agent) as adapter:
        session = await adapter.connect("s-1", adapter_options={"cwd": "/path/to/workspace"})
        await session.send(user_message("hi"))
        async for message in session.messages:
            ...
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Mapping
from typing import Any, Literal, cast

import msgspec

from trunkline.agents.adapt import adapt
from trunkline.errors import (
    AuthenticationRequired,
    ConfigurationError,
    InvalidCommand,
    SessionBusy,
    SessionClosed,
    did_you_mean,
)
from trunkline.frontends.unified.endpoint import UnifiedConnection, new_message_id
from trunkline.frontends.unified.following import replay
from trunkline.frontends.unified.handled_files import FileSystemHandler, HandledFiles
from trunkline.frontends.unified.message_iterator import MessageIterator
from trunkline.frontends.unified.options import UnifiedOptions
from trunkline.journal import Journal, open_journal
from trunkline.protocols.unified.wire import MessageType, TextContent, UnifiedContent, UnifiedMessage
from trunkline.session.hub import Hub
from trunkline.session.session import Session
from trunkline.session.settings import Settings
from trunkline.workspace import Policy

__all__ = ["BackendAdapter", "BackendCapabilities", "BackendSession", "user_message"]

Availability = Literal["local", "remote", "both"]
_ADAPTER_OPTIONS = ("cwd", "file_system", "terminal")
_BY = "unified:local"


class BackendCapabilities(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What an adapter supports."""

    streaming: bool = True
    permissions: bool = True
    slash_commands: bool = True
    availability: Availability = "local"
    """Where the agent runs: in this process or as its child, on another machine, or either."""
    teams: bool = False


def _client_message(type: MessageType, *content: UnifiedContent, **metadata: Any) -> UnifiedMessage:
    return UnifiedMessage(
        id=new_message_id(),
        timestamp=int(time.time() * 1000),
        type=type,
        role="user",
        content=content,
        metadata=metadata,
    )


def user_message(text: str, **metadata: Any) -> UnifiedMessage:
    """Make a user message of a text, with an id and a time of its own."""
    return _client_message("user_message", TextContent(text), **metadata)


class BackendSession:
    """One program's connection to a session of an agent."""

    def __init__(self, adapter: BackendAdapter, session: Session, connection: UnifiedConnection) -> None:
        """Made by ``BackendAdapter.connect``."""
        self._adapter = adapter
        self._session = session
        self._connection = connection
        self._messages = MessageIterator(connection)
        self._requests: list[MessageIterator] = []
        self._closed = False

    @property
    def session_id(self) -> str:
        """The session's id."""
        return self._session.session_id

    @property
    def messages(self) -> AsyncIterator[UnifiedMessage]:
        """What the session says, from the connection on, the same iterator each time; ends at ``close``."""
        return self._messages

    async def send(self, message: UnifiedMessage) -> dict[str, Any]:
        """Send a message, and give what came of it; what cannot be carried out raises.

        A login that is missing is also told in ``messages``, as ``auth_status`` and ``result``.
        """
        self._check_open()
        if not isinstance(cast("object", message), UnifiedMessage):
            raise InvalidCommand("send takes a UnifiedMessage: write send(user_message(...)) for a text")
        connection = self._connection
        try:
            return await connection.carry_out(connection.read(message))
        except AuthenticationRequired as error:
            connection.try_to_tell(*connection.failure(message, error))
            raise

    async def initialize(self, request_id: str) -> None:
        """Ask what the agent can do; the answer is a ``control_response`` in ``messages``."""
        request = {"subtype": "initialize"}
        message = _client_message(
            "unknown", subtype="control_request", request_id=request_id, request=request
        )
        result = await self.send(message)
        await self._connection.tell(self._connection.success(message, result))

    async def interrupt(self) -> bool:
        """Cancel the running turn and wait until it is over; False if there was none."""
        return bool((await self.send(_client_message("interrupt"))).get("cancelled"))

    async def set_model(self, model: str) -> None:
        """Choose the model."""
        await self.send(_client_message("configuration_change", subtype="set_model", model=model))

    async def set_permission_mode(self, mode: str) -> None:
        """Choose the mode."""
        await self.send(_client_message("configuration_change", subtype="set_permission_mode", mode=mode))

    async def permission_requests(self) -> AsyncIterator[UnifiedMessage]:
        """Give the permission requests of the session: those that are open, then those that come."""
        self._check_open()
        requests = MessageIterator(await self._adapter.connection_to(self._session), self._is_open_request)
        self._requests.append(requests)
        return requests

    def _is_open_request(self, message: UnifiedMessage) -> bool:
        if message.type != "permission_request":
            return False
        return message.metadata["request_id"] in self._session.open_questions

    async def respond_to_permission(
        self, request_id: str, behavior: Literal["allow", "deny"], **metadata: Any
    ) -> None:
        """Answer a permission request; ``optionId``, ``updated_input`` and ``message`` may say more."""
        about = {"request_id": request_id, "behavior": behavior, **metadata}
        await self.send(_client_message("permission_response", **about))

    def replay(self, from_seq: int = 1) -> AsyncIterator[UnifiedMessage]:
        """Show again what the session has said so far, from a record on (``metadata.seq``)."""
        self._check_open()
        return replay(self._session, from_seq, self._adapter.options)

    async def close(self) -> None:
        """End ``messages``; the last connection closes the session, which cancels what runs. Idempotent."""
        if self._closed:
            return
        self._closed = True
        await self._adapter.release(self, self._session)
        await self.finish()

    async def finish(self) -> None:
        """End the iterators; what was said up to now can still be read."""
        self._closed = True
        for iterator in (self._messages, *self._requests):
            await iterator.finish()

    def _check_open(self) -> None:
        if self._closed:
            raise SessionClosed("this connection was closed; connect again with resume=True to go on")


class BackendAdapter:
    """Connects programs to the sessions of one agent; use it as an async context manager."""

    def __init__(
        self,
        agent: Any,
        *,
        name: str | None = None,
        journal: str | os.PathLike[str] | Journal | None = "memory:",
        settings: Settings | None = None,
        policy: Policy | str | os.PathLike[str] | None = None,
        options: UnifiedOptions | None = None,
        availability: Availability = "local",
    ) -> None:
        """Serve whatever ``trunkline.adapt`` knows; ``journal`` is ``memory:``, ``sqlite:PATH``, or is open.

        ``availability`` is for the capabilities: ``remote`` for an agent that is a server elsewhere.
        """
        self._agent = adapt(agent)
        self._name = name
        self._given_journal = journal
        self._journal: Journal | None = None
        self._settings = settings
        self._policy = policy
        self.options = options or UnifiedOptions()
        self.capabilities = BackendCapabilities(availability=availability)
        self._hub: Hub | None = None
        self._opening = asyncio.Lock()
        self._connections: dict[BackendSession, str] = {}

    @property
    def name(self) -> str:
        """What the adapter is called: the agent's name, unless it was given one."""
        return self._name or self._agent.card.name

    async def _open(self) -> Hub:
        async with self._opening:
            if self._hub is None:
                given = self._given_journal
                if given is None or isinstance(given, str | os.PathLike):
                    address = None if given is None else os.fspath(given)
                    journal = self._journal = await open_journal(address)
                else:
                    journal = given
                hub = Hub(self._agent, journal, settings=self._settings, policy=self._policy)
                self._hub = await hub.__aenter__()
            return self._hub

    async def connect(
        self,
        session_id: str | None = None,
        *,
        resume: bool = False,
        adapter_options: Mapping[str, Any] | None = None,
    ) -> BackendSession:
        """Open a new session, or with ``resume`` one that exists, also after a restart.

        ``adapter_options``: ``cwd``, the folder; ``file_system``, an object with ``read_text_file`` and
        ``write_text_file``; ``terminal``, an object that runs commands as ``trunkline.workspace.Terminals``.
        """
        given = _checked(adapter_options)
        hub = await self._open()
        cwd: str | os.PathLike[str] | None = given.get("cwd")
        folder = None if cwd is None else os.fspath(cwd)
        if resume:
            if session_id is None:
                raise ConfigurationError("resume needs the session_id of the session")
            session = await hub.session(session_id)
            if folder is not None and folder != session.view.cwd:
                session.view.move(folder, session.view.roots, session.view.mcp_servers)
        else:
            try:
                session = await hub.create(session_id, cwd=folder)
            except SessionBusy:
                message = (
                    f"session {session_id!r} exists already; connect with resume=True, or choose another id"
                )
                raise SessionBusy(message) from None
        if (handler := given.get("file_system")) is not None:
            session.view.files = HandledFiles(session.view.folders, handler)
        if (terminals := given.get("terminal")) is not None:
            session.view.terminals = terminals
        made = BackendSession(self, session, await self.connection_to(session))
        self._connections[made] = session.session_id
        return made

    async def connection_to(self, session: Session) -> UnifiedConnection:
        """Connect to a session once more."""
        capabilities = msgspec.to_builtins(self.capabilities)
        return await UnifiedConnection.open(session, by=_BY, options=self.options, capabilities=capabilities)

    async def release(self, connection: BackendSession, session: Session) -> None:
        """Close a session that no connection uses any more."""
        self._connections.pop(connection, None)
        if session.session_id not in self._connections.values():
            await session.close()

    async def stop(self) -> None:
        """Close every session and the agent; idempotent."""
        hub, self._hub = self._hub, None
        if hub is not None:
            await hub.close()
        while self._connections:
            connection, _ = self._connections.popitem()
            await connection.finish()
        journal, self._journal = self._journal, None
        if journal is not None:
            await journal.close()

    async def __aenter__(self) -> BackendAdapter:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()


def _checked(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Refuse options that nobody reads, and handlers that cannot handle."""
    options = dict(given or {})
    for name in options:
        if name not in _ADAPTER_OPTIONS:
            known = ", ".join(_ADAPTER_OPTIONS)
            hint = did_you_mean(name, _ADAPTER_OPTIONS) or f"; the options are {known}"
            raise ConfigurationError(f"there is no adapter option {name!r}{hint}")
    cwd = options.get("cwd")
    if cwd is not None and not os.path.isabs(cast("str | os.PathLike[str]", cwd)):
        raise ConfigurationError(f"cwd={cwd!r} is not an absolute path")
    files = options.get("file_system")
    if files is not None and not isinstance(files, FileSystemHandler):
        raise ConfigurationError("file_system needs the methods read_text_file and write_text_file")
    terminals = options.get("terminal")
    if terminals is not None and not all(
        hasattr(terminals, one) for one in ("create", "create_line", "close")
    ):
        raise ConfigurationError("terminal needs the methods create, create_line and close")
    return options
