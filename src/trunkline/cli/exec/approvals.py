"""Answers of ``trunkline exec`` to an agent's questions, where no person is asked."""

from __future__ import annotations

from typing import Literal

from trunkline import events as ev
from trunkline.commands import Answer
from trunkline.questions import ALLOW_KINDS, Permission

Approve = Literal["all", "reads", "none"]
_READS = frozenset({"read", "search"})


class ExecApprovals:
    """Answers questions by ``--approve``, and remembers whether a permission was refused."""

    def __init__(self, approve: Approve | None, *, person: bool = False) -> None:
        """Allow everything, only reading and searching, or nothing; None is nothing, by default.

        With ``person`` somebody is there to be asked: nothing is answered here.
        """
        self.approve = approve
        self.person = person
        self.denied = False
        self._kinds: dict[str, ev.ToolKind] = {}
        self._permissions: set[str] = set()

    def answer_to(self, event: ev.AnyEvent) -> Answer | None:
        """Follow the turn; give the answer when the event is a question."""
        if isinstance(event, ev.ToolCall):
            self._kinds[event.call_id] = event.kind
        elif isinstance(event, ev.ToolUpdate):
            if event.kind is not None:
                self._kinds[event.call_id] = event.kind
            self.denied |= event.status == "denied"
        elif isinstance(event, ev.Decided):
            self.denied |= not event.allowed
        elif isinstance(event, ev.Answered):
            refused = event.outcome != "cancelled" and event.option_kind not in ALLOW_KINDS
            self.denied |= refused and event.question_id in self._permissions
        elif isinstance(event, ev.Asked):
            return self._answer(event)
        return None

    def _answer(self, asked: ev.Asked) -> Answer | None:
        question = asked.question
        if isinstance(question, Permission):
            self._permissions.add(asked.question_id)
        if self.person:
            return None
        why = "no person to ask: --approve all allows it"
        if self.approve is not None:
            why = f"answered by --approve {self.approve}"
        if isinstance(question, Permission):
            wanted = "allow" if self._allows(question) else "reject"
            for kind in (f"{wanted}_once", f"{wanted}_always"):
                for option in question.options:
                    if option.kind == kind:
                        return Answer(
                            question_id=asked.question_id, option_id=option.option_id, reason=why, by="exec"
                        )
        else:
            why = "no person is there to answer"
        return Answer(question_id=asked.question_id, outcome="declined", reason=why, by="exec")

    def _allows(self, question: Permission) -> bool:
        if self.approve == "reads":
            return self._kinds.get(question.call_id) in _READS
        return self.approve == "all"
