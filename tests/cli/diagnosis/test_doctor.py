"""``trunkline doctor``: the step that fails, and its fix."""

import json
from pathlib import Path

from tests.cli.diagnosis.command_runs import run


def test_doctor_names_the_step_that_fails_and_its_fix(folder: Path) -> None:
    (folder / "broken.py").write_text("import langchain_openai\nimport there_is_no_such_module\n")
    done = run("doctor", "broken.py:agent", OPENAI_API_KEY="")
    assert done.returncode == 1
    assert "note  key        OPENAI_API_KEY is not set" in done.stdout
    assert "fail  agent" in done.stdout
    assert "-m pip install" in done.stdout
    done = run("doctor", "acp:there-is-no-such-program")
    assert "there is no program 'there-is-no-such-program' on PATH" in done.stdout
    done = run("doctor", "demo-auth", "--json")
    steps = {step["name"]: step for step in json.loads(done.stdout)["steps"]}
    assert steps["handshake"]["outcome"] == "ok"
    assert steps["session"]["fix"].startswith("trunkline login demo-auth")


def test_doctor_finds_nothing_wrong_with_an_agent_that_works(folder: Path) -> None:
    (folder / "mine.py").write_text(
        "import trunkline\n\n@trunkline.agent\nasync def hello(prompt, ctx):\n    yield 'hi'\n"
    )
    done = run("doctor", "mine.py:hello")
    assert done.returncode == 0, done.stdout
    assert "Everything is fine." in done.stdout


def test_doctor_starts_the_agent_with_the_configuration_that_it_uses_itself(folder: Path) -> None:
    (folder / "trunkline.toml").write_text('[agents]\nmine = "demo"\n')
    for config in ("trunkline.toml", "none"):
        done = run("doctor", "demo", "--config", config)
        assert done.returncode == 0, done.stdout
