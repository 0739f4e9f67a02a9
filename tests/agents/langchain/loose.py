"""LangChain's makers of agents, taken as Any: their own generics are unknown to a strict checker."""

from __future__ import annotations

from typing import Any

import deepagents
import langchain.agents
import langgraph.graph

_agents: Any = langchain.agents
_graphs: Any = langgraph.graph
_deep: Any = deepagents

create_agent: Any = _agents.create_agent
create_deep_agent: Any = _deep.create_deep_agent
StateGraph: Any = _graphs.StateGraph
