"""``trunkline record`` and ``replay``: a trace as a fake agent and as a fake client."""

import stat
import subprocess
import sys
from pathlib import Path

from tests.cli.diagnosis.command_runs import SECONDS, run


def test_a_recorded_agent_is_replayed_as_an_agent_and_as_a_client(folder: Path) -> None:
    recorded = run("exec", "acp:trunkline record demo -o trace.jsonl", "/tools")
    assert recorded.returncode == 0, recorded.stderr
    trace = folder / "trace.jsonl"
    assert stat.S_IMODE(trace.stat().st_mode) == 0o600
    replayed = run("exec", "acp:trunkline replay trace.jsonl", "/tools")
    assert replayed.stdout == recorded.stdout
    compared = run("replay", "trace.jsonl", "demo")
    assert compared.returncode == 0, compared.stdout
    assert "same  session/prompt" in compared.stdout
    trace.write_text(trace.read_text().replace("two notes", "three notes"))
    compared = run("replay", "trace.jsonl", "demo", "--as", "client")
    assert compared.returncode == 1
    assert "DIFF  session/prompt" in compared.stdout


def test_what_cannot_be_recorded_or_replayed_is_refused(folder: Path) -> None:
    (folder / "trace.jsonl").write_text("")
    assert "there already" in run("record", "demo", "-o", "trace.jsonl").stderr
    assert "cannot be started" in run("record", "-o", "x.jsonl", "--", "no-such-program", "--acp").stderr
    assert not (folder / "x.jsonl").exists()
    assert "needs the TARGET" in run("replay", "trace.jsonl", "--as", "client").stderr
    assert "leave TARGET out" in run("replay", "trace.jsonl", "demo", "--as", "agent").stderr


def test_an_empty_trace_is_no_agent_and_no_client(folder: Path) -> None:
    (folder / "trace.jsonl").write_text("")
    for words in ((), ("demo",)):
        refused = run("replay", "trace.jsonl", *words)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "trace.jsonl is empty: record a trace" in refused.stderr


def test_a_number_of_any_size_is_replayed(folder: Path) -> None:
    number = "123456789012345678901234567890"
    (folder / "trace.jsonl").write_text(
        '{"t":0,"dir":"client->agent","msg":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}}\n'
        '{"t":0,"dir":"agent->client","msg":{"jsonrpc":"2.0","id":0,"result":{"n":' + number + "}}}\n"
    )
    replayed = run("replay", "trace.jsonl", stdin='{"jsonrpc":"2.0","id":7,"method":"initialize"}\n')
    assert replayed.stdout == '{"jsonrpc":"2.0","id":7,"result":{"n":' + number + "}}\n"


def test_an_agent_that_ends_first_ends_the_record_with_its_code(folder: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "trunkline", "record", "-o", "t.jsonl", "--", "sh", "-c", "exit 3"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.wait(SECONDS) == 3
        assert process.stderr is not None
        assert process.stderr.read() == b""
