"""Our clients, driven through the prompts of the probing agent."""

import asyncio
import sys
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

from tests.agents.acp.conformance.record import Run
from tests.hubs import hub_for, soon
from trunkline import events as ev
from trunkline.agents.acp import AcpAgent, AcpClient, PermissionRequest
from trunkline.commands import Answer, Prompt
from trunkline.session.session import Session

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


async def drive_agent(folder: Path) -> Run:
    """Drive AcpAgent, as a session of a hub."""
    texts: list[str] = []
    program, *args = command(folder / "log")
    agent = AcpAgent(program, args, cwd=folder / "work", permission=allow)
    async with hub_for(agent) as hub:
        session = await soon(hub.create(cwd=str(folder / "work")))
        reasons = [await _turn(session, text, texts) for text in ("probe", "cancel", "again")]
    return Run.read(folder / "log", texts, reasons)


async def _turn(session: Session, text: str, texts: list[str]) -> str:
    """Send a prompt and take what is said; cancel it when the agent asks for that."""
    async with session.follow() as reader:
        await soon(session.prompt(Prompt.of(text)))
        while True:
            for entry in await soon(reader.next()):
                event = entry.event
                if isinstance(event, ev.Asked):
                    await soon(session.answer(Answer(question_id=event.question_id, outcome="declined")))
                elif isinstance(event, ev.Text):
                    texts.append(event.delta)
                    if event.delta.endswith("cancel me"):
                        await soon(session.cancel())
                elif isinstance(event, ev.TurnFailed):
                    return f"failed: {event.message}"
                elif isinstance(event, ev.TurnFinished):
                    return event.stop_reason


SUBJECTS: dict[str, Callable[[Path], Coroutine[Any, Any, Run]]] = {
    "AcpAgent": drive_agent,
    "AcpClient": drive_client,
}
