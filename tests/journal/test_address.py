"""Journal addresses: what is known, what is refused, and that every command and asgi() read them alike."""

from pathlib import Path

import pytest
from tests.cli.child_programs import run
from tests.hubs import echo, make

import trunkline
from trunkline.errors import ConfigurationError
from trunkline.journal import open_journal, parse_address
from trunkline.journal.memory import MemoryJournal
from trunkline.journal.sqlite import SqliteJournal

WRONG = ("", "redis://localhost/0", "c.db", "sqlite:", "sqlite::memory:", "memory:x", "/tmp/c.db")


async def test_a_journal_is_opened_by_its_address(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    for address in (f"sqlite:{path}", path):
        journal = await open_journal(address)
        assert isinstance(journal, SqliteJournal)
        assert journal.url == f"sqlite:{path}"
        await journal.close()
    assert isinstance(await open_journal("memory:"), MemoryJournal)


async def test_the_default_journal_lies_in_the_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    journal = await open_journal()
    assert journal.url.startswith("sqlite:")
    assert journal.url.endswith("trunkline/journal.db")
    await journal.close()
    monkeypatch.setenv("TRUNKLINE_JOURNAL", "memory:")
    assert (await open_journal()).url == "memory:"


@pytest.mark.parametrize("wrong", WRONG)
async def test_an_unknown_address_is_refused_and_the_known_ones_are_named(wrong: str) -> None:
    with pytest.raises(ConfigurationError, match=r"use sqlite:PATH, .* or memory:"):
        await open_journal(wrong)


def test_a_bare_path_is_answered_with_its_address() -> None:
    with pytest.raises(ConfigurationError, match=r"\(for a file: sqlite:c\.db\)"):
        parse_address("c.db")


@pytest.mark.parametrize("wrong", WRONG)
def test_an_app_refuses_it_when_it_is_made(wrong: str) -> None:
    with pytest.raises(ConfigurationError, match="unknown journal"):
        trunkline.asgi(make(echo), journal=wrong, tokens="a-token-for-the-tests")


@pytest.mark.parametrize(
    "arguments",
    [
        ("exec", "demo", "hello"),
        ("chat", "demo"),
        ("acp", "demo"),
        ("serve", "demo", "--port", "0"),
        ("sessions", "list"),
    ],
)
@pytest.mark.parametrize("by_environment", [False, True])
def test_every_command_refuses_it_before_anything_starts(
    arguments: tuple[str, ...], by_environment: bool, tmp_path: Path
) -> None:
    option = () if by_environment else ("--journal", "redis://localhost/0")
    environment = {"TRUNKLINE_JOURNAL": "redis://localhost/0"} if by_environment else {}
    ended = run(*arguments, *option, cwd=tmp_path, **environment)

    assert ended.code == 2
    assert ended.err.startswith("error: unknown journal 'redis://localhost/0': use sqlite:PATH, ")
    assert "Traceback" not in ended.err
    assert ended.out == ""
    assert list(tmp_path.iterdir()) == []
