"""Variables that say only which agent runs a command: they do not change what the command does."""

from __future__ import annotations

import re
from collections.abc import Mapping

# Agents mark the commands that they run by these, and ask for plain output. Only such values count: a TERM
# may name a file, a PAGER is a program.
_MARKS = {
    "CLAUDECODE": "1",
    "GEMINI_CLI": "1",
    "QWEN_CODE": "1",
    "TERM": r"[\w+-]+",
    "COLORTERM": r"[\w-]*",
    "NO_COLOR": r"\w*",
    "FORCE_COLOR": r"\w*",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
}


def without_marks(env: Mapping[str, str]) -> dict[str, str]:
    """Give the variables that a policy must know of."""
    return {
        name: value
        for name, value in env.items()
        if name not in _MARKS or not re.fullmatch(_MARKS[name], value, re.ASCII)
    }
