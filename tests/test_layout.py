"""The folders: tests mirror src, packages list their modules, and docs name files that exist."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src/trunkline"
NEEDS_TESTS = 100
"""Lines above which a module has a test file of its own."""
PACKAGES = sorted(path.parent for path in SOURCE.rglob("__init__.py"))
ENTRY = re.compile(r"^\* ``(\w+)``: \S.*\S$", re.MULTILINE)
NAMED_FILE = re.compile(r"`((?:[a-z_0-9]+/)*[a-z_0-9]+\.py)`")


def expected_test(module: Path) -> Path:
    """Give the path of a module's own tests: ``a/_b.py`` has ``tests/a/test_b.py``."""
    return ROOT / "tests" / module.relative_to(SOURCE).parent / f"test_{module.stem.strip('_')}.py"


def test_every_module_of_some_size_has_tests_of_its_own() -> None:
    modules = [path for path in SOURCE.rglob("*.py") if path.stem != "__init__"]
    modules = [path for path in modules if path.read_text("utf-8").count("\n") > NEEDS_TESTS]
    missing = {str(path.relative_to(SOURCE)) for path in modules if not expected_test(path).is_file()}
    assert missing == set()


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_packages_docstring_lists_its_modules_in_one_line_each(package: Path) -> None:
    docstring = ast.get_docstring(ast.parse((package / "__init__.py").read_text("utf-8"))) or ""
    modules = {path.stem for path in package.glob("*.py")} - {"__init__", "__main__"}
    folders = {path.parent.name for path in package.glob("*/__init__.py")}
    assert ENTRY.findall(docstring) == sorted(modules | folders)


@pytest.mark.parametrize("page", ["architecture", "security"])
def test_the_files_that_a_page_about_the_code_names_exist(page: str) -> None:
    named = NAMED_FILE.findall((ROOT / f"docs/{page}.md").read_text("utf-8"))
    assert named
    assert [path for path in named if not ((SOURCE / path).is_file() or (ROOT / path).is_file())] == []
