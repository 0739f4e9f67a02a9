"""What a file of variables may say, and that it never overrides the process."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunkline.env_file import (
    MAX_BYTES,
    lines_left_out,
    load_env_file,
    own_environment,
    parse_env,
    read_env_file,
)
from trunkline.errors import ConfigurationError
from trunkline.own_files import own_file


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("A=b", "b"),
        ("  A = b  ", "b"),
        ("export A=b", "b"),
        ("A=b # why", "b"),
        ("A=b#c", "b#c"),
        ("A=# nothing", ""),
        ("A=", ""),
        ("A='b # c'", "b # c"),
        ("A='$HOME \\n' # why", "$HOME \\n"),
        ('A="b\\n\\"c\\""', 'b\n"c"'),
        ("A=first\nA=second", "second"),
        ("\ufeffA=b\r\n", "b"),
        ("A='open", "'open"),
    ],
)
def test_a_line_is_read(line: str, value: str) -> None:
    assert parse_env(line) == {"A": value}


@pytest.mark.parametrize("line", ["", "# A=b", "A", "1A=b", "A B=c", "=b"])
def test_a_line_of_another_form_is_left_out(line: str) -> None:
    assert parse_env(line) == {}


def test_the_lines_left_out_are_told_by_their_numbers_and_comments_are_none() -> None:
    assert lines_left_out("\ufeff# keys\nA=b\n\nB: c\n  # A\nexport C\n") == [4, 6]


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    assert all(name and "=" not in name for name in parse_env(text))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of variables."""
    return tmp_path / "keys.env"


def test_the_file_never_overrides_the_process_and_another_process_reads_it_anew(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text("TRUNKLINE_TEST_A=file\nTRUNKLINE_TEST_B=file\n")
    monkeypatch.setenv("TRUNKLINE_TEST_A", "process")
    monkeypatch.setenv("TRUNKLINE_TEST_B", "gone")
    monkeypatch.delenv("TRUNKLINE_TEST_B")

    load_env_file(file)

    assert (os.environ["TRUNKLINE_TEST_A"], os.environ["TRUNKLINE_TEST_B"]) == ("process", "file")
    assert "TRUNKLINE_TEST_A" in own_environment()
    assert "TRUNKLINE_TEST_B" not in own_environment()


def test_no_agent_of_this_process_may_read_the_file(file: Path) -> None:
    file.write_text("")
    load_env_file(file)
    known = own_file(str(file))
    assert known is not None
    assert known.secret


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"A=" + b"x" * MAX_BYTES, "larger than"),
        (b"A=\xff", "not text in UTF-8"),
        (None, "cannot be read .No such file"),
    ],
)
def test_a_file_that_cannot_be_read_is_said(file: Path, data: bytes | None, said: str) -> None:
    if data is not None:
        file.write_bytes(data)
    with pytest.raises(ConfigurationError, match=said):
        read_env_file(file)
