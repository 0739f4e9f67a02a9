"""The lines of a trace."""

import json
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunkline.errors import ConfigurationError
from trunkline.traces.trace import read_trace, write_line


@given(st.binary(max_size=60), st.sampled_from(["client->agent", "agent->client"]))
def test_any_line_becomes_one_line_of_a_trace(
    line: bytes, by: Literal["client->agent", "agent->client"]
) -> None:
    written = write_line(1.5, by, line)
    assert written.count(b"\n") == 1
    read = json.loads(written)
    assert (read["t"], read["dir"]) == (1.5, by)
    assert ("msg" in read) != ("raw" in read)


def test_a_trace_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    request = b'{"jsonrpc":"2.0","id":1,"method":"initialize"}'
    answer = b'{"jsonrpc":"2.0","id":1,"result":{}}'
    lines = [("client->agent", request), ("agent->client", b"Welcome!"), ("agent->client", answer)]
    path.write_bytes(b"\n".join(write_line(0.0, by, line) for by, line in lines))  # pyright: ignore[reportArgumentType]
    first, banner, last = read_trace(path)
    assert (first.method, first.is_request, first.is_answer) == ("initialize", True, False)
    assert (banner.message, banner.raw) == (None, "Welcome!")
    assert (last.is_request, last.is_answer) == (False, True)


def test_a_file_that_is_no_trace_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_bytes(write_line(0.0, "client->agent", b"{}") + b'{"t": 1, "dir": "up"}\n')
    with pytest.raises(ConfigurationError, match=r"trace\.jsonl:2 is no line of a trace"):
        read_trace(path)
    path.write_bytes(b'{"t": 1}\n')
    with pytest.raises(ConfigurationError, match="who spoke"):
        read_trace(path)
    with pytest.raises(ConfigurationError, match="cannot be read"):
        read_trace(tmp_path)


@pytest.mark.parametrize("name", ["claude-load", "claude-code-reject-turn"])
def test_the_recorded_wires_of_real_agents_are_traces(name: str, root: Path) -> None:
    trace = read_trace(root / f"tests/protocols/acp/transcripts/{name}.jsonl")
    assert trace[0].method == "initialize"
    assert any(said.method == "session/update" for said in trace)


def test_a_message_stays_in_a_trace_as_it_was_written(tmp_path: Path) -> None:
    deep, large = b"[" * 400 + b"]" * 400, b"123456789012345678901234567890"
    written = write_line(0.0, "client->agent", b'{"id": %s,\r\n "deep": %s}\r\n' % (large, deep))
    assert written.endswith(b'"msg":{"id": %s,  "deep": %s}}\n' % (large, deep))
    path = tmp_path / "trace.jsonl"
    path.write_bytes(written)
    [said] = read_trace(path)
    assert (said.message or {})["id"] == int(large)


def test_a_last_line_that_is_half_there_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_bytes(write_line(0.0, "client->agent", b'{"id":1}') + b'{"t":1.000,"dir":"agent->cl')
    assert [said.by for said in read_trace(path)] == ["client->agent"]
    path.write_bytes(b'{"t":0,"dir":"client->agent","msg":' + b"[" * 5000)
    with pytest.raises(ConfigurationError, match="no line of a trace"):
        read_trace(path)
