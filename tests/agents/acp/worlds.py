"""Hubs with a scripted ACP agent behind them, and what was said in their sessions."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from tests.agents.acp.scripted import received, scripted
from tests.hubs import BRISK, collect, hub_for, only, text_of
from trunkline import events as ev
from trunkline.agents.acp.agent import AcpAgent
from trunkline.commands import Prompt
from trunkline.journal import Journal
from trunkline.session.hub import Hub
from trunkline.session.session import Session

# A process takes its time to start, and more of it on a busy machine.
PATIENT = msgspec.structs.replace(BRISK, detach_after=5.0, close_agent_after=20.0, finish_grace=1.0)


class World(NamedTuple):
    """An agent, its hub, and the messages that its processes were sent."""

    agent: AcpAgent
    hub: Hub
    log: Path

    def sent(self, method: str) -> list[dict[str, Any]]:
        """The params of the messages of a method that the agent got."""
        return [one.get("params", {}) for one in received(self.log) if one.get("method") == method]


@asynccontextmanager
async def world(
    folder: Path,
    *options: str,
    journal: Journal | None = None,
    hub: dict[str, Any] | None = None,
    **settings: Any,
) -> AsyncGenerator[World]:
    """A hub for a scripted agent that remembers its sessions in a folder."""
    home, log = folder / "home", folder / "log"
    home.mkdir(exist_ok=True)
    command, args = scripted("--home", str(home), "--log", str(log), *options)
    given: dict[str, Any] = {"cwd": str(folder), **settings}
    agent = AcpAgent(command, args, **given)
    async with hub_for(agent, journal=journal, settings=PATIENT, **(hub or {})) as opened:
        yield World(agent, opened, log)


def notices_of(events: list[Any]) -> list[str]:
    """The titles of the notices."""
    return [notice.title for notice in only(events, ev.Notice)]


async def ask(session: Session, prompt: Prompt | str, **more: Any) -> str:
    """Send a prompt and give the text of the answer."""
    return text_of(await collect(session, prompt, **more))
