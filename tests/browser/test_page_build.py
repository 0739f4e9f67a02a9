"""The built page in the package is the one that its source gives, and it is safe to serve."""

import filecmp
import json
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

BUILT = "src/trunkline/server/page"


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_what_is_committed_is_what_the_source_gives(root: Path, tmp_path: Path) -> None:
    made = subprocess.run(
        [root / "scripts/build-page", tmp_path], capture_output=True, text=True, timeout=600, check=False
    )
    assert made.returncode == 0, made.stdout + made.stderr
    names = files(root / BUILT)
    assert names == files(tmp_path), "run scripts/build-page and commit what it makes"
    _, different, failed = filecmp.cmpfiles(root / BUILT, tmp_path, sorted(names), shallow=False)
    assert (different, failed) == ([], []), "run scripts/build-page and commit what it makes"


def test_the_page_has_no_script_or_style_inside_and_nothing_from_elsewhere(root: Path) -> None:
    page = (root / BUILT / "index.html").read_text()
    assert "<style" not in page
    assert "style=" not in page
    assert page.count("<script") == page.count('<script type="module" crossorigin src="./assets/')
    assert "http" not in page


def test_the_licences_of_what_is_built_in_go_along(root: Path) -> None:
    packages: dict[str, str] = json.loads((root / "web/package.json").read_text("utf-8"))["dependencies"]
    licences = (root / BUILT / "assets/licenses.txt").read_text("utf-8")
    for name, version in packages.items():
        assert f"## {name} - {version} " in licences
