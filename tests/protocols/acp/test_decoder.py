"""What an agent says in a session, as neutral events."""

import json
from typing import Any, cast

import msgspec
import pytest

from trunkline import events as ev
from trunkline.conformance.acp.schema import FOLDER
from trunkline.content import ImageBlock, TextBlock
from trunkline.options import Choice, ConfigOption
from trunkline.protocols.acp import wire
from trunkline.protocols.acp.decoder import AcpDecoder, is_of_session
from trunkline.protocols.acp.profiles import CLAUDE_CODE

PROMPT = [{"type": "text", "text": "hello"}]


def chunk(text: str, kind: str = "agent_message_chunk", **fields: Any) -> dict[str, Any]:
    """Give a piece of a message."""
    return {"sessionUpdate": kind, "content": {"type": "text", "text": text}, **fields}


def in_turn(prompt: str = "hello") -> AcpDecoder:
    """Give a decoder in a turn."""
    decoder = AcpDecoder()
    decoder.begin_turn("t", [{"type": "text", "text": prompt}])
    return decoder


def feed(decoder: AcpDecoder, *updates: dict[str, Any]) -> list[ev.AnyEvent]:
    """Give the events of updates."""
    return [event for update in updates for event in decoder.feed(update)]


# -- each kind of update ---------------------------------------------------------------------------

ENTRY = {"content": "do it", "priority": "high", "status": "in_progress"}
PLAN_ENTRY = ev.PlanEntry(content="do it", priority="high", status="in_progress")
META = {"vendor": {"x": [1]}}

EACH_KIND: list[tuple[dict[str, Any], list[ev.AnyEvent]]] = [
    (chunk("hi", messageId="m"), [ev.Text(message_id="m", delta="hi")]),
    (chunk("hm", "agent_thought_chunk", messageId="m"), [ev.Thought(message_id="m", delta="hm")]),
    (
        {
            "sessionUpdate": "agent_message_chunk",
            "content": {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        },
        [ev.Media(message_id="t.1", content=ImageBlock(data="aGk=", mime_type="image/png"))],
    ),
    (chunk("hello", "user_message_chunk"), []),
    (
        {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T", "kind": "read", "status": "pending"},
        [ev.ToolCall(call_id="c", native_id="c", name="T", title="T", kind="read", message_id="t.1")],
    ),
    (
        {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed", "rawOutput": "x"},
        [
            ev.ToolCall(call_id="c", native_id="c", name="unknown", message_id="t.1"),
            ev.ToolUpdate(call_id="c", status="completed", raw_output="x"),
        ],
    ),
    ({"sessionUpdate": "plan", "entries": [ENTRY]}, [ev.Plan(entries=(PLAN_ENTRY,))]),
    (
        {"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "p", "entries": [ENTRY]}},
        [ev.Plan(entries=(PLAN_ENTRY,))],
    ),
    (
        {"sessionUpdate": "plan_removed", "planId": "p"},
        [ev.Activity(activity_id="p", activity_type="plan", content={})],
    ),
    (
        {
            "sessionUpdate": "available_commands_update",
            "availableCommands": [
                {"name": "a", "description": "d", "input": {"hint": "h"}},
                {"name": "b", "description": "", "input": None},
            ],
        },
        [
            ev.CommandsChanged(
                commands=(ev.CommandInfo(name="a", description="d", hint="h"), ev.CommandInfo(name="b"))
            )
        ],
    ),
    (
        {"sessionUpdate": "current_mode_update", "currentModeId": "plan"},
        [
            ev.ConfigChanged(
                options=(
                    ConfigOption(
                        option_id="mode",
                        name="Mode",
                        value="plan",
                        category="mode",
                        choices=(Choice(value="plan", name="plan"),),
                    ),
                )
            )
        ],
    ),
    (
        {
            "sessionUpdate": "config_option_update",
            "configOptions": [{"id": "f", "name": "F", "type": "boolean", "currentValue": True}],
        },
        [ev.ConfigChanged(options=(ConfigOption(option_id="f", name="F", value=True),))],
    ),
    ({"sessionUpdate": "session_info_update", "title": "T"}, [ev.InfoChanged(title="T")]),
    ({"sessionUpdate": "session_info_update", "title": None}, [ev.InfoChanged(title=None)]),
    (
        {"sessionUpdate": "usage_update", "used": 5, "size": 9, "cost": {"amount": 1, "currency": "EUR"}},
        [ev.ContextUsage(used=5, size=9, cost=ev.Cost(amount=1.0, currency="EUR"))],
    ),
    (
        {"sessionUpdate": "notice", "severity": "warning", "title": "T", "description": "d"},
        [ev.Notice(title="T", severity="warning", description="d")],
    ),
    (
        {
            "sessionUpdate": "compaction_update",
            "compactionId": "k",
            "status": "completed",
            "summary": [{"type": "text", "text": "short"}],
        },
        [ev.Compaction(compaction_id="k", status="completed", summary="short")],
    ),
    (
        {"sessionUpdate": "compaction_summary_chunk", "compactionId": "k", "content": PROMPT[0]},
        [ev.Compaction(compaction_id="k", status="in_progress", summary="hello")],
    ),
    (
        {"sessionUpdate": "subagent_update", "sessionId": "s", "title": "T", "description": "d"},
        [ev.SubagentStarted(lane="s", name="T", description="d")],
    ),
    (
        {"sessionUpdate": "session_message", "messageId": "i", "senderSessionId": "s", "content": PROMPT},
        [
            ev.Activity(
                activity_id="i",
                activity_type="session_message",
                content={"senderSessionId": "s", "content": PROMPT},
            )
        ],
    ),
    (
        {"sessionUpdate": "session_message_chunk", "messageId": "i", "content": PROMPT[0]},
        [ev.Activity(activity_id="i", activity_type="session_message", content={"content": PROMPT})],
    ),
]


@pytest.mark.parametrize(("update", "events"), EACH_KIND, ids=lambda value: _kind(value))
def test_each_kind_of_update_has_its_event(update: dict[str, Any], events: list[ev.AnyEvent]) -> None:
    assert in_turn().feed(update) == events


def _kind(value: Any) -> str:
    return cast("dict[str, str]", value)["sessionUpdate"] if isinstance(value, dict) else ""


def test_every_update_of_the_official_schema_is_known() -> None:
    known = {_kind(update) for update, _ in EACH_KIND}
    official: set[str] = set()
    for name in ("schema.json", "schema.unstable.json"):
        schema: Any = json.loads((FOLDER / name).read_text(encoding="utf-8"))
        for variant in schema["$defs"]["SessionUpdate"]["oneOf"]:
            official.add(variant["properties"]["sessionUpdate"]["const"])
    assert known == official


@pytest.mark.parametrize("update", [update for update, _ in EACH_KIND], ids=_kind)
def test_these_updates_are_those_of_the_official_schema(update: dict[str, Any]) -> None:
    msgspec.convert({"sessionId": "s", "update": update}, wire.SessionNotification)


@pytest.mark.parametrize("update", [update for update, events in EACH_KIND if events], ids=_kind)
def test_what_a_vendor_adds_goes_along(update: dict[str, Any]) -> None:
    first, *_ = in_turn().feed({**update, "_meta": META})
    assert first.meta == META


SPOILED: list[Any] = [
    {"sessionUpdate": "async_task_started", "taskId": 7},
    {"sessionUpdate": ["agent_message_chunk"]},
    {"sessionUpdate": "agent_message_chunk", "content": {"type": "hologram"}},
    {"sessionUpdate": "agent_message_chunk", "content": "hi"},
    {"sessionUpdate": "user_message_chunk", "content": 3},
    {"sessionUpdate": "tool_call", "title": "T"},
    {"sessionUpdate": "tool_call_update", "toolCallId": 7},
    {"sessionUpdate": "plan", "entries": [{"content": 1}]},
    {"sessionUpdate": "plan", "entries": "all"},
    {"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "p"}},
    {"sessionUpdate": "plan_update", "plan": {}},
    {"sessionUpdate": "plan_removed"},
    {"sessionUpdate": "available_commands_update", "availableCommands": None},
    {"sessionUpdate": "current_mode_update", "currentModeId": None},
    {"sessionUpdate": "config_option_update", "configOptions": {}},
    {"sessionUpdate": "session_info_update", "updatedAt": "2026-11-18T00:00:00Z"},
    {"sessionUpdate": "session_info_update", "title": 7},
    {"sessionUpdate": "usage_update", "used": "5", "size": 9},
    {"sessionUpdate": "usage_update", "used": True, "size": 9},
    {"sessionUpdate": "notice", "severity": "info"},
    {"sessionUpdate": "compaction_update", "compactionId": "k"},
    {"sessionUpdate": "compaction_update", "compactionId": "k", "status": "completed", "summary": [1]},
    {"sessionUpdate": "compaction_summary_chunk", "compactionId": "k", "content": None},
    {"sessionUpdate": "compaction_update", "status": "completed"},
    {"sessionUpdate": "subagent_update"},
    {"sessionUpdate": "session_message"},
    {},
    [],
    None,
    "agent_message_chunk",
]


@pytest.mark.parametrize("update", SPOILED, ids=str)
def test_what_is_not_known_or_cannot_be_read_is_kept_as_it_is(update: Any) -> None:
    [raw] = in_turn().feed(update)
    assert raw == ev.Raw(source="acp", payload=update)
    assert is_of_session(raw)


def test_a_list_of_which_a_part_can_be_read_is_taken_and_kept() -> None:
    commands = {
        "sessionUpdate": "available_commands_update",
        "availableCommands": [{"name": "a"}, {"name": 7}],
    }
    assert in_turn().feed(commands) == [
        ev.CommandsChanged(commands=(ev.CommandInfo(name="a"),)),
        ev.Raw(source="acp", payload=commands),
    ]
    options = {
        "sessionUpdate": "config_option_update",
        "configOptions": [
            {"id": "f", "name": "F", "type": "boolean", "currentValue": True},
            {"type": "slider"},
        ],
    }
    changed, raw = in_turn().feed(options)
    assert isinstance(changed, ev.ConfigChanged)
    assert raw == ev.Raw(source="acp", payload=options)


# -- messages --------------------------------------------------------------------------------------


def test_pieces_without_ids_are_one_message_until_a_tool_is_called() -> None:
    call = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T"}
    out = feed(in_turn(), chunk("hm", "agent_thought_chunk"), chunk("one"), call, chunk("two"))

    assert out == [
        ev.Thought(message_id="t.1", delta="hm"),
        ev.Text(message_id="t.1", delta="one"),
        ev.ToolCall(call_id="c", native_id="c", name="T", title="T", message_id="t.1"),
        ev.Text(message_id="t.2", delta="two"),
    ]


def test_a_warning_without_an_id_before_the_answer_is_a_message_of_its_own() -> None:
    out = feed(in_turn(), chunk("Model metadata not found"), chunk("hi", messageId="m"), chunk("more"))
    assert [cast("ev.Text", event).message_id for event in out] == ["t.1", "m", "t.2"]


def test_an_empty_piece_says_nothing_and_begins_no_message() -> None:
    assert feed(in_turn(), chunk(""), chunk("hi")) == [ev.Text(message_id="t.1", delta="hi")]


def test_an_empty_piece_with_an_extension_is_kept_as_it_is() -> None:
    piece = chunk("", _meta=META)
    assert in_turn().feed(piece) == [ev.Raw(source="acp", payload=piece)]


def test_annotations_of_a_text_go_along() -> None:
    content = {"type": "text", "text": "hi", "annotations": {"audience": ["user"]}, "_meta": {"k": 1}}
    update = {"sessionUpdate": "agent_message_chunk", "content": content, "_meta": META}
    [text] = in_turn().feed(update)
    extra = {"annotations": {"audience": ["user"]}, "_meta": {"k": 1}}
    assert text.meta == {**META, "acp": {"content": extra}}


def test_the_echo_of_the_prompt_is_swallowed() -> None:
    decoder = in_turn("write a file")
    assert feed(decoder, chunk("write a ", "user_message_chunk"), chunk("file", "user_message_chunk")) == []
    [other] = decoder.feed(chunk("and another", "user_message_chunk"))
    assert isinstance(other, ev.Raw)


def test_the_echo_of_a_message_that_steers_is_swallowed() -> None:
    decoder = in_turn("write a file")
    decoder.expect_echo([{"type": "text", "text": "in French"}])
    assert (
        feed(decoder, chunk("write a file", "user_message_chunk"), chunk("in French", "user_message_chunk"))
        == []
    )


def test_a_message_of_a_user_elsewhere_begins_a_turn_of_its_own() -> None:
    decoder = AcpDecoder()
    parts = [chunk(text, "user_message_chunk", messageId="u") for text in ("hi ", "there")]
    assert feed(decoder, *parts) == []
    user, text = decoder.feed(chunk("hello", messageId="m"))

    assert user == ev.UserMessage(message_id="u", content=(TextBlock(text="hi "), TextBlock(text="there")))
    assert text == ev.Text(message_id="m", delta="hello")
    assert decoder.in_turn
    assert decoder.close() == []
    assert not decoder.in_turn


def test_the_next_message_of_a_user_elsewhere_ends_the_one_before() -> None:
    decoder = AcpDecoder()
    first, second = (chunk(text, "user_message_chunk", messageId=text) for text in ("a", "b"))
    assert feed(decoder, first, second) == [ev.UserMessage(message_id="a", content=(TextBlock(text="a"),))]
    assert decoder.close() == [ev.UserMessage(message_id="b", content=(TextBlock(text="b"),))]


# -- turns -----------------------------------------------------------------------------------------


def test_a_fact_about_the_session_begins_no_turn() -> None:
    decoder = AcpDecoder()
    out = feed(decoder, {"sessionUpdate": "usage_update", "used": 1, "size": 2}, {"sessionUpdate": "new"})
    assert all(is_of_session(event) for event in out)
    assert not decoder.in_turn


def test_text_out_of_turn_begins_one_with_ids_of_its_own() -> None:
    decoder = in_turn()
    feed(decoder, chunk("one"))
    decoder.close()
    [late] = decoder.feed(chunk("by the way"))

    assert decoder.in_turn
    assert cast("ev.Text", late).message_id == "t.1.1"


def test_a_late_update_of_a_call_is_kept_and_begins_no_turn() -> None:
    decoder = in_turn()
    call = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T"}
    feed(decoder, call)
    decoder.close("cancelled")
    late = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"}

    assert decoder.feed(late) == [ev.Raw(source="acp", payload=late)]
    assert not decoder.in_turn
    decoder.begin_turn("t2")
    assert decoder.feed(late) == [ev.Raw(source="acp", payload=late)]


def test_the_id_of_an_earlier_call_may_come_again_for_another_one() -> None:
    decoder = in_turn()
    call = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T"}
    feed(decoder, call)
    decoder.close()
    decoder.begin_turn("t2")
    [again] = decoder.feed(call)

    assert isinstance(again, ev.ToolCall)
    assert (again.call_id, again.native_id) == ("t2.c", "c")
    assert decoder.call_id("c") == "t2.c"


@pytest.mark.parametrize(
    ("stop_reason", "status", "reason"),
    [
        ("cancelled", "cancelled", "the turn was cancelled"),
        ("end_turn", "failed", "the agent ended its turn without saying how this call ended"),
        ("refusal", "failed", "the agent ended its turn without saying how this call ended"),
    ],
)
def test_a_call_that_never_ends_is_settled_with_the_turn(stop_reason: str, status: Any, reason: str) -> None:
    decoder = in_turn()
    feed(decoder, {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T", "status": "in_progress"})
    assert decoder.close(stop_reason) == [ev.ToolUpdate(call_id="c", status=status, reason=reason)]
    assert decoder.close(stop_reason) == []


@pytest.mark.parametrize(
    ("stop_reason", "status"), [("end_turn", "completed"), ("cancelled", "cancelled"), ("failed", "failed")]
)
def test_a_permission_that_is_no_call_ends_with_the_turn(stop_reason: str, status: str) -> None:
    decoder = in_turn()
    decoder.permission({"toolCall": {"toolCallId": "confirmation", "title": "Confirm Agent Actions"}})
    [end] = decoder.close(stop_reason)
    assert isinstance(end, ev.ToolUpdate)
    assert end.status == status


def test_a_permission_that_shows_nothing_is_about_the_calls_that_wait() -> None:
    decoder = in_turn()
    for call_id, status in (("a", "pending"), ("b", "completed"), ("c", "in_progress")):
        feed(decoder, {"sessionUpdate": "tool_call", "toolCallId": call_id, "title": "T", "status": status})
    decoder.permission({"toolCall": {"toolCallId": "all", "title": "Confirm Agent Actions"}})
    decoder.permission({"toolCall": {"toolCallId": "own", "title": "Ask", "rawInput": {"command": "ls"}}})
    assert [call.native_id for call in decoder.asked_with("all")] == ["a", "c"]
    assert [decoder.asked_with(call_id) for call_id in ("own", "a", "unknown")] == [[], [], []]
    decoder.permission({"toolCall": {"toolCallId": "a"}})
    assert [call.native_id for call in decoder.asked_with("all")] == ["c"]


def test_a_call_with_a_result_and_no_end_is_completed() -> None:
    decoder = in_turn()
    feed(decoder, {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T", "rawOutput": {"n": 1}})
    assert decoder.close() == [ev.ToolUpdate(call_id="c", status="completed")]


@pytest.mark.parametrize(("stop_reason", "status"), [("cancelled", "cancelled"), ("end_turn", "failed")])
def test_a_compaction_that_never_ends_is_settled_with_the_turn(stop_reason: str, status: str) -> None:
    decoder = in_turn()
    feed(decoder, {"sessionUpdate": "compaction_update", "compactionId": "k", "status": "in_progress"})
    [end] = decoder.close(stop_reason)
    assert isinstance(end, ev.Compaction)
    assert end.status == status


def test_a_compaction_out_of_turn_begins_one_and_ends_with_it() -> None:
    decoder = AcpDecoder()
    feed(decoder, {"sessionUpdate": "compaction_update", "compactionId": "k", "status": "in_progress"})
    assert decoder.in_turn
    assert [cast("ev.Compaction", event).status for event in decoder.close()] == ["failed"]


def test_pieces_of_a_summary_are_put_together() -> None:
    pieces = [
        {
            "sessionUpdate": "compaction_summary_chunk",
            "compactionId": "k",
            "content": {"type": "text", "text": one},
        }
        for one in ("a", "b")
    ]
    end = {"sessionUpdate": "compaction_update", "compactionId": "k", "status": "completed"}
    out = feed(in_turn(), *pieces, end)
    assert [cast("ev.Compaction", event).summary for event in out] == ["a", "a\nb", None]


# -- permissions -----------------------------------------------------------------------------------

REQUEST = {
    "toolCall": {"toolCallId": "c", "title": "rm x", "kind": "execute", "rawInput": {"command": "rm x"}}
}


def test_a_permission_without_a_call_announces_it() -> None:
    decoder = in_turn()
    assert decoder.permission(REQUEST) == [
        ev.ToolCall(call_id="c", native_id="c", name="rm x", title="rm x", kind="execute", message_id="t.1"),
        ev.ToolUpdate(call_id="c", input={"command": "rm x"}),
    ]
    assert decoder.permission(REQUEST) == []
    known = decoder.call("c")
    assert known is not None
    assert (known.name, known.input) == ("rm x", {"command": "rm x"})


def test_a_refused_call_stays_denied_whatever_the_agent_calls_it() -> None:
    decoder = in_turn()
    decoder.permission(REQUEST)
    assert decoder.denied("c", "no") == [ev.ToolUpdate(call_id="c", status="denied", reason="no")]
    assert decoder.denied("c", "no") == []
    failed = {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "c",
        "status": "failed",
        "rawOutput": "refused",
    }
    assert decoder.feed(failed) == [ev.ToolUpdate(call_id="c", raw_output="refused")]
    assert decoder.close("cancelled") == []


def test_an_agent_that_runs_a_refused_call_is_told_of_once() -> None:
    decoder = in_turn()
    decoder.permission(REQUEST)
    decoder.denied("c")
    begun = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "in_progress"}
    assert feed(decoder, begun) == []  # OpenCode says this beside its question: a quick answer crosses it.
    ran = begun | {"status": "completed"}
    [notice] = feed(decoder, ran, ran)
    assert isinstance(notice, ev.Notice)
    assert (notice.severity, notice.code) == ("warning", "refused_call_ran")


def test_a_permission_that_names_no_call_shows_nothing() -> None:
    assert in_turn().permission({"toolCall": None}) == []
    assert in_turn().denied("c") == []


def test_a_permission_out_of_turn_begins_one() -> None:
    decoder = in_turn()
    feed(decoder, {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T"})
    decoder.close()
    call, *_ = decoder.permission(REQUEST)
    assert isinstance(call, ev.ToolCall)
    assert call.call_id == "t.1.c"
    assert decoder.in_turn


# -- options ---------------------------------------------------------------------------------------


def test_the_answer_of_a_new_session_tells_its_options() -> None:
    decoder = AcpDecoder()
    modes = {"currentModeId": "a", "availableModes": [{"id": "a", "name": "A"}, {"id": "b", "name": "B"}]}
    [changed] = decoder.take_result({"sessionId": "s", "modes": modes})

    assert changed == ev.ConfigChanged(options=decoder.options)
    assert [option.value for option in decoder.options] == ["a"]
    assert decoder.feed({"sessionUpdate": "current_mode_update", "currentModeId": "a"}) == []
    [changed] = decoder.set_option("mode", "b")
    assert [option.value for option in cast("ev.ConfigChanged", changed).options] == ["b"]
    assert decoder.set_option("mode", "b") == []


def test_an_answer_that_cannot_be_read_is_kept() -> None:
    result = {"sessionId": "s", "modes": "all"}
    assert AcpDecoder().take_result(result) == [ev.Raw(source="acp", payload=result)]
    assert AcpDecoder().take_result({"sessionId": "s"}) == []


def test_the_mode_before_the_answer_of_a_new_session_gives_way_to_it() -> None:
    decoder = AcpDecoder()
    feed(decoder, {"sessionUpdate": "current_mode_update", "currentModeId": "b"})
    decoder.take_result({"modes": {"currentModeId": "a", "availableModes": [{"id": "a", "name": "A"}]}})
    assert [(option.value, option.values()) for option in decoder.options] == [("a", ("a",))]


# -- terminals that we run -------------------------------------------------------------------------


def test_the_output_of_a_terminal_of_ours_is_told_until_it_ends() -> None:
    decoder = in_turn()
    assert decoder.terminal("x", "one") == [ev.TerminalOutput(terminal_id="x", data="one")]
    assert decoder.terminal("x") == []
    assert decoder.terminal("x", "", {"exitCode": 3, "signal": None}) == [
        ev.TerminalOutput(terminal_id="x", exited=True, exit_code=3)
    ]
    assert decoder.terminal("x", "late") == []


# -- child sessions --------------------------------------------------------------------------------


def test_a_child_session_is_a_lane() -> None:
    decoder = in_turn()
    feed(decoder, {"sessionUpdate": "subagent_update", "sessionId": "s", "title": "Reader"})
    [text] = decoder.feed(chunk("hi", messageId="m"), child="s")
    assert text.lane == "s"
    idle = {"sessionUpdate": "subagent_update", "sessionId": "s", "state": {"state": "idle"}}
    assert decoder.feed(idle) == [ev.SubagentFinished(lane="s", outcome="completed")]
    assert decoder.feed(idle) == [ev.Raw(source="acp", payload=idle)]


@pytest.mark.parametrize(
    ("state", "outcome"),
    [({"error": {"code": 1, "message": "no"}}, "failed"), ({"stopReason": "cancelled"}, "cancelled")],
)
def test_a_child_session_ends_as_it_says(state: dict[str, Any], outcome: str) -> None:
    decoder = in_turn()
    start = {"sessionUpdate": "subagent_update", "sessionId": "s", "state": {"state": "running"}}
    end = {**start, "state": {"state": "idle", **state}}
    feed(decoder, start, start)
    assert [cast("ev.SubagentFinished", event).outcome for event in decoder.feed(end)] == [outcome]


def test_old_messages_between_sessions_are_forgotten() -> None:
    decoder = AcpDecoder(CLAUDE_CODE)
    decoder.begin_turn("t")
    pieces = [
        {"sessionUpdate": "session_message_chunk", "messageId": f"i{number}", "content": PROMPT[0]}
        for number in (*range(101), 0)
    ]
    last = cast("ev.Activity", feed(decoder, *pieces)[-1])
    assert last.content == {"content": PROMPT}


# -- an error that is said twice ---------------------------------------------------------------------

SAID_ERROR = ev.Text(message_id="m", delta="API Error: 400 no")


def in_turn_of_claude() -> AcpDecoder:
    decoder = AcpDecoder(CLAUDE_CODE)
    decoder.begin_turn("t", PROMPT)
    assert feed(decoder, chunk("API Error: 400 no", messageId="m")) == []
    return decoder


def test_an_error_that_is_said_as_text_first_is_left_out_of_the_text() -> None:
    decoder = in_turn_of_claude()
    feed(decoder, {"sessionUpdate": "usage_update", "used": 0, "size": 1})
    assert decoder.drop_error_text("Internal error: API Error: 400 no")
    assert decoder.close() == []
    assert not decoder.drop_error_text("Internal error: API Error: 400 no")


def test_a_text_that_looks_like_an_error_is_said_when_the_turn_goes_on_or_ends_otherwise() -> None:
    more = ev.Text(message_id="m", delta=" means")
    assert feed(in_turn_of_claude(), chunk(" means", messageId="m")) == [SAID_ERROR, more]
    assert in_turn_of_claude().close() == [SAID_ERROR]
    decoder = in_turn_of_claude()
    assert not decoder.drop_error_text("something else")
    assert decoder.close() == [SAID_ERROR]
    call = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T"}
    assert feed(in_turn_of_claude(), call)[0] == SAID_ERROR
    assert in_turn_of_claude().permission({"toolCall": call})[0] == SAID_ERROR


def test_a_call_that_fails_after_the_turn_was_cancelled_is_cancelled() -> None:
    decoder = in_turn()
    calls = [{"sessionUpdate": "tool_call", "toolCallId": name, "title": name} for name in "abc"]
    ends = {"a": "failed", "b": "failed", "c": "completed"}
    feed(decoder, *calls, {**calls[0], "status": ends["a"]})
    decoder.cancel_turn()
    events = feed(decoder, *({**call, "status": ends[call["title"]]} for call in calls[1:]))
    assert [event.status for event in events if isinstance(event, ev.ToolUpdate)] == [
        "cancelled",
        "completed",
    ]
    decoder.close("cancelled")
    decoder.begin_turn("u")
    events = feed(
        decoder, {**calls[0], "toolCallId": "d"}, {**calls[0], "toolCallId": "d", "status": "failed"}
    )
    assert [event.status for event in events if isinstance(event, ev.ToolUpdate)] == ["failed"]
