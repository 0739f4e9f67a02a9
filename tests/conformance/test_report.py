"""The report: text for people, JSON for programs, JUnit for build servers."""

from typing import Any
from xml.etree import ElementTree

import pytest

from tests.conformance.test_table import Said, made
from trunkline.conformance.report import Report
from trunkline.conformance.table import Verdict


def reported(*, strict: bool = False, **changes: Verdict) -> Report:
    table = made()
    verdicts = {**table.judge(Said()), **{name.replace("_", "-"): one for name, one in changes.items()}}
    return Report.of(table, "an \x1b[2Jagent", verdicts, 1.25, strict=strict)


def test_the_text_has_every_requirement_and_the_transcript_of_a_failure() -> None:
    text = "\n".join(reported().lines())
    assert "fail  ACP-INIT-002  It fails." in text
    assert "https://example.org/init" in text
    assert "one line" in text
    assert "skip  ACP-INIT-003" in text
    assert text.endswith("\n\nNOT conformant: 1 passed, 2 failed, 1 skipped in 1.2 s")


def test_a_reason_for_which_most_was_skipped_is_told_once() -> None:
    row = reported().rows[1]
    skipped = row._replace(verdict=Verdict("skip", "initialize was not answered"))
    lines = list(reported()._replace(rows=(row, *[skipped] * 80)).lines())
    assert [line for line in lines if line.startswith("skip")] == ["skip  80 requirements"]
    assert "\n".join(lines).count("initialize was not answered") == 1
    assert lines[2].startswith("fail")


def test_a_long_report_names_its_failures_at_the_end() -> None:
    report = reported()
    lines = list(report._replace(rows=(report.rows[1], *[report.rows[0]] * 20)).lines())
    assert lines[-2:] == ["failed: ACP-INIT-002", "NOT conformant: 20 passed, 1 failed in 1.2 s"]


def test_what_a_subject_is_called_cannot_move_the_cursor() -> None:
    assert "\x1b" not in "\n".join(reported().lines())


def test_the_short_text_leaves_out_what_passed() -> None:
    text = "\n".join(reported().lines(all_rows=False))
    assert "ACP-INIT-001" not in text
    assert "ACP-INIT-002" in text


def test_a_report_without_a_failure_is_conformant() -> None:
    passed = Verdict("pass")
    assert reported(ACP_INIT_002=passed, ACP_INIT_004=passed).conformant


def test_a_report_in_which_everything_was_skipped_is_not_conformant() -> None:
    skipped = Verdict("skip", "not offered")
    verdicts: dict[str, Any] = {f"ACP_INIT_00{number}": skipped for number in range(1, 6)}
    report = reported(**verdicts)
    assert report.failures == ()
    assert not report.conformant


def test_advice_alone_can_be_kept() -> None:
    row = reported().rows[0]
    advice = row._replace(requirement=row.requirement._replace(level="A"))
    assert reported()._replace(rows=(advice,)).conformant


@pytest.mark.parametrize("strict", [False, True])
def test_advice_counts_only_when_one_is_strict(strict: bool) -> None:
    passed = Verdict("pass")
    report = reported(strict=strict, ACP_INIT_002=passed, ACP_INIT_004=passed)
    advice = report.rows[1].requirement._replace(level="A")
    rows = (report.rows[0], report.rows[1]._replace(requirement=advice, verdict=Verdict("fail", "no")))
    report = report._replace(rows=rows)
    assert report.conformant is not strict
    assert ("warn" in "\n".join(report.lines())) is not strict


def test_json_has_ids_levels_places_and_notes() -> None:
    plain = reported().as_json()
    assert plain["conformant"] is False
    assert plain["counts"] == {"pass": 1, "fail": 2, "skip": 1, "info": 1}
    assert plain["requirements"][1] == {
        "id": "ACP-INIT-002",
        "level": "mandatory",
        "sentence": "It fails.",
        "specification": "https://example.org/init",
        "outcome": "fail",
        "note": "one is not more than two",
        "transcript": ["one line"],
    }


def test_junit_can_be_read_whatever_an_agent_said() -> None:
    odd = Verdict("fail", "a \x00 and \x1b and \ufffe", ("<&>\x07",))
    suite = ElementTree.fromstring(reported(ACP_INIT_002=odd).as_junit())
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("5", "2", "1")
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert "<&>" in (failure.text or "")
