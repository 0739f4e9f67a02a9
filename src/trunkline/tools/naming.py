"""The kind of a tool, the title of a call and the files it names, by name, annotations and arguments."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, Protocol, TypeGuard, cast, get_args

from trunkline import events as ev
from trunkline.questions import Coverage, Option
from trunkline.safe_text import one_line
from trunkline.workspace.call_paths import openable_paths
from trunkline.workspace.diffs import PATH_KEYS


class Declared(Protocol):
    """What the author of a tool says of it."""

    @property
    def kind(self) -> ev.ToolKind:
        """What kind of tool it is."""
        ...

    @property
    def always_covers_tool(self) -> bool:
        """Whether "always" is for every call of it."""
        ...

    def title_of(self, arguments: Any) -> str:
        """The title of a call."""
        ...

    def locations_of(self, arguments: Any) -> tuple[ev.Location, ...]:
        """The files that a call works on."""
        ...

    def buttons(self, covers: Coverage | None) -> tuple[Option, ...]:
        """The options of its permission."""
        ...


KindMapper = Callable[[str], ev.ToolKind | None]

_KINDS = frozenset(get_args(ev.ToolKind))
_HARMLESS: frozenset[ev.ToolKind] = frozenset({"read", "search", "fetch", "think"})
_CHANGING: frozenset[ev.ToolKind] = frozenset({"edit", "delete", "move", "execute"})
_PATTERNS: dict[ev.ToolKind, str] = {
    "read": "read* get* list* ls cat view check_async_task",
    "search": "search* find* grep* glob*",
    "edit": "write* create* update* edit* insert* append* str_replace* find_and_replace* apply_patch*",
    "delete": "delete* remove*",
    "move": "move* rename*",
    "execute": "run* exec* execute* command* shell* bash* code_interpreter* code_execution*",
    "think": "think* reason* analyze* write_todos task",
    "fetch": "fetch* get*url* download*",
}
"""Common verbs, and the names that LangChain, deepagents and the model providers give their tools."""
_LONGEST_FIRST: list[tuple[str, ev.ToolKind]] = sorted(
    ((pattern, kind) for kind, patterns in _PATTERNS.items() for pattern in patterns.split()),
    key=lambda row: -len(row[0].replace("*", "")),
)
"""The most specific pattern first: the one with the most letters."""
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")

_VERBS = {"ls": "List", "cat": "Read", "glob": "Find", "grep": "Search for", "write_todos": "Update the plan"}
_SUBJECT_KEYS = ("query", "pattern", "url")
_OTHER_KEYS = ("description", "name", "title")
_LINE_KEYS = ("line", "line_number", "start_line", "line_start")
_TITLE_LENGTH = 80
_LOCATIONS = 100


def kind_of(
    name: str, annotations: Mapping[str, Any] | None = None, mapper: KindMapper | None = None
) -> ev.ToolKind:
    """Say what kind of tool this is: the mapper first, then MCP's hints, then the name."""
    chosen = mapper(name) if mapper is not None else None
    if chosen in _KINDS:
        return cast("ev.ToolKind", chosen)
    named = _by_name(name)
    hints = annotations or {}
    if hints.get("readOnlyHint") is True:
        return named if named in _HARMLESS else "read"
    if hints.get("readOnlyHint") is False or hints.get("destructiveHint") is True:
        # The server says that it changes something: a harmless name does not make it harmless.
        return named if named in _CHANGING else "edit"
    return named


def cautious_kind(name: str) -> ev.ToolKind:
    """Say what kind of tool this is where nothing but its name is known: a harmless name proves nothing."""
    named = _by_name(name)
    return named if named in _CHANGING else "other"


@lru_cache(maxsize=1024)
def _by_name(name: str) -> ev.ToolKind:
    """Match the whole name, else its later words: the first word may be a server's name."""
    words = [word.lower() for word in _WORD.split(name.rpartition("__")[2]) if word]
    for pattern, kind in _LONGEST_FIRST:
        if fnmatchcase("_".join(words), pattern):
            return kind
    later = ["_".join(words[start:]) for start in range(1, len(words))]
    verbs = [row for row in _LONGEST_FIRST if row[0].endswith("*")]
    found = [row for rest in later for row in verbs if fnmatchcase(rest, row[0])]
    # Further in, a word that changes something counts more than one that does not.
    for _, kind in sorted(found, key=lambda row: row[1] not in _CHANGING):
        return kind
    return "other"


# -- titles ----------------------------------------------------------------------------------------


def title_of(name: str, args: Any, annotations: Mapping[str, Any] | None = None) -> str:
    """Give a call a title that a person understands; MCP's own title when there is one."""
    verb = str((annotations or {}).get("title") or _VERBS.get(name) or _spaced(name))
    if not isinstance(args, dict):
        return _short(verb)
    given = {key: text for key, text in cast("dict[str, Any]", args).items() if _is_text(text)}
    path = next((given[key] for key in PATH_KEYS if key in given), None)
    if name == "task" and "subagent_type" in given:
        return _short(f"{given['subagent_type'].capitalize()}: {given.get('description', 'at work')}")
    if "command" in given and _by_name(name) == "execute":
        return _short(f"Run {given['command']}")
    subject = next((given[key] for key in _SUBJECT_KEYS if key in given), None)
    if subject is not None:
        return _short(f"{verb} {subject}" + (f" in {path}" if path else ""))
    if path is not None:
        return _short(f"{verb.removesuffix(' file')} {path}")
    return _short(" ".join([verb, *(given[key] for key in _OTHER_KEYS if key in given)][:2]))


def _is_text(value: Any) -> TypeGuard[str]:
    return isinstance(value, str) and bool(value.strip())


@lru_cache(maxsize=1024)
def _spaced(name: str) -> str:
    server, apart, tool = name.rpartition("__")
    words = " ".join(word.lower() for word in _WORD.split(tool) if word).capitalize() or name
    return f"{server}: {words}" if apart and server else words


def _short(title: str) -> str:
    # The first line alone would hide what a command does after it.
    return one_line(title, _TITLE_LENGTH)


# -- files ----------------------------------------------------------------------------------------


def locations_of(args: Any) -> tuple[ev.Location, ...]:
    """Find the files a call works on, and the line where its arguments name one."""
    if not isinstance(args, dict):
        return ()
    given = cast("dict[str, Any]", args)
    paths = dict.fromkeys(openable_paths(given))
    line = _line_of(given) if paths else None
    return tuple(ev.Location(path=path, line=line) for path in paths)[:_LOCATIONS]


def _line_of(given: dict[str, Any]) -> int | None:
    for key in _LINE_KEYS:
        if (line := _as_line(given.get(key))) is not None:
            return line
    shown: Any = given.get("view_range")
    if isinstance(shown, list) and shown:
        return _as_line(cast("list[Any]", shown)[0])
    # An offset counts the lines that are left out.
    skipped = _as_line(given.get("offset"))
    return None if skipped is None else skipped + 1


def _as_line(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
