"""What a client asks for that cannot be."""

from pathlib import Path

import pytest

from trunkline.errors import InvalidCommand
from trunkline.frontends.acp.request_checks import check_folders


def test_a_folder_that_does_not_exist_is_refused_to_a_client_on_this_machine(tmp_path: Path) -> None:
    check_folders(str(tmp_path), local=True)
    check_folders(f"{tmp_path}/", [f"{tmp_path}/later"], local=True)
    file = tmp_path / "file"
    file.touch()
    for path in (tmp_path / "missing", file):
        with pytest.raises(InvalidCommand, match="does not exist: open one that does"):
            check_folders(str(path), local=True)
        check_folders(str(path))


@pytest.mark.parametrize(("cwd", "more"), [("a", ()), ("/", ("a",)), ("", ())])
def test_paths_are_absolute(cwd: str, more: tuple[str, ...]) -> None:
    with pytest.raises(InvalidCommand, match="not an absolute path"):
        check_folders(cwd, more)
