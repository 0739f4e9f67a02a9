"""Answers ``fs/read_text_file`` and ``fs/write_text_file`` by the session's files.

Those are the editor's own where our front end is an editor that offers them, else the sandboxed workspace.
Both ask the policy, keep to the session's folders and refuse protected files.
"""

from __future__ import annotations

from typing import Any

from trunkline.agents.acp.requests.request_params import check_absolute, missing_files, read_params
from trunkline.agents.acp.requests.request_turn import RequestTurn
from trunkline.protocols.acp import wire


class FileRequests:
    """Reads and writes files for the agent."""

    def __init__(self, scope: RequestTurn) -> None:
        self._scope = scope

    async def read(self, params: Any) -> dict[str, Any]:
        """Give a file's text, or some lines of it."""
        wanted = read_params(wire.ReadTextFileRequest, params)
        check_absolute("path", wanted.path)
        with missing_files(wanted.path):
            text = await self._scope.view.files.read(wanted.path, line=wanted.line, limit=wanted.limit)
        return {"content": text}

    async def write(self, params: Any) -> dict[str, Any]:
        """Write a file as a whole; not in a turn that was cancelled."""
        wanted = read_params(wire.WriteTextFileRequest, params)
        check_absolute("path", wanted.path)
        self._scope.check_not_cancelled()
        await self._scope.view.files.write(wanted.path, wanted.content)
        return {}
