"""The page: its files at ``/`` and ``/assets/``, and ``/page`` for who it is and what is served.

The files need no token, as they are the same for everybody. What the page may load and do is said by its
headers: only what this server sends, no script or style inside the document, and no frame around it.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from trunkline._version import __version__
from trunkline.server.agents import ServedAgent, ServedAgents
from trunkline.server.errors import HttpError, refusal_of
from trunkline.server.responses import json_response
from trunkline.server.security.tokens import ALL_SCOPES, access_of
from trunkline.session.hub import Hub

OPEN_PATHS = ("/", "/assets/")
"""Paths that need no token."""
PAGE_PATHS = ("/",)
"""Paths that a link on any page may open."""

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "media-src 'self' data: blob:; font-src 'self'; connect-src 'self'; frame-ancestors 'none'; "
    "base-uri 'none'; form-action 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    # The browser asks each time whether it has the newest, and is answered with 304.
    "cache-control": "no-cache",
}
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
}
_NOT_BUILT = b"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Trunkline</title></head><body>
<h1>Trunkline</h1>
<p>The server works, but its page is not in this installation.</p>
<p>In a clone of the repository, run <code>scripts/build-page</code> and start the server again.
Otherwise install the package again: <code>pip install --force-reinstall 'trunkline[server]'</code></p>
</body></html>
"""


class PageFile(NamedTuple):
    """A file as it is sent."""

    data: bytes
    media_type: str
    etag: str


class PageFiles:
    """The routes of the page's files; they are read when the first one is asked for."""

    def __init__(self, folder: Traversable | None = None) -> None:
        """Serve the files of a folder: those of the package."""
        self._folder = folder or resources.files("trunkline.server") / "page"
        self._files: dict[str, PageFile] | None = None

    def routes(self) -> Sequence[BaseRoute]:
        """Give the addresses."""
        return [
            Route("/", self.index, methods=["GET"]),
            Route("/assets/{path:path}", self.asset, methods=["GET"]),
        ]

    async def index(self, request: Request) -> Response:
        """Give the page; without its build, one that says what to do."""
        found = self._find("index.html")
        if found is None:
            return Response(_NOT_BUILT, 503, headers=_HEADERS, media_type="text/html; charset=utf-8")
        return _respond(request, found)

    async def asset(self, request: Request) -> Response:
        """Give a file of the page."""
        found = self._find(f"assets/{request.path_params['path']}")
        if found is None:
            raise HttpError(404, "not_found", "the page has no such file: load the page again")
        return _respond(request, found)

    def _find(self, name: str) -> PageFile | None:
        """Give a file by its name in the folder; no other file can be named."""
        if self._files is None:
            self._files = dict(_read(self._folder, ""))
        return self._files.get(name)


def _read(folder: Traversable, path: str) -> list[tuple[str, PageFile]]:
    """Read the files of a folder and those below it."""
    found: list[tuple[str, PageFile]] = []
    for entry in folder.iterdir() if folder.is_dir() else ():
        if entry.is_dir():
            found += _read(entry, f"{path}{entry.name}/")
            continue
        data = entry.read_bytes()
        suffix = "." + entry.name.rpartition(".")[2]
        media_type = _TYPES.get(suffix, "application/octet-stream")
        found.append((path + entry.name, PageFile(data, media_type, hashlib.sha256(data).hexdigest()[:32])))
    return found


def _respond(request: Request, file: PageFile) -> Response:
    etag = f'"{file.etag}"'
    headers = {**_HEADERS, "etag": etag}
    known = [one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")]
    if etag in known or "*" in known:
        return Response(status_code=304, headers=headers)
    return Response(file.data, headers=headers, media_type=file.media_type)


class PageRoutes:
    """The route from which the page learns who it is and what is served."""

    def __init__(self, agents: ServedAgents, *, has_login: bool = True) -> None:
        """Describe agents; without a login of ours the page does not offer to log out."""
        self._agents = agents
        self._has_login = has_login
        self._preparing: dict[str, asyncio.Task[None]] = {}
        agents.before_close.append(self._close)

    def routes(self) -> Sequence[BaseRoute]:
        """Give the address."""
        return [Route("/page", self.page, methods=["GET"])]

    async def page(self, request: Request) -> Response:
        """Say who the page is, what it may do and which agents are served."""
        access = access_of(request.scope)
        limits = self._agents.limits
        found = {
            "version": __version__,
            "principal": access.principal,
            "scopes": [scope for scope in sorted(ALL_SCOPES) if scope in access.scopes],
            "login": self._has_login,
            "agents": _tell_apart(await asyncio.gather(*map(self._describe, self._agents.by_name.values()))),
            "limits": {"body_bytes": limits.body_bytes, "keep_alive_seconds": limits.keep_alive_seconds},
        }
        return json_response(found)

    async def _describe(self, served: ServedAgent) -> dict[str, Any]:
        """Describe an agent; one that does not say in time what it is has a placeholder, and is not ready."""
        hub = await self._agents.hub(served.name)
        ready, failure = await self._prepare(served.name, hub)
        card = served.agent.card
        prompt = card.prompt
        return {
            "name": served.name,
            "title": card.title or served.name,
            "description": card.description,
            "commands": card.commands,
            "options": card.options,
            "prompt": {"image": prompt.image, "audio": prompt.audio, "embedded": prompt.embedded_context},
            "ready": ready,
            "error": failure,
        }

    async def _prepare(self, name: str, hub: Hub) -> tuple[bool, str | None]:
        """Wait a while for an agent's real card; give whether it is there, and what went wrong."""
        task = self._preparing.get(name)
        if task is None:
            task = asyncio.create_task(hub.prepare_agent(), name=f"trunkline prepares {name}")
            self._preparing[name] = task
        await asyncio.wait({task}, timeout=self._agents.limits.open_seconds)
        if not task.done():
            return False, None
        # One that failed is asked again with the next request.
        self._preparing.pop(name, None)
        error = task.exception()
        if error is None:
            return True, None
        return False, refusal_of(error if isinstance(error, Exception) else Exception()).message

    async def _close(self) -> None:
        tasks = list(self._preparing.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _tell_apart(agents: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
    """Add their names to the titles that several agents have."""
    titles = Counter(agent["title"] for agent in agents)
    return [
        {**agent, "title": f"{agent['title']} ({agent['name']})"} if titles[agent["title"]] > 1 else agent
        for agent in agents
    ]
