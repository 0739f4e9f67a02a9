"""Plays a plan as a client on the official Python SDK and prints what it saw, as JSON.

It runs in an environment that has the SDK and nothing of ours: ``python drive_client.py < plan > report``.
tests/peers/client_plans.py says what a plan and a report are.
"""

import asyncio
import importlib
import json
import re
import sys
from typing import Any

# The environment this file is checked in does not have it.
acp: Any = importlib.import_module("acp")
schema: Any = importlib.import_module("acp.schema")

METHODS = {
    "authenticate": "authenticate",
    "logout": "logout",
    "session/new": "new_session",
    "session/load": "load_session",
    "session/resume": "resume_session",
    "session/list": "list_sessions",
    "session/fork": "fork_session",
    "session/close": "close_session",
    "session/delete": "delete_session",
    "session/set_mode": "set_session_mode",
    "session/set_config_option": "set_config_option",
    "session/prompt": "prompt",
}


def dump(model: Any) -> Any:
    """Give a model of the SDK as the JSON it stands for."""
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


class Client:
    """A client that does as it is told; its methods are the SDK's."""

    def __init__(self) -> None:
        self.conn: Any = None
        self.heard: list[dict[str, Any]] = []
        self.answers: list[Any] = []
        self.cancel_on: str | None = None
        self.files: dict[str, str] = {}
        self._terminals: dict[str, tuple[asyncio.subprocess.Process, asyncio.Task[bytes]]] = {}
        self._news = asyncio.Event()

    def on_connect(self, conn: Any) -> None:
        self.conn = conn

    async def until(self, kind: str) -> None:
        """Wait for an update of a kind."""
        while not any(kind == item.get("update", {}).get("sessionUpdate") for item in self.heard):
            self._news.clear()
            await self._news.wait()

    async def _hear(self, session_id: str, what: str, **item: Any) -> None:
        self.heard.append({"sessionId": session_id, **item})
        self._news.set()
        if self.cancel_on == what:
            self.cancel_on = None
            await self.conn.cancel(session_id=session_id)

    async def session_update(self, session_id: str, update: Any, **meta: Any) -> None:
        await self._hear(session_id, update.session_update, update=dump(update))

    # -- questions ---------------------------------------------------------------------------------

    async def request_permission(self, session_id: str, tool_call: Any, options: Any, **meta: Any) -> Any:
        method = "session/request_permission"
        shown = {"toolCall": dump(tool_call), "options": [dump(option) for option in options]}
        await self._hear(session_id, method, method=method, params=shown)
        answer = self.answers.pop(0)
        if answer == "cancelled":
            return {"outcome": {"outcome": "cancelled"}}
        return {"outcome": {"outcome": "selected", "optionId": answer}}

    async def create_elicitation(self, message: str, mode: Any, **meta: Any) -> Any:
        shown = {"message": message, **dump(mode)}
        await self._hear(shown.get("sessionId", ""), "elicitation", method="elicitation/create", params=shown)
        return self.answers.pop(0)

    async def complete_elicitation(self, elicitation_id: str, **meta: Any) -> None:
        await self._hear(
            "", "complete", method="elicitation/complete", params={"elicitationId": elicitation_id}
        )

    # -- files and terminals -----------------------------------------------------------------------

    async def read_text_file(self, path: str, session_id: str, **rest: Any) -> Any:
        await self._hear(session_id, "read", method="fs/read_text_file", params={"path": path})
        if path not in self.files:
            raise acp.RequestError(-32002, f"no such file: {path}")
        return {"content": self.files[path]}

    async def write_text_file(self, content: str, path: str, session_id: str, **rest: Any) -> Any:
        await self._hear(session_id, "write", method="fs/write_text_file", params={"path": path})
        self.files[path] = content
        return {}

    async def create_terminal(
        self, command: str, session_id: str, args: Any = None, env: Any = None, cwd: Any = None, **rest: Any
    ) -> Any:
        await self._hear(session_id, "create", method="terminal/create", params={"command": command})
        process = await asyncio.create_subprocess_exec(
            command, *(args or ()), cwd=cwd, stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout is not None
        terminal_id = f"terminal-{len(self._terminals)}"
        self._terminals[terminal_id] = (process, asyncio.create_task(process.stdout.read()))
        return {"terminalId": terminal_id}

    async def wait_for_terminal_exit(self, terminal_id: str, **rest: Any) -> Any:
        process, reading = self._terminals[terminal_id]
        await reading
        return {"exitCode": await process.wait()}

    async def terminal_output(self, terminal_id: str, **rest: Any) -> Any:
        process, reading = self._terminals[terminal_id]
        done = reading.done()
        output = reading.result().decode() if done else ""
        status = {"exitStatus": {"exitCode": process.returncode}} if done else {}
        return {"output": output, "truncated": False, **status}

    async def kill_terminal(self, terminal_id: str, **rest: Any) -> Any:
        self._terminals[terminal_id][0].kill()
        return {}

    async def release_terminal(self, session_id: str, terminal_id: str, **rest: Any) -> Any:
        await self._hear(session_id, "release", method="terminal/release", params={"terminalId": terminal_id})
        return {}


async def carry_out(client: Client, step: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """Do one step and tell what came of it."""
    client.heard, client.answers = [], list(step.get("answers", ()))
    client.cancel_on = step.get("cancelOn")
    method, params = step["call"], {**step["params"]}
    if params.get("sessionId") in names:
        params["sessionId"] = names[params["sessionId"]]
    if method == "session/set_config_option":
        params.pop("type", None)  # The SDK says it by itself.
    output: dict[str, Any] = {}
    try:
        if method.startswith("_"):
            output["result"] = await client.conn.ext_method(method[1:], params)
        else:
            call = getattr(client.conn, METHODS[method], None)
            if call is None:
                return {"missing": METHODS[method], "heard": []}
            result: Any = await call(**{snake(name): value for name, value in params.items()})
            output["result"] = result and dump(result)
    except acp.RequestError as error:
        output["error"] = {"code": error.code, "message": str(error), "data": error.data}
    if "until" in step:
        await client.until(step["until"])
    if "as" in step:
        names[step["as"]] = output["result"]["sessionId"]
    return {**output, "heard": client.heard}


async def play(plan: dict[str, Any]) -> dict[str, Any]:
    client = Client()
    client.files = dict(plan["files"])
    command, *arguments = plan["agent"]
    async with (
        asyncio.timeout(plan["seconds"]),
        acp.spawn_agent_process(
            client,
            command,
            *arguments,
            env=plan["env"],
            cwd=plan["cwd"],
            use_unstable_protocol=True,
            transport_kwargs={"stderr": None},
        ) as (conn, process),
    ):
        greeting = await conn.initialize(
            protocol_version=acp.PROTOCOL_VERSION,
            client_capabilities=schema.ClientCapabilities.model_validate(plan["capabilities"]),
            client_info=schema.Implementation(name="python-sdk", version="0"),
        )
        names: dict[str, str] = {}
        steps = {step["name"]: await carry_out(client, step, names) for step in plan["steps"]}
        if plan.get("kill"):
            process.kill()
    return {"greeting": dump(greeting), "sessions": names, "steps": steps, "files": client.files}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(play(json.load(sys.stdin)))))
