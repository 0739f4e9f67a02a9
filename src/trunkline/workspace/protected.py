"""Protected files: those that git, an editor, a shell or an agent obeys when it meets them in a folder.

An agent that may write one could run commands or grant itself rights without being asked, so it may
not even create it. What a person starts on purpose (a Makefile, a script, a workflow of a CI server) is
not among them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from trunkline.workspace.patterns import fold, path_matches

_PATTERNS = {
    "settings and policy of Trunkline": ".trunkline/** trunkline.toml",
    "git's hooks, filters and other programs": ".git/** .gitmodules .gitattributes .gitconfig .lfsconfig",
    "hooks that a tool installs in git": """
        .githooks/** .husky/** .pre-commit-config.yaml .pre-commit-config.yml .pre-commit-hooks.yaml
        lefthook.* .lefthook.* .lefthook/** .overcommit.yml
    """,
    "other version control with hooks": ".hg/** .hgrc .svn/** .jj/** .sl/**",
    "tasks, debuggers and interpreters of editors": """
        .vscode/** *.code-workspace .idea/** .fleet/** .zed/** .helix/** .nova/** .vs/**
        *.sublime-project .jupyter/**
    """,
    "code that an editor runs when it opens the folder": """
        .dir-locals.el .dir-locals-2.el .exrc .vimrc _vimrc .gvimrc .nvimrc .nvim.lua .lvimrc .vim/**
        .nvim/** .projectile
    """,
    "containers that an editor builds and starts": ".devcontainer/** .devcontainer.json",
    "settings, hooks and MCP servers of agents": """
        .mcp.json mcp.json .claude/** .claude.json .codex/** .gemini/** .cursor/** .windsurf/**
        .continue/** .roo/** .kiro/** .amazonq/** .qwen/** .opencode/** opencode.json opencode.jsonc
        .crush.json crush.json .goose/** .acpxrc.json .aider.conf.yml .agents/**
    """,
    "instructions that agents obey": """
        AGENTS.md AGENT.md AGENTS.override.md CLAUDE.md CLAUDE.local.md GEMINI.md QWEN.md .cursorrules
        .windsurfrules .clinerules .clinerules/** .roorules .rules .goosehints
        .github/copilot-instructions.md .github/instructions/** .github/prompts/** .github/agents/**
        .github/chatmodes/** .github/hooks/**
    """,
    "programs and variables that a shell or a package manager takes from the folder": """
        .envrc .mise.toml mise.toml .mise/** .npmrc .yarnrc .yarnrc.yml .pnpmfile.* .bashrc
        .bash_profile .profile .zshrc .zshenv .zprofile .ssh/**
    """,
}
PROTECTED = {why: tuple(patterns.split()) for why, patterns in _PATTERNS.items()}
"""Patterns by why they are protected; they hold at any depth, in any case and in any spelling."""

DEFAULT_PROTECTED: tuple[str, ...] = tuple(pattern for patterns in PROTECTED.values() for pattern in patterns)


class Protection:
    """Says which pattern protects a path."""

    def __init__(self, patterns: Iterable[str] = DEFAULT_PROTECTED) -> None:
        self._patterns = [
            (pattern, [f"**/{fold(form)}" for form in {pattern, _shortened(pattern)}]) for pattern in patterns
        ]

    def of(self, path: str) -> str | None:
        """Give the pattern that an absolute path fits in any of its spellings; None for none."""
        spellings = set(_spellings(path))
        for pattern, forms in self._patterns:
            if any(path_matches(form, spelling) for form in forms for spelling in spellings):
                return pattern
        return None


def _spellings(path: str) -> Iterator[str]:
    """The names that file systems of other systems, mounted here or below an editor, take for the same.

    Some ignore case, some invisible characters (HFS+), some dots and spaces at the end of a name and
    whatever follows a colon (NTFS), and to some a backslash is a slash. Git had each of these holes.
    """
    yield fold(path)
    visible = "".join(char for char in path if unicodedata.category(char) != "Cf")
    yield fold("/".join(name.split(":")[0].rstrip(". ") for name in re.split(r"[/\\]", visible)))


def _shortened(pattern: str) -> str:
    """A pattern with each hidden name as NTFS shortens it: ``.git`` is ``GIT~1`` there."""
    return "/".join(
        f"{name.lstrip('.').rpartition('.')[0][:6] or name[1:7]}~[0-9]*" if name.startswith(".") else name
        for name in pattern.split("/")
    )
