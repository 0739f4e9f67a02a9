"""An agent of the OpenAI Agents SDK as our agent, unchanged.

The journal has the history, unless the user gives a ``Session`` of the SDK. One object serves every session:
the state of a run is in its ``SdkTurn``, and the user's agent is never changed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from importlib.metadata import version
from typing import Any, cast

import msgspec
from agents.run_config import DEFAULT_MAX_TURNS

from agents import Agent, RunConfig, RunHooks
from trunkline import events as ev
from trunkline.agents.interface import AgentCard, McpCapabilities, PromptCapabilities, Sayable
from trunkline.agents.openai import run_states
from trunkline.agents.openai.options import options_for
from trunkline.agents.openai.sdk_session import OwnMemory, OwnSession
from trunkline.agents.openai.turn import SdkTurn
from trunkline.commands import Prompt
from trunkline.conversation import Conversation
from trunkline.errors import ConfigurationError
from trunkline.session.context import SessionView, TurnContext
from trunkline.tools.naming import KindMapper

_MEMORY = "trunkline.openai.memory"
_SERVERS = "trunkline.openai.servers"
_RUN_GONE = (
    "the run that this answer is for is no longer kept with the session; send the prompt again to retry"
)
_MCP_MISSING = ev.Notice(
    title="MCP servers cannot be attached",
    description="the agent's environment lacks version 1 of MCP: run `pip install 'mcp<2'` in it",
    severity="warning",
    code="mcp_missing",
)


class OpenAIAgent:
    """Runs an ``agents.Agent`` for every session."""

    def __init__(
        self,
        agent: Agent[Any],
        *,
        name: str | None = None,
        context: Any | Callable[[SessionView], Any] = None,
        session: OwnSession | None = None,
        run_config: RunConfig | None = None,
        max_turns: int | None = DEFAULT_MAX_TURNS,
        hooks: RunHooks[Any] | None = None,
        models: Sequence[str] = (),
        tracing: bool = False,
        kind_mapper: KindMapper | None = None,
        card: AgentCard | None = None,
    ) -> None:
        """Wrap an agent; ``run_config``, ``max_turns`` and ``hooks`` are the SDK's, for every run.

        ``context`` is given to tools and hooks; a function is called with the session and gives it. A
        ``session`` (or a function that is given ours and makes one) holds the history in the place of the
        journal. ``models`` are those that a person may choose besides the agent's own. Traces are uploaded to
        OpenAI only with ``tracing``.
        """
        if not isinstance(cast("Any", agent), Agent):
            raise ConfigurationError(
                f"OpenAIAgent takes an agents.Agent, not an object of type {type(agent).__name__}"
            )
        if max_turns is not None and max_turns < 1:
            raise ConfigurationError(f"max_turns is {max_turns}: no run could begin; give 1 or more, or None")
        self.agent = agent
        self.max_turns = max_turns
        self.hooks = hooks
        self.kind_mapper = kind_mapper
        self.run_config = dataclasses.replace(run_config or RunConfig(), tracing_disabled=not tracing)
        self._context = context
        self._session = session
        made = card or AgentCard(
            name=name or agent.name,
            description=agent.handoff_description,
            prompt=PromptCapabilities(image=True, audio=True, embedded_context=True),
            mcp=_mcp_capabilities(),
        )
        own = options_for(agent, run_config, models)
        self.card = msgspec.structs.replace(made, options=(*made.options, *own))

    def context_for(self, session: SessionView) -> Any:
        """The context that the tools of a session's runs get."""
        return self._context(session) if callable(self._context) else self._context

    def memory_of(self, session: SessionView) -> OwnMemory | None:
        """The user's own SDK session for a session of ours; None where the journal has the history."""
        if self._session is None:
            return None
        memory: OwnMemory | None = session.memory.get(_MEMORY)
        if memory is None:
            memory = session.memory[_MEMORY] = OwnMemory(session, self._session)
        return memory

    # -- sessions --------------------------------------------------------------------------------------

    async def open_session(self, session: SessionView) -> None:
        """Begin to open the MCP servers that the client named for this session."""
        given, folders = session.mcp_servers, session.folders
        known: Any = session.memory.get(_SERVERS)
        if known is not None and known.settings == (given, folders):
            known.start()
            return
        if known is None and not given:
            return
        try:
            from trunkline.agents.openai.tools.session_servers import SessionServers
        except ImportError:
            session.emit(_MCP_MISSING)
            return
        servers = session.memory[_SERVERS] = SessionServers(given, folders)
        servers.start()
        if known is not None:
            await known.close()

    async def close_session(self, session: SessionView) -> None:
        """Close the session's servers."""
        servers: Any = session.memory.pop(_SERVERS, None)
        if servers is not None:
            await servers.close()

    # -- running ---------------------------------------------------------------------------------------

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[Sayable]:
        """Answer a prompt."""
        # Whatever stopped for approvals before: this was said instead.
        await run_states.discard(ctx.session)
        async for item in (await self._turn(ctx)).run(prompt):
            yield item

    async def resume(self, answers: Mapping[str, ev.Answered], ctx: TurnContext) -> AsyncIterator[Sayable]:
        """Resume after a restart: the session keeps the place where the run stopped, and why."""
        if not run_states.waits_for(ctx.session, answers.keys()):
            yield ev.TurnFailed(code="interrupted", message=_RUN_GONE)
            return
        async for item in (await self._turn(ctx)).resume(answers):
            yield item

    async def _turn(self, ctx: TurnContext) -> SdkTurn:
        # A session that was loaded again may have other servers.
        await self.open_session(ctx.session)
        servers: Any = ctx.session.memory.get(_SERVERS)
        if servers is not None:
            await servers.ready()
            for notice in servers.failures():
                ctx.emit(notice)
        return SdkTurn(self, ctx, servers)

    # -- memory ----------------------------------------------------------------------------------------

    async def still_waits(self, session: SessionView, durable_keys: Collection[str]) -> bool:
        """Whether a run is kept that stopped for these questions."""
        return run_states.waits_for(session, durable_keys)

    async def history(self, session: SessionView) -> Conversation | None:
        """What the user's own SDK session remembers; without one the journal alone has the history."""
        memory = self.memory_of(session)
        return None if memory is None else await memory.conversation()

    async def rewind(self, session: SessionView, to_message_id: str | None) -> None:
        """Forget what came after a message; the journal is rewound by itself."""
        await run_states.discard(session)
        if (memory := self.memory_of(session)) is not None:
            await memory.rewind(to_message_id)

    async def fork(self, session: SessionView, origin: SessionView) -> None:
        """Let a new session begin with what another one remembers."""
        await run_states.discard(session)
        memory, other = self.memory_of(session), self.memory_of(origin)
        if memory is not None and other is not None:
            await memory.copy_from(other)

    async def delete_session(self, session: SessionView) -> None:
        """Forget a session for good."""
        if (memory := self.memory_of(session)) is not None:
            await memory.session.clear_session()


def _mcp_capabilities() -> McpCapabilities:
    """The kinds of MCP servers that can be attached: our connections need version 1 of MCP."""
    able = version("mcp").startswith("1.")
    return McpCapabilities(http=able, sse=able)
