import time

import pytest

from trunkline.exports.html import as_html
from trunkline.exports.markdown import as_markdown, as_text
from trunkline.folding import fold
from trunkline.journal import SessionInfo


def test_every_file_has_the_same_dates_wherever_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    info = SessionInfo(principal="local", session_id="s", created_at=1e9, updated_at=2e9)
    try:
        monkeypatch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        for export in (as_text, as_markdown, as_html):
            assert "egun 2001-09-09 01:46 UTC, last used 2033-05-18 03:33 UTC" in export(info, fold([]))
    finally:
        monkeypatch.undo()
        time.tzset()


def test_dates_that_are_not_known_are_left_out() -> None:
    info = SessionInfo(principal="local", session_id="s")
    assert all("egun" not in export(info, fold([])) for export in (as_text, as_markdown, as_html))
