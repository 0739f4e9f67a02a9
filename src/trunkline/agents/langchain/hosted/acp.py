"""ACP for somebody's own agent, without a server of ours: ``acp_agent`` and ``acp_middleware``.

::

    own = acp_middleware(transport, policy={"write_*": Rule()})
    agent = create_agent(model, tools, middleware=own)
    await agent.ainvoke(prompt, {"callbacks": own.callbacks, "configurable": {"thread_id": session_id}})

    agent = acp_agent(model, tools, transport=transport)          # the same in one object
    await agent.ainvoke(prompt, {"configurable": {"thread_id": session_id}})
    await agent.ainvoke(prompt, transport=another)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler

from trunkline.agents.langchain.hosted.agent import OwnAgent
from trunkline.agents.langchain.hosted.middleware import OwnMiddleware, assemble, known_options
from trunkline.protocols.acp.transport import AcpTransport

__all__ = ["AcpAgent", "acp_agent", "acp_middleware"]


def acp_middleware(transport: AcpTransport | None = None, **options: Any) -> OwnMiddleware:
    """Make the middlewares and callbacks with which an agent speaks ACP through a transport.

    Options are those of SessionMiddleware, ToolMiddleware, PermissionMiddleware (with ``policy``),
    ModeMiddleware (with ``modes``), PlanMiddleware and TrunklineCallbackHandler, by name; besides,
    ``client_capabilities`` are what the client said it can do. Everything is on by default. Without a
    transport each run brings its own: ``context=TrunklineContext(transport=...)``.
    """
    return OwnMiddleware("acp", transport, options)


def acp_agent(
    model_or_agent: Any,
    tools: Iterable[Any] | None = None,
    *,
    transport: AcpTransport | None = None,
    middleware: Iterable[Any] = (),
    callbacks: Iterable[BaseCallbackHandler] = (),
    **options: Any,
) -> AcpAgent:
    """Make an agent that speaks ACP, from a model (as ``create_agent`` does) or around an agent.

    Options are those of ``acp_middleware`` and of ``create_agent``. An agent that exists already is
    followed by callbacks alone: an option that needs a middleware inside it raises ConfigurationError.
    """
    known = known_options("acp")
    own = acp_middleware(transport, **{name: options.pop(name) for name in known if name in options})
    built = assemble("acp_agent", model_or_agent, tools, own, middleware, known, options)
    return AcpAgent(built, own, callbacks)


class AcpAgent(OwnAgent):
    """An agent that shows an ACP client what it does."""
