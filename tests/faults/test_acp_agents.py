"""Nothing of an ACP agent is left, however it or we end."""

import os
import shlex
import sys
from pathlib import Path

import pytest

from tests.agents.acp.scripted import connected, scripted, talk
from tests.faults.processes import child
from tests.hubs import soon, until
from tests.process_state import is_alive
from trunkline.agents.acp.connection import AgentConnection


@pytest.mark.slow
async def test_no_process_of_an_agent_outlives_us_when_we_are_killed(tmp_path: Path) -> None:
    async with child("acp_host", tmp_path) as host:
        report = await host.expect(did="start", within=30.0)
        assert all(map(is_alive, report["pids"])), "the agent, its child, and a child with setsid"
        await host.kill()
    await until(lambda: not any(map(is_alive, report["pids"])), within=20.0)


async def test_a_launcher_a_shell_and_the_agent_below_them_end_together(tmp_path: Path) -> None:
    """As with npx, which starts a shell, which starts node."""
    command, args = scripted("--stays", "--ignore", "INT")
    line = shlex.join([command, *args])
    launcher = f"import subprocess, sys; sys.exit(subprocess.call(['/bin/sh', '-c', {line + '; true'!r}]))"
    connection = AgentConnection(sys.executable, ["-Ic", launcher])
    await soon(connection.start())
    session = await talk(connection)
    await session.prompt("pid")
    agent = int(session.text)
    parents = [agent]
    while (parent := _parent(parents[-1])) > 1 and len(parents) < 3:
        parents.append(parent)
    assert len(parents) == 3
    await soon(connection.close(grace=0.1))
    await until(lambda: not any(map(is_alive, parents)))


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


async def test_agents_that_come_and_go_leave_no_descriptor() -> None:
    async with connected():
        before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        async with connected() as connection:
            await talk(connection)
    async with connected():
        assert len(os.listdir("/proc/self/fd")) <= before
