"""A table of requirements: what a check finds becomes a verdict."""

import pytest

from trunkline.conformance.table import NotApplicable, Table, need


class Said:
    """A subject of which nothing is known but a number of lines."""

    def mark(self) -> object:
        return 0

    def transcript_since(self, mark: object) -> list[str]:
        return ["one line"]


def made() -> Table[Said]:
    table: Table[Said] = Table("acp", {"INIT": "https://example.org/init"})

    @table.requirement("INIT-001", "M", "It passes.", last=True)
    def passes(subject: Said) -> str:
        return "in time"

    @table.requirement("INIT-002", "M", "It fails.")
    def fails(subject: Said) -> None:
        need(1 > 2, "one is not more than two")

    @table.requirement("INIT-003", "C", "It cannot be checked.")
    def skips(subject: Said) -> None:
        raise NotApplicable("not offered")

    @table.requirement("INIT-004", "M", "It has another shape.")
    def stumbles(subject: Said) -> None:
        raise KeyError("sessionId")

    @table.requirement("INIT-005", "I", "It is only told.")
    def tells(subject: Said) -> str:
        return "seven"

    assert all([passes, fails, skips, stumbles, tells])
    return table


def test_what_a_check_finds_becomes_a_verdict() -> None:
    verdicts = made().judge(Said())
    assert {name: verdict.outcome for name, verdict in verdicts.items()} == {
        "ACP-INIT-001": "pass",
        "ACP-INIT-002": "fail",
        "ACP-INIT-003": "skip",
        "ACP-INIT-004": "fail",
        "ACP-INIT-005": "info",
    }
    assert verdicts["ACP-INIT-001"].note == "in time"
    assert verdicts["ACP-INIT-002"] == ("fail", "one is not more than two", ("one line",))
    assert "not the expected shape" in verdicts["ACP-INIT-004"].note


def test_what_is_hopeless_is_skipped_with_the_reason() -> None:
    verdicts = made().judge(Said(), unchecked={"ACP-INIT-001": "nobody is there"})
    assert verdicts["ACP-INIT-001"] == ("skip", "nobody is there", ())
    assert verdicts["ACP-INIT-002"].outcome == "fail"


def test_only_the_requirements_that_are_named_are_checked() -> None:
    assert list(made().judge(Said(), only={"ACP-INIT-003"})) == ["ACP-INIT-003"]


def test_every_requirement_has_its_place_in_the_specification() -> None:
    assert made().rows["ACP-INIT-001"].address == "https://example.org/init"
    with pytest.raises(KeyError):
        made().requirement("SONG-001", "M", "A family that has no page.")
