"""Recognise LangChain's objects without importing LangChain."""

from __future__ import annotations

from typing import Any

from trunkline.agents.interface import Agent
from trunkline.errors import ConfigurationError, NotAnAgent


def recognise(obj: Any) -> Agent | None:
    """Make an agent of a Runnable, a compiled graph or a deep agent; None for anything else."""
    classes = {(kind.__module__.partition(".")[0], kind.__name__) for kind in type(obj).__mro__}
    if ("langgraph", "StateGraph") in classes:
        raise NotAnAgent("this StateGraph is not compiled: give the result of its compile()")
    if ("langchain_core", "Runnable") not in classes:
        return None
    try:
        from trunkline.agents.langchain.agent import LangChainAgent
    except ImportError as error:
        raise ConfigurationError(
            f"the object is LangChain's, but {error.name or error} is missing: "
            "run `pip install 'trunkline[langchain]'` in the environment of the agent"
        ) from error
    return LangChainAgent(obj)
