"""The environment that a child process gets: what an allow-list names, and never our own secrets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

DEFAULT_ENV_ALLOW: tuple[str, ...] = (
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "TMPDIR",
    "TZ",
)


def scrub(environ: Mapping[str, str], allow: Iterable[str] = DEFAULT_ENV_ALLOW) -> dict[str, str]:
    """Keep the variables whose name fits a pattern; TRUNKLINE_* goes even when ``allow`` is ``*``."""
    patterns = tuple(allow)
    return {
        name: value
        for name, value in environ.items()
        if not name.upper().startswith("TRUNKLINE_")
        and any(fnmatchcase(name, pattern) for pattern in patterns)
    }
