"""Owners: a process that died on this machine is seen to be gone, any other is waited for."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from tests.worlds import collect, echo, make, text_of, world

from trunkline import events as ev
from trunkline.commands import Prompt
from trunkline.journal import open_journal
from trunkline.session.hub import Hub
from trunkline.session.owners import is_gone, new_owner
from trunkline.session.settings import Settings


def owner_of_a_dead_process() -> str:
    program = "from trunkline.session.owners import new_owner; print(new_owner())"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=True
    )
    return done.stdout.strip()


def test_a_process_that_ended_is_gone_and_one_that_runs_is_not() -> None:
    assert is_gone(owner_of_a_dead_process())
    assert not is_gone(new_owner())
    assert new_owner() != new_owner()


def test_a_process_that_waits_to_be_buried_is_gone() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    mine = new_owner().split("/")
    assert is_gone(f"{mine[0]}/{child.pid}/hub")
    child.wait()


def test_an_owner_of_elsewhere_or_of_another_form_is_never_taken_for_gone() -> None:
    for owner in ("", "somebody", "elsewhere/999999999/hub", "/1/hub", "elsewhere/x/hub"):
        assert not is_gone(owner)


async def test_the_lease_of_a_dead_process_is_taken_at_once(tmp_path: Path) -> None:
    async def halfway(prompt: Prompt) -> AsyncIterator[ev.Event]:
        yield ev.ToolCall(call_id="c1", name="x")
        raise SystemExit

    journal = await open_journal(f"sqlite:{tmp_path / 'journal.db'}")
    dead = Hub(make(halfway), journal, settings=Settings(lease_ttl=600))
    dead.owner = owner_of_a_dead_process()
    session = await dead.create()
    assert await session.own()
    async with world(echo, journal=journal, lease_ttl=600.0) as hub:
        again = await hub.session(session.session_id)
        assert text_of(await collect(again, "hello")) == "hello "
        assert again.event_stream.fence > session.event_stream.fence
    await dead.close()
    await journal.close()
