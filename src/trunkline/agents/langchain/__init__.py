"""LangChain, LangGraph and deepagents on the trunk; every name is loaded when it is first used.

An agent needs none of these: ``trunkline acp app.py:agent`` takes it as it is. The middlewares and the
callback handler are for your own ``create_agent``, with or without our server.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trunkline.agents.langchain.agent import LangChainAgent
    from trunkline.agents.langchain.agui import agui_agent, agui_middleware, agui_system
    from trunkline.agents.langchain.callbacks import TrunklineCallbackHandler
    from trunkline.agents.langchain.content import ContentBlockMapper
    from trunkline.agents.langchain.dynamic import session_tools
    from trunkline.agents.langchain.failures import map_error_to_content
    from trunkline.agents.langchain.lookup import TrunklineContext
    from trunkline.agents.langchain.mcp import load_mcp_tools
    from trunkline.agents.langchain.middleware.modes import READY_MODES, Mode, ModeMiddleware
    from trunkline.agents.langchain.middleware.permission import PermissionMiddleware, Rule
    from trunkline.agents.langchain.middleware.plan import PlanMiddleware, emit_plan
    from trunkline.agents.langchain.middleware.session import SessionMiddleware
    from trunkline.agents.langchain.middleware.tools import ToolMiddleware
    from trunkline.agents.langchain.standalone import acp_agent, acp_middleware
    from trunkline.agents.langchain.stops import map_to_stop_reason

__all__ = [
    "READY_MODES",
    "ContentBlockMapper",
    "LangChainAgent",
    "Mode",
    "ModeMiddleware",
    "PermissionMiddleware",
    "PlanMiddleware",
    "Rule",
    "SessionMiddleware",
    "ToolMiddleware",
    "TrunklineCallbackHandler",
    "TrunklineContext",
    "acp_agent",
    "acp_middleware",
    "agui_agent",
    "agui_middleware",
    "agui_system",
    "emit_plan",
    "load_mcp_tools",
    "map_error_to_content",
    "map_to_stop_reason",
    "session_tools",
]

_HOMES = {
    "READY_MODES": "middleware.modes",
    "ContentBlockMapper": "content",
    "LangChainAgent": "agent",
    "Mode": "middleware.modes",
    "ModeMiddleware": "middleware.modes",
    "PermissionMiddleware": "middleware.permission",
    "PlanMiddleware": "middleware.plan",
    "Rule": "middleware.permission",
    "SessionMiddleware": "middleware.session",
    "ToolMiddleware": "middleware.tools",
    "TrunklineCallbackHandler": "callbacks",
    "TrunklineContext": "lookup",
    "acp_agent": "standalone",
    "acp_middleware": "standalone",
    "agui_agent": "agui",
    "agui_middleware": "agui",
    "agui_system": "agui",
    "emit_plan": "middleware.plan",
    "load_mcp_tools": "mcp",
    "map_error_to_content": "failures",
    "map_to_stop_reason": "stops",
    "session_tools": "dynamic",
}


def __getattr__(name: str) -> Any:
    """Load a name from its module, and say what to install when that cannot be."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{home}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith(__name__):
            raise
        extra = "mcp" if home == "mcp" else "langchain"
        raise ImportError(
            f"{name} needs the package {error.name}: run `pip install 'trunkline[{extra}]'`", name=error.name
        ) from error


def __dir__() -> list[str]:
    return sorted(__all__)
