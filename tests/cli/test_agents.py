import os
from pathlib import Path

import pytest

from tests.cli.child_programs import run


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A PATH on which goose and npx are installed, and nothing else."""
    for name in ("goose", "npx"):
        (tmp_path / name).write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    return str(tmp_path)


def test_the_list_fits_80_columns_and_marks_what_is_installed(path: str) -> None:
    result = run("agents", PATH=path)
    assert result.code == 0
    assert max(map(len, (result.out + result.err).splitlines())) <= 80
    lines = result.out.splitlines()
    assert "* goose               goose               goose (installed)" in lines
    assert "  gemini              Gemini CLI          npx (downloads it)" in lines
    assert "  kimi                Kimi CLI            kimi (install it first)" in lines
    assert "agentclientprotocol/registry, 2026-08-20" in result.err


def test_only_the_installed_ones_are_listed_if_asked(path: str, tmp_path: Path) -> None:
    result = run("agents", "--installed", PATH=path)
    assert [line.split()[1] for line in result.out.splitlines()[1:]] == ["goose"]
    none = run("agents", "--installed", PATH=str(tmp_path / "empty"))
    assert none.code == 0
    assert "No agent of the registry is installed" in none.err


def test_show_gives_the_exact_command(path: str) -> None:
    result = run("agents", "show", "auggie", PATH=path)
    assert "  command   AUGMENT_DISABLE_AUTO_UPDATE=1 npx -y @augmentcode/auggie@0.35.0 --acp\n" in result.out
    assert "npx downloads this package and runs it" in result.out
    assert "trunkline chat registry:auggie" in result.out
    other = run("agents", "show", "registry:gemini@latest", PATH=path)
    assert "npx -y @google/gemini-cli@latest --acp" in other.out
    assert "trunkline chat registry:gemini@latest" in other.out


def test_show_says_what_must_be_installed_first(path: str) -> None:
    assert "command   goose acp\n" in run("agents", "show", "goose", PATH=path).out
    result = run("agents", "show", "kimi", PATH=path)
    assert result.code == 0
    assert "missing   Kimi CLI is not installed: kimi is not on PATH. See https://" in result.out


def test_an_unknown_agent_is_wrong_usage_with_the_nearest_ones() -> None:
    result = run("agents", "show", "gemeni")
    assert result.code == 2
    assert "did you mean gemini?" in result.err
    assert run("agents", "--installed", "show", "gemini").code == 2


def test_help_teaches_with_examples_that_work() -> None:
    text = run("agents", "--help").out
    for line in text.partition("Examples:")[2].splitlines():
        if line.strip().startswith("trunkline"):
            assert run(*line.split()[1:], PATH=os.environ["PATH"]).code == 0
