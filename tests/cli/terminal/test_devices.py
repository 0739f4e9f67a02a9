import os
import sys

import pytest

from trunkline.cli.terminal.devices import open_devices
from trunkline.cli.terminal.plain_screen import PlainScreen
from trunkline.cli.terminal.stdin_lines import StdinLines


async def test_the_lines_of_a_pipe_are_the_chats_and_not_the_agents(
    capsys: pytest.CaptureFixture[str],
) -> None:
    theirs, ours = os.pipe()
    before = sys.stdin
    try:
        async with open_devices(StdinLines(theirs), lambda typed: [], lambda: None) as (lines, display):
            assert isinstance(display, PlainScreen)
            with pytest.raises(EOFError, match="a chat reads the keyboard itself"):
                sys.stdin.readline()
            with pytest.raises(EOFError, match="a chat reads the keyboard itself"):
                sys.stdin.read()
            os.write(ours, b"hello\n")
            assert await lines.read("> ") == "hello"
        assert sys.stdin is before
    finally:
        os.close(theirs)
        os.close(ours)
