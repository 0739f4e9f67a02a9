"""``trunkline bundle``: what a bug report needs, and no secret."""

import json
import zipfile
from pathlib import Path

from tests.cli.diagnosis.command_runs import run


def test_a_bundle_has_the_session_and_no_secret(folder: Path) -> None:
    secret, odd = "sk-test-abcdefghijklmnop", "a secret of my own"
    (folder / "trunkline.toml").write_text('[agents]\nmine = "demo"\n')
    assert run("config", "approve").returncode == 0
    done = run("exec", "demo", f"my key is {secret} and {odd}", "--session", "work")
    assert done.returncode == 0, done.stderr
    variables = {"MY_SERVICE_TOKEN": odd, "OPENAI_API_KEY": "plain-key-without-a-form"}
    for name, options in (("short.zip", ()), ("whole.zip", ("--texts",))):
        done = run("bundle", "work", "-o", name, *options, **variables)
        assert done.returncode == 0, done.stderr
        with zipfile.ZipFile(folder / name) as bundle:
            files = {one: bundle.read(one).decode() for one in bundle.namelist()}
        assert {"versions.json", "environment.json", "session.jsonl", "doctor.json", "README.txt"} <= set(
            files
        )
        whole = "".join(files.values())
        assert not any(one in whole for one in (secret, odd, "plain-key-without-a-form"))
        assert ("my key is" in files["session.jsonl"]) == bool(options)
        assert json.loads(files["versions.json"])["packages"]["trunkline"]
    assert "there already" in run("bundle", "-o", "short.zip").stderr


def test_what_the_file_of_variables_holds_is_a_secret_too(folder: Path) -> None:
    (folder / "trunkline.toml").write_text('env_file = ".env"\n[agents]\nmine = "demo"\n')
    (folder / ".env").write_text("DB_PASSWORD=hunter2hunter2\n")
    done = run("exec", "mine", "it is hunter2hunter2", "--session", "work", "--config", "trunkline.toml")
    assert done.returncode == 0, done.stderr
    words = ("bundle", "work", "-o", "bug.zip", "--texts", "--no-doctor", "--config", "trunkline.toml")
    assert run(*words).returncode == 0
    with zipfile.ZipFile(folder / "bug.zip") as bundle:
        assert "it is [redacted]" in bundle.read("session.jsonl").decode()


def test_an_output_of_many_levels_gets_into_a_bundle(folder: Path) -> None:
    (folder / "deep.py").write_text(
        "import functools, trunkline\n"
        "from trunkline import events as ev\n"
        "@trunkline.agent\n"
        "async def agent(prompt, ctx):\n"
        "    deep = functools.reduce(lambda below, _: [below], range(400), 'end')\n"
        "    yield ev.ToolCall(call_id='c', name='x')\n"
        "    yield ev.ToolUpdate(call_id='c', status='completed', raw_output=deep)\n"
    )
    assert run("exec", "deep.py:agent", "hello", "--session", "deep").returncode == 0
    done = run("bundle", "deep", "-o", "bug.zip", "--texts", "--no-doctor")
    assert done.returncode == 0, done.stderr
