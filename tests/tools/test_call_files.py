"""The files of a call: where they are, and the old text of those that it overwrites."""

from pathlib import Path
from typing import Any

import pytest

from trunkline.content import DiffBlock, TextBlock
from trunkline.session.permissions import Permissions, ToolRequest
from trunkline.tools.call_files import CallFiles
from trunkline.tools.folder_reader import folder_reader
from trunkline.workspace import Policy
from trunkline.workspace import Rule as PolicyRule


def test_a_path_on_no_disk_has_no_location_and_its_change_is_text() -> None:
    files = CallFiles(None, lambda tool, path: None if path.startswith("/virtual") else f"/project{path}")
    assert [one.path for one in files.locations("read", {"path": "/a"})] == ["/project/a"]
    assert files.locations("read", {"path": "/virtual/a"}) == ()
    (shown,) = files.changes("write_file", {"path": "/virtual/a", "content": "new"})
    assert isinstance(shown, TextBlock)
    assert "+new" in shown.text
    assert files.paths("read", {"path": "/a"}) == ["/a", "/project/a"]


def test_an_overwrite_shows_the_old_text_of_files_that_the_agent_may_read_and_of_no_other(
    tmp_path: Path,
) -> None:
    inside, outside = tmp_path / "in.py", tmp_path.parent / f"{tmp_path.name}-out.py"
    for file in (inside, outside):
        file.write_text("IMPORTANT = 1\n")
    (tmp_path / "link.py").symlink_to(outside)
    (tmp_path / "raw.bin").write_bytes(b"\0\1")
    found = CallFiles(folder_reader([str(tmp_path), None, "/no/such/folder"]))

    def old(path: Path) -> str | None:
        (block,) = found.changes("write_file", {"path": str(path), "content": "new"})
        assert isinstance(block, DiffBlock)
        assert (block.path, block.new) == (str(path), "new")
        return block.old

    assert old(inside) == "IMPORTANT = 1\n"
    assert old(outside) is None
    assert old(tmp_path / "link.py") is None
    assert old(tmp_path / "raw.bin") is None
    assert old(tmp_path / "new.py") is None
    edit = {"path": str(inside), "old_str": "1", "new_str": "2"}
    assert found.changes("edit", edit) == (DiffBlock(path=str(inside), old="1", new="2"),)


@pytest.mark.parametrize(
    "args",
    [
        {"file_path": "a\n/../secrets/x"},
        {"file_path": "a://../secrets/x"},
        {"paths": [*(f"f{n}" for n in range(200)), "secrets/x"]},
        {"patch": "*** Begin Patch\n*** Update File: secrets/x\n@@\n-a\n+b\n*** End Patch"},
    ],
)
def test_a_path_that_no_client_could_open_is_judged_all_the_same(args: Any) -> None:
    permissions = Permissions(Policy.allow_all().also(PolicyRule(decision="deny", path="secrets/**")))
    paths = tuple(CallFiles().paths("read", args))
    request = ToolRequest(call_id="c1", tool="read", kind="read", input=args, paths=paths)
    judged = permissions.decide(request)
    assert judged is not None
    assert not judged.allowed
