"""The wire log: the newest lines, both ways, within limits."""

from types import SimpleNamespace

import pytest

from trunkline.agents.acp import wire_log
from trunkline.agents.acp.wire_log import WireLog


def test_lines_are_kept_in_their_order_with_their_times() -> None:
    clock = SimpleNamespace(now=1.0)
    log = WireLog(lambda: clock.now)
    log.add("out", [b'{"a":1}', b'{"b":2}\r'])
    clock.now = 2.0
    log.add("in", [b"\xff banner"])
    found = log.read()
    assert [(line.at, line.direction, line.data) for line in found.lines] == [
        (1.0, "out", '{"a":1}'),
        (1.0, "out", '{"b":2}'),
        (2.0, "in", "\ufffd banner"),
    ]
    assert found.dropped == 0


def test_the_oldest_lines_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire_log, "MOST_LINES", 3)
    log = WireLog()
    for number in range(10):
        log.add("in", [str(number).encode()])
    assert [line.data for line in log.read().lines] == ["7", "8", "9"]
    assert log.read().dropped == 7


def test_so_many_bytes_are_kept_and_a_long_line_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire_log, "MOST_BYTES", 100)
    monkeypatch.setattr(wire_log, "LONGEST", 60)
    log = WireLog()
    log.add("in", [b"x" * 500])
    log.add("in", [b"y" * 50])
    assert [line.data for line in log.read().lines] == ["y" * 50]
    log.add("out", [b"z" * 61])
    assert log.read().lines[-1].data == "z" * 60 + "… (61 bytes)"
    assert log.read().dropped == 2
