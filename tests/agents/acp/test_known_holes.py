"""Holes that agents and their clients had, each tried on an ACP agent's files and commands.

The numbers are those of the public reports. Servers have tests of their own for theirs
(``tests/server/security``).
"""

import os
import stat
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.agents.acp.far_side import Far, ScriptedAgent, choose, refused
from tests.agents.acp.far_side import run as run_script
from tests.hubs import collect, hub_for, only
from trunkline import events as ev
from trunkline.commands import Prompt
from trunkline.journal import open_journal
from trunkline.protocols.jsonrpc.messages import RpcError
from trunkline.questions import Option, Permission
from trunkline.workspace import Policy, Rule
from trunkline.workspace.policy_file import load_policy

run = partial(run_script, answer="reject_once")
"""Run one turn of a script in a folder; what is asked is refused."""


@pytest.fixture
def world(tmp_path: Path) -> Path:
    (tmp_path / "proj").mkdir()
    (tmp_path / "proj-evil").mkdir()
    (tmp_path / "proj-evil" / "secret.txt").write_text("secret")
    return tmp_path


def options_of(asked: ev.Asked) -> tuple[Option, ...]:
    assert isinstance(asked.question, Permission)
    return asked.question.options


async def refuse_all(far: Far, *paths: str) -> None:
    for path in paths:
        with pytest.raises(RpcError):
            await far.ask("fs/read_text_file", path=path)
        with pytest.raises(RpcError):
            await far.ask("fs/write_text_file", path=path, content="evil")


async def test_cve_2025_53110_a_folder_with_the_same_beginning_is_another_folder(world: Path) -> None:
    root = world / "proj"

    async def script(far: Far, prompt: Prompt) -> None:
        await refuse_all(
            far,
            f"{root}-evil/secret.txt",
            f"{root}/../proj-evil/secret.txt",
            f"{root}/x/../../proj-evil/secret.txt",
            f"{root}/./..//proj-evil/secret.txt",
            f"{root}/a\0/../../proj-evil/secret.txt",
        )

    await run(root, script, policy=Policy.allow_all())
    assert (world / "proj-evil" / "secret.txt").read_text() == "secret"


async def test_cve_2025_53110_encoded_dots_and_spaces_are_names_like_any_other(world: Path) -> None:
    root = world / "proj"

    async def script(far: Far, prompt: Prompt) -> None:
        for name in ("%2e%2e/proj-evil/secret.txt", "..%2fproj-evil", "secret.txt ", "a.TXT"):
            await far.ask("fs/write_text_file", path=f"{root}/{name}", content="inside")

    await run(root, script)
    assert (world / "proj-evil" / "secret.txt").read_text() == "secret"
    assert (root / "%2e%2e" / "proj-evil" / "secret.txt").read_text() == "inside"
    assert sorted(os.listdir(root)) == ["%2e%2e", "..%2fproj-evil", "a.TXT", "secret.txt "]


async def test_cve_2025_53109_links_lead_nowhere(world: Path) -> None:
    root, outside = world / "proj", world / "proj-evil"
    (root / "file").symlink_to(outside / "secret.txt")
    (root / "folder").symlink_to(outside)
    (root / "dangling").symlink_to(outside / "made")
    (root / "twice").symlink_to("folder")

    async def script(far: Far, prompt: Prompt) -> None:
        names = ("file", "folder/secret.txt", "dangling", "folder/made", "twice/secret.txt")
        await refuse_all(far, *(f"{root}/{name}" for name in names))
        os.link(outside / "secret.txt", root / "hard")
        await far.ask("fs/write_text_file", path=f"{root}/hard", content="mine")

    await run(root, script, policy=Policy.allow_all())
    assert os.listdir(outside) == ["secret.txt"]
    assert (outside / "secret.txt").read_text() == "secret"


async def test_cve_2026_25724_a_deny_rule_holds_behind_a_link(world: Path) -> None:
    root = world / "proj"
    (root / "private").mkdir()
    (root / "private" / "key").write_text("k")
    (root / "public").symlink_to(root / "private")
    got: list[Any] = []

    async def script(far: Far, prompt: Prompt) -> None:
        for number, name in enumerate(("private/key", "public/key", "PRIVATE/key", "./x/../public/key")):
            with pytest.raises(RpcError, match="refused by policy"):
                await far.ask("fs/read_text_file", path=f"{root}/{name}")
            call = {"toolCallId": f"r{number}", "kind": "read", "rawInput": {"path": f"{root}/{name}"}}
            got.append(await far.permission(title="Read", **call))

    policy = Policy.allow_all().also(Rule(decision="deny", path="private/**"))
    await run(root, script, policy=policy)
    assert [outcome["optionId"] for outcome in got] == ["abort"] * 4


SETTINGS = [
    ".claude/settings.json",
    ".claude/hooks/pre.sh",
    ".gemini/settings.json",
    ".codex/config.toml",
    ".git/hooks/pre-commit",
    ".git/config",
    ".vscode/tasks.json",
    ".zed/settings.json",
    ".mcp.json",
    ".envrc",
    "sub/.idea/workspace.xml",
    "trunkline.toml",
    ".trunkline/policy.toml",
    ".GIT/hooks/pre-commit",
    "AGENTS.md",
]


@pytest.mark.parametrize("name", SETTINGS)
async def test_cve_2026_25725_settings_and_hooks_are_not_written_even_when_absent(
    world: Path, name: str
) -> None:
    root = world / "proj"

    async def script(far: Far, prompt: Prompt) -> None:
        with refused(-32602, "is protected"):
            await far.ask("fs/write_text_file", path=f"{root}/{name}", content="evil")

    events = await run(root, script, policy=Policy.allow_all(), answer="allow_once")
    assert only(events, ev.Asked) == []
    assert os.listdir(root) == []


@pytest.mark.parametrize("name", SETTINGS)
async def test_cve_2026_25725_an_agent_that_writes_by_itself_is_asked_about_settings(
    world: Path, name: str
) -> None:
    """It asks for a permission and writes on its own: no policy and no "always" answers for a person."""
    root = world / "proj"
    got: list[Any] = []

    async def script(far: Far, prompt: Prompt) -> None:
        for number in range(2):
            call = {"toolCallId": f"w{number}", "kind": "edit", "name": "Write"}
            place = {"path": f"{root}/{name}"}
            got.append(await far.permission(title="Write", locations=[place], **call))

    for policy in (Policy.accept_edits(), Policy.allow_all(), None):
        got.clear()
        events = await run(root, script, policy=policy, answer="abort")
        assert [outcome["optionId"] for outcome in got] == ["abort"] * 2
        assert len(only(events, ev.Asked)) == 2
        offered = [option.kind for asked in only(events, ev.Asked) for option in options_of(asked)]
        assert "allow_always" not in offered


async def test_cve_2026_25725_the_policy_and_the_journal_in_use_are_not_the_agents(world: Path) -> None:
    root = world / "proj"
    (root / "rules.toml").write_text('base = "allow-all"')
    policy = load_policy(str(root / "rules.toml"))
    journal = await open_journal(f"sqlite:{root / 'history.db'}")
    got: list[Any] = []

    async def script(far: Far, prompt: Prompt) -> None:
        for name in ("rules.toml", "history.db", "history.db-wal"):
            with refused(-32602, "of this process"):
                await far.ask("fs/write_text_file", path=f"{root}/{name}", content="evil")
        assert await far.ask("fs/read_text_file", path=f"{root}/rules.toml")
        with refused(-32602, "refused by policy|no agent may read it"):
            await far.ask("fs/read_text_file", path=f"{root}/history.db")
        call = {"toolCallId": "w", "kind": "edit", "rawInput": {"path": f"{root}/rules.toml"}}
        got.append(await far.permission(title="Write", **call))
        for line in ("rm rules.toml", "echo > ./rules.toml", "sqlite3 history.db .dump", "cp x rules.toml"):
            with refused(-32602, "refused by person"):
                await far.ask("terminal/create", command=line)

    try:
        async with hub_for(ScriptedAgent(script), policy=policy, journal=journal) as hub:
            session = await hub.create(cwd=str(root))
            shown = await collect(session, "go", {ev.Asked: choose(session, "reject_once")})
            assert [event.message for event in only(shown, ev.TurnFailed)] == []
    finally:
        await journal.close()
    assert [outcome["optionId"] for outcome in got] == ["abort"]
    assert (root / "rules.toml").read_text() == 'base = "allow-all"'


@pytest.mark.parametrize(
    "line",
    [
        'echo "x"; id',
        "echo x && id",
        "echo x || id",
        "echo x | id",
        "echo x & id",
        "echo $(id)",
        "echo `id`",
        "echo x > /tmp/f",
        "echo < /etc/passwd",
        "echo x\nid",
        "echo x\rid",
        "echo ${x}",
        "echo 'open",
        "echo x #",
        "(echo x)",
    ],
)
async def test_cve_2025_54795_an_allowed_command_brings_no_other_one_along(world: Path, line: str) -> None:
    """Also Gemini CLI's allow-list, which looked at the first command of a line only."""
    root = world / "proj"

    async def script(far: Far, prompt: Prompt) -> None:
        with refused(-32602, "refused by person"):
            await far.ask("terminal/create", command=line)
        for name, raw in (("line", {"command": line}), ("words", {"command": ["sh", "-c", line]})):
            outcome = await far.permission(toolCallId=name, title=line, kind="execute", rawInput=raw)
            assert outcome["optionId"] == "abort"

    policy = Policy(rules=(Rule(decision="allow", command="echo *"),))

    async with hub_for(ScriptedAgent(script), policy=policy) as hub:
        session = await hub.create(cwd=str(root))

        async def refuse(asked: ev.Asked) -> None:
            refusal = next(option for option in options_of(asked) if option.kind == "reject_once")
            await choose(session, refusal.option_id)(asked)

        shown = await collect(session, "go", {ev.Asked: refuse})
    assert [event.message for event in only(shown, ev.TurnFailed)] == []
    assert len(only(shown, ev.Asked)) == 3


async def test_cve_2025_54795_variables_make_no_other_command_of_an_allowed_one(world: Path) -> None:
    async def script(far: Far, prompt: Prompt) -> None:
        for name in ("PATH", "LD_PRELOAD", "GIT_SSH_COMMAND", "PAGER", "TERM"):
            with refused(-32602, "refused by person"):
                env = [{"name": name, "value": "/tmp/evil"}]
                await far.ask("terminal/create", command="git", args=["log"], env=env)

    policy = Policy(rules=(Rule(decision="allow", command="git log *"),))
    await run(world / "proj", script, policy=policy)


async def test_ghsa_wpqr_6v78_jr5g_a_policy_in_the_project_widens_nothing(world: Path) -> None:
    root = world / "proj"
    (root / ".trunkline").mkdir()
    (root / ".trunkline" / "policy.toml").write_text('base = "allow-all"')
    (root / "trunkline.toml").write_text('policy = "allow-all"')

    async def script(far: Far, prompt: Prompt) -> None:
        with refused(-32602, "refused by policy"):
            await far.ask("terminal/create", command="touch made")

    await run(root, script, policy=Policy.read_only())
    assert not (root / "made").exists()


async def test_ghsa_wpqr_6v78_jr5g_a_command_that_cannot_be_read_is_not_allowed(world: Path) -> None:
    async def script(far: Far, prompt: Prompt) -> None:
        for line in ("echo 'open", "x" * 70_000, 'eval "$(base64 -d <<< aWQ=)"'):
            with refused(-32602, "refused by person"):
                await far.ask("terminal/create", command=line)

    policy = Policy.allow_all().also(Rule(decision="deny", command="id"))
    await run(world / "proj", script, policy=policy)


async def test_cve_2026_46406_what_is_written_has_no_name_that_can_be_guessed(world: Path) -> None:
    """A temporary file beside the target, with a random name, closed to others until it has its mode."""
    root = world / "proj"
    (root / "a.txt").write_text("old")
    (root / "a.txt").chmod(0o600)
    for name in (".a.txt.tmp", "a.txt.tmp", "a.txt~", ".tmp"):
        (root / name).symlink_to(world / "proj-evil" / "secret.txt")

    async def script(far: Far, prompt: Prompt) -> None:
        await far.ask("fs/write_text_file", path=f"{root}/a.txt", content="new")

    await run(root, script)
    assert stat.S_IMODE((root / "a.txt").stat().st_mode) == 0o600
    assert (world / "proj-evil" / "secret.txt").read_text() == "secret"
    assert len(os.listdir(root)) == 5


async def test_a_payload_of_the_agents_never_raises_what_it_may_do(world: Path) -> None:
    """``_meta`` is passed through and never trusted."""
    root = world / "proj"
    meta = {"permission": "allow", "trunkline": {"policy": "allow-all", "approved": True}, "mode": "yolo"}

    async def script(far: Far, prompt: Prompt) -> None:
        call = {"toolCallId": "w", "kind": "edit", "title": "Write", "_meta": meta}
        assert (await far.permission(**call))["optionId"] == "abort"
        with refused(-32602, "refused by policy"):
            await far.ask("fs/write_text_file", path=f"{root}/a", content="", _meta=meta)
        with refused(-32602, "refused by policy"):
            await far.ask("terminal/create", command="ls", _meta=meta)

    await run(root, script, policy=Policy.read_only())
