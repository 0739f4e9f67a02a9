"""An editor in memory: an agent as an editor sees it, without a process and without a disk.

::

    async with AcpEditor(agent, permissions=["reject_once"]) as editor:
        session = await editor.new_session("/tmp")
        result = await editor.prompt(session, "hi")
        assert result["stopReason"] == "end_turn"
        assert editor.text == "..."
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from typing import Any, cast

from trunkline._lazy import warn_renamed
from trunkline.agents.adapt import adapt
from trunkline.frontends.acp.lazy_endpoint import LazyEndpoint
from trunkline.journal import Journal
from trunkline.journal.memory import MemoryJournal
from trunkline.protocols.jsonrpc.connection import Connection
from trunkline.protocols.jsonrpc.messages import METHOD_NOT_FOUND, RESOURCE_NOT_FOUND, Params, RpcError
from trunkline.session.hub import Hub
from trunkline.session.settings import Settings
from trunkline.testing.recording import Sent, select_option
from trunkline.testing.validation import validate_acp_update
from trunkline.transports.memory import MemoryTransport

Answered = dict[str, Any]


def __getattr__(name: str) -> Any:
    if name == "AcpClient":
        warn_renamed(__name__, name, "AcpEditor")
        return AcpEditor
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class AcpEditor:
    """An editor with scripted answers; use it as an async context manager.

    What it is given is what it can do: ``files`` (their texts by absolute path, read and written by the
    agent), ``terminal`` (runs a command: argv to output and exit code), ``forms`` (the content of each
    form or link in turn, None to decline). ``permissions`` are the ids or kinds of the options to select
    in turn, or ``cancelled``; without it everything is allowed once.

    Leaving the context raises ValueError when an update was not legal ACP, or when the agent asked for
    something that was not foreseen.
    """

    def __init__(
        self,
        agent: Any,
        *,
        permissions: Iterable[str] | None = None,
        files: dict[str, str] | None = None,
        terminal: Callable[[list[str]], tuple[str, int]] | None = None,
        forms: Iterable[dict[str, Any] | None] | None = None,
        capabilities: dict[str, Any] | None = None,
        journal: Journal | None = None,
        settings: Settings | None = None,
        timeout: float = 30.0,
    ) -> None:
        """Connect to ``agent``, anything that ``adapt`` takes; ``timeout`` bounds every request."""
        self.updates: list[dict[str, Any]] = []
        """Every update so far, of all sessions."""
        self.asked: list[Sent] = []
        """Every request and notification of the agent so far, besides updates."""
        self.files = files
        self.greeting: dict[str, Any] = {}
        self._agent = adapt(agent)
        self._permissions = None if permissions is None else deque(permissions)
        self._terminal = terminal
        self._terminals: dict[str, tuple[str, int]] = {}
        self._forms = None if forms is None else deque(forms)
        self._capabilities = self._capabilities_offered() | (capabilities or {})
        self._journal = journal
        self._settings = settings
        self._timeout = timeout
        self._stack = AsyncExitStack()
        self._faults: list[str] = []
        self._line = Connection(transport := MemoryTransport())
        self._transport = transport

    def _capabilities_offered(self) -> dict[str, Any]:
        offered: dict[str, Any] = {}
        if self.files is not None:
            offered["fs"] = {"readTextFile": True, "writeTextFile": True}
        if self._terminal is not None:
            offered["terminal"] = True
        if self._forms is not None:
            offered["elicitation"] = {"form": {}, "url": {}}
        return offered

    # -- life --------------------------------------------------------------------------------------

    async def __aenter__(self) -> AcpEditor:
        async with AsyncExitStack() as stack:
            journal = self._journal or await self._make_journal(stack)
            agent = Connection(transport := MemoryTransport())
            self._line.handler = self
            self._transport.deliver_to(agent.receive)
            transport.deliver_to(self._line.receive)
            for connection in (self._line, agent):
                stack.push_async_callback(connection.close, "the client was closed")
            hub = await stack.enter_async_context(Hub(self._agent, journal, settings=self._settings))

            async def open_hub() -> Hub:
                return hub

            agent.handler = endpoint = LazyEndpoint(agent, open_hub)
            stack.push_async_callback(endpoint.close)
            params = {"protocolVersion": 1, "clientCapabilities": self._capabilities}
            self.greeting = await self.request("initialize", params)
            self._stack = stack.pop_all()
        return self

    async def _make_journal(self, stack: AsyncExitStack) -> Journal:
        journal = MemoryJournal()
        await journal.open()
        stack.push_async_callback(journal.close)
        return journal

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Disconnect; the agent's turns are cancelled."""
        await self._stack.aclose()
        if self._faults and error is None:
            raise ValueError("; ".join(self._faults))

    # -- asking the agent --------------------------------------------------------------------------

    async def request(self, method: str, params: dict[str, Any]) -> Any:
        """Call any method and give its result; an error is raised as RpcError."""
        return await self._line.request(method, params, self._timeout)

    async def new_session(self, cwd: str = "/", **params: Any) -> str:
        """Open a session and give its id."""
        result = await self.request("session/new", {"cwd": cwd, "mcpServers": [], **params})
        return result["sessionId"]

    async def load_session(self, session_id: str, cwd: str = "/", **params: Any) -> Answered:
        """Open a session that exists; its history is in ``updates`` then."""
        params = {"sessionId": session_id, "cwd": cwd, "mcpServers": [], **params}
        return await self.request("session/load", params)

    async def prompt(self, session_id: str, prompt: str | Sequence[dict[str, Any]]) -> Answered:
        """Send a prompt, as text or as content blocks, and give the result of its turn."""
        blocks = [{"type": "text", "text": prompt}] if isinstance(prompt, str) else list(prompt)
        return await self.request("session/prompt", {"sessionId": session_id, "prompt": blocks})

    def cancel(self, session_id: str) -> None:
        """Cancel the running turn; its prompt is then answered with ``cancelled``."""
        self._line.notify("session/cancel", {"sessionId": session_id})

    @property
    def text(self) -> str:
        """The text of the agent so far, without its thoughts."""
        chunks = [u["content"] for u in self.updates if u["sessionUpdate"] == "agent_message_chunk"]
        return "".join(chunk["text"] for chunk in chunks if chunk["type"] == "text")

    # -- answering the agent -----------------------------------------------------------------------

    async def handle(self, method: str, params: Params) -> Any:
        """Answer a request of the agent."""
        fields = cast("dict[str, Any]", params)
        self.asked.append(Sent(method, fields))
        try:
            return self._answer(method, fields)
        except ValueError as error:
            self._faults.append(str(error))
            raise RpcError(METHOD_NOT_FOUND, str(error)) from None

    def _answer(self, method: str, fields: dict[str, Any]) -> Answered:
        if method == "session/request_permission":
            return self._select_option(fields)
        if method == "elicitation/create" and self._forms:
            content = self._forms.popleft()
            return {"action": "decline"} if content is None else {"action": "accept", "content": content}
        if method.startswith("fs/") and self.files is not None:
            return self._access_file(method, fields)
        if method.startswith("terminal/") and self._terminal is not None:
            return self._run_terminal(method, fields, self._terminal)
        raise ValueError(f"the agent asked for {method}, and this client was given no answer to it")

    def handle_notification(self, method: str, params: Params) -> None:
        """Take a notification of the agent."""
        fields = cast("dict[str, Any]", params)
        if method != "session/update":
            self.asked.append(Sent(method, fields))
            return
        self.updates.append(fields["update"])
        try:
            validate_acp_update(fields["update"])
        except ValueError as error:
            self._faults.append(str(error))

    def withdraw(self, method: str, params: Params) -> bool:
        """Let the request be cancelled: the agent does not need its answer any more."""
        return False

    def _select_option(self, params: dict[str, Any]) -> Answered:
        if self._permissions is None:
            return select_option(params, "allow_once")
        if not self._permissions:
            raise ValueError("the agent asked for one permission more than were answered")
        return select_option(params, self._permissions.popleft())

    def _access_file(self, method: str, params: dict[str, Any]) -> Answered:
        files = cast("dict[str, str]", self.files)
        path: str = params["path"]
        if method == "fs/write_text_file":
            files[path] = params["content"]
            return {}
        if path not in files:
            raise RpcError(RESOURCE_NOT_FOUND, f"there is no file {path}")
        lines = files[path].splitlines(keepends=True)[(params.get("line") or 1) - 1 :]
        return {"content": "".join(lines[: params.get("limit")])}

    def _run_terminal(
        self, method: str, params: dict[str, Any], terminal: Callable[[list[str]], tuple[str, int]]
    ) -> Answered:
        if method == "terminal/create":
            terminal_id = f"terminal-{len(self._terminals) + 1}"
            self._terminals[terminal_id] = terminal([params["command"], *params.get("args", ())])
            return {"terminalId": terminal_id}
        output, code = self._terminals[params["terminalId"]]
        if method == "terminal/output":
            return {"output": output, "truncated": False, "exitStatus": {"exitCode": code}}
        return {"exitCode": code} if method == "terminal/wait_for_exit" else {}
