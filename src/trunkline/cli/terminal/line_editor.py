"""The line editor of a chat: an input line that stays at the bottom while everything else is printed above.

It is a prompt_toolkit application for as long as the chat lasts: keys are never echoed by the terminal, and a
line can be typed while an agent works.
"""

from __future__ import annotations

import asyncio
import termios
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TextIO

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import Completer, ThreadedCompleter
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import ANSI, StyleAndTextTuples, to_formatted_text
from prompt_toolkit.history import History
from prompt_toolkit.input.typeahead import clear_typeahead
from prompt_toolkit.layout import (
    ConditionalContainer,
    Float,
    FloatContainer,
    HSplit,
    Layout,
    VerticalAlign,
    Window,
)
from prompt_toolkit.layout.controls import BufferControl, FormattedTextControl
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.layout.menus import CompletionsMenu
from prompt_toolkit.output import create_output
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.styles import Style
from prompt_toolkit.widgets import SearchToolbar

from trunkline.cli.signals import hang_up
from trunkline.cli.terminal.blocked_loop import InterruptKey
from trunkline.cli.terminal.editor_keys import editor_keys
from trunkline.cli.terminal.line_input import LineRequest, first_request, wait_for_pause
from trunkline.cli.terminal.live_area import LiveArea

_MENU_ROWS = 8
_TICK = 0.1
_MOST_TYPED_AHEAD = 64
_PAUSE = 0.7
"""Seconds without a key after which a question may take the keyboard from a line that is being typed."""
_STYLE = Style.from_dict(
    {
        "mark": "bold ansicyan",
        "completion-menu": "noinherit",
        "completion-menu.completion": "noinherit",
        "completion-menu.completion.current": "reverse",
        "completion-menu.meta.completion": "noinherit italic",
        "completion-menu.meta.completion.current": "reverse",
        "scrollbar.background": "noinherit",
        "scrollbar.button": "reverse",
    }
)


class LineEditor:
    """Reads lines at the bottom of a terminal; use it as an async context manager."""

    stays_open = True

    def __init__(
        self,
        stdout: TextIO,
        live: LiveArea,
        *,
        history: History,
        completer: Completer,
        echo: Callable[[str, str], None],
        on_interrupt: Callable[[], None],
    ) -> None:
        """Prepare; ``echo`` prints a line that was sent, ``on_interrupt`` is called for Ctrl-C."""
        self._stdout = stdout
        self._live = live
        self._echo = echo
        self._requests: list[LineRequest] = []
        self._typed_ahead: deque[str] = deque()
        self._closed = False
        self._later: list[str] = []
        self._held: list[str] | None = None  # What to print while another program has the terminal.
        self._prompt = Buffer(
            multiline=True,
            history=history,
            completer=ThreadedCompleter(completer),
            complete_while_typing=Condition(self._completes),
            accept_handler=self._accept,
            name="prompt",
        )
        self._answer = Buffer(multiline=True, accept_handler=self._accept, name="answer")
        self._output = create_output(stdout)
        if isinstance(self._output, Vt100_Output):
            # Nothing here needs to know the row of the cursor, and not every terminal answers.
            self._output.enable_cpr = False
        self._saved = termios.tcgetattr(0)
        self._interrupt_key = InterruptKey()
        self._app: Application[None] = Application(
            layout=self._layout(),
            key_bindings=editor_keys(on_interrupt, self.close, self._leave_to_program),
            style=_STYLE,
            erase_when_done=True,
            output=self._output,
        )
        self._tasks: list[asyncio.Task[Any]] = []
        self._thread = threading.get_ident()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def __aenter__(self) -> LineEditor:
        """Take the terminal."""
        self._loop = asyncio.get_running_loop()
        self._interrupt_key.start()
        running = asyncio.create_task(self._run(), name="trunkline line editor")
        self._tasks = [running, asyncio.create_task(self._tick(), name="trunkline spinner")]
        return self

    async def __aexit__(self, *_: object) -> None:
        """Give the terminal back."""
        self._interrupt_key.close()
        self.close()
        self._write_later()
        if self._app.is_running:
            self._app.exit()
        else:
            self._tasks[0].cancel()  # It has not begun, or has ended.
        self._tasks[1].cancel()
        await asyncio.wait(self._tasks)

    async def _run(self) -> None:
        hung_up = False
        try:
            await self._app.run_async(handle_sigint=False, set_exception_handler=False)
        except EOFError:
            # The terminal is gone. An end of the input would answer a question: who is told closes us.
            hung_up = hang_up()
        finally:
            if not hung_up:
                self.close()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(_TICK)
            self._interrupt_key.beat()
            if self._live.moves:
                self._app.invalidate()

    # -- reading --

    async def read(self, mark: str, *, initial: str = "", is_prompt: bool = False) -> str | None:
        """Give the next line; a question does not get what was typed before it was shown."""
        if is_prompt and self._typed_ahead:
            return self._typed_ahead.popleft()
        if not is_prompt:
            await wait_for_pause(lambda: "" if self._closed or self._is_answer else self._prompt.text, _PAUSE)
        if self._closed:
            return None
        request = LineRequest(mark, is_prompt)
        if not is_prompt:
            clear_typeahead(self._app.input)
            self._answer.reset()
        if initial:
            buffer = self._prompt if is_prompt else self._answer
            buffer.text = initial
            buffer.cursor_position = len(initial)
        self._requests.append(request)
        self._focus()
        try:
            return await request.line
        finally:
            if request in self._requests:
                self._requests.remove(request)
            self._focus()

    def close(self) -> None:
        """Stop reading; whoever waits for a line gets None."""
        self._closed = True
        for request in self._requests:
            if not request.line.done():
                request.line.set_result(None)

    def _accept(self, buffer: Buffer) -> bool:
        if self._closed:
            return False  # Keys that came with the one that ended the input.
        # What is not UTF-8 comes as halves of characters, which nothing could store.
        line = buffer.text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        request = self._first
        if request is None:
            if line.strip() and len(self._typed_ahead) < _MOST_TYPED_AHEAD:
                self._echo(self._mark, line)
                self._typed_ahead.append(line)
            return False
        if line.strip() or not request.is_prompt:
            self._echo(request.mark, line)
            self._requests.remove(request)
            request.line.set_result(line)
        return False

    def clear(self) -> bool:
        """Throw away what is typed; False if there is nothing."""
        buffer = self._app.current_buffer
        had = bool(buffer.text)
        buffer.reset()
        return had

    @property
    def _first(self) -> LineRequest | None:
        return first_request(self._requests)

    @property
    def _mark(self) -> str:
        return self._first.mark if self._first is not None else "> "

    @property
    def _is_answer(self) -> bool:
        return self._first is not None and not self._first.is_prompt

    def _focus(self) -> None:
        self._app.layout.focus(self._answer if self._is_answer else self._prompt)
        self._app.invalidate()

    def _completes(self) -> bool:
        text = self._prompt.document.text_before_cursor
        return text.startswith("/") or text.rpartition(" ")[2].startswith("@")

    # -- printing --

    def write(self, text: str, after: float = 0.0) -> None:
        """Print whole lines above the input line, so many seconds later; other threads may print too."""
        if self._loop is not None and threading.get_ident() != self._thread:
            with suppress(RuntimeError):  # The loop is closed: the chat is over.
                self._loop.call_soon_threadsafe(self.write, text, after)
        elif self._loop is not None and after:
            self._later.append(text)
            self._loop.call_later(after, self._write_later)
        elif self._held is not None:
            self._held.append(text)
        elif self._app.is_running:
            self._app.renderer.erase()
            self._output.write_raw(text)
            self._output.flush()
            self._app.invalidate()
        else:
            self._stdout.write(text)
            self._stdout.flush()

    def redraw(self) -> None:
        """Do nothing: the input line is always there."""

    def _write_later(self) -> None:
        later, self._later = self._later, []
        if later:
            self.write("".join(later))

    def restore(self) -> None:
        """Leave the terminal as it was found, at once: the process is about to end."""
        if self._app.is_running:
            self._app.renderer.erase()
        with suppress(termios.error):
            termios.tcsetattr(0, termios.TCSANOW, self._saved)

    def _leave_to_program(self, program: asyncio.Task[None]) -> None:
        """Hold back what is printed until a program that has the terminal has ended."""
        self._held = []

        def write_held(_: object) -> None:
            held, self._held = self._held or [], None
            if held:
                self.write("".join(held))

        program.add_done_callback(write_held)

    # -- layout --

    def _layout(self) -> Layout:
        search = SearchToolbar()
        is_answer = Condition(lambda: self._is_answer)
        prompt = self._input_window(self._prompt, search)
        answer = self._input_window(self._answer, None)
        live = Window(FormattedTextControl(self._live_text), dont_extend_height=True, wrap_lines=False)
        body = HSplit(
            [
                ConditionalContainer(live, Condition(lambda: bool(self._live_lines()))),
                ConditionalContainer(answer, is_answer),
                ConditionalContainer(prompt, ~is_answer),
                search,
            ],
            align=VerticalAlign.TOP,
        )
        menu = Float(CompletionsMenu(max_height=_MENU_ROWS, scroll_offset=1), xcursor=True, ycursor=True)
        return Layout(FloatContainer(body, [menu]), focused_element=self._prompt)

    def _input_window(self, buffer: Buffer, search: SearchToolbar | None) -> Window:
        def prefix(line: int, wrapped: int) -> StyleAndTextTuples:
            return [("class:mark", self._mark if line == wrapped == 0 else " " * len(self._mark))]

        def height() -> Dimension:
            # The menu needs rows below the line, and only this makes sure that there are some.
            free = self._output.get_size().rows - len(self._live_lines())
            return Dimension(
                min=max(min(_MENU_ROWS + 1, free), 1) if buffer.complete_state is not None else 1
            )

        control = BufferControl(
            buffer, search_buffer_control=search.control if search else None, preview_search=True
        )
        return Window(
            control, get_line_prefix=prefix, height=height, wrap_lines=True, dont_extend_height=True
        )

    def _live_lines(self) -> list[str]:
        return self._live.lines(max(self._output.get_size().rows // 2, 3))

    def _live_text(self) -> StyleAndTextTuples:
        return to_formatted_text(ANSI("\n".join(self._live_lines())))


class PrintedAbove:
    """A stream whose whole lines are printed above the input line of an editor."""

    def __init__(self, stream: TextIO, after: float = 0.0) -> None:
        """Print to ``stream`` by its editor, so many seconds later."""
        self.editor: LineEditor | None = None
        self._after = after
        self.encoding = stream.encoding
        self._stream = stream
        self._line = ""
        self._lock = threading.Lock()

    def write(self, text: str) -> int:
        """Print what ends with a line end; the rest waits for its own."""
        if self.editor is None:
            return self._stream.write(text)
        with self._lock:
            whole, end, rest = (self._line + text).rpartition("\n")
            self._line = rest
        if end:
            self.editor.write(whole + end, self._after)
        return len(text)

    def flush(self) -> None:
        """Flush the stream; half a line waits for its end."""
        if self.editor is None:
            self._stream.flush()

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """Give the stream's descriptor: the size of the terminal is asked for by it."""
        return self._stream.fileno()
