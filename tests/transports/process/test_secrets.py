"""Secrets of a process: what its children see of them, as root and as somebody without rights."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from trunkline.transports.process import secrets
from trunkline.transports.process.secrets import take_secret
from trunkline.workspace import Terminals

SECRET = "correct-horse-battery-staple"
LOOK = """
import ctypes, json, os, subprocess, sys
from trunkline.transports.process.secrets import close_process, erase_argument, forbid_inspection, take_secret

def seen():
    "What a child of ours can read of us."
    me = os.getpid()
    tries = {"environ": f"cat /proc/{me}/environ", "cmdline": f"cat /proc/{me}/cmdline",
             "memory": f"head -c 0 /proc/{me}/mem && echo open", "fds": f"ls /proc/{me}/fd"}
    return {name: subprocess.run(["sh", "-c", line], capture_output=True).stdout.decode(errors="replace")
            for name, line in tries.items()}

def become_nobody():
    "Lose all rights, and begin like any process: changing the user closes it already."
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    assert ctypes.CDLL(None).prctl(4, 1, 0, 0, 0) == 0
"""


def look(source: str, *arguments: str, **env: str) -> Any:
    """Run a program that prints JSON."""
    done = subprocess.run(
        [sys.executable, "-c", LOOK + source, *arguments],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return json.loads(done.stdout)


def test_a_child_reads_no_token_of_ours_whoever_we_are() -> None:
    before, after, kept, held = look(
        "before = seen(); close_process(); after = seen()\n"
        "left = [name for name in os.environ if 'TOKEN' in name]\n"
        "print(json.dumps([before, after, left, take_secret('TRUNKLINE_TOKEN')]))",
        TRUNKLINE_TOKEN=SECRET,
        TRUNKLINE_AGUI_TOKEN=SECRET,
        TRUNKLINE_JOURNAL="memory:",
    )
    assert SECRET in before["environ"]
    assert SECRET not in after["environ"]
    assert "TRUNKLINE_JOURNAL=memory:" in after["environ"] or after["environ"] == ""
    assert (kept, held) == ([], SECRET)


def test_a_child_without_rights_reads_nothing_of_us() -> None:
    before, after, folder = look(
        "become_nobody(); before = seen(); assert forbid_inspection(); after = seen()\n"
        "held = os.open('/tmp', os.O_RDONLY)\n"
        "pwd = subprocess.run(['pwd', '-P'], cwd=f'/proc/self/fd/{held}', capture_output=True)\n"
        "print(json.dumps([before, after, pwd.stdout.decode()]))",
        OPENAI_API_KEY=SECRET,
    )
    assert SECRET in before["environ"]
    assert (before["memory"], bool(before["fds"])) == ("open\n", True)
    assert (after["environ"], after["memory"], after["fds"]) == ("", "", "")
    assert folder.strip() == os.path.realpath("/tmp"), "a folder that is held open can still be entered"


def test_a_word_of_the_command_line_is_overwritten_and_only_that() -> None:
    before, after = look(
        "before = seen(); erase_argument(sys.argv[2]); after = seen()\n"
        "assert sys.argv[2] == 'sxexc'\n"
        "print(json.dumps([before['cmdline'], after['cmdline']]))",
        "--token",
        "sxexc",
        "--token=sxexc",
        "sxexcy",
    )
    assert before.endswith("--token\0sxexc\0--token=sxexc\0sxexcy\0")
    assert after.endswith("--token\0*****\0--token=*****\0sxexcy\0")


def test_a_secret_is_read_once_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    assert take_secret("TRUNKLINE_TOKEN") is None
    monkeypatch.setenv("TRUNKLINE_TOKEN", SECRET)
    assert take_secret("TRUNKLINE_TOKEN") == SECRET
    assert "TRUNKLINE_TOKEN" not in os.environ
    assert take_secret("TRUNKLINE_TOKEN") == SECRET
    monkeypatch.setenv("TRUNKLINE_TOKEN", "another")
    assert take_secret("TRUNKLINE_TOKEN") == "another"


async def test_whoever_runs_commands_is_closed_before_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    import ctypes

    dumpable = ctypes.CDLL(None).prctl
    assert dumpable(4, 1, 0, 0, 0) == 0
    secrets.forbid_inspection.cache_clear()
    async with Terminals(["/tmp"]) as terminals:
        await terminals.create(["true"])
        assert dumpable(3, 0, 0, 0, 0) == 0


def test_where_the_system_cannot_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    secrets.forbid_inspection.cache_clear()
    assert secrets.forbid_inspection() is False
    secrets.forbid_inspection.cache_clear()
