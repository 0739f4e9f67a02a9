import re
from collections.abc import Callable

import pytest

from trunkline.agents.acp.registry import find_agent, launch_of, parse_name, read_registry
from trunkline.errors import TargetError


def finds(*programs: str) -> Callable[[str], str | None]:
    return lambda name: f"/bin/{name}" if name in programs else None


def test_the_snapshot_says_where_and_when_it_is_from() -> None:
    registry = read_registry()
    assert registry.source == "https://github.com/agentclientprotocol/registry"
    assert re.fullmatch(r"2026-\d\d-\d\d", registry.date)


def test_every_agent_can_be_started_in_one_way() -> None:
    agents = read_registry().agents
    assert len(agents) >= 30
    assert [agent.id for agent in agents] == sorted({agent.id for agent in agents})
    for agent in agents:
        assert re.fullmatch(r"[a-z][a-z0-9-]*", agent.id)
        assert agent.home.startswith("https://")
        if agent.kind == "program":
            assert agent.program
            assert agent.package is None
        else:
            assert agent.package
            assert agent.version


def test_a_package_of_npm_is_pinned_to_the_version_of_the_snapshot() -> None:
    launch = launch_of(find_agent("auggie"), which=finds("npx"))
    assert launch.command == "npx"
    assert launch.args == ("-y", "@augmentcode/auggie@0.35.0", "--acp")
    assert launch.downloads
    assert launch.line == "AUGMENT_DISABLE_AUTO_UPDATE=1 npx -y @augmentcode/auggie@0.35.0 --acp"


def test_a_package_of_pypi_is_started_by_uvx() -> None:
    launch = launch_of(find_agent("fast-agent"), which=finds("uvx"))
    assert launch.line == "FAST_AGENT_MODEL=codexplan uvx fast-agent-acp==0.10.1 -x"
    newest = launch_of(find_agent("fast-agent"), "latest", which=finds("uvx"))
    assert newest.args == ("fast-agent-acp@latest", "-x")


def test_an_installed_program_comes_before_a_download() -> None:
    launch = launch_of(find_agent("gemini"), which=finds("gemini", "npx"))
    assert launch.line == "gemini --acp"
    assert not launch.downloads


def test_a_version_that_is_asked_for_comes_before_an_installed_program() -> None:
    agent, version = parse_name("gemini@0.61.0")
    launch = launch_of(agent, version, which=finds("gemini", "npx"))
    assert launch.line == "npx -y @google/gemini-cli@0.61.0 --acp"


@pytest.mark.parametrize("version", ["", "-x", "1 2", "file:/etc", "1;ls", "github:a/b", "../x", "1" * 65])
def test_a_version_that_is_none_cannot_name_another_package(version: str) -> None:
    with pytest.raises(TargetError, match=r"is not a version: write registry:gemini@1\.2\.3"):
        parse_name(f"gemini@{version}")


def test_the_version_of_a_program_cannot_be_chosen() -> None:
    with pytest.raises(TargetError, match="goose is a program that you install yourself"):
        parse_name("goose@1.0")


def test_what_is_missing_is_named_with_the_place_to_get_it() -> None:
    with pytest.raises(TargetError, match=r"goose is not on PATH. See https://github.com/block/goose"):
        launch_of(find_agent("goose"), which=finds())
    with pytest.raises(TargetError, match=r"npx, which is not on PATH: install Node.js"):
        launch_of(find_agent("gemini"), which=finds())
    with pytest.raises(TargetError, match=r"uvx, which is not on PATH: install uv"):
        launch_of(find_agent("fast-agent"), which=finds())


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("gemni", "did you mean gemini?"),
        ("claude", "did you mean claude-acp?"),
        ("Gemini", "did you mean gemini?"),
        ("copilot", "did you mean github-copilot or github-copilot-cli?"),
        ("codex", "did you mean codex-acp?"),
        ("xyzzy", "has no agent 'xyzzy'."),
        ("", "has no agent ''."),
    ],
)
def test_an_unknown_id_is_answered_with_the_nearest_ones(typed: str, hint: str) -> None:
    with pytest.raises(TargetError) as caught:
        find_agent(typed)
    assert hint in str(caught.value)
    assert "`trunkline agents` lists all" in str(caught.value)
