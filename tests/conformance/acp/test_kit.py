"""The requirements against ``trunkline acp``, and proof that each check can fail."""

import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.conformance.acp import flawed_agent
from tests.conformance.acp.flaws import plain, required
from trunkline.conformance.acp.kit import AgentUnderTest
from trunkline.conformance.acp.run import REQUIREMENTS, judge
from trunkline.conformance.table import Verdict


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Verdict], list[str]]:
    """What the kit finds about the scripted agent; made once for this file."""
    folder = tmp_path_factory.mktemp("conformance")
    env = {"TRUNKLINE_JOURNAL": f"sqlite:{folder}/journal.db", "XDG_CACHE_HOME": f"{folder}/cache"}

    def command(target: str) -> list[str]:
        return [sys.executable, "-m", "trunkline", "acp", target]

    return judge(AgentUnderTest(command("demo"), folder, command("demo-auth"), env))


@pytest.mark.parametrize("name", [row.id for row in REQUIREMENTS.values() if row.level != "I"])
def test_the_requirement_is_kept(name: str, judged: tuple[dict[str, Verdict], list[str]]) -> None:
    # The demo advertises all that there is.
    wanted = "skip" if name == "ACP-CAP-001" else "pass"
    assert judged[0][name].outcome == wanted, f"{REQUIREMENTS[name].sentence} {judged[0][name].note}"


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
    assert Counter(row.level for row in REQUIREMENTS.values()) == {"M": 32, "C": 20, "A": 25, "I": 4}


# -- the checks themselves -------------------------------------------------------------------------


def test_an_agent_without_a_flaw_keeps_every_requirement(tmp_path: Path) -> None:
    verdicts, _ = judge(plain(tmp_path))
    assert {name: v for name, v in verdicts.items() if v.outcome not in ("pass", "info", "skip")} == {}


def test_there_is_a_flaw_for_every_check() -> None:
    broken = {required(flaw) for flaw in flawed_agent.FLAWS}
    assert broken == {row.id for row in REQUIREMENTS.values() if row.level != "I"}


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
    verdicts, _ = judge(AgentUnderTest([sys.executable, "-S", str(script)], tmp_path), only=optional)
    assert {verdict.outcome for verdict in verdicts.values()} == {"skip"}


BRIEF = """
import json, sys
last = None
def say(id, **fields):
    print(json.dumps({"jsonrpc": "2.0", "id": id, **fields}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    method, params = asked["method"], asked.get("params")
    if method == "initialize":
        capabilities = {"sessionCapabilities": {"close": {}}}
        say(asked["id"], result={"protocolVersion": 1, "agentCapabilities": capabilities})
    elif method == "session/prompt":
        last = asked["id"]
        content = {"type": "text", "text": "hello"}
        update = {"sessionUpdate": "agent_message_chunk", "content": content}
        update = {"sessionId": params["sessionId"], "update": update}
        if SAYS:
            print(json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": update}), flush=True)
        else:
            say(last, result={"stopReason": "end_turn"})
    elif method == "_trunkline/fence":
        say(asked["id"], error={"code": -32601, "message": "unknown"})
        if SAYS and last is not None:
            say(last, result={"stopReason": "end_turn"})
        last = None
    elif "id" in asked:
        say(asked["id"], result={"sessionId": "s"})
"""


@pytest.mark.parametrize("says", [True, False], ids=["ends late", "says nothing"])
def test_a_turn_that_ends_by_itself_while_it_is_cancelled_is_no_fault(says: bool, tmp_path: Path) -> None:
    """A quick agent on a busy machine: the end of its turn is seen only after the check went on."""
    (tmp_path / "brief.py").write_text(BRIEF.replace("SAYS", str(says)))
    command = [sys.executable, "-S", str(tmp_path / "brief.py")]
    subject = AgentUnderTest(command, tmp_path, words="hi", waiting="hi", patience=1.0)
    names = {"ACP-CANCEL-001", "ACP-CLOSE-002"}
    verdicts, _ = judge(subject, only=names)
    assert {name: (verdicts[name].outcome, verdicts[name].note) for name in names} == dict.fromkeys(
        names, ("skip", "the turn was over before it could be cancelled (--long-prompt)")
    )


def test_an_agent_that_wants_a_login_is_blamed_once(tmp_path: Path) -> None:
    verdicts, _ = judge(plain(tmp_path, "--login")._replace(login=None, allow_login=False, words=None))
    assert [name for name, verdict in verdicts.items() if verdict.outcome == "fail"] == ["ACP-SESSION-001"]
    assert "log in to the agent first" in verdicts["ACP-SESSION-002"].note


def test_a_program_that_does_not_speak_acp_is_told_at_once_with_its_last_words(tmp_path: Path) -> None:
    script = tmp_path / "broken.py"
    script.write_text("raise SystemExit('there is no key')\n", encoding="utf-8")
    verdicts, _ = judge(AgentUnderTest([sys.executable, "-S", str(script)], tmp_path))
    failed = [name for name, verdict in verdicts.items() if verdict.outcome == "fail"]
    assert failed == ["ACP-INIT-001"]
    assert "there is no key" in verdicts["ACP-INIT-001"].note
    assert {verdict.outcome for verdict in verdicts.values()} == {"fail", "skip"}


def test_without_prompts_nothing_is_prompted(tmp_path: Path) -> None:
    verdicts, _ = judge(plain(tmp_path)._replace(words=None))
    assert verdicts["ACP-PROMPT-001"].outcome == "skip"
    assert verdicts["ACP-CANCEL-001"].outcome == "skip"
    assert verdicts["ACP-INIT-003"].outcome == "pass"
    assert not [name for name, verdict in verdicts.items() if verdict.outcome == "fail"]
