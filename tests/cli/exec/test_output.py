"""The three outputs of exec, fed with events."""

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest

from trunkline import events as ev
from trunkline.cli.exec.output import EventsPrinter, JsonPrinter, Printer, TextPrinter
from trunkline.cli.output import Output
from trunkline.questions import Permission, default_options

TURN: list[ev.AnyEvent] = [
    ev.TurnStarted(turn_id="t1"),
    ev.Text(turn_id="t1", message_id="m1", delta="one\x1b[2J"),
    ev.ToolCall(turn_id="t1", call_id="c1", name="write", kind="edit"),
    ev.ToolUpdate(turn_id="t1", call_id="c1", input={"path": "a.txt"}),
    ev.Asked(
        turn_id="t1",
        question_id="q1",
        question=Permission(message="Write a.txt?", call_id="c1", options=default_options()),
    ),
    ev.Answered(turn_id="t1", question_id="q1", outcome="selected", option_kind="allow_once"),
    ev.ToolUpdate(turn_id="t1", call_id="c1", status="completed"),
    ev.Decided(turn_id="t1", allowed=True, by="policy", reason="the default"),
    ev.Text(turn_id="t1", message_id="m2", delta="two"),
    ev.TurnFinished(turn_id="t1"),
]


@pytest.fixture
def pipe() -> Iterator[tuple[Output, int]]:
    reader, writer = os.pipe()
    yield Output(writer), reader
    os.close(reader)
    os.close(writer)


async def printed_to(printer: Printer) -> None:
    await printer.begin("sess_1")
    await printer.show(TURN)
    await printer.end("t1", denied=False)


async def printed(printer: Printer, reader: int) -> str:
    await printed_to(printer)
    return os.read(reader, 65536).decode()


async def test_events_are_lines_of_json_without_raw_controls(pipe: tuple[Output, int]) -> None:
    text = await printed(EventsPrinter(pipe[0]), pipe[1])
    assert [json.loads(line)["type"] for line in text.splitlines()] == [
        json.loads(ev.encode_event(event))["type"] for event in TURN
    ]
    assert "\x1b" not in text


async def test_a_note_begins_a_line_where_both_streams_are_one(capfd: pytest.CaptureFixture[str]) -> None:
    printer = TextPrinter(Output(2))
    await printed_to(printer)
    lines = capfd.readouterr().err.splitlines()
    assert "? Write a.txt?" in lines
    assert not any("one" in line and "Write" in line for line in lines)


async def test_a_terminal_gets_line_ends_that_came_in_two_pieces(pipe: tuple[Output, int]) -> None:
    output, reader = pipe
    output.is_terminal = True
    printer = TextPrinter(output)
    await printer.show([ev.Text(message_id="m", delta=delta) for delta in ("one\r", "\ntwo\r", "three\r")])
    await printer.end("t1", denied=False)
    assert os.read(reader, 100) == b"one\ntwo\\x0dthree\\x0d\n"


async def test_json_is_one_object_with_the_turn(pipe: tuple[Output, int]) -> None:
    result: dict[str, Any] = json.loads(await printed(JsonPrinter(pipe[0]), pipe[1]))
    assert (result["session_id"], result["turn_id"], result["stop_reason"]) == ("sess_1", "t1", "end_turn")
    assert (result["error"], result["denied"]) == (None, False)
    (call,) = result["calls"]
    assert (call["name"], call["status"], call["input"]) == ("write", "completed", {"path": "a.txt"})


async def test_text_is_the_answer_and_the_rest_goes_to_stderr(
    pipe: tuple[Output, int], capsys: pytest.CaptureFixture[str]
) -> None:
    answer = await printed(TextPrinter(pipe[0]), pipe[1])
    notes = capsys.readouterr().err
    assert answer == "one\x1b[2J\n\ntwo\n"
    assert "session sess_1" in notes
    assert "? Write a.txt?" in notes
    assert '{"path": "a.txt"}' in notes
    assert "allow once" in notes
    assert "policy" not in notes, "decisions are for the journal"
