"""Terminals of an ACP agent: words and shell lines, the policy on the line, live output, the journal."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.agents.acp.far_side import Far, ScriptedAgent, choose, refused, run
from tests.hubs import collect, hub_for, only, until
from tests.process_state import is_alive
from trunkline import events as ev
from trunkline.agents.acp.requests import terminal_requests
from trunkline.commands import Prompt
from trunkline.folding import fold
from trunkline.workspace import Policy, Rule


async def printed(far: Far, **params: Any) -> tuple[str, Any]:
    """Run a command to its end; gives its output and its exit."""
    made = await far.ask("terminal/create", **params)
    ended = await far.ask("terminal/wait_for_exit", **made)
    seen = await far.ask("terminal/output", **made)
    assert seen["exitStatus"] == ended
    await far.ask("terminal/release", **made)
    return seen["output"], ended


async def test_a_command_with_args_runs_as_words(tmp_path: Path) -> None:
    async def script(far: Far, prompt: Prompt) -> None:
        output, ended = await printed(far, command="printf", args=["%s|", "a b", "; echo c"])
        assert (output, ended) == ("a b|; echo c|", {"exitCode": 0, "signal": None})

    await run(tmp_path, script)


async def test_a_command_without_args_may_be_a_whole_shell_line(tmp_path: Path) -> None:
    async def script(far: Far, prompt: Prompt) -> None:
        env = [{"name": "CLAUDECODE", "value": "1"}]
        line = "echo hello > made.txt && cat made.txt; exit 3"
        output, ended = await printed(far, command=line, env=env, args=None, cwd=None)
        assert (output, ended["exitCode"]) == ("hello\n", 3)

    await run(tmp_path, script)
    assert (tmp_path / "made.txt").read_text() == "hello\n"


async def test_a_program_alone_is_no_shell_line(tmp_path: Path) -> None:
    program = tmp_path / "my program"
    program.write_text("#!/bin/sh\necho in $PWD as ${0##*/}\n")
    program.chmod(0o755)

    async def script(far: Far, prompt: Prompt) -> None:
        assert (await printed(far, command=str(program)))[0] == f"in {tmp_path} as my program\n"
        assert (await printed(far, command="pwd", cwd=str(tmp_path)))[0] == f"{tmp_path}\n"

    await run(tmp_path, script)


async def test_variables_and_the_output_limit_are_the_agents(tmp_path: Path) -> None:
    async def script(far: Far, prompt: Prompt) -> None:
        env = [{"name": "GREETING", "value": "hi there"}, {"name": "TRUNKLINE_TOKEN", "value": "x"}]
        made = await far.ask(
            "terminal/create", command="echo $GREETING $TRUNKLINE_TOKEN", env=env, outputByteLimit=4
        )
        await far.ask("terminal/wait_for_exit", **made)
        seen = await far.ask("terminal/output", **made)
        assert (seen["output"], seen["truncated"]) == ("ere\n", True)

    await run(tmp_path, script)


# -- the policy --


@pytest.mark.parametrize(
    "line", ["rm -rf x", "ls && rm -rf x", "echo $(rm -rf x)", "sh -c 'rm -rf x'", "true | xargs rm -rf"]
)
async def test_the_policy_judges_every_part_of_a_line(tmp_path: Path, line: str) -> None:
    async def script(far: Far, prompt: Prompt) -> None:
        with refused(-32602, "refused by policy"):
            await far.ask("terminal/create", command=line)

    policy = Policy(default="allow", rules=(Rule(decision="deny", command="rm *"),))
    events = await run(tmp_path, script, policy=policy)
    (decided,) = only(events, ev.Decided)
    assert (decided.allowed, decided.command, decided.tool) == (False, line, "terminal")


@pytest.mark.parametrize(
    "line", ["git status; curl x | sh", "git status > f", "git status `id`", "git status\nid"]
)
async def test_a_rule_that_allows_a_command_allows_no_line_around_it(tmp_path: Path, line: str) -> None:
    """Gemini CLI's allow-list looked at the first command of a line only."""

    async def script(far: Far, prompt: Prompt) -> None:
        with refused(-32602, "refused by person"):
            await far.ask("terminal/create", command=line)

    policy = Policy(rules=(Rule(decision="allow", command="git status *"),))
    events = await run(tmp_path, script, policy=policy, answer="reject_once")
    assert len(only(events, ev.Asked)) == 1


async def test_a_rule_allows_a_plain_line_also_with_the_marks_of_an_agent(tmp_path: Path) -> None:
    async def script(far: Far, prompt: Prompt) -> None:
        env = [{"name": "CLAUDECODE", "value": "1"}]
        assert (await printed(far, command="echo one two", env=env))[0] == "one two\n"

    policy = Policy(rules=(Rule(decision="allow", command="echo *"),))
    events = await run(tmp_path, script, policy=policy)
    assert [one.rule for one in only(events, ev.Decided)] == ["allow command echo *"]


async def test_a_policy_that_asks_by_default_asks_before_a_command_of_another_process(tmp_path: Path) -> None:
    async def script(far: Far, prompt: Prompt) -> None:
        await printed(far, command="echo x && echo y")

    events = await run(tmp_path, script, policy=Policy.ask())
    (asked,) = only(events, ev.Asked)
    assert asked.question.message == "Run echo x && echo y?"


async def test_a_line_that_a_person_approved_is_not_asked_about_again(tmp_path: Path) -> None:
    line = "echo x > f && cat f"

    async def script(far: Far, prompt: Prompt) -> None:
        await far.permission(
            toolCallId="c", title=f"`{line}`", kind="execute", name="Bash", rawInput={"command": line}
        )
        env = [{"name": "CLAUDECODE", "value": "1"}]
        assert (await printed(far, command=line, env=env))[0] == "x\n"
        with refused(-32602, "refused by person"):
            await far.ask("terminal/create", command=f"{line}; true")

    async with hub_for(ScriptedAgent(script), policy=Policy.ask()) as hub:
        session = await hub.create(cwd=str(tmp_path))
        options = iter(["proceed", "reject_once"])

        async def answer(asked: ev.Asked) -> None:
            await choose(session, next(options))(asked)

        shown = await collect(session, "go", {ev.Asked: answer})
    assert only(shown, ev.TurnFailed) == []
    assert len(only(shown, ev.Asked)) == 2


async def test_a_cancelled_turn_starts_no_command(tmp_path: Path) -> None:
    begun = asyncio.Event()

    async def script(far: Far, prompt: Prompt) -> None:
        begun.set()
        await far.cancelled.wait()
        with refused(-32800, "the turn was cancelled"):
            await far.ask("terminal/create", command="touch made")
        done.set()

    done = asyncio.Event()
    async with hub_for(ScriptedAgent(script), detach_after=5.0) as hub:
        session = await hub.create(cwd=str(tmp_path))
        running = asyncio.create_task(collect(session, "go"))
        await begun.wait()
        await session.cancel()
        await running
    assert done.is_set()
    assert not (tmp_path / "made").exists()


# -- life --


async def test_output_is_live_and_a_killed_terminal_stays_until_it_is_released(tmp_path: Path) -> None:
    async def script(far: Far, prompt: Prompt) -> None:
        made = await far.ask("terminal/create", command="echo begun; exec sleep 600")
        seen: dict[str, Any] = {}
        while seen.get("output") != "begun\n":
            seen = await far.ask("terminal/output", **made)
        assert "exitStatus" not in seen
        waiting = asyncio.create_task(far.ask("terminal/wait_for_exit", **made))
        assert await far.ask("terminal/kill", **made) == {}
        assert (await waiting)["signal"] == "SIGTERM"
        assert (await far.ask("terminal/output", **made))["output"] == "begun\n"
        assert await far.ask("terminal/release", **made) == {}
        with refused(-32002, "Resource not found: there is no terminal"):
            await far.ask("terminal/output", **made)

    await run(tmp_path, script)


async def test_a_terminal_of_another_session_is_not_known(tmp_path: Path) -> None:
    made: list[Any] = []

    async def script(far: Far, prompt: Prompt) -> None:
        if prompt.text == "make":
            made.append(await far.ask("terminal/create", command="sleep 600"))
            return
        for method in ("output", "wait_for_exit", "kill", "release"):
            with refused(-32002, "there is no terminal"):
                await far.ask(f"terminal/{method}", **made[0])

    async with hub_for(ScriptedAgent(script)) as hub:
        for text in ("make", "look"):
            session = await hub.create(cwd=str(tmp_path))
            assert only(await collect(session, text), ev.TurnFailed) == []


async def test_closing_the_session_releases_every_terminal(tmp_path: Path) -> None:
    async def script(far: Far, prompt: Prompt) -> None:
        await far.ask("terminal/create", command="echo $$ > pid; exec sleep 600")
        await until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text() != "")

    await run(tmp_path, script)
    pid = int((tmp_path / "pid").read_text())
    assert not is_alive(pid)


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({}, "`command`"),
        ({"command": " "}, "command must not be empty"),
        ({"command": 7}, "Expected `str`"),
        ({"command": "ls", "args": "x"}, "Expected `array`"),
        ({"command": "ls", "cwd": "src"}, "cwd must be an absolute path"),
        ({"command": "ls", "cwd": "/"}, "outside this session's folders"),
        ({"command": "ls", "env": [{"name": "A=B", "value": ""}]}, "illegal environment variable name"),
        ({"command": "no-such-program-here"}, "was not found"),
    ],
)
async def test_a_command_that_cannot_be_run_is_refused_with_a_sentence(
    tmp_path: Path, params: dict[str, Any], reason: str
) -> None:
    async def script(far: Far, prompt: Prompt) -> None:
        with refused(-32602, reason):
            await far.ask("terminal/create", **params)

    await run(tmp_path, script)


# -- the journal --


async def test_the_output_is_in_the_journal_before_the_command_counts_as_ended(tmp_path: Path) -> None:
    async def script(far: Far, prompt: Prompt) -> None:
        made = await far.ask("terminal/create", command="echo one; echo two")
        content = [{"type": "terminal", **made}]
        far.update("tool_call", toolCallId="t", title="echo", kind="execute", content=content)
        await far.ask("terminal/wait_for_exit", **made)
        await far.ask("terminal/release", **made)
        far.update("tool_call_update", toolCallId="t", status="completed")
        far.say("done")

    events = await run(tmp_path, script)
    outputs = only(events, ev.TerminalOutput)
    assert "".join(event.data for event in outputs) == "one\ntwo\n"
    assert [(event.exited, event.exit_code) for event in outputs][-1] == (True, 0)
    assert only(events, ev.Notice) == []
    (terminal,) = fold(events).terminals.values()
    assert terminal.data == "one\ntwo\n"


async def test_endless_output_is_stored_up_to_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal_requests, "STORED_OUTPUT", 1000)

    async def script(far: Far, prompt: Prompt) -> None:
        await printed(far, command="yes | head -c 100000")

    events = await run(tmp_path, script)
    stored = "".join(event.data for event in only(events, ev.TerminalOutput))
    assert stored.startswith("y\ny\n")
    assert stored.endswith("[... more output is not stored ...]\n")
    assert len(stored) < 1100
