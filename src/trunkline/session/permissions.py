"""Permissions: what the policy and earlier answers say about a tool call before a person is asked.

The policy comes first. Only where none of its rules fits a call, and its default is to ask, the "always"
answers of a person count; they never beat a rule that asks or denies.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Hashable, Sequence
from typing import Any, get_args

import msgspec

from trunkline import events as ev
from trunkline.content import Content, TextBlock
from trunkline.own_files import own_file
from trunkline.questions import Coverage, Permission
from trunkline.session.view import SessionView
from trunkline.workspace import Policy
from trunkline.workspace.always import command_in, coverage_of, folder_in, variables_in
from trunkline.workspace.call_paths import paths_of
from trunkline.workspace.own_files_in_commands import own_file_in
from trunkline.workspace.patterns import split_command
from trunkline.workspace.policy import Verdict
from trunkline.workspace.protected import Protection
from trunkline.workspace.rules import Request, Rule

_LONGEST_PATH = 4096
"""Characters that a path has at most (PATH_MAX of Linux); a longer text is none, and takes long to judge."""
_LOOKING = frozenset[str]({"read", "search"})
_CHANGING = frozenset[str]({"edit", "delete", "move"})
_PROTECTION = Protection()
_NOTHING_PROTECTED = Verdict("allow", None, "")

Approval = tuple[Hashable, ...]
"""One access that was approved: a kind and a file, or a command's words, its variables and its folder."""


class ToolRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call that an agent wants to make, as the agent describes it."""

    call_id: str
    tool: str = ""
    """Empty for a permission about no tool: it is asked every time."""
    kind: ev.ToolKind = "other"
    also_kinds: tuple[ev.ToolKind, ...] = ()
    """Other kinds that the call may be of: the policy judges it by each, and the strictest verdict counts."""
    input: Any = None
    paths: tuple[str, ...] = ()
    command: tuple[str, ...] | str | None = None
    """What runs, where the arguments do not say it."""
    env: dict[str, str] = {}
    """The variables that the command is given besides its words."""
    cwd: str | None = None
    """The folder that the command runs in, where it is not the session's and not among the arguments."""
    always_covers_tool: bool = False
    """Whether the tool's author declares that "always" is for every call of it that runs no command."""
    others: tuple[ToolRequest, ...] = ()
    """Other calls that the answer is for as well: the strictest verdict about any of them counts."""

    @property
    def named_paths(self) -> tuple[str, ...]:
        """The paths of the call: those that the agent gives, and those among the arguments.

        What is called a file may be its text, or a list.
        """
        named = (path for path in map(_path_in, paths_of(self.input)) if path is not None)
        return tuple(dict.fromkeys((*self.paths, *named)))

    @property
    def coverage(self) -> Coverage | None:
        """What an "always" about this call covers."""
        if self.others:
            # Only the same calls again are the same question.
            calls = [[one.tool, one.kind, one.input, one.command, one.paths] for one in self.others]
            return coverage_of(self.tool, "execute", [self.input, self.command, calls])
        covers = coverage_of(self.tool, self.kind, self.input, self.command, self.env, self.cwd)
        runs_command = self.command is not None or command_in(self.input) is not None
        if covers is not None and self.always_covers_tool and not runs_command:
            return Coverage(tool=covers.tool, kind=covers.kind)
        return covers

    def decided(self, decision: Decision) -> ev.Decided:
        """Give the record of a decision that no person was asked for."""
        command = command_in(self.input) if self.command is None else self.command
        if command is not None and not isinstance(command, str):
            command = shlex.join(command)
        return ev.Decided(
            allowed=decision.allowed,
            by=decision.by or "policy",
            reason=decision.reason or "",
            rule=decision.rule,
            call_id=self.call_id or None,
            tool=self.tool,
            kind=self.kind,
            paths=self.named_paths,
            command=command,
        )


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a permission; true when the call may run."""

    allowed: bool
    call_id: str
    input: Any = None
    """The arguments to use: the person may have edited them."""
    always: bool = False
    reason: str | None = None
    by: str | None = None
    rule: str | None = None
    """The rule of the policy that decided; None for its default, an "always" or a person."""
    option_id: str | None = None
    """The option that was chosen; None where the policy or an earlier answer decided."""

    def __bool__(self) -> bool:
        return self.allowed


class Permissions:
    """The policy of a session, and the "always" answers that were given in it."""

    def __init__(self, policy: Policy | None, view: SessionView | None = None) -> None:
        """Begin with the policy alone; paths and patterns begin in the folder of ``view``."""
        self.has_policy = policy is not None
        """Whether the operator gave a policy. Without one, everything that the agent asks about is asked."""
        self.policy = policy or Policy.ask()
        self._view = view
        self.always: dict[str, bool] = {}
        """What a person allowed (or refused) for good, by the key of what the answer covers."""
        self._asked: dict[str, Coverage] = {}

    @property
    def asks_about_everything(self) -> bool:
        """Whether there is neither a rule nor an "always", and the default is to ask."""
        return not (self.always or self.policy.rules) and self.policy.default == "ask"

    def decide(self, request: ToolRequest) -> Decision | None:
        """Decide about a call; None means that a person must."""
        verdict = self._judge(request)
        call_id, input = request.call_id, request.input
        if verdict.decision != "ask":
            allowed = verdict.decision == "allow"
            rule = None if verdict.rule is None else str(verdict.rule)
            return Decision(
                allowed=allowed, call_id=call_id, input=input, reason=verdict.why, by="policy", rule=rule
            )
        covers = request.coverage if verdict.leaves_it_open else None
        earlier = self.always.get(covers.key) if covers is not None else None
        if earlier is None:
            return None
        why = f"an earlier answer was to always {'allow' if earlier else 'refuse'} {covers}"
        return Decision(allowed=earlier, call_id=call_id, input=input, reason=why, by="earlier answer")

    def covers(self, request: ToolRequest) -> Coverage | None:
        """What an "always" about a call would cover; None where it would not count."""
        return request.coverage if self.has_no_rule_for(request) else None

    def has_no_rule_for(self, request: ToolRequest) -> bool:
        """Whether no rule of the policy is about a request and its default is to ask."""
        return self._judge(request).leaves_it_open

    def leaves_to_agent(self, request: ToolRequest) -> bool:
        """Whether an access to files or terminals goes on unasked: to ask before it is up to the agent.

        An agent that is a program of its own may forget to ask, so a policy that asks by default asks for it.
        """
        asks = self.has_policy and self._view is not None and self._view.asks_before_access
        return not asks and self.has_no_rule_for(request)

    def approvals(self, request: ToolRequest) -> frozenset[Approval]:
        """The accesses of a request: one that a person approved need not be asked again in a turn.

        Only the same access is equal: another kind of access to the file is not, nor is the command
        with other variables or in another folder.
        """
        command = command_in(request.input) if request.command is None else request.command
        # A line that takes a shell to read is one word: only the same line is the same command.
        line = (command,) if isinstance(command, str) and command else ()
        words = (split_command(command) or line) if isinstance(command, str) else command
        named = request.named_paths
        paths = _with_resolved(named, self._cwd)[len(named) :]
        cwd = request.cwd or folder_in(request.input) or ""
        folder = os.path.realpath(os.path.join(self._cwd or "", cwd))
        variables = frozenset({**variables_in(request.input), **request.env}.items())
        files = ((request.kind, path) for path in paths)
        return frozenset((*files, *(((tuple(words), variables, folder),) if words else ())))

    def is_own_folder(self, folder: str) -> bool:
        """Whether a folder is the one of the session."""
        return os.path.realpath(folder) == self._cwd

    @property
    def _cwd(self) -> str | None:
        return os.path.realpath(self._view.cwd) if self._view is not None and self._view.cwd else None

    def remember(self, covers: Coverage | None, decision: Decision) -> None:
        """Keep an "always" for the rest of the session; one that covers nothing is not kept."""
        if decision.always and covers is not None:
            self.always[covers.key] = decision.allowed

    def apply(self, event: ev.Event) -> None:
        """Learn "always" answers from the journal."""
        if isinstance(event, ev.Asked) and isinstance(event.question, Permission):
            if event.question.covers is not None:
                self._asked[event.question_id] = event.question.covers
        elif isinstance(event, ev.Answered) and event.option_kind in ("allow_always", "reject_always"):
            covers = self._asked.get(event.question_id)
            if covers is not None:
                self.always[covers.key] = event.option_kind == "allow_always"
        elif isinstance(event, ev.TurnFinished | ev.TurnFailed):
            # A question is of its own turn: older ones are not needed.
            self._asked.clear()

    def _judge(self, request: ToolRequest) -> Verdict:
        verdicts = [self._judge_as(kind, request) for kind in (request.kind, *request.also_kinds)]
        verdicts.append(self._judge_protected(request))
        verdicts += map(self._judge, request.others)
        return min(verdicts, key=_strictness)

    def _judge_protected(self, request: ToolRequest) -> Verdict:
        """Judge what a policy cannot allow: our own files, and those that others obey.

        The workspace refuses to write them. An agent may have other ways, and then a person is asked.
        """
        paths = _with_resolved(request.named_paths, self._cwd)
        kinds = {request.kind, *request.also_kinds}
        for path in paths:
            if (own := own_file(path)) is not None and (own.secret or kinds - _LOOKING):
                return Verdict("deny", Rule(decision="deny", path=path), f"{path} is {own.what}")
        for path in paths if kinds & _CHANGING else ():
            if (pattern := _PROTECTION.of(path)) is not None:
                return Verdict("ask", Rule(decision="ask", path=pattern), f"{path} is protected")
        command = command_in(request.input) if request.command is None else request.command
        named = own_file_in(command, self._cwd) if command else None
        if named is not None:
            rule = Rule(decision="ask", command="*")
            return Verdict("ask", rule, f"the command names {named}")
        return _NOTHING_PROTECTED

    def _judge_as(self, kind: ev.ToolKind, request: ToolRequest) -> Verdict:
        cwd = self._cwd
        # What an agent does not name apart from the arguments is looked for among them.
        command = command_in(request.input) if request.command is None else request.command
        return self.policy.decide(
            Request(
                tool=request.tool,
                # A kind that only the agent knows is under no rule of its own.
                kind=kind if kind in get_args(ev.ToolKind) else "other",
                paths=_with_resolved(request.named_paths, cwd),
                command=command,
                cwd=cwd,
                env=tuple({**variables_in(request.input), **request.env}),
            )
        )


def _strictness(verdict: Verdict) -> int:
    """Order verdicts: deny, ask by a rule, ask by default, allow."""
    return ("deny", "ask", "allow").index(verdict.decision) * 2 + verdict.leaves_it_open


def command_block(request: ToolRequest) -> tuple[Content, ...]:
    """Show the command that runs, where the arguments do not show it whole."""
    command, env, cwd, input = request.command, request.env, request.cwd, request.input
    shown = (command_in(input), variables_in(input), folder_in(input) if cwd else None)
    if command is None or (command, env, cwd) == shown:
        return ()
    variables = "".join(f"{name}={shlex.quote(value)} " for name, value in env.items())
    line = command if isinstance(command, str) else shlex.join(command)
    return (TextBlock(text=f"{f'{cwd} ' if cwd else ''}$ {variables}{line}"),)


def _with_resolved(paths: Sequence[str], cwd: str | None) -> tuple[str, ...]:
    """Give each path as requested and as resolved, so that no link leads around a rule."""
    joined = [os.path.join(cwd or "", path) for path in paths]
    return (*paths, *(_resolve(path) for path in joined if os.path.isabs(path)))


def _path_in(text: str) -> str | None:
    """Give a path, or what a text that is too long for one begins with; None where that is no path."""
    if len(text) <= _LONGEST_PATH:
        return text
    # A program may leave out what leads nowhere before it opens the file.
    if len(path := os.path.normpath(text)) <= _LONGEST_PATH:
        return path
    line = text.partition("\n")[0][:_LONGEST_PATH]
    return line if line.startswith(("/", "~")) or ("/" in line and " " not in line) else None


def _resolve(path: str) -> str:
    try:
        return os.path.realpath(path)
    except ValueError:
        return path  # A NUL or half a character: no file has such a name, but a rule may.
