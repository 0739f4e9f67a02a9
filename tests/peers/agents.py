"""Agents for what the scripted one does not show."""

from __future__ import annotations

from collections.abc import AsyncIterator

import trunkline
from trunkline import Prompt, TurnContext


@trunkline.agent
async def copies(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
    """Copy a file through the editor, and say what is in it."""
    text = await ctx.files.read("notes.txt")
    await ctx.files.write("copy.txt", text)
    yield text
