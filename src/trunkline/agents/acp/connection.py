"""One ACP agent process: start, handshake, requests both ways, and its end.

It knows nothing of our sessions. Updates are handled in their order, as they are read; a handler that gives
something to wait for lets the agent wait: nothing more is read until then.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from typing import Any, cast

from trunkline.agents.acp.errors import AgentCommandNotFound, HandshakeFailed
from trunkline.agents.acp.initialize import PROTOCOL_VERSION, initialize_params
from trunkline.agents.acp.session_routes import OnNotification, OnUpdate, RequestHandler, SessionRoutes
from trunkline.agents.acp.wire_log import MOST_BYTES, WireLog
from trunkline.errors import AgentError, AgentExited, ConfigurationError
from trunkline.protocols.jsonrpc.connection import Connection
from trunkline.protocols.jsonrpc.framing import MAX_LINE
from trunkline.protocols.jsonrpc.messages import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    Malformed,
    Message,
    NoAnswer,
    Params,
    RpcError,
    parse_loosely,
)
from trunkline.transports.process.child import DRAIN, within
from trunkline.transports.process.line_process import LineProcess

log = logging.getLogger("trunkline.acp")

HANDSHAKE_WITHIN = 120.0
"""Seconds for the answer to ``initialize``: a launcher such as npx may have to download the agent first."""
SLOW_AFTER = 15.0
"""Seconds after which it is told that a request is still waited for."""
STDERR_KEPT = 64 * 1024
STDERR_SHOWN = 2000
MAX_UNREAD = 64 * 1024 * 1024
"""Bytes that may wait for an agent that does not read its stdin."""
REPLAY_QUIET, REPLAY_LOOKS = 0.2, 50
"""A replay that goes on after the answer to ``session/load`` is over after so many seconds without an update;
it is waited for so many times at most."""
EXIT_AFTER_EOF = 2.0
"""Seconds that an agent has to end after its stdin is closed; some never do, and are ended by SIGTERM."""
EXIT_AFTER_INTERRUPT = 1.0
_LARGE_ANSWERS = frozenset({"fs/read_text_file", "terminal/output"})
_LARGE_AT_ONCE = 4
_IS_IT_ACP = "does this command speak ACP on its stdin?"
_NOT_ACP = (PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS)
"""Errors of a program that does not know ``initialize``; with any other an agent says what it lacks."""


def command_line(command: str, args: Sequence[str]) -> tuple[str, ...]:
    """Give the words of an agent's command; refuses what cannot be one."""
    if not command:
        raise ConfigurationError("the command of an ACP agent is empty: name the program that speaks ACP")
    if isinstance(args, str):
        raise ConfigurationError(f"args={args!r} is a text: give a list of words, as in [{args!r}]")
    return (command, *args)


class AgentConnection:
    """One agent process; ``start`` it, ``attach`` sessions, send requests, and ``close`` it."""

    def __init__(
        self,
        command: str,
        args: Sequence[str] = (),
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        env_allow: Sequence[str] = ("*",),
        fs: bool = True,
        client_meta: Mapping[str, Any] | None = None,
        handshake_within: float = HANDSHAKE_WITHIN,
        max_line: int = MAX_LINE,
        on_line: Callable[[bytes], bool] | None = None,
        on_noise: Callable[[str], None] | None = None,
    ) -> None:
        """Prepare a process; nothing runs yet.

        ``fs`` says whether the agent shall use our files, ``client_meta`` what else it wants to know of us.
        ``on_line`` sees every line that the agent writes and gives True for one that it has dealt with.
        ``on_noise`` is told of lines that are no messages, a banner for example.
        """
        self.command = command
        self.args = tuple(args)
        self.initialize: dict[str, Any] = {}
        """The agent's answer to ``initialize``."""
        self.ended = asyncio.Event()
        """Set when the process has ended, or cannot be used any more."""
        self.on_end: list[Callable[[], None]] = []
        """Called once when the process has ended by itself, or cannot be used any more."""
        self.noise: deque[str] = deque(maxlen=20)
        """The last lines that are no messages."""
        self.wire = WireLog()
        """The newest lines both ways."""
        self.cwd = cwd
        """The folder in which the process is started."""
        self._env = dict(env or {})
        self._env_allow = tuple(env_allow)
        self._params = initialize_params(fs=fs, meta=client_meta)
        self._handshake_within = handshake_within
        self._on_line = on_line
        self._on_noise = on_noise
        self._process = LineProcess(
            max_line, stderr_kept=STDERR_KEPT, on_lines=self._take, on_end=self._output_ended
        )
        self._connection = Connection(self)
        self._connection.handler = self
        self.routes = SessionRoutes(self.wait_for)
        self._large_answers = asyncio.Semaphore(_LARGE_AT_ONCE)
        self._waits: set[asyncio.Task[None]] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._failure: str | None = None
        self._closing: asyncio.Task[None] | None = None

    # -- the beginning -----------------------------------------------------------------------------

    async def start(self) -> None:
        """Start the process and do the handshake; nothing runs any more if that fails."""
        try:
            await self.spawn()
            await self.handshake()
        except BaseException:
            await self.close(grace=0)
            raise

    async def spawn(self) -> None:
        """Start the process, without a handshake."""
        try:
            await self._process.start(
                self.command, self.args, env=self._env, cwd=self.cwd, env_allow=self._env_allow
            )
        except FileNotFoundError as error:
            if error.filename == self.command:
                raise AgentCommandNotFound(self.command, self._env.get("PATH")) from None
            raise AgentError(f"the folder {self.cwd!r} of the agent {self.command} does not exist") from None
        except (OSError, ValueError) as error:
            raise AgentError(f"the agent {self.command} cannot be started: {error}") from None

    async def handshake(self, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Send ``initialize`` and keep the answer; raises HandshakeFailed with what is wrong."""
        sent = dict(params) if params is not None else self._params
        try:
            answer = await self.request("initialize", sent, timeout=self._handshake_within)
        except TimeoutError:
            why = f"did not answer initialize within {self._handshake_within:g} s"
            raise HandshakeFailed(self.blame(f"{why}; {_IS_IT_ACP}")) from None
        except AgentExited as error:
            doubt = "" if self.stderr.strip() else f"; {_IS_IT_ACP}"
            raise HandshakeFailed(f"initialize was not answered: {error}{doubt}") from None
        except RpcError as error:
            doubt = f"; {_IS_IT_ACP}" if error.rpc_code in _NOT_ACP else ""
            raise HandshakeFailed(self.blame(f"refused initialize: {error}{doubt}")) from None
        if not isinstance(answer, dict):
            raise HandshakeFailed(self.blame("answered initialize with something that is no object"))
        self.initialize = cast("dict[str, Any]", answer)
        # "If the Client does not support the version specified by the Agent in the initialize response, the
        # Client SHOULD close the connection and inform the user about it."
        # (https://agentclientprotocol.com/protocol/v1/initialization#version-negotiation)
        version = self.initialize.get("protocolVersion")
        if version != PROTOCOL_VERSION:
            raise HandshakeFailed(
                f"{self.command} speaks version {version!r} of ACP, and trunkline speaks version "
                f"{PROTOCOL_VERSION}: install a version of the agent that speaks {PROTOCOL_VERSION}"
            )
        return self.initialize

    # -- sessions ----------------------------------------------------------------------------------

    def attach(
        self,
        session_id: str,
        on_update: OnUpdate,
        requests: RequestHandler,
        on_notification: OnNotification | None = None,
    ) -> None:
        """Give a session's updates and requests to these, beginning with what came before.

        ``on_update`` gets each update object. What it gives back, if anything, is waited for before more is
        read. ``on_notification`` gets notifications of other methods, also those that name no session.
        """
        self.routes.attach(session_id, on_update, requests, on_notification)

    def detach(self, session_id: str) -> None:
        """Discard what the agent says of a session from now on."""
        self.routes.detach(session_id)

    def opening(self, requests: RequestHandler) -> contextlib.AbstractContextManager[None]:
        """Let these answer what the agent asks while it makes a session whose id is not known yet."""
        return self.routes.opening(requests)

    # -- sending -----------------------------------------------------------------------------------

    async def request(self, method: str, params: Params, timeout: float | None = None) -> Any:
        """Send a request and wait for its answer; for that of ``session/load`` until all was replayed.

        Raises RpcError for an error of the agent, AgentExited when it is gone, and TimeoutError.
        """
        try:
            with self._telling_of_wait(method, timeout):
                answer = await self._connection.request(method, params, timeout)
        except NoAnswer:
            raise self.gone() from None
        if method == "session/load" and isinstance(params, dict):
            await self._replayed(str(params.get("sessionId")))
        return answer

    @contextlib.contextmanager
    def _telling_of_wait(self, method: str, timeout: float | None) -> Generator[None]:
        """Tell of an answer that takes long; without a limit a person is at it, who logs in."""
        if timeout is None:
            yield
            return
        doubt = " (it may be downloading, or speak no ACP)" if method == "initialize" else ""
        text = (
            f"still waiting for {self.command} to answer {method}{doubt}; after {timeout:g} s it is given up"
        )
        timer = asyncio.get_running_loop().call_later(SLOW_AFTER, log.warning, text)
        try:
            yield
        finally:
            timer.cancel()

    async def _replayed(self, session_id: str) -> None:
        """Wait until no more of a session is replayed.

        "When all the conversation entries have been streamed to the Client, the Agent MUST respond to the
        original session/load request." (https://agentclientprotocol.com/protocol/v1/session-setup) Gemini CLI
        responds first: what comes then would be taken for news.
        """
        seen = -1
        for _ in range(REPLAY_LOOKS):
            if seen == self.routes.updates[session_id] or self.ended.is_set():
                return
            seen = self.routes.updates[session_id]
            await asyncio.sleep(REPLAY_QUIET)

    def ask(self, method: str, params: Params) -> asyncio.Future[Any]:
        """Send a request; the future is its answer, and fails with NoAnswer when the agent is gone."""
        try:
            return self._connection.ask(method, params)[1]
        except NoAnswer:
            raise self.gone() from None

    def notify(self, method: str, params: Params) -> None:
        """Send a notification."""
        self._connection.notify(method, params)

    def send_line(self, line: bytes) -> None:
        """Send a message that is encoded already, without its newline."""
        self._connection.send_lines([line])

    # -- the transport of the JSON-RPC connection --

    def write(self, data: bytes) -> None:
        """Write to the agent; one that never reads is given up."""
        self.wire.add("out", data.splitlines() if len(data) <= MOST_BYTES else (data,))
        self._process.write(data)
        if self._process.unread > MAX_UNREAD:
            self._fail(f"it does not read its stdin: {MAX_UNREAD} bytes wait")
        elif self._process.input_ended:
            self._expect_exit_soon("stdin")

    @property
    def congested(self) -> bool:
        """Whether the agent reads more slowly than we write."""
        return self._process.congested

    async def drained(self) -> None:
        """Wait until the agent has read nearly everything, or is gone."""
        await self._process.drained()

    # -- receiving ---------------------------------------------------------------------------------

    def _take(self, lines: list[bytes]) -> None:
        self.wire.add("in", lines)
        messages: list[Message | Malformed] = []
        for line in lines:
            if self._on_line is not None and self._on_line(line):
                continue
            message = parse_loosely(line)
            if isinstance(message, Malformed) and message.id is None and not message.is_answer:
                # A banner or a log line, also one in JSON. An error would answer nothing that was asked.
                self._note_noise(line)
            else:
                messages.append(message)
        if messages:
            self._connection.receive_messages(messages)

    def _note_noise(self, line: bytes) -> None:
        text = line[:500].decode(errors="replace")
        if not self.noise:
            log.warning("%s writes lines on stdout that are no messages: %s", self.command, text)
        self.noise.append(text)
        if self._on_noise is not None:
            self._on_noise(text)

    async def handle(self, method: str, params: Params) -> Any:
        """Answer a request of the agent."""
        handler = self.routes.handler_of(method, params)
        if method not in _LARGE_ANSWERS:
            return await handler.handle(method, params)
        async with self._large_answers:
            # An agent that does not read must not make us hold the files it asks for.
            await self.drained()
            return await handler.handle(method, params)

    def handle_notification(self, method: str, params: Params) -> None:
        """Take a notification of the agent."""
        self.routes.take_notification(method, params)

    def withdraw(self, method: str, params: Params) -> bool:
        """The agent no longer waits for a request: what answers it is cancelled."""
        return False

    def wait_for(self, awaitable: Awaitable[Any]) -> None:
        """Read no more until something is done."""

        async def wait() -> None:
            await awaitable

        task = asyncio.ensure_future(wait())
        self._waits.add(task)
        self._process.pause_reading()
        task.add_done_callback(self._waited)

    def _waited(self, task: asyncio.Task[None]) -> None:
        self._waits.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("what the agent had to wait for failed: %s", error)
        if not self._waits:
            self._process.resume_reading()

    # -- the end -----------------------------------------------------------------------------------

    @property
    def exit(self) -> str | None:
        """How the process ended, with the end of its stderr; None while it runs and can be used."""
        return self._failure or self._process.describe_exit(STDERR_SHOWN)

    @property
    def stderr(self) -> str:
        """The end of what the agent wrote on stderr, also while it runs."""
        return self._process.stderr

    def gone(self) -> AgentExited:
        """The error that says why the agent cannot answer any more."""
        return AgentExited(f"the agent {self.command} is gone: {self.exit or 'its connection was closed'}")

    def blame(self, what: str, name: str | None = None) -> str:
        """Say what the agent did wrong, with the end of its stderr."""
        stderr = " ".join(self.stderr.split())[-STDERR_SHOWN:]
        return f"{name or self.command} {what}" + (f" (stderr: {stderr})" if stderr else "")

    def _output_ended(self) -> None:
        """Notice that no more messages come: the process ended, closed its stdout, or wrote without end."""
        if self._process.oversize is not None:
            limit = self._process.oversize.limit
            self._fail(f"it wrote a line of more than {limit} bytes, and a message must be shorter")
        elif self._process.finished.is_set():
            self._finish()
        else:
            self._expect_exit_soon("stdout")

    def _expect_exit_soon(self, closed: str) -> None:
        if not self.ended.is_set() and not self._tasks and self._closing is None:
            self._spawn(self._expect_exit(closed))

    async def _expect_exit(self, closed: str) -> None:
        """Wait for the exit that follows the end of stdin or stdout; without them a process is of no use."""
        await within(2 * DRAIN, self._process.finished)
        if self._process.exit_description is None:
            self._fail(f"it closed its {closed} and went on running")

    def _fail(self, why: str) -> None:
        """Give the process up."""
        if self.ended.is_set() or self._closing is not None:
            return
        self._failure = self._failure or why
        self._finish()
        self._closing = asyncio.create_task(self._process.close(0))

    def _finish(self) -> None:
        if self.ended.is_set():
            return
        self.ended.set()
        # What the agent still asks gets no answer; what we wait for fails with the reason.
        self._spawn(self._connection.close(self.exit or "it was closed"))
        for callback in self.on_end if self._closing is None else ():
            callback()

    def _spawn(self, work: Any) -> None:
        task: asyncio.Task[None] = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self, *, interrupt: bool = False, grace: float = EXIT_AFTER_EOF) -> None:
        """End the process and all that it started; a second call waits for the first.

        SIGINT first, if ``interrupt`` (a turn runs that did not stop when it was asked to); then its stdin
        is closed, and SIGTERM and SIGKILL follow for whatever is left.
        """
        if self._closing is None:
            seconds = EXIT_AFTER_INTERRUPT if interrupt else 0.0
            self._closing = asyncio.create_task(self._process.close(grace, interrupt=seconds))
        try:
            await asyncio.shield(self._closing)
        finally:
            for task in self._waits:
                task.cancel()
            self._finish()
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=EXIT_AFTER_EOF)
