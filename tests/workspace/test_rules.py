"""Rules, one by one: what restricts is read widely, what allows narrowly."""

from typing import Any

import pytest

from trunkline.errors import ConfigurationError
from trunkline.workspace.rules import Decision, Request, Rule

W = "/w/proj"


def fits(rule: dict[str, Any], request: dict[str, Any]) -> bool:
    return Rule(**rule).fits(Request(**request))


@pytest.mark.parametrize("decision", ["allow", "ask", "deny"])
@pytest.mark.parametrize(
    ("rule", "request_", "expected"),
    [
        ({}, {}, True),
        ({"kind": "read"}, {"kind": "read"}, True),
        ({"kind": "read"}, {"kind": "edit"}, False),
        ({"kind": ("read", "search")}, {"kind": "search"}, True),
        ({"tool": "mcp__*"}, {"tool": "mcp__fetch"}, True),
        ({"tool": "mcp__*"}, {"tool": "fetch"}, False),
        ({"tool": "fetch", "kind": "read"}, {"tool": "fetch"}, False),
        ({"path": "src/**"}, {"paths": ("src/a.py",), "cwd": W}, True),
        ({"path": "src/**"}, {"paths": ("src/a.py", f"{W}/src/a.py"), "cwd": W}, True),
        ({"path": f"{W}/src/**"}, {"paths": ("src/a.py",), "cwd": W}, True),
        ({"path": "src/**"}, {"paths": ("src/a.py",)}, True),
        ({"path": "src/**"}, {"paths": ("docs/a.md",), "cwd": W}, False),
        ({"path": "src/**"}, {"paths": ("src/../docs/b",), "cwd": W, "kind": "think"}, None),
        ({"path": "src/**"}, {}, False),
        ({"command": "git status"}, {"command": "git status"}, True),
        ({"command": "git status"}, {"command": ("git", "status")}, True),
        ({"command": ("git", "status")}, {"command": "git status"}, True),
        ({"command": "git status"}, {"command": "git push"}, False),
        ({"command": "git status"}, {}, False),
        ({"command": "*"}, {"command": "anything at all"}, True),
    ],
)
def test_what_every_rule_fits(
    decision: Decision, rule: dict[str, Any], request_: dict[str, Any], expected: bool | None
) -> None:
    if expected is None:  # the raw letters count for a restriction, and only where they lead for a permission
        expected = decision != "allow"
    assert fits({"decision": decision, **rule}, request_) is expected


WIDER: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"tool": "bash"}, {"tool": "Bash"}),
    ({"path": ".env"}, {"paths": ("a/b/.env",), "cwd": W}),
    ({"path": ".env"}, {"paths": (".ENV",), "cwd": W}),
    ({"path": ".env"}, {"paths": ("notes.txt", f"{W}/.env"), "cwd": W}),
    ({"path": ".env"}, {"paths": ("a/../../../x/.env",)}),
    ({"path": "src/**"}, {"paths": ("/other/src/a.py",), "cwd": W}),
    ({"path": "src/**"}, {"paths": ("../proj-evil/src/a.py",), "cwd": W}),
    ({"path": "/etc/**"}, {"paths": ("../../etc/passwd", "notes.txt"), "cwd": W}),
    ({"command": "git push"}, {"command": "git push --force"}),
    ({"command": "git push"}, {"command": "GIT Push"}),
    ({"command": "git push"}, {"command": "cd x && git push"}),
    ({"command": "git push"}, {"command": "/usr/bin/git push"}),
    ({"command": "git push"}, {"command": ("sudo", "git", "push")}),
    ({"command": "git push *"}, {"command": "git 'push"}),
    ({"command": "*"}, {"command": ""}),
    ({"command": "*"}, {"command": "a; b"}),
    ({"command": "git push"}, {"command": "git push", "env": ("GIT_SSH_COMMAND",)}),
]


@pytest.mark.parametrize(("rule", "request_"), WIDER)
def test_a_restriction_reaches_where_a_permission_does_not(
    rule: dict[str, Any], request_: dict[str, Any]
) -> None:
    assert fits({"decision": "deny", **rule}, request_)
    assert fits({"decision": "ask", **rule}, request_)
    assert not fits({"decision": "allow", **rule}, request_)


@pytest.mark.parametrize(
    "paths",
    [
        ("src/a.py", "/etc/passwd"),
        ("src/../../../etc/passwd",),
        ("src/..",),
        ("",),
        ("src/a\0b",),
        (f"{W}-evil/src/a.py",),
        ("SRC/a.py",),
    ],
)
def test_a_permission_needs_every_path_to_fit(paths: tuple[str, ...]) -> None:
    assert not fits({"decision": "allow", "path": "src/**"}, {"paths": paths, "cwd": W})


def test_without_a_folder_a_path_that_climbs_is_never_permitted() -> None:
    for pattern in ("**", "src/**"):
        assert not fits({"decision": "allow", "path": pattern}, {"paths": ("src/../../a",)})
        assert not fits({"decision": "allow", "path": pattern}, {"paths": ("/src/a",)})
    assert fits({"decision": "allow", "path": "/**"}, {"paths": ("/../src/./a",)})


def test_a_folder_with_stars_in_its_name_is_taken_by_its_letters() -> None:
    rule = {"decision": "allow", "path": "*.py"}
    assert fits(rule, {"paths": ("a.py",), "cwd": "/w/[ab]*"})
    assert not fits(rule, {"paths": ("/w/ax/a.py",), "cwd": "/w/[ab]*"})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"decision": "maybe"}, "'maybe' is not a decision: choose one of allow, ask, deny"),
        ({"decision": "deny", "kind": "write"}, "'write' is not a kind: choose one of read, edit, delete"),
        ({"decision": "deny", "kind": ("read", "write")}, "'write' is not a kind"),
        ({"decision": "deny", "kind": ()}, "kind is empty: leave it out"),
        ({"decision": "deny", "tool": ""}, "tool is empty: leave it out"),
        ({"decision": "deny", "path": ""}, "path is empty"),
        ({"decision": "deny", "path": "~/.ssh/**"}, "never reached"),
        ({"decision": "deny", "path": "./src"}, "never reached"),
        ({"decision": "deny", "path": "../x"}, "never reached"),
        ({"decision": "deny", "command": ()}, "command is empty"),
        ({"decision": "deny", "command": "rm -rf / ; ls"}, "one rule for each command"),
        ({"decision": "deny", "command": "echo 'open"}, "one rule for each command"),
    ],
)
def test_a_rule_that_could_never_mean_what_it_says_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        Rule(**fields)


def test_a_request_of_an_unknown_kind_is_refused() -> None:
    unknown: dict[str, Any] = {"kind": "write"}
    with pytest.raises(ConfigurationError, match="choose one of read, edit"):
        Request(**unknown)


def test_a_rule_says_itself_in_one_line() -> None:
    assert str(Rule(decision="deny")) == "deny everything"
    assert str(Rule(decision="allow", kind="execute", command="git status *")) == (
        "allow kind execute, command git status *"
    )
