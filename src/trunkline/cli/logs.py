"""Logs of a command: a line on stderr for what went wrong, and where in the agent it was."""

from __future__ import annotations

import logging
import os
import traceback

from trunkline.safe_text import escape

_SWITCH = "TRUNKLINE_TRACEBACK"


class _Lines(logging.Formatter):
    """One line per record; a whole traceback only when it is asked for."""

    def __init__(self, *, shows_failures: bool) -> None:
        super().__init__()
        self._shows_failures = shows_failures

    def format(self, record: logging.LogRecord) -> str:
        line = f"{record.levelname.lower()}: {record.getMessage()}"
        error = record.exc_info[1] if record.exc_info else None
        if error is None:
            return escape(line)
        if os.environ.get(_SWITCH):
            return escape(f"{line}\n{''.join(traceback.format_exception(error))}".rstrip())
        if not (self._shows_failures and hasattr(record, "failed_turn")):
            line += f": {type(error).__name__}: {error}"
        if frames := traceback.extract_tb(error.__traceback__):
            line += f" ({frames[-1].filename}, line {frames[-1].lineno}; {_SWITCH}=1 shows the traceback)"
        return escape(line)


def show_logs(*, shows_failures: bool = False) -> None:
    """Show warnings and errors of this process as lines on stderr.

    With ``shows_failures`` the error of a failed turn is left out: the command shows it by itself.
    """
    handler = logging.StreamHandler()
    handler.setLevel(logging.WARNING)
    handler.setFormatter(_Lines(shows_failures=shows_failures))
    logging.getLogger("trunkline").addHandler(handler)
    logging.getLogger("trunkline").propagate = False
