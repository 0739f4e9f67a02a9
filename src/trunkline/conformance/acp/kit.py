"""The conformance kit: requirements with a check each, and an agent's command to hold them against.

A check drives real processes over stdio. What several checks need (a greeting, a session, a finished
turn) is done once and kept, so one process serves most of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, cast

from trunkline.conformance.acp.stdio_client import Line, Message, StdioClient, same, text
from trunkline.conformance.table import NotApplicable, Table, fail, need

_SPEC = "https://agentclientprotocol.com/protocol/v1"
_JSONRPC = "https://www.jsonrpc.org/specification"
_PAGES = {
    "TRANSPORT": f"{_SPEC}/transports#stdio",
    "JSONRPC": f"{_JSONRPC}#response_object",
    "PARSE": f"{_JSONRPC}#error_object",
    "INVALIDREQ": f"{_JSONRPC}#error_object",
    "PARAMS": f"{_JSONRPC}#error_object",
    "INIT": f"{_SPEC}/initialization#version-negotiation",
    "SCHEMA": f"{_SPEC}/schema",
    "EXT": f"{_SPEC}/extensibility#custom-requests",
    "META": f"{_SPEC}/extensibility#the-_meta-field",
    "ERROR": f"{_JSONRPC}#error_object",
    "SHUTDOWN": f"{_SPEC}/transports#stdio",
    "STDERR": f"{_SPEC}/transports#stdio",
    "INFO-PARSE": f"{_JSONRPC}#error_object",
    "INFO-INVALIDREQ": f"{_JSONRPC}#error_object",
    "INFO-UNKNOWNSESSION": f"{_SPEC}/prompt-turn",
    "SESSION": f"{_SPEC}/session-setup#creating-a-session",
    "ADDDIRS": f"{_SPEC}/session-setup",
    "LOAD": f"{_SPEC}/session-setup#loading-sessions",
    "RESUME": f"{_SPEC}/session-setup",
    "LIST": f"{_SPEC}/session-list",
    "DELETE": f"{_SPEC}/session-list",
    "CLOSE": f"{_SPEC}/session-setup",
    "MODES": f"{_SPEC}/session-modes",
    "CONFIG": f"{_SPEC}/session-config-options",
    "CAP": f"{_SPEC}/initialization#capabilities",
    "AUTH": f"{_SPEC}/initialization",
    "PROMPT": f"{_SPEC}/prompt-turn",
    "PROMPTCAP": f"{_SPEC}/content",
    "CANCEL": f"{_SPEC}/prompt-turn#cancellation",
    "CLIENTCAP": f"{_SPEC}/initialization#client-capabilities",
    "TOOL": f"{_SPEC}/tool-calls",
    "PERMISSION": f"{_SPEC}/tool-calls#requesting-permission",
}
TABLE: Table[Kit] = Table("acp", _PAGES)
requirement = TABLE.requirement

HISTORY = frozenset(
    {
        "user_message_chunk",
        "agent_message_chunk",
        "agent_thought_chunk",
        "tool_call",
        "tool_call_update",
        "plan",
    }
)
STOP_REASONS = frozenset({"end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"})


_TRANSCRIPT = 40
"""Lines of a process in a transcript."""
_EARLIER = 8
_AUTH_REQUIRED = -32000
_SHORT_TURN = 2.0
"""Seconds in which an ordinary turn, of which nobody said that it takes long, may be over by itself."""


class AgentUnderTest(NamedTuple):
    """What is tested, and the words that make it do what the checks need."""

    command: Sequence[str]
    folder: Path
    """The folder of the sessions."""
    login: Sequence[str] | None = None
    """A command of an agent that wants a login; None is the same one."""
    env: Mapping[str, str] = {}
    environ: Mapping[str, str] | None = None
    """The environment that ``env`` is added to; None for ours."""
    started_in: Path | None = None
    """The folder that the command is started in; None for that of the sessions."""
    words: str | None = "hello there"
    """An ordinary prompt; None: nothing is prompted at all."""
    waiting: str | None = "/wait-for-cancel"
    """A prompt whose turn goes on until it is cancelled, or for some time."""
    asking: str | None = "/permission"
    """A prompt in whose turn a permission is asked."""
    ability_prompts: Sequence[str] = ("/permission", "/terminal", "/form", "/edit", "/link")
    """Prompts that would use the client's files, terminals and forms if it had them."""
    allow_login: bool = True
    allow_logout: bool = True
    patience: float = 20.0


def wants_login(reply: Message | None) -> bool:
    """Whether an answer says that one has to log in first."""
    error: Any = (reply or {}).get("error")
    return isinstance(error, dict) and cast("Message", error).get("code") == _AUTH_REQUIRED


def result_of(reply: Message | None, what: str) -> Any:
    """The result of a request that must succeed."""
    if reply is None:
        fail(f"{what} was not answered")
    if "error" in reply or "result" not in reply:
        fail(f"{what} was refused: {reply.get('error')}")
    return reply["result"]


def check_stopped(reply: Message | None, what: str) -> None:
    """Fail unless a prompt was answered with a stop reason."""
    reason = result_of(reply, what).get("stopReason")
    need(reason in STOP_REASONS, f"the stop reason of {what} is {reason!r}")


class Kit(ExitStack):
    """An agent under test: its processes, and what was done with them so far."""

    def __init__(self, subject: AgentUnderTest) -> None:
        """Start nothing yet."""
        super().__init__()
        self.subject = subject
        self._clients: list[StdioClient] = []
        self._played_abilities = False
        self.reactions: dict[tuple[bytes, ...], tuple[list[Message], bytes | None]] = {}
        """What bad lines brought about: answers that nobody asked for, and the line that ended it."""

    def spawn(self, command: Sequence[str] | None = None) -> StdioClient:
        """Start another process of the agent; it ends with the kit."""
        subject = self.subject
        client = StdioClient(
            command or subject.command,
            cwd=subject.started_in or subject.folder,
            env=subject.env,
            environ=subject.environ,
            patience=subject.patience,
        )
        self._clients.append(self.enter_context(client))
        return client

    def mark(self) -> object:
        """Give the number of lines of each process so far."""
        return [client.line_count for client in self._clients]

    def transcript_since(self, mark: object) -> list[str]:
        """Give what was said in each process since a mark, or the last lines where nothing was."""
        places = cast("list[int]", mark)
        recent = [client.transcript(start) for client, start in zip(self._clients, places, strict=False)]
        recent += [client.transcript() for client in self._clients[len(places) :]]
        if not any(recent):
            recent = [client.transcript()[-_EARLIER:] for client in self._clients[:1]]
        return [str(line) for lines in recent for line in lines[-_TRANSCRIPT:]]

    def faults(self) -> list[str]:
        """What the schema has against any line of any process."""
        return [fault for client in self._clients for fault in client.faults()]

    # -- the agent as a client without any capability sees it --------------------------------------

    @cached_property
    def agent(self) -> StdioClient:
        """The process that most checks share."""
        return self.spawn()

    @cached_property
    def greeting(self) -> Message | None:
        """The answer to initialize."""
        return self.agent.request("initialize", {"protocolVersion": 1, "clientCapabilities": {}}, 4711)

    @property
    def greeted(self) -> Message:
        """What the agent says of itself."""
        return result_of(self.greeting, "initialize")

    def offered(self, *path: str) -> Any:
        """A capability that the agent advertises; the requirement does not count without it."""
        value: Any = self.greeted.get("agentCapabilities") or {}
        for name in path:
            value = cast("Message", value).get(name) if isinstance(value, dict) else None
        if value is None or value is False:
            raise NotApplicable(f"{'.'.join(path)} is not advertised")
        return value

    def open_session(self, **params: Any) -> Message | None:
        """Begin a session and give the whole answer."""
        _ = self.greeting
        folder: Message = {"cwd": str(self.subject.folder), "mcpServers": []}
        return self.agent.request("session/new", {**folder, **params})

    @cached_property
    def opened(self) -> Message | None:
        """The answer to the first session/new."""
        return self.open_session()

    @cached_property
    def session(self) -> Message:
        """The first session, as it was answered; that none can be opened is blamed once, by SESSION-001."""
        if self.opened is None or "result" not in self.opened:
            why = (self.opened or {}).get("error") or "there is no answer"
            login = "log in to the agent first, and check it again" if wants_login(self.opened) else why
            raise NotApplicable(f"no session can be opened: {login}")
        return self.opened["result"]

    @property
    def session_id(self) -> str:
        """The first session."""
        return self.session["sessionId"]

    def new_session(self) -> str:
        """Begin a session of its own for a check."""
        _ = self.session
        return result_of(self.open_session(), "session/new")["sessionId"]

    def words(self, more: str = "") -> list[Message]:
        """The ordinary prompt; without one the requirement cannot be checked."""
        if self.subject.words is None:
            raise NotApplicable("no prompts are sent (--no-prompts)")
        return text(self.subject.words + more)

    def prompt(self, session_id: str, content: list[Message], **params: Any) -> Message | None:
        """Play a turn and give the answer."""
        return self.agent.request("session/prompt", {"sessionId": session_id, "prompt": content, **params})

    @cached_property
    def finished_turn(self) -> tuple[Message | None, list[Line]]:
        """A finished turn in the first session: its answer, and the lines from its prompt on."""
        words, session_id = self.words(), self.session_id
        self.fence()  # What belongs to other sessions is none of this turn's.
        start = len(self.agent.log)
        return self.prompt(session_id, words), self.agent.log[start:]

    def start_waiting(self) -> tuple[str, Any]:
        """Begin a turn that goes on until it is cancelled, in a session of its own."""
        if self.subject.waiting is None or self.subject.words is None:
            raise NotApplicable("there is no prompt whose turn takes long (--long-prompt)")
        session_id = self.new_session()
        content = text(self.subject.waiting)
        start = len(self.agent.log)
        prompt_id = self.agent.start("session/prompt", {"sessionId": session_id, "prompt": content})

        def is_over(line: Line) -> bool:
            return line.answers is not None and same((line.message or {}).get("id"), prompt_id)

        self.agent.until(lambda line: is_over(line) or is_update(line, session_id, *HISTORY), within=2.0)
        self.fence()
        over = any(map(is_over, self.agent.log[start:]))
        if not over and self.subject.waiting == self.subject.words:
            # Its end may be on the way: what is cancelled then is nothing, and ends as it would have.
            over = self.agent.until(is_over, within=_SHORT_TURN) is not None
        if over:
            raise NotApplicable("the turn was over before it could be cancelled (--long-prompt)")
        return session_id, prompt_id

    @cached_property
    def cancelled(self) -> tuple[str, Message | None, int]:
        """A turn that was cancelled: its session, its answer, and where in the log that is."""
        session_id, prompt_id = self.start_waiting()
        self.agent.notify("session/cancel", {"sessionId": session_id})
        return session_id, self.agent.wait(prompt_id), len(self.agent.log)

    def fence(self) -> None:
        """Let everything that was caused so far come in: the agent takes requests in order."""
        self.agent.request("_trunkline/fence", {})

    def play_ability_prompts(self) -> None:
        """Play, once, the turns that would use what this client did not offer."""
        if self.subject.words is None:
            raise NotApplicable("no prompts are sent (--no-prompts)")
        if not self._played_abilities:
            self._played_abilities = True
            session_id = self.new_session()
            for words in self.subject.ability_prompts:
                self.prompt(session_id, text(words))

    @cached_property
    def ended(self) -> StdioClient:
        """The shared process after its stdin was closed and it said its last word."""
        if self.subject.words is not None:
            _ = self.finished_turn
            self.play_ability_prompts()
        self.agent.request("session/does_not_exist", {})
        self.agent.finish()
        return self.agent

    # -- the other processes -----------------------------------------------------------------------

    def spawn_greeted(self) -> StdioClient:
        """Start a process of the agent for one check, and initialize it."""
        client = self.spawn()
        params: Message = {"protocolVersion": 1, "clientCapabilities": {}}
        result_of(client.request("initialize", params), "initialize")
        return client

    def open_in(self, client: StdioClient) -> str:
        """Begin a session in such a process."""
        _ = self.session
        params: Message = {"cwd": str(self.subject.folder), "mcpServers": []}
        return result_of(client.request("session/new", params), "session/new")["sessionId"]

    @cached_property
    def login(self) -> tuple[StdioClient, Message]:
        """A process of an agent that may want a login, and its greeting."""
        if self.subject.login is None:
            return self.agent, self.greeted
        client = self.spawn(self.subject.login)
        reply = client.request("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        return client, result_of(reply, "initialize")

    @cached_property
    def unanswering(self) -> StdioClient:
        """A process whose questions wait until a check answers them."""
        client = self.spawn_greeted()
        client.answer["session/request_permission"] = lambda params: None
        return client

    @cached_property
    def bad_input_process(self) -> StdioClient:
        """A process that gets bad input."""
        client = self.spawn()
        client.request("initialize", {"protocolVersion": 1})
        return client


def is_update(line: Line, session_id: str, *kinds: str) -> bool:
    """Whether a line is an update of a session, of one of these kinds (any when none is named)."""
    if line.update is None or line.message is None:
        return False
    mine = line.message["params"].get("sessionId") == session_id
    return mine and (not kinds or line.update.get("sessionUpdate") in kinds)
