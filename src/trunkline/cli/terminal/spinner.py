"""A sign of life on a terminal while something takes its time before a chat or an answer can begin."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def shown_waiting(text: str) -> Generator[None]:
    """Show a spinner with a text on stderr, if that is a terminal; it is gone afterwards."""
    if not sys.stderr.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        yield
        return
    from rich.console import Console

    with Console(stderr=True, highlight=False, markup=False, emoji=False).status(text, spinner="dots"):
        yield
