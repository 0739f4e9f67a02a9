"""An agent on the official Python SDK: what it is told in a prompt, it asks of its client.

Run by the interpreter of an environment with agent-client-protocol, 0.12 or 1.0; the argument is a folder for
its sessions.
"""

import asyncio
import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

# The environment of our own checks has no SDK.
acp: Any = importlib.import_module("acp")
schema: Any = importlib.import_module("acp.schema")

HOME = Path(sys.argv[1])


class Agent:
    def __init__(self) -> None:
        self.client: Any = None
        self.folders: dict[str, str] = {}
        self.cancelled: dict[str, asyncio.Event] = {}

    def on_connect(self, conn: Any) -> None:
        self.client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> Any:
        return schema.InitializeResponse(
            protocol_version=protocol_version,
            agent_capabilities=schema.AgentCapabilities(load_session=True),
            agent_info=schema.Implementation(name="python-sdk-agent", version="1"),
        )

    async def new_session(self, cwd: str, **_: Any) -> Any:
        session_id = f"session-{len(os.listdir(HOME))}"
        (HOME / session_id).write_text("[]")
        self.folders[session_id] = cwd
        return schema.NewSessionResponse(session_id=session_id)

    async def load_session(self, cwd: str, session_id: str, **_: Any) -> Any:
        path = HOME / session_id
        if not path.exists():
            raise acp.RequestError.resource_not_found(session_id)
        self.folders[session_id] = cwd
        for user, agent in json.loads(path.read_text()):
            await self.update(session_id, schema.UserMessageChunk, "user_message_chunk", user)
            await self.say(session_id, agent)
        return schema.LoadSessionResponse()

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> Any:
        word = prompt[0].text
        text = await self.carry_out(session_id, word)
        if text is None:
            return schema.PromptResponse(stop_reason="cancelled")
        await self.say(session_id, text)
        path = HOME / session_id
        path.write_text(json.dumps([*json.loads(path.read_text()), [word, text]]))
        return schema.PromptResponse(stop_reason="end_turn")

    async def carry_out(self, session_id: str, word: str) -> str | None:
        folder = self.folders[session_id]
        if word == "ask":
            return await self.ask(session_id)
        if word == "files":
            read = await self.client.read_text_file(session_id=session_id, path=f"{folder}/notes.txt")
            await self.client.write_text_file(
                session_id=session_id, path=f"{folder}/copy.txt", content=read.content.upper()
            )
            return read.content
        if word == "terminal":
            made = await self.client.create_terminal(session_id=session_id, command="echo", args=["hi"])
            terminal = {"session_id": session_id, "terminal_id": made.terminal_id}
            await self.client.wait_for_terminal_exit(**terminal)
            output = await self.client.terminal_output(**terminal)
            await self.client.release_terminal(**terminal)
            return output.output
        if word == "slow":
            await self.say(session_id, "waiting")
            event = self.cancelled[session_id] = asyncio.Event()
            await event.wait()
            return None
        return f"You said {word}"

    async def ask(self, session_id: str) -> str:
        call = schema.ToolCallUpdate(tool_call_id="call-1", title="Delete everything", kind="delete")
        options = [
            schema.PermissionOption(option_id="always", name="Always", kind="allow_always"),
            schema.PermissionOption(option_id="once", name="Once", kind="allow_once"),
            schema.PermissionOption(option_id="never", name="No", kind="reject_once"),
        ]
        answer = await self.client.request_permission(session_id=session_id, tool_call=call, options=options)
        return str(getattr(answer.outcome, "option_id", answer.outcome.outcome))

    async def cancel(self, session_id: str, **_: Any) -> None:
        if session_id in self.cancelled:
            self.cancelled[session_id].set()

    async def say(self, session_id: str, text: str) -> None:
        await self.update(session_id, schema.AgentMessageChunk, "agent_message_chunk", text)

    async def update(self, session_id: str, kind: Any, name: str, text: str) -> None:
        content = schema.TextContentBlock(type="text", text=text)
        await self.client.session_update(
            session_id=session_id, update=kind(session_update=name, content=content)
        )


asyncio.run(acp.run_agent(Agent()))
