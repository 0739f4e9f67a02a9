"""The keys of the line editor, besides those of Emacs that prompt_toolkit has already."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from prompt_toolkit.filters import is_searching
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent


def editor_keys(
    interrupt: Callable[[], None],
    end_input: Callable[[], None],
    leave_to_program: Callable[[asyncio.Task[None]], None],
) -> KeyBindings:
    """Give the bindings: Enter, new lines, Ctrl-C, Ctrl-D, Ctrl-Z and the person's own editor."""
    keys = KeyBindings()

    @keys.add("enter", filter=~is_searching)
    def _(event: KeyPressEvent) -> None:
        """Take the completion that is chosen; after a backslash go on with a new line; else send."""
        buffer = event.current_buffer
        chosen = buffer.complete_state is not None and buffer.complete_state.current_completion is not None
        if chosen:
            buffer.complete_state = None
        elif buffer.document.text_before_cursor.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        """Begin a new line."""
        event.current_buffer.insert_text("\n")

    @keys.add("c-c", filter=~is_searching)
    def _(event: KeyPressEvent) -> None:
        interrupt()

    @keys.add("c-d")
    def _(event: KeyPressEvent) -> None:
        """End the input; within a line, delete a character."""
        if event.current_buffer.text:
            event.current_buffer.delete()
        else:
            end_input()

    @keys.add("c-z")
    def _(event: KeyPressEvent) -> None:
        event.app.suspend_to_background()

    @keys.add("c-x", "c-e")
    def _(event: KeyPressEvent) -> None:
        """Edit the text in the program that $VISUAL or $EDITOR names."""
        leave_to_program(event.current_buffer.open_in_editor())

    return keys
