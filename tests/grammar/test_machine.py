"""The grammar makes anything legal, once and for all, and says who broke which rule."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grammar.legality import breaches
from tests.legal_sessions import LegalSession, legal_sessions
from tests.strategies import sloppy_streams, translate
from trunkline import events as ev
from trunkline.content import TextBlock
from trunkline.grammar import RULES, Grammar, Phase, Violation
from trunkline.grammar.known_ids import REMEMBERED, KnownIds
from trunkline.questions import Form, Permission

START = ev.TurnStarted(turn_id="t1")
END = ev.TurnFinished(turn_id="t1")
NEXT = ev.TurnStarted(turn_id="t2")
CALL = ev.ToolCall(call_id="c1", name="look")
DONE = ev.ToolUpdate(call_id="c1", status="completed")
HI = ev.Text(message_id="m1", delta="hi")
LEFT = "the agent ended its turn without finishing this"


def legal(*events: ev.Event) -> list[ev.Event]:
    return translate(Grammar("Hal"), events)


def notice(rule: str, subject: str = "", turn_id: str | None = "t1") -> ev.Notice:
    return ev.Notice(
        turn_id=turn_id,
        severity="warning",
        code="agent_protocol",
        title="Hal broke the event rules",
        description=f"{RULES[rule]} ({subject})" if subject else RULES[rule],
        meta={"rule": rule},
    )


def form(question_id: str, **fields: Any) -> ev.Asked:
    return ev.Asked(question_id=question_id, question=Form(fields={}), **fields)


def lane(name: str, **fields: Any) -> ev.SubagentStarted:
    return ev.SubagentStarted(turn_id="t1", lane=name, name=name, **fields)


# -- whatever an agent says ------------------------------------------------------------------------


@given(sloppy_streams())
def test_any_stream_becomes_legal_and_so_does_any_prefix_of_it(events: list[ev.Event]) -> None:
    grammar = Grammar()
    output: list[ev.Event] = []
    for event in events:
        output += grammar.feed(event)
        assert breaches(output, ended=False) == []
    output += grammar.close()
    assert breaches(output, ended=True) == []
    assert grammar.phase is Phase.IDLE
    assert grammar.questions == {}
    assert grammar.close() == []


@given(sloppy_streams())
def test_the_output_of_a_grammar_passes_a_fresh_one_unchanged(events: list[ev.Event]) -> None:
    once = legal(*events)
    again = Grammar("Hal")
    assert translate(again, once) == once
    assert again.violations == []


@given(sloppy_streams(), st.data())
def test_a_grammar_recovered_from_its_output_goes_on_the_same(
    events: list[ev.Event], data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(events)))
    first, second = Grammar(), Grammar()
    for event in events[:cut]:
        for output in first.feed(event):
            second.feed(output)
    assert (second.phase, second.turn_id, second.questions) == (first.phase, first.turn_id, first.questions)
    assert translate(second, events[cut:]) == translate(first, events[cut:])


@given(sloppy_streams())
def test_every_broken_rule_is_reported_once_per_turn_and_names_the_agent(events: list[ev.Event]) -> None:
    grammar = Grammar("Hal")
    outputs = translate(grammar, events)
    output: list[Violation] = []
    turn: list[str] = []
    for event in outputs:
        if isinstance(event, ev.TurnStarted):
            turn = []
        if isinstance(event, ev.Notice) and event.code == "agent_protocol":
            assert event.title == "Hal broke the event rules"
            rule = (event.meta or {})["rule"]
            assert (event.description or "").startswith(RULES[rule])
            turn.append(rule)
            assert len(turn) == len(set(turn))
            output.append(Violation(rule, event.turn_id, ""))
    assert [violation._replace(subject="") for violation in grammar.violations] == output


@given(legal_sessions())
def test_a_well_formed_session_passes_unchanged(story: LegalSession) -> None:
    assert breaches(story.events, ended=True) == []
    grammar = Grammar()
    assert translate(grammar, story.events) == story.events
    assert grammar.violations == []


@given(legal_sessions(), st.data())
def test_a_session_that_stops_anywhere_is_settled(story: LegalSession, data: st.DataObject) -> None:
    events = story.events[: data.draw(st.integers(0, len(story.events)))]
    output = legal(*events)
    assert output[: len(events)] == events
    assert breaches(output, ended=True) == []


# -- each rule, and what comes out when it is broken -----------------------------------------------

BROKEN: dict[str, tuple[list[ev.Event], list[ev.Event]]] = {
    "after-end": ([START, END, HI, HI], [START, END, notice("after-end", "Text")]),
    "foreign-turn": (
        [START, ev.Text(turn_id="t0", message_id="m1", delta="hi"), END],
        [START, notice("foreign-turn", "Text"), END],
    ),
    "unknown-call": (
        [START, ev.ToolUpdate(call_id="c1", status="completed", title="Look"), END],
        [
            START,
            notice("unknown-call", "c1"),
            ev.ToolCall(turn_id="t1", call_id="c1", name="Look", title="Look"),
            ev.ToolUpdate(call_id="c1", status="completed", title="Look"),
            END,
        ],
    ),
    "unfinished-call": (
        [START, CALL, END],
        [
            START,
            CALL,
            notice("unfinished-call", "c1"),
            ev.ToolUpdate(turn_id="t1", call_id="c1", status="failed", reason=LEFT),
            END,
        ],
    ),
    "final-status": (
        [START, CALL, DONE, ev.ToolUpdate(call_id="c1", status="failed", reason="r", raw_output=1), END],
        [START, CALL, DONE, notice("final-status", "c1"), ev.ToolUpdate(call_id="c1", raw_output=1), END],
    ),
    "ended-call": (
        [START, CALL, DONE, END, NEXT, ev.ToolUpdate(call_id="c1", raw_output=1), DONE, ev.TurnFinished()],
        [START, CALL, DONE, END, NEXT, notice("ended-call", "c1", "t2"), ev.TurnFinished()],
    ),
    "late-input": (
        [START, CALL, DONE, ev.ToolInput(call_id="c1", delta="{}"), END],
        [START, CALL, DONE, notice("late-input", "c1"), END],
    ),
    "unknown-lane": (
        [START, ev.Text(lane="a", message_id="m1", delta="hi"), ev.SubagentFinished(lane="a"), END],
        [
            START,
            notice("unknown-lane", "a"),
            lane("a"),
            ev.Text(lane="a", message_id="m1", delta="hi"),
            ev.SubagentFinished(lane="a"),
            END,
        ],
    ),
    "closed-lane": (
        [START, lane("a"), ev.SubagentFinished(lane="a"), ev.Plan(lane="a"), END],
        [START, lane("a"), ev.SubagentFinished(lane="a"), notice("closed-lane", "a"), END],
    ),
    "unfinished-lane": (
        [START, lane("a"), END],
        [
            START,
            lane("a"),
            notice("unfinished-lane", "a"),
            ev.SubagentFinished(turn_id="t1", lane="a", outcome="failed", message=LEFT),
            END,
        ],
    ),
    "unknown-question": (
        [START, ev.Answered(question_id="q1", outcome="accepted"), END],
        [START, notice("unknown-question", "q1"), END],
    ),
    "unknown-step": ([START, ev.StepFinished(step_id="s1"), END], [START, notice("unknown-step", "s1"), END]),
    "unknown-activity": (
        [START, ev.Activity(activity_id="a1", activity_type="t", patch=()), END],
        [START, notice("unknown-activity", "a1"), END],
    ),
    "closed-terminal": (
        [START, ev.TerminalOutput(terminal_id="x", exited=True), ev.TerminalOutput(terminal_id="x"), END],
        [START, ev.TerminalOutput(terminal_id="x", exited=True), notice("closed-terminal", "x"), END],
    ),
    "idle-suspension": (
        [START, ev.TurnSuspended(question_ids=("q1",)), END],
        [START, notice("idle-suspension"), END],
    ),
}


def test_every_rule_has_an_example() -> None:
    assert set(BROKEN) == set(RULES)


@pytest.mark.parametrize("rule", RULES)
def test_a_broken_rule_is_repaired_as_its_text_says(rule: str) -> None:
    events, expected = BROKEN[rule]
    grammar = Grammar("Hal")
    assert translate(grammar, events) == expected
    assert [violation.rule for violation in grammar.violations] == [rule]


def test_an_agent_that_goes_on_breaking_a_rule_costs_no_memory() -> None:
    grammar = Grammar()
    for _ in range(1000):
        grammar.feed(HI)
    assert grammar.violations == [Violation("after-end", None, "Text")]


def test_a_notice_about_a_long_subject_stays_short() -> None:
    output = legal(START, ev.StepFinished(step_id="s" * 5000), END)
    assert len(getattr(output[1], "description", "")) < 300


# -- turns -----------------------------------------------------------------------------------------


def test_a_turn_that_did_not_end_is_interrupted() -> None:
    *output, end = legal(START, HI)
    assert output == [START, HI]
    assert isinstance(end, ev.TurnFailed)
    assert (end.turn_id, end.code, end.fault) == ("t1", "interrupted", "ours")


def test_a_turn_that_starts_inside_another_interrupts_it() -> None:
    other = ev.TurnStarted(turn_id="t2")
    output = legal(START, CALL, other, ev.TurnFinished(turn_id="t2"))
    assert [type(event) for event in output] == [
        ev.TurnStarted, ev.ToolCall, ev.ToolUpdate, ev.TurnFailed, ev.TurnStarted, ev.TurnFinished,
    ]  # fmt: skip


def test_a_turn_that_starts_twice_starts_once() -> None:
    assert legal(START, START, END) == [START, END]


def test_a_suspended_turn_resumes_when_something_is_emitted() -> None:
    suspended = ev.TurnSuspended(question_ids=("q1",))
    answered = ev.Answered(question_id="q1", outcome="accepted")
    assert legal(START, form("q1"), suspended, suspended, answered, HI, ev.TurnResumed(), END) == [
        START, form("q1"), suspended, answered, ev.TurnResumed(turn_id="t1"), HI, END,
    ]  # fmt: skip


def test_an_answer_a_notice_and_a_broken_rule_do_not_resume_a_turn() -> None:
    heard = [ev.Answered(question_id="q1", outcome="accepted", lane="a"), ev.Notice(title="hm")]
    quiet = [*heard, ev.Text(message_id="m1", delta="")]
    events = [START, form("q1"), form("q2"), ev.TurnSuspended(question_ids=("q1", "q2"))]
    grammar = Grammar()
    output = [out for event in [*events, *quiet] for out in grammar.feed(event)]
    assert output == [*events, *heard]
    assert grammar.phase is Phase.SUSPENDED


def test_a_suspension_names_the_open_questions_only() -> None:
    output = legal(START, form("q1"), ev.TurnSuspended(question_ids=("q0", "q1")))
    assert ev.TurnSuspended(question_ids=("q1",)) in output


def test_a_turn_cancelled_while_it_waits_wakes_up_to_settle_its_calls() -> None:
    asked = ev.Asked(question_id="q1", question=Permission(call_id="c1"))
    suspended = ev.TurnSuspended(question_ids=("q1",))
    end = ev.TurnFinished(stop_reason="cancelled")
    reason = "the turn was cancelled"
    assert legal(START, CALL, asked, suspended, end) == [
        START,
        CALL,
        asked,
        suspended,
        ev.Answered(turn_id="t1", question_id="q1", outcome="cancelled", reason=reason, by="trunkline"),
        ev.TurnResumed(turn_id="t1"),
        ev.ToolUpdate(turn_id="t1", call_id="c1", status="cancelled", reason=reason),
        end,
    ]


def test_a_turn_that_fails_while_it_waits_for_a_form_only_does_not_wake_up() -> None:
    suspended = ev.TurnSuspended(question_ids=("q1",))
    end = ev.TurnFailed(code="broken", message="it broke")
    output = legal(START, form("q1"), suspended, end)
    assert [type(event) for event in output[2:]] == [ev.TurnSuspended, ev.Answered, ev.TurnFailed]


def test_a_failed_turn_gives_the_reason_to_its_open_calls() -> None:
    output = legal(START, CALL, ev.TurnFailed(code="broken", message="no disk"))
    assert output[2] == ev.ToolUpdate(
        turn_id="t1", call_id="c1", status="failed", reason="the turn failed: no disk"
    )


def test_what_belongs_to_the_session_is_legal_at_any_time() -> None:
    titled, queued = ev.InfoChanged(title="T"), ev.PromptQueued(prompt_id="p1")
    assert legal(titled, START, queued, END, titled) == [titled, START, queued, END, titled]


def test_a_window_on_an_earlier_turn_may_close_during_the_next_one() -> None:
    second, closed = ev.TurnStarted(turn_id="t2"), ev.RunClosed(turn_id="t1", run_id="r1", to_seq=3)
    end = ev.TurnFinished(turn_id="t2")
    assert legal(START, END, second, closed, end) == [START, END, second, closed, end]


def test_an_answer_that_comes_after_the_turn_is_dropped_without_a_report() -> None:
    answered = ev.Answered(question_id="q1", outcome="accepted")
    assert legal(START, form("q1"), answered, END, answered) == [START, form("q1"), answered, END]


# -- messages --------------------------------------------------------------------------------------


def test_empty_pieces_are_not_emitted() -> None:
    empty = [
        ev.Text(message_id="m1", delta=""),
        ev.Thought(message_id="m1"),
        ev.ToolInput(call_id="c1", delta=""),
        ev.TerminalOutput(terminal_id="x"),
        ev.ToolUpdate(call_id="c1"),
    ]
    sealed = ev.Thought(message_id="m1", signature="s")
    assert legal(START, CALL, *empty, sealed, DONE, END) == [START, CALL, sealed, DONE, END]


def test_an_id_of_an_earlier_turn_or_of_the_person_begins_a_new_message() -> None:
    user = ev.UserMessage(message_id="u1")
    second = ev.TurnStarted(turn_id="t2")
    words = [
        ev.Text(message_id="m1", delta="a"),
        ev.Text(message_id="u1", delta="b"),
        ev.Text(message_id="m1", delta="c"),
        ev.ToolCall(call_id="c1", name="n", message_id="m1"),
    ]
    output = legal(START, user, HI, END, second, *words, DONE, ev.TurnFinished())
    assert [getattr(event, "message_id", None) for event in output[5:9]] == [
        "m1~t2",
        "u1~t2",
        "m1~t2",
        "m1~t2",
    ]


def test_a_new_name_that_is_taken_too_is_changed_again() -> None:
    taken = ev.Text(message_id="m1~t2", delta="taken")
    second = ev.TurnStarted(turn_id="t2")
    output = legal(START, HI, taken, END, second, HI, ev.TurnFinished())
    assert output[5] == ev.Text(message_id="m1~t2~t2", delta="hi")


def test_a_user_message_under_an_id_of_the_agent_is_kept() -> None:
    user = ev.UserMessage(message_id="m1", content=(TextBlock(text="mine"),))
    output = legal(START, HI, user, user, HI, END)
    assert output[1:4] == [HI, ev.UserMessage(message_id="m1~t1", content=(TextBlock(text="mine"),)), HI]


def test_a_user_message_that_comes_twice_is_emitted_once() -> None:
    user = ev.UserMessage(message_id="u1")
    assert legal(START, user, user, END) == [START, user, END]


def test_a_rewind_frees_the_ids_behind_it() -> None:
    first, second = ev.UserMessage(message_id="u1"), ev.UserMessage(message_id="u2")
    rewound = ev.Rewound(to_message_id="u1")
    assert legal(START, first, second, HI, END, rewound, START, second, HI, first, END) == [
        START, first, second, HI, END, rewound, START, second, HI, END,
    ]  # fmt: skip


def test_a_rewind_to_the_beginning_frees_all_and_one_to_nowhere_frees_nothing() -> None:
    user = ev.UserMessage(message_id="u1")
    nowhere, beginning = ev.Rewound(to_message_id="u9"), ev.Rewound()
    assert legal(START, user, nowhere, user, beginning, user, END) == [
        START, user, nowhere, beginning, user, END,
    ]  # fmt: skip


def test_pieces_of_one_text_pass_as_the_very_objects_they_are() -> None:
    grammar = Grammar()
    grammar.feed(START)
    pieces = [ev.Text(message_id="m1", delta=str(n)) for n in range(3)]
    assert [grammar.feed(piece)[0] is piece for piece in pieces] == [True] * 3


def test_a_text_goes_on_after_an_illegal_event_in_between() -> None:
    late = ev.Text(turn_id="t0", message_id="m1", delta="?")
    assert legal(START, HI, late, late, HI, END) == [START, HI, notice("foreign-turn", "Text"), HI, END]


# -- calls -----------------------------------------------------------------------------------------


def test_a_call_and_its_result_that_come_twice_are_emitted_once() -> None:
    assert legal(START, CALL, CALL, DONE, DONE, END) == [START, CALL, DONE, END]


def test_late_content_of_a_finished_call_is_welcome() -> None:
    again = ev.ToolUpdate(call_id="c1", status="completed", raw_output=1)
    assert legal(START, CALL, DONE, again, END) == [
        START, CALL, DONE, ev.ToolUpdate(call_id="c1", raw_output=1), END,
    ]  # fmt: skip


def test_call_ids_that_a_framework_counts_anew_stay_unique_in_the_session() -> None:
    second = ev.TurnStarted(turn_id="t2")
    piece = ev.ToolInput(call_id="c1", delta="{}")
    asked = ev.Asked(question_id="q1", question=Permission(call_id="c1"))
    child = ev.SubagentStarted(lane="a", parent_call_id="c1")
    answered = ev.Answered(question_id="q1", outcome="selected")
    events = [second, CALL, CALL, piece, asked, answered, child, ev.SubagentFinished(lane="a"), DONE]
    output = legal(START, CALL, DONE, END, *events, ev.TurnFinished())
    assert output[4:] == [
        second,
        ev.ToolCall(call_id="c1~t2", name="look", native_id="c1"),
        ev.ToolInput(call_id="c1~t2", delta="{}"),
        ev.Asked(question_id="q1", question=Permission(call_id="c1~t2")),
        answered,
        ev.SubagentStarted(lane="a", parent_call_id="c1~t2"),
        ev.SubagentFinished(lane="a"),
        ev.ToolUpdate(call_id="c1~t2", status="completed"),
        ev.TurnFinished(),
    ]


def test_a_new_id_of_a_call_that_is_taken_too_is_changed_again() -> None:
    taken = ev.ToolCall(call_id="c1~t2", name="taken")
    ends = [DONE, ev.ToolUpdate(call_id="c1~t2", status="completed")]
    output = legal(
        START, CALL, taken, *ends, END, ev.TurnStarted(turn_id="t2"), CALL, DONE, ev.TurnFinished()
    )
    assert output[-3:-1] == [
        ev.ToolCall(call_id="c1~t2~t2", name="look", native_id="c1"),
        ev.ToolUpdate(call_id="c1~t2~t2", status="completed"),
    ]


def test_a_recovered_grammar_still_knows_the_new_name_of_a_call() -> None:
    grammar = Grammar()
    renamed = ev.ToolCall(call_id="c1~t2", name="look", native_id="mine")
    for event in (START, CALL, DONE, END, ev.TurnStarted(turn_id="t2"), renamed):
        grammar.feed(event)
    assert grammar.feed(DONE) == [ev.ToolUpdate(call_id="c1~t2", status="completed")]


def test_a_call_of_a_turn_that_goes_on_after_a_question_still_gets_its_result() -> None:
    asked = ev.Asked(question_id="q1", question=Permission(call_id="c1"))
    waits, answered = (
        ev.TurnSuspended(question_ids=("q1",)),
        ev.Answered(question_id="q1", outcome="selected"),
    )
    events = [START, CALL, asked, waits, answered, ev.TurnResumed(turn_id="t1"), DONE, END]
    grammar = Grammar()
    for event in events[:4]:
        grammar.feed(event)
    assert [output for event in events[4:] for output in grammar.feed(event)] == events[4:]


def test_a_question_about_a_call_of_an_earlier_turn_is_one_about_a_new_call() -> None:
    asked = ev.Asked(turn_id="t2", question_id="q1", question=Permission(call_id="c1"))
    assert legal(START, CALL, DONE, END, NEXT, asked)[5:8] == [
        notice("unknown-call", "c1~t2", "t2"),
        ev.ToolCall(turn_id="t2", call_id="c1~t2", name="unknown"),
        ev.Asked(turn_id="t2", question_id="q1", question=Permission(call_id="c1~t2")),
    ]


def test_a_question_about_an_unknown_call_announces_the_call() -> None:
    asked = ev.Asked(question_id="q1", question=Permission(call_id="c1"))
    output = legal(START, asked, asked)
    assert output[1:4] == [
        notice("unknown-call", "c1"),
        ev.ToolCall(turn_id="t1", call_id="c1", name="unknown"),
        asked,
    ]


# -- lanes, steps and compactions ------------------------------------------------------------------


def test_lanes_are_settled_innermost_first() -> None:
    inner_call = ev.ToolCall(call_id="c2", name="n", lane="b")
    step = ev.StepStarted(step_id="s1", lane="a")
    output = legal(
        START,
        lane("a"),
        lane("b", parent_lane="a"),
        inner_call,
        step,
        ev.Compaction(compaction_id="k1", status="in_progress"),
        ev.TurnFinished(turn_id="t1", stop_reason="cancelled"),
    )
    why = "the turn was cancelled"
    assert output[6:-1] == [
        ev.ToolUpdate(turn_id="t1", lane="b", call_id="c2", status="cancelled", reason=why),
        ev.SubagentFinished(turn_id="t1", lane="b", outcome="cancelled", message=why),
        ev.StepFinished(turn_id="t1", lane="a", step_id="s1"),
        ev.SubagentFinished(turn_id="t1", lane="a", outcome="cancelled", message=why),
        ev.Compaction(turn_id="t1", compaction_id="k1", status="cancelled", error=why),
    ]


@pytest.mark.parametrize(
    ("outcome", "status"), [("completed", "failed"), ("failed", "failed"), ("cancelled", "cancelled")]
)
def test_a_lane_takes_the_lanes_below_it_and_its_calls_along(outcome: Any, status: Any) -> None:
    grammar = Grammar()
    end = ev.SubagentFinished(lane="a", outcome=outcome)
    call = ev.ToolCall(call_id="c1", name="n", lane="a")
    for event in (START, lane("a"), lane("x"), lane("b", parent_lane="a"), call):
        grammar.feed(event)
    output = [event for event in grammar.feed(end) if not isinstance(event, ev.Notice)]
    assert output == [
        ev.SubagentFinished(
            turn_id="t1", lane="b", outcome=status, message="the subagent above it ended"
        ),
        ev.ToolUpdate(
            turn_id="t1", lane="a", call_id="c1", status=status,
            reason="the subagent ended without finishing this",
        ),
        end,
    ]  # fmt: skip
    assert bool(grammar.violations) == (outcome == "completed")


def test_an_unknown_parent_lane_is_announced_first() -> None:
    child = ev.SubagentStarted(turn_id="t1", lane="b", parent_lane="a")
    assert legal(START, child)[1:4] == [notice("unknown-lane", "a"), lane("a"), child]


@pytest.mark.timeout(5)
def test_a_lane_below_itself_is_below_nothing() -> None:
    output = legal(START, lane("a", parent_lane="a"), lane("b"), ev.SubagentFinished(lane="b"))
    assert output[1:4] == [lane("a"), lane("b"), ev.SubagentFinished(lane="b")]


@pytest.mark.parametrize("nobody", [ev.SubagentStarted(), ev.SubagentFinished()])
def test_a_subagent_without_a_lane_is_dropped_and_reported(nobody: ev.Event) -> None:
    assert legal(START, nobody, END) == [START, notice("unknown-lane", "none"), END]


def test_a_lane_that_starts_twice_starts_once_and_may_start_again_in_the_next_turn() -> None:
    end, second = ev.SubagentFinished(lane="a"), ev.TurnStarted(turn_id="t2")
    again = ev.SubagentStarted(turn_id="t2", lane="a")
    last = ev.TurnFinished(turn_id="t2")
    assert legal(START, lane("a"), lane("a"), end, END, second, again, end, last) == [
        START, lane("a"), end, END, second, again, end, last,
    ]  # fmt: skip


def test_steps_are_counted_per_lane_and_started_once() -> None:
    step, inner = ev.StepStarted(step_id="s1"), ev.StepStarted(step_id="s1", lane="a")
    output = legal(START, lane("a"), step, step, inner, ev.SubagentFinished(lane="a"), END)
    assert output[2:] == [
        step,
        inner,
        ev.StepFinished(turn_id="t1", lane="a", step_id="s1"),
        ev.SubagentFinished(lane="a"),
        ev.StepFinished(turn_id="t1", step_id="s1"),
        END,
    ]


def test_a_step_names_its_message_by_the_id_that_the_message_got() -> None:
    second = ev.TurnStarted(turn_id="t2")
    text = ev.Text(message_id="m1", delta="a")
    step = [ev.StepStarted(step_id="s1", kind="model"), text, ev.StepFinished(step_id="s1", message_id="m1")]
    said = legal(START, *step, END, second, *step, ev.TurnFinished(turn_id="t2"))
    assert [event.message_id for event in said if isinstance(event, ev.Text | ev.StepFinished)] == [
        "m1", "m1", "m1~t2", "m1~t2",
    ]  # fmt: skip


def test_a_compaction_ends_once() -> None:
    begun = ev.Compaction(compaction_id="k1", status="in_progress")
    done = ev.Compaction(compaction_id="k1", status="completed", summary="short")
    assert legal(START, begun, done, begun, done, END) == [START, begun, done, END]


def test_a_forged_notice_breaks_nothing() -> None:
    forged = ev.Notice(title="?", code="agent_protocol", meta={"rule": ["unhashable"]})
    assert legal(forged, START, END) == [forged, START, END]


# -- cost ------------------------------------------------------------------------------------------


def a_long_session(turns: int) -> list[ev.Event]:
    """Turns that leave behind one id of every kind each."""
    events: list[ev.Event] = []
    for number in range(turns):
        events += [
            ev.TurnStarted(turn_id=f"t{number}"),
            ev.UserMessage(message_id=f"u{number}"),
            ev.Text(message_id=f"m{number}", delta="hi"),
            ev.ToolCall(call_id=f"c{number}", name="look"),
            ev.ToolCall(call_id="counted", name="look"),
            ev.Asked(question_id=f"q{number}", question=Permission(call_id=f"c{number}")),
            ev.Answered(question_id=f"q{number}", outcome="selected"),
            ev.TerminalOutput(terminal_id=f"x{number}", exited=True),
            ev.Activity(activity_id=f"a{number}", activity_type="t", content={}),
            ev.Compaction(compaction_id=f"k{number}", status="completed"),
            ev.Text(turn_id="t?", message_id=f"m{number}", delta="not mine"),
            ev.TurnFinished(turn_id=f"t{number}", stop_reason="cancelled"),
        ]
    return events


def test_what_is_remembered_of_a_session_does_not_grow_with_it() -> None:
    grammar = Grammar()
    for event in a_long_session(REMEMBERED * 3):
        grammar.feed(event)
    held: list[Any] = [value for holder in (grammar, grammar.known_ids) for value in vars_of(holder).values()]
    assert max(len(value) for value in held if hasattr(value, "__len__")) <= REMEMBERED


def vars_of(holder: Grammar | KnownIds) -> dict[str, Any]:
    return msgspec.structs.asdict(holder) if isinstance(holder, KnownIds) else vars(holder)


def test_an_id_that_comes_again_in_every_turn_is_never_forgotten() -> None:
    grammar = Grammar()
    output = [item for event in a_long_session(REMEMBERED * 3) for item in grammar.feed(event)]
    ids = [item.call_id for item in output if isinstance(item, ev.ToolCall)]
    assert len(ids) == len(set(ids))


def test_what_is_remembered_is_the_same_in_the_writer_and_in_a_reader() -> None:
    grammar, reader = Grammar(), Grammar()
    for event in a_long_session(REMEMBERED + 200):
        for output in grammar.feed(event):
            reader.feed(output)
    assert (reader.known_ids, list(reader.known_ids.calls)) == (
        grammar.known_ids,
        list(grammar.known_ids.calls),
    )
    copied = msgspec.json.decode(msgspec.json.encode(grammar.known_ids), type=KnownIds)
    assert copied == grammar.known_ids


def test_a_rewind_to_a_message_that_is_long_forgotten_frees_all_that_came_after_it() -> None:
    grammar = Grammar()
    for event in (*a_long_session(REMEMBERED), ev.Rewound(to_message_id="u1"), NEXT):
        grammar.feed(event)
    again = ev.UserMessage(message_id=f"u{REMEMBERED - 1}")
    assert grammar.feed(again) == [again]


def test_a_turn_does_not_look_at_the_calls_of_the_turns_before_it() -> None:
    class Counted(dict[str, Any]):
        looked = 0

        def items(self) -> Any:
            Counted.looked += len(self)
            return super().items()

    grammar = Grammar()
    for holder in (grammar, grammar.known_ids):
        for name, value in vars_of(holder).items():
            if isinstance(value, dict):
                setattr(holder, name, Counted())
    for number in range(100):
        grammar.feed(ev.TurnStarted(turn_id=f"t{number}"))
        grammar.feed(ev.ToolCall(call_id=f"c{number}", name="n"))
        grammar.feed(ev.TurnFinished())
    assert Counted.looked <= 100 * 3
