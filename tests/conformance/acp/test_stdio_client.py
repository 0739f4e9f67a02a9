"""Talking with a command line by line: what is kept, what is bounded, what is left behind."""

import sys
from pathlib import Path
from typing import Any

import pytest

from trunkline.conformance.acp.stdio_client import StdioClient, allow, same

ECHO = "import sys\nfor line in sys.stdin:\n    print(line, end='', flush=True)\n"


def test_a_transcript_has_both_sides_in_order() -> None:
    with StdioClient([sys.executable, "-S", "-c", ECHO]) as talk:
        talk.write(b"one\n")
        assert talk.next() is not None
        place = talk.line_count
        talk.write(b"two\n")
        assert talk.next() is not None
        assert [(said.by.strip(), said.line) for said in talk.transcript(place)] == [
            ("client", "two"),
            ("agent", "two"),
        ]
        assert len(talk.transcript()) == 4


def test_a_program_that_cannot_be_started_is_an_error_and_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        StdioClient([str(tmp_path / "nothing")])


def test_leaving_does_not_wait_for_a_program_that_floods_us() -> None:
    flood = "import sys\nwhile True:\n    sys.stdout.write('x\\n' * 1000)\n"
    with StdioClient([sys.executable, "-S", "-c", flood], patience=5.0) as talk:
        assert talk.next() is not None
    assert talk.process.code is not None


def test_ids_are_compared_as_json_values() -> None:
    assert same(1, 1)
    assert not same(1, True)
    assert not same(1, "1")


def test_a_program_that_stops_reading_holds_nobody_up() -> None:
    deaf = "import sys, time\nsys.stdin.readline()\ntime.sleep(60)\n"
    with StdioClient([sys.executable, "-S", "-c", deaf], patience=0.3) as talk:
        talk.write(b"x" * 1_000_000 + b"\n")
        assert talk.request("initialize", {}) is None


def test_a_program_that_answers_nothing_is_not_waited_for_again_and_again() -> None:
    silent = "import sys\nfor line in sys.stdin: pass\n"
    with StdioClient([sys.executable, "-S", "-c", silent], patience=0.1) as talk:
        for _ in range(3):
            assert talk.request("initialize", {}) is None
        talk.patience = 60.0
        assert talk.request("initialize", {}) is None
        talk.patience = 5.0


def test_a_line_of_any_depth_is_kept_as_no_message() -> None:
    deep = "print('[' * 100_000, flush=True)"
    with StdioClient([sys.executable, "-S", "-c", deep]) as talk:
        line = talk.next()
    assert line is not None
    assert line.message is None


def test_a_permission_without_an_option_that_allows_is_cancelled() -> None:
    assert allow({"options": []}) == {"outcome": {"outcome": "cancelled"}}


def test_a_request_of_any_shape_is_answered_and_ends_nothing() -> None:
    params = ("[1]", "null", '{"options": [7]}', '{"options": {"kind": []}}')
    asked = [f'"method": "session/request_permission", "params": {one}' for one in params]
    asked += ['"method": "session/request_permission"', '"method": []']
    with StdioClient([sys.executable, "-S", "-c", ECHO]) as talk:
        for number, one in enumerate(asked):
            talk.write(f'{{"jsonrpc": "2.0", "id": {number}, {one}}}\n'.encode())
        errors = {line.message["id"]: line.message["error"] for line in _answers(talk, len(asked))}
    assert [errors[number]["code"] for number in range(len(asked))] == [-32602] * 5 + [-32601]


def _answers(talk: StdioClient, number: int) -> list[Any]:
    """Our own answers, which the program says back to us."""
    found: list[Any] = []
    while len(found) < number and (line := talk.next()) is not None:
        found += [line] if "method" not in (line.message or {}) else []
    return found
