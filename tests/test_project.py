"""Rules of the house that no single module can keep: sizes, names, versions, locks, nothing private."""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import trunkline._version

ROOT = Path(__file__).parent.parent
CEILING = 500
BINARY = frozenset({".png", ".svg", ".ico", ".woff", ".woff2", ".gz"})
LOCKS = ("demo", "test", "dev")

# Brackets keep the patterns from finding themselves.
PRIVATE = {
    "a registry": re.compile(
        r"https?://[\w.-]*([n]pmjs|[n]pmmirror|[p]ypi|[p]ythonhosted|deb\.[d]ebian)[\w.]*/"
    ),
    "an index option": re.compile(r"--(extra-)?index-[u]rl|--find-[l]inks"),
    "a resolved address in a lock": re.compile(r'"[r]esolved": *"https?:'),
    "this clone's folder": re.compile(re.escape(f"{ROOT}/")),
    "the home folder": re.compile(re.escape(f"{Path.home()}/")),
}


def files(*patterns: str) -> Iterator[Path]:
    """Give the files that are, or are about to be, under version control."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=30)
    return (ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file())


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    """The parsed pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_no_module_is_longer_than_the_ceiling() -> None:
    sizes = {
        str(path.relative_to(ROOT)): path.read_bytes().count(b"\n")
        for path in files("src/*.py", "bench/*.py")
    }
    assert sizes
    assert {name: size for name, size in sizes.items() if size > CEILING} == {}, "find the second room"


def test_no_module_is_called_after_nothing() -> None:
    assert [
        str(path) for path in files("*.py") if path.stem in {"utils", "util", "helpers", "common", "misc"}
    ] == []


def test_no_file_names_a_registry_or_a_folder_of_one_machine() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {what}"
        for path in files()
        if path.suffix not in BINARY
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for what, pattern in PRIVATE.items()
        if pattern.search(line)
    ]
    assert found == []


def test_the_changelog_begins_with_the_version_of_the_package() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## \[?(\d+\.\d+\.\d+)", changelog, re.MULTILINE)
    assert newest is not None
    assert newest[1] == trunkline._version.__version__


def test_the_base_install_is_light_and_the_rest_are_extras(project: dict[str, Any]) -> None:
    assert declared(project["project"]["dependencies"]) == {
        "anyio", "click", "msgspec", "orjson", "platformdirs", "rich",
    }  # fmt: skip
    assert set(project["project"]["optional-dependencies"]) == {
        "langchain", "openai", "mcp", "server", "redis", "finance", "all",
    }  # fmt: skip


def test_the_extra_called_all_means_all(project: dict[str, Any]) -> None:
    extras = dict(project["project"]["optional-dependencies"])
    (everything,) = extras.pop("all")
    assert set(re.findall(r"\w+", everything.partition("[")[2])) == set(extras)


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_of_a_lock_has_a_hash(lock: str) -> None:
    pins = re.split(
        r"^(?=\S)", (ROOT / f"requirements/{lock}.txt").read_text(encoding="utf-8"), flags=re.MULTILINE
    )[1:]
    assert pins
    assert [pin for pin in pins if not re.match(r"[\w.-]+==\S+( ; .+)? \\\n    --hash=sha256:", pin)] == []


def test_the_locks_hold_what_the_project_declares_and_agree(project: dict[str, Any]) -> None:
    locks = {name: pinned(name) for name in LOCKS}
    groups = project["dependency-groups"]
    wanted = declared(project["project"]["dependencies"]) | declared(groups["build"])
    for name, group in (("demo", "build"), ("test", "test"), ("dev", "dev")):
        wanted |= declared(entry for entry in groups[group] if isinstance(entry, str))
        assert wanted <= {pin.partition("==")[0] for pin in locks[name]}, (
            f"run make lock: {name}.txt is behind"
        )
    assert locks["demo"] <= locks["test"] <= locks["dev"]


def declared(requirements: Iterator[str] | list[str]) -> set[str]:
    """Give the bare names of requirements."""
    return {re.split(r"[^\w.-]", requirement, maxsplit=1)[0] for requirement in requirements}


def pinned(lock: str) -> set[str]:
    """Give a lock's pins as name==version."""
    return set(
        re.findall(
            r"^[\w.-]+==[^ \\]+",
            (ROOT / f"requirements/{lock}.txt").read_text(encoding="utf-8"),
            re.MULTILINE,
        )
    )
