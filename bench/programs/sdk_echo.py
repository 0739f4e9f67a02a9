"""The same agent on the official Python SDK; it runs in an environment that has it."""

from __future__ import annotations

import asyncio
import importlib
from typing import Any

# The environment this file is checked in does not have it.
acp: Any = importlib.import_module("acp")


class Echo:
    def on_connect(self, conn: Any) -> None:
        self._conn = conn

    async def initialize(self, protocol_version: int, **rest: Any) -> Any:
        return acp.InitializeResponse(protocol_version=protocol_version)

    async def new_session(self, cwd: str, **rest: Any) -> Any:
        return acp.NewSessionResponse(session_id="sess_0123456789abcdef0")

    async def prompt(self, session_id: str, prompt: Any, **rest: Any) -> Any:
        for _ in range(int(prompt[0].text)):
            await self._conn.session_update(session_id, acp.update_agent_message_text("x"))
        return acp.PromptResponse(stop_reason="end_turn")


if __name__ == "__main__":
    asyncio.run(acp.run_agent(Echo()))
