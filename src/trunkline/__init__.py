"""One trunk, many lines: any agent in any front end.

Names are loaded when they are first used: ``import trunkline`` itself does no work.

* ``_lazy``: loads the public names of a package when they are first used
* ``_version``: the version of the package
* ``agents``: sources of events: the interface, functions, frameworks, programs, AG-UI servers
* ``cli``: the command line, one module per command
* ``commands``: what a front end asks of a session
* ``config_file``: the configuration file trunkline.toml
* ``conformance``: ``trunkline check``: requirements of the protocols, each with a check
* ``content``: the blocks that messages, results and prompts are made of
* ``context``: the turn that the running code belongs to
* ``conversation``: what the events of a session mean, as values
* ``cursor``: positions in a session, and cutting a delta at one
* ``demos``: the agents behind ``demo`` and ``finance``
* ``env_file``: files of variables (.env)
* ``error_redaction``: leaves the words of exceptions out of what goes to clients far away
* ``errors``: the error tree, with whose fault it is and its form on a wire
* ``events``: the neutral events
* ``exports``: sessions as files: text, markdown, JSON, HTML
* ``folding``: from events to the conversation that they mean
* ``frontends``: one folder per protocol that clients speak
* ``grammar``: the legal order of events, and the repair of a stream that breaks it
* ``intents``: what a client's request means for a session
* ``journal``: where sessions are kept
* ``json_patch``: compare, copy, patch (RFC 6902) and diff JSON values
* ``mcp``: the client side of MCP, without any agent framework
* ``newer_records``: reads what this version understands of a newer record
* ``open_words``: fields with known words that keep any other one
* ``options``: configuration options of a session; a mode is one of them
* ``outline``: the ids of a conversation in their order
* ``own_files``: the files that this process obeys, which no agent of it may change
* ``protocols``: what two sides speak: wire types, JSON-RPC, server-sent events
* ``questions``: what an agent asks a person, and the options of an answer
* ``safe_text``: text without characters that steer a terminal or hide something, and short titles
* ``server``: agents over HTTP
* ``session``: everything that lives: sessions, turns, questions, windows, the hub
* ``state_files``: small facts in the state folder of the user
* ``target_names``: TARGETs as texts: what one is made of, and how a session records it
* ``testing``: tools for tests of agents and front ends
* ``tools``: functions that models call, and what people see of a call
* ``traces``: what a client and an agent said, recorded and played again
* ``translate``: the Translator, and how one is primed and pumped
* ``transports``: what moves bytes, and child processes
* ``workspace``: a session's files and terminals, and the policy for both
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trunkline._lazy import lazy_names
from trunkline._version import __version__

if TYPE_CHECKING:
    from trunkline import content as content
    from trunkline import context as context
    from trunkline import cursor as cursor
    from trunkline import errors as errors
    from trunkline import events as events
    from trunkline import options as options
    from trunkline import testing as testing
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
    modules=("content", "context", "cursor", "errors", "events", "options", "testing"),
)
