from trunkline import events as ev
from trunkline.cli.exec.approvals import ExecApprovals
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


def test_a_refusal_names_the_option_that_was_typed_and_else_the_one_that_allows() -> None:
    question = ev.Asked(question_id="q", question=Permission(call_id="c", options=default_options()))
    typed, silent = ExecApprovals("none").answer_to(question), ExecApprovals(None).answer_to(question)
    assert typed is not None
    assert silent is not None
    assert (typed.option_id, typed.reason) == ("reject_once", "answered by --approve none")
    assert (silent.option_id, silent.reason) == ("reject_once", "no person to ask: --approve all allows it")
