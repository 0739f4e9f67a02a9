"""Every example of every help text is run, by a shell, in a folder that has what it names.

Programs that are not there (npx, gemini, opencode) are stood in for by our own scripted agent, which speaks
ACP as they do.
"""

import asyncio
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tests.demos.finance.statements.bank_files import SPARKASSE
from tests.demos.finance.statements.ofx_files import BANK_1
from trunkline.cli import main
from trunkline.journal.sqlite import SqliteJournal
from trunkline.session.hub import Hub
from trunkline.testing import ScriptedAgent

pytestmark = pytest.mark.slow
SESSION = "sess_1a2b3c0000000000"
SECONDS = 90.0
AGENT = """
import trunkline

@trunkline.agent
async def hello(prompt, ctx):
    yield "hello"

@trunkline.agent
async def review(prompt, ctx):
    yield "fine"
"""
TOOLS = """
from trunkline.tools import ToolRegistry, tool

@tool
def add(first: int, second: int) -> int:
    "Add two numbers."
    return first + second

registry = ToolRegistry([add])
"""
CONFIG = '[agents]\nshop = "agent.py:hello"\n'
LINE = re.compile(r"\s+((?:[A-Z_]+=\S+ )?trunkline .*?|(?:printf|echo|git) .*\btrunkline .*?)(?:   +.*)?")
NEEDED_FIRST = {
    "trunkline finance undo": "trunkline finance import bank.csv --yes",
    "trunkline finance undo 1 --edited-too": "trunkline finance import bank.csv --yes",
    "trunkline finance sync": "trunkline finance link --fake",
    "trunkline finance unlink fake": "trunkline finance link --fake",
    'trunkline exec demo "and then?" --continue': "trunkline exec demo hello",
    "trunkline chat agent.py:hello --continue": "trunkline exec agent.py:hello hello",
    "trunkline chat finance --session taxes": "trunkline exec finance hello --session taxes",
    "trunkline init agent.py:hello --dry-run": 'mkdir -p "$XDG_CONFIG_HOME/zed"',
    "trunkline init zed --undo --yes": "trunkline init zed agent.py:hello --yes",
    "trunkline init jetbrains agent.py:hello --yes --env-file .env": "echo OPENAI_API_KEY=mine > .env",
    "trunkline replay trace.jsonl demo": "trunkline exec 'acp:trunkline record demo -o trace.jsonl' hello",
    'trunkline exec "acp:trunkline replay trace.jsonl" "hello"': (
        "trunkline exec 'acp:trunkline record demo -o trace.jsonl' hello"
    ),
    "trunkline sessions cancel work": "trunkline exec demo hello --session work",
}
"""What a person did before, in examples that go on with something."""
CODES = {
    "trunkline login demo-auth": 2,  # It lists the ways, and asks for one.
    "trunkline login demo-auth demo-terminal": 1,  # A test has no terminal for it.
    'trunkline finance link --item ITEM_ID --institution "First Bank"': 2,  # It asks for the key of Plaid.
    # The agent that stands in does not know this session of another one.
    'trunkline sessions import "acp:npx -y @agentclientprotocol/claude-agent-acp" 0199a213-81c0-7800': 1,
}


Words = tuple[str, ...]


def commands(command: click.Command, words: Words = ()) -> Iterator[tuple[Words, click.Command]]:
    """Give every command of the program, with the words that call it."""
    yield words, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from commands(below, (*words, name))


def examples(command: click.Command) -> Iterator[str]:
    """Give the lines of a help text that begin a command of ours, each with the lines that continue it."""
    _, _, rest = re.sub(r"\x08", "", command.help or "").partition("Example")
    text = re.sub(r"\|\n\s+", "| ", rest.partition("\n\n")[0])
    for line in text.splitlines():
        found = LINE.fullmatch(line)
        if found is not None:
            yield found[1].strip()


EXAMPLES = sorted({example for _, command in commands(main) for example in examples(command)})


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A journal with the session that the examples name."""
    path = tmp_path_factory.mktemp("journal") / "journal.db"

    async def fill() -> None:
        opened = SqliteJournal(path)
        await opened.open()
        async with asyncio.timeout(30), Hub(ScriptedAgent(), opened, target="demo") as hub:
            session = await hub.create(SESSION)
            async for _ in session.stream("hello"):
                pass
        await opened.close()

    asyncio.run(fill())
    return path


@pytest.fixture
def folder(tmp_path: Path, journal: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files and the programs that the examples name."""
    own = tmp_path / "bin"
    own.mkdir()
    run_us = f"exec {sys.executable} -m trunkline"
    programs = dict.fromkeys(("npx", "gemini", "opencode"), f"{run_us} acp demo")
    for name, line in {**programs, "trunkline": f'{run_us} "$@"'}.items():
        (own / name).write_text(f"#!/bin/sh\n{line}\n")
        (own / name).chmod(stat.S_IRWXU)
    work = tmp_path / "work"
    work.mkdir()
    for name, text in (("agent.py", AGENT), ("tools.py", TOOLS)):
        (work / name).write_text(text)
    (work / "bank.csv").write_bytes(SPARKASSE.data)
    for name in ("2026-01.ofx", "2026-02.ofx"):
        (work / name).write_text(BANK_1)
    shutil.copy(journal, work / "journal.db")
    for words in (["init", "-q"], ["add", "agent.py"]):
        subprocess.run(["git", "-C", str(work), *words], check=True, timeout=30)
    (work / "agent.py").write_text(AGENT + "# changed\n")
    monkeypatch.setenv("PATH", f"{own}:{Path(sys.executable).parent}:/usr/bin:/bin")
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.setenv("TRUNKLINE_JOURNAL", f"sqlite:{work / 'journal.db'}")
    monkeypatch.chdir(work)
    return work


def test_every_command_has_an_example() -> None:
    without = [" ".join(words) for words, command in commands(main) if "Example" not in (command.help or "")]
    assert without == []
    assert len(EXAMPLES) > 50


@pytest.mark.usefixtures("folder")
def test_the_examples_of_replay_work_one_after_the_other() -> None:
    (replay,) = [command for words, command in commands(main) if words == ("replay",)]
    for line in examples(replay):
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=SECONDS)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_works(example: str, folder: Path) -> None:
    if "config" in example:
        (folder / "trunkline.toml").write_text(CONFIG)
    if (first := NEEDED_FIRST.get(example)) is not None:
        subprocess.run(["bash", "-c", first], check=True, capture_output=True, timeout=SECONDS)
    line = example.replace("=...", "=a-secret-of-my-own-and-long-enough").replace("~/work", ".")
    began = time.monotonic()
    if example.startswith("trunkline finance import") and "--" not in example.replace("--answer", ""):
        line += " --yes"  # A person is asked for it.
    with subprocess.Popen(
        ["bash", "-o", "pipefail", "-c", line],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as shell:
        if "trunkline serve" in example:
            assert shell.stderr is not None
            while b"Ctrl-C stops" not in (said := shell.stderr.readline()):
                assert said, f"it ended after {time.monotonic() - began:.0f} s"
            shell.send_signal(signal.SIGTERM)
        output, said = shell.communicate(timeout=SECONDS)
    code = shell.returncode
    assert b"Traceback" not in said
    expected = (CODES.get(example, 0), -signal.SIGTERM if "serve" in example else 0)
    assert code in expected, (output + said).decode()
