"""The 56 requirements against ``trunkline acp``, and proof that each check can fail."""

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.frontends.acp.conformance import agent, basics, sessions, turns
from tests.frontends.acp.conformance.kit import REQUIREMENTS, Subject, Verdict, judge

assert [basics, turns, sessions], "importing them fills the table"

HANGING = frozenset({"JSONRPC-001", "JSONRPC-005", "EXT-001", "SHUTDOWN-001"})
"""Flaws whose sign is that nothing comes, so only waiting can show them."""


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Verdict], list[str]]:
    """What the kit finds about the scripted agent; made once for this file."""
    folder = tmp_path_factory.mktemp("conformance")
    env = {"TRUNKLINE_JOURNAL": f"sqlite:{folder}/journal.db", "XDG_CACHE_HOME": f"{folder}/cache"}

    def command(target: str) -> list[str]:
        return [sys.executable, "-m", "trunkline", "acp", target]

    return judge(Subject(command("demo"), folder, command("demo-auth"), env))


@pytest.mark.parametrize("name", [row.id for row in REQUIREMENTS.values() if row.level != "I"])
def test_the_requirement_is_kept(name: str, judged: tuple[dict[str, Verdict], list[str]]) -> None:
    assert judged[0][name].outcome == "pass", f"{REQUIREMENTS[name].sentence} {judged[0][name].note}"


@pytest.mark.parametrize(
    ("name", "recorded"),
    [
        ("ACP-STDERR-001", "0 bytes"),
        ("ACP-INFO-PARSE-001", "says -32700 "),
        ("ACP-INFO-INVALIDREQ-001", "says -32600 "),
        ("ACP-INFO-UNKNOWNSESSION-001", "{'code': -32002, "),
    ],
)
def test_what_is_left_open_is_done_this_way(
    name: str, recorded: str, judged: tuple[dict[str, Verdict], list[str]]
) -> None:
    assert judged[0][name].outcome == "info"
    assert judged[0][name].note.startswith(recorded)


def test_every_message_is_valid(judged: tuple[dict[str, Verdict], list[str]]) -> None:
    assert judged[1] == []


def test_the_table_has_every_requirement() -> None:
    assert Counter(row.level for row in REQUIREMENTS.values()) == {"M": 21, "C": 19, "A": 12, "I": 4}


# -- the checks themselves -------------------------------------------------------------------------


def plain(folder: Path, *arguments: str, patience: float = 20.0) -> Subject:
    command: Sequence[str] = [sys.executable, "-S", agent.__file__, *arguments]
    return Subject(command, folder, [*command, "--login"], patience=patience)


def test_an_agent_without_a_flaw_keeps_every_requirement(tmp_path: Path) -> None:
    verdicts, _ = judge(plain(tmp_path))
    assert {name: v for name, v in verdicts.items() if v.outcome not in ("pass", "info")} == {}


def test_there_is_a_flaw_for_every_check() -> None:
    broken = {f"ACP-{flaw.partition(':')[0]}" for flaw in agent.FLAWS}
    assert broken == {row.id for row in REQUIREMENTS.values() if row.level != "I"}


@pytest.mark.parametrize("flaw", agent.FLAWS)
def test_a_flaw_is_found(flaw: str, tmp_path: Path) -> None:
    name = flaw.partition(":")[0]
    subject = plain(tmp_path, "--flaw", flaw, patience=1.0 if name in HANGING else 20.0)
    verdicts, _ = judge(subject, only={f"ACP-{name}"})
    assert verdicts[f"ACP-{name}"].outcome == "fail", "the check cannot fail"


def test_what_is_not_advertised_does_not_count(tmp_path: Path) -> None:
    """The kit may not blame an agent for what it never offered."""
    script = tmp_path / "modest.py"
    script.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    result = {'protocolVersion': 1} if asked['method'] == 'initialize' else {'sessionId': 's'}\n"
        "    print(json.dumps({'jsonrpc': '2.0', 'id': asked['id'], 'result': result}), flush=True)\n",
        encoding="utf-8",
    )
    optional = {row.id for row in REQUIREMENTS.values() if row.level == "C"}
    verdicts, _ = judge(Subject([sys.executable, "-S", str(script)], tmp_path), only=optional)
    assert {verdict.outcome for verdict in verdicts.values()} == {"n.a."}
