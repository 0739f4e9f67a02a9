"""Growth: what a prompt costs in a thread of 10, 1,000 and 10,000 turns.

A thread of one-word turns lies in a journal, with the snapshots that its last owner left. A fresh process
opens it, as after a restart, and runs one word in it, and then another: over AG-UI by a page that has the
whole thread, by one that has only its new message (and is told the whole thread), and over ACP. ``read`` is
what it takes to decode the request, ``start`` the time from there to RUN_STARTED, ``token`` that to the first
token (ACP: to the answer of the prompt), ``stall`` the longest time for which the loop did nothing else.
Last, a session of 100,000 records is opened that has no snapshot.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from bench.machine import in_fresh_process
from bench.report import Result, Row, median
from trunkline import events as ev
from trunkline.agents.function import agent
from trunkline.commands import Prompt
from trunkline.content import TextBlock
from trunkline.frontends.agui.decoder import read_input
from trunkline.frontends.agui.endpoint import AguiEndpoint
from trunkline.journal import Journal, Lease, Record, SessionInfo, SessionKey, open_journal
from trunkline.protocols.agui import wire
from trunkline.session.hub import Hub
from trunkline.testing.acp import AcpEditor

SIZES = (10, 1_000, 10_000)
QUICK_SIZES = (5, 50)
JOURNALS = ("memory", "sqlite")
KEY = SessionKey("local", "thread")
RECORDS_PER_TURN = 6
ACP, WHOLE, LEAN, OPEN = "ACP prompt", "AG-UI, whole history", "AG-UI, new message only", "open, no snapshot"

Times = dict[str, float]


async def _one_word(prompt: Prompt) -> AsyncIterator[ev.Event]:
    yield ev.Text(message_id=f"a-{prompt.message_id}", delta="word")


def story(turns: int) -> Iterator[ev.AnyEvent]:
    """One-word turns as runs leave them behind."""
    for number in range(turns):
        turn_id, seq = f"turn_{number:024}", number * RECORDS_PER_TURN + 1
        run = f"run_{number:024}"
        yield ev.TurnStarted(turn_id=turn_id, prompt_id=f"prompt_{number:024}", run_id=run)
        yield ev.UserMessage(turn_id=turn_id, message_id=f"u{number}", content=(TextBlock(text="Next?"),))
        yield ev.RunOpened(turn_id=turn_id, run_id=run, front_end="agui", from_seq=seq)
        yield ev.Text(turn_id=turn_id, message_id=f"a-u{number}", delta="word")
        yield ev.TurnFinished(turn_id=turn_id)
        yield ev.RunClosed(turn_id=turn_id, run_id=run, to_seq=seq + 4)


def history(turns: int) -> list[dict[str, str]]:
    """The messages of a page that has all of it."""
    output: list[dict[str, str]] = []
    for number in range(turns):
        output.append({"id": f"u{number}", "role": "user", "content": "Next?"})
        output.append({"id": f"a-u{number}", "role": "assistant", "content": "word"})
    return output


async def write(journal: Journal, turns: int) -> None:
    """Fill the thread through the journal's own append."""
    await journal.create(SessionInfo(principal=KEY.principal, session_id=KEY.session_id))
    lease = await journal.claim(KEY, "bench", 600)
    assert isinstance(lease, Lease)
    events = list(story(turns))
    for first in range(0, len(events), 10_000):
        await journal.append(
            lease,
            [
                Record(seq=seq, at=float(seq), fence=lease.fence, event=event)
                for seq, event in enumerate(events[first : first + 10_000], first + 1)
            ],
        )
    await journal.release(lease)


async def leave_snapshots(journal: Journal, turns: int) -> None:
    """Run one more turn, as the last owner of the thread did, and close it."""
    async with Hub(agent(_one_word), journal) as hub:
        session = await hub.session(KEY.session_id)
        async for _ in session.stream(Prompt.of("Next?", message_id=f"u{turns}")):
            pass
        await session.snapshots.written()


class Stall:
    """Notes the longest time for which the loop did nothing else."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Stall:
        self._task = asyncio.create_task(self._watch())
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task is not None
        await asyncio.sleep(0.002)  # It must see what came last.
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _watch(self) -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0.001)
            self.longest = max(self.longest, time.perf_counter() - before - 0.001)


async def run_agui(hub: Hub, messages: list[dict[str, str]], number: int) -> Times:
    """Run one word and say when it began and when it came."""
    asked = {"id": f"u{number}", "role": "user", "content": "Next?"}
    body = {"threadId": KEY.session_id, "runId": f"r{number}", "messages": [*messages, asked]}
    sent = json.dumps(body | {"tools": [], "context": [], "state": None, "forwardedProps": {}}).encode()
    times: Times = {}
    async with Stall() as stall:
        came = time.perf_counter()
        output = read_input(sent)
        began = time.perf_counter()
        times["read"] = began - came
        run = await AguiEndpoint(hub).open(output)
        async for _, batch in run:
            for event in batch:
                if isinstance(event, wire.RunStarted):
                    times["start"] = time.perf_counter() - began
                elif isinstance(event, wire.TextMessageContent) and "token" not in times:
                    times["token"] = time.perf_counter() - began
        await run.close()
    return times | {"stall": stall.longest}


async def measure_agui(journal: Journal, turns: int, *, lean: bool) -> dict[str, Times]:
    """Run one word after a restart, and another one."""
    found: dict[str, Times] = {}
    async with Hub(agent(_one_word), journal) as hub:
        for case in ("first", "later"):
            found[case] = await run_agui(hub, [] if lean else history(turns), turns)
            turns += 1
    return found


async def measure_acp(journal: Journal, turns: int) -> dict[str, Times]:
    """Take a session up after a restart and prompt it, and prompt it again."""
    found: dict[str, Times] = {}
    async with AcpEditor(_one_word, journal=journal) as client:
        for case in ("first", "later"):
            async with Stall() as stall:
                began = time.perf_counter()
                if case == "first":
                    await client.request(
                        "session/resume", {"sessionId": KEY.session_id, "cwd": "/", "mcpServers": []}
                    )
                await client.prompt(KEY.session_id, "Next?")
                spent = time.perf_counter() - began
            found[case] = {"token": spent, "stall": stall.longest}
    return found


async def measure_open(journal: Journal) -> dict[str, Times]:
    """Open a session that has no snapshot."""
    async with Hub(agent(_one_word), journal) as hub, Stall() as stall:
        began = time.perf_counter()
        await hub.session(KEY.session_id)
        spent = time.perf_counter() - began
    return {"first": {"token": spent, "stall": stall.longest}}


async def measure(way: str, url: str, turns: int) -> dict[str, Times]:
    """Measure one way, after what is done only once in a process was done on a small thread."""
    if way not in ("prepare", "write"):
        await _measure(way, "memory:", 2)
    return await _measure(way, url, turns)


async def _measure(way: str, url: str, turns: int) -> dict[str, Times]:
    """Measure one way; a journal in memory is filled here, since it does not outlive its process."""
    journal = await open_journal(url)
    if url == "memory:":
        await write(journal, turns)
        if way != OPEN:
            await leave_snapshots(journal, turns)
    try:
        if way == "prepare":
            await write(journal, turns)
            await leave_snapshots(journal, turns)
            return {}
        if way == "write":
            await write(journal, turns)
            return {}
        if way == OPEN:
            return await measure_open(journal)
        if way == ACP:
            return await measure_acp(journal, turns + 1)
        return await measure_agui(journal, turns + 1, lean=way == LEAN)
    finally:
        await journal.close()


def _cases(
    journals: tuple[str, ...], sizes: tuple[int, ...], repetitions: int
) -> dict[tuple[str, str, int], list[dict[str, Any]]]:
    """Measure everything, each in a process of its own."""
    found: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for name in journals:
        for turns in sizes:
            for way in (WHOLE, LEAN, ACP):
                for _ in range(repetitions):
                    with tempfile.TemporaryDirectory() as folder:
                        url = "memory:" if name == "memory" else f"sqlite:{Path(folder) / 'bench.db'}"
                        if name == "sqlite":
                            in_fresh_process("bench.growth", "prepare", url, str(turns))
                        one = in_fresh_process("bench.growth", way, url, str(turns))
                        found.setdefault((way, name, turns), []).append(one)
    return found


def run(quick: bool = False) -> Result:
    """Measure threads of growing length, and say how much slower the longest is than the shortest."""
    sizes, journals = (QUICK_SIZES, ("sqlite",)) if quick else (SIZES, JOURNALS)
    measured = _cases(journals, sizes, 1 if quick else 3)
    rows: list[Row] = []
    samples: dict[str, list[Any]] = {}
    verdicts: list[str] = []
    shortest: dict[tuple[str, str, str], float] = {}
    for (way, name, turns), runs in measured.items():
        samples[f"{way}, {name}, {turns}"] = runs
        for case in runs[0]:
            token = median(one[case]["token"] for one in runs)
            base = shortest.setdefault((way, name, case), token)
            starts = [one[case]["start"] for one in runs if "start" in one[case]]
            rows.append(
                {
                    "case": way,
                    "run": case,
                    "journal": name,
                    "turns": turns,
                    "read ms": median(one[case]["read"] for one in runs) * 1e3 if starts else None,
                    "start ms": median(starts) * 1e3 if starts else None,
                    "token ms": token * 1e3,
                    "x of shortest": token / base,
                    "stall ms": max(one[case]["stall"] for one in runs) * 1e3,
                }
            )
            if turns == sizes[-1]:
                times = f"{token / base:.1f} times of {sizes[0]}"
                verdicts.append(
                    f"{way}, {case} run, {name}: the first token of {turns:,} turns takes {times}"
                )
    turns = (1_200 if quick else 100_000) // RECORDS_PER_TURN
    for name in journals:
        with tempfile.TemporaryDirectory() as folder:
            url = "memory:" if name == "memory" else f"sqlite:{Path(folder) / 'bench.db'}"
            if name == "sqlite":
                in_fresh_process("bench.growth", "write", url, str(turns))
            one = in_fresh_process("bench.growth", OPEN, url, str(turns))
        samples[f"{OPEN}, {name}"] = [one]
        token, stall = one["first"]["token"], one["first"]["stall"]
        rows.append(
            {
                "case": OPEN,
                "run": "first",
                "journal": name,
                "turns": turns,
                "read ms": None,
                "start ms": None,
                "token ms": token * 1e3,
                "x of shortest": None,
                "stall ms": stall * 1e3,
            }
        )
    return Result(
        name="growth",
        about="a one-word prompt in threads of growing length",
        rows=rows,
        samples=samples,
        verdicts=verdicts,
        quick=quick,
    )


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure(sys.argv[1], sys.argv[2], int(sys.argv[3])))))
