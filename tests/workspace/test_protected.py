"""Protected files: what steers git, editors, shells and agents, however it is spelled."""

import re
from pathlib import Path

import pytest

from trunkline.workspace.protected import DEFAULT_PROTECTED, PROTECTED, Protection

DOCS = Path(__file__).parents[2] / "docs" / "security.md"


@pytest.mark.parametrize(
    "path",
    [
        ".gitmodules", ".gitattributes", "src/.gitattributes", ".gitconfig",
        ".git/modules/x/hooks/post-checkout", ".dir-locals.el", ".exrc", ".nvim.lua", "proj.code-workspace",
        ".vscode/tasks.json", ".devcontainer/devcontainer.json", ".devcontainer.json", ".cursor/mcp.json",
        ".cursorrules", ".mcp.json", ".claude/settings.json", "sub/CLAUDE.md", "AGENTS.md",
        ".codex/config.toml", ".gemini/settings.json", ".husky/pre-commit", ".pre-commit-config.yaml",
        ".envrc", ".npmrc", ".github/copilot-instructions.md",
    ],
)  # fmt: skip
def test_what_steers_git_editors_and_agents_is_protected(path: str) -> None:
    assert Protection().of(f"/w/proj/{path}")


@pytest.mark.parametrize(
    "path",
    [
        ".GIT/config", ".Git/Config", "claude.MD", ".git./config", ".git /config", ".git . ./config",
        ".gitmodules.", ".g\u200cit/config", "\ufeff.git/config", ".git\u200f/hooks/x", "\uff0egit/config",
        ".git::$INDEX_ALLOCATION/config", ".mcp.json:stream", "GIT~1/config", "gitmod~1",
        "sub\\.git\\config", "VSCODE~2/tasks.json",
    ],
)  # fmt: skip
def test_another_spelling_is_the_same_file(path: str) -> None:
    assert Protection().of(f"/w/proj/{path}")


@pytest.mark.parametrize(
    "path",
    [
        ".gitignore", ".github/workflows/ci.yml", "git/config", "my.git/x", "gitx", "mygit~1",
        "vscode/settings.json", "docs/agents.md.txt", "Makefile", "package.json", "src/mcp/server.py",
        "a.json",
    ],
)  # fmt: skip
def test_what_a_person_starts_on_purpose_is_not_protected(path: str) -> None:
    assert Protection().of(f"/w/proj/{path}") is None


def test_every_pattern_protects_itself_and_says_so() -> None:
    for pattern in DEFAULT_PROTECTED:
        assert Protection([pattern]).of("/w/" + pattern.replace("/**", "/x").replace("*", "x")) == pattern


def test_the_documentation_lists_exactly_what_is_protected() -> None:
    section = DOCS.read_text(encoding="utf-8").split("## Protected files")[1].split("\n## ")[0]
    rows = [line.split("|")[1:3] for line in section.splitlines() if line.startswith("| ") and "`" in line]
    listed = {why.strip(): tuple(re.findall(r"`([^`]+)`", patterns)) for why, patterns in rows}
    assert listed == PROTECTED
