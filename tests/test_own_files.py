"""The files that this process obeys are known by their names and by where those lead."""

from pathlib import Path

import pytest

from trunkline.journal import open_journal
from trunkline.own_files import own_file, own_files, protect_own_file
from trunkline.workspace.policy_file import load_policy


def test_a_file_is_known_by_its_name_and_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "real.toml").touch()
    (tmp_path / "link.toml").symlink_to(tmp_path / "real.toml")
    protect_own_file(tmp_path / "link.toml", "the policy")
    for name in ("link.toml", "real.toml"):
        own = own_file(str(tmp_path / name))
        assert own is not None
        assert (own.what, own.secret) == ("the policy", False)
    assert own_file(str(tmp_path / "other.toml")) is None
    assert {own.path for own in own_files()} >= {str(tmp_path / "link.toml"), str(tmp_path / "real.toml")}


def test_a_secret_stays_one(tmp_path: Path) -> None:
    protect_own_file(tmp_path / "f", "a secret", secret=True)
    protect_own_file(tmp_path / "f", "a file")
    own = own_file(str(tmp_path / "f"))
    assert own is not None
    assert own.secret


def test_a_relative_path_and_a_home_are_resolved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    protect_own_file("policy.toml", "the policy")
    protect_own_file("~/tokens", "the tokens")
    assert own_file(str(tmp_path / "policy.toml")) is not None
    assert own_file(str(tmp_path / "tokens")) is not None


async def test_a_journal_and_a_policy_are_protected_when_they_are_opened(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text('base = "ask"')
    load_policy(str(tmp_path / "p.toml"))
    journal = await open_journal(f"sqlite:{tmp_path / 'j.db'}")
    await journal.close()
    policy = own_file(str(tmp_path / "p.toml"))
    assert policy is not None
    assert not policy.secret
    for name in ("j.db", "j.db-wal", "j.db-shm", "j.db-journal"):
        own = own_file(str(tmp_path / name))
        assert own is not None
        assert own.secret
    assert own_file(str(tmp_path / "j.dbx")) is None
