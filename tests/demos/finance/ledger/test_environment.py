"""What a file .env may say, and that it never overrides the process."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunkline.demos.finance.ledger.environment import MAX_BYTES, environment, parse_env
from trunkline.demos.finance.ledger.failures import LedgerError


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


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    assert all(name and "=" not in name for name in parse_env(text))


def test_the_file_never_overrides_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("FIRST=file\nSECOND=file\n")
    monkeypatch.setenv("FIRST", "process")
    monkeypatch.delenv("SECOND", raising=False)
    monkeypatch.chdir(tmp_path)
    assert (environment()["FIRST"], environment()["SECOND"]) == ("process", "file")
    assert environment(tmp_path, {"SECOND": ""}) == {"FIRST": "file", "SECOND": ""}


def test_a_missing_file_is_no_error(tmp_path: Path) -> None:
    assert environment(tmp_path, {"A": "b"}) == {"A": "b"}


@pytest.mark.parametrize(
    ("data", "said"), [(b"A=" + b"x" * MAX_BYTES, "larger than"), (b"A=\xff", "not text in UTF-8")]
)
def test_a_file_that_cannot_be_read_is_said(tmp_path: Path, data: bytes, said: str) -> None:
    (tmp_path / ".env").write_bytes(data)
    with pytest.raises(LedgerError, match=said):
        environment(tmp_path, {})
