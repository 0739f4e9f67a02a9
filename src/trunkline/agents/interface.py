"""The agent interface: what a source of events is, and what it may offer besides.

Above are sessions, which run agents and know nothing of frameworks; below are the adapters, which
make agents of functions, graphs and processes. Only ``card`` and ``run`` are required. Everything
else is a hook that a session looks for by name.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

import msgspec

from trunkline.events import Answered, CommandInfo
from trunkline.options import ConfigOption
from trunkline.session.context import Sayable

if TYPE_CHECKING:
    from trunkline.commands import Prompt
    from trunkline.conversation import Conversation
    from trunkline.session.context import SessionView, TurnContext

__all__ = [
    "Agent",
    "AgentCard",
    "AuthMethod",
    "Authenticates",
    "Closes",
    "ClosesSessions",
    "Completes",
    "DeletesSessions",
    "Forks",
    "HasCommand",
    "HasHistory",
    "ImportsSessions",
    "JudgesHistory",
    "LoginCommand",
    "LogsInByCommand",
    "McpCapabilities",
    "OpensSessions",
    "OwnSession",
    "Prepares",
    "PromptCapabilities",
    "RemembersQuestions",
    "Resumes",
    "Rewinds",
    "Sayable",
    "SetsConfig",
    "ShowsWire",
    "Steers",
    "WireLine",
    "WireLines",
]


class PromptCapabilities(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a prompt may contain besides text and links."""

    image: bool = False
    audio: bool = False
    embedded_context: bool = True


class McpCapabilities(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How an agent can reach a session's MCP servers, besides starting them."""

    http: bool = False
    sse: bool = False


class AuthMethod(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A way to log in: by the agent, by its command in a terminal, or by variables of its environment."""

    method_id: str
    name: str
    description: str | None = None
    kind: Literal["agent", "terminal", "env_var"] = "agent"
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    variables: tuple[str, ...] = ()
    """The variables that a login of the kind ``env_var`` needs, for instance an API key's."""


class LoginCommand(msgspec.Struct, frozen=True, kw_only=True):
    """The command that logs in, for a person at a terminal; exit code 0 says that it worked."""

    argv: tuple[str, ...]
    env: dict[str, str] = {}
    """Variables besides those of the user."""


class AgentCard(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an agent says of itself before it runs."""

    name: str
    title: str | None = None
    version: str = "0"
    description: str | None = None
    prompt: PromptCapabilities = PromptCapabilities()
    mcp: McpCapabilities = McpCapabilities()
    options: tuple[ConfigOption, ...] = ()
    commands: tuple[CommandInfo, ...] = ()
    auth_methods: tuple[AuthMethod, ...] = ()
    authoritative_history: bool = False
    """Whether what ``history`` gives is the truth about a session and is cheap to ask for, as a stored thread
    is: then it also makes sessions that the journal does not know, and wins where the journal differs. A
    memory that is poorer than the journal (a replay) only fills a session that has no turn yet."""
    foreign_words: bool = False
    """Whether its events have words of another program (an adapter's peer): a kind or a status that we do not
    know is then kept as it is; else it is the agent's mistake."""


@runtime_checkable
class Agent(Protocol):
    """A source of events."""

    @property
    def card(self) -> AgentCard:
        """What the agent says of itself."""
        ...

    def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[Sayable]:
        """Answer one prompt. Cancellation is task cancellation."""
        ...


@runtime_checkable
class Prepares(Protocol):
    """An agent whose card comes from another program, by a handshake."""

    async def prepare(self) -> None:
        """Get ready to be described; called once in a process, before the card is used or cached.

        Called again after an exception. Until it returns, the card is a placeholder.
        """


@runtime_checkable
class Closes(Protocol):
    """An agent that holds something besides its sessions: a process, a connection."""

    async def close_agent(self) -> None:
        """Let go of it; called when the hub is closed, after the sessions. The agent may be used again."""


@runtime_checkable
class OpensSessions(Protocol):
    """An agent that prepares for a session; may raise AuthenticationRequired."""

    async def open_session(self, session: SessionView) -> None:
        """Called once per session and process, before its first turn."""


@runtime_checkable
class ClosesSessions(Protocol):
    """An agent that lets go of a session's resources."""

    async def close_session(self, session: SessionView) -> None:
        """Called when the session is closed in this process."""


@runtime_checkable
class Resumes(Protocol):
    """An agent that takes answers after a restart (its questions carry a durable_key)."""

    def resume(self, answers: Mapping[str, Answered], ctx: TurnContext) -> AsyncIterator[Sayable]:
        """Go on with a turn of an earlier process; answers are by durable_key."""
        ...


@runtime_checkable
class RemembersQuestions(Protocol):
    """An agent that knows which of its questions it can still take an answer to."""

    async def still_waits(self, session: SessionView, durable_keys: Collection[str]) -> bool:
        """Whether its memory still waits for all of these; asked after a restart, before a person is."""
        ...


@runtime_checkable
class Rewinds(Protocol):
    """An agent with a memory of its own that can go back."""

    async def rewind(self, session: SessionView, to_message_id: str | None) -> None:
        """Forget everything after this message."""


@runtime_checkable
class Forks(Protocol):
    """An agent with a memory of its own that can be copied."""

    async def fork(self, session: SessionView, origin: SessionView) -> None:
        """Let a new session begin with everything that the agent remembers of another one."""


@runtime_checkable
class DeletesSessions(Protocol):
    """An agent with a memory of its own that can forget."""

    async def delete_session(self, session: SessionView) -> None:
        """Forget a session for good; it is closed already."""


@runtime_checkable
class SetsConfig(Protocol):
    """An agent that wants to know, or to refuse, a change of its options."""

    async def set_config(
        self, session: SessionView, options: tuple[ConfigOption, ...]
    ) -> tuple[ConfigOption, ...] | None:
        """Take the new complete list; the list given back, if any, is what is set."""
        ...


Direction = Literal["in", "out"]


class WireLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line between us and an agent's process: ``out`` is what we wrote."""

    at: float
    direction: Direction
    data: str


class WireLines(msgspec.Struct, frozen=True, kw_only=True):
    """The newest lines, oldest first, and how many older ones are not kept."""

    lines: tuple[WireLine, ...] = ()
    dropped: int = 0


@runtime_checkable
class ShowsWire(Protocol):
    """An agent that is another program, and keeps the newest lines that went between us and it."""

    def wire_lines(self, session: SessionView) -> WireLines | None:
        """Give the lines of a session's process, secrets included; None if it has none of its own."""
        ...


@runtime_checkable
class Steers(Protocol):
    """An agent that can take another message while it works on a turn."""

    async def steer(self, session: SessionView, prompt: Prompt) -> bool:
        """Take a message into the running turn; False: not now, then it waits for its own turn.

        The turn does not end before this returns. An exception refuses the message.
        """
        ...


@runtime_checkable
class Authenticates(Protocol):
    """An agent that can log in by itself."""

    async def authenticate(self, method_id: str) -> None:
        """Log in; an unknown method raises InvalidCommand."""

    async def logout(self) -> None:
        """Log out."""


@runtime_checkable
class LogsInByCommand(Protocol):
    """An agent with a login of the kind ``terminal``."""

    def login_command(self, method_id: str) -> LoginCommand:
        """Give the command of a method; an unknown one raises InvalidCommand."""
        ...


@runtime_checkable
class HasCommand(Protocol):
    """An agent that is a program of this machine."""

    def check_command(self) -> None:
        """Raise if the command is not there; a server asks before it serves anything."""
        ...


@runtime_checkable
class HasHistory(Protocol):
    """An agent that remembers its sessions; its card says whether its memory is the truth about them."""

    async def history(self, session: SessionView) -> Conversation | None:
        """The conversation as the agent remembers it; None when it has none.

        Its open questions, each with a durable_key, are those that its memory waits for.
        Asked when a session is opened, before ``open_session``. If it is not the truth (the card's
        ``authoritative_history``), only for a session of the journal that has no turn yet.
        """
        ...


class OwnSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session that exists at an agent, whoever made it."""

    session_id: str
    cwd: str | None = None
    title: str | None = None
    updated_at: str | None = None
    """When it was last used, as the agent writes it."""


@runtime_checkable
class ImportsSessions(Protocol):
    """An agent with sessions of its own, which can become sessions of the journal."""

    async def list_sessions(self, cwd: str | None = None) -> list[OwnSession]:
        """List them; with ``cwd`` only those in this folder."""
        ...

    async def link_session(self, session: SessionView, session_id: str) -> None:
        """Let a new session of ours be one of the agent's: ``history`` then gives what was said in it."""


@runtime_checkable
class JudgesHistory(Protocol):
    """An agent that knows only for an open session whether its history is authoritative (a factory)."""

    async def has_authoritative_history(self, session: SessionView) -> bool:
        """Whether ``history`` is the truth about this session; asked for sessions that exist."""
        ...


@runtime_checkable
class Completes(Protocol):
    """An agent that completes its slash commands while they are typed."""

    async def complete(self, session: SessionView, command: str, text: str) -> list[Any]:
        """Suggestions for the text after the command."""
        ...
