"""Where the files of a call are on this machine, and what a call is about to overwrite.

deepagents' file tools speak of paths in a backend: below a virtual root, behind a route, or in no folder at
all. Clients open paths, so they are told the real one; what is in no folder is shown as text.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Iterator
from typing import Any, cast

from msgspec.structs import replace

from trunkline import events as ev
from trunkline.content import Content, DiffBlock, TextBlock
from trunkline.errors import WorkspaceError
from trunkline.tools.diffs import diff_of
from trunkline.tools.naming import locations_of, paths_of
from trunkline.workspace import Files

__all__ = ["CallFiles"]

_MOST_OLD = 1 << 20
"""How long the text of a file may be that is shown as overwritten."""


class CallFiles:
    """Places and changes of an agent's calls, in one session."""

    def __init__(self, middleware: Iterable[Any] = (), folders: Iterable[str | None] = ()) -> None:
        """Know the backends of deepagents' file tools, and the session's folders."""
        self._backends = {
            str(tool.name): one.backend
            for one in middleware
            if _is_a(one, "deepagents", "FilesystemMiddleware") and hasattr(one, "backend")
            for tool in getattr(one, "tools", ())
        }
        # Only what the agent itself may read is shown: never a file whose path somebody made it name.
        roots = {*folders, *(root for backend in self._backends.values() for root in _roots(backend))}
        self._files = [files for root in roots if root and (files := _open(root)) is not None]

    def locations(self, tool: str, args: Any) -> tuple[ev.Location, ...]:
        """The files a call works on; none for what is on no disk of ours."""
        found = ((self._place(tool, one.path), one) for one in locations_of(args))
        return tuple(replace(one, path=path) for path, one in found if path is not None)

    def paths(self, tool: str, args: Any) -> list[str]:
        """Every path that a call names, and where each is on this machine: a policy judges both."""
        named = paths_of(args)
        placed = [self._place(tool, path) for path in named if "\0" not in path]
        return list(dict.fromkeys([*named, *(path for path in placed if path is not None)]))

    def changes(self, tool: str, args: Any) -> tuple[Content, ...]:
        """What a call changes in files, with the old text of those that it overwrites."""
        return tuple(
            self._change(tool, block) if isinstance(block, DiffBlock) else block
            for block in diff_of(tool, args)
        )

    def _change(self, tool: str, block: DiffBlock) -> Content:
        path = self._place(tool, block.path)
        if path is None:
            return TextBlock(text=_in_words(block))
        old = self._text(path) if block.old is None else block.old
        return replace(block, path=path, old=old)

    def _place(self, tool: str, path: str) -> str | None:
        backend = self._backends.get(tool)
        return path if backend is None else _on_disk(backend, path)

    def _text(self, path: str) -> str | None:
        for files in self._files:
            try:
                return files.read_now(path)
            except WorkspaceError:
                continue
        return None


def _is_a(thing: Any, package: str, name: str) -> bool:
    """Whether something is of a class of deepagents, which need not be installed."""
    return any(
        kind.__name__ == name and kind.__module__.partition(".")[0] == package for kind in type(thing).__mro__
    )


def _open(root: str) -> Files | None:
    try:
        return Files([root], max_bytes=_MOST_OLD)
    except WorkspaceError:
        return None


def _roots(backend: Any) -> Iterator[str]:
    """The folders that a backend keeps its files in."""
    if _is_a(backend, "deepagents", "CompositeBackend"):
        for part in (backend.default, *(part for _, part in _routes(backend))):
            yield from _roots(part)
    elif _is_a(backend, "deepagents", "FilesystemBackend"):
        yield str(backend.cwd)


def _routes(backend: Any) -> list[tuple[str, Any]]:
    """The routes of a backend, the longest first: that one counts."""
    routes = cast("dict[str, Any]", backend.routes)
    return sorted(routes.items(), key=lambda route: -len(route[0]))


def _on_disk(backend: Any, path: str) -> str | None:
    """Where a path of a backend is on this machine; None if it is nowhere, or the backend refuses it."""
    if _is_a(backend, "deepagents", "CompositeBackend"):
        for prefix, part in _routes(backend):
            folder = prefix.rstrip("/")
            if path == folder or path.startswith(f"{folder}/"):
                return _on_disk(part, path[len(folder) :] or "/")
        return _on_disk(backend.default, path)
    if not _is_a(backend, "deepagents", "FilesystemBackend"):
        return None
    root = str(backend.cwd)
    if not backend.virtual_mode:
        return os.path.normpath(os.path.join(root, path))
    if ".." in path or path.startswith("~"):
        return None
    placed = os.path.normpath(os.path.join(root, path.lstrip("/")))
    real, top = os.path.realpath(placed), os.path.realpath(root)
    return placed if os.path.commonpath((real, top)) == top else None


def _in_words(block: DiffBlock) -> str:
    old, new = (block.old or "").splitlines(), (block.new or "").splitlines()
    lines = list(difflib.unified_diff(old, new, block.path, block.path, lineterm="", n=10_000))
    return "\n".join(["```diff", *(lines or [block.path]), "```"])
