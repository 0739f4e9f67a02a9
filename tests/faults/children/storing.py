"""An agent that says its prompt, and a hundred thousand letters with it."""

from collections.abc import AsyncIterator

import trunkline
from trunkline.commands import Prompt

LETTERS = 100_000


@trunkline.agent
async def agent(prompt: Prompt) -> AsyncIterator[str]:
    yield prompt.text
    yield "x" * LETTERS
