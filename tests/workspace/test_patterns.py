"""Patterns for paths and command lines."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunkline.workspace.patterns import fold, path_matches, split_command, words_match


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("a", "a", True),
        ("a", "b", False),
        ("a", "a/b", False),
        ("a/*", "a/b", True),
        ("a/*", "a", False),
        ("a/*", "a/b/c", False),
        ("a/**", "a/b/c", True),
        ("a/**", "a", True),
        ("a/**", "ab", False),
        ("**/a", "a", True),
        ("**/a", "x/y/a", True),
        ("**/a", "x/ya", False),
        ("**/a/**/b", "a/b", True),
        ("**/a/**/b", "x/a/y/z/b", True),
        ("**/a/**/b", "x/a/y/z", False),
        ("**", "", True),
        ("**", "a/b", True),
        ("*.py", "a.py", True),
        ("*.py", ".py", True),
        ("*.py", "d/a.py", False),
        ("[ab]?", "bx", True),
        ("*", "a\nb", True),
        ("/a/b", "a/b", True),
        ("", "", True),
        ("", "a", False),
    ],
)
def test_stars_stay_inside_a_name_and_double_stars_do_not(pattern: str, path: str, fits: bool) -> None:
    assert path_matches(pattern, path) is fits


def test_a_nasty_pattern_takes_no_time() -> None:
    started = time.process_time()
    assert not path_matches("**/a/" * 30 + "b", "a/" * 2000)
    assert time.process_time() - started < 5


@given(
    st.lists(st.sampled_from(["a", "b", "**", "*"]), max_size=5), st.lists(st.sampled_from("abc"), max_size=5)
)
def test_paths_match_like_the_definition_says(pattern: list[str], path: list[str]) -> None:
    def defined(wanted: list[str], names: list[str]) -> bool:
        if not wanted:
            return not names
        if wanted[0] == "**":
            return defined(wanted[1:], names) or (bool(names) and defined(wanted, names[1:]))
        return bool(names) and wanted[0] in ("*", names[0]) and defined(wanted[1:], names[1:])

    assert path_matches("/".join(pattern), "/".join(path)) == defined(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "argv", "prefix", "fits"),
    [
        ("git status", "git status", False, True),
        ("git status", "git status -s", False, False),
        ("git status", "git status -s", True, True),
        ("git status *", "git status", False, True),
        ("git status *", "git status -s .", False, True),
        ("git status *", "git stash", False, False),
        ("git status *", "git", False, False),
        ("git * --dry-run", "git push --dry-run", False, True),
        ("git * --dry-run", "git push x --dry-run", False, False),
        ("npm run test:*", "npm run test:unit", False, True),
        ("*", "anything at all", False, True),
    ],
)
def test_words_match_one_by_one(pattern: str, argv: str, prefix: bool, fits: bool) -> None:
    assert words_match(pattern.split(), argv.split(), prefix=prefix) is fits


@pytest.mark.parametrize(
    "command",
    [
        "a; b", "a & b", "a && b", "a || b", "a | b", "a > f", "a < f", "a `b`", "a $(b)", "a $HOME", "a\nb",
        "a\rb", "a (b)", "a {b,c}", "a # b", "# a", "a 'b", 'a "b', "a \\", "grep 'x|y' f", "a\0", "", "   ",
    ],
)  # fmt: skip
def test_a_line_that_takes_a_shell_has_no_words(command: str) -> None:
    assert split_command(command) is None


@pytest.mark.parametrize(
    ("command", "argv"),
    [
        ("git status", ("git", "status")),
        ("git commit -m 'two words'", ("git", "commit", "-m", "two words")),
        (r"a\ b c", ("a b", "c")),
        ("curl http://x/#top", ("curl", "http://x/#top")),
    ],
)
def test_a_plain_line_has_words(command: str, argv: tuple[str, ...]) -> None:
    assert split_command(command) == argv


def test_names_that_some_file_systems_take_for_the_same_are_folded() -> None:
    assert fold(".GIT") == fold(".git") == fold("\uff0egit")
    assert fold("STRASSE") == fold("Straße")
    assert fold("é") == fold("e\u0301")
