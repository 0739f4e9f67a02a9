"""The agent of a spliced session, as the hub sees it: its one process is the editor's."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

from trunkline.agents.acp.agent import AcpAgent
from trunkline.agents.acp.connection import AgentConnection
from trunkline.agents.acp.initialize import capability
from trunkline.agents.acp.native_session import KEPT, kept_id
from trunkline.agents.acp.process_pool import AgentProcesses
from trunkline.agents.acp.session_prompts import SessionPrompts
from trunkline.agents.acp.splice.connection import SpliceConnection
from trunkline.agents.acp.splice.session_prompts import SplicePrompts
from trunkline.agents.interface import Sayable
from trunkline.commands import Prompt
from trunkline.conversation import Conversation
from trunkline.errors import AgentError
from trunkline.protocols.acp.replay import replayed_conversation
from trunkline.protocols.jsonrpc.messages import RpcError
from trunkline.session.context import TurnContext
from trunkline.session.view import SessionView

_CLOSED_WITHIN = 5.0
_NEVER = 10 * 365 * 86400.0


class OneProcess(AgentProcesses):
    """The editor's process: it is started once, and stays the same after its end."""

    def __init__(self, start: Callable[[str | None], Awaitable[AgentConnection]]) -> None:
        super().__init__(start, shared=True, spare_idle=_NEVER)
        self._one: AgentConnection | None = None

    async def take(self, cwd: str | None = None) -> AgentConnection:
        """Give the process; it is in the folder in which the editor started us."""
        async with self._lock:
            if self._one is None:
                self._one = await self._start(cwd)
        return self._hand_out(self._one)

    async def prepare(self) -> AgentConnection:
        """Give the process, without taking it."""
        if self._one is None:
            raise AgentError("the agent of the editor is not started yet")
        return self._one


class SpliceAgent(AcpAgent):
    """An ACP agent whose one process belongs to an editor."""

    def __init__(
        self, agent: AcpAgent, on_line: Callable[[bytes], bool], on_own_prompt: Callable[[str], None]
    ) -> None:
        """Splice the agent that a TARGET names.

        ``on_line`` gets every line that it writes, ``on_own_prompt`` the session of each prompt that we send.
        """
        super().__init__(
            agent.command_line[0],
            agent.command_line[1:],
            cwd=agent.cwd,
            env=agent._env,
            env_allow=agent._env_allow,
            profile=agent._given_profile,
            shared=True,
            refeed=False,
            idle_close=None,
            silent_after=None,
            cancel_within=agent.settings.cancel_within,
        )
        self._on_line = on_line
        self.on_own_prompt = on_own_prompt
        self.opened: dict[str, Mapping[str, Any]] = {}
        """What the agent answered when the editor opened a session, until it is open here too."""
        self.replays: dict[str, list[Mapping[str, Any]]] = {}
        """What the agent replayed of sessions that the journal does not know."""

    @property
    def processes(self) -> AgentProcesses:
        """The one process."""
        if self._processes is None:
            self._processes = OneProcess(self._start)
        return self._processes

    async def _start(self, cwd: str | None = None) -> AgentConnection:
        connection = SpliceConnection(
            self.command_line[0],
            self.command_line[1:],
            cwd=self.cwd,
            env=self._env,
            env_allow=self._env_allow,
            on_line=self._on_line,
        )
        await connection.spawn()
        return connection

    async def prepare(self) -> None:
        """Do nothing: the handshake is the editor's."""

    def prompts(self, view: SessionView) -> SplicePrompts:
        """Give the turns of a session."""
        opened = self._sessions.get(view.thread_id)
        if not isinstance(opened, SplicePrompts):
            opened = self._sessions[view.thread_id] = SplicePrompts(self, view)
        return opened

    def _session(self, view: SessionView) -> SessionPrompts:
        return self.prompts(view)

    async def open_session(self, session: SessionView) -> None:
        """Use the session that the editor opened."""
        prompts = self.prompts(session)
        if prompts.connection is None:
            connection = await self.processes.take()
            native_id = kept_id(session.kept) or session.session_id
            await prompts.use_opened(connection, native_id, self.opened.pop(native_id, {}))

    async def close_at_agent(self, session_id: str) -> bool:
        """Let the agent close a session, so that it reads it anew when it is opened again; whether it did.

        Claude Code and Codex replay what is stored when they load a session that they have open, and go on
        with what they have in memory.
        """
        connection = await self.processes.prepare()
        if not capability(connection.initialize, "sessionCapabilities", "close"):
            return False
        try:
            await connection.request("session/close", {"sessionId": session_id}, _CLOSED_WITHIN)
        except (RpcError, AgentError, TimeoutError):
            return False
        return True

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[Sayable]:
        """Run a turn; what the agent says is emitted as it comes."""
        yield await self.prompts(ctx.session).run(prompt, ctx)

    async def fork(self, session: SessionView, origin: SessionView) -> None:
        """Keep the id of a copy that the editor let the agent make."""
        await session.keep(KEPT, {"session_id": session.session_id})

    async def delete_session(self, session: SessionView) -> None:
        """Do nothing: the editor let the agent delete it."""

    async def history(self, session: SessionView) -> Conversation | None:
        """Give what the agent replayed, if the journal does not know the session."""
        replay = self.replays.pop(session.session_id, None)
        return None if replay is None else replayed_conversation(replay, profile=self.profile)
