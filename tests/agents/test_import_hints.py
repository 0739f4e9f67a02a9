"""The OpenAI Agents SDK is the module ``agents``: a folder of that name hides it."""

import subprocess
import sys
from pathlib import Path

import pytest

from trunkline.agents.import_hints import import_hint

TARGET = "from agents import Agent\n\nagent = Agent(name='Helper')\n"


def resolve(folder: Path) -> str:
    """Load the TARGET in a process of its own; give what it says."""
    (folder / "app.py").write_text(TARGET)
    code = (
        "from trunkline.agents.targets import resolve_target\n"
        "try:\n    print(resolve_target('app.py:agent').card.name)\n"
        "except Exception as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout.strip()


@pytest.mark.parametrize("module", ["agents/__init__.py", "agents.py"])
def test_a_folder_or_file_of_ones_own_that_hides_the_sdk_is_named_with_what_to_do(
    tmp_path: Path, module: str
) -> None:
    place = tmp_path / module
    place.parent.mkdir(exist_ok=True)
    place.write_text("mine = 1\n")
    said = resolve(tmp_path)
    hiding = tmp_path / ("agents" if place.name == "__init__.py" else "agents.py")
    assert f"{hiding} hides the OpenAI Agents SDK" in said
    assert "rename that one" in said


def test_a_missing_sdk_is_named_by_its_package() -> None:
    hint = import_hint(ModuleNotFoundError("No module named 'agents'", name="agents"))
    assert hint == " (the module is of the package openai-agents: run `pip install 'trunkline[openai]'`)"


def test_a_missing_name_of_the_sdk_is_of_a_newer_version() -> None:
    assert "pip install -U 'trunkline[openai]'" in import_hint(ImportError("no name", name="agents"))


@pytest.mark.parametrize("module", ["langchain", "langchain_core", "langgraph"])
def test_what_the_extra_of_langchain_brings_is_named_by_it(module: str) -> None:
    missing = ModuleNotFoundError(f"No module named {module!r}", name=module)
    assert import_hint(missing) == " (run `pip install 'trunkline[langchain]'`)"


def test_other_modules_are_named_as_they_are() -> None:
    missing = ModuleNotFoundError("No module named 'absent'", name="absent")
    assert import_hint(missing) == " (install 'absent' into this environment)"
    assert import_hint(ImportError("cannot import name 'x'", name="json")) == ""
