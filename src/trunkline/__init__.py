"""One trunk, many lines: any agent in any front end.

Names are loaded when they are first used: ``import trunkline`` itself does no work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trunkline._version import __version__

if TYPE_CHECKING:
    from trunkline.adapters import adapt
    from trunkline.agents.function import agent
    from trunkline.agents.interface import Agent, AgentCard
    from trunkline.commands import Answer, Cancel, Prompt
    from trunkline.context import TurnContext
    from trunkline.conversation import Conversation
    from trunkline.cursor import Cursor
    from trunkline.errors import TrunklineError
    from trunkline.events import Event
    from trunkline.folding import fold
    from trunkline.frontends.acp.handset import stdio_transport
    from trunkline.frontends.acp.serving import serve_acp
    from trunkline.hub import Hub
    from trunkline.journal import open_journal
    from trunkline.server.app import asgi
    from trunkline.session import Session
    from trunkline.settings import Settings
    from trunkline.targets import resolve_target
    from trunkline.translate import Translator
    from trunkline.window import Window

__all__ = [
    "Agent",
    "AgentCard",
    "Answer",
    "Cancel",
    "Conversation",
    "Cursor",
    "Event",
    "Hub",
    "Prompt",
    "Session",
    "Settings",
    "Translator",
    "TrunklineError",
    "TurnContext",
    "Window",
    "__version__",
    "adapt",
    "agent",
    "asgi",
    "fold",
    "open_journal",
    "resolve_target",
    "serve_acp",
    "stdio_transport",
]

_HOMES = {
    "Agent": "agents.interface",
    "AgentCard": "agents.interface",
    "Answer": "commands",
    "Cancel": "commands",
    "Conversation": "conversation",
    "Cursor": "cursor",
    "Event": "events",
    "Hub": "hub",
    "Prompt": "commands",
    "Session": "session",
    "Settings": "settings",
    "Translator": "translate",
    "TrunklineError": "errors",
    "TurnContext": "context",
    "Window": "window",
    "adapt": "adapters",
    "agent": "agents.function",
    "asgi": "server.app",
    "fold": "folding",
    "open_journal": "journal",
    "resolve_target": "targets",
    "serve_acp": "frontends.acp.serving",
    "stdio_transport": "frontends.acp.handset",
}


def __getattr__(name: str) -> Any:
    """Load a public name from its home."""
    import importlib

    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'trunkline' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"trunkline.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return __all__
