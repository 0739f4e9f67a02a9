"""Events as ACP updates: each exactly, any stream validly, and nothing lost that ACP can carry."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.legal_sessions import LegalSession, legal_sessions, rechunked
from tests.peers.session_views import heard_view, kept_view
from tests.strategies import event_kinds, sloppy_streams, translate

from trunkline import events as ev
from trunkline.conformance.acp.schema import find_fault
from trunkline.content import DiffBlock, ImageBlock, LinkBlock, TerminalBlock, TextBlock
from trunkline.cursor import Entry
from trunkline.folding import fold
from trunkline.frontends.acp import decode
from trunkline.frontends.acp.encoder import AcpEncoder, Ask, EndPrompt, WaitForMessage, Withdraw
from trunkline.frontends.acp.forms_as_text import ask_as_text
from trunkline.frontends.acp.losses import LOSSES
from trunkline.grammar import Grammar
from trunkline.options import Choice, ConfigOption
from trunkline.protocols.acp import wire
from trunkline.questions import Form, Link, Permission, default_options
from trunkline.safe_text import safe_title

ABLE: dict[str, Any] = {
    "session": {"notices": {}, "compaction": {}, "configOptions": {"boolean": {}}},
    "elicitation": {"form": {}, "url": {}},
}


def encoder(client: dict[str, Any] | None = None, **options: Any) -> AcpEncoder:
    return AcpEncoder("s1", None if client is None else decode(wire.ClientCapabilities, client), **options)


def entries(events: Iterable[Any], at: float = 0.0) -> list[Entry]:
    return [Entry(seq, 0, 1, at, event) for seq, event in enumerate(events, 1)]


def outs(*events: Any, client: dict[str, Any] | None = None, **options: Any) -> list[Any]:
    """Encode events and give everything said; updates as parsed JSON, each checked."""
    output = translate(encoder(client, **options), entries(events))
    return [update_of(out) if isinstance(out, bytes) else out for out in output]


def update_of(line: bytes) -> dict[str, Any]:
    message = json.loads(line)
    assert b"\n" not in line
    assert find_fault(message) is None, find_fault(message)
    assert message["params"]["sessionId"] == "s1"
    return message["params"]["update"]


# -- each event ------------------------------------------------------------------------------------

CALL = ev.ToolCall(call_id="c1", name="search", title="Search", kind="search")
CALLED = {
    "sessionUpdate": "tool_call",
    "toolCallId": "c1",
    "title": "Search",
    "name": "search",
    "kind": "search",
    "status": "pending",
}
MODE = ConfigOption(
    option_id="mode",
    name="Mode",
    value="ask",
    category="mode",
    choices=(Choice(value="ask", name="Ask"), Choice(value="code", name="Code")),
)
SWITCH = ConfigOption(option_id="loud", name="Loud", value=True)
MODE_SHOWN = {
    "id": "mode",
    "name": "Mode",
    "type": "select",
    "currentValue": "ask",
    "category": "mode",
    "options": [{"value": "ask", "name": "Ask"}, {"value": "code", "name": "Code"}],
}
SWITCH_SHOWN = {
    "id": "loud", "name": "Loud", "type": "boolean", "currentValue": True, "category": "other",
}  # fmt: skip
ASKED = ev.Asked(question_id="q1", question=Form(message="?", fields={}))
ANSWERED = ev.Answered(question_id="q1", outcome="accepted")
LINK = {"type": "resource_link"}
UPDATE = {"sessionUpdate": "tool_call_update"}
DONE = ev.PlanEntry(content="b", status="completed", priority="high")
GO = ev.CommandInfo(name="go", description="Go", hint="where")
FINISHED = ev.TurnFinished(turn_id="t1", stop_reason="refusal")
FAILED = ev.TurnFailed(turn_id="t1", code="broken", message="it broke")


def words(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def chunk(kind: str, content: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"sessionUpdate": kind, "messageId": "m1", "content": content, **fields}


EXACT: list[tuple[Sequence[ev.Event], list[Any]]] = [
    ([ev.Text(message_id="m1", delta="hé\n\u2028")], [chunk("agent_message_chunk", words("hé\n\u2028"))]),
    ([ev.Thought(message_id="m1", delta="hm")], [chunk("agent_thought_chunk", words("hm"))]),
    ([ev.Thought(message_id="m1", signature="seal")], []),
    (
        [ev.UserMessage(message_id="m1", content=(TextBlock(text="hi"), TextBlock(text="you")))],
        [
            chunk("user_message_chunk", words("hi")),
            chunk("user_message_chunk", words("you")),
        ],
    ),
    (
        [ev.Media(message_id="m1", content=ImageBlock(mime_type="image/png", data="aGk="))],
        [chunk("agent_message_chunk", {"type": "image", "mimeType": "image/png", "data": "aGk="})],
    ),
    (
        [ev.Source(message_id="m1", source_id="1", url="https://a.b", title="A", mime_type="text/html")],
        [chunk("agent_message_chunk", {**LINK, "uri": "https://a.b", "name": "A", "mimeType": "text/html"})],
    ),
    (
        [ev.Source(message_id="m1", source_id="1", document="a.pdf")],
        [chunk("agent_message_chunk", {**LINK, "uri": "source:1", "name": "a.pdf"})],
    ),
    ([CALL], [CALLED]),
    ([ev.ToolCall(call_id="c1", name="search")], [{**CALLED, "title": "search", "kind": "other"}]),
    ([CALL, ev.ToolInput(call_id="c1", delta="{}")], [CALLED]),
    (
        [CALL, ev.ToolUpdate(call_id="c1", status="completed", raw_output=[1])],
        [CALLED, {**UPDATE, "toolCallId": "c1", "status": "completed", "rawOutput": [1]}],
    ),
    (
        [ev.ToolUpdate(call_id="c0", status="completed")],
        [{**UPDATE, "toolCallId": "c0", "status": "completed"}],
    ),
    ([ev.TerminalOutput(terminal_id="x", data="shown by nobody")], []),
    ([ASKED], [Ask(ASKED)]),
    ([ASKED, ANSWERED], [Ask(ASKED), Withdraw(ANSWERED)]),
    ([ASKED, ev.TurnSuspended(question_ids=("q1",))], [Ask(ASKED)]),
    ([ev.Answered(question_id="q0", outcome="accepted")], []),
    ([FINISHED], [EndPrompt(FINISHED)]),
    ([FAILED], [EndPrompt(FAILED)]),
    (
        [ev.Plan(entries=(ev.PlanEntry(content="a"), DONE))],
        [
            {
                "sessionUpdate": "plan",
                "entries": [
                    {"content": "a", "priority": "medium", "status": "pending"},
                    {"content": "b", "priority": "high", "status": "completed"},
                ],
            }
        ],
    ),
    (
        [ev.Notice(title="N", description="d", severity="warning")],
        [{"sessionUpdate": "notice", "severity": "warning", "title": "N", "description": "d"}],
    ),
    ([ev.Notice(title="N")], [{"sessionUpdate": "notice", "severity": "info", "title": "N"}]),
    (
        [ev.Compaction(compaction_id="k", status="completed", summary="short")],
        [
            {
                "sessionUpdate": "compaction_update",
                "compactionId": "k",
                "status": "completed",
                "summary": [words("short")],
            }
        ],
    ),
    (
        [ev.Compaction(compaction_id="k", status="failed", error="full")],
        [{"sessionUpdate": "compaction_update", "compactionId": "k", "status": "failed", "error": "full"}],
    ),
    (
        [ev.ConfigChanged(options=(MODE, SWITCH))],
        [
            {"sessionUpdate": "config_option_update", "configOptions": [MODE_SHOWN, SWITCH_SHOWN]},
            {"sessionUpdate": "current_mode_update", "currentModeId": "ask"},
        ],
    ),
    (
        [ev.ConfigChanged(options=(SWITCH,))],
        [{"sessionUpdate": "config_option_update", "configOptions": [SWITCH_SHOWN]}],
    ),
    (
        [ev.CommandsChanged(commands=(GO, ev.CommandInfo(name="x")))],
        [
            {
                "sessionUpdate": "available_commands_update",
                "availableCommands": [
                    {"name": "go", "description": "Go", "input": {"hint": "where"}},
                    {"name": "x", "description": ""},
                ],
            }
        ],
    ),
    ([ev.InfoChanged(title="T")], [{"sessionUpdate": "session_info_update", "title": "T"}]),
    ([ev.InfoChanged()], [{"sessionUpdate": "session_info_update", "title": None}]),
    ([ev.ContextUsage(used=1, size=2)], [{"sessionUpdate": "usage_update", "used": 1, "size": 2}]),
    (
        [ev.ContextUsage(used=1, size=2, cost=ev.Cost(amount=0.5))],
        [{"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": {"amount": 0.5, "currency": "USD"}}],
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("events", "expected"), EXACT, ids=lambda value: "" if not value else type(value[-1]).__name__
)
def test_an_event_is_exactly_this_on_the_wire(events: Sequence[ev.Event], expected: list[Any]) -> None:
    assert outs(*events, client=ABLE, replay=True) == expected


def test_every_event_is_either_carried_or_named_as_lost() -> None:
    carried = {type(event) for events, _ in EXACT for event in events}
    assert carried.isdisjoint(LOSSES)
    assert carried | set(LOSSES) == set(event_kinds())
    assert all(LOSSES.values()), "a loss has a reason"


LOST: list[ev.Event] = [
    ev.TurnStarted(turn_id="t1"),
    ev.TurnResumed(),
    ev.PromptQueued(prompt_id="p"),
    ev.PromptDropped(prompt_id="p"),
    ev.Rewound(),
    ev.RunOpened(run_id="r", front_end="acp", from_seq=1),
    ev.RunClosed(run_id="r", to_seq=1),
    ev.Decided(allowed=True, by="policy", reason="r"),
    ev.StepStarted(step_id="p"),
    ev.StepFinished(step_id="p"),
    ev.SubagentStarted(lane="l"),
    ev.SubagentFinished(lane="l"),
    ev.Activity(activity_id="a", activity_type="t", content={}),
    ev.StateReplaced(state={}),
    ev.StatePatched(patch=()),
    ev.Custom(name="n"),
    ev.Raw(source="s"),
]


def test_what_is_lost_says_nothing() -> None:
    assert {type(event) for event in LOST} == set(LOSSES)
    assert outs(*LOST, client=ABLE, replay=True) == []


# -- what goes along -------------------------------------------------------------------------------


def test_meta_and_lane_travel_in_meta_and_agents_cannot_use_our_key() -> None:
    meta = {"example.com/x": 1, "trunkline": "forged"}
    for event in (
        ev.Text(message_id="m1", delta="x", lane="l1", meta=meta),
        ev.Thought(message_id="m1", delta="x", lane="l1", meta=meta),
        ev.Plan(lane="l1", meta=meta),
    ):
        (update,) = outs(event)
        assert update["_meta"] == {"example.com/x": 1, "trunkline": {"lane": "l1"}}
    assert meta["trunkline"] == "forged", "the event's own is not touched"


def test_text_with_meta_between_text_without_keeps_to_itself() -> None:
    output = outs(
        ev.Text(message_id="m1", delta="a"),
        ev.Text(message_id="m1", delta="b", meta={"k": 1}),
        ev.Text(message_id="m1", delta="c"),
        ev.Text(message_id="m1", delta="d", lane="l1"),
        ev.Text(message_id="m1", delta="e"),
        ev.Text(message_id="m2", delta="f"),
    )
    assert [(u["messageId"], u["content"]["text"], u.get("_meta")) for u in output] == [
        ("m1", "a", None),
        ("m1", "b", {"k": 1}),
        ("m1", "c", None),
        ("m1", "d", {"trunkline": {"lane": "l1"}}),
        ("m1", "e", None),
        ("m2", "f", None),
    ]


def test_the_persons_own_message_is_shown_in_a_replay_only() -> None:
    message = ev.UserMessage(message_id="m1", content=(TextBlock(text="hi"),))
    assert outs(message) == []
    assert len(outs(message, replay=True)) == 1


def test_a_session_id_of_any_kind_is_escaped() -> None:
    line = AcpEncoder('a"b\\é\n').feed(Entry(1, 0, 1, 0.0, ev.Text(message_id="m", delta="x")))[0]
    assert isinstance(line, bytes)
    assert json.loads(line)["params"]["sessionId"] == 'a"b\\é\n'


def test_a_permission_shows_its_call_as_it_stands() -> None:
    question = Permission(call_id="c1", options=default_options())
    asked = ev.Asked(question_id="q1", question=question)
    output = outs(CALL, ev.ToolInput(call_id="c1", delta='{"q": 1}'), asked)
    assert output[-1] == Ask(
        asked,
        {"toolCallId": "c1", "title": "Search", "kind": "search", "status": "pending", "rawInput": {"q": 1}},
    )
    assert outs(asked) == [Ask(asked)], "a call that was never shown"


# -- only to clients that can take it --------------------------------------------------------------


@pytest.mark.parametrize("client", [None, {}, {"session": {}}, {"session": {"configOptions": {}}}])
def test_what_a_client_did_not_announce_is_not_sent(client: dict[str, Any] | None) -> None:
    assert outs(ev.Notice(title="N"), client=client) == []
    assert outs(ev.Compaction(compaction_id="k", status="completed"), client=client) == []
    (options, mode) = outs(ev.ConfigChanged(options=(MODE, SWITCH)), client=client)
    assert options["configOptions"] == [MODE_SHOWN]
    assert mode["currentModeId"] == "ask"


def test_a_warning_reaches_a_client_that_knows_no_notices_as_a_thought() -> None:
    warning = ev.Notice(turn_id="t", title="It failed", description="no file", severity="warning")
    (update,) = outs(warning, client={})
    assert update["sessionUpdate"] == "agent_thought_chunk"
    assert update["content"] == {"type": "text", "text": "It failed: no file\n"}
    broken = ev.Notice(turn_id="t", title="rules", severity="warning", code="agent_protocol")
    assert outs(broken, client={}) == []


def test_a_question_that_a_client_cannot_show_is_a_warning() -> None:
    question = Form(message="Which size?", fields={"type": "object", "properties": {"x": {}}})
    asked = ev.Asked(turn_id="t", question_id="q", question=question)
    (output, ask) = outs(asked, client={})
    assert output["sessionUpdate"] == "agent_thought_chunk"
    assert output["content"]["text"] == "The agent asks what this editor cannot show: Which size?\n"
    assert isinstance(ask, Ask)
    assert len(outs(asked, client={"elicitation": {"form": {}, "url": {}}})) == 1
    assert all(isinstance(out, Ask) for out in outs(asked, client={}, replay=True)), "it is no news"


# -- forms for clients that have none --------------------------------------------------------------

NAME = Form(message="Your name?", fields={"type": "object", "properties": {"x": {"type": "string"}}})
SIZE = Form(message="Which size?", fields={"type": "object", "properties": {"x": {"enum": ["S", "L"]}}})
SURE = Form(message="Sure?", fields={"type": "object", "properties": {"x": {"type": "boolean"}}})
MEANT = "Accept: Yes. Reject: No."


def asked(question: Any, question_id: str = "q1") -> ev.Asked:
    return ev.Asked(turn_id="t", question_id=question_id, question=question)


def suspended(*question_ids: str) -> ev.TurnSuspended:
    return ev.TurnSuspended(turn_id="t", question_ids=question_ids)


def test_a_choice_has_a_card_of_its_own_that_says_what_the_buttons_mean() -> None:
    took = ev.Answered(turn_id="t", question_id="q1", outcome="accepted", content={"x": True})
    (card, output, ask, done, withdraw) = outs(asked(SURE), took, client={})
    assert card == {
        "sessionUpdate": "tool_call", "toolCallId": "q1.choice", "title": "Sure?", "name": "question",
        "kind": "other", "status": "pending",
    }  # fmt: skip
    assert shown_text(output) == f"Sure?\n\n{MEANT}"
    shown = {"toolCallId": "q1.choice", "title": "Sure?", "kind": "other", "status": "pending"}
    assert ask == Ask(asked(SURE), {**shown, "content": output["content"]})
    content = [{"type": "content", "content": words("Yes")}]
    assert done == {**UPDATE, "toolCallId": "q1.choice", "status": "completed", "content": content}
    assert withdraw == Withdraw(took)


@pytest.mark.parametrize(
    ("outcome", "words"),
    [("declined", "Denied: no"), ("expired", "Cancelled: no"), ("cancelled", "Cancelled: no")],
)
def test_a_choice_without_an_answer_is_a_failed_call(outcome: Any, words: str) -> None:
    no = ev.Answered(turn_id="t", question_id="q1", outcome=outcome, reason="no")
    done = outs(asked(SURE), no, client={})[3]
    assert (done["status"], shown_text(done)) == ("failed", f"Sure?\n\n{MEANT}{words}")


def test_a_long_choice_is_described_in_its_call() -> None:
    long = msgspec.structs.replace(SURE, message="Sure?\nIt cannot be undone.")
    (card, output, ask) = outs(asked(long), client={})
    assert card["title"] == "Sure?…"
    assert shown_text(output) == f"Sure?\nIt cannot be undone.\n\n{MEANT}"
    assert ask.call["content"] == output["content"]
    done = ev.Answered(turn_id="t", question_id="q1", outcome="accepted", content={})
    silent = msgspec.structs.replace(SURE, message="", fields={})
    (card, _, _, over, _) = outs(asked(silent), done, client={})
    assert card["title"] == "The agent asks"
    assert over == {**UPDATE, "toolCallId": "q1.choice", "status": "completed"}


def test_a_link_shows_its_address_to_a_client_that_cannot_open_it() -> None:
    link = Link(message="Log in", url="https://example.com/a?b=c")
    (card, output, ask) = outs(asked(link), client={})
    assert card["title"] == "Log in https://example.com/a?b=c"
    assert shown_text(output).startswith("Log in\n\nhttps://example.com/a?b=c\n\n")
    assert ask.call["content"] == output["content"]
    assert outs(asked(link), client={"elicitation": {"url": {}}}) == [Ask(asked(link))]


def test_a_choice_of_a_call_is_asked_on_its_card() -> None:
    own = msgspec.structs.replace(SURE, call_id="c1")
    done = ev.Answered(turn_id="t", question_id="q1", outcome="accepted", content={"x": True})
    (called, ask, withdraw) = outs(CALL, asked(own), done, client={})
    assert (called, ask.call["toolCallId"], withdraw) == (CALLED, "c1", Withdraw(done))


def test_a_choice_of_several_values_is_a_text_that_names_them() -> None:
    (output, pause) = outs(asked(SIZE), suspended("q1"), client={}, asks_as_text=True)
    assert output["content"]["text"].startswith("Which size?\n\n1. S\n2. L\n\nYour next message")
    assert pause == WaitForMessage(asked(SIZE))


def test_what_is_open_is_asked_again_with_its_whole_call() -> None:
    question = Permission(call_id="c1", options=default_options())
    diff = DiffBlock(path="/a", old="1", new="2")
    update = ev.ToolUpdate(call_id="c1", input={"q": 1}, content=(diff,), locations=(ev.Location(path="/a"),))
    encoding = encoder({})
    for event in (CALL, update, asked(question)):
        encoding.feed(Entry(1, 0, 1, 0.0, event))
    call = {
        "toolCallId": "c1", "title": "Search", "kind": "search", "status": "pending", "rawInput": {"q": 1},
        "locations": [{"path": "/a"}],
        "content": [{"type": "diff", "path": "/a", "oldText": "1", "newText": "2"}],
    }  # fmt: skip
    assert encoding.ask_again(announce=False) == [Ask(asked(question), call)]
    card, again = encoding.ask_again(announce=True)
    assert isinstance(card, bytes)
    assert update_of(card) == {**call, "sessionUpdate": "tool_call", "name": "search"}
    assert again == Ask(asked(question), call)


def test_a_form_is_asked_in_text_once_the_turn_is_suspended() -> None:
    outputs = outs(
        asked(NAME), suspended("q1"), ev.TurnResumed(), suspended("q1"), client={}, asks_as_text=True
    )
    (output, pause, again) = outputs
    assert output == chunk("agent_message_chunk", words(ask_as_text(NAME)), messageId="q1.question")
    assert [pause, again] == [WaitForMessage(asked(NAME))] * 2
    after = outs(
        ev.Text(message_id="m", delta="x"), asked(NAME), suspended("q1"), client={}, asks_as_text=True
    )
    assert after[1]["content"]["text"].startswith("\n\nYour name?"), "clients may know no message ids"


def test_what_a_request_waits_for_comes_first() -> None:
    output = outs(asked(NAME), asked(SURE, "q2"), suspended("q1", "q2"), client={}, asks_as_text=True)
    assert [type(out) for out in output] == [dict, dict, Ask]


def test_a_replay_shows_questions_in_text_and_their_answers() -> None:
    def output(outcome: Any, content: Any = None) -> list[tuple[str, str]]:
        answer = ev.Answered(turn_id="t", question_id="q1", outcome=outcome, content=content)
        outputs = outs(asked(NAME), suspended("q1"), answer, client={}, replay=True)
        return [(out["messageId"], out["content"]["text"]) for out in outputs if isinstance(out, dict)]

    question = ("q1.question", "Your name?")
    assert output("accepted", {"x": "Ada"}) == [question, ("q1.answer", "Ada")]
    assert output("declined") == [question, ("q1.answer", "decline")]
    assert output("expired") == [question]


def test_a_client_with_forms_is_asked_nothing_in_text() -> None:
    answer = ev.Answered(turn_id="t", question_id="q1", outcome="accepted", content={"x": "Ada"})
    for options in ({"asks_as_text": True}, {"replay": True}):
        output = outs(asked(NAME), suspended("q1"), answer, client=ABLE, **options)
        assert output == [Ask(asked(NAME)), Withdraw(answer)]


def test_each_ability_opens_its_own_door_only() -> None:
    output = (ev.Notice(title="N"), ev.Compaction(compaction_id="k", status="completed"))
    assert [u["sessionUpdate"] for u in outs(*output, client={"session": {"notices": {}}})] == ["notice"]
    assert [u["sessionUpdate"] for u in outs(*output, client={"session": {"compaction": {}}})] == [
        "compaction_update"
    ]


def test_a_mode_is_sent_when_it_changes() -> None:
    code = msgspec.structs.replace(MODE, value="code")
    changes = [ev.ConfigChanged(options=(option,)) for option in (MODE, MODE, code)]
    modes = [u for u in outs(*changes) if u["sessionUpdate"] == "current_mode_update"]
    assert [update["currentModeId"] for update in modes] == ["ask", "code"]


# -- output that streams ---------------------------------------------------------------------------


def output(text: str) -> ev.ToolUpdate:
    return ev.ToolUpdate(call_id="c1", output=text)


def shown_text(update: dict[str, Any]) -> str:
    return "".join(item["content"]["text"] for item in update["content"])


def play(*timed: tuple[float, Any]) -> list[tuple[float, str]]:
    """Feed events at their times; give when which output was shown, and the end at infinity."""
    encoding = encoder()
    shown: list[tuple[float, str]] = []
    for at, event in timed:
        for out in encoding.feed(Entry(1, 0, 1, at, event)):
            if isinstance(out, bytes) and "content" in (update := update_of(out)):
                shown.append((at, shown_text(update)))
    shown += [
        (float("inf"), shown_text(update_of(out))) for out in encoding.close() if isinstance(out, bytes)
    ]
    return shown


def test_output_is_shown_at_most_ten_times_a_second_by_the_time_of_the_records() -> None:
    assert play(
        (5.0, CALL), (5.0, output("a")), (5.05, output("b")), (5.09, output("c")), (5.125, output("d")),
        (5.2, output("e")), (9.0, output("f")), (9.01, output("g")),
    ) == [(5.0, "a"), (5.125, "abcd"), (9.0, "abcdef"), (float("inf"), "abcdefg")]  # fmt: skip


def test_a_thousand_pieces_within_a_second_are_ten_updates_and_lose_nothing() -> None:
    pieces = [(number / 1000, output(f"{number}\n")) for number in range(1000)]
    shown = play((0.0, CALL), *pieces)
    assert len(shown) <= 11
    assert shown[-1][1] == "".join(f"{number}\n" for number in range(1000))


@pytest.mark.parametrize(
    "event",
    [
        ev.ToolUpdate(call_id="c1", status="completed"),
        ev.ToolUpdate(call_id="c1", raw_output=1),
        ev.ToolUpdate(call_id="c1", content=(TextBlock(text=""),)),
        ev.Asked(question_id="q", question=Form(fields={})),
        ev.TurnFinished(),
    ],
)
def test_what_waits_goes_before_anything_that_matters(event: ev.Event) -> None:
    assert play((0.0, CALL), (0.0, output("a")), (0.01, output("b")), (0.02, event))[1:] == [(0.02, "ab")]


def test_only_the_end_of_a_long_output_is_shown() -> None:
    shown = play((0.0, CALL), (0.0, output("x" * 70_000)), (1.0, output("end")))
    assert shown[-1][1] == "...\n" + "x" * 65_533 + "end"
    assert play((0.0, CALL), (0.0, output("y" * 65_536)))[-1][1] == "y" * 65_536


# -- terminals -------------------------------------------------------------------------------------

SHOWN = ev.ToolUpdate(call_id="c1", content=(TerminalBlock(terminal_id="x"),))


def test_a_terminal_of_ours_is_shown_as_text_with_how_it_ended() -> None:
    endings: list[tuple[dict[str, Any], str]] = [
        ({"exit_code": 3}, "\n[exit code 3]"),
        ({"exit_code": 0}, ""),
        ({"signal": "SIGKILL"}, "\n[ended by SIGKILL]"),
    ]
    for ending, note in endings:
        last = ev.TerminalOutput(terminal_id="x", exited=True, **ending)
        output = outs(CALL, SHOWN, ev.TerminalOutput(terminal_id="x", data="hi"), last)
        assert shown_text(output[-1]) == "hi" + note


def test_what_a_terminal_printed_before_it_was_shown_is_shown_with_it() -> None:
    output = outs(CALL, ev.TerminalOutput(terminal_id="x", data="early"), SHOWN)
    assert shown_text(output[-1]) == "early"


def test_a_terminal_of_the_clients_own_is_named_and_not_repeated() -> None:
    output = outs(CALL, SHOWN, ev.TerminalOutput(terminal_id="x", data="hi"), terminals={"x"})
    assert [u.get("content") for u in output] == [None, [{"type": "terminal", "terminalId": "x"}]]


def test_long_terminal_output_keeps_its_end() -> None:
    output = outs(CALL, SHOWN, ev.TerminalOutput(terminal_id="x", data="a" * 70_000 + "end"))
    assert shown_text(output[-1]) == ("a" * 70_000 + "end")[-65_536:]


def test_a_diff_is_a_diff() -> None:
    block = DiffBlock(path="/a", old="1", new="2")
    output = outs(CALL, ev.ToolUpdate(call_id="c1", status="completed", content=(block,)))
    assert output[-1]["content"] == [{"type": "diff", "path": "/a", "oldText": "1", "newText": "2"}]


# -- any stream ------------------------------------------------------------------------------------


def heard(events: Sequence[ev.Event], client: dict[str, Any]) -> list[dict[str, Any]]:
    output = translate(encoder(client, replay=True), entries(events))
    return [{"update": update_of(out)} for out in output if isinstance(out, bytes)]


def linked(event: ev.Event) -> ev.Event:
    """Make a block that is no text of one that is: on this wire a block of text is text."""
    if isinstance(event, ev.Media) and isinstance(event.content, TextBlock):
        return msgspec.structs.replace(event, content=LinkBlock(uri="a:b", name=event.content.text))
    return event


@given(legal_sessions(), st.data())
def test_what_a_client_folds_is_what_we_fold(story: LegalSession, data: st.DataObject) -> None:
    events = [linked(event) for event in story.events if not isinstance(event, ev.Rewound)]
    folded = fold(events)
    for call in folded.calls.values():
        # What is not JSON is shown as it came.
        call.input = call.arguments or None if call.input is None else call.input
        call.arguments = ""
        call.title = None if call.title is None else safe_title(call.title)
    wanted = kept_view(folded, person=True)
    wanted.pop("order")
    for stream in (events, data.draw(rechunked(events))):
        view = heard_view(heard(stream, ABLE))
        view.pop("order")
        assert view == wanted


@given(sloppy_streams(), st.sampled_from([ABLE, {}]))
def test_whatever_the_grammar_lets_pass_is_valid_and_ends_once_per_turn(
    events: list[ev.Event], client: dict[str, Any]
) -> None:
    legal = translate(Grammar(), events)
    output = outs(*legal, client=client, replay=True)
    ends = [out.terminal for out in output if isinstance(out, EndPrompt)]
    assert ends == [event for event in legal if isinstance(event, ev.TurnFinished | ev.TurnFailed)]


@given(legal_sessions(), st.data())
def test_any_beginning_of_a_stream_can_be_closed_and_only_once(
    story: LegalSession, data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(story.events)))
    encoding = encoder(ABLE)
    output = [out for entry in entries(story.events[:cut]) for out in encoding.feed(entry)]
    output += encoding.close()
    assert encoding.close() == []
    for out in output:
        if isinstance(out, bytes):
            update_of(out)


@given(legal_sessions())
def test_an_encoder_gives_the_same_again(story: LegalSession) -> None:
    assert translate(encoder(ABLE), entries(story.events)) == translate(encoder(ABLE), entries(story.events))


@given(legal_sessions(), st.data())
def test_a_batch_is_encoded_as_its_entries_are_one_by_one(story: LegalSession, data: st.DataObject) -> None:
    all_entries = list(entries(data.draw(rechunked(story.events))))
    cut = data.draw(st.integers(0, len(all_entries)))
    encoding = encoder(ABLE)
    output = [*encoding.feed_all(all_entries[:cut]), *encoding.feed_all(all_entries[cut:]), *encoding.close()]
    assert output == translate(encoder(ABLE), all_entries)
