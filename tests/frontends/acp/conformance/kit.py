"""The conformance kit: requirements with a check each, and an agent's command to hold them against.

A check drives real processes over stdio. What several checks need (a greeting, a session, a finished
turn) is done once and kept, so one process serves most of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, NoReturn, cast

from tests.frontends.acp.stdio_client import Line, Message, Talk, text

Level = Literal["M", "C", "A", "I"]
"""Mandatory, capability (counts when advertised), advisory, informational."""

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


class Failure(Exception):
    """The agent does not keep the requirement."""


class NotApplicable(Exception):
    """The agent does not offer what the requirement is about."""


class Verdict(NamedTuple):
    """What a check found; ``note`` says why, or what was recorded."""

    outcome: Literal["pass", "fail", "n.a.", "info"]
    note: str = ""


class Requirement(NamedTuple):
    """One row of the table."""

    id: str
    level: Level
    sentence: str
    check: Callable[[Kit], str | None]
    last: bool
    """It judges everything that was said, so it comes after the others."""


class Subject(NamedTuple):
    """What is tested, and the words that make it do what the checks need."""

    command: Sequence[str]
    folder: Path
    login: Sequence[str] | None = None
    """A command of an agent that wants a login; None is the same one."""
    env: Mapping[str, str] = {}
    waiting: str = "/wait-for-cancel"
    """A prompt whose turn goes on until it is cancelled."""
    tempting: Sequence[str] = ("/permission", "/terminal", "/form", "/edit", "/link")
    """Prompts that would use the client's files, terminals and forms if it had them."""
    allow_logout: bool = True
    patience: float = 20.0


REQUIREMENTS: dict[str, Requirement] = {}

_Check = Callable[["Kit"], "str | None"]


def requirement(id: str, level: Level, sentence: str, *, last: bool = False) -> Callable[[_Check], _Check]:
    """Add a check to the table."""

    def add(check: _Check) -> _Check:
        REQUIREMENTS[f"ACP-{id}"] = Requirement(f"ACP-{id}", level, sentence, check, last)
        return check

    return add


def judge(subject: Subject, only: Collection[str] | None = None) -> tuple[dict[str, Verdict], list[str]]:
    """Hold an agent against the table; also give what the schema has against any line it printed."""
    wanted = [row for row in REQUIREMENTS.values() if only is None or row.id in only]
    verdicts: dict[str, Verdict] = {}
    with Kit(subject) as kit:
        for row in sorted(wanted, key=lambda row: row.last):
            verdicts[row.id] = _verdict(row, kit)
        return verdicts, kit.faults()


def _verdict(row: Requirement, kit: Kit) -> Verdict:
    try:
        note = row.check(kit) or ""
    except NotApplicable as error:
        return Verdict("n.a.", str(error))
    except (Failure, KeyError, TypeError, AttributeError) as error:
        return Verdict("fail", f"{type(error).__name__}: {error}")
    return Verdict("info" if row.level == "I" else "pass", note)


def fail(why: str) -> NoReturn:
    """Say that the requirement is not kept."""
    raise Failure(why)


def need(condition: object, why: str) -> None:
    """Fail unless something holds."""
    if not condition:
        fail(why)


def result_of(reply: Message | None, what: str) -> Any:
    """The result of a request that must succeed."""
    if reply is None:
        fail(f"{what} was not answered")
    if "error" in reply or "result" not in reply:
        fail(f"{what} was refused: {reply.get('error')}")
    return reply["result"]


class Kit(ExitStack):
    """An agent under test: its processes, and what was done with them so far."""

    def __init__(self, subject: Subject) -> None:
        """Start nothing yet."""
        super().__init__()
        self.subject = subject
        self._talks: list[Talk] = []
        self._tempted = False

    def spawn(self, command: Sequence[str] | None = None) -> Talk:
        """Start another process of the agent; it ends with the kit."""
        subject = self.subject
        talk = Talk(
            command or subject.command, cwd=subject.folder, env=subject.env, patience=subject.patience
        )
        self._talks.append(self.enter_context(talk))
        return talk

    def faults(self) -> list[str]:
        """What the schema has against any line of any process."""
        return [fault for talk in self._talks for fault in talk.faults()]

    # -- the agent as a client without any capability sees it --------------------------------------

    @cached_property
    def agent(self) -> Talk:
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
        """The first session, as it was answered."""
        return result_of(self.opened, "session/new")

    @property
    def session_id(self) -> str:
        """The first session."""
        return self.session["sessionId"]

    def new_session(self) -> str:
        """Begin a session of its own for a check."""
        return result_of(self.open_session(), "session/new")["sessionId"]

    def prompt(self, session_id: str, content: list[Message], **params: Any) -> Message | None:
        """Play a turn and give the answer."""
        return self.agent.request("session/prompt", {"sessionId": session_id, "prompt": content, **params})

    @cached_property
    def spoken(self) -> tuple[Message | None, list[Line]]:
        """A finished turn in the first session: its answer, and the lines from its prompt on."""
        session_id = self.session_id
        self.fence()  # What belongs to other sessions is none of this turn's.
        start = len(self.agent.log)
        return self.prompt(session_id, text("hello there")), self.agent.log[start:]

    def start_waiting(self) -> tuple[str, Any]:
        """Begin a turn that goes on until it is cancelled, in a session of its own."""
        session_id = self.new_session()
        content = text(self.subject.waiting)
        prompt_id = self.agent.start("session/prompt", {"sessionId": session_id, "prompt": content})
        self.agent.until(lambda line: is_update(line, session_id, "agent_message_chunk"), within=2.0)
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

    def tempt(self) -> None:
        """Play, once, the turns that would use what this client did not offer."""
        if not self._tempted:
            self._tempted = True
            session_id = self.new_session()
            for words in self.subject.tempting:
                self.prompt(session_id, text(words))

    @cached_property
    def ended(self) -> Talk:
        """The shared process after its stdin was closed and it said its last word."""
        _ = self.spoken
        self.agent.request("session/does_not_exist", {})
        self.agent.finish()
        return self.agent

    # -- the other processes -----------------------------------------------------------------------

    @cached_property
    def login(self) -> tuple[Talk, Message]:
        """A process of an agent that may want a login, and its greeting."""
        if self.subject.login is None:
            return self.agent, self.greeted
        talk = self.spawn(self.subject.login)
        reply = talk.request("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        return talk, result_of(reply, "initialize")

    @cached_property
    def rude(self) -> Talk:
        """A process to be rude to."""
        talk = self.spawn()
        talk.request("initialize", {"protocolVersion": 1})
        return talk


def is_update(line: Line, session_id: str, *kinds: str) -> bool:
    """Whether a line is an update of a session, of one of these kinds (any when none is named)."""
    if line.update is None or line.message is None:
        return False
    mine = line.message["params"].get("sessionId") == session_id
    return mine and (not kinds or line.update.get("sessionUpdate") in kinds)
