"""adapt(): make an agent of whatever a person has.

It recognises an agent of ours, a function or generator of any kind, a factory ``(session) -> any of
these``, and whatever adapters are installed: a package registers one by the entry point group
``trunkline.adapters``, as a callable that takes the object and gives an Agent, or None when the
object is not of its kind.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable
from importlib.metadata import entry_points
from typing import Any

from trunkline.agents.function import FunctionAgent
from trunkline.agents.interface import Agent, AgentCard, ClosesSessions, OpensSessions, Sayable
from trunkline.commands import Prompt
from trunkline.context import SessionView, TurnContext
from trunkline.errors import ConfigurationError, NotAnAgent

__all__ = ["FactoryAgent", "adapt"]

Adapter = Callable[[Any], Agent | None]


def adapt(thing: Any, *, name: str | None = None) -> Agent:
    """Make an agent of this object; ``name`` is used when the object has none of its own."""
    if inspect.isclass(thing):
        raise NotAnAgent(
            f"{thing.__name__} is a class, not an agent: give an instance of it, as in {thing.__name__}()"
        )
    if isinstance(thing, Agent) and isinstance(thing.card, AgentCard):
        return thing
    for adapter in _installed():
        found = adapter(thing)
        if found is not None:
            return found
    if inspect.isroutine(thing) or hasattr(thing, "__call__"):  # noqa: B004
        own_name = name or getattr(thing, "__name__", type(thing).__name__)
        if _is_factory(thing):
            return FactoryAgent(thing, own_name)
        return FunctionAgent(thing, AgentCard(name=own_name, description=inspect.getdoc(thing)))
    raise NotAnAgent(
        f"a {type(thing).__name__} is not an agent: use a function that takes (prompt, ctx), "
        "an object with card and run(), or install an adapter for it"
    )


def _installed() -> list[Adapter]:
    adapters: list[Adapter] = []
    for point in entry_points(group="trunkline.adapters"):
        try:
            adapters.append(point.load())
        except Exception as error:
            raise ConfigurationError(
                f"the adapter {point.name!r} ({point.value}) cannot be loaded: {error}; "
                "repair or uninstall the package that brings it"
            ) from error
    return adapters


def _is_factory(thing: Any) -> bool:
    try:
        parameters = list(inspect.signature(thing).parameters.values())
    except (TypeError, ValueError):
        return False
    required = [p for p in parameters if p.default is p.empty and p.kind not in (p.VAR_KEYWORD,)]
    return len(required) == 1 and required[0].name == "session"


class FactoryAgent:
    """An agent that is made anew for every session."""

    def __init__(self, factory: Callable[[SessionView], Any], name: str) -> None:
        """Remember how to make one."""
        self._factory = factory
        self._made: dict[str, Agent] = {}
        self.card = AgentCard(name=name, description=inspect.getdoc(factory))

    async def open_session(self, session: SessionView) -> None:
        """Make the agent of this session."""
        made = self._factory(session)
        if inspect.isawaitable(made):
            made = await made
        agent = adapt(made, name=self.card.name)
        self._made[session.session_id] = agent
        if isinstance(agent, OpensSessions):
            await agent.open_session(session)

    async def close_session(self, session: SessionView) -> None:
        """Let go of the agent of this session."""
        agent = self._made.pop(session.session_id, None)
        if isinstance(agent, ClosesSessions):
            await agent.close_session(session)

    def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[Sayable]:
        """Let the session's own agent answer."""
        return self._made[ctx.session.session_id].run(prompt, ctx)
