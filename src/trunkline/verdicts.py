"""Verdicts: what is known about a tool call before a person is asked.

The policy comes first, and its "deny" is final. Then come the answers a person gave for good.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from trunkline import events as ev
from trunkline.context import Decision, SessionView
from trunkline.questions import Permission
from trunkline.workspace import Policy
from trunkline.workspace.policy import Request

__all__ = ["Verdicts"]


class Verdicts:
    """The policy of a session and the "always" answers given in it."""

    def __init__(self, policy: Policy, view: SessionView | None = None) -> None:
        """Begin with the policy alone; paths and patterns begin in the folder of ``view``."""
        self.policy = policy
        self._view = view
        self.always: dict[str, bool] = {}
        """Tools a person allowed (or refused) for good, by name."""
        self._names: dict[str, str] = {}

    def decide(
        self,
        tool: str,
        kind: ev.ToolKind,
        call_id: str,
        input: Any,
        paths: Sequence[str],
        command: Sequence[str] | str | None,
    ) -> Decision | None:
        """Decide about a call; None means that a person must."""
        argv = command if command is None or isinstance(command, str) else tuple(command)
        cwd = os.path.realpath(self._view.cwd) if self._view is not None and self._view.cwd else None
        request = Request(tool=tool, kind=kind, paths=_places(paths, cwd), command=argv, cwd=cwd)
        verdict = self.policy.decide(request)
        if verdict.decision != "ask":
            allowed = verdict.decision == "allow"
            return Decision(allowed=allowed, call_id=call_id, input=input, reason=verdict.why, by="policy")
        earlier = self.always.get(tool)
        if earlier is None:
            return None
        why = f"an earlier answer was to always {'allow' if earlier else 'refuse'} {tool}"
        return Decision(allowed=earlier, call_id=call_id, input=input, reason=why, by="earlier answer")

    def remember(self, tool: str, decision: Decision) -> None:
        """Keep an "always" for the rest of the session; one about no tool in particular is not kept."""
        if decision.always and tool:
            self.always[tool] = decision.allowed

    def absorb(self, event: ev.Event) -> None:
        """Learn "always" answers from the journal."""
        if isinstance(event, ev.ToolCall):
            self._names[event.call_id] = event.name
        elif isinstance(event, ev.Asked) and isinstance(event.question, Permission):
            self._names[event.question_id] = self._names.get(event.question.call_id, "")
        elif isinstance(event, ev.Answered) and event.option_kind in ("allow_always", "reject_always"):
            tool = self._names.get(event.question_id)
            if tool:
                self.always[tool] = event.option_kind == "allow_always"
        elif isinstance(event, ev.TurnFinished | ev.TurnFailed):
            # A question speaks of a call of its own turn: older names are not needed.
            self._names.clear()


def _places(paths: Sequence[str], cwd: str | None) -> tuple[str, ...]:
    """Give each path as requested and as resolved, so that no link leads around a rule."""
    if cwd is None:
        return tuple(paths)
    return (*paths, *(os.path.realpath(os.path.join(cwd, path)) for path in paths if "\0" not in path))
