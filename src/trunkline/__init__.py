"""One trunk, many lines: any agent in any front end.

Names are loaded when they are first used: ``import trunkline`` itself does no work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trunkline._lazy import lazy_names
from trunkline._version import __version__

if TYPE_CHECKING:
    from trunkline.agents.adapt import adapt
    from trunkline.agents.function import agent
    from trunkline.agents.interface import Agent, AgentCard
    from trunkline.agents.targets import resolve_target
    from trunkline.commands import Answer, Cancel, Prompt
    from trunkline.conversation import Conversation
    from trunkline.cursor import Cursor
    from trunkline.errors import TrunklineError
    from trunkline.events import Event
    from trunkline.folding import fold
    from trunkline.frontends.acp.manual import stdio_transport
    from trunkline.frontends.acp.stdio import serve_acp
    from trunkline.journal import open_journal
    from trunkline.server.asgi import asgi
    from trunkline.session.context import TurnContext
    from trunkline.session.hub import Hub
    from trunkline.session.session import Session
    from trunkline.session.settings import Settings
    from trunkline.session.window import Window
    from trunkline.translate import Translator

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

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "__version__": "trunkline._version",
        "Agent": "trunkline.agents.interface",
        "AgentCard": "trunkline.agents.interface",
        "Answer": "trunkline.commands",
        "Cancel": "trunkline.commands",
        "Conversation": "trunkline.conversation",
        "Cursor": "trunkline.cursor",
        "Event": "trunkline.events",
        "Hub": "trunkline.session.hub",
        "Prompt": "trunkline.commands",
        "Session": "trunkline.session.session",
        "Settings": "trunkline.session.settings",
        "Translator": "trunkline.translate",
        "TrunklineError": "trunkline.errors",
        "TurnContext": "trunkline.session.context",
        "Window": "trunkline.session.window",
        "adapt": "trunkline.agents.adapt",
        "agent": "trunkline.agents.function",
        "asgi": "trunkline.server.asgi",
        "fold": "trunkline.folding",
        "open_journal": "trunkline.journal",
        "resolve_target": "trunkline.agents.targets",
        "serve_acp": "trunkline.frontends.acp.stdio",
        "stdio_transport": "trunkline.frontends.acp.manual",
    },
)
