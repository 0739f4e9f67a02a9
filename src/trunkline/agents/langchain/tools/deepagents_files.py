"""Where the files of deepagents' file tools are on this machine.

These tools name paths in a backend: below a virtual root (``FilesystemBackend(virtual_mode=True)``), behind a
route (``CompositeBackend``), or in no folder at all (``StateBackend``). deepagents need not be installed, so
its classes are recognised by name.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any, cast

from trunkline.tools.call_files import CallFiles
from trunkline.tools.folder_reader import folder_reader


def call_files_of(middleware: Iterable[Any], folders: Iterable[str | None]) -> CallFiles:
    """Know the files of an agent's calls, by the backends of its file tools and the session's folders."""
    backends = {
        str(tool.name): one.backend
        for one in middleware
        if _is_deepagents(one, "FilesystemMiddleware") and hasattr(one, "backend")
        for tool in getattr(one, "tools", ())
    }

    def disk_path(tool: str, path: str) -> str | None:
        return _disk_path(backends[tool], path) if tool in backends else path

    roots = [root for backend in backends.values() for root in _roots(backend)]
    return CallFiles(folder_reader([*folders, *roots]), disk_path)


def _is_deepagents(value: Any, name: str) -> bool:
    return any(
        kind.__name__ == name and kind.__module__.partition(".")[0] == "deepagents"
        for kind in type(value).__mro__
    )


def _roots(backend: Any) -> Iterator[str]:
    """The folders that a backend keeps its files in."""
    if _is_deepagents(backend, "CompositeBackend"):
        for part in (backend.default, *(part for _, part in _routes(backend))):
            yield from _roots(part)
    elif _is_deepagents(backend, "FilesystemBackend"):
        yield str(backend.cwd)


def _routes(backend: Any) -> list[tuple[str, Any]]:
    """The routes of a backend, the longest first, as CompositeBackend itself tries them."""
    routes = cast("dict[str, Any]", backend.routes)
    return sorted(routes.items(), key=lambda route: -len(route[0]))


def _disk_path(backend: Any, path: str) -> str | None:
    """Where a path of a backend is on this machine; None if it is on no disk, or the backend refuses it."""
    if _is_deepagents(backend, "CompositeBackend"):
        for prefix, part in _routes(backend):
            folder = prefix.rstrip("/")
            if path == folder or path.startswith(f"{folder}/"):
                return _disk_path(part, path[len(folder) :] or "/")
        return _disk_path(backend.default, path)
    if not _is_deepagents(backend, "FilesystemBackend"):
        return None
    root = str(backend.cwd)
    if not backend.virtual_mode:
        return os.path.normpath(os.path.join(root, path))
    if ".." in path or path.startswith("~"):
        return None
    below = os.path.normpath(os.path.join(root, path.lstrip("/")))
    real, top = os.path.realpath(below), os.path.realpath(root)
    return below if os.path.commonpath((real, top)) == top else None
