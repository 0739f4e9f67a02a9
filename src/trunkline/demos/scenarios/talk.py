"""Scenarios that talk: text, thoughts, media, sources, and turns that take their time."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator

from trunkline import events as ev
from trunkline.agents.interface import Sayable
from trunkline.content import AudioBlock, ImageBlock, LinkBlock, ResourceBlock
from trunkline.session.context import TurnContext

_MOST_PIECES = 1_000_000
_MOST_STEPS = 10_000
_LONGEST_STEP = 60.0

_ANSWER = """\
# A short answer

Trunkline carries **text** in small pieces, with `code`, lists and every alphabet:

- naïve café, Καλημέρα, 你好, 🚀
- a second item

```python
print("hello")
```
"""

# One red pixel, and eight samples of silence.
_PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC"
_WAV = "UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA=="


def split_words(line: str) -> Iterator[str]:
    """Cut text into words, each with the space that follows it, as a model would say them."""
    return (match[0] for match in re.finditer(r"\S+\s*|\s+", line))


async def text(ctx: TurnContext, argument: str) -> AsyncIterator[Sayable]:
    """Answer in markdown, word by word."""
    for word in split_words(_ANSWER):
        yield word


async def thoughts(ctx: TurnContext, argument: str) -> AsyncIterator[Sayable]:
    """Think aloud before answering."""
    for word in split_words("The question is simple. An example will do."):
        yield ev.Thought(message_id=ctx.message_id, delta=word)
    yield ev.Thought(message_id=ctx.message_id, signature="demo-signature")
    for word in split_words("I thought about it, and this is the answer."):
        yield word


async def media(ctx: TurnContext, argument: str) -> AsyncIterator[Sayable]:
    """Answer with an image, a sound, a link and a document."""
    yield "An image, "
    yield ImageBlock(mime_type="image/png", data=_PNG)
    yield "a sound, "
    yield AudioBlock(mime_type="audio/wav", data=_WAV)
    yield "a link "
    yield LinkBlock(uri="https://example.com/guide", name="guide", title="The guide", mime_type="text/html")
    yield "and a document."
    yield ResourceBlock(uri="file:///demo/notes.md", text="# Notes\n\nOne line.\n", mime_type="text/markdown")


async def sources(ctx: TurnContext, argument: str) -> AsyncIterator[Sayable]:
    """Answer with the sources it rests on."""
    yield "Water boils at 100 °C at sea level."
    yield ev.Source(
        message_id=ctx.message_id, source_id="1", url="https://example.com/water", title="On water"
    )
    yield ev.Source(
        message_id=ctx.message_id,
        source_id="2",
        document="physics.pdf",
        title="A physics book",
        mime_type="application/pdf",
    )


async def long(ctx: TurnContext, argument: str) -> AsyncIterator[Sayable]:
    """Say very many pieces as fast as possible."""
    count = _number(argument, 20_000, _MOST_PIECES)
    for number in range(1, count + 1):
        yield f"{number} "


async def slow(ctx: TurnContext, argument: str) -> AsyncIterator[Sayable]:
    """Work in small steps, with a pause between them."""
    count, _, pause = argument.partition(" ")
    steps, seconds = _number(count, 20, _MOST_STEPS), _seconds(pause, 0.1)
    for number in range(1, steps + 1):
        step_id = f"step{number}"
        yield ev.StepStarted(step_id=step_id, name=f"Step {number} of {steps}")
        await asyncio.sleep(seconds)
        yield f"step {number} "
        yield ev.StepFinished(step_id=step_id)


async def wait_for_cancel(ctx: TurnContext, argument: str) -> AsyncIterator[Sayable]:
    """Begin something and wait until the turn is cancelled."""
    yield "Waiting until somebody cancels this turn."
    cleanups: list[str] = ctx.session.memory.setdefault("cleanups", [])
    try:
        async with ctx.tool("wait", title="Wait for cancel", kind="other"):
            await asyncio.Event().wait()
    finally:
        cleanups.append(ctx.turn_id)


def _number(text: str, default: int, most: int) -> int:
    """Read a count; what is none means the default."""
    return min(int(text), most) if text.isdecimal() else default


def _seconds(text: str, default: float) -> float:
    try:
        return min(max(float(text), 0.0), _LONGEST_STEP)
    except ValueError:
        return default
