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
from typing import Any, Unpack, cast

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables.config import RunnableConfig

from trunkline import events as ev
from trunkline.agents.langchain.channel import Channel
from trunkline.agents.langchain.graph.inputs import input_for
from trunkline.agents.langchain.graph.threads import history
from trunkline.agents.langchain.hosted.agent import OwnAgent, build_agent
from trunkline.agents.langchain.hosted.middleware import OwnMiddleware
from trunkline.agents.langchain.hosted.options import AcpAgentOptions, AcpOptions
from trunkline.agents.langchain.messages.content_mapper import ContentBlockMapper
from trunkline.errors import ConfigurationError, SessionNotFound
from trunkline.protocols.acp import wire
from trunkline.protocols.acp.config_options import modes_to_wire
from trunkline.protocols.acp.content import blocks_from_wire
from trunkline.protocols.acp.transport import AcpTransport
from trunkline.session.ids import new_id
from trunkline.session.imported_history import as_events


def acp_middleware(transport: AcpTransport | None = None, **options: Unpack[AcpOptions]) -> OwnMiddleware:
    """Make the middlewares and callbacks with which an agent speaks ACP through a transport.

    Options are those of SessionMiddleware, ToolMiddleware, PermissionMiddleware (with ``policy``),
    ModeMiddleware (with ``modes``), PlanMiddleware and TrunklineCallbackHandler, by name; besides,
    ``client_capabilities`` are what the client said it can do. Everything is on by default. Without a
    transport each run brings its own: ``context=TrunklineContext(transport=...)``.
    """
    return OwnMiddleware("acp", transport, dict(options))


def acp_agent(
    model_or_agent: Any,
    tools: Iterable[Any] | None = None,
    *,
    transport: AcpTransport | None = None,
    middleware: Iterable[Any] = (),
    callbacks: Iterable[BaseCallbackHandler] = (),
    **options: Unpack[AcpAgentOptions],
) -> AcpAgent:
    """Make an agent that speaks ACP, from a model (as ``create_agent`` does) or around an agent.

    Options are those of ``acp_middleware`` and of ``create_agent``. ``AcpAgentOptions`` has their names
    and types, and docs/langchain.md says what they do. An agent that exists already is followed by callbacks
    alone: an option that needs a middleware inside it raises ConfigurationError.
    """
    return AcpAgent(*build_agent("acp", model_or_agent, tools, transport, middleware, options), callbacks)


class AcpAgent(OwnAgent):
    """An agent that shows an ACP client what it does.

    Besides what the agent itself takes, it takes a client's prompt as it came: a ``PromptRequest``, whose
    session is the thread.
    """

    def _prepare(self, input: Any, channel: Channel | None, config: RunnableConfig) -> Any:
        if not isinstance(input, wire.PromptRequest):
            return input
        message = ContentBlockMapper().user_message(blocks_from_wire(input.prompt))
        return input_for(self.agent, [message], message.text, {}, "the agent")

    async def load(
        self,
        request: wire.LoadSessionRequest,
        config: RunnableConfig | None = None,
        *,
        transport: AcpTransport | None = None,
        context: Any = None,
    ) -> None:
        """Show a client the thread that it loads; one that the checkpointer lacks raises SessionNotFound."""
        if not isinstance(cast("Any", request), wire.LoadSessionRequest):
            raise ConfigurationError(
                "load takes the client's request as it came: await agent.load(request) in on_load_session"
            )
        _, run, merged = self._identify(request, config, transport, context, {})
        if not getattr(self.agent, "checkpointer", None):
            raise ConfigurationError("no thread can be loaded: give the agent a checkpointer")
        mapper = self.middleware.runs.content_mapper
        thread_id = merged.get("configurable", {})["thread_id"]
        thread = await history(self.agent, thread_id, content_mapper=mapper)
        if thread is None:
            raise SessionNotFound(f"there is no session {request.session_id}: begin a new one")
        output = self.middleware.runs.front_end.open(run, None)
        output.begin(run)
        for event in as_events(thread.messages, thread.calls, lambda: new_id("turn")):
            output.show(cast("ev.AnyEvent", event))

    def session_modes(self, thread_id: str | None = None) -> dict[str, Any]:
        """Give the ``modes`` for the answer to ``session/new``, or to ``session/load`` of a thread."""
        modes = self._modes()
        return modes_to_wire(modes.options(modes.mode_of_thread(thread_id))) or {}
