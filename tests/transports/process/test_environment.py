"""The environment of child processes."""

from trunkline.transports.process.environment import scrub

ENVIRON = {
    "PATH": "/bin",
    "HOME": "/home/ada",
    "LC_ALL": "C.UTF-8",
    "OPENAI_API_KEY": "sk-secret",
    "TRUNKLINE_TOKEN": "ours",
    "trunkline_token": "ours",
    "XLC_ALL": "no",
    "path": "no",
}


def test_only_what_the_list_allows_is_kept() -> None:
    assert scrub(ENVIRON) == {"PATH": "/bin", "HOME": "/home/ada", "LC_ALL": "C.UTF-8"}


def test_our_own_variables_go_even_when_everything_is_allowed() -> None:
    kept = scrub(ENVIRON, ("*", "TRUNKLINE_TOKEN"))
    assert set(ENVIRON) - set(kept) == {"TRUNKLINE_TOKEN", "trunkline_token"}


def test_an_empty_list_keeps_nothing() -> None:
    assert scrub(ENVIRON, ()) == {}
