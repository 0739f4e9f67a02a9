"""Tool calls as ACP agents show them; the wires are those that real agents send."""

from typing import Any, cast

import pytest

from trunkline import events as ev
from trunkline.content import DiffBlock, TerminalBlock, TextBlock
from trunkline.folding import fold
from trunkline.protocols.acp.decoder import AcpDecoder
from trunkline.protocols.acp.profiles import CLAUDE_CODE, CODEX, GEMINI, QWEN, STANDARD, Profile


def decoder(profile: Profile = STANDARD) -> AcpDecoder:
    """Give a decoder in a turn."""
    made = AcpDecoder(profile)
    made.begin_turn("t")
    return made


def announce(**fields: Any) -> dict[str, Any]:
    """Give the announcement of the call c."""
    return {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T", "status": "pending", **fields}


def update(**fields: Any) -> dict[str, Any]:
    """Give an update of the call c."""
    return {"sessionUpdate": "tool_call_update", "toolCallId": "c", **fields}


def feed(made: AcpDecoder, *updates: dict[str, Any]) -> list[ev.AnyEvent]:
    """Give the events of updates."""
    return [event for one in updates for event in made.feed(one)]


def text(value: str) -> dict[str, Any]:
    """Give a text as the content of a call."""
    return {"type": "content", "content": {"type": "text", "text": value}}


# -- names -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("profile", "fields", "name"),
    [
        (CLAUDE_CODE, {"name": "bash", "_meta": {"claudeCode": {"toolName": "Bash"}}}, "bash"),
        (CLAUDE_CODE, {"_meta": {"claudeCode": {"toolName": "Bash"}}}, "Bash"),
        (QWEN, {"_meta": {"toolName": "edit"}}, "edit"),
        (STANDARD, {"_meta": {"claudeCode": {"toolName": "Bash"}}}, "T"),
        (STANDARD, {"title": ""}, "unknown"),
        (STANDARD, {"title": None, "name": None}, "unknown"),
        (GEMINI, {"toolCallId": "read_file-17"}, "read_file"),
    ],
)
def test_a_tool_is_called_by_its_name_an_extension_or_its_title(
    profile: Profile, fields: dict[str, Any], name: str
) -> None:
    [call] = decoder(profile).feed(announce(**fields))
    assert cast("ev.ToolCall", call).name == name


def test_a_name_that_comes_late_goes_along_with_the_update() -> None:
    out = feed(decoder(CODEX), announce(), update(status="completed", name="exec_command"))
    assert out[-1] == ev.ToolUpdate(call_id="c", status="completed", meta={"acp": {"name": "exec_command"}})


def test_a_later_update_without_an_extension_does_not_rename_the_tool() -> None:
    meta = {"claudeCode": {"toolName": "Bash"}}
    events = feed(decoder(CLAUDE_CODE), announce(_meta=meta), update(title="ls", status="completed"))
    [call] = fold(events).calls.values()
    assert (call.name, call.title, call.status) == ("Bash", "ls", "completed")


# -- arguments -------------------------------------------------------------------------------------


def test_a_call_that_is_announced_twice_is_one_call() -> None:
    made = decoder()
    [event] = made.feed(announce(title="Terminal", rawInput={}))
    assert isinstance(event, ev.ToolCall)
    assert made.feed(announce(title="ls", rawInput={"command": "ls"})) == [
        ev.ToolUpdate(call_id="c", title="ls", input={"command": "ls"})
    ]


def test_arguments_come_in_part_and_then_whole() -> None:
    out = feed(
        decoder(),
        announce(rawInput={}),
        update(rawInput={"command": "l"}),
        update(rawInput={"command": "ls"}),
        update(rawInput={"command": "ls"}),
        update(rawInput=None),
    )
    assert [event.input for event in out if isinstance(event, ev.ToolUpdate)] == [
        {"command": "l"},
        {"command": "ls"},
    ]


def test_a_tool_without_arguments_has_none_once_it_runs() -> None:
    out = feed(decoder(), announce(rawInput={}), update(status="completed"))
    assert out[-1] == ev.ToolUpdate(call_id="c", status="completed", input={})


# -- the end of a call -----------------------------------------------------------------------------


def test_a_call_that_is_over_in_its_announcement_is_told_in_two_events() -> None:
    out = decoder().feed(announce(status="completed", rawInput={"a": 1}, rawOutput="x", content=[text("x")]))
    assert out[1:] == [
        ev.ToolUpdate(
            call_id="c", status="completed", input={"a": 1}, raw_output="x", content=(TextBlock(text="x"),)
        )
    ]


def test_the_first_end_of_a_call_stays_and_later_content_is_welcome() -> None:
    out = feed(
        decoder(),
        announce(),
        update(status="failed"),
        update(status="completed", rawOutput="x"),
        update(status="in_progress"),
        announce(),
    )
    assert out[1:] == [
        ev.ToolUpdate(call_id="c", status="failed"),
        ev.ToolUpdate(call_id="c", raw_output="x"),
    ]


def test_pending_is_not_a_step_back() -> None:
    out = feed(decoder(), announce(), update(status="in_progress"), update(status="pending"))
    assert out[1:] == [ev.ToolUpdate(call_id="c", status="in_progress")]


def test_a_status_and_a_kind_of_the_agents_own_are_kept() -> None:
    call, paused = feed(decoder(), announce(kind="teleport"), update(status="paused"))
    assert cast("ev.ToolCall", call).kind == "teleport"
    assert cast("ev.ToolUpdate", paused).status == "paused"


def test_a_kind_that_changes_is_told() -> None:
    assert feed(decoder(), announce(), update(kind="edit"))[-1] == ev.ToolUpdate(call_id="c", kind="edit")


# -- results ---------------------------------------------------------------------------------------

RESPONSE = {"stdout": "hi", "stderr": "", "interrupted": False, "isImage": False}


def response(value: Any) -> dict[str, Any]:
    """Give the update of Claude Code that has a tool's response alone."""
    return update(_meta={"claudeCode": {"toolName": "Bash", "toolResponse": value}})


@pytest.mark.parametrize("value", [RESPONSE, [{"type": "text", "text": "hi"}]])
def test_the_response_of_an_earlier_update_is_the_result_where_there_is_no_other(value: Any) -> None:
    out = feed(decoder(CLAUDE_CODE), announce(), response(value), update(status="completed"))
    assert out[1:] == [
        ev.ToolUpdate(
            call_id="c",
            status="completed",
            raw_output=value,
            meta={"claudeCode": {"toolName": "Bash", "toolResponse": value}},
        )
    ]


def test_the_raw_output_comes_before_the_response() -> None:
    out = feed(
        decoder(CLAUDE_CODE), announce(), response(RESPONSE), update(status="completed", rawOutput="hi")
    )
    end = cast("ev.ToolUpdate", out[-1])
    assert end.raw_output == "hi"
    assert end.meta == {"claudeCode": {"toolName": "Bash", "toolResponse": RESPONSE}}


def test_a_response_after_the_end_is_the_result_too() -> None:
    out = feed(decoder(CLAUDE_CODE), announce(), update(status="completed"), response(RESPONSE))
    assert cast("ev.ToolUpdate", out[-1]).raw_output == RESPONSE


def test_a_response_without_an_end_completes_the_call_with_the_turn() -> None:
    made = decoder(CLAUDE_CODE)
    feed(made, announce(), response(RESPONSE))
    [end] = made.close()
    assert end == ev.ToolUpdate(
        call_id="c",
        status="completed",
        raw_output=RESPONSE,
        meta={"claudeCode": {"toolName": "Bash", "toolResponse": RESPONSE}},
    )


def test_a_result_that_is_an_object_is_passed_on() -> None:
    output = {"output": "hi", "metadata": {"exit": 0}}
    assert (
        cast("ev.ToolUpdate", feed(decoder(), announce(), update(rawOutput=output))[-1]).raw_output == output
    )


# -- content and places ----------------------------------------------------------------------------


def test_diffs_terminals_and_blocks_are_content() -> None:
    content = [
        {"type": "diff", "path": "/a", "oldText": None, "newText": "new"},
        {"type": "diff", "path": "/b", "oldText": "", "newText": "new"},
        {"type": "terminal", "terminalId": "x"},
        text("done"),
    ]
    [_, shown] = feed(decoder(), announce(), update(content=content))
    assert cast("ev.ToolUpdate", shown).content == (
        DiffBlock(path="/a", new="new"),
        DiffBlock(path="/b", old="", new="new"),
        TerminalBlock(terminal_id="x"),
        TextBlock(text="done"),
    )


def test_content_replaces_content_and_null_leaves_it() -> None:
    out = feed(
        decoder(),
        announce(content=[]),
        update(content=[text("a")]),
        update(content=None),
        update(content=[text("a")]),
        update(content=[]),
    )
    contents = [event.content for event in out if isinstance(event, ev.ToolUpdate)]
    assert contents == [(TextBlock(text="a"),), ()]


def test_what_cannot_be_read_of_a_call_is_kept_beside_it() -> None:
    spoiled = update(
        content=[text("a"), {"type": "hologram"}], locations=[{"path": 7}, {"path": "/a", "line": 3.0}]
    )
    out = feed(decoder(), announce(), spoiled)
    assert out[1:] == [
        ev.ToolUpdate(
            call_id="c", content=(TextBlock(text="a"),), locations=(ev.Location(path="/a", line=3),)
        ),
        ev.Raw(source="acp", payload=spoiled),
    ]


@pytest.mark.parametrize("field", ["content", "locations"])
def test_a_field_that_is_no_list_is_kept_beside_the_call(field: str) -> None:
    spoiled = update(status="completed", **{field: 7})
    assert feed(decoder(), announce(), spoiled)[1:] == [
        ev.ToolUpdate(call_id="c", status="completed"),
        ev.Raw(source="acp", payload=spoiled),
    ]


# -- terminals that the agent runs by itself ------------------------------------------------------


def test_codex_shows_a_terminal_that_no_client_made() -> None:
    out = feed(
        decoder(CODEX),
        announce(content=[{"type": "terminal", "terminalId": "c"}], status="in_progress"),
        update(_meta={"terminal_output_delta": {"data": "one\n"}}),
        update(_meta={"terminal_output_delta": {"data": "two\n", "terminal_id": "c"}}),
        update(
            status="completed", _meta={"terminal_exit": {"exit_code": 0, "signal": None, "terminal_id": "c"}}
        ),
    )
    folded = fold(out)

    assert folded.terminals["c"].data == "one\ntwo\n"
    assert (folded.terminals["c"].exited, folded.terminals["c"].exit_code) == (True, 0)
    assert folded.calls["c"].content == (TerminalBlock(terminal_id="c"),)
    assert all(event.meta is None for event in out)


def test_claude_tells_of_a_terminal_first_and_of_its_output_at_the_end() -> None:
    out = feed(
        decoder(CLAUDE_CODE),
        announce(_meta={"claudeCode": {"toolName": "Bash"}, "terminal_info": {"terminal_id": "c"}}),
        update(_meta={"terminal_output": {"terminal_id": "c", "data": "hi"}}),
        update(
            status="completed",
            _meta={"terminal_exit": {"terminal_id": "c", "exit_code": 2, "signal": "SIGTERM"}},
        ),
    )
    assert out[1:] == [
        ev.ToolUpdate(call_id="c", content=(TerminalBlock(terminal_id="c"),)),
        ev.TerminalOutput(terminal_id="c", data="hi"),
        ev.TerminalOutput(terminal_id="c", exited=True, exit_code=2, signal="SIGTERM"),
        ev.ToolUpdate(call_id="c", status="completed"),
    ]


def test_a_quick_command_of_codex_has_its_output_in_the_result_alone() -> None:
    exit_meta = {"terminal_exit": {"exit_code": 0, "signal": None, "terminal_id": "c"}}
    result = {"formatted_output": "hi\n", "exit_code": 0}
    start = announce(status="in_progress", _meta={"terminal_info": {"terminal_id": "c", "cwd": "/"}})
    end = update(status="completed", rawOutput=result, _meta=exit_meta)

    assert fold(feed(decoder(CODEX), start, end)).terminals["c"].data == "hi\n"
    printed = update(_meta={"terminal_output": {"terminal_id": "c", "data": "hi\n"}})
    assert fold(feed(decoder(CODEX), start, printed, end)).terminals["c"].data == "hi\n"
    assert fold(feed(decoder(STANDARD), start, end)).terminals["c"].data == ""


def test_output_after_the_exit_of_a_terminal_is_kept_as_it_is() -> None:
    late = update(_meta={"terminal_output": {"data": "late"}})
    made = decoder()
    feed(made, announce(), update(_meta={"terminal_exit": {"exit_code": 0}}))
    assert made.feed(late) == [ev.Raw(source="acp", payload=late)]


def test_an_extension_of_a_terminal_that_is_no_object_is_passed_on() -> None:
    out = feed(decoder(), announce(), update(title="ls", _meta={"terminal_output": "hi"}))
    assert out[1:] == [ev.ToolUpdate(call_id="c", title="ls", meta={"terminal_output": "hi"})]


# -- what is remembered ---------------------------------------------------------------------------


def test_only_the_newest_calls_of_earlier_turns_are_remembered() -> None:
    made = decoder()
    for number in range(1001):
        feed(made, announce(toolCallId=f"c{number}"))
    made.close()
    made.begin_turn("t2")
    assert made.call_id("c0") is None
    assert made.call_id("c1") == "c1"
