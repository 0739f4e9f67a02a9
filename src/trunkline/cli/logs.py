"""Logs of a command: a line on stderr for what went wrong, and where in the agent it was."""

from __future__ import annotations

import logging
import os
import sysconfig
import traceback

import trunkline
from trunkline.safe_text import escape

_SWITCH = "TRUNKLINE_TRACEBACK"
_LIBRARIES = (sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
_FOREIGN = ("<", *_LIBRARIES, os.path.dirname(trunkline.__file__))


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
        if frame := _place(error):
            line += f" ({frame.filename}, line {frame.lineno}; {_SWITCH}=1 shows the traceback)"
        return escape(line)


def _place(error: BaseException) -> traceback.FrameSummary | None:
    """Give where the agent's own code was, not what it called of Python, of packages or of ours."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith(_FOREIGN)]
    return (own or frames or [None])[-1]


class _AccessLines(logging.Formatter):
    """Lines with what a client sent, which must not steer the terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return escape(super().format(record))


def show_logs(*, shows_failures: bool = False) -> None:
    """Show warnings and errors of this process as lines on stderr.

    With ``shows_failures`` the error of a failed turn is left out: the command shows it by itself.
    """
    handler = logging.StreamHandler()
    handler.setLevel(logging.WARNING)
    handler.setFormatter(_Lines(shows_failures=shows_failures))
    logging.getLogger("trunkline").addHandler(handler)
    logging.getLogger("trunkline").propagate = False


def show_access_log() -> None:
    """Show a line on stderr for each request that the server answered."""
    handler = logging.StreamHandler()
    handler.setFormatter(_AccessLines("%(asctime)s %(message)s", "%H:%M:%S"))
    log = logging.getLogger("trunkline.access")
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False
