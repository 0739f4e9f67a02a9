"""Tests of the console: every event in full, or what a person would read of it."""

import io
import json
from typing import Any

import pytest
from tests.frontends.agui.transport_events import END, RUN, START, message_events

from trunkline.errors import ConfigurationError
from trunkline.frontends.agui import console_transport
from trunkline.protocols.agui import wire


def test_console_prints_every_event_in_full() -> None:
    file = io.StringIO()
    transport = console_transport(file)
    for event in RUN:
        transport.emit(event)
    lines = file.getvalue().splitlines()
    assert [line.split()[0] for line in lines] == [wire.to_dict(event)["type"] for event in RUN]
    assert json.loads(lines[1].split(maxsplit=1)[1]) == {"messageId": "m1"}


def test_console_prints_to_standard_output_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    console_transport().emit(START)
    assert capsys.readouterr().out.startswith("RUN_STARTED ")


def test_console_in_brief_is_what_a_person_would_read() -> None:
    file = io.StringIO()
    transport = console_transport(file, detail="brief")
    interrupt = {"id": "q1", "reason": "tool_call", "message": "Run it?"}
    events: list[wire.AguiEvent] = [
        START,
        wire.ReasoningMessageContent(message_id="r1", delta="Where "),
        wire.ReasoningMessageContent(message_id="r1", delta="is it?"),
        *message_events("Let me ", "look."),
        wire.ToolCallStart(tool_call_id="c1", tool_call_name="weather"),
        wire.ToolCallArgs(tool_call_id="c1", delta='{"city":'),
        wire.ToolCallArgs(tool_call_id="c1", delta='"Oslo"}'),
        wire.ToolCallEnd(tool_call_id="c1"),
        wire.ToolCallResult(message_id="x", tool_call_id="c1", content="rain\n" * 100),
        wire.ToolCallResult(message_id="y", tool_call_id="c2", content=[{"type": "text", "text": "hm"}]),
        wire.ToolCallEnd(tool_call_id="c3"),
        wire.SubagentStarted(subagent_run_id="s1", name="scout"),
        wire.Custom(name="trunkline.notice", value={}),
        wire.RunFinished(
            thread_id="t1", run_id="r1", outcome={"type": "interrupt", "interrupts": [interrupt]}
        ),
        wire.RunFinished(thread_id="t1", run_id="r1", outcome={"type": "cancelled"}),
        END,
        wire.RunError(message="no fuel", code="TIMEOUT"),
        wire.RunError(message="no fuel"),
    ]
    for event in events:
        transport.emit(event)
    assert file.getvalue().splitlines() == [
        "-- run r1 of thread t1",
        "(thinking) Where is it?",
        "Let me look.",
        '> weather {"city":"Oslo"}',
        f"< {('rain ' * 40)}...",
        '< [{"type":"text","text":"hm"}]',
        "> c3",
        "-- scout begins",
        "-- trunkline.notice",
        "-- waits for an answer: Run it?",
        "-- cancelled",
        "-- done",
        "-- failed: no fuel (TIMEOUT)",
        "-- failed: no fuel",
    ]


@pytest.mark.parametrize("detail", ["full", "brief"])
def test_console_removes_control_characters(detail: Any) -> None:
    file = io.StringIO()
    console_transport(file, detail).emit(wire.RunError(message="\x1b[2J\x9b2J\x07boo"))
    assert not any(sign in file.getvalue() for sign in "\x1b\x9b\x07")
    assert "boo" in file.getvalue()


def test_console_replaces_what_the_files_encoding_lacks() -> None:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding="ascii")
    console_transport(file, "brief").emit(wire.RunError(message="übel"))
    assert raw.getvalue() == b"-- failed: ?bel\n"


def test_console_that_is_closed_breaks_nothing_and_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    file = io.StringIO()
    file.close()
    transport = console_transport(file)
    transport.emit(START)
    transport.emit(END)
    assert len(caplog.records) == 1


def test_console_knows_two_details() -> None:
    wrong: Any = "loud"
    with pytest.raises(ConfigurationError, match="full, brief"):
        console_transport(detail=wrong)
