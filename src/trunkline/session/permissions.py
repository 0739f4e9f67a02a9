"""Verdicts: what is known about a tool call before a person is asked.

The policy comes first. Only where no rule of it speaks about a call, and its default is to ask, the
answers that a person gave for good count; they never beat a rule that asks or denies.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from trunkline import events as ev
from trunkline.questions import Coverage, Permission
from trunkline.session.context import Decision, SessionView
from trunkline.workspace import Policy
from trunkline.workspace.coverage import command_in, coverage_of, variables_in
from trunkline.workspace.policy import Verdict
from trunkline.workspace.rules import Request

__all__ = ["Permissions"]


class Permissions:
    """The policy of a session, and the answers for good that were given in it."""

    def __init__(self, policy: Policy, view: SessionView | None = None) -> None:
        """Begin with the policy alone; paths and patterns begin in the folder of ``view``."""
        self.policy = policy
        self._view = view
        self.always: dict[str, bool] = {}
        """What a person allowed (or refused) for good, by the key of what the answer covers."""
        self._asked: dict[str, Coverage] = {}

    def decide(
        self,
        tool: str,
        kind: ev.ToolKind,
        call_id: str,
        input: Any,
        paths: Sequence[str],
        command: Sequence[str] | str | None,
        env: Mapping[str, str] | None = None,
    ) -> Decision | None:
        """Decide about a call; None means that a person must."""
        verdict = self._judge(tool, kind, input, paths, command, env)
        if verdict.decision != "ask":
            allowed = verdict.decision == "allow"
            return Decision(allowed=allowed, call_id=call_id, input=input, reason=verdict.why, by="policy")
        covers = coverage_of(tool, kind, input, command, env) if verdict.leaves_it_open else None
        earlier = self.always.get(covers.key) if covers is not None else None
        if earlier is None:
            return None
        why = f"an earlier answer was to always {'allow' if earlier else 'refuse'} {covers}"
        return Decision(allowed=earlier, call_id=call_id, input=input, reason=why, by="earlier answer")

    def covers(
        self,
        tool: str,
        kind: ev.ToolKind,
        input: Any,
        paths: Sequence[str],
        command: Sequence[str] | str | None,
        env: Mapping[str, str] | None = None,
    ) -> Coverage | None:
        """What an "always" about a call would cover; None where it would not count."""
        open_to = self._judge(tool, kind, input, paths, command, env).leaves_it_open
        return coverage_of(tool, kind, input, command, env) if open_to else None

    def remember(self, covers: Coverage | None, decision: Decision) -> None:
        """Keep an "always" for the rest of the session; one that covers nothing is not kept."""
        if decision.always and covers is not None:
            self.always[covers.key] = decision.allowed

    def absorb(self, event: ev.Event) -> None:
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

    def _judge(
        self,
        tool: str,
        kind: ev.ToolKind,
        input: Any,
        paths: Sequence[str],
        command: Sequence[str] | str | None,
        env: Mapping[str, str] | None,
    ) -> Verdict:
        cwd = os.path.realpath(self._view.cwd) if self._view is not None and self._view.cwd else None
        # What an agent does not tell apart from the arguments is looked for among them.
        line = command_in(input) if command is None else command
        request = Request(
            tool=tool,
            # A kind that only the agent knows is under no rule of its own.
            kind=kind if kind in get_args(ev.ToolKind) else "other",
            paths=_places(paths, cwd),
            command=line if line is None or isinstance(line, str) else tuple(line),
            cwd=cwd,
            env=tuple({**variables_in(input), **(env or {})}),
        )
        return self.policy.decide(request)


def _places(paths: Sequence[str], cwd: str | None) -> tuple[str, ...]:
    """Give each path as requested and as resolved, so that no link leads around a rule."""
    known = [os.path.join(cwd or "", path) for path in paths if "\0" not in path]
    return (*paths, *(os.path.realpath(path) for path in known if os.path.isabs(path)))
