"""An agent that messages for a running turn reach."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from trunkline.agents.interface import AgentCard
from trunkline.commands import Prompt
from trunkline.session.context import TurnContext


class Taking:
    """An agent that takes a message at once, and goes on when it has one."""

    card = AgentCard(name="taking")

    def __init__(self) -> None:
        self.taken: asyncio.Queue[str] = asyncio.Queue()
        self.props: list[dict[str, Any]] = []

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        self.props.append(prompt.forwarded)
        yield f"began {prompt.text}. "
        if prompt.text == "first":
            yield f"also {await self.taken.get()}"

    async def steer(self, session: Any, prompt: Prompt) -> bool:
        self.taken.put_nowait(prompt.text)
        return True
