"""How a chat reads and shows: a line editor on a terminal, plain lines on one without abilities, or pipes."""

from __future__ import annotations

import io
import logging
import os
import sys
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, NamedTuple, cast

from trunkline.cli.terminal.display import Display
from trunkline.cli.terminal.line_input import LineInput, PlainInput
from trunkline.cli.terminal.plain_screen import PlainScreen
from trunkline.cli.terminal.stdin_lines import StdinLines
from trunkline.cli.terminal.suggestions import Suggestion

_LOGS_AFTER = 0.1
"""Seconds after which a log line is printed: what the agent said before it comes by another way."""
_UNABLE = ("", "dumb", "unknown")


class Devices(NamedTuple):
    """What reads and what shows."""

    lines: LineInput
    display: Display


@asynccontextmanager
async def open_devices(
    stdin: StdinLines, suggest: Callable[[str], list[Suggestion]], on_interrupt: Callable[[], None]
) -> AsyncGenerator[Devices]:
    """Take stdin and stdout for a chat, each as what it is."""
    if not sys.stdout.isatty():
        plain = PlainScreen()
        with _no_stdin():
            yield Devices(PlainInput(stdin, plain), plain)
    elif stdin.is_terminal and os.environ.get("TERM", "") not in _UNABLE:
        async with _opened_editor(suggest, on_interrupt) as devices:
            yield devices
    else:
        from trunkline.cli.terminal.screen import Screen

        screen = Screen()
        with _no_stdin():
            yield Devices(PlainInput(stdin, screen), screen)


@asynccontextmanager
async def _opened_editor(
    suggest: Callable[[str], list[Suggestion]], on_interrupt: Callable[[], None]
) -> AsyncGenerator[Devices]:
    # Imported only where there is a line to edit.
    from rich.console import Console

    from trunkline.cli.terminal.completion import SuggestionCompleter
    from trunkline.cli.terminal.history_file import HistoryFile
    from trunkline.cli.terminal.line_editor import LineEditor, PrintedAbove
    from trunkline.cli.terminal.live_area import LiveArea
    from trunkline.cli.terminal.screen import Screen

    real, live = sys.stdout, LiveArea()
    out = PrintedAbove(real)
    console = Console(file=cast("Any", out), force_terminal=True, highlight=False, markup=False, emoji=False)
    screen = Screen(console, live)
    editor = LineEditor(
        real,
        live,
        history=HistoryFile(),
        completer=SuggestionCompleter(suggest),
        echo=screen.echo,
        on_interrupt=on_interrupt,
    )
    errors = PrintedAbove(sys.stderr, after=_LOGS_AFTER)
    out.editor = editor
    errors.editor = editor if sys.stderr.isatty() else None
    async with editor:
        with _no_stdin(), _streams(out, errors):
            yield Devices(editor, screen)


class _NoStdin(io.TextIOBase):
    """A stdin for agents: what is typed is the chat's, and an agent that waited for it would hold up both."""

    def readline(self, size: int | None = -1, /) -> Any:
        raise EOFError("a chat reads the keyboard itself: ask with ctx.form(...) or ctx.permission(...)")

    read = readline


@contextmanager
def _no_stdin() -> Generator[None]:
    """Keep code that calls ``input()`` from reading what is typed into the chat."""
    before, sys.stdin = sys.stdin, _NoStdin()
    try:
        yield
    finally:
        sys.stdin = before


@contextmanager
def _streams(out: Any, errors: Any) -> Generator[None]:
    """Let whatever is printed or logged meanwhile go above the input line."""
    before = sys.stdout, sys.stderr
    handlers: list[Any] = [*logging.getLogger("trunkline").handlers]
    handlers = [handler for handler in handlers if getattr(handler, "stream", None) is sys.stderr]
    sys.stdout, sys.stderr = out, errors
    for handler in handlers:
        handler.setStream(errors)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
        for handler in handlers:
            handler.setStream(before[1])
