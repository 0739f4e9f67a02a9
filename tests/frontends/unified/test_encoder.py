"""Each row of the mapping from ACP, and each neutral event, as a UnifiedMessage."""

from typing import Any

import pytest
from tests.frontends.unified.sessions import about, encoded, in_turn, kinds, only
from tests.strategies import event_kinds

from trunkline import content as c
from trunkline import events as ev
from trunkline import questions as qu
from trunkline.frontends.unified.encoder import UnifiedEncoder
from trunkline.frontends.unified.losses import LOSSES
from trunkline.frontends.unified.options import UnifiedOptions
from trunkline.options import Choice, ConfigOption
from trunkline.protocols.acp.decoder import AcpDecoder

MODES = ConfigOption(
    option_id="mode",
    name="Mode",
    value="ask",
    category="mode",
    choices=(Choice(value="ask", name="Ask"), Choice(value="code", name="Code")),
)
MODEL = ConfigOption(
    option_id="llm", name="Model", value="a", category="model", choices=(Choice(value="a", name="A"),)
)


def from_acp(*updates: dict[str, Any]) -> list[dict[str, Any]]:
    """What updates of an ACP agent are in a turn."""
    decoder = AcpDecoder()
    decoder.take_result({"modes": {"currentModeId": "ask", "availableModes": [
        {"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]}})  # fmt: skip
    decoder.begin_turn("t1")
    return in_turn(*(event for update in updates for event in decoder.feed(update)))


CALL = {"sessionUpdate": "tool_call", "toolCallId": "call_001", "title": "Read it", "kind": "read"}
ROWS: list[tuple[str, dict[str, Any], str, str, dict[str, Any]]] = [
    (
        "agent_message_chunk",
        {"content": {"type": "text", "text": "Hello world"}},
        "stream_event",
        "assistant",
        {"event": {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "Hello world"}}},
    ),
    (
        "agent_thought_chunk",
        {"content": {"type": "text", "text": "Hm"}},
        "stream_event",
        "assistant",
        {"thought": True},
    ),
    (
        "tool_call",
        {"toolCallId": "call_001", "title": "Read it", "kind": "read", "status": "pending"},
        "tool_progress",
        "tool",
        {"title": "Read it", "kind": "read", "status": "pending"},
    ),
    (
        "plan",
        {"entries": [{"content": "Look", "priority": "high", "status": "pending"}]},
        "status_change",
        "system",
        {
            "status": "running",
            "entries": [{"content": "Look", "priority": "high", "status": "pending"}],
        },
    ),
    (
        "available_commands_update",
        {"availableCommands": [{"name": "web", "description": "Search", "input": {"hint": "query"}}]},
        "configuration_change",
        "system",
        {
            "subtype": "available_commands_update",
            "availableCommands": [{"name": "web", "description": "Search", "input": {"hint": "query"}}],
        },
    ),
    (
        "current_mode_update",
        {"currentModeId": "code"},
        "configuration_change",
        "system",
        {"modeId": "code", "currentModeId": "code"},
    ),
]


@pytest.mark.parametrize(("update", "fields", "kind", "role", "metadata"), ROWS, ids=[row[0] for row in ROWS])
def test_a_row_of_the_mapping_from_acp(
    update: str, fields: dict[str, Any], kind: str, role: str, metadata: dict[str, Any]
) -> None:
    message = from_acp({"sessionUpdate": update, **fields})[0]
    assert (message["type"], message["role"]) == (kind, role)
    assert {name: message["metadata"].get(name) for name in metadata} == metadata
    assert message["metadata"]["session_id"] == "s1"


@pytest.mark.parametrize(
    ("status", "kind", "is_error"),
    [
        ("in_progress", "tool_progress", None),
        ("completed", "tool_use_summary", False),
        ("failed", "tool_use_summary", True),
    ],
)
def test_a_tool_call_update_is_progress_until_it_ends(status: str, kind: str, is_error: bool | None) -> None:
    content = [{"type": "content", "content": {"type": "text", "text": "found"}}]
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "call_001", "status": status}
    first, *_, last = from_acp(CALL, {**update, "content": content})
    assert (last["type"], last["role"]) == (kind, "tool")
    assert last["metadata"].get("is_error") is is_error
    assert last["metadata"]["status"] == status
    assert last["metadata"]["tool_use_id"] == first["metadata"]["tool_use_id"]
    assert last["metadata"]["toolCallId"] == first["metadata"]["tool_use_id"]
    assert last["parentId"] == first["id"]
    text = "found" if is_error is None else {"found", "found\nfailed"}
    shown = last["content"][0]
    assert shown["text" if is_error is None else "content"] in text


def test_a_thought_is_thinking_and_is_marked() -> None:
    (message,) = in_turn(ev.Thought(message_id="m1", delta="hm", signature="sig"))
    assert message["content"] == [{"type": "thinking", "thinking": "hm"}]
    assert message["metadata"]["thought"] is True
    assert message["metadata"]["signature"] == "sig"
    (sealed,) = in_turn(ev.Thought(message_id="m1", signature="sig"))
    assert sealed["content"] == []
    assert sealed["metadata"]["event"]["delta"] == {"type": "signature_delta", "signature": "sig"}


# -- the end of a turn -----------------------------------------------------------------------------


def test_the_answer_is_said_once_more_in_one_message_in_the_order_of_its_parts() -> None:
    messages = in_turn(
        ev.Text(message_id="m1", delta="Let me "),
        ev.Text(message_id="m1", delta="look."),
        ev.Thought(message_id="m1", delta="which?"),
        ev.ToolCall(call_id="c1", name="read", message_id="m1"),
        ev.ToolInput(call_id="c1", delta='{"path": '),
        ev.ToolInput(call_id="c1", delta='"a"}'),
        ev.ToolUpdate(call_id="c1", status="completed", output="text"),
        ev.Media(message_id="m2", content=c.ImageBlock(mime_type="image/png", data="AA==")),
        ev.Source(message_id="m2", source_id="s1", url="https://example.org"),
        ev.Text(message_id="m2", delta="Done."),
        ev.TurnFinished(turn_id="t1"),
    )
    assert kinds(messages)[-3:] == ["assistant", "result", "status_change"]
    answer = messages[-3]
    assert answer["content"] == [
        {"type": "text", "text": "Let me look."},
        {"type": "thinking", "thinking": "which?"},
        {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "a"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}},
        {"type": "text", "text": "Done."},
    ]
    assert answer["metadata"]["sources"] == [{"source_id": "s1", "url": "https://example.org"}]
    assert about(messages[-2]) == {"stopReason": "end_turn", "is_error": False}
    assert about(messages[-1]) == {"status": "idle"}


def test_a_turn_without_words_has_a_result_alone() -> None:
    usage = (ev.TokenUsage(model="m", input_tokens=3),)
    messages = in_turn(ev.TurnFinished(turn_id="t1", usage=usage))
    assert kinds(messages) == ["result", "status_change"]
    assert messages[0]["metadata"]["usage"] == [{"model": "m", "input_tokens": 3}]


@pytest.mark.parametrize(
    ("stop_reason", "code"),
    [
        ("end_turn", None),
        ("max_tokens", "output_length"),
        ("max_turn_requests", "max_turns"),
        ("refusal", None),
        ("cancelled", "aborted"),
    ],
)
def test_each_stop_reason_is_a_result(stop_reason: Any, code: str | None) -> None:
    result = only(
        in_turn(
            ev.Text(message_id="m1", delta="I will not."),
            ev.TurnFinished(turn_id="t1", stop_reason=stop_reason),
        ),
        "result",
    )
    assert result["metadata"]["stopReason"] == stop_reason
    assert result["metadata"].get("error_code") == code
    refused = [{"type": "refusal", "refusal": "I will not."}]
    assert result["content"] == (refused if stop_reason == "refusal" else [])


def test_a_refusal_without_words_says_that_it_is_one() -> None:
    result = only(in_turn(ev.TurnFinished(turn_id="t1", stop_reason="refusal")), "result")
    assert result["content"][0]["refusal"] == "the agent refused to go on"


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        ("authentication_required", "provider_auth"),
        ("authentication_failed", "provider_auth"),
        ("rate_limited", "rate_limit"),
        ("context_overflow", "context_overflow"),
        ("model_unreachable", "api_error"),
        ("interrupted", "aborted"),
        ("agent_exited", "execution_error"),
        ("its_own_code", "execution_error"),
    ],
)
def test_a_failure_is_a_result_with_one_of_the_codes(failure: str, code: str) -> None:
    failed = ev.TurnFailed(turn_id="t1", code=failure, message="it broke")
    messages = in_turn(ev.Text(message_id="m1", delta="so far"), failed)
    login = ["auth_status"] if code == "provider_auth" else []
    assert kinds(messages)[1:] == [*login, "assistant", "result", "status_change"]
    result = about(only(messages, "result"))
    assert result["stopReason"] == "error"
    assert (result["error_code"], result["error_message"]) == (code, "it broke")
    assert result["error_data"] == {"code": failure}
    if login:
        status = about(only(messages, "auth_status"))
        assert status == {"isAuthenticating": False, "output": [], "error": "it broke"}


def test_a_failure_of_unknown_origin_is_unknown() -> None:
    failed = ev.TurnFailed(turn_id="t1", code="strange", message="?", fault="peer")
    assert only(in_turn(failed), "result")["metadata"]["error_code"] == "unknown"


def test_texts_of_exceptions_are_shown_only_on_demand() -> None:
    meta = {"trunkline": {"exception": "KeyError"}}
    failed = ev.TurnFailed(turn_id="t1", code="agent_failed", message="secret", meta=meta)
    assert "secret" not in str(in_turn(failed))
    full = UnifiedOptions(error_detail_level="full")
    assert only(in_turn(failed, options=full), "result")["metadata"]["error_message"] == "secret"
    code = UnifiedOptions(error_detail_level="code")
    assert only(in_turn(failed, options=code), "result")["metadata"]["error_message"] == "the turn failed"


# -- tools -----------------------------------------------------------------------------------------


def test_diffs_and_terminals_of_a_call_are_content_and_metadata() -> None:
    messages = in_turn(
        ev.ToolCall(call_id="c1", name="edit", kind="edit"),
        ev.ToolUpdate(
            call_id="c1",
            status="in_progress",
            content=(
                c.DiffBlock(path="/w/a.py", old="1", new="2"),
                c.TerminalBlock(terminal_id="term"),
            ),
        ),
        ev.TerminalOutput(terminal_id="term", data="ok\n"),
        ev.TerminalOutput(terminal_id="term", exited=True, exit_code=0),
        ev.ToolUpdate(call_id="c1", status="completed", raw_output={"code": 0}),
    )
    first, update, printed, ended, summary = messages
    assert update["content"][0] == {"type": "code", "language": "python", "code": "2"}
    assert update["metadata"]["diffs"] == [{"path": "/w/a.py", "oldText": "1", "newText": "2"}]
    assert update["metadata"]["terminals"] == [{"terminalId": "term"}]
    assert (printed["metadata"]["output"], printed["metadata"]["tool_use_id"]) == ("ok\n", "c1")
    assert printed["parentId"] == first["id"]
    assert ended["metadata"]["exit_code"] == 0
    assert summary["content"][0]["content"] == '{"code":0}'
    assert summary["content"][1:] == [
        {"type": "code", "language": "python", "code": "2"},
        {"type": "code", "language": "console", "code": "ok\n"},
    ]
    assert summary["metadata"]["rawOutput"] == {"code": 0}


@pytest.mark.parametrize("status", ["denied", "cancelled"])
def test_a_call_that_was_denied_or_cancelled_is_an_error_with_its_reason(status: Any) -> None:
    update = ev.ToolUpdate(call_id="c1", status=status, reason="no")
    summary = only(in_turn(ev.ToolCall(call_id="c1", name="rm"), update), "tool_use_summary")
    assert summary["content"] == [
        {"type": "tool_result", "tool_use_id": "c1", "content": "no", "is_error": True}
    ]
    assert summary["metadata"]["status"] == status


def test_a_result_that_is_too_long_is_cut_and_says_so() -> None:
    options = UnifiedOptions(max_payload_size=5)
    update = ev.ToolUpdate(call_id="c1", status="completed", raw_output="x" * 20)
    summary = only(
        in_turn(ev.ToolCall(call_id="c1", name="cat"), update, options=options), "tool_use_summary"
    )
    assert summary["content"][0]["content"] == "xxxxx\n[15 more characters are not shown]"
    assert summary["metadata"]["rawOutputSize"] == 22
    assert "rawOutput" not in summary["metadata"]


def test_arguments_are_shown_as_soon_as_they_are_whole() -> None:
    _, piece, whole = in_turn(
        ev.ToolCall(call_id="c1", name="read"),
        ev.ToolInput(call_id="c1", delta='{"a"'),
        ev.ToolUpdate(call_id="c1", input=["b"], status="in_progress", output="1"),
    )
    assert piece["metadata"]["event"]["delta"] == {"type": "input_json_delta", "partial_json": '{"a"'}
    assert whole["content"] == [{"type": "tool_use", "id": "c1", "name": "read", "input": {"input": ["b"]}}]
    assert whole["metadata"]["output"] == "1"


# -- asking ----------------------------------------------------------------------------------------

OPTIONS = (
    qu.Option(option_id="ok", name="Allow once", kind="allow_once"),
    qu.Option(option_id="no", name="Deny", kind="reject_once"),
)


def test_parallel_permissions_are_requests_each_with_its_options_and_its_answer() -> None:
    messages = in_turn(
        ev.ToolCall(call_id="c1", name="write", title="Write a", kind="edit"),
        ev.ToolUpdate(call_id="c1", input={"path": "a"}, locations=(ev.Location(path="a"),),
                      content=(c.DiffBlock(path="a", new="x"),)),
        ev.ToolCall(call_id="c2", name="write"),
        ev.Asked(question_id="q1", question=qu.Permission(call_id="c1", options=OPTIONS), expires_at=1.5),
        ev.Asked(question_id="q2", question=qu.Permission(call_id="c2", options=OPTIONS), group="g"),
        ev.TurnSuspended(question_ids=("q1", "q2")),
        ev.Answered(question_id="q2", outcome="selected", option_id="no", option_kind="reject_once",
                    by="unified:anna", reason="not now"),
        ev.Answered(question_id="q1", outcome="selected", option_id="ok", option_kind="allow_once",
                    input={"path": "b"}, by="trunkline"),
        ev.TurnResumed(),
    )  # fmt: skip
    first, second = [message for message in messages if message["type"] == "permission_request"]
    assert about(first) == {
        "request_id": "q1",
        "subtype": "permission",
        "description": "Write a",
        "tool_use_id": "c1",
        "tool_name": "write",
        "input": {"path": "a"},
        "toolCall": {
            "toolCallId": "c1",
            "title": "Write a",
            "kind": "edit",
            "status": "pending",
            "rawInput": {"path": "a"},
            "content": [{"type": "diff", "path": "a", "newText": "x"}],
            "locations": [{"path": "a"}],
        },
        "options": [
            {"optionId": "ok", "name": "Allow once", "kind": "allow_once"},
            {"optionId": "no", "name": "Deny", "kind": "reject_once"},
        ],
        "allows_edit": False,
        "expires_at": 1500,
    }
    assert second["metadata"]["group"] == "g"
    waiting = [about(one)["status"] for one in messages if one["type"] == "status_change"]
    assert waiting == ["waiting", "running"]
    refused, allowed = [message for message in messages if message["type"] == "permission_response"]
    assert about(refused) == {
        "request_id": "q2",
        "behavior": "deny",
        "outcome": "selected",
        "tool_use_id": "c2",
        "optionId": "no",
        "option_kind": "reject_once",
        "message": "not now",
        "by": "unified:anna",
    }
    assert (refused["parentId"], refused["role"]) == (second["id"], "user")
    assert allowed["metadata"]["behavior"] == "allow"
    assert allowed["metadata"]["updated_input"] == {"path": "b"}
    assert allowed["role"] == "system"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (qu.Form(message="Who?", fields={"a": 1}), {"subtype": "form", "requestedSchema": {"a": 1}}),
        (qu.Link(message="Log in", url="https://example.org"), {"subtype": "link", "url": "https://example.org"}),
        (
            qu.ClientCall(call_id="c9", name="where", input={"a": 1}),
            {"subtype": "client_call", "tool_name": "where", "input": {"a": 1}},
        ),
    ],
    ids=["form", "link", "client_call"],
)  # fmt: skip
def test_every_kind_of_question_is_a_request(question: qu.Question, expected: dict[str, Any]) -> None:
    (request,) = in_turn(ev.Asked(question_id="q1", question=question))
    assert request["type"] == "permission_request"
    assert {name: request["metadata"][name] for name in expected} == expected
    assert request["metadata"]["description"] == question.message


def test_an_answer_to_a_form_has_its_content() -> None:
    asked = ev.Asked(question_id="q1", question=qu.Form(fields={}))
    answered = ev.Answered(question_id="q1", outcome="accepted", content={"a": 1}, by="me")
    response = in_turn(asked, answered)[1]
    assert response["metadata"]["behavior"] == "allow"
    assert response["metadata"]["content"] == {"a": 1}


def test_a_decision_of_the_policy_says_which_rule_it_was() -> None:
    decided = ev.Decided(
        allowed=False, by="policy", reason="no shells", rule="deny execute", call_id="c1", tool="sh"
    )
    call, response = in_turn(ev.ToolCall(call_id="c1", name="sh"), decided)
    assert (response["type"], response["role"], response["parentId"]) == (
        "permission_response", "system", call["id"],
    )  # fmt: skip
    assert response["metadata"]["behavior"] == "deny"
    assert response["metadata"]["rule"] == "deny execute"


# -- a row for every event -------------------------------------------------------------------------

OTHERS: list[tuple[ev.Event, str, dict[str, Any]]] = [
    (ev.PromptQueued(prompt_id="p", content=(c.TextBlock(text="x"),)), "status_change",
     {"status": "running", "subtype": "prompt_queued", "prompt_id": "p"}),
    (ev.PromptDropped(prompt_id="p", reason="r"), "status_change",
     {"status": "running", "subtype": "prompt_dropped", "prompt_id": "p", "reason": "r"}),
    (ev.Rewound(to_message_id="m"), "session_lifecycle",
     {"subtype": "message_removed", "to_message_id": "m"}),
    (ev.UserMessage(message_id="u", content=(c.TextBlock(text="x"),), trusted=False, prompt_id="p"),
     "user_message", {"message_id": "u", "trusted": False, "joined": True, "prompt_id": "p"}),
    (ev.StepStarted(step_id="s", name="n", kind="model"), "status_change",
     {"status": "running", "subtype": "step_started", "step_id": "s", "name": "n", "kind": "model"}),
    (ev.StepFinished(step_id="s", message_id="m"), "status_change",
     {"status": "running", "subtype": "step_finished", "step_id": "s", "message_id": "m"}),
    (ev.SubagentStarted(lane="l", name="n"), "status_change",
     {"status": "running", "subtype": "subagent_started", "name": "n", "lane": "l"}),
    (ev.SubagentFinished(lane="l", result={"a": 1}), "status_change",
     {"status": "running", "subtype": "subagent_finished", "outcome": "completed", "result": {"a": 1},
      "lane": "l"}),
    (ev.Activity(activity_id="a", activity_type="t", content={"x": 1}), "status_change",
     {"status": "running", "subtype": "activity", "activity_id": "a", "activity_type": "t",
      "content": {"x": 1}}),
    (ev.Compaction(compaction_id="k", status="in_progress"), "status_change",
     {"status": "compacting", "subtype": "compaction", "compaction_id": "k",
      "compaction_status": "in_progress"}),
    (ev.Compaction(compaction_id="k", status="failed", error="e"), "status_change",
     {"status": "running", "subtype": "compaction", "compaction_id": "k", "compaction_status": "failed",
      "error": "e"}),
    (ev.Compaction(compaction_id="k", status="completed", summary="s"), "session_lifecycle",
     {"subtype": "session_compacted", "compaction_id": "k", "summary": "s"}),
    (ev.Notice(title="n", severity="warning", code="c"), "status_change",
     {"status": "running", "subtype": "notice", "title": "n", "severity": "warning", "code": "c"}),
    (ev.StateReplaced(state={"a": None}), "status_change",
     {"status": "running", "subtype": "state", "state": {"a": None}}),
    (ev.StatePatched(patch=({"op": "remove", "path": "/a"},)), "status_change",
     {"status": "running", "subtype": "state_patch", "patch": [{"op": "remove", "path": "/a"}]}),
    (ev.InfoChanged(title="T"), "configuration_change", {"subtype": "session_info", "title": "T"}),
    (ev.ContextUsage(used=1, size=2, cost=ev.Cost(amount=0.5)), "status_change",
     {"status": "running", "subtype": "usage", "used": 1, "size": 2,
      "cost": {"amount": 0.5, "currency": "USD"}}),
    (ev.Custom(name="n", value=[1]), "unknown", {"subtype": "custom", "name": "n", "value": [1]}),
    (ev.Raw(source="acp", payload={"x": 1}), "unknown",
     {"subtype": "raw", "source": "acp", "raw": {"x": 1}}),
    (ev.TurnStarted(turn_id="t2", prompt_id="p", by="agent"), "status_change",
     {"status": "running", "prompt_id": "p", "by": "agent"}),
]  # fmt: skip


@pytest.mark.parametrize(("event", "kind", "metadata"), OTHERS, ids=lambda value: type(value).__name__)
def test_a_row_for_an_event(event: ev.Event, kind: str, metadata: dict[str, Any]) -> None:
    (message,) = in_turn(event)
    assert message["type"] == kind
    assert about(message) == metadata


def test_options_and_the_mode_and_the_model_among_them_are_a_change_of_configuration() -> None:
    (message,) = encoded(ev.ConfigChanged(options=(MODES, MODEL)))
    metadata = message["metadata"]
    assert message["type"] == "configuration_change"
    assert (metadata["currentModeId"], metadata["model"]) == ("ask", "a")
    assert [option["id"] for option in metadata["configOptions"]] == ["mode", "llm"]


def test_every_event_has_a_row_or_a_reason() -> None:
    handled: set[Any] = set(UnifiedEncoder._handlers)  # pyright: ignore[reportPrivateUsage]
    assert handled.isdisjoint(LOSSES)
    assert handled | set(LOSSES) == set(event_kinds())
    assert all(LOSSES.values())
    assert (
        encoded(ev.RunOpened(run_id="r", front_end="f", from_seq=1), ev.RunClosed(run_id="r", to_seq=1)) == []
    )


def test_what_a_subagent_says_names_its_call_and_is_gathered_when_it_ends() -> None:
    messages = in_turn(
        ev.ToolCall(call_id="c1", name="task"),
        ev.SubagentStarted(lane="l", name="scout", parent_call_id="c1"),
        ev.Text(lane="l", message_id="m9", delta="found", meta={"x": 1}),
        ev.SubagentFinished(lane="l"),
        ev.Text(lane="k", message_id="m8", delta="left open"),
        ev.TurnFinished(turn_id="t1"),
    )
    call, _, piece, speech, _, _, late, main, *_ = messages
    assert piece["metadata"]["parent_tool_use_id"] == "c1"
    assert piece["metadata"]["_meta"] == {"x": 1}
    assert piece["parentId"] == call["id"]
    assert (speech["type"], speech["content"]) == ("assistant", [{"type": "text", "text": "found"}])
    assert (late["type"], late["metadata"]["lane"]) == ("assistant", "k")
    assert [one["type"] for one in main["content"]] == ["tool_use"]
    assert "lane" not in main["metadata"], "the agent's own words come last"


def test_a_client_finds_its_own_message_by_its_id() -> None:
    own = "0b0c3a52-1f0e-4a3c-9a55-2b1c5a9d7e10"
    (message,) = in_turn(ev.UserMessage(message_id=own, content=(c.TextBlock(text="hi"),)))
    assert message["id"] == own
    (other,) = in_turn(ev.UserMessage(message_id="turn.0"))
    assert other["id"] != "turn.0"
    assert other["metadata"]["message_id"] == "turn.0"


def test_the_time_and_the_place_of_a_record_are_those_of_its_message() -> None:
    message = encoded(ev.TurnStarted(turn_id="t1"), ev.Text(message_id="m", delta="ab"))[1]
    assert message["timestamp"] == 2000
    assert (message["metadata"]["seq"], message["metadata"]["cursor"]) == (2, "1-2.2")
