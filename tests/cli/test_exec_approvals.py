from __future__ import annotations

from trunkline import events as ev
from trunkline.cli.exec_approvals import ExecApprovals
from trunkline.questions import Permission, default_options


def ask(approvals: ExecApprovals, call_id: str) -> str | None:
    question = Permission(call_id=call_id, options=default_options())
    answer = approvals.answer_to(ev.Asked(question_id=f"q-{call_id}", question=question))
    assert answer is not None
    return answer.option_id


def test_reads_are_calls_of_kind_read_and_search() -> None:
    approvals = ExecApprovals("reads")
    for kind in ("read", "search", "edit", "other"):
        approvals.answer_to(ev.ToolCall(call_id=kind, name=kind, kind=kind))

    answers = {kind: ask(approvals, kind) for kind in ("read", "search", "edit", "other", "unknown")}
    assert [kind for kind, option in answers.items() if option == "allow_once"] == ["read", "search"]
    assert answers["edit"] == "reject_once"


def test_a_call_that_the_policy_denied_counts_as_refused() -> None:
    approvals = ExecApprovals("all")
    approvals.answer_to(ev.ToolUpdate(call_id="c", status="denied"))
    assert approvals.denied


def test_a_refusal_by_somebody_else_counts_and_a_cancelled_question_does_not() -> None:
    approvals = ExecApprovals("all")
    ask(approvals, "c")
    approvals.answer_to(ev.Answered(question_id="q-c", outcome="cancelled"))
    approvals.answer_to(ev.Answered(question_id="some-form", outcome="declined"))
    assert not approvals.denied
    approvals.answer_to(ev.Answered(question_id="q-c", outcome="selected", option_kind="reject_once"))
    assert approvals.denied
