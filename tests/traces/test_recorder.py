"""Standing between a client and an agent: every byte passes, and every line is written down."""

import io
import json
import os
import sys
from typing import Any

import pytest

from trunkline.traces.recorder import record

ECHO = "import sys\nfor line in sys.stdin:\n    print(line, end='', flush=True)\nsys.exit(3)\n"


def test_lines_pass_as_they_are_and_are_written_with_their_times() -> None:
    said = b'{"id": 1,  "odd":  "spaces"}\nno JSON \xff\n'
    trace, stdout = io.BytesIO(), io.BytesIO()
    clock = iter(range(100)).__next__
    code = record(
        [sys.executable, "-S", "-X", "utf8", "-c", ECHO.replace("sys.stdin", "sys.stdin.buffer").replace(
            "print(line, end='', flush=True)", "sys.stdout.buffer.write(line); sys.stdout.buffer.flush()"
        )],
        trace,
        stdin=io.BytesIO(said),
        stdout=stdout,
        env=os.environ,
        clock=lambda: float(clock()),
    )  # fmt: skip
    assert code == 3
    assert stdout.getvalue() == said
    lines: list[dict[str, Any]] = [json.loads(line) for line in trace.getvalue().splitlines()]
    assert sorted(line["dir"] for line in lines) == ["agent->client"] * 2 + ["client->agent"] * 2
    assert [line["msg"] for line in lines if "msg" in line] == [{"id": 1, "odd": "spaces"}] * 2
    assert len({line["t"] for line in lines}) == 4


def test_an_agent_that_ends_ends_the_record_though_the_client_stays() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as stdin, os.fdopen(writing, "wb"):
        argv = [sys.executable, "-S", "-c", "print('{}')"]
        code = record(argv, io.BytesIO(), stdin=stdin, stdout=io.BytesIO(), env=os.environ)
        assert code == 0
        # The thread that waits for the client is let go by the end of its pipe.


def test_a_trace_that_takes_no_more_does_not_end_the_talk(caplog: pytest.LogCaptureFixture) -> None:
    said = b'{"id": 1}\n{"id": 2}\n'
    stdout = io.BytesIO()
    with open("/dev/full", "wb", buffering=0) as trace:
        argv = [sys.executable, "-S", "-c", ECHO]
        code = record(argv, trace, stdin=io.BytesIO(said), stdout=stdout, env=os.environ)
    assert (code, stdout.getvalue()) == (3, said)
    assert [record.getMessage() for record in caplog.records] == [
        "the trace ends here: No space left on device"
    ]
