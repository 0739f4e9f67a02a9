"""The error tree. Its branches say whose fault it is; each leaf says what to do next.

::

    TrunklineError
    ├── ConfigurationError          a setting or a TARGET is wrong (CLI exit 2)
    │   ├── TargetError             the TARGET cannot be resolved
    │   └── NotAnAgent              the object is none of the kinds adapt() knows
    ├── AgentError                  the agent failed
    │   ├── AgentProtocolError      the agent broke the event grammar (its bug)
    │   ├── AgentExited             its process is gone (return code, tail of stderr)
    │   └── AuthenticationRequired  the agent wants a login first
    ├── PeerError                   the front end sent something illegal (its bug)
    │   └── InvalidCommand          a command that cannot be carried out as given
    ├── SessionError                the session cannot do this now
    │   ├── SessionNotFound         no such session for this principal
    │   ├── SessionBusy             a turn is running, or another process owns the session
    │   ├── SessionClosed           the session or its hub was closed
    │   ├── OtherAgent              the session belongs to another agent; to try again does not help
    │   ├── AlreadyAnswered         someone else answered first (says who)
    │   └── TurnCancelled           raised in an agent whose question went with its turn
    ├── JournalError                the journal failed (disk full, wrong file, newer schema)
    │   ├── Fenced                  another process took the session over
    │   └── Corrupt                 the file is not a journal, or is damaged
    └── WorkspaceError              a file or a terminal was refused
        ├── OutsideRoots            the path leaves the session's folders
        ├── NoSuchFile              nothing is there
        ├── NotAFile                not a regular file (folder, device, pipe, link)
        ├── TooLarge                a size or line limit was exceeded
        └── Denied                  the policy said no

``hint`` is what a shell puts on its wire: a JSON-RPC code and an HTTP status.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Literal, NamedTuple

__all__ = [
    "AgentError",
    "AgentExited",
    "AgentProtocolError",
    "AlreadyAnswered",
    "AuthenticationRequired",
    "ConfigurationError",
    "Corrupt",
    "Denied",
    "Fault",
    "Fenced",
    "Hint",
    "InvalidCommand",
    "JournalError",
    "NoSuchFile",
    "NotAFile",
    "NotAnAgent",
    "OtherAgent",
    "OutsideRoots",
    "PeerError",
    "SessionBusy",
    "SessionClosed",
    "SessionError",
    "SessionNotFound",
    "TargetError",
    "TooLarge",
    "TrunklineDeprecation",
    "TrunklineError",
    "TurnCancelled",
    "WorkspaceError",
]

Fault = Literal["ours", "agent", "peer", "user"]


class Hint(NamedTuple):
    """How an error looks on a wire."""

    jsonrpc: int
    http: int


class TrunklineError(Exception):
    """The root of every error we raise on purpose."""

    fault: ClassVar[Fault] = "ours"
    hint: ClassVar[Hint] = Hint(-32603, 500)
    code: ClassVar[str] = "internal"


class ConfigurationError(TrunklineError):
    """A setting is wrong; the message names it and the fix."""

    fault = "user"
    code = "configuration"


class TargetError(ConfigurationError):
    """A TARGET cannot be resolved."""


class NotAnAgent(ConfigurationError):
    """An object is none of the kinds that can be adapted."""


class AgentError(TrunklineError):
    """The agent failed."""

    fault = "agent"
    hint = Hint(-32603, 502)
    code = "agent_failed"


class AgentProtocolError(AgentError):
    """The agent broke the event grammar."""

    code = "agent_protocol"


class AgentExited(AgentError):
    """The agent's process is gone."""

    code = "agent_exited"


class AuthenticationRequired(AgentError):
    """The agent wants a login before it works."""

    fault = "user"
    hint = Hint(-32000, 401)
    code = "authentication_required"

    def advise(self, target: str) -> AuthenticationRequired:
        """Give the error with the command that logs in to the agent of this TARGET."""
        import shlex  # Slow to import, and only errors need it.

        advice = f"log in with: trunkline login {shlex.quote(target)}"
        # A name without a colon is one that a program gave its own agent. Of ours, one wants a login.
        if (":" not in target and target != "demo-auth") or advice in str(self):
            return self
        return AuthenticationRequired(f"{self}; {advice}")


class PeerError(TrunklineError):
    """The front end sent something illegal."""

    fault = "peer"
    hint = Hint(-32602, 422)
    code = "invalid_request"


class InvalidCommand(PeerError):
    """A command that cannot be carried out as given."""

    code = "invalid_command"


class SessionError(TrunklineError):
    """The session cannot do this now."""

    fault = "peer"
    hint = Hint(-32600, 409)
    code = "session"


class SessionNotFound(SessionError):
    """No such session for this principal."""

    hint = Hint(-32002, 404)
    code = "session_not_found"


class SessionBusy(SessionError):
    """A turn is running, or another process owns the session."""

    code = "busy"


class SessionClosed(SessionError):
    """The session or its hub was closed."""

    hint = Hint(-32002, 410)
    code = "closed"


class OtherAgent(SessionError):
    """The session belongs to another agent: unlike a busy one it will not be free later."""

    code = "other_agent"


class AlreadyAnswered(SessionError):
    """Someone else answered first."""

    code = "already_answered"

    def __init__(self, question_id: str, by: str | None) -> None:
        super().__init__(f"question {question_id} was already answered by {by or 'someone else'}")
        self.question_id = question_id
        self.by = by


class TurnCancelled(SessionError):
    """A question went with its turn."""

    code = "cancelled"


class JournalError(TrunklineError):
    """The journal failed; ``path`` names the file for a log or a command line, never for a wire."""

    hint = Hint(-32603, 503)
    code = "journal"
    path: str = ""

    def __init__(self, message: str = "", *, path: str = "") -> None:
        """Say what failed, without naming a file."""
        super().__init__(message)
        if path:
            self.path = path


class Fenced(JournalError):
    """Another process took the session over; what we wanted to append was refused."""

    code = "fenced"


class Corrupt(JournalError):
    """The file is not a journal of ours, or it is damaged."""

    code = "corrupt"


class WorkspaceError(TrunklineError):
    """A file or a terminal was refused."""

    fault = "agent"
    hint = Hint(-32602, 422)
    code = "workspace"


class OutsideRoots(WorkspaceError):
    """The path leaves the session's folders."""


class NoSuchFile(WorkspaceError):
    """Nothing is there."""

    hint = Hint(-32002, 404)
    code = "no_such_file"


class NotAFile(WorkspaceError):
    """Not a regular file."""


class TooLarge(WorkspaceError):
    """A size or line limit was exceeded."""


class Denied(WorkspaceError):
    """The policy said no."""

    code = "denied"


class TrunklineDeprecation(UserWarning):
    """A name or a form that will go away; not a DeprecationWarning, which Python hides from most people."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Give the end of an error about a name that does not exist: the known ones that are like it, or ''."""
    import difflib  # Slow to import, and only errors need it.

    names = list(known)
    near = [one for one in names if name and one.startswith(name)] or difflib.get_close_matches(name, names)
    return f"; did you mean {' or '.join(near[:3])}?" if near else ""
