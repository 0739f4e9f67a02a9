"""Scenarios of the scripted agent, played by their names."""

import asyncio
from collections.abc import Awaitable, Callable

from trunkline import events as ev
from trunkline.conversation import Conversation
from trunkline.folding import fold
from trunkline.journal.memory import MemoryJournal
from trunkline.session.hub import Hub
from trunkline.testing import Answers, ScriptedAgent, accept_all, run_prompt

ARGUMENTS = {"long": " 25", "slow": " 3 0"}


def is_waiting(event: ev.AnyEvent) -> bool:
    return isinstance(event, ev.ToolUpdate) and event.status == "in_progress"


async def play(name: str) -> list[ev.AnyEvent]:
    cancel_on = is_waiting if name == "wait-for-cancel" else None
    return await run_prompt(ScriptedAgent(), f"/{name}{ARGUMENTS.get(name, '')}", cancel_on=cancel_on)


async def meaning(prompt: str, *, cwd: str | None = None, answers: Answers = accept_all) -> Conversation:
    return fold(await run_prompt(ScriptedAgent(), prompt, cwd=cwd, answers=answers))


def answer_of(folded: Conversation) -> str:
    return "".join(m.text for m in folded.messages if m.role == "agent" and m.lane is None)


async def on_a_hub(
    work: Callable[[Hub, ScriptedAgent], Awaitable[None]], *, authentication: bool = False
) -> None:
    agent, journal = ScriptedAgent(authentication), MemoryJournal()
    await journal.open()
    try:
        async with asyncio.timeout(20), Hub(agent, journal) as hub:
            await work(hub, agent)
    finally:
        await journal.close()
