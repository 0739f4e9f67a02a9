"""Talks until it is killed, turn after turn, and prints every event in the moment it is seen live.

It also prints what it gives to its journal, and what the journal says it has.
"""

import asyncio
import os
import random
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from itertools import count

import msgspec

from trunkline import events as ev
from trunkline.agents.function import agent
from trunkline.commands import Answer, Prompt
from trunkline.journal import Lease, Record
from trunkline.journal.sqlite import SqliteJournal
from trunkline.session.context import TurnContext
from trunkline.session.hub import Hub
from trunkline.session.session import Session
from trunkline.session.settings import Settings

SETTINGS = Settings(lease_ttl=0.4, suspend_after=0.02, poll_busy=0.02, busy="queue")


class Printed(msgspec.Struct, frozen=True, tag=True):
    """A line of the talker: an event, its place, and when it was printed."""

    at: float
    cursor: str
    event: ev.AnyEvent


class Handed(msgspec.Struct, frozen=True, tag=True):
    """A line of the talker: its journal was given everything up to a record."""

    last_seq: int


class Kept(msgspec.Struct, frozen=True, tag=True):
    """A line of the talker: its journal has everything up to a record."""

    last_seq: int


def tell(line: Printed | Handed | Kept) -> None:
    """Print a line at once."""
    os.write(1, msgspec.json.encode(line) + b"\n")


class ToldJournal(SqliteJournal):
    """A journal that tells what it is given and what it has."""

    def append(
        self, lease: Lease, records: Sequence[Record], *, durable: bool = False
    ) -> asyncio.Future[None]:
        written = super().append(lease, records, durable=durable)
        if records:
            last_seq = records[-1].seq
            tell(Handed(last_seq))
            written.add_done_callback(lambda done: done.exception() or tell(Kept(last_seq)))
        return written


async def say_text(ctx: TurnContext, rng: random.Random) -> None:
    for number in range(rng.randint(5, 60)):
        ctx.emit(f"wörd {number} ")
        await asyncio.sleep(rng.choice((0, 0, 0.001, 0.004)))


async def think(ctx: TurnContext, rng: random.Random) -> None:
    for number in range(rng.randint(1, 20)):
        ctx.emit(ev.Thought(message_id=ctx.message_id, delta=f"hm {number} "))
        await asyncio.sleep(rng.choice((0, 0.001)))
    if rng.random() < 0.5:
        ctx.emit(ev.Thought(message_id=ctx.message_id, signature="sealed"))


async def use_tool(ctx: TurnContext, rng: random.Random) -> None:
    async with ctx.tool("search", input={"query": "x"}, kind="search") as call:
        hits = rng.randint(1, 6)
        for number in range(hits):
            call.output(f"hit {number}\n")
            await asyncio.sleep(0.001)
        call.result({"hits": hits})


async def type_arguments(ctx: TurnContext, rng: random.Random) -> None:
    call_id = ctx.start_call("write", kind="edit")
    for number in range(rng.randint(1, 20)):
        ctx.emit(ev.ToolInput(call_id=call_id, delta=f"[{number},"))
        await asyncio.sleep(0)
    ctx.emit(ev.ToolUpdate(call_id=call_id, status="in_progress"))
    await asyncio.sleep(rng.choice((0, 0.005)))
    ctx.emit(ev.ToolUpdate(call_id=call_id, status=rng.choice(("completed", "failed"))))


async def ask(ctx: TurnContext, rng: random.Random) -> None:
    decision = await ctx.permission("May I?", tool="write_file", input={"path": "a"}, kind="edit")
    ctx.emit(f"allowed: {decision.allowed} ")


async def plan(ctx: TurnContext, rng: random.Random) -> None:
    ctx.plan([f"step {number}" for number in range(rng.randint(1, 5))])
    ctx.state.update(round=rng.random())


async def delegate(ctx: TurnContext, rng: random.Random) -> None:
    lane = f"{ctx.turn_id}.lane{rng.random()}"
    ctx.emit(ev.SubagentStarted(lane=lane, name="helper"))
    for number in range(rng.randint(1, 20)):
        ctx.emit(ev.Text(lane=lane, message_id=lane, delta=f"sub {number} "))
        await asyncio.sleep(0)
    ctx.emit(ev.SubagentFinished(lane=lane))


Act = Callable[[TurnContext, random.Random], Awaitable[None]]
ACTS: tuple[Act, ...] = (say_text, say_text, think, use_tool, type_arguments, ask, plan, delegate)


@agent(name="talker")
async def talker(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
    rng = random.Random(prompt.text)
    for act in rng.choices(ACTS, k=rng.randint(2, 6)):
        await act(ctx, rng)
        yield "next "


async def talk(session: Session, seed: str) -> None:
    rounds, tasks = count(), set[asyncio.Task[object]]()

    def begin(work: Awaitable[object]) -> None:
        tasks.add(asyncio.ensure_future(work))

    async with session.follow() as reader:
        for _ in range(2):
            # One runs, the other waits in the queue.
            begin(session.prompt(f"{seed} {next(rounds)}"))
        async for entry in reader:
            event = entry.event
            tell(Printed(time.time(), str(entry.cursor), event))
            if isinstance(event, ev.Asked):
                answer = Answer(question_id=event.question_id, option_id="allow_once", by="talker")
                begin(session.answer(answer))
            elif isinstance(event, ev.TurnFinished):
                begin(session.prompt(f"{seed} {next(rounds)}"))


async def main(path: str, session_id: str, seed: str) -> None:
    journal = ToldJournal(path)
    await journal.open()
    async with Hub(talker, journal, settings=SETTINGS) as hub:
        await talk(await hub.session(session_id), seed)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
