"""No path leaves a session's folders: paths of any kind, and a process that swaps links meanwhile."""

import asyncio
import os
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunkline.errors import WorkspaceError
from trunkline.session.permissions import Permissions, ToolRequest
from trunkline.session.view import SessionView
from trunkline.workspace import Files, Policy, Rule
from trunkline.workspace.guard import FileAccess, TextChange

SECRET = "the secret outside"

NAMES = st.sampled_from(
    [
        "..", ".", "", "a", "a.txt", "dir", "link", "deep", "dangling", "loop", "pipe", "proj", "proj-evil",
        "secret.txt", "%2e%2e", "..%2f", "a ", " ", "...", "A.TXT", ".git", "~", "\\..\\", "a\0b", "\u202e..",
        "\uff0e\uff0e", "x" * 300, "é", "e\u0301", "\ud800", "-rf", "*",
    ]
)  # fmt: skip
STARTS = ["", "/", "{root}/", "{root}", "{root}/../", "{outside}/", "//{root}/", "./"]
ENDS = ["", "/", "/.", "/..", "\n"]


@st.composite
def paths(draw: st.DrawFn) -> str:
    names = draw(st.lists(NAMES, max_size=6))
    return draw(st.sampled_from(STARTS)) + "/".join(names) + draw(st.sampled_from(ENDS))


def placed(form: str, world: Path) -> str:
    return form.replace("{root}", str(world / "proj")).replace("{outside}", str(world / "proj-evil"))


class NoteAccesses:
    """A guard that lets everything through, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    async def check_file(
        self, access: FileAccess, path: str, resolved: str, change: TextChange | None = None
    ) -> None:
        self.asked.append((path, resolved))

    async def check_command(
        self, command: Sequence[str] | str, env: Mapping[str, str], folder: str
    ) -> None: ...


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with links of all kinds in it, next to one with a secret."""
    top = tmp_path_factory.mktemp("world").resolve()
    root, outside = top / "proj", top / "proj-evil"
    (root / "dir").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret.txt").write_text(SECRET)
    (root / "a.txt").write_text("inside")
    (root / "dir" / "secret.txt").write_text("inside too")
    (root / "link").symlink_to(outside)
    (root / "dir" / "deep").symlink_to("../../proj-evil/secret.txt")
    (root / "dangling").symlink_to(outside / "made-by-agent")
    (root / "loop").symlink_to("loop")
    os.mkfifo(root / "pipe")
    return top


def state_of(folder: Path) -> dict[str, str]:
    return {str(path): path.read_text() if path.is_file() else "" for path in sorted(folder.rglob("*"))}


@given(form=paths())
def test_no_path_reads_or_changes_anything_outside(world: Path, form: str) -> None:
    root, outside = world / "proj", world / "proj-evil"
    path = placed(form, world)
    files = Files([root])
    guard = files.guard = NoteAccesses()
    before = state_of(outside)

    async def attempt() -> None:
        with suppress(WorkspaceError):
            assert SECRET not in await files.read(path)
        with suppress(WorkspaceError):
            assert SECRET.encode() not in await files.read_bytes(path)
        with suppress(WorkspaceError):
            assert "secret.txt" not in await files.list(path) or files.resolve(path) == str(root / "dir")
        with suppress(WorkspaceError):
            await files.exists(path)
        if "/" in path and path.rsplit("/", 1)[1] in ("a.txt", "secret.txt", "dir", "deep", "link", ""):
            return  # What the other examples read stays.
        if "secret.txt" in path.split("/")[:-1]:
            return  # A folder of that name would be made, and stay.
        with suppress(WorkspaceError):
            await files.write(path, "evil")
            await files.remove(path)

    asyncio.run(attempt())
    (root / "a.txt").write_text("inside")
    assert state_of(outside) == before
    assert sorted(entry.name for entry in world.iterdir()) == ["proj", "proj-evil"]
    for requested, resolved in guard.asked:
        assert requested == path
        assert resolved == str(root) or resolved.startswith(f"{root}/")
        assert ".." not in resolved.split("/")


@given(form=paths(), kind=st.sampled_from(["read", "edit", "other"]))
def test_a_deny_rule_holds_for_every_spelling_of_a_path(world: Path, form: str, kind: Any) -> None:
    """CVE-2026-25724: what leads to a denied file is denied, by the requested or by the resolved path."""
    root, path = world / "proj", placed(form, world)
    policy = Policy(default="allow", rules=(Rule(decision="deny", path="**/secret.txt"),))
    permissions = Permissions(policy, SessionView(session_id="s", cwd=str(root)))
    decision = permissions.decide(ToolRequest(call_id="c", tool="t", kind=kind, input={"path": path}))
    try:
        leads_there = os.path.realpath(os.path.join(root, path)).endswith("/secret.txt")
    except ValueError:
        return
    if leads_there:
        assert decision is not None
        assert not decision


RACER = """
import os, sys
root, outside = sys.argv[1:]
os.chdir(root)
os.symlink(outside, "evil")
os.mkdir("good")
open("good/secret.txt", "w").write("inside")
sys.stdout.write("ready\\n"); sys.stdout.flush()
os.set_blocking(0, False)
rounds = 0
while True:
    rounds += 1
    for name in ("good", "evil"):
        try:
            os.rename(name, "dir")
            os.rename("dir", name)
        except OSError:
            # A write made the folder anew between two renames: it is moved out of the way.
            try:
                os.rename("dir", f"made-{rounds}")
            except OSError:
                pass
    if rounds % 64 == 0:
        try:
            if os.read(0, 1) == b"":
                break
        except BlockingIOError:
            pass
"""


async def test_a_process_that_swaps_a_folder_for_a_link_gains_nothing(tmp_path: Path) -> None:
    """CVE-2026-39861 and CVE-2025-53109: a link that is made between a check and a use."""
    root, outside = tmp_path / "proj", tmp_path / "proj-evil"
    root.mkdir()
    outside.mkdir()
    (outside / "secret.txt").write_text(SECRET)
    racer = await asyncio.create_subprocess_exec(
        sys.executable, "-c", RACER, str(root), str(outside),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert racer.stdin is not None
    assert racer.stdout is not None
    naive: set[str] = set()
    ours: set[str] = set()
    try:
        async with asyncio.timeout(30):
            await racer.stdout.readline()
        files, deadline, rounds = Files([root]), time.monotonic() + 20, 0
        while time.monotonic() < deadline and (rounds < 200 or SECRET not in naive or "inside" not in ours):
            rounds += 1
            with suppress(OSError):
                naive.add((root / "dir" / "secret.txt").read_text())
            with suppress(WorkspaceError):
                ours.add(await files.read("dir/secret.txt"))
            with suppress(WorkspaceError):
                await files.write(f"dir/new-{rounds % 4}.txt", "new")
            with suppress(WorkspaceError):
                ours.update(f"listed {name}" for name in await files.list("dir") if name == "trap.txt")
    finally:
        racer.stdin.close()
        async with asyncio.timeout(30):
            await racer.wait()
    assert SECRET in naive, "the race never happened, so this test showed nothing"
    assert ours == {"inside"}
    assert [entry.name for entry in outside.iterdir()] == ["secret.txt"]
    assert (outside / "secret.txt").read_text() == SECRET
