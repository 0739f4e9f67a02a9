"""What is loaded, and when: a light start is a promise, so it is measured in fresh processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

FRAMEWORKS = frozenset({"acp", "ag_ui", "agents", "deepagents", "fastapi", "langchain", "langgraph", "mcp"})
LIBRARIES = frozenset({"httpx", "langchain_core", "openai", "pydantic", "redis", "starlette", "websockets"})
HEAVY = FRAMEWORKS | LIBRARIES | {"rich"}
COMMAND = "import sys; from trunkline.cli import main; sys.exit(main())"
QUIET = (["--version"], ["exec", "demo", "hello", "--format", "json", "--journal", "memory:"])
FIRST = """
import importlib, json, pkgutil, sys, trunkline

names = [info.name for info in pkgutil.walk_packages(trunkline.__path__, "trunkline.")]
failed = {}
for name in (name for name in names if not name.endswith("__main__")):
    for loaded in [loaded for loaded in sys.modules if loaded.partition(".")[0] == "trunkline"]:
        del sys.modules[loaded]
    try:
        importlib.import_module(name)
    except ImportError as error:
        failed[name] = str(error)
print(json.dumps([len(names), failed]))
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run this Python in a child that is not measured: coverage would load modules of its own."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=250, check=True)


def loaded(*arguments: str) -> set[str]:
    """Give the top-level names that a program imports from start to end."""
    lines = run("-X", "importtime", *arguments).stderr.splitlines()
    return {
        line.rpartition("|")[2].strip().partition(".")[0] for line in lines if line.startswith("import time:")
    }


def test_importing_the_package_pulls_no_framework_and_nothing_that_draws() -> None:
    assert loaded("-c", "import trunkline") & (HEAVY | {"click", "sqlite3"}) == set()


@pytest.mark.parametrize("arguments", QUIET)
def test_a_command_that_draws_nothing_does_not_load_what_draws(arguments: list[str]) -> None:
    assert loaded("-c", COMMAND, *arguments) & HEAVY == set()


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_every_module_can_be_the_first_one_imported() -> None:
    count, failed = json.loads(run("-c", FIRST).stdout)
    assert count > 20
    assert failed == {}
