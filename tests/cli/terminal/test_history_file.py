import stat
from pathlib import Path

from trunkline.cli.terminal.history_file import HistoryFile


def test_prompts_are_kept_newest_first_for_the_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "state" / "chat-history"
    first, second = HistoryFile(path), HistoryFile(path)
    first.store_string("one\nof two lines 🚀")
    second.store_string("two")
    first.store_string(" a secret")
    first.store_string("x" * 100_000)
    assert list(HistoryFile(path).load_history_strings()) == ["two", "one\nof two lines 🚀"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_damaged_line_is_skipped_and_a_long_file_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "chat-history"
    path.write_text("{}\nnot json\n" + "".join(f'"{number}"\n' for number in range(2500)))
    assert len(list(HistoryFile(path).load_history_strings())) == 1000
    assert len(path.read_text().splitlines()) == 1000
    assert next(iter(HistoryFile(path).load_history_strings())) == "2499"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_cannot_be_written_is_no_reason_not_to_chat(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    history = HistoryFile(tmp_path / "file" / "chat-history")
    history.store_string("hello")
    assert list(history.load_history_strings()) == []
