"""The cache of agents' cards."""

import os
import stat
from pathlib import Path
from typing import Any

import msgspec
import pytest

from trunkline.frontends.acp import card_cache
from trunkline.frontends.acp.card_cache import CardCache
from trunkline.frontends.acp.initialize import initialize_result
from trunkline.testing import ScriptedAgent

CARD: dict[str, Any] = {"name": "hal", "version": "9", "title": "HAL"}


def test_a_card_is_the_same_by_way_of_the_cache(tmp_path: Path) -> None:
    cache = CardCache("demo", tmp_path)
    card = msgspec.to_builtins(ScriptedAgent(authentication=True).card)
    cache.store(card)
    loaded = CardCache("demo", tmp_path).load()
    assert loaded is not None
    assert initialize_result(loaded, {}) == initialize_result(card, {})


# -- the cache -------------------------------------------------------------------------------------


def test_a_card_is_known_for_as_long_as_its_file_stays_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source, folder = tmp_path / "agent.py", tmp_path / "cards"
    source.write_text("one")
    assert CardCache("agent.py:hal", folder).load() is None
    CardCache("agent.py:hal", folder).store(CARD)
    assert CardCache("agent.py:hal", folder).load() == CARD
    assert CardCache("agent.py:other", folder).load() is None
    source.write_text("two")
    assert CardCache("agent.py:hal", folder).load() is None
    source.write_text("one")
    assert CardCache("agent.py:hal", folder).load() == CARD


def test_the_same_name_elsewhere_or_in_another_version_is_another_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "cards"
    monkeypatch.chdir(tmp_path)
    CardCache("pkg:hal", folder).store(CARD)
    with monkeypatch.context() as moved:
        moved.chdir("/")
        assert CardCache("pkg:hal", folder).load() is None
    monkeypatch.setattr(card_cache, "__version__", "0.0.0")
    assert CardCache("pkg:hal", folder).load() is None


def test_the_card_of_a_program_is_known_until_the_program_is_upgraded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, folder = tmp_path / "coder", tmp_path / "cards"
    program.write_text("one")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"/nowhere:{tmp_path}")
    CardCache("acp:coder --acp", folder).store(CARD)
    assert CardCache("acp:coder --acp", folder).load() == CARD
    program.write_text("one and a half")
    assert CardCache("acp:coder --acp", folder).load() is None


def test_a_file_that_is_gone_has_a_place_in_the_cache_too(tmp_path: Path) -> None:
    cache = CardCache(f"{tmp_path}/gone.py:hal", tmp_path)
    assert cache.load() is None
    cache.store(CARD)
    assert cache.load() == CARD


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"7", b"{}", b"\xff", b'{"version": "1"}'])
def test_a_damaged_cache_is_no_cache(content: bytes, tmp_path: Path) -> None:
    cache = CardCache("demo", tmp_path)
    cache.store(CARD)
    (file,) = tmp_path.iterdir()
    file.write_bytes(content)
    assert cache.load() is None
    cache.store(CARD)
    assert cache.load() == CARD


def test_a_folder_that_cannot_be_written_only_costs_time(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cache = CardCache("demo", tmp_path / "file" / "cards")
    cache.store(CARD)
    assert cache.load() is None


def test_a_card_that_is_known_already_is_not_written_again(tmp_path: Path) -> None:
    cache = CardCache("demo", tmp_path)
    cache.store(CARD)
    (file,) = tmp_path.iterdir()
    before = file.stat()
    cache.store(CARD)
    assert file.stat().st_ino == before.st_ino
    cache.store({**CARD, "version": "10"})
    assert cache.load() == {**CARD, "version": "10"}
    assert list(tmp_path.iterdir()) == [file], "no partial file is left"


def test_the_folder_is_the_persons_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    CardCache("demo").store(CARD)
    folder = tmp_path / "xdg/trunkline/cards"
    assert stat.S_IMODE(folder.stat().st_mode) & 0o077 == 0
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    CardCache("demo").store(CARD)
    assert len(os.listdir(tmp_path / "home/.cache/trunkline/cards")) == 1
