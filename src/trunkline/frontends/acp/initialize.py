"""The answer to ``initialize``, made of an agent's card, and the cache of cards.

It needs the card only, as plain values, and imports nothing else: an editor starts us for every
session and waits for this answer. The card of a TARGET is kept in a cache under the hash of its
file, so that the answer need not wait for the agent's own imports.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any, cast

import orjson

from trunkline._version import __version__

PROTOCOL_VERSION = 1


def initialize_result(card: dict[str, Any], client: dict[str, Any]) -> dict[str, Any]:
    """Answer ``initialize``: version 1, what the trunk guarantees, and what the card says.

    ``client`` are the client's capabilities: a login in a terminal is offered only to those who can.
    """
    prompt = card.get("prompt", {})
    servers = card.get("mcp", {})
    methods = card.get("auth_methods", ())
    capabilities: dict[str, Any] = {
        "loadSession": True,
        "promptCapabilities": {
            "image": bool(prompt.get("image", False)),
            "audio": bool(prompt.get("audio", False)),
            "embeddedContext": bool(prompt.get("embedded_context", True)),
        },
        "mcpCapabilities": {"http": bool(servers.get("http")), "sse": bool(servers.get("sse"))},
        "sessionCapabilities": {
            name: {} for name in ("additionalDirectories", "close", "delete", "fork", "list", "resume")
        },
    }
    if methods:
        capabilities["auth"] = {"logout": {}}
    # "If the Agent supports the requested version, it MUST respond with the same version. Otherwise, the
    # Agent MUST respond with the latest version it supports."
    # (https://agentclientprotocol.com/protocol/v1/initialization#version-negotiation)
    return {
        "protocolVersion": PROTOCOL_VERSION,
        "agentCapabilities": capabilities,
        "authMethods": [_method(m) for m in methods if _usable(m, client)],
        "agentInfo": {
            "name": card.get("name", "agent"),
            "title": card.get("title") or card.get("name", "agent"),
            "version": card.get("version", "0"),
        },
    }


def _usable(method: dict[str, Any], client: dict[str, Any]) -> bool:
    if method.get("kind", "agent") != "terminal":
        return True
    auth: Any = client.get("auth")
    return isinstance(auth, dict) and cast("dict[str, Any]", auth).get("terminal") is True


def _method(method: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {"id": method["method_id"], "name": method["name"]}
    about = [str(method["description"])] if method.get("description") else []
    if variables := method.get("variables"):
        # ACP v1 has no such way of its own, so that a person reads what to do.
        about.append(f"Set {', '.join(variables)} in the environment of the agent, and start it again.")
    if about:
        made["description"] = " ".join(about)
    if method.get("kind", "agent") == "terminal":
        made |= {"type": "terminal", "args": method.get("args", []), "env": method.get("env", {})}
    return made


class CardCache:
    """Keeps the card of a TARGET for as long as its file and our version stay the same."""

    def __init__(self, target: str, folder: Path | None = None) -> None:
        """Look at the TARGET's file, if it has one."""
        self._path = (folder or _folder()) / f"{_digest(target)}.json"

    def load(self) -> dict[str, Any] | None:
        """The card, if it is known."""
        try:
            card: Any = orjson.loads(self._path.read_bytes())
        except (OSError, orjson.JSONDecodeError):
            return None
        return cast("dict[str, Any]", card) if isinstance(card, dict) and "name" in card else None

    def store(self, card: dict[str, Any]) -> None:
        """Remember the card; a folder that cannot be written only costs time."""
        data = orjson.dumps(card)
        try:
            if self._path.exists() and self._path.read_bytes() == data:
                return
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            partial = self._path.with_suffix(f".{os.getpid()}")
            partial.write_bytes(data)
            partial.replace(self._path)
        except OSError:
            return


def _folder() -> Path:
    # platformdirs would say the same, at five times the price of this line on every start.
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "trunkline" / "cards"


def _find_program(command_line: str) -> str | None:
    """Name the program of a command line as it is installed now: an upgrade gives it another name."""
    # shutil.which would say the same, at the price of an import on every start.
    parts = command_line.split(maxsplit=1)
    for folder in os.get_exec_path() if parts else ():
        path = os.path.join(folder, parts[0])
        if os.path.isfile(path) and os.access(path, os.X_OK):
            found = os.stat(path)
            return f"{os.path.realpath(path)}\0{found.st_mtime_ns}\0{found.st_size}"
    return None


def _digest(target: str) -> str:
    """Name a TARGET's card: the same target, the same file or program, the same version of ours."""
    digest = hashlib.sha256(f"{__version__}\0{target}\0{os.getcwd()}\0".encode())
    if program := _find_program(target.partition(":")[2]):
        digest.update(program.encode())
    path = target.rpartition(":")[0]
    if path.endswith(".py"):
        try:
            digest.update(Path(path).read_bytes())
        except OSError:
            return digest.hexdigest()
    return digest.hexdigest()
