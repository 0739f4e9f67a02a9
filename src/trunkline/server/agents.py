"""The served agents of a server, each with its hub, all on one journal.

They are opened with the first request, because an app that is mounted in another one does not learn when
that starts. The server closes them.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple, cast

from trunkline.agents.adapt import adapt
from trunkline.agents.interface import Agent
from trunkline.errors import ConfigurationError, OtherAgent, SessionNotFound
from trunkline.journal import Journal, SessionInfo, SessionKey, open_journal, parse_address
from trunkline.journal.address import JournalAddress
from trunkline.mcp.allowed_hosts import Outbound
from trunkline.server.errors import HttpError
from trunkline.server.limits import Limits
from trunkline.server.security.bodies import BodyBudget
from trunkline.server.session_settings import session_settings
from trunkline.session.hub import Hub
from trunkline.session.settings import Settings
from trunkline.workspace import Policy
from trunkline.workspace.policy import read_policy
from trunkline.workspace.roots import existing_folder

DEFAULT = "default"
"""The name of the first agent for front ends that know no other."""

_FINISH_SECONDS = 2.0
"""How long the streams of cancelled runs get for their last events when the server closes."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._~-]{0,127}")
_RESERVED = ("capabilities", "connect", "ws")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._~-]+")


class ServedAgent(NamedTuple):
    """An agent under its name in addresses; by the target other processes know that it is the same agent."""

    name: str
    agent: Agent
    target: str


def address_name(agent: Agent) -> str:
    """Give the name that an agent has in addresses where nobody chose one."""
    return _NOT_IN_NAMES.sub("-", agent.card.name).strip("-._~") or "agent"


def name_agents(agents: Any, targets: Mapping[str, str] | None = None) -> list[ServedAgent]:
    """Name what is served: one agent is the default, several come as a mapping of names."""
    named = {DEFAULT: agents}
    if isinstance(agents, Mapping):
        named = dict(cast("Mapping[str, Any]", agents))
    if not named:
        raise ConfigurationError("there is no agent to serve: give at least one")
    served: list[ServedAgent] = []
    for name, given in named.items():
        if not _NAME.fullmatch(name) or name in _RESERVED:
            raise ConfigurationError(
                f"{name!r} cannot be an agent's name in an address: use letters, digits, . _ ~ and -"
            )
        agent = adapt(given)
        served.append(ServedAgent(name, agent, (targets or {}).get(name) or agent.card.name))
    if len({one.target for one in served}) != len(served):
        # A session records its target, which must lead back to one agent.
        served = [one._replace(target=f"{one.target}/{one.name}") for one in served]
    return served


class ServedAgents:
    """Opens and closes a hub for every agent, and finds the hub of a request."""

    def __init__(
        self,
        agents: list[ServedAgent],
        *,
        journal: str | os.PathLike[str] | Journal | None = "memory:",
        settings: Settings | None = None,
        policy: Policy | str | os.PathLike[str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        limits: Limits | None = None,
        outbound: Outbound | None = None,
    ) -> None:
        """Serve agents; a journal that is given open stays open, one given by its address is closed."""
        self.by_name = {one.name: one for one in agents}
        self.default = agents[0].name
        self.limits = limits or Limits()
        self.body_budget = BodyBudget(self.limits.reading_bytes)
        self.outbound = outbound or Outbound()
        """The hosts whose MCP servers clients may name."""
        self._address: JournalAddress | None = None
        """Where the journal is that we open and close; None for one that was given open."""
        self._given_journal: Journal | None = None
        if journal is None or isinstance(journal, str | os.PathLike):
            self._address = parse_address(journal)
        else:
            self._given_journal = journal
        self._settings = settings or session_settings()
        self._policy = read_policy(policy)
        self._cwd = None if cwd is None else existing_folder(cwd)
        self._journal: Journal | None = None
        self._hubs: dict[str, Hub] = {}
        self._runs: set[object] = set()
        self.before_close: list[Callable[[], Awaitable[None]]] = []
        """Called before the hubs close: front ends end their open connections here."""
        self.reset()

    def reset(self) -> None:
        """Be ready to open again after a close: an app may be started again, in another event loop."""
        self._opening = asyncio.Lock()
        self._no_runs = asyncio.Event()
        self._no_runs.set()
        self.closing = False
        """Whether the server is shutting down: nothing new begins."""

    async def open(self) -> Journal:
        """Open the journal and the hubs, once."""
        if self.closing:
            raise HttpError(503, "closing", "the server is going down: try again later", {"retry-after": "5"})
        async with self._opening:
            if self._journal is None:
                journal = self._given_journal or await open_journal(str(self._address))
                for one in self.by_name.values():
                    hub = Hub(
                        one.agent,
                        journal,
                        target=one.target,
                        settings=self._settings,
                        policy=self._policy,
                        default_cwd=self._cwd,
                    )
                    self._hubs[one.name] = await hub.__aenter__()
                self._journal = journal
            return self._journal

    async def close(self) -> None:
        """Cancel what runs, write everything and close the journal; idempotent."""
        self.closing = True
        await asyncio.gather(*(call() for call in self.before_close))
        async with self._opening:
            await asyncio.gather(*(hub.close() for hub in self._hubs.values()))
            # A client that reads slowly still needs the journal for the last events of its run.
            await self.wait_for_runs(_FINISH_SECONDS)
            journal, self._journal = self._journal, None
            if journal is not None and journal is not self._given_journal:
                await journal.close()

    # -- runs that clients are shown ---------------------------------------------------------------

    def add_run(self, run: object) -> None:
        """Count a run that a client is shown; a shutdown waits for it for a while."""
        self._runs.add(run)
        self._no_runs.clear()

    def remove_run(self, run: object) -> None:
        """Count it no longer."""
        self._runs.discard(run)
        if not self._runs:
            self._no_runs.set()

    async def wait_for_runs(self, seconds: float) -> None:
        """Wait until no client is shown a run, but at most this long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._no_runs.wait()

    # -- the hub of a request ----------------------------------------------------------------------

    def resolve_name(self, name: str | None) -> str:
        """Give the name of a served agent: the one that was asked for, or the default one."""
        found = self.default if name is None else name
        if found == DEFAULT and DEFAULT not in self.by_name:
            found = self.default
        if found not in self.by_name:
            raise HttpError(
                404, "agent", f"there is no agent of that name; there are {', '.join(self.by_name)}"
            )
        return found

    async def hub(self, name: str | None = None) -> Hub:
        """Give the hub of an agent."""
        found = self.resolve_name(name)
        await self.open()
        return self._hubs[found]

    async def hub_for(self, name: str | None, session_id: str, principal: str) -> Hub:
        """Give the hub of an agent for one session, which may be new; refuse a session of another agent."""
        found = self.resolve_name(name)
        journal = await self.open()
        if len(self.by_name) > 1:
            info = await journal.get(SessionKey(principal, session_id))
            owner = self.agent_of(info) if info is not None else found
            if owner != found:
                whose = f"the agent {owner!r}" if owner is not None else "an agent that is not served here"
                raise OtherAgent(f"this thread belongs to {whose}: ask that one, or begin another thread")
        return self._hubs[found]

    async def hub_of_session(self, session_id: str, principal: str) -> tuple[Hub, SessionInfo]:
        """Give the hub that a session belongs to; one of an agent that is not served here can be followed."""
        journal = await self.open()
        info = await journal.get(SessionKey(principal, session_id))
        if info is None:
            raise SessionNotFound(f"there is no session {session_id!r}")
        return self._hubs[self.agent_of(info) or self.default], info

    def agent_of(self, info: SessionInfo) -> str | None:
        """Give the name of the agent that a session belongs to, if it is served here."""
        return next((one.name for one in self.by_name.values() if one.target == info.target), None)
