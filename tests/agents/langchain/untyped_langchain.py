"""LangChain's factories of agents as Any: a strict type checker cannot infer their generics."""

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
