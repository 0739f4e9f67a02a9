"""Journals that are full, deleted, damaged or read-only: nobody is told success for what is not stored."""

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.child_programs import command, run
from tests.faults.disks import MEBIBYTE, Disk, as_anybody
from tests.faults.servers import ROOT, SECONDS, Server, run_input, serving
from tests.process_state import eventually

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

AGENT = f"{ROOT / 'tests/faults/children/storing.py'}:agent"


class Outcome(NamedTuple):
    """How a run ended for its client: an event of the stream, or a refusal before it."""

    kind: str
    code: str | None
    message: str

    @property
    def is_storage(self) -> bool:
        """Whether the client was told that storing failed."""
        return self.code in ("journal", "corrupt", "STORAGE_ERROR")

    @property
    def is_refusal(self) -> bool:
        """Whether the client was told so, or met the session while it was let go of for that reason."""
        return self.is_storage or self.code == "closed"


def prompt(server: Server, text: str, thread: str) -> Outcome:
    with server.connect() as client:
        client.run(run_input(text, thread=thread, run=f"{thread}-{text}"))
        if client.response.status != 200:
            error = json.loads(client.response.read())["error"]
            return Outcome(f"refused {client.response.status}", error["code"], error["message"])
        last = list(client.events())[-1]
        return Outcome(last["type"], last.get("code"), last.get("message", ""))


def readiness(server: Server) -> tuple[int, str]:
    status, body = server.ask("GET", "/readyz")
    return status, body.get("message", "")


def is_ready(server: Server) -> bool:
    return readiness(server)[0] == 200


def unready(server: Server) -> str:
    """Why it is not ready; an answer counts for a second."""
    status, why = readiness(server)
    return why if status == 503 else ""


def stored(server: Server, thread: str) -> list[str]:
    """The prompts of a thread whose turns are stored with their ends."""
    status, page = server.ask("GET", f"/sessions/{thread}?limit=10000")
    if status == 404:
        return []
    assert status == 200, page
    events = [record["event"] for record in page["records"] if record.get("event")]
    prompts = {e["turn_id"]: e["content"][0]["text"] for e in events if e["type"] == "user_message"}
    return [prompts[e["turn_id"]] for e in events if e["type"] == "turn_finished"]


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    return Disk(tmp_path)


@contextmanager
def served_on(disk: Disk, folder: Path, *before: str, **env: str) -> Generator[Server]:
    words = (*before, sys.executable, "-m", "trunkline", "serve", AGENT, "--port", "0")
    journal = f"sqlite:{disk.path}"
    with serving(folder, AGENT, command=disk.on(*words), TRUNKLINE_JOURNAL=journal, **env) as server:
        disk.watch(server.process.pid)
        yield server


def test_on_a_full_disk_no_run_is_told_success_and_all_goes_on_once_there_is_space(
    disk: Disk, tmp_path: Path
) -> None:
    with served_on(disk, tmp_path) as server:
        assert prompt(server, "before", "t").kind == "RUN_FINISHED"
        assert readiness(server)[0] == 200
        disk.leave(0)
        outcomes = {f"{n}": prompt(server, f"{n}", "t") for n in range(12)}
        outcomes |= {f"new{n}": prompt(server, f"new{n}", f"new{n}") for n in range(4)}
        if disk.measured:
            why = eventually(lambda: unready(server))
            assert "free some space" in why
            assert str(disk.folder) not in why
        disk.free()
        eventually(lambda: is_ready(server))
        names = (f"after{number}" for number in itertools.count())
        eventually(lambda: prompt(server, next(names), "t").kind == "RUN_FINISHED")
        kept = stored(server, "t") + [text for n in range(4) for text in stored(server, f"new{n}")]
        finished = [text for text, outcome in outcomes.items() if outcome.kind == "RUN_FINISHED"]
        assert set(finished) <= set(kept)
        failed = [outcome for outcome in outcomes.values() if outcome.kind != "RUN_FINISHED"]
        assert len(failed) >= 8
        for outcome in failed:
            assert outcome.is_refusal, outcome
            assert str(disk.folder) not in outcome.message
        assert "before" in kept
        assert any(text.startswith("after") for text in kept)
        assert str(disk.path) in server.stderr


def test_with_little_space_left_a_prompt_is_refused_with_the_reason_and_nothing_breaks(
    disk: Disk, tmp_path: Path
) -> None:
    with served_on(disk, tmp_path) as server:
        assert prompt(server, "before", "t").kind == "RUN_FINISHED"
        disk.leave(20 * MEBIBYTE if disk.measured else 0)
        names = (f"early{number}" for number in itertools.count())
        eventually(lambda: prompt(server, next(names), "t").is_storage)
        outcome = prompt(server, "again", "t")
        assert outcome.is_storage
        assert "space" in outcome.message
        disk.free()
        names = (f"after{number}" for number in itertools.count())
        eventually(lambda: prompt(server, next(names), "t").kind == "RUN_FINISHED")
        assert stored(server, "t")[-1].startswith("after")


@pytest.mark.parametrize("how", ["deleted", "replaced"])
def test_a_journal_that_is_gone_stores_nothing_and_says_so(tmp_path: Path, how: str) -> None:
    path = tmp_path / "journal.db"
    with serving(tmp_path, AGENT) as server:
        assert prompt(server, "before", "t").kind == "RUN_FINISHED"
        path.unlink()
        if how == "replaced":
            path.touch(0o600)
        for text, thread in (("one", "t"), ("two", "t"), ("three", "new")):
            outcome = prompt(server, text, thread)
            assert outcome.is_refusal, outcome
            assert str(tmp_path) not in outcome.message
        assert "deleted or replaced" in eventually(lambda: unready(server))
        assert path.exists() is (how == "replaced")
        assert str(path) in server.stderr
        server.end()
    path.unlink(missing_ok=True)
    for file in tmp_path.glob("journal.db-*"):
        file.unlink()
    with serving(tmp_path, AGENT) as server:
        assert prompt(server, "anew", "t").kind == "RUN_FINISHED"
        assert stored(server, "t") == ["anew"]
        assert {file.stat().st_mode & 0o777 for file in tmp_path.glob("journal.db*")} == {0o600}


def test_a_damaged_journal_is_not_ready_and_what_lies_there_is_no_success(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    with serving(tmp_path, AGENT) as server:
        for number in range(10):
            assert prompt(server, f"{number}", "t").kind == "RUN_FINISHED"
        server.end()
    with path.open("r+b") as file:
        size = path.stat().st_size
        file.seek(size // 4)
        file.write(os.urandom(size // 2))
    with serving(tmp_path, AGENT) as server:
        status, why = readiness(server)
        assert (status, "not a sound Trunkline journal" in why) == (503, True)
        assert str(tmp_path) not in why
        outcome = prompt(server, "into it", "t")
        assert outcome.is_storage, outcome
        assert str(tmp_path) not in outcome.message


@pytest.fixture
def shelved(tmp_path: Path) -> Generator[Path]:
    """A journal with a session that nobody may write."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    path = folder / "journal.db"
    assert run("exec", AGENT, "before", "--journal", f"sqlite:{path}").code == 0
    path.chmod(0o400)
    folder.chmod(0o500)
    yield path
    folder.chmod(0o700)


def anybody(*arguments: str, journal: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*as_anybody(), *command(*arguments, "--journal", f"sqlite:{journal}")],
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )


def test_a_journal_that_cannot_be_written_is_read_and_nothing_else(shelved: Path, tmp_path: Path) -> None:
    listed = anybody("sessions", "list", "--format", "json", journal=shelved)
    (row,) = json.loads(listed.stdout)
    shown = anybody("sessions", "show", row["session_id"], journal=shelved)
    assert "before" in shown.stdout
    exported = anybody("sessions", "export", row["session_id"], journal=shelved)
    assert '"turn_finished"' in exported.stdout

    for words in (
        ("exec", AGENT, "more"),
        ("exec", AGENT, "more", "--session", row["session_id"]),
        ("sessions", "delete", row["session_id"], "--yes"),
        ("sessions", "prune", "--older-than", "0s", "--yes"),
    ):
        done = anybody(*words, journal=shelved)
        assert done.returncode == 1, words
        assert "cannot be written" in done.stderr
        assert str(shelved) in done.stderr

    command_ = [*as_anybody(), sys.executable, "-m", "trunkline", "serve", AGENT, "--port", "0"]
    with serving(tmp_path, AGENT, command=command_, TRUNKLINE_JOURNAL=f"sqlite:{shelved}") as server:
        status, why = readiness(server)
        assert (status, "cannot be written" in why) == (503, True)
        for thread in ("new", row["session_id"]):
            assert prompt(server, "more", thread).is_storage
    assert json.loads(anybody("sessions", "list", "--format", "json", journal=shelved).stdout) == [row]


def executed(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*words], capture_output=True, text=True, timeout=SECONDS, cwd=ROOT)


def test_exec_never_says_that_all_is_fine_when_the_disk_is_full(disk: Disk) -> None:
    # The disk is so small, or the limit so tight, that the answer has no place on it.
    journal = ("--journal", f"sqlite:{disk.path}")
    taken = f"head -c {64 * MEBIBYTE - 200_000} /dev/zero > {disk.folder}/ballast"
    fill = taken if disk.measured else "ulimit -f 90"
    words = command("exec", AGENT, "hello", *journal)
    done = executed(*disk.on("sh", "-c", f'{fill}; exec "$@"', "sh", *words))
    assert done.returncode == 1, done
    assert "space" in done.stderr
