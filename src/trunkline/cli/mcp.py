"""``trunkline mcp``: the tools of a registry for MCP clients."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

import click

from trunkline.cli.config_option import config_option
from trunkline.cli.options import env_file_option, policy_option
from trunkline.cli.start import prepare_process
from trunkline.cli.target_argument import target_argument

if TYPE_CHECKING:
    from trunkline.tools import ToolRegistry
    from trunkline.tools.mcp_server.server import ServerInfo
    from trunkline.workspace.policy import Policy

_HELP = """Serve the tools of TARGET over the Model Context Protocol on stdin and stdout.

TARGET names a ToolRegistry (module:attr or path/file.py:attr), or an agent that has tools. MCP clients run
this; there is nothing to type. Whatever a tool prints goes to stderr.

A tool that must ask for a permission asks the client's user (elicitation). Where the client cannot ask, the
tool is refused, unless --policy allows it.

\b
Examples:
  Claude Desktop, claude_desktop_config.json:
    "mcpServers": {"bank": {"command": "trunkline", "args": ["mcp", "/path/to/tools.py:registry"]}}
  Let it read without questions:
    trunkline mcp tools.py:registry --policy allow-reads
"""


@click.command("mcp", help=_HELP)
@target_argument
@policy_option
@config_option
@env_file_option
def command(target: str, policy: Policy | None) -> None:
    from trunkline.tools.mcp_server.stdio import serve_mcp

    prepare_process()
    serve_mcp(lambda: load_tools(target), policy=policy)


def load_tools(target: str) -> tuple[ToolRegistry, ServerInfo]:
    """The tools of a TARGET, and what the server says of itself."""
    from trunkline.agents.targets import load_target
    from trunkline.errors import TargetError
    from trunkline.tools.mcp_server.server import ServerInfo

    thing = load_target(target)
    registry = registry_of(thing)
    if registry is None:
        raise TargetError(
            f"{target} has no tools: name a trunkline.tools.ToolRegistry, or an agent whose .tools is one"
        )
    card = getattr(thing, "card", None)
    if card is None:
        return registry, ServerInfo(name=target.rpartition(":")[2] or target)
    # A card speaks to people; an agent may have words for the model of the client.
    instructions = getattr(thing, "instructions", None)
    if not isinstance(instructions, str):
        instructions = card.description
    about = ServerInfo(name=card.name, title=card.title, version=card.version, instructions=instructions)
    return registry, about


def registry_of(thing: Any) -> ToolRegistry | None:
    """The registry that an object is or has; also the registered tools among a framework's own."""
    from trunkline.tools import Tool, ToolRegistry
    from trunkline.tools.adapter_calls import declared_tool

    if isinstance(thing, ToolRegistry):
        return thing
    tools: Any = getattr(thing, "tools", None)
    if isinstance(tools, ToolRegistry):
        return tools
    if not isinstance(tools, Iterable):
        return None
    found = [one if isinstance(one, Tool) else declared_tool(one) for one in cast("Iterable[Any]", tools)]
    kept = [one for one in found if one is not None]
    return ToolRegistry(kept) if kept else None
