"""``trunkline sessions rename``."""

from pathlib import Path

import pytest

from tests.cli.child_programs import run
from tests.cli.sessions.kept_sessions import FIRST, SECOND

pytestmark = pytest.mark.slow


def test_a_session_that_was_renamed_is_found_by_its_name_and_listed_with_it(own: Path) -> None:
    url = f"sqlite:{own}"
    done = run("sessions", "rename", FIRST[:14], "taxes", "--journal", url)
    assert (done.code, done.err) == (0, f"{FIRST} is called taxes\n")
    assert run("sessions", "show", "taxes", "--journal", url).code == 0
    assert "[taxes] Demo: permission" in run("sessions", "list", "--journal", url).out
    again = run("exec", "demo", "and then?", "--session", "taxes", "--format", "json", "--journal", url)
    assert again.json["session_id"] == FIRST

    taken = run("sessions", "rename", SECOND, "taxes", "--journal", url)
    assert taken.code == 2
    assert f"{FIRST} is called 'taxes' already" in taken.err
    for name in ("two words", "sess_1", "abcdef", ""):
        assert run("sessions", "rename", FIRST, name, "--journal", url).code == 2
