import json
import logging
from collections.abc import Iterator

import pytest

from trunkline.cli.logs import show_access_log, show_logs

LOG = logging.getLogger("trunkline.test")


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Leave the loggers as they were."""
    logger = logging.getLogger("trunkline")
    before = (logger.handlers[:], logger.propagate)
    yield
    logger.handlers[:], logger.propagate = before


def test_a_warning_is_one_safe_line(capsys: pytest.CaptureFixture[str]) -> None:
    show_logs()
    LOG.info("not this")
    LOG.warning("careful: %s", "\x1b[2J")
    assert capsys.readouterr().err == "warning: careful: \\x1b[2J\n"


def test_a_line_of_the_access_log_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    log = logging.getLogger("trunkline.access")
    before = (log.handlers[:], log.propagate, log.level)
    try:
        show_access_log()
        log.info("GET %s 404", "/\x1b[2J")
    finally:
        log.handlers[:], log.propagate = before[:2]
        log.setLevel(before[2])
    line = capsys.readouterr().err
    assert line[8:] == " GET /\\x1b[2J 404\n"


def test_an_error_says_where_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    show_logs()
    try:
        raise ValueError("odd")
    except ValueError:
        LOG.exception("it failed")
    line = capsys.readouterr().err
    assert line.startswith("error: it failed: ValueError: odd (")
    assert "test_logs.py, line " in line
    assert line.count("\n") == 1


def test_the_place_is_in_the_code_that_called_a_library(capsys: pytest.CaptureFixture[str]) -> None:
    show_logs()
    try:
        json.loads("{")
    except ValueError:
        LOG.exception("it failed")
    assert "test_logs.py, line " in capsys.readouterr().err


def test_an_error_that_was_never_raised_has_no_place(capsys: pytest.CaptureFixture[str]) -> None:
    show_logs()
    LOG.error("it failed", exc_info=ValueError("odd"))
    assert capsys.readouterr().err == "error: it failed: ValueError: odd\n"


def test_a_traceback_is_shown_to_whoever_asks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    show_logs()
    monkeypatch.setenv("TRUNKLINE_TRACEBACK", "1")
    LOG.error("it failed", exc_info=ValueError("odd"))
    assert capsys.readouterr().err == "error: it failed\nValueError: odd\n"


def test_the_error_of_a_failed_turn_is_left_out_where_the_command_shows_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show_logs(shows_failures=True)
    LOG.error("it failed", exc_info=ValueError("odd"), extra={"failed_turn": "t1"})
    LOG.error("it failed", exc_info=ValueError("odd"))
    assert capsys.readouterr().err == "error: it failed\nerror: it failed: ValueError: odd\n"
