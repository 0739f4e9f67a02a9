"""``trunkline check``: its reports, its exit codes, and what it refuses."""

import json
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from tests.cli.diagnosis.command_runs import run
from tests.conformance.acp import flawed_agent
from trunkline.cli.diagnosis.check import acp_command, command
from trunkline.errors import TargetError

PLAIN = f"acp:{sys.executable} -S {flawed_agent.__file__}"


def check(*words: str) -> Result:
    return CliRunner().invoke(command, list(words), standalone_mode=False)


def test_a_name_of_the_configuration_file_is_checked_recorded_and_replayed(folder: Path) -> None:
    (folder / "own.toml").write_text(
        'journal = "sqlite:own.db"\n[agents]\nmine = "demo"\nother = "acp:trunkline acp demo"\n'
    )
    config = ("--config", "own.toml")
    for name in ("mine", "other"):
        checked = run("check", name, "--only", "ACP-INIT-001", *config)
        assert checked.returncode == 0, checked.stdout + checked.stderr
    lines = (
        '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}\n'
        f'{{"jsonrpc":"2.0","id":1,"method":"session/new","params":{{"cwd":"{folder}","mcpServers":[]}}}}\n'
    )
    recorded = run("record", "mine", "-o", "trace.jsonl", *config, stdin=lines, TRUNKLINE_JOURNAL="")
    assert recorded.returncode == 0, recorded.stderr
    assert (folder / "own.db").is_file()
    replayed = run("replay", "trace.jsonl", "mine", *config)
    assert replayed.returncode == 0, replayed.stdout + replayed.stderr


def test_an_agent_that_keeps_everything_is_conformant() -> None:
    done = check(PLAIN, "--long-prompt", "/wait-for-cancel", "--permission-prompt", "/permission")
    assert done.return_value == 0, done.output
    assert "NOT" not in done.output
    assert done.output.splitlines()[-1].startswith("conformant: ")


def test_a_fault_is_shown_with_its_specification_and_what_was_said() -> None:
    done = check(f"{PLAIN} --flaw INIT-003", "--only", "acp-init-003")
    assert done.return_value == 1
    assert "fail  ACP-INIT-003" in done.output
    assert "https://agentclientprotocol.com/protocol/v1/initialization" in done.output
    assert '"protocolVersion":65535' in done.output.replace(" ", "")


def test_the_report_is_json_and_junit_too() -> None:
    words = (
        f"{PLAIN} --flaw JSONRPC-004",
        "--no-prompts",
        "--only",
        "ACP-JSONRPC-004",
        "--only",
        "ACP-INIT-001",
    )
    plain = json.loads(check(*words, "--json").output)
    assert {row["id"]: row["outcome"] for row in plain["requirements"]} == {
        "ACP-INIT-001": "pass",
        "ACP-JSONRPC-004": "fail",
    }
    assert plain["conformant"]  # It is advice.
    suite = ElementTree.fromstring(check(*words, "--junit", "--strict").output.encode())
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")


def test_an_agent_of_ones_own_is_served_as_an_editor_starts_it(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("import trunkline\n\n@trunkline.agent\nasync def hello(prompt, ctx):\n    yield 'hi'\n")
    done = check(f"{file}:hello", "--only", "ACP-PROMPT-001", "--only", "ACP-LOAD-002", "--json")
    assert done.return_value == 0, done.output
    assert {row["outcome"] for row in json.loads(done.output)["requirements"]} == {"pass"}


def test_an_agent_of_ones_own_that_cannot_be_loaded_is_no_report(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("print('what is printed is no report')\nasync def hello(prompt, ctx):\n    yield 'hi'\n")
    for target, why in (
        (f"{file}:helo", "did you mean hello?"),
        (f"{tmp_path}/none.py", "there is no file"),
        ("ftp://x", "unknown target"),
    ):
        done = check(target)
        assert isinstance(done.exception, TargetError)
        assert why in str(done.exception)
        assert done.stdout == ""


def test_a_program_that_answers_nothing_is_told_in_a_few_lines_with_the_next_step() -> None:
    done = check("acp:false", "--no-prompts")
    assert done.return_value == 1
    assert "fail  ACP-INIT-001" in done.stdout
    assert len(done.stdout.splitlines()) < 15
    assert done.stderr == "`trunkline doctor acp:false` looks for the cause\n"


def test_a_program_that_is_not_there_names_the_next_step() -> None:
    done = check("acp:there-is-no-such-program --acp")
    assert "there-is-no-such-program" in str(done.exception)
    assert "trunkline doctor" in str(done.exception)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("demo", "--protocol", "agui"), "an address"),
        (("http://127.0.0.1:1/", "--protocol", "acp"), "not an address"),
        (("demo", "--token", "x"), "address of a server"),
        (("demo", "--ai-sdk", "5"), "--protocol aisdk"),
        (("http://127.0.0.1:1/", "--login"), "speak ACP"),
        (("http://127.0.0.1:1/", "--no-prompts"), "speak ACP"),
        (("demo", "--tool-prompt", "x"), "agui and aisdk"),
        (("http://x/", "--protocol", "aisdk", "--permission-prompt", "x"), "acp and agui"),
        (("http://x/", "--protocol", "aisdk", "--long-prompt", "x"), "acp and agui"),
        (("demo", "--json", "--junit"), "choose one"),
        (("http://x/", "--token", "schl\u00fcssel"), "ASCII"),
        (("demo", "--only", "ACP-NOTHING-001"), "there is no requirement"),
        (("acp:",), "names no command"),
        (("acp:agent 'x",), "cannot be read"),
    ],
)
def test_what_cannot_apply_is_refused(words: tuple[str, ...], why: str) -> None:
    assert why in str(check(*words).exception)


def test_a_server_that_is_not_there_is_a_report_with_the_reason() -> None:
    done = check("http://127.0.0.1:9/", "--only", "AGUI-HTTP-001", "--timeout", "2s")
    assert done.return_value == 1
    assert "ConnectError" in done.output
    done = check("http://127.0.0.1:9/", "--protocol", "aisdk", "--only", "AISDK-HTTP-001")
    assert done.return_value == 1


def test_an_agent_of_the_registry_is_its_command() -> None:
    env: dict[str, str] = {}
    assert acp_command("acp:'a b' c", env, "memory:") == ["a b", "c"]
    assert acp_command("registry:gemini", env, "memory:")
