"""The agents in a module: for a TARGET that names a file and no agent in it, and for hints."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

from trunkline.agents.adapt import adapt
from trunkline.agents.interface import Agent
from trunkline.errors import TrunklineError

_PARTS = frozenset(
    {"BaseLanguageModel", "BaseOutputParser", "BasePromptTemplate", "BaseRetriever", "BaseTool"}
)
"""Classes of LangChain that adapt() would take as an agent, and that are a part of one here."""


def agents_of(module: ModuleType) -> list[str]:
    """Name the agents of a module; if it has no ready one, its functions that can be agents.

    An object with two names is named once.
    """
    public = {name: value for name, value in vars(module).items() if not name.startswith("_")}
    ready = [name for name, value in public.items() if is_ready_agent(value)]
    names = ready or [name for name, value in public.items() if _is_agent_function(value, module)]
    first: dict[int, str] = {}
    for name in names:
        first.setdefault(id(public[name]), name)
    return list(first.values())


def is_ready_agent(value: Any) -> bool:
    """Whether an object is an agent of ours, or of a framework that an adapter knows."""
    if inspect.isclass(value) or inspect.isroutine(value) or inspect.ismodule(value):
        return False
    if isinstance(value, Agent):
        return True
    kinds = type(value).__mro__
    if callable(value) or type(value).__module__ == "builtins" or _PARTS & {kind.__name__ for kind in kinds}:
        return False
    try:
        adapt(value)
    except TrunklineError:
        return False
    return True


def _is_agent_function(value: Any, module: ModuleType) -> bool:
    """Whether a function of the module itself takes what an agent, or the factory of one, takes."""
    if not inspect.isfunction(value) or getattr(value, "__module__", None) != module.__name__:
        return False
    needed = [
        parameter.name
        for parameter in inspect.signature(value).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    return needed in (["prompt"], ["prompt", "ctx"], ["session"])
