"""Command lines: which programs they run, and which ones nobody can tell."""

import time

import pytest

from trunkline.workspace.policy import Policy
from trunkline.workspace.programs_in_commands import programs_of
from trunkline.workspace.rules import Decision, Request, Rule


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf /",
        "ls; rm -rf /",
        "ls && rm -rf /",
        "ls\nrm -rf /",
        "echo $(rm -rf /)",
        "echo `rm -rf /`",
        "(rm -rf /)",
        "A=1 B=2 rm -rf /",
        "/bin/rm -rf /",
        "sudo rm -rf /",
        "sudo -u root rm -rf /",
        "env A=1 /bin/rm -rf /",
        "bash -c 'rm -rf /'",
        "bash -c 'ls; rm -rf /'",
        "/bin/SH -c 'rm -rf /'",
        "sudo sh -c 'true && rm -rf /'",
        "find | xargs rm -rf /",
        'echo "open; rm -rf /',
        ("sudo", "rm", "-rf", "/"),
        ("sh", "-c", "cd x; rm -rf /"),
    ],
)
def test_every_part_of_a_line_is_found(command: str | tuple[str, ...]) -> None:
    assert ["rm", "-rf", "/"] in [list(part) for part in programs_of(command)]


@pytest.mark.parametrize("command", ["", ";;", "A=1", ()])
def test_a_line_that_runs_nothing_has_no_parts(command: str | tuple[str, ...]) -> None:
    assert list(programs_of(command)) == []


def test_a_very_long_line_is_taken_apart_in_little_space() -> None:
    started = time.process_time()
    assert max(len(part) for part in list(programs_of("A=1 " * 50_000 + "sudo " * 5_000))[2:]) <= 32
    assert time.process_time() - started < 10


# -- ways around a rule against rm ----------------------------------------------------------------

AGAINST_RM = Policy.allow_all().also(Rule(decision="deny", command="rm *"))

DENIED: list[str | tuple[str, ...]] = [
    "rm x", "RM x", "/bin/rm x", "./rm x", "\\rm x", "r''m x", '"rm" x', "'rm' x", "rm\tx", "A=1 rm x",
    "sudo rm x", "sudo -u root -- rm x", "doas rm x", "su -c 'rm x'", "su root -c'rm x'", "pkexec rm x",
    "run0 rm x", "env rm x", "env -i A=1 rm x", "env -S 'rm x'", "env -S'rm x'",
    "env --split-string='rm x'", "nohup rm x", "nice -n5 rm x", "ionice -c3 rm x", "timeout 5 rm x",
    "time rm x", "command rm x", "builtin rm x", "exec rm x", "eval rm x", "eval 'rm x'", "setsid rm x",
    "stdbuf -o0 rm x", "xargs rm x", "xargs -I{} rm {}", "watch rm x", "busybox rm x", "toybox rm x",
    "coreutils --coreutils-prog=rm x", "/lib64/ld-linux-x86-64.so.2 /bin/rm x", "bash -c 'rm x'",
    "bash -lc 'rm x'", "bash5 -c 'rm x'", "bash -c'rm x'", "zsh -c 'rm x'", "dash -c 'rm x'",
    "fish -c 'rm x'", "sh -c 'ls; rm x'", "env A=1 bash -c 'rm x'", "sudo sh -c 'sudo rm x'",
    "chroot / rm x", "unshare -r rm x", "nsenter -t 1 rm x", "setpriv --reuid=0 rm x", "taskset 1 rm x",
    "strace rm x", "gdb --args rm x", "script -qc 'rm x' f", "script --command='rm x'", "flock f rm x",
    "flock f -c 'rm x'", "parallel rm ::: x", "find . -exec rm {} +", "fd -x rm", "ssh localhost rm x",
    "ssh localhost 'rm x'", "systemd-run rm x", "tmux new -d 'rm x'", "screen -dm rm x", "npx rm x",
    "npm exec -- rm x", "docker run a rm x", "kubectl exec p -- rm x", "poetry run rm x", "uv run rm x",
    "git bisect run rm x", "git submodule foreach 'rm x'", "git rebase -x 'rm x' a", "cmake -E rm x",
    "ls && rm x", "ls; rm x", "ls | rm x", "ls\nrm x", "(rm x)", "{ rm x; }", "if true; then rm x; fi",
    "! rm x", "while rm x; do rm y; done", "for i in a; do rm $i; done", "echo $(rm x)", "echo `rm x`",
    "cat <(rm x)", "ls & rm x", "rm<x", "trap 'rm x' EXIT; rm y", ("rm", "x"), ("bash", "-c", "rm x"),
    ("bash", "-c", "true && rm x"), ("find", ".", "-exec", "rm", "{}", ";"),
]  # fmt: skip

ASKED: list[str | tuple[str, ...]] = [
    "a=rm; $a x", "a=r; b=m; $a$b x", "r$@m x", "rm${IFS}x", "{rm,x}", "$'\\x72m' x", "/bin/r? x",
    "/???/r[m] x", "=rm x", "sudo /bin/r? x", "echo cm0geA== | base64 -d | sh", "sh <<< 'rm x'",
    "echo rm x | sh", "alias l=rm; l x", "trap 'unlink x; rm y' EXIT", "x() { rm y; }",
    "bash -c 'a=rm; $a x'", ("bash", "-c", "a=rm; $a x"), ("bash", "-lc", "a=rm; $a x"),
    ("sh", "-c", "$0 x", "r"), ("zsh", "-c", "a=rm;$a x"), ("dash", "-c", "a=rm;$a x"),
    ("env", "X=1", "bash", "-c", "a=rm; $a x"), ("sudo", "bash", "-c", "a=rm; $a x"),
    ("nohup", "sh", "-c", "a=rm; $a x"), ("timeout", "5", "sh", "-c", "a=rm; $a x"),
    ("xargs", "sh", "-c", "$0 x"), ("busybox", "sh", "-c", "a=rm; $a x"),
    ("foo", "sh", "-c", "a=r; ${a}m x"), ("su", "-c", "a=r; ${a}m x"), ("env", "-S", "sh -c '$X'"),
    ("watch", "a=r; ${a}m x"), ("eval", "$X"), ("bash", "-c", "rm 'x"),
    ("python", "-c", "import os; os.remove('x')"), ("python3.12", "-Ic", "x"), ("perl", "-e", "unlink 'x'"),
    ("perl", "-we", "system 'r'.'m x'"), ("ruby", "-e", "x"), ("node", "-e", "x"), ("node", "--eval", "x"),
    ("php", "-r", "x"), ("lua", "-e", "x"), ("awk", "BEGIN{system(\"r\" \"m x\")}"), ("deno", "eval", "x"),
    ("sudo", "python3", "-c", "x"), ("vim", "-c", "!r\\m x"), ("vim", "+!x"),
    ("emacs", "--batch", "--eval", "x"), ("git", "-c", "alias.x=!r\\m y", "x"),
    ("git", "-c", "core.pager=x", "log"), ("git", "clone", "ext::x"),
    ("tar", "cf", "a", "--checkpoint-action=exec=x", "b"), ("tar", "xf", "a", "--to-command=x"),
    ("rsync", "-e", "x", "a", "b"), ("make", "SHELL=/tmp/x"), ("make", "--eval=x"),
    ("sed", "s/.*/r\\m x/e", "f"), ("sed", "-n", "1e r\\m x", "f"), ("gsed", "s/a/b/ge", "f"),
    ("sed", "s#.*#r\\m x#e", "f"), ("sed", "1!e r\\m x", "f"),
    ("sed", "/a/ e r\\m x", "f"), ("sed", "1er\\m x", "f"),
    ("sed", "s/.*/r\\m x/gpe", "f"), ("sed", "s/.*/r\\m x/Ieg", "f"), ("sed", "s/.*/r\\m x/egp", "f"),
    ("ssh", "-o", "ProxyCommand=r\\m x", "h"), ("ssh", "-oLocalCommand=x", "h"), ("scp", "-S", "x", "a", "b"),
    ("man", "-P", "r\\m x", "ls"), ("zip", "a", "b", "-TT", "x"), ("split", "--filter=x", "f"),
    ("socat", "-", "EXEC:x"), ("socat", "-", "system:x"),
    ("sqlite3", "a", ".shell x"), ("unknown", "rm", "x"), ("unknown", "--run=rm"), ("unknown", "/bin/rm"),
    ("sed", "1e rm x", "f"), ("git", "commit", "-m", "rm old files"), ("git", "rm", "x"),
    ("unknown", "a;rm x"), "PATH=/tmp ls", "LD_PRELOAD=x ls", ("ls", "x" * 70_000),
]  # fmt: skip

PLAIN: list[str | tuple[str, ...]] = [
    "ls -l", "ls *.py", "git status", "git commit -m 'two words'", "find . -name '*.py'", "bash script.sh",
    "[ -f x ]", "grep -rn farm src", "npm run build", "npm run format", "python script.py",
    "python -m pytest tests", "make test", "cargo rm-dir", "docker run --rm alpine ls", "sudo ls",
    "bash -c 'ls -l'", "cat form.txt", "uv run pytest", "vim notes.txt", "git switch -c new",
    ("grep", "a|b", "f"), ("echo", "$HOME"), ("jq", ".a | .b", "f"), ("bash", "-c", "ls -l"),
    ("sh", "run.sh", "x"), ("pytest", "-k", "a and (b or c)"),
    "sed -n 1,5p src/core.ts", "sed -i s/foo/bar/g docs/index.md", "sed -e 's/x/y/' f",
    "sed -ne s/one/the/p -e s,a,b, e",
    "ssh -p 22 host uptime", "ssh -o StrictHostKeyChecking=no host",
    "scp -r a host:b", "man ls", "zip -r a b",
    "split -l 10 f", "socat - TCP:host:1",
]  # fmt: skip
"""What the rule has nothing to do with goes on as before."""

BEYOND: list[str | tuple[str, ...]] = [
    "./script.sh", "bash script.sh", "unlink x", "find . -delete", "git clean -fd", "busybox unlink x",
    "./my-copy-of-it x", "source ./x", "python script.py", "make clean", "crontab jobs", "at -f jobs now",
    "sed -f script f", "npm run clean",
]  # fmt: skip
"""What no reader of words can see; docs/security.md says so."""


def judged(policy: Policy, command: str | tuple[str, ...]) -> Decision:
    return policy.decide(Request(tool="run", kind="execute", command=command)).decision


@pytest.mark.parametrize("command", DENIED)
def test_a_denied_program_is_found_behind_what_runs_it(command: str | tuple[str, ...]) -> None:
    assert judged(AGAINST_RM, command) == "deny"


@pytest.mark.parametrize("command", ASKED)
def test_what_could_hide_a_denied_program_is_asked_about(command: str | tuple[str, ...]) -> None:
    assert judged(AGAINST_RM, command) in ("ask", "deny")
    assert judged(Policy.allow_all(), command) == "allow", "where nothing is restricted nothing is asked"


@pytest.mark.parametrize("command", PLAIN)
def test_what_has_nothing_to_do_with_it_is_not_asked_about(command: str | tuple[str, ...]) -> None:
    assert judged(AGAINST_RM, command) == "allow"


@pytest.mark.parametrize("command", BEYOND)
def test_what_no_reader_can_see_is_allowed_and_said_so_in_the_documentation(
    command: str | tuple[str, ...],
) -> None:
    assert judged(AGAINST_RM, command) == "allow"


def test_a_shell_line_in_words_fits_no_rule_that_allows() -> None:
    policy = Policy.ask().also(Rule(decision="allow", command="bash *"))
    assert judged(policy, ("bash", "-c", "ls -l")) == "allow"
    assert judged(policy, ("bash", "-c", "a=rm; $a x")) == judged(policy, "bash -c 'a=rm; $a x'") == "ask"


def test_options_between_a_program_and_its_subcommand_are_no_way_round() -> None:
    policy = Policy.allow_all().also(Rule(decision="deny", command="git push *"))
    assert judged(policy, "git push") == "deny"
    for command in ("git -C x push", "git --no-pager push -f", "git --git-dir=x push"):
        assert judged(policy, command) == "ask"
    assert judged(policy, "git pull") == "allow"


def test_options_of_a_rule_may_be_spelled_in_other_ways() -> None:
    policy = Policy.allow_all().also(Rule(decision="deny", command="rm -rf *"))
    assert judged(policy, "rm -rf x") == "deny"
    for command in ("rm -fr x", "rm -r -f x", "rm --recursive --force x", "rm x -rf"):
        assert judged(policy, command) == "ask"


def test_a_command_that_is_allowed_by_its_name_is_not_asked_about_for_what_it_mentions() -> None:
    policy = AGAINST_RM.also(Rule(decision="allow", command="git rm *"))
    assert judged(policy, "git rm x") == "allow"
    assert judged(AGAINST_RM.also(Rule(decision="allow", command="*")), "git rm x") == "ask"


def test_a_rule_for_every_program_hints_at_nothing() -> None:
    policy = Policy.allow_all().also(Rule(decision="deny", command="* --force"))
    assert judged(policy, "git --force") == "deny"
    assert judged(policy, "git push") == "allow"
