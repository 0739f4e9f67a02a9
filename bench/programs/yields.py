"""Our agent: it yields as many times as its prompt says."""

from __future__ import annotations

from collections.abc import AsyncIterator

import trunkline
from trunkline import Prompt


@trunkline.agent
async def yields(prompt: Prompt) -> AsyncIterator[str]:
    for _ in range(int(prompt.text)):
        yield "x"
