"""The session of a run: its answers, its shared state and its MCP servers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Self, cast, get_args

from langchain.agents.middleware import AgentMiddleware
from langgraph.config import get_config

from trunkline.agents.langchain.callbacks.begin_run import begin_run
from trunkline.agents.langchain.callbacks.listener import MODEL_STEP
from trunkline.agents.langchain.channel import Channel
from trunkline.agents.langchain.channel_lookup import ChannelSource, find_channel, is_nested, use_run_channel
from trunkline.agents.langchain.graph.shared_state import StateEvents, public_channels, show_state
from trunkline.agents.langchain.hosted.run_channels import session_in
from trunkline.agents.langchain.messages.history import split_turn
from trunkline.agents.langchain.middleware._hooks import (
    MODEL_HOOKS,
    NO_PAYLOADS,
    TOOL_HOOKS,
    inline,
    remove_hooks,
)
from trunkline.agents.langchain.middleware._mcp_servers import AttachedServers
from trunkline.agents.langchain.middleware._run_observer import add_to_state, state_channels
from trunkline.agents.langchain.tools.session_tools import add_tools, run_tool_call, run_tool_call_sync
from trunkline.agents.langchain.user_functions import SessionIdExtractor, check_function, contain_extractor
from trunkline.errors import ConfigurationError

if TYPE_CHECKING:
    from trunkline.mcp.server_settings import Servers

Snapshots = Literal["initial", "final", "all", "none"]
StateMapper = Callable[[dict[str, Any]], Any]
"""From the values of a graph, without its messages, to what is shown of them."""


class SessionMiddleware(AgentMiddleware[Any, Any, Any]):
    """Shows the state of an agent and its answers, and gives it the tools of MCP servers.

    ``initial`` shows the state once and then its changes, ``all`` the whole state at each change,
    ``final`` only the last one, ``none`` nothing, and without servers it does nothing at all then. The
    servers of a session are opened when it first calls its model, and closed with it; where there are no
    sessions, ``aclose`` the middleware, or use it in ``async with``.
    """

    trace_policy = NO_PAYLOADS
    channel_source: ChannelSource | None = None
    shows_answers = False
    """Whether it shows answers also where it shows no state."""

    def __init__(
        self,
        *,
        session_id_extractor: SessionIdExtractor | None = None,
        emit_state_snapshots: Snapshots = "initial",
        state_mapper: StateMapper | None = None,
        mcp_servers: Servers | None = None,
        mcp_tool_options: Mapping[str, Any] | None = None,
    ) -> None:
        """Take the session's id from a run's config: by default it is the thread's."""
        super().__init__()
        if emit_state_snapshots not in get_args(Snapshots):
            raise ConfigurationError(
                f"emit_state_snapshots is one of {', '.join(get_args(Snapshots))}, "
                f"not {emit_state_snapshots!r}"
            )
        if mcp_tool_options is not None and not mcp_servers:
            raise ConfigurationError(
                "mcp_tool_options does nothing without mcp_servers: give both, or leave it out"
            )
        self.session_id_extractor = contain_extractor(session_id_extractor)
        self.emit_state_snapshots: Snapshots = emit_state_snapshots
        check_function(state_mapper, "state_mapper")
        self.state_mapper = state_mapper
        self._servers = AttachedServers(mcp_servers, mcp_tool_options) if mcp_servers else None
        self._state_events = StateEvents(emit_state_snapshots, state_mapper)
        idle = emit_state_snapshots == "none" and not mcp_servers and not self.shows_answers
        if idle:
            remove_hooks(self, *MODEL_HOOKS, *TOOL_HOOKS)
        add_to_state(self, None if idle else begin_run)

    @property
    def name(self) -> str:
        """The name of the middleware, whichever class it is."""
        return "SessionMiddleware"

    @property
    def has_servers(self) -> bool:
        """Whether sessions have MCP servers by this middleware."""
        return self._servers is not None

    def session_of(self, config: Any) -> str | None:
        """Say to which session a run or a checkpoint belongs, by its config."""
        return (self.session_id_extractor or session_in)(config)

    async def aclose(self) -> None:
        """End the MCP servers of all sessions; idempotent."""
        if self._servers is not None:
            await self._servers.close()

    async def __aenter__(self) -> Self:
        """Begin; servers open when they are needed."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """End the servers."""
        await self.aclose()

    # -- the model ---------------------------------------------------------------------------------

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Show the state as it is now, and offer the model the session's tools."""
        channel = self._begin_model_call(request)
        owner = self._owner(channel)
        if owner is not None and self._servers is not None and (loaded := self._servers.load(owner)):
            request = request.override(tools=[*request.tools, *loaded])
        response = handler(add_tools(request, owner))
        self._show_answer(channel, request, response)
        return response

    @inline
    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Show the state as it is now, and offer the model the session's tools."""
        channel = self._begin_model_call(request)
        owner = self._owner(channel)
        if owner is not None and self._servers is not None:
            await self._servers.attach(owner)
        if channel is not None and not channel.follows_run:
            await channel.ctx.ready()
        response = await handler(add_tools(request, owner))
        self._show_answer(channel, request, response)
        return response

    def _owner(self, channel: Channel | None) -> Channel | None:
        """The channel whose session has the tools."""
        if self._servers is None or channel is not None:
            return channel
        return self._servers.listener(channel, self.session_of(get_config()))

    def _begin_model_call(self, request: Any) -> Channel | None:
        channel = find_channel(request.runtime, self)
        if channel is not None and not channel.follows_run and not is_nested(request.runtime):
            public = public_channels(state_channels(get_config()))
            self._show_state(channel, {name: request.state[name] for name in public if name in request.state})
            _show_results(channel, request.state)
        return channel

    def _show_answer(self, channel: Channel | None, request: Any, response: Any) -> None:
        """Say what the model answered, where no callback said it token by token."""
        if channel is not None and channel.run is not None and not is_nested(request.runtime):
            answer = getattr(response, "model_response", response)
            for message in getattr(answer, "result", [answer]):
                emitter, step_id = channel.emitter, None
                if not emitter.is_emitted(message.id):
                    step_id = emitter.step_started(None, "model", MODEL_STEP)
                emitter.message(None, message)
                emitter.step_finished(None, step_id, message.id)

    # -- the tools ---------------------------------------------------------------------------------

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Run a tool, one of the session's own too."""
        with use_run_channel(request.runtime, self) as channel:
            owner = self._owner(channel)
            if owner is not None and self._servers is not None and request.tool is None:
                name = request.tool_call["name"]
                tool = next((tool for tool in self._servers.load(owner) if tool.name == name), None)
                request = request if tool is None else request.override(tool=tool)
            return run_tool_call_sync(request, handler, owner)

    @inline
    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Run a tool, one of the session's own too."""
        with use_run_channel(request.runtime, self) as channel:
            return await run_tool_call(request, handler, self._owner(channel))

    # -- the state ---------------------------------------------------------------------------------

    def show_end(self, channel: Channel, state: dict[str, Any]) -> None:
        """Show the last state of a run that finishes, and messages that no model wrote, such as a guard's."""
        if channel.run is not None:
            for message in split_turn(state)[1]:
                channel.emitter.message(None, message)
        self._show_state(channel, state, last=True)

    def _show_state(self, channel: Channel, state: dict[str, Any], *, last: bool = False) -> None:
        if not channel.follows_run:  # A session reads the state from the graph itself.
            show_state(channel, self._state_events, state, last=last)


def _show_results(channel: Channel, state: Mapping[str, Any]) -> None:
    """Show how calls ended, where no ToolMiddleware and no callback handler did."""
    messages = cast("list[Any]", state.get("messages") or [])
    answered = next((at for at, one in enumerate(reversed(messages)) if one.type == "ai"), 0)
    for message in messages[len(messages) - answered :]:
        # A call of an earlier turn is not known here.
        if message.type == "tool" and channel.emitter.call_id_of(None, str(message.tool_call_id)) is not None:
            channel.emitter.tool_message(None, message)
