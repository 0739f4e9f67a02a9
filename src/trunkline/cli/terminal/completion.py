"""Completions of the line editor, made of what the chat suggests."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from trunkline.cli.terminal.suggestions import Suggestion


class SuggestionCompleter(Completer):
    """Offers the suggestions for the text before the cursor."""

    def __init__(self, suggest: Callable[[str], list[Suggestion]]) -> None:
        self._suggest = suggest

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Give the completions; a word that is complete already is no news."""
        before = document.text_before_cursor
        for one in self._suggest(before):
            if not before.endswith(one.text):
                yield Completion(one.text, -one.replaces, display_meta=one.about)
