"""An agent on the official Python SDK: says a prompt back, and asks for a permission when it is told to."""

import asyncio
import importlib
from typing import Any

# The environment this file is checked in does not have it.
acp: Any = importlib.import_module("acp")
schema: Any = importlib.import_module("acp.schema")


class Echo:
    """Knows its sessions only as long as it runs."""

    def __init__(self) -> None:
        self.connection: Any = None

    def on_connect(self, connection: Any) -> None:
        self.connection = connection

    async def initialize(self, protocol_version: int, **_: Any) -> Any:
        return schema.InitializeResponse(
            protocol_version=protocol_version, agent_capabilities=schema.AgentCapabilities(load_session=False)
        )

    async def new_session(self, cwd: str, **_: Any) -> Any:
        return schema.NewSessionResponse(session_id="only")

    async def cancel(self, session_id: str, **_: Any) -> None: ...

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> Any:
        text = " ".join(block.text for block in prompt if block.type == "text")
        await self.connection.session_update(session_id, acp.start_tool_call("call", "Echo", kind="think"))
        if "ask" in text:
            options = [
                schema.PermissionOption(option_id="yes", name="Yes", kind="allow_once"),
                schema.PermissionOption(option_id="no", name="No", kind="reject_once"),
            ]
            answer = await self.connection.request_permission(
                session_id=session_id, tool_call=schema.ToolCallUpdate(tool_call_id="call"), options=options
            )
            text += f": {getattr(answer.outcome, 'option_id', 'cancelled')}"
        await self.connection.session_update(session_id, acp.update_tool_call("call", status="completed"))
        for word in text.split():
            await self.connection.session_update(session_id, acp.update_agent_message_text(f"{word} "))
        return schema.PromptResponse(stop_reason="end_turn")


asyncio.run(acp.run_agent(Echo()))
