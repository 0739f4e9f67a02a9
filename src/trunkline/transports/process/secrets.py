"""The secrets of this process, and how they are kept from the processes that it starts.

A child of the same user can read ``/proc/PID/environ``, ``cmdline`` and the memory of its parent.
So a token is read once, and its letters are overwritten where the system shows them; then the kernel is
told that no process without privileges may look into this process. Python alone cannot do either: what
``os.environ`` forgets still stands in the block that the process was started with.
"""

from __future__ import annotations

import functools
import os
import re
import sys
from contextlib import suppress
from pathlib import Path

_OURS = re.compile(r"TRUNKLINE_(?:\w+_)?(?:TOKENS?|SECRETS?|KEYS?|PASSWORDS?)", re.IGNORECASE)
_PR_SET_DUMPABLE = 4

_held: dict[str, str] = {}


def close_process() -> None:
    """Take our secrets out of the environment and let no other process look for them."""
    for name in [name for name in os.environ if _OURS.fullmatch(name)]:
        take_secret(name)
    forbid_inspection()


def take_secret(name: str) -> str | None:
    """Give the secret in a variable, which is gone from the environment once it was asked for."""
    given = os.environ.get(name)
    if given is not None:
        _held[name] = given
        _erase_variable(name, given)
        del os.environ[name]
    return _held.get(name)


@functools.cache
def forbid_inspection() -> bool:
    """Forbid other processes of this user to read our memory and environment; whether the system could.

    Linux: "PR_SET_DUMPABLE ... processes that are not dumpable can not be attached via ptrace(2)
    PTRACE_ATTACH", and the files in ``/proc/PID`` belong to root
    (https://man7.org/linux/man-pages/man2/PR_SET_DUMPABLE.2const.html). It also means no core dumps.
    What we start is not affected: a new program is dumpable again.
    """
    if sys.platform != "linux":
        return False
    import ctypes

    return ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) == 0


def erase_argument(value: str) -> None:
    """Overwrite a word of the command line, which ``ps`` shows to everybody; Linux only."""
    with suppress(OSError, ValueError, IndexError):
        fields = Path("/proc/self/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        start, end = int(fields[45]), int(fields[46])  # arg_start and arg_end, proc_pid_stat(5)
        import ctypes

        shown = ctypes.string_at(start, end - start) if end > start > 0 else b""
        for found in re.finditer(rb"(?<![^\0=])" + re.escape(os.fsencode(value)) + rb"(?=\0)", shown):
            ctypes.memset(start + found.start(), ord("*"), len(found[0]))


def _erase_variable(name: str, value: str) -> None:
    """Overwrite a variable where the process was given it."""
    import ctypes

    getenv = ctypes.CDLL(None).getenv
    getenv.argtypes, getenv.restype = [ctypes.c_char_p], ctypes.c_void_p
    address = getenv(os.fsencode(name))
    # C code that changed it behind Python's back made another one, which is not ours to overwrite.
    if address and ctypes.string_at(address) == os.fsencode(value):
        ctypes.memset(address, 0, len(os.fsencode(value)))
