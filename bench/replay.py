"""Replay: how the time to read, open, fold and prime grows with the length of a session.

Sessions of growing length lie in one SQLite file. Each is read in a process of its own, in four ways:
``read`` only decodes the records; ``open`` lets a hub open the session, as any process does before it
speaks; ``fold`` makes the conversation; ``prime`` opens it, follows it with a reader and feeds a fresh
encoder, whose words are thrown away. A fold holds the whole conversation; everything else must stay small.
"""

from __future__ import annotations

import asyncio
import json
import math
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.machine import Clock, in_fresh_process, memory
from bench.report import Result, Row
from trunkline import events as ev
from trunkline.agents.function import agent
from trunkline.content import TextBlock
from trunkline.cursor import Entry
from trunkline.folding import Folder
from trunkline.journal import Journal, Lease, Record, SessionInfo, SessionKey, open_journal
from trunkline.session.hub import Hub

SIZES = (1_000, 10_000, 100_000, 1_000_000)
QUICK_SIZES = (200, 1_000)
WAYS = ("read", "open", "fold", "prime")
WARM_UP = 100
BATCH = 10_000
PER_TURN = 10
LINEAR = 1.15
"""Time may grow as size to this power; a quadratic replay would have 2."""


def story(records: int) -> Iterator[ev.AnyEvent]:
    """Turns with a question, thoughts, a tool call and text, as a session leaves them behind."""
    for number in range(records // PER_TURN):
        turn_id = f"turn_{number}"
        message_id, call_id = f"turn_{number}.1", f"turn_{number}.c1"
        yield ev.TurnStarted(turn_id=turn_id, prompt_id=f"prompt_{number}")
        yield ev.UserMessage(
            turn_id=turn_id, message_id=f"turn_{number}.0", content=(TextBlock(text="What next?"),)
        )
        yield ev.Thought(turn_id=turn_id, message_id=message_id, delta="Let me look at the files first. " * 2)
        yield ev.Text(turn_id=turn_id, message_id=message_id, delta="I will read the file. " * 3)
        yield ev.ToolCall(turn_id=turn_id, call_id=call_id, name="read", kind="read", message_id=message_id)
        yield ev.ToolUpdate(
            turn_id=turn_id, call_id=call_id, status="in_progress", input={"path": "README.md"}
        )
        yield ev.ToolUpdate(turn_id=turn_id, call_id=call_id, output="a line of a file\n" * 4)
        yield ev.ToolUpdate(turn_id=turn_id, call_id=call_id, status="completed", raw_output={"lines": 4})
        yield ev.Text(turn_id=turn_id, message_id=message_id, delta="This is what it says, in short. " * 6)
        yield ev.TurnFinished(turn_id=turn_id)


async def write(path: Path, size: int) -> float:
    """Fill a session through the journal's own append, in big batches; give the seconds it took."""
    journal = await open_journal(f"sqlite:{path}")
    key = _key(size)
    await journal.create(SessionInfo(principal=key.principal, session_id=key.session_id))
    lease = await journal.claim(key, "bench", 600)
    assert isinstance(lease, Lease)
    clock = Clock()
    batch: list[Record] = []
    for seq, event in enumerate(story(size), 1):
        batch.append(Record(seq=seq, at=float(seq), fence=lease.fence, event=event))
        if len(batch) == BATCH or seq == size:
            await journal.append(lease, batch)
            batch = []
    await journal.release(lease)
    seconds = clock.spent().wall
    await journal.close()
    return seconds


class Lines:
    """The simplest encoder: an entry becomes a line of JSON."""

    def feed(self, entry: Entry, /) -> list[bytes]:
        return [ev.encode_event(entry.event)]

    def close(self) -> list[bytes]:
        return []


async def replay(journal: Journal, hub: Hub, way: str, size: int) -> None:
    """Replay a session in one of the ways."""
    key = _key(size)
    if way in ("open", "prime"):
        session = await hub.session(key.session_id)
        if way == "prime":
            encoder = Lines()
            async with session.subscribe_from(1) as reader:
                seen = 0
                while seen < size:
                    entries = await reader.next()
                    for entry in entries:
                        encoder.feed(entry)
                    seen = entries[-1].seq
        return
    folder, after = Folder(), 0
    while page := await journal.read(key, after=after):
        after = page[-1].seq
        if way == "fold":
            for record in page:
                if record.event is not None:
                    folder.feed(record.event)
    assert after == size
    if way == "fold":
        assert len(folder.conversation.turns) == size // PER_TURN


async def measure(path: Path, way: str, size: int) -> dict[str, float]:
    """Replay once and say what it took; runs in a process of its own."""
    journal = await open_journal(f"sqlite:{path}")
    async with Hub(agent(_mute), journal) as hub:
        await replay(journal, hub, way, WARM_UP)
        before, clock = memory(), Clock()
        await replay(journal, hub, way, size)
        spent = clock.spent()
        peak = max(0, memory("VmHWM") - before)
    await journal.close()
    return {"wall": spent.wall, "cpu": spent.cpu, "peak": peak}


async def _mute() -> None:
    return


def _key(size: int) -> SessionKey:
    return SessionKey("local", f"bench_{size}")


def growth(sizes: list[int], seconds: list[float]) -> float:
    """The power of the size that the time grows with: 1 is linear (a line through the logarithms)."""
    xs, ys = [math.log(size) for size in sizes], [math.log(max(one, 1e-9)) for one in seconds]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum((a - x) ** 2 for a in xs)


def run(quick: bool = False) -> Result:
    """Write the sessions, replay each in every way, and see whether the time stays in proportion."""
    sizes = QUICK_SIZES if quick else SIZES
    rows: list[Row] = []
    samples: dict[str, list[dict[str, float]]] = {}
    best: dict[str, list[float]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.db"
        asyncio.run(write(path, WARM_UP))
        for size in sizes:
            seconds = asyncio.run(write(path, size))
            samples[f"write {size}"] = [{"wall": seconds}]
            for way in WAYS:
                repetitions = 1 if quick or size == SIZES[-1] else 3
                child = ("bench.replay", str(path), way, str(size))
                runs = [in_fresh_process(*child) for _ in range(repetitions)]
                samples[f"{way} {size}"] = runs
                cpu = min(one["cpu"] for one in runs)
                best[way].append(cpu)
                rows.append(
                    {
                        "way": way,
                        "records": size,
                        "wall s": min(one["wall"] for one in runs),
                        "records/s": round(size / min(one["wall"] for one in runs)),
                        "cpu us/record": cpu / size * 1e6,
                        "peak MB": max(one["peak"] for one in runs) / 2**20,
                        "written/s": round(size / seconds) if way == "read" else None,
                    }
                )
    rows.sort(key=lambda row: WAYS.index(str(row["way"])))
    verdicts: list[str] = []
    for way in WAYS:
        power = growth(list(sizes[-3:]), best[way][-3:])
        verdict = "linear" if power <= LINEAR else "MORE THAN LINEAR"
        verdicts.append(f"{way}: time grows as records^{power:.2f}, {verdict}")
    return Result(
        name="replay",
        about="sessions of growing length from SQLite, each in a fresh process",
        rows=rows,
        samples=dict(samples),
        verdicts=verdicts,
        quick=quick,
    )


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))))
