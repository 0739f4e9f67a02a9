"""Variables that only say who runs a command are not for the policy; any other value of them is."""

import pytest

from trunkline.workspace.environment_marks import without_marks


def test_marks_are_left_out() -> None:
    env = {"CLAUDECODE": "1", "TERM": "xterm-256color", "NO_COLOR": "", "PAGER": "cat", "A": "1"}
    assert without_marks(env) == {"A": "1"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CLAUDECODE", "2"),
        ("TERM", "../../evil"),
        ("PAGER", "sh -c id"),
        ("GIT_PAGER", "cat; id"),
        ("PATH", "/tmp"),
        ("LD_PRELOAD", "x.so"),
        ("claudecode", "1"),
        ("CLAUDECODE", "1\n"),
    ],
)
def test_what_may_change_a_command_stays(name: str, value: str) -> None:
    assert without_marks({name: value}) == {name: value}
