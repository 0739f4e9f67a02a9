"""The exchange: the agents of a server, each with its hub, all on one journal.

It opens when it is first needed, because an app that is mounted in another one is never told when that
starts. Whoever made it closes it.
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
from trunkline.errors import ConfigurationError, SessionBusy, SessionNotFound
from trunkline.frontends.agui.endpoint import AguiEndpoint
from trunkline.frontends.agui.options import AguiOptions
from trunkline.journal import Journal, SessionInfo, SessionKey, open_journal, parse_address
from trunkline.journal.address import JournalAddress
from trunkline.mcp.allowed_hosts import Outbound
from trunkline.server.errors import HttpError
from trunkline.server.security.bodies import BodyBudget
from trunkline.server.security.limits import Limits
from trunkline.session.hub import Hub
from trunkline.session.settings import Settings
from trunkline.workspace import Policy

__all__ = ["DEFAULT", "Served", "ServedAgents", "served", "server_settings"]

DEFAULT = "default"
"""How front ends call an agent when they do not know its name."""

_LAST_WORDS = 2.0
"""Seconds that cancelled runs get to say their last words when the server goes down."""
_IDLE_SESSIONS = 256
"""Threads that stay at hand when nobody is in them; others are opened again when they are needed."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._~-]{0,127}")
_RESERVED = ("capabilities", "connect", "ws")


class Served(NamedTuple):
    """An agent under the name it has in addresses; the target tells other processes that it is the same."""

    name: str
    agent: Agent
    target: str


def served(agents: Any, targets: Mapping[str, str] | None = None) -> list[Served]:
    """Name what is served: one agent is the default, several come as a mapping of names."""
    named = {DEFAULT: agents}
    if isinstance(agents, Mapping):
        named = dict(cast("Mapping[str, Any]", agents))
    if not named:
        raise ConfigurationError("there is no agent to serve: give at least one")
    found: list[Served] = []
    for name, thing in named.items():
        if not _NAME.fullmatch(name) or name in _RESERVED:
            raise ConfigurationError(
                f"{name!r} cannot be an agent's name in an address: use letters, digits, . _ ~ and -"
            )
        agent = adapt(thing)
        found.append(Served(name, agent, (targets or {}).get(name) or agent.card.name))
    if len({one.target for one in found}) != len(found):
        # Sessions must know whose they are.
        found = [one._replace(target=f"{one.target}/{one.name}") for one in found]
    return found


def server_settings(
    options: AguiOptions | None = None, *, retain_age: float | None = None, retain_bytes: int | None = None
) -> Settings:
    """Give the settings of sessions that are served to many."""
    return Settings(
        reader_backlog=(options or AguiOptions()).high_water_mark,
        idle_sessions=_IDLE_SESSIONS,
        retain_age=retain_age,
        retain_bytes=retain_bytes,
    )


class ServedAgents:
    """Gives every agent its hub."""

    def __init__(
        self,
        agents: list[Served],
        *,
        journal: str | os.PathLike[str] | Journal | None = "memory:",
        options: AguiOptions | None = None,
        settings: Settings | None = None,
        policy: Policy | None = None,
        limits: Limits | None = None,
        outbound: Outbound | None = None,
    ) -> None:
        """Serve agents; a journal that is given open stays open, one given by its address is closed."""
        self.agents = {one.name: one for one in agents}
        self.default = agents[0].name
        self.options = options or AguiOptions()
        self.limits = limits or Limits()
        self.reading = BodyBudget(self.limits.reading_bytes)
        self.outbound = outbound or Outbound()
        """Whose MCP servers clients may name."""
        self._address: JournalAddress | None = None
        """Where the journal is that we open and close; None for one that was given open."""
        self._given_journal: Journal | None = None
        if journal is None or isinstance(journal, str | os.PathLike):
            self._address = parse_address(journal)
        else:
            self._given_journal = journal
        self._settings = settings or server_settings(self.options)
        self._policy = policy
        self._journal: Journal | None = None
        self._hubs: dict[str, Hub] = {}
        self._endpoints: dict[str, AguiEndpoint] = {}
        self._runs: set[object] = set()
        self.farewells: list[Callable[[], Awaitable[None]]] = []
        """What is done before the hubs close: connections that stay open end by themselves."""
        self.begin_anew()

    def begin_anew(self) -> None:
        """Be as new after a close: an app may live again, in another event loop."""
        self._opening = asyncio.Lock()
        self.quiet = asyncio.Event()
        """Set while no run is shown to anybody."""
        self.quiet.set()
        self.closing = False
        """Whether the server goes down: nothing new begins."""

    async def open(self) -> Journal:
        """Open the journal and the hubs, once."""
        if self.closing:
            raise HttpError(503, "closing", "the server is going down: try again later", {"retry-after": "5"})
        async with self._opening:
            if self._journal is None:
                journal = self._given_journal or await open_journal(str(self._address))
                for one in self.agents.values():
                    hub = Hub(
                        one.agent, journal, target=one.target, settings=self._settings, policy=self._policy
                    )
                    self._hubs[one.name] = await hub.__aenter__()
                    self._endpoints[one.name] = AguiEndpoint(hub, self.options)
                self._journal = journal
            return self._journal

    async def close(self) -> None:
        """Cancel what runs, write everything and let go of the journal; idempotent."""
        self.closing = True
        await asyncio.gather(*(farewell() for farewell in self.farewells))
        async with self._opening:
            await asyncio.gather(*(hub.close() for hub in self._hubs.values()))
            # Who reads slowly still needs the journal for the last words of a run.
            await self.idle(_LAST_WORDS)
            journal, self._journal = self._journal, None
            if journal is not None and journal is not self._given_journal:
                await journal.close()

    def begin(self, run: object) -> None:
        """Note that a run is shown to somebody."""
        self._runs.add(run)
        self.quiet.clear()

    def end(self, run: object) -> None:
        """Note that it is not any more."""
        self._runs.discard(run)
        if not self._runs:
            self.quiet.set()

    async def idle(self, seconds: float) -> None:
        """Wait until no run is shown to anybody, but not for longer than this."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.quiet.wait()

    # -- finding -----------------------------------------------------------------------------------

    def find(self, name: str | None) -> str:
        """The name of an agent: as it was given, or the default one."""
        found = self.default if name is None else name
        if found == DEFAULT and DEFAULT not in self.agents:
            found = self.default
        if found not in self.agents:
            raise HttpError(
                404, "agent", f"there is no agent of that name; there are {', '.join(self.agents)}"
            )
        return found

    async def hub(self, name: str | None = None) -> Hub:
        """The hub of an agent."""
        found = self.find(name)
        await self.open()
        return self._hubs[found]

    async def agui(self, name: str | None, thread_id: str, principal: str) -> AguiEndpoint:
        """What opens runs of an agent in a thread; a thread of another agent is refused."""
        found = self.find(name)
        journal = await self.open()
        if len(self.agents) > 1:
            thread_id = self.options.thread_id_override or thread_id
            info = await journal.get(SessionKey(principal, thread_id))
            owner = self.agent_of(info) if info is not None else found
            if owner != found:
                whose = f"the agent {owner!r}" if owner is not None else "an agent that is not served here"
                raise SessionBusy(f"this thread belongs to {whose}: ask that one, or begin another thread")
        return self._endpoints[found]

    async def keeper(self, session_id: str, principal: str) -> tuple[Hub, SessionInfo]:
        """The hub that a session belongs to; one of an agent that is not served here can be followed."""
        journal = await self.open()
        info = await journal.get(SessionKey(principal, session_id))
        if info is None:
            raise SessionNotFound(f"there is no session {session_id!r}")
        return self._hubs[self.agent_of(info) or self.default], info

    def agent_of(self, info: SessionInfo) -> str | None:
        """The name of the agent that a session belongs to, if it is served here."""
        return next((one.name for one in self.agents.values() if one.target == info.target), None)
