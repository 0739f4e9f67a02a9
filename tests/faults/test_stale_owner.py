"""An owner that misses its lease: it learns of it, and tells nobody of work that is not stored."""

import asyncio
import json
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.faults.children.stale_owner import careless
from tests.faults.processes import child
from tests.faults.servers import Connection, run_input, text_of
from tests.hubs import BRISK, collect, hub_for, make, soon
from trunkline import events as ev
from trunkline.journal import Journal, SessionKey, open_journal

SESSIONS = 30
PAUSE = BRISK.lease_ttl * 2.5


def run(port: int, thread: str, text: str) -> list[dict[str, Any]]:
    """Run the agent over AG-UI and give the events, up to the end of the stream."""
    with Connection(port) as client:
        client.run(run_input(text, thread, f"run-{thread}-{text}"))
        return list(client.events())


def command(port: int, session: str, text: str) -> tuple[int, dict[str, Any]]:
    """Post a prompt as a command; give the status and the answer."""
    with Connection(port) as client:
        body = {"type": "prompt", "content": [{"type": "text", "text": text}]}
        client.request("POST", f"/sessions/{session}/commands", json.dumps(body).encode())
        return client.response.status, json.loads(client.response.read() or b"{}")


async def stored(journal: Journal, session: str) -> list[ev.AnyEvent]:
    records = await journal.read(SessionKey("local", session), limit=10_000)
    return [record.event for record in records if record.event is not None]


def text_in(events: list[ev.AnyEvent]) -> str:
    return "".join(event.delta for event in events if isinstance(event, ev.Text))


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("cause", ["stopped", "blocked"])
async def test_an_owner_that_missed_its_leases_stores_or_refuses_whatever_it_is_told(
    cause: str, tmp_path: Path
) -> None:
    path = tmp_path / "journal.db"
    names = [f"s{number}" for number in range(SESSIONS)]
    async with child("stale_owner", path) as owner:
        port: int = (await owner.expect())["port"]
        for name in names:
            events = await asyncio.to_thread(run, port, name, "first")
            assert events[-1]["type"] == "RUN_FINISHED"
        held_up: asyncio.Task[Any] | None = None
        if cause == "stopped":
            owner.send(signal.SIGSTOP)
        else:
            held_up = asyncio.create_task(asyncio.to_thread(run, port, "blocker", f"block {PAUSE + 2}"))
        journal = await open_journal(f"sqlite:{path}")
        known = await journal.get(SessionKey("local", names[0]))
        assert known is not None
        async with hub_for(make(careless, name="careless"), journal=journal, target=known.target) as hub:
            for number, name in enumerate(names):
                session = await hub.session(name)
                await collect(session, "second")
                if number % 2:
                    # Half of them are free again when the old owner wakes up, half are not.
                    await session.close()
            owner.send(signal.SIGCONT)
            if held_up is not None:
                await soon(held_up, 30)
            for number, name in enumerate(names):
                if number % 3:
                    events = await soon(asyncio.to_thread(run, port, name, "third"), 20)
                    ended, text = events[-1]["type"], text_of(events)
                    assert ended in ("RUN_FINISHED", "RUN_ERROR")
                    if ended == "RUN_FINISHED":
                        assert text == "you said third"
                        assert "you said third" in text_in(await stored(journal, name))
                else:
                    status, answer = await soon(asyncio.to_thread(command, port, name, "third"), 20)
                    if status == 200:
                        events = await stored(journal, name)
                        started = [e.turn_id for e in events if isinstance(e, ev.TurnStarted)]
                        assert answer["result"]["turn_id"] in started
        for name in names:
            # Whoever runs it now, the old owner serves it as it is stored.
            events = await soon(asyncio.to_thread(run, port, name, "fourth"), 20)
            assert events[-1]["type"] == "RUN_FINISHED", events[-1]
            everything = text_in(await stored(journal, name))
            assert "you said first" in everything
            assert "you said second" in everything
            assert everything.endswith("you said fourth")
        await journal.close()
