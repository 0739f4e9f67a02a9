"""Lines that a person types or a program pipes in, for whoever asked last.

A question is asked in front of the prompt: it gets the next line, and the prompt the one after it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from trunkline.cli.terminal.display import Display
from trunkline.cli.terminal.stdin_lines import StdinLines


class LineInput(Protocol):
    """Reads lines."""

    stays_open: bool
    """Whether a line can be typed while an agent works, and what it says does not get into it."""

    async def read(self, mark: str, *, initial: str = "", is_prompt: bool = False) -> str | None:
        """Give the next line behind a mark; None at the end of the input.

        ``initial`` is text to edit. A prompt is remembered and completed, and may be typed ahead.
        """
        ...

    def clear(self) -> bool:
        """Throw away what is typed and not sent; False if there is nothing."""
        ...

    def redraw(self) -> None:
        """Show the mark again, below what was just printed."""

    def restore(self) -> None:
        """Leave the terminal as it was found, at once: the process is about to end."""

    def close(self) -> None:
        """Stop reading; whoever waits for a line gets None."""


class LineRequest:
    """Somebody who waits for a line."""

    def __init__(self, mark: str, is_prompt: bool) -> None:
        self.mark = mark
        self.is_prompt = is_prompt
        self.line: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()


def first_request(requests: Sequence[LineRequest]) -> LineRequest | None:
    """Give who gets the next line: the newest question, or the prompt if there is none."""
    asked = [request for request in requests if not request.is_prompt]
    return (asked or [*requests] or [None])[-1]


async def wait_for_pause(typed: Callable[[], str], pause: float) -> None:
    """Wait while a person types a line: what they type then is not meant for a question that comes up.

    An Enter that was meant for the line must not approve anything.
    """
    before = None
    while (text := typed()) and text != before:
        before = text
        await asyncio.sleep(pause)


class PlainInput:
    """Lines as they come: from a pipe, or from a terminal that edits them by itself."""

    def __init__(self, stdin: StdinLines, display: Display) -> None:
        self.stays_open = False
        self._stdin = stdin
        self._display = display
        self._requests: list[LineRequest] = []
        self._delivering: asyncio.Task[None] | None = None

    async def read(self, mark: str, *, initial: str = "", is_prompt: bool = False) -> str | None:
        """Give the next line; text to edit is shown above it, for it cannot be put into it."""
        if initial:
            self._display.note(initial, style="")
        request = LineRequest(mark, is_prompt)
        self._requests.append(request)
        if self._first is request:
            self._display.ask(mark)
        if self._delivering is None:
            self._delivering = asyncio.create_task(self._deliver())
        try:
            line = await request.line
        except asyncio.CancelledError:
            if self._stdin.is_terminal and self._first is request:
                self._display.echo("", "")  # What comes next does not stand behind the mark, or its ^C.
            raise
        finally:
            if request in self._requests:
                self._requests.remove(request)
        if not self._stdin.is_terminal or line is None:
            # A pipe is not echoed by a terminal, and a transcript should show it. The mark is there already.
            # Nor is the end of the input, as by Ctrl-D: what comes next begins a line of its own.
            self._display.echo("", line or "")
        self.redraw()
        return line

    async def _deliver(self) -> None:
        try:
            while self._requests:
                line = await self._stdin.line()
                if (request := self._first) is None:
                    if line is not None:
                        self._stdin.type(line)
                    return
                self._requests.remove(request)
                if not request.line.done():
                    request.line.set_result(line)
                await asyncio.sleep(0)  # Whoever got it may ask for the next one.
        finally:
            self._delivering = None

    @property
    def _first(self) -> LineRequest | None:
        return first_request(self._requests)

    def clear(self) -> bool:
        """Do nothing: the terminal itself has what is typed."""
        return False

    def redraw(self) -> None:
        """Show the mark of whoever waits."""
        if self._first is not None:
            self._display.ask(self._first.mark)

    def restore(self) -> None:
        """Do nothing: the terminal is as it was found."""

    def close(self) -> None:
        """Stop reading."""
        self._stdin.close()
