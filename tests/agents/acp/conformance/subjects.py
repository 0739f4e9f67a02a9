"""Our clients, driven through the prompts of the probing agent."""

import asyncio
import sys
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

from tests.agents.acp.conformance.record import Run
from tests.hubs import soon
from trunkline.agents.acp import AcpClient, PermissionRequest

PROGRAM = Path(__file__).parent / "probing_agent.py"


def command(log: Path, *options: str) -> list[str]:
    """The words that start the probing agent."""
    return [sys.executable, "-I", str(PROGRAM), str(log), *options]


async def allow(request: PermissionRequest) -> str:
    """Allow everything once; one permission is never answered, so that it is open when it is cancelled."""
    if request.title == "hold":
        await asyncio.Event().wait()
    return "allow_once"


async def drive_client(folder: Path) -> Run:
    """Drive AcpClient."""
    texts: list[str] = []
    asked = asyncio.Event()

    def take(update: Mapping[str, Any]) -> None:
        if update["sessionUpdate"] == "agent_message_chunk":
            texts.append(update["content"]["text"])
            if texts[-1] == "cancel me":
                asked.set()

    program, *args = command(folder / "log")
    client = AcpClient(program, args, cwd=folder / "work", permission=allow)
    client.set_update_callback(take)
    async with client:
        reasons = [(await soon(client.prompt("probe"))).stop_reason]
        cancelled = asyncio.create_task(client.prompt("cancel"))
        await soon(asked.wait())
        await client.cancel()
        reasons.append((await soon(cancelled)).stop_reason)
        reasons.append((await soon(client.prompt("again"))).stop_reason)
    return Run.read(folder / "log", texts, reasons)


SUBJECTS: dict[str, Callable[[Path], Coroutine[Any, Any, Run]]] = {"AcpClient": drive_client}
