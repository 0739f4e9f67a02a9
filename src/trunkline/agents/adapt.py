"""adapt(): make an agent of whatever a person has.

It recognises an agent of ours, a function or generator of any kind, a factory ``(session) -> any of
these``, and whatever adapters are installed: a package registers one by the entry point group
``trunkline.adapters``, as a callable that takes the object and gives an Agent, or None when the
object is not of its kind. A plain function needs no adapter, so none is loaded for one.

A factory that yields its agent closes behind the ``yield`` what it opened before it, when the session is
closed. A function without parameters under ``@asynccontextmanager`` is opened once in the process.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from importlib.metadata import entry_points
from typing import Any, NamedTuple

import msgspec

from trunkline.agents.function import FunctionAgent, describe
from trunkline.agents.interface import (
    Agent,
    AgentCard,
    Closes,
    ClosesSessions,
    DeletesSessions,
    Forks,
    HasHistory,
    OpensSessions,
    Prepares,
    RemembersQuestions,
    Resumes,
    Rewinds,
    Sayable,
    SetsConfig,
    Steers,
)
from trunkline.agents.lifespan import Lifespan, is_context, makes_context
from trunkline.commands import Prompt
from trunkline.conversation import Conversation
from trunkline.errors import AgentError, ConfigurationError, NotAnAgent, TrunklineError
from trunkline.events import Answered
from trunkline.options import ConfigOption
from trunkline.session.context import SessionView, TurnContext

__all__ = ["FactoryAgent", "LifespanAgent", "adapt"]

_OWN_ADAPTERS = {
    "langchain": "trunkline.agents.langchain",
    "langgraph": "trunkline.agents.langchain",
    "agents.agent": "trunkline.agents.openai",
}
"""Our own adapters, by how the names of the modules begin whose objects they take."""


def adapt(thing: Any, *, name: str | None = None) -> Agent:
    """Make an agent of this object; ``name`` is what a function is called instead of its own name."""
    if inspect.isclass(thing):
        raise NotAnAgent(
            f"{thing.__name__} is a class, not an agent: give an instance of it, as in {thing.__name__}()"
        )
    if isinstance(getattr(thing, "card", None), AgentCard) and isinstance(thing, Agent):
        return thing
    found = None if inspect.isroutine(thing) else _ask_adapters(thing)
    if found is not None:
        return found
    if callable(thing):
        return _agent_class(thing)(thing, describe(thing, name=name))
    if hasattr(thing, "run"):
        raise NotAnAgent(f"{_kind(thing)} has run(), but its card is not a trunkline.AgentCard: give it one")
    if _is_registry(thing):
        raise NotAnAgent(
            "a ToolRegistry has tools and is no agent: write an agent that calls them (registry.for_agent(), "
            "for_openai(), for_langchain()), or serve them to MCP clients with trunkline mcp"
        )
    raise NotAnAgent(
        f"{_kind(thing)} is not an agent: use a function that takes (prompt, ctx), "
        "an object with card and run(), or install an adapter for it"
    )


def _is_registry(thing: Any) -> bool:
    """Whether an object is a registry of tools; nobody has one without its module."""
    module = sys.modules.get("trunkline.tools.registry")
    return module is not None and isinstance(thing, module.ToolRegistry)


def _kind(thing: Any) -> str:
    return "None" if thing is None else f"an object of type {type(thing).__name__}"


def _ask_adapters(thing: Any) -> Agent | None:
    """Give what an installed adapter makes of an object; a broken one does not stop the others."""
    broken: list[str] = []
    points = entry_points(group="trunkline.adapters")
    for point in sorted(points, key=lambda point: point.name):
        try:
            found = point.load()(thing)
        except TrunklineError:
            raise
        except Exception as error:
            broken.append(f"{point.name!r} ({point.value}) failed with {type(error).__name__}: {error}")
            continue
        if isinstance(found, Agent):
            return found
        if found is not None:
            broken.append(f"{point.name!r} ({point.value}) gave {_kind(found)} instead of an agent")
    if broken:
        raise ConfigurationError(
            f"no adapter took {_kind(thing)}, and the adapter {'; '.join(broken)}: "
            "repair or uninstall the package that brings it"
        )
    own = _own_adapter(thing)
    if own is not None and not any(point.value.startswith(own) for point in points):
        raise NotAnAgent(
            f"no adapter knows {_kind(thing)}: Trunkline's own adapter is not registered; "
            "install Trunkline again (make setup)"
        )
    return None


def _own_adapter(thing: Any) -> str | None:
    modules = [base.__module__ for base in type(thing).__mro__]
    return next(
        (own for start, own in _OWN_ADAPTERS.items() for one in modules if one.startswith(start)), None
    )


def _agent_class(thing: Callable[..., Any]) -> Callable[[Callable[..., Any], AgentCard], Agent]:
    """Tell a factory from a function that is an agent itself, by what it takes."""
    wanted = _wanted(thing)
    if wanted == ["session"]:
        return FactoryAgent
    if not makes_context(thing):
        return FunctionAgent
    if wanted:
        raise NotAnAgent(
            f"{describe(thing).name} opens a context, so it must take nothing (opened once) or (session) "
            f"(opened for each session); it takes ({', '.join(wanted)})"
        )
    return LifespanAgent


def _wanted(thing: Callable[..., Any]) -> list[str] | None:
    """The parameters that a function must be given; None when they are not known."""
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return None
    return [p.name for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD]


class _Made(NamedTuple):
    """The agent of a session, and what was opened for it."""

    agent: Agent
    lifespan: Lifespan | None

    async def close(self) -> None:
        if self.lifespan is not None:
            await self.lifespan.close()


class FactoryAgent:
    """An agent that is made anew for every session."""

    def __init__(self, factory: Callable[[SessionView], Any], card: AgentCard) -> None:
        self._factory = factory
        self.card = card

    async def open_session(self, session: SessionView) -> None:
        """Make the agent of this session."""
        made = await self._make(session)
        try:
            if isinstance(made.agent, OpensSessions):
                await made.agent.open_session(session)
        except BaseException:
            await made.close()
            raise
        session.memory[self] = made

    async def _make(self, session: SessionView) -> _Made:
        lifespan: Lifespan | None = None
        try:
            made = self._factory(session)
            if inspect.isawaitable(made):
                made = await made
            if not isinstance(made, Agent) and is_context(made):
                lifespan = Lifespan(made)
                made = await lifespan.open()
        except TrunklineError:
            raise
        except Exception as error:
            raise AgentError(
                f"{self.card.name} could not make an agent for this session: {type(error).__name__}: {error}"
            ) from error
        try:
            return _Made(adapt(made, name=self.card.name), lifespan)
        except BaseException:
            if lifespan is not None:
                await lifespan.close()
            raise

    async def close_session(self, session: SessionView) -> None:
        """Let go of the agent of this session, and of what was opened for it."""
        made: _Made = session.memory.pop(self)
        try:
            if isinstance(made.agent, ClosesSessions):
                await made.agent.close_session(session)
        finally:
            await made.close()

    def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[Sayable]:
        """Let the session's own agent answer."""
        return self._made_for(ctx.session).run(prompt, ctx)

    def resume(self, answers: Mapping[str, Answered], ctx: TurnContext) -> AsyncIterator[Sayable]:
        """Let the session's own agent go on after a restart."""
        agent = self._made_for(ctx.session)
        if not isinstance(agent, Resumes):
            raise AgentError(f"{agent.card.name} cannot go on after a restart: send the prompt again")
        return agent.resume(answers, ctx)

    async def steer(self, session: SessionView, prompt: Prompt) -> bool:
        """Offer a message to the session's own agent."""
        agent = self._made_for(session)
        return isinstance(agent, Steers) and await agent.steer(session, prompt)

    async def rewind(self, session: SessionView, to_message_id: str | None) -> None:
        """Tell the session's own agent, if it wants to know."""
        agent = self._made_for(session)
        if isinstance(agent, Rewinds):
            await agent.rewind(session, to_message_id)

    async def history(self, session: SessionView) -> Conversation | None:
        """What the session's own agent remembers of it."""
        async with self._lent(session) as agent:
            return await agent.history(session) if isinstance(agent, HasHistory) else None

    async def has_authoritative_history(self, session: SessionView) -> bool:
        """Whether the session's own agent says so."""
        async with self._lent(session) as agent:
            return agent.card.authoritative_history

    async def still_waits(self, session: SessionView, durable_keys: Collection[str]) -> bool:
        """Whether the session's own agent still waits for these answers."""
        async with self._lent(session) as agent:
            asked = isinstance(agent, RemembersQuestions)
            return not asked or await agent.still_waits(session, durable_keys)

    async def fork(self, session: SessionView, origin: SessionView) -> None:
        """Let the new session's own agent take over what it remembers of the other."""
        async with self._lent(session) as agent:
            if isinstance(agent, Forks):
                await agent.fork(session, origin)

    async def delete_session(self, session: SessionView) -> None:
        """Let an agent made for the session forget it."""
        async with self._lent(session) as agent:
            if isinstance(agent, DeletesSessions):
                await agent.delete_session(session)

    @asynccontextmanager
    async def _lent(self, session: SessionView) -> AsyncGenerator[Agent]:
        """The agent of a session, made for the moment if the session is not open."""
        opened = self in session.memory
        if not opened:
            session.memory[self] = await self._make(session)
        try:
            yield self._made_for(session)
        finally:
            if not opened:
                made: _Made = session.memory.pop(self)
                await made.close()

    async def set_config(
        self, session: SessionView, options: tuple[ConfigOption, ...]
    ) -> tuple[ConfigOption, ...] | None:
        """Tell the session's own agent, if it wants to know."""
        agent = self._made_for(session)
        return await agent.set_config(session, options) if isinstance(agent, SetsConfig) else None

    def _made_for(self, session: SessionView) -> Agent:
        made: _Made = session.memory[self]
        return made.agent


class LifespanAgent(FactoryAgent):
    """An agent with resources that are opened once in the process, before its first session."""

    def __init__(self, function: Callable[[], Any], card: AgentCard) -> None:
        super().__init__(lambda _: self._open(), card)
        self._function = function
        self._made: _Made | None = None
        self._opening = asyncio.Lock()

    async def prepare(self) -> None:
        """Open it, and take over its card; the name stays that of the function."""
        await self._open()

    async def close_agent(self) -> None:
        """Close it; it can be opened again."""
        made, self._made = self._made, None
        if made is None:
            return
        try:
            if isinstance(made.agent, Closes):
                await made.agent.close_agent()
        finally:
            await made.close()

    async def _open(self) -> Agent:
        async with self._opening:
            if self._made is None:
                self._made = await self._open_once()
            return self._made.agent

    async def _open_once(self) -> _Made:
        lifespan = Lifespan(self._function())
        try:
            agent = adapt(await lifespan.open(), name=self.card.name)
            if isinstance(agent, Prepares):
                await agent.prepare()
        except BaseException as error:
            await lifespan.close()
            if isinstance(error, TrunklineError) or not isinstance(error, Exception):
                raise
            raise AgentError(
                f"{self.card.name} could not be opened: {type(error).__name__}: {error}"
            ) from error
        about = self.card.description or agent.card.description
        self.card = msgspec.structs.replace(agent.card, name=self.card.name, description=about)
        return _Made(agent, lifespan)
