import stat
from pathlib import Path

import pytest

from trunkline.errors import WorkspaceError
from trunkline.state_files import StateFile, protect_state_folder, state_folder
from trunkline.workspace import Files


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


def test_what_was_stored_is_loaded_by_its_key() -> None:
    StateFile("facts", "a", "b").store({"x": 1})
    StateFile("facts", "ab").store({"x": 2})
    assert StateFile("facts", "a", "b").load() == {"x": 1}
    assert StateFile("facts", "ab").load() == {"x": 2}
    assert StateFile("others", "ab").load() is None


def test_only_the_user_may_read_it(folder: Path) -> None:
    file = StateFile("facts", "secret/../name")
    file.store({"x": 1})
    assert file.path.is_relative_to(folder / "trunkline")
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.path.parent.stat().st_mode) == 0o700


def test_a_value_that_cannot_be_written_leaves_the_last_one_and_no_scraps() -> None:
    file = StateFile("facts", "k")
    file.store({"x": 1})
    with pytest.raises(TypeError):
        file.store({"x": object()})
    assert file.load() == {"x": 1}
    assert list(file.path.parent.iterdir()) == [file.path]


@pytest.mark.parametrize("damage", [b"", b"{", b"[1]", b"\xff"])
def test_a_damaged_file_is_like_none(damage: bytes) -> None:
    file = StateFile("facts", "k")
    file.store({})
    file.path.write_bytes(damage)
    assert file.load() is None


def test_a_discarded_value_is_gone_and_can_be_discarded_again() -> None:
    file = StateFile("facts", "k")
    file.store({"x": 1})
    file.discard()
    file.discard()
    assert file.load() is None


async def test_no_agent_writes_there(folder: Path) -> None:
    protect_state_folder()
    files = Files([str(folder)])
    with pytest.raises(WorkspaceError, match="is a part of the state folder of this process"):
        await files.write("trunkline/launches/x.json", "{}")
    await files.write("trunkline.txt", "mine")


def test_the_folder_is_in_the_users_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", "/home/someone")
    assert str(state_folder()) == "/home/someone/.local/state/trunkline"
