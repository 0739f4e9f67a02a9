"""The agents of one turn: copies of the user's own, with the session's tools, servers and options.

The user's agents serve many sessions at once and are never changed. A copy reaches the agents that a
conversation can be handed to, and those that are called as tools.
"""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from agents.mcp import MCPServer

from agents import (
    Agent,
    ApplyPatchTool,
    ComputerTool,
    CustomTool,
    FunctionTool,
    Handoff,
    HostedMCPTool,
    LocalShellTool,
    RunConfig,
    ShellTool,
    Tool,
)
from trunkline.agents.openai.options import chosen_settings
from trunkline.agents.openai.running_calls import OUTER
from trunkline.agents.openai.stream_events.hook_facts import NestedEvent
from trunkline.agents.openai.tools.function_tools import ToolCopies
from trunkline.agents.openai.tools.hosted_servers import copy_hosted_server
from trunkline.agents.openai.tools.native_tools import copy_native_tool
from trunkline.agents.openai.tools.nested_agents import CannotShow, copy_agent_tool, inner_agent
from trunkline.agents.openai.tools.own_servers import watch_server

_HIDDEN = (
    "this version of openai-agents keeps an agent's tool in another way: make the tool with "
    "as_tool(..., on_stream=...), or install a version that trunkline knows"
)


class AgentCopies:
    """Makes the copies of agents for one turn; of each agent there is one."""

    def __init__(
        self,
        main: Agent[Any],
        tools: ToolCopies,
        *,
        config: Mapping[str, Any],
        run_config: RunConfig | None,
        session_tools: Sequence[FunctionTool] = (),
        servers: Sequence[MCPServer] = (),
        notify: Callable[[str, str], None],
    ) -> None:
        """Copy on demand; ``notify`` shows a person what is not as they expect, by a title and a text."""
        self._main = main
        self._tools = tools
        self._config = config
        self._run_config = run_config
        self._session_tools = list(session_tools)
        self._servers = list(servers)
        self._notify = notify
        self._copies: dict[int, tuple[Agent[Any], Agent[Any]]] = {}
        self._classes: dict[type[Any], type[Any]] = {}

    def copy(self, agent: Agent[Any], *, joins: bool = True) -> Agent[Any]:
        """Give the copy of an agent; one that ``joins`` the conversation has the session's own tools too."""
        known = self._copies.get(id(agent))
        if known is not None:
            return known[1]
        changed = chosen_settings(agent, self._main, self._config, self._run_config)
        servers = [watch_server(server, self._tools.calls) for server in agent.mcp_servers]
        # Lists are never shared: the SDK would see a change of one in every run that uses it.
        made = agent.clone(tools=[], handoffs=[], mcp_servers=servers, **changed)
        self._copies[id(agent)] = (agent, made)
        made.__class__ = self._class_of(type(agent))
        made.tools = [copy for tool in agent.tools if (copy := self._judged(tool)) is not None]
        made.handoffs = [self._handoff(target, joins) for target in agent.handoffs]
        if joins:
            own = {tool.name for tool in agent.tools}
            made.tools += [tool for tool in self._session_tools if tool.name not in own]
            made.mcp_servers += self._servers
        return made

    def _class_of(self, kind: type[Any]) -> type[Any]:
        """A class whose agents ask about the tools of MCP servers too: these are listed anew each time."""
        made = self._classes.get(kind)
        if made is None:
            copies = self

            async def get_mcp_tools(self: Any, run_context: Any) -> list[Tool]:
                return [copies._tool(tool) for tool in await kind.get_mcp_tools(self, run_context)]

            made = type(
                kind.__name__, (kind,), {"get_mcp_tools": get_mcp_tools, "__module__": kind.__module__}
            )
            self._classes[kind] = made
        return made

    def _judged(self, tool: Tool) -> Tool | None:
        """Give the copy of a tool; None where there is a policy that could not judge what the tool does."""
        has_policy = self._tools.permissions.has_policy
        if isinstance(tool, ComputerTool) and has_policy:
            # The SDK asks nobody before a click or a key.
            self._notify(
                "The computer tool is left out",
                "no policy can judge its clicks and keys: serve the agent without a policy to use it",
            )
            return None
        try:
            return self._tool(tool)
        except CannotShow as error:
            if has_policy:
                self._notify(f"{error} is left out", f"no policy can judge what it does: {_HIDDEN}")
                return None
            self._notify(f"What {error} does is not shown", _HIDDEN)
            return self._tools.function_tool(cast("FunctionTool", tool))

    def _tool(self, tool: Tool) -> Tool:
        if isinstance(tool, FunctionTool):
            inner = inner_agent(tool)
            if inner is not None:
                tool = copy_agent_tool(tool, self.copy(inner, joins=False), self._listen)
            return self._tools.function_tool(tool)
        if isinstance(tool, ShellTool | ApplyPatchTool | CustomTool | LocalShellTool):
            return copy_native_tool(tool, self._tools)
        if isinstance(tool, HostedMCPTool):
            return copy_hosted_server(tool, self._tools.permissions)
        return tool

    async def _listen(self, payload: Any) -> None:
        """Show what happens in an agent that was called as a tool."""
        self._tools.calls.feed(
            NestedEvent(
                tool_call=payload["tool_call"],
                event=payload["event"],
                agent=payload["agent"].name,
                parent=OUTER.get(),
            )
        )

    def _handoff(self, target: Any, joins: bool) -> Any:
        if isinstance(target, Agent):
            return self.copy(cast("Agent[Any]", target), joins=joins)
        return self._copy_handoff(cast("Handoff[Any, Any]", target), joins)

    def _copy_handoff(self, handoff: Handoff[Any, Any], joins: bool) -> Handoff[Any, Any]:
        """Give a handoff whose agent is the copy; which agent that is only its own function knows."""

        async def invoke(context: Any, arguments: str) -> Any:
            agent: Any = await handoff.on_invoke_handoff(context, arguments)
            return self.copy(cast("Agent[Any]", agent), joins=joins) if isinstance(agent, Agent) else agent

        made = dataclasses.replace(handoff, on_invoke_handoff=invoke)
        reference: Any = getattr(handoff, "_agent_ref", None)
        agent: Any = reference() if reference is not None else None
        if isinstance(agent, Agent):
            cast("Any", made)._agent_ref = weakref.ref(self.copy(cast("Agent[Any]", agent), joins=joins))
        return made
