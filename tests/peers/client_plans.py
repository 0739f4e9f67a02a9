"""Plans for real clients, and the reports they give.

A plan says which agent to start, what the client can do, and what to call one after the other; a
driver (python/drive_client.py, node/drive_client.mjs) carries it out on its SDK and reports, for every
step, the result or the error and everything that was heard meanwhile: updates and requests, in order.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trunkline import Conversation, fold
from trunkline.journal import SessionKey, open_journal

SECONDS = 50

ABLE: dict[str, Any] = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": True,
    "elicitation": {"form": {}, "url": {}},
    "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
}
"""A client that can do everything."""

Driver = Sequence[str]
JsonObject = dict[str, Any]


class Stage:
    """A folder with a journal, in which clients and agents play."""

    def __init__(self, folder: Path, driver: Driver) -> None:
        self.folder = folder
        self.cwd = folder / "work"
        self.cwd.mkdir()
        self.journal = f"sqlite:{folder / 'journal.db'}"
        self._driver = driver

    @property
    def environment(self) -> dict[str, str]:
        """What an agent and its client start with: nothing of the person's own folders."""
        own = {"TRUNKLINE_JOURNAL": self.journal, "XDG_CACHE_HOME": str(self.folder / "cache")}
        return {**os.environ, **own}

    def play(
        self,
        steps: Sequence[JsonObject],
        *,
        target: str = "demo",
        command: Sequence[str] | None = None,
        capabilities: JsonObject = ABLE,
        files: dict[str, str] | None = None,
        kill: bool = False,
    ) -> JsonObject:
        """Let a client carry out the steps and give its report; ``kill`` ends the agent with SIGKILL then."""
        plan = {
            "agent": command or [sys.executable, "-m", "trunkline", "acp", target],
            "env": self.environment,
            "cwd": str(self.cwd),
            "seconds": SECONDS,
            "capabilities": capabilities,
            "files": files or {},
            "kill": kill,
            "steps": list(steps),
        }
        done = subprocess.run(
            self._driver, input=json.dumps(plan), capture_output=True, text=True, timeout=SECONDS + 5
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def conversation(self, session_id: str) -> Conversation:
        """What the journal holds of a session."""
        return asyncio.run(read_conversation(self.journal, session_id))

    # -- steps -------------------------------------------------------------------------------------

    def new(self, name: str) -> JsonObject:
        """Open a session under a name; later steps use the name as its id."""
        params: JsonObject = {"cwd": str(self.cwd), "mcpServers": []}
        return {"name": f"new {name}", "call": "session/new", "params": params, "as": name}

    def open(self, how: str, name: str, session: str) -> JsonObject:
        """Load, resume or fork a session."""
        params: JsonObject = {"sessionId": session, "cwd": str(self.cwd), "mcpServers": []}
        return {"name": name, "call": f"session/{how}", "params": params}

    def call(self, name: str, method: str, params: JsonObject, **more: Any) -> JsonObject:
        """Call any method; ``until`` says which update the client waits for."""
        return {"name": name, "call": method, "params": params, **more}

    def prompt(self, name: str, session: str, text: str, **more: Any) -> JsonObject:
        """Send a text; ``answers`` and ``cancelOn`` say what the client does meanwhile."""
        params = {"sessionId": session, "prompt": [{"type": "text", "text": text}]}
        return {"name": name, "call": "session/prompt", "params": params, **more}


async def read_conversation(url: str, session_id: str) -> Conversation:
    """What a journal holds of a session."""
    journal = await open_journal(url)
    try:
        records = await journal.read(SessionKey("local", session_id), limit=100_000)
    finally:
        await journal.close()
    return fold(record.event for record in records if record.event is not None)
