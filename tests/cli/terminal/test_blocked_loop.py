import os
import termios
import tty
from collections.abc import Iterator

import pytest
from tests.process_state import eventually

from trunkline.cli.terminal.blocked_loop import InterruptKey


@pytest.fixture
def raw() -> Iterator[int]:
    """A terminal in raw mode."""
    master, slave = os.openpty()
    tty.setraw(slave)
    yield slave
    os.close(master)
    os.close(slave)


def makes_signals(terminal: int) -> bool:
    return bool(termios.tcgetattr(terminal)[3] & termios.ISIG)


def test_without_a_beat_ctrl_c_is_a_signal_until_the_next_one(raw: int) -> None:
    key = InterruptKey(raw, late=0.02)
    key.start()
    eventually(lambda: makes_signals(raw))
    key.close()
    key.beat()
    assert not makes_signals(raw)


def test_a_terminal_that_is_gone_is_left_alone(raw: int) -> None:
    key = InterruptKey(raw, late=0.0)
    key.beat()
    assert not makes_signals(raw), "a beat alone changes nothing"
    gone = InterruptKey(os.open(os.devnull, os.O_RDONLY), late=0.02)
    gone.start()
    eventually(lambda: gone.signals)
    gone.beat()
    gone.close()
