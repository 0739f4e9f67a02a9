"""One settings file: nothing is lost when it cannot be written, or was changed meanwhile."""

import os
from pathlib import Path

import pytest

from trunkline.cli.init import settings_file
from trunkline.cli.init.settings_file import SettingsFile
from trunkline.errors import ConfigurationError


def test_a_file_that_was_changed_meanwhile_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b"new")
    with pytest.raises(ConfigurationError, match="changed meanwhile"):
        SettingsFile(path).write(b"ours", expected=b"old")
    with pytest.raises(ConfigurationError, match="changed meanwhile"):
        SettingsFile(path).write(b"ours", expected=None)
    assert path.read_bytes() == b"new"


def test_a_read_only_file_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b"{}")
    path.chmod(0o444)
    if os.geteuid() == 0:  # Who may write everything is told that this one may be written, too.
        monkeypatch.setattr(os, "access", lambda path, mode: False)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    with pytest.raises(PermissionError, match="read-only"):
        SettingsFile(path).write(b"ours", expected=b"{}")
    assert path.read_bytes() == b"{}"


def test_a_disk_that_is_full_leaves_the_file_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b"{}")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        SettingsFile(path).write(b"ours", expected=b"{}")
    assert path.read_bytes() == b"{}"
    assert list(tmp_path.iterdir()) == [path]


def test_backups_have_names_of_their_own_and_an_end(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.touch()
    file = SettingsFile(path)
    kept = [file.back_up(bytes([number])) for number in range(99)]
    assert [one.read_bytes() for one in kept] == [bytes([number]) for number in range(99)]
    with pytest.raises(ConfigurationError, match="remove those you do not need"):
        file.back_up(b"")


def test_a_huge_file_is_no_settings_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b"123456")
    monkeypatch.setattr(settings_file, "MAX_BYTES", 5)
    with pytest.raises(ConfigurationError, match="larger than 5 bytes"):
        SettingsFile(path).read()
