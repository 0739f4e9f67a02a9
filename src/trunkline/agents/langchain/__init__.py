"""LangChain, LangGraph and deepagents on the trunk; every name is loaded when it is first used.

An agent needs none of these: ``trunkline acp app.py:agent`` takes it as it is. The middlewares and the
callback handler are for your own ``create_agent``, with or without our server.

* ``agent``: ``LangChainAgent``: a compiled graph, a deep agent or any Runnable as an agent
* ``callbacks``: LangChain's callbacks: tokens and tools as they run
* ``channel``: whom a middleware, a tool or a callback talks to while an agent runs
* ``channel_lookup``: how a middleware finds its channel
* ``class_methods``: takes methods away from one object, where LangChain asks its class for them
* ``custom_events``: ``emit_custom`` and ``emit_raw``: events that only an application knows
* ``errors``: what went wrong in a run: a code for programs, the provider's own text for people
* ``graph``: a compiled graph: read, copy with hooks, state, threads, interrupts
* ``hosted``: an agent in one's own program, without our server
* ``messages``: LangChain's messages and blocks to events and back
* ``middleware``: middlewares for ``create_agent``, usable alone
* ``permissions``: whether a tool call may run, also below subagents
* ``pii``: keeps what an agent's PIIMiddleware redacts out of the stream
* ``recognise``: recognises LangChain's objects without importing LangChain
* ``stop_reasons``: how a run ended, by provider
* ``tools``: tools of a session: MCP servers, client tools
* ``turn``: one turn of a compiled graph, from the prompt to its end
* ``usage``: how many tokens a message cost
* ``user_functions``: functions that a user gives as options, and which never break a run
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trunkline._lazy import lazy_names

if TYPE_CHECKING:
    from trunkline.agents.langchain.agent import LangChainAgent
    from trunkline.agents.langchain.callbacks.hosted_handler import TrunklineCallbackHandler
    from trunkline.agents.langchain.custom_events import emit_custom, emit_raw
    from trunkline.agents.langchain.errors import map_error_to_content
    from trunkline.agents.langchain.hosted.acp import acp_agent, acp_middleware
    from trunkline.agents.langchain.hosted.agui import agui_agent, agui_middleware, agui_system
    from trunkline.agents.langchain.hosted.context import TrunklineContext
    from trunkline.agents.langchain.hosted.options import AcpAgentOptions, AguiAgentOptions
    from trunkline.agents.langchain.messages.content_mapper import ContentBlockMapper
    from trunkline.agents.langchain.middleware.mode import READY_MODES, Mode, ModeMiddleware
    from trunkline.agents.langchain.middleware.permission import PermissionMiddleware, Rule
    from trunkline.agents.langchain.middleware.plan import PlanMiddleware, emit_plan
    from trunkline.agents.langchain.middleware.session import SessionMiddleware
    from trunkline.agents.langchain.middleware.tools import ToolMiddleware
    from trunkline.agents.langchain.stop_reasons import map_to_stop_reason
    from trunkline.agents.langchain.tools.mcp_tools import load_mcp_tools
    from trunkline.agents.langchain.tools.session_tools import session_tools

__all__ = [
    "READY_MODES",
    "AcpAgentOptions",
    "AguiAgentOptions",
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
    "emit_custom",
    "emit_plan",
    "emit_raw",
    "load_mcp_tools",
    "map_error_to_content",
    "map_to_stop_reason",
    "session_tools",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "READY_MODES": "trunkline.agents.langchain.middleware.mode",
        "AcpAgentOptions": "trunkline.agents.langchain.hosted.options",
        "AguiAgentOptions": "trunkline.agents.langchain.hosted.options",
        "ContentBlockMapper": "trunkline.agents.langchain.messages.content_mapper",
        "LangChainAgent": "trunkline.agents.langchain.agent",
        "Mode": "trunkline.agents.langchain.middleware.mode",
        "ModeMiddleware": "trunkline.agents.langchain.middleware.mode",
        "PermissionMiddleware": "trunkline.agents.langchain.middleware.permission",
        "PlanMiddleware": "trunkline.agents.langchain.middleware.plan",
        "Rule": "trunkline.agents.langchain.middleware.permission",
        "SessionMiddleware": "trunkline.agents.langchain.middleware.session",
        "ToolMiddleware": "trunkline.agents.langchain.middleware.tools",
        "TrunklineCallbackHandler": "trunkline.agents.langchain.callbacks.hosted_handler",
        "TrunklineContext": "trunkline.agents.langchain.hosted.context",
        "acp_agent": "trunkline.agents.langchain.hosted.acp",
        "acp_middleware": "trunkline.agents.langchain.hosted.acp",
        "agui_agent": "trunkline.agents.langchain.hosted.agui",
        "agui_middleware": "trunkline.agents.langchain.hosted.agui",
        "agui_system": "trunkline.agents.langchain.hosted.agui",
        "emit_custom": "trunkline.agents.langchain.custom_events",
        "emit_plan": "trunkline.agents.langchain.middleware.plan",
        "emit_raw": "trunkline.agents.langchain.custom_events",
        "load_mcp_tools": "trunkline.agents.langchain.tools.mcp_tools",
        "map_error_to_content": "trunkline.agents.langchain.errors",
        "map_to_stop_reason": "trunkline.agents.langchain.stop_reasons",
        "session_tools": "trunkline.agents.langchain.tools.session_tools",
    },
    extras={"trunkline.agents.langchain.tools.mcp_tools": "mcp", "trunkline.agents.langchain": "langchain"},
)
