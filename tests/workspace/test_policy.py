"""The policy: deny first, then ask, then allow, then the default."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunkline.errors import ConfigurationError
from trunkline.events import ToolKind
from trunkline.workspace.policy import Policy
from trunkline.workspace.rules import Decision, Request, Rule

COMMANDS: dict[str, Any] = {
    "base": "ask",
    "rules": [
        {"decision": "allow", "kind": "execute", "command": "git status *"},
        {"decision": "allow", "command": ["ls"]},
        {"decision": "deny", "command": "rm *"},
        {"decision": "ask", "command": "git status --ignored"},
    ],
}


@pytest.mark.parametrize(
    ("spec", "decisions"), [("ask", {"ask"}), ("deny", {"deny"}), ("allow-all", {"allow"})]
)
def test_a_plain_policy_decides_the_same_about_everything(spec: str, decisions: set[str]) -> None:
    policy = Policy.parse(spec)
    requests = [Request(kind=kind) for kind in get_args(ToolKind)] + [Request(command="a && b")]
    assert {policy.decide(request).decision for request in requests} == decisions


def test_reads_can_be_allowed_alone() -> None:
    policy = Policy.parse("allow-reads")
    allowed = {k for k in get_args(ToolKind) if policy.decide(Request(kind=k)).decision == "allow"}
    assert allowed == {"read", "search"}
    assert policy.decide(Request(kind="edit")).decision == "ask"


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("git status", "allow"),
        (("git", "status", "-s"), "allow"),
        ("git status --ignored", "ask"),
        ("ls", "allow"),
        ("ls -l", "ask"),
        ("rm x", "deny"),
        ("git status; rm x", "deny"),
        ("git status && make", "ask"),
        ("git status | tee x", "ask"),
        ("git status > x", "ask"),
        ("git status `id`", "ask"),
        ("git status $(id)", "ask"),
        ("git status\nid", "ask"),
        ("git status 'open", "ask"),
        ("git status $(rm x)", "deny"),
        ("", "ask"),
        ((), "ask"),
        ("make", "ask"),
    ],
)
def test_only_plain_commands_are_allowed(command: str | tuple[str, ...], decision: Decision) -> None:
    assert Policy.from_dict(COMMANDS).decide(Request(kind="execute", command=command)).decision == decision


def test_a_variable_takes_a_permission_for_a_command_away() -> None:
    request = Request(kind="execute", command="git status", env=("GIT_EXTERNAL_DIFF",))
    assert Policy.from_dict(COMMANDS).decide(request).decision == "ask"


def test_a_variable_is_asked_about_where_commands_are_restricted() -> None:
    policy = Policy.allow_all().also(Rule(decision="deny", command="rm *"))
    verdict = policy.decide(Request(kind="execute", command="ls", env=("LD_PRELOAD",)))
    assert (verdict.decision, verdict.rule) == ("ask", policy.rules[0])
    assert "is given variables" in verdict.why
    assert Policy.allow_all().decide(Request(command="ls", env=("A",))).decision == "allow"


def test_where_commands_are_restricted_an_unreadable_line_is_never_allowed() -> None:
    policy = Policy.allow_all().also(Rule(decision="deny", tool="bash", command="rm *"))
    assert policy.decide(Request(tool="bash", command="ls")).decision == "allow"
    assert policy.decide(Request(tool="bash", command="x=r; y=m; $x$y -rf /")).decision == "ask"
    assert "takes a shell to read" in policy.decide(Request(tool="bash", command="a | b")).why
    assert policy.decide(Request(tool="other", command="a | b")).decision == "allow"
    strict = Policy.deny().also(Rule(decision="allow", kind="execute"), Rule(decision="deny", command="rm *"))
    assert strict.decide(Request(kind="execute", command="a | b")).decision == "ask"
    assert strict.decide(Request(kind="read", command="a | b")).decision == "deny"


def test_a_deny_rule_is_not_walked_around_through_a_link() -> None:
    policy = Policy.allow_all().also(Rule(decision="deny", path="secrets/**"))
    request = Request(kind="read", paths=("notes.txt", "/w/proj/secrets/key"), cwd="/w/proj")
    verdict = policy.decide(request)
    assert (verdict.decision, verdict.rule) == ("deny", policy.rules[0])


def test_a_verdict_says_why() -> None:
    policy = Policy.from_dict(COMMANDS)
    assert policy.decide(Request(command="rm x")) == ("deny", policy.rules[2], "the rule: deny command rm *")
    assert policy.decide(Request()) == ("ask", None, "no rule fits, and the default is to ask")


def test_a_policy_is_read_from_json() -> None:
    text = (
        '{"base": "allow-reads", "default": "deny", "rules": [{"decision": "ask", "kind": ["edit", "move"]}]}'
    )
    assert Policy.parse(text) == Policy(
        rules=(*Policy.allow_reads().rules, Rule(decision="ask", kind=("edit", "move"))), default="deny"
    )


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("yolo", "'yolo' is not a policy: choose one of ask, allow-reads, accept-edits, read-only"),
        ("", "is not a policy"),
        ("{oops", "the policy is not JSON"),
        ('{"default": "maybe"}', "'maybe' is not a decision"),
        ('{"base": 1}', "1 is not a policy"),
        ('{"rule": []}', "a policy has no field 'rule': it has base, default, rules"),
        ('{"rules": {}}', "a list of tables"),
        ('{"rules": ["deny"]}', "a rule is a table of decision, tool"),
        ('{"rules": [{}]}', "a rule needs a decision: add one of"),
        ('{"rules": [{"decision": "deny", "paths": "x"}]}', "a rule has no field 'paths'"),
        ('{"rules": [{"decision": "deny", "kind": "write"}]}', "'write' is not a kind"),
        ('{"rules": [{"decision": "deny", "kind": ["read", 1]}]}', "1 is not a kind"),
        ('{"rules": [{"decision": "deny", "kind": 1}]}', "1 is not a kind"),
        ('{"rules": [{"decision": "deny", "path": 1}]}', "rule 1: "),
        ('{"rules": [{"decision": "deny", "command": ["rm", 1]}]}', "rule 1: "),
        ('{"rules": [{"decision": "deny", "command": "a;b"}]}', "one rule for each command"),
    ],
)
def test_a_policy_that_is_wrong_is_refused_with_what_is_legal(spec: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        Policy.parse(spec)


# -- properties -----------------------------------------------------------------------------------

decisions = st.sampled_from(get_args(Decision))
kinds: st.SearchStrategy[ToolKind] = st.sampled_from(get_args(ToolKind))
tools = st.sampled_from(["bash", "Bash", "read_file", ""])
paths = st.sampled_from(
    ["a", "src/a", "src/../a", "../a", "/w/src/a", "/w/SRC/a", "/etc/a", "", "a\0b", "src/../../x"]
)
words = st.sampled_from(["git", "push", "rm", "-rf", "sudo", "sh", "-c", "x; rm y"])
lines = st.lists(
    st.sampled_from(["git push", "rm -rf x", "ls", ";", "&&", "$(", ")", "'", "\n", "sudo", "A=1"]),
    max_size=5,
).map(" ".join)
rules = st.builds(
    Rule,
    decision=decisions,
    tool=st.none() | st.sampled_from(["bash", "*", "read_*"]),
    kind=st.none() | kinds | st.lists(kinds, min_size=1, max_size=3).map(tuple),
    path=st.none() | st.sampled_from(["src/**", "**", "/w/**", "a", "/etc/**"]),
    command=st.none() | st.sampled_from(["git push", "git *", "rm *", "*", ("rm", "-rf")]),
)
requests = st.builds(
    Request,
    tool=tools,
    kind=kinds,
    paths=st.lists(paths, max_size=3).map(tuple),
    command=st.none() | lines | st.lists(words, max_size=4).map(tuple),
    cwd=st.none() | st.just("/w"),
    env=st.just(()) | st.just(("PATH",)),
)
policies = st.builds(Policy, rules=st.lists(rules, max_size=5).map(tuple), default=decisions)

STRICTNESS = {"allow": 0, "ask": 1, "deny": 2}


def strictness(policy: Policy, request: Request) -> int:
    return STRICTNESS[policy.decide(request).decision]


@given(policies, rules, requests)
def test_a_deny_that_fits_always_wins(policy: Policy, rule: Rule, request: Request) -> None:
    denying = Rule(decision="deny", tool=rule.tool, kind=rule.kind, path=rule.path, command=rule.command)
    if denying.fits(request):
        assert policy.also(denying).decide(request).decision == "deny"
        assert Policy(rules=(denying, *policy.rules), default="allow").decide(request).decision == "deny"


@given(policies, rules, requests)
def test_one_more_deny_rule_never_permits_anything(policy: Policy, rule: Rule, request: Request) -> None:
    denying = Rule(decision="deny", tool=rule.tool, kind=rule.kind, path=rule.path, command=rule.command)
    assert strictness(policy.also(denying), request) >= strictness(policy, request)


@given(rules, requests)
def test_what_a_permission_fits_the_same_restriction_fits(rule: Rule, request: Request) -> None:
    narrow = Rule(decision="allow", tool=rule.tool, kind=rule.kind, path=rule.path, command=rule.command)
    wide = Rule(decision="deny", tool=rule.tool, kind=rule.kind, path=rule.path, command=rule.command)
    if narrow.fits(request):
        assert wide.fits(request)


@given(policies, requests)
def test_the_order_of_rules_makes_no_difference(policy: Policy, request: Request) -> None:
    turned = Policy(rules=policy.rules[::-1], default=policy.default)
    assert strictness(turned, request) == strictness(policy, request)


@given(requests, st.text())
def test_a_verdict_is_always_given(request: Request, line: str) -> None:
    policy = Policy.from_dict(COMMANDS)
    odd = Request(tool=request.tool, kind=request.kind, paths=(line,), command=line, cwd="/w")
    assert policy.decide(odd).why
    if any(char in line for char in ";&|<>`$\n"):
        assert policy.decide(odd).decision != "allow"


@pytest.mark.parametrize(
    ("name", "read", "edit", "execute"),
    [
        ("ask", "ask", "ask", "ask"),
        ("allow-reads", "allow", "ask", "ask"),
        ("accept-edits", "allow", "allow", "ask"),
        ("read-only", "allow", "deny", "deny"),
        ("deny-commands", "ask", "ask", "deny"),
        ("deny", "deny", "deny", "deny"),
        ("allow-all", "allow", "allow", "allow"),
    ],
)
def test_a_ready_policy_decides_as_its_name_says(name: str, read: str, edit: str, execute: str) -> None:
    policy = Policy.parse(name)
    kinds: tuple[Any, ...] = ("read", "edit", "execute")
    assert [policy.decide(Request(tool="t", kind=kind)).decision for kind in kinds] == [read, edit, execute]


def test_commands_are_denied_whatever_kind_their_tool_has() -> None:
    request = Request(tool="anything", kind="other", command=("ls",))
    assert Policy.deny_commands().decide(request).decision == "deny"
