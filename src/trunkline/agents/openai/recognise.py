"""Recognise an agent of the OpenAI Agents SDK without importing the SDK."""

from __future__ import annotations

from typing import Any

from trunkline.agents.interface import Agent
from trunkline.errors import ConfigurationError, NotAnAgent


def recognise(obj: Any) -> Agent | None:
    """Make an agent of an ``agents.Agent``; None for anything else."""
    classes = {(kind.__module__, kind.__name__) for kind in type(obj).__mro__}
    if ("agents.realtime.agent", "RealtimeAgent") in classes:
        raise NotAnAgent("a RealtimeAgent speaks by voice and cannot answer prompts: give an agents.Agent")
    if ("agents.agent", "Agent") not in classes:
        return None
    try:
        from trunkline.agents.openai.agent import OpenAIAgent
    except ImportError as error:
        raise ConfigurationError(
            f"the object is an agent of the OpenAI Agents SDK, but the SDK here lacks {error.name or error}: "
            "run `pip install -U 'trunkline[openai]'` in the environment of the agent"
        ) from error
    return OpenAIAgent(obj)
