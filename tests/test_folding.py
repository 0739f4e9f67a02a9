"""The fold is the meaning of a stream, however it was cut into pieces."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.legal_sessions import LegalSession, legal_sessions, meaning_of, rechunked
from tests.strategies import event_kinds, sloppy_streams, translate
from trunkline import events as ev
from trunkline.content import ImageBlock, TextBlock
from trunkline.conversation import (
    CallPart,
    Conversation,
    LaneState,
    MediaPart,
    Message,
    SourcePart,
    TerminalState,
    TextPart,
    ThoughtPart,
    TurnState,
)
from trunkline.folding import Folder, fold
from trunkline.grammar import Grammar
from trunkline.questions import Form


def text(delta: str, message_id: str = "m1", **fields: Any) -> ev.Text:
    return ev.Text(message_id=message_id, delta=delta, **fields)


def user(message_id: str, expected: str = "", **fields: Any) -> ev.UserMessage:
    return ev.UserMessage(message_id=message_id, content=(TextBlock(text=expected),), **fields)


def texts(folded: Conversation) -> list[tuple[str, str]]:
    return [(message.message_id, message.text) for message in folded.messages]


# -- any stream ------------------------------------------------------------------------------------


@given(legal_sessions())
def test_a_session_folds_to_what_was_meant(story: LegalSession) -> None:
    assert meaning_of(fold(story.events)) == story.meant


@given(legal_sessions(), st.data())
def test_cutting_and_joining_deltas_anywhere_changes_nothing(
    story: LegalSession, data: st.DataObject
) -> None:
    assert fold(data.draw(rechunked(story.events))) == fold(story.events)


@given(st.one_of(legal_sessions().map(lambda story: story.events), sloppy_streams()), st.data())
def test_the_conversation_is_right_in_the_middle_and_again_at_the_end(
    events: list[ev.Event], data: st.DataObject
) -> None:
    folder = Folder()
    for number, event in enumerate(events):
        folder.feed(event)
        if data.draw(st.booleans()):
            assert folder.conversation == fold(events[: number + 1])
    assert folder.conversation == fold(events)
    assert folder.conversation == fold(events)


@given(sloppy_streams())
def test_a_repaired_stream_means_the_same_when_it_is_repaired_again(events: list[ev.Event]) -> None:
    output = translate(Grammar(), events)
    assert fold(output) == fold(translate(Grammar(), output))


@given(sloppy_streams())
def test_after_the_grammar_every_turn_is_over_and_nothing_is_open(events: list[ev.Event]) -> None:
    folded = fold(translate(Grammar(), events))
    assert {turn.status for turn in folded.turns} <= {"finished", "failed"}
    assert all(call.status in ev.FINAL_STATUSES for call in folded.calls.values())
    assert all(question.answered is not None for question in folded.questions.values())
    assert all(lane.outcome is not None for lane in folded.lanes.values())
    assert all(folded.steps.values())
    assert {compaction.status for compaction in folded.compactions.values()} <= ev.FINAL_STATUSES


def test_every_event_but_those_of_windows_and_decisions_has_a_meaning() -> None:
    silent = {ev.RunOpened, ev.RunClosed, ev.Decided}
    assert set(event_kinds()) - set(vars(Folder)["_folds"]) == silent


# -- messages --------------------------------------------------------------------------------------


def test_parts_are_counted_by_kind_switches() -> None:
    image = ImageBlock(mime_type="image/png", url="https://example.org/x.png")
    folded = fold(
        [
            text("a"),
            text("b", turn_id="t9"),
            ev.Thought(message_id="m1", delta="c"),
            ev.Thought(message_id="m1", delta="d", signature="s"),
            ev.Thought(message_id="m1", delta="e"),
            ev.Media(message_id="m1", content=image),
            ev.Source(message_id="m1", source_id="s1", url="u"),
            ev.Source(message_id="m1", source_id="s1", url="twice"),
            ev.Source(message_id="m1", source_id="s2", document="d"),
            ev.ToolCall(call_id="c1", name="n", message_id="m1"),
            ev.ToolCall(call_id="c1", name="twice", message_id="m1"),
            text("f"),
        ]
    )
    assert folded.messages == [
        Message(
            message_id="m1",
            role="agent",
            parts=[
                TextPart(part_id="m1:0", text="ab"),
                ThoughtPart(part_id="m1:1", text="cd", signature="s"),
                ThoughtPart(part_id="m1:2", text="e"),
                MediaPart(part_id="m1:3", content=image),
                SourcePart(part_id="m1:4", source_id="s1", url="u"),
                SourcePart(part_id="m1:5", source_id="s2", document="d"),
                CallPart(part_id="m1:6", call_id="c1"),
                TextPart(part_id="m1:7", text="f"),
            ],
        )
    ]
    assert folded.messages[0].text == "abf"
    assert folded.calls["c1"].name == "n"


def test_messages_keep_the_order_in_which_they_began() -> None:
    folded = fold([user("u1", "hi"), text("a", "m1"), text("b", "m2", lane="x"), text("c", "m1")])
    assert texts(folded) == [("u1", "hi"), ("m1", "ac"), ("m2", "b")]
    assert [message.role for message in folded.messages] == ["user", "agent", "agent"]
    assert folded.messages[2].lane == "x"


def test_a_user_message_may_be_said_again_in_full() -> None:
    folded = fold([user("u1", "draft", trusted=False), user("u1", "final")])
    assert texts(folded) == [("u1", "final")]
    assert folded.messages[0].trusted


def test_a_snapshot_does_not_share_its_lists_with_another_fold() -> None:
    assert fold([text("a")]).messages != fold([]).messages
    assert Conversation().messages == []


# -- going back ------------------------------------------------------------------------------------

TALK: list[ev.Event] = [
    ev.TurnStarted(turn_id="t1"),
    user("u1", "one", turn_id="t1"),
    text("a", "m1", turn_id="t1"),
    ev.ToolCall(turn_id="t1", call_id="c1", name="n"),
    ev.TurnFinished(turn_id="t1"),
    ev.TurnStarted(turn_id="t2"),
    user("u2", "two", turn_id="t2"),
    ev.ToolCall(turn_id="t2", call_id="c2", name="n", message_id="m2"),
    ev.ToolCall(turn_id="t2", call_id="c3", name="n"),
    ev.TurnFinished(turn_id="t2"),
]


def test_a_rewind_takes_messages_and_their_calls_along() -> None:
    folded = fold([*TALK, ev.Rewound(to_message_id="m1")])
    assert texts(folded) == [("u1", "one"), ("m1", "a")]
    assert set(folded.calls) == {"c1"}


def test_a_call_without_a_message_stays_while_anything_of_its_turn_does() -> None:
    assert set(fold([*TALK, ev.Rewound(to_message_id="u2")]).calls) == {"c1", "c3"}


def test_a_rewind_to_the_beginning_leaves_no_message_and_no_call() -> None:
    folded = fold([*TALK, ev.Rewound()])
    assert (folded.messages, folded.calls) == ([], {})


def test_a_rewind_to_an_unknown_message_changes_nothing() -> None:
    assert fold([*TALK, ev.Rewound(to_message_id="m9")]) == fold(TALK)


def test_an_id_used_again_after_a_rewind_begins_a_new_message() -> None:
    again = [user("u2", "edited", turn_id="t3"), text("new", "m2", turn_id="t3")]
    folded = fold([*TALK, text("old", "m2"), ev.Rewound(to_message_id="m1"), *again])
    assert texts(folded) == [("u1", "one"), ("m1", "a"), ("u2", "edited"), ("m2", "new")]
    message = folded.message("m2")
    assert message is not None
    assert message.parts == [TextPart(part_id="m2:0", text="new")]
    assert message.turn_id == "t3"


# -- calls and terminals ---------------------------------------------------------------------------


def test_a_call_is_what_its_updates_made_of_it() -> None:
    folded = fold(
        [
            ev.ToolCall(turn_id="t1", call_id="c1", name="edit", title="Edit", native_id="n1", lane="a"),
            ev.ToolInput(call_id="c1", delta='{"a":'),
            ev.ToolInput(call_id="c1", delta="1}"),
            ev.ToolUpdate(call_id="c1", status="in_progress", kind="edit", input={"a": 1}),
            ev.ToolUpdate(call_id="c1", output="x", locations=(ev.Location(path="f"),)),
            ev.ToolUpdate(call_id="c1", output="y", content=(TextBlock(text="z"),), title="Edited"),
            ev.ToolUpdate(call_id="c1", status="failed", reason="why", raw_output=0, result_message_id="r"),
            ev.ToolUpdate(call_id="c9", status="failed"),
            ev.ToolInput(call_id="c9", delta="?"),
        ]
    )
    (call,) = folded.calls.values()
    assert (call.name, call.title, call.kind, call.status) == ("edit", "Edited", "edit", "failed")
    assert (call.arguments, call.input, call.output, call.raw_output) == ('{"a":1}', {"a": 1}, "xy", 0)
    assert (call.lane, call.turn_id, call.native_id, call.message_id) == ("a", "t1", "n1", None)
    assert (call.reason, call.result_message_id) == ("why", "r")
    assert (call.locations, call.content) == ((ev.Location(path="f"),), (TextBlock(text="z"),))


def test_a_terminal_keeps_its_output_and_its_end() -> None:
    pieces = [ev.TerminalOutput(terminal_id="x", data=data) for data in "ab"]
    end = ev.TerminalOutput(terminal_id="x", data="c", exited=True, exit_code=1, signal="TERM")
    assert fold([*pieces, end]).terminals == {
        "x": TerminalState(data="abc", exited=True, exit_code=1, signal="TERM")
    }


# -- turns and questions ---------------------------------------------------------------------------


def test_a_turn_is_running_suspended_finished_or_failed() -> None:
    usage = (ev.TokenUsage(model="m", input_tokens=1),)
    folder = Folder()
    statuses: list[str] = []
    for event in (
        ev.TurnFinished(),
        ev.TurnStarted(turn_id="t1"),
        ev.TurnSuspended(question_ids=("q1",)),
        ev.TurnResumed(),
        ev.TurnFinished(stop_reason="refusal", usage=usage),
        ev.TurnStarted(turn_id="t2"),
        ev.TurnFailed(code="interrupted", message="why", fault="ours"),
    ):
        folder.feed(event)
        statuses += [turn.status for turn in folder.conversation.turns[-1:]]
    assert statuses == ["running", "suspended", "running", "finished", "running", "failed"]
    assert folder.conversation.turns == [
        TurnState(turn_id="t1", status="finished", stop_reason="refusal", usage=usage),
        TurnState(turn_id="t2", status="failed", code="interrupted", message="why", fault="ours"),
    ]


def test_a_prompt_waits_until_it_is_run_or_dropped() -> None:
    queued = [ev.PromptQueued(prompt_id=name) for name in ("p1", "p2", "p3", "p1")]
    assert fold(queued).queued == ["p1", "p2", "p3"]
    gone = [ev.TurnStarted(turn_id="t1", prompt_id="p1"), ev.PromptDropped(prompt_id="p3")]
    assert fold([*queued, *gone, ev.PromptDropped(prompt_id="p3")]).queued == ["p2"]


def test_the_first_answer_counts() -> None:
    asked = ev.Asked(question_id="q1", question=Form(fields={}))
    answers = [ev.Answered(question_id="q1", outcome="accepted", by=name) for name in ("her", "him")]
    folded = fold([asked, asked, *answers, ev.Answered(question_id="q9", outcome="declined")])
    assert [(q.asked, q.answered) for q in folded.questions.values()] == [(asked, answers[0])]


# -- work, state and session -----------------------------------------------------------------------


def test_a_plan_replaces_the_plan_before_it() -> None:
    one, two = (ev.PlanEntry(content="one"),), (ev.PlanEntry(content="two", status="completed"),)
    assert fold([ev.Plan(entries=one), ev.Plan(entries=two)]).plan == two


def test_state_is_replaced_and_patched_and_a_patch_that_does_not_fit_is_left_out() -> None:
    first = {"a": [1]}
    patch = ({"op": "add", "path": "/a/-", "value": 2},)
    wrong = ({"op": "remove", "path": "/b"},)
    folded = fold([ev.StateReplaced(state=first), ev.StatePatched(patch=patch), ev.StatePatched(patch=wrong)])
    assert folded.state == {"a": [1, 2]}
    assert first == {"a": [1]}


def test_an_activity_is_shown_whole_and_then_patched() -> None:
    def activity(**fields: Any) -> ev.Activity:
        return ev.Activity(activity_id="a1", activity_type="t", **fields)

    shown = {"x": 1}
    folded = fold(
        [
            activity(content=shown),
            activity(patch=({"op": "replace", "path": "/x", "value": 2},)),
            activity(patch=({"op": "remove", "path": "/y"},)),
            activity(),
        ]
    )
    assert folded.activities == {"a1": {"x": 2}}
    assert shown == {"x": 1}


def test_a_step_or_a_lane_whose_name_comes_back_begins_anew() -> None:
    step = [ev.StepStarted(step_id="s"), ev.StepFinished(step_id="s")]
    lane = [
        ev.SubagentStarted(lane="a", name="first", description="d"),
        ev.SubagentFinished(lane="a", message="m", result=[1]),
        ev.SubagentFinished(lane="unknown"),
    ]
    model = [ev.StepStarted(step_id="m", kind="model"), ev.StepFinished(step_id="m", message_id="m1")]
    folded = fold([*step, *model, *lane])
    assert folded.steps == {"s": True}, "what a framework does is no part of the conversation"
    assert folded.lanes == {
        "a": LaneState(name="first", description="d", outcome="completed", message="m", result=[1])
    }
    folded = fold([*step, *lane, *step[:1], ev.SubagentStarted(lane="a", name="again", parent_call_id="c1")])
    assert folded.steps == {"s": False}
    assert folded.lanes == {"a": LaneState(name="again", parent_call_id="c1")}


def test_a_compaction_keeps_what_its_last_word_leaves_out() -> None:
    begun = ev.Compaction(compaction_id="k", status="in_progress", summary="short")
    done = ev.Compaction(compaction_id="k", status="completed")
    assert fold([begun, done]).compactions["k"] == ev.Compaction(
        compaction_id="k", status="completed", summary="short"
    )


def test_what_belongs_to_the_session_is_kept_as_it_stands_last() -> None:
    usage, notice, custom = ev.ContextUsage(used=1, size=2), ev.Notice(title="hm"), ev.Custom(name="n")
    commands, raw = (ev.CommandInfo(name="go"),), ev.Raw(source="wire")
    folded = fold(
        [
            usage, notice, custom, raw, ev.CommandsChanged(commands=commands), ev.InfoChanged(title="T"),
            ev.ConfigChanged(),
        ]
    )  # fmt: skip
    assert (folded.usage, folded.notices, folded.customs, folded.raws) == (usage, [notice], [custom], [raw])
    assert (folded.commands, folded.title, folded.options) == (commands, "T", ())


# -- cost ------------------------------------------------------------------------------------------


def test_a_long_message_is_joined_once_and_not_with_every_piece() -> None:
    count = 200_000
    folder = Folder()
    piece = text("word ")
    folder.feed(piece)
    (part,) = folder.conversation.messages[0].parts
    for _ in range(count - 1):
        folder.feed(piece)
    assert part == TextPart(part_id="m1:0", text="word "), "the text grew before anyone asked for it"
    assert folder.conversation.messages[0].text == "word " * count


def test_reading_again_does_not_join_again_what_did_not_grow() -> None:
    folder = Folder()
    folder.feed(text("a"))
    folder.feed(text("b"))
    (part,) = folder.conversation.messages[0].parts
    assert isinstance(part, TextPart)
    joined = part.text
    folder.feed(text("c", "m2"))
    assert folder.conversation.messages[0].text == "ab"
    assert part.text is joined
