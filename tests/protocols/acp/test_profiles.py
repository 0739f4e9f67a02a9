"""Profiles of agents."""

from pathlib import Path

import pytest

from trunkline.protocols.acp import profiles
from trunkline.protocols.acp.profiles import (
    CLAUDE_CODE,
    CODEX,
    GEMINI,
    OPENCODE,
    QWEN,
    STANDARD,
    Profile,
    profile_for,
    profile_named,
    register_profile,
)


@pytest.fixture
def own_profiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what a test registers end with it."""
    monkeypatch.setattr(profiles, "_profiles", list(profiles.profiles()))


@pytest.mark.parametrize(
    ("name", "profile"),
    [
        ("@agentclientprotocol/claude-agent-acp", CLAUDE_CODE),
        ("@zed-industries/claude-code-acp", CLAUDE_CODE),
        ("gemini-cli", GEMINI),
        ("codex-acp", CODEX),
        ("@agentclientprotocol/codex-acp", CODEX),
        ("qwen-code", QWEN),
        ("OpenCode", OPENCODE),
        ("Kilo", OPENCODE),
        ("somebody-else", STANDARD),
    ],
)
def test_an_agent_is_known_by_the_name_it_gives_itself(name: str, profile: Profile) -> None:
    assert profile_for({"agentInfo": {"name": name, "version": "1"}}, ["anything"]) == profile


@pytest.mark.parametrize(
    ("command", "profile"),
    [
        (["npx", "-y", "@zed-industries/claude-code-acp"], CLAUDE_CODE),
        (["/usr/local/bin/codex-acp"], CODEX),
        (["gemini", "--acp"], GEMINI),
        (["npx", "-y", "@google/gemini-cli@0.56.0", "--acp"], GEMINI),
        (["npx", "@qwen-code/qwen-code@latest", "--acp"], QWEN),
        (["npx", "-y", "@kilocode/cli@7.4.22", "acp"], OPENCODE),
        (["npx", "opencode-ai", "acp"], OPENCODE),
        (["C:\\tools\\kilo.cmd", "acp"], OPENCODE),
        (["sh", "-c", "exec opencode acp"], OPENCODE),
        (["node", "/x/node_modules/@agentclientprotocol/codex-acp/dist/index.js"], CODEX),
        (["/home/me@work/bin/codex-acp"], CODEX),
        (["python", "agent.py"], STANDARD),
        (["/home/kilo/agent"], STANDARD),
        (["python", "/srv/gemini/qwen-notes/agent.py", "--log=opencode"], STANDARD),
        ([], STANDARD),
    ],
)
def test_an_agent_without_a_name_is_known_by_its_command(command: list[str], profile: Profile) -> None:
    assert profile_for({"agentInfo": None}, command) == profile


def test_a_name_counts_more_than_a_command() -> None:
    assert profile_for({"agentInfo": {"name": "own-agent"}}, ["gemini"]) == STANDARD


@pytest.mark.usefixtures("own_profiles")
def test_a_registered_profile_comes_first_and_replaces_one_of_its_name() -> None:
    mine = Profile(name="gemini", agent_names=("gemini-cli",), files=True)
    register_profile(mine)

    assert profile_for({"agentInfo": {"name": "gemini-cli"}}) == mine
    assert [profile.name for profile in profiles.profiles()].count("gemini") == 1
    assert profile_named("gemini") == mine


def test_an_unknown_profile_is_refused_with_the_known_names() -> None:
    known = "known profiles: claude-code, codex, gemini, opencode, qwen, standard"
    with pytest.raises(ValueError, match=known):
        profile_named("klaude")


def test_claude_code_is_known_by_the_name_in_its_extensions_too() -> None:
    assert profile_named("claudeCode") is profile_named("claude-code")


@pytest.mark.parametrize(
    ("profile", "meta", "call_id", "name"),
    [
        (CLAUDE_CODE, {"claudeCode": {"toolName": "Bash"}}, "toolu_1", "Bash"),
        (CLAUDE_CODE, {"claudeCode": {"toolName": 7}}, "toolu_1", None),
        (CLAUDE_CODE, {"claudeCode": ["Bash"]}, "toolu_1", None),
        (QWEN, {"toolName": "edit"}, "c", "edit"),
        (GEMINI, {}, "run_shell_command__call_fake_0001", "run_shell_command"),
        (GEMINI, {}, "read_file-1715081234567", "read_file"),
        (GEMINI, {}, "7f3a", None),
        (STANDARD, {"toolName": "edit"}, "run_shell_command__1", None),
    ],
)
def test_a_tool_has_the_name_that_its_agent_gives_it(
    profile: Profile, meta: dict[str, object], call_id: str, name: str | None
) -> None:
    assert profile.name_of_tool(meta, call_id) == name


def test_options_of_claude_code_have_their_place_in_session_new() -> None:
    assert CLAUDE_CODE.session_meta({"maxTurns": 3}) == {"claudeCode": {"options": {"maxTurns": 3}}}


def test_an_agent_without_a_place_for_options_refuses_them() -> None:
    with pytest.raises(ValueError, match="'gemini' take no options"):
        GEMINI.session_meta({"maxTurns": 3})


def test_gemini_is_not_offered_files() -> None:
    assert [p.name for p in profiles.profiles() if not p.files] == ["gemini"]


@pytest.mark.parametrize(
    ("initialize", "offered"),
    [
        ({"_meta": {"steering": {"supported": True}}}, True),
        ({"agentCapabilities": {"_meta": {"steering": {"supported": True}}}}, True),
        ({"_meta": {"steering": {"supported": "yes"}}}, False),
        ({}, False),
    ],
)
def test_steering_is_offered_by_the_agent_itself(initialize: dict[str, object], offered: bool) -> None:
    assert STANDARD.can_steer(initialize) is offered


def test_the_page_about_agents_has_a_row_for_each_profile() -> None:
    page = (Path(__file__).parents[3] / "docs/adding-an-agent.md").read_text(encoding="utf-8")
    for profile in profiles.profiles():
        [row] = [line for line in page.splitlines() if line.startswith(f"| `{profile.name}` |")]
        paths = [*profile.tool_name, *profile.tool_response, *profile.parent_call, *profile.subagent_name]
        paths += [*profile.usage_by_model, *profile.output_text]
        names = [".".join(path) for path in (*paths, profile.session_options or ()) if path]
        for name in (*names, *profile.agent_names, *profile.client_meta):
            assert f"`{name}`" in row
        assert profile.files is ("`fs` is not offered" not in row)
