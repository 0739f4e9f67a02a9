"""``trunkline exec``: one prompt, one answer."""

from __future__ import annotations

import asyncio
import os
import sys

import click

from trunkline.agents.targets import resolve_target
from trunkline.cli.exec_approvals import Approve, ExecApprovals
from trunkline.cli.exec_output import EventsPrinter, Format, JsonPrinter, Printer, TextPrinter
from trunkline.cli.exec_run import READER_GONE, TIMED_OUT, ExecRun
from trunkline.cli.first_launch import confirm_launch, yes_option
from trunkline.cli.open_hub import open_session, opened_hub
from trunkline.cli.options import FOLDER, journal_option, policy_option
from trunkline.cli.output import Output
from trunkline.cli.start import prepare_process
from trunkline.transports.process.descendants import end_descendants
from trunkline.workspace.policy import Policy

_LONGEST_PROMPT = 16 * 1024 * 1024

_HELP = """Send PROMPT to the agent TARGET and print the answer.

A PROMPT of - is read from stdin. The answer goes to stdout, everything else to stderr.

\b
Examples:
  trunkline exec demo "hello"
  trunkline exec agent.py:hello "hi" --approve reads
  trunkline exec "acp:npx -y @agentclientprotocol/claude-agent-acp" "What is in this folder?" --approve reads
  trunkline exec demo /tools --format events | jq .type
  git diff | trunkline exec agent.py:review - --format json
  trunkline exec demo "and then?" --session sess_1a2b3c

Exit codes: 0 fine, 1 failed, 2 wrong usage or unknown session, 3 timeout (the turn is cancelled
first), 5 a permission was refused, 130 interrupted, 143 and 129 ended by SIGTERM and SIGHUP (each
cancels the turn first).
"""


@click.command("exec", help=_HELP)
@click.argument("target")
@click.argument("prompt")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json", "events"]),
    default="text",
    show_default=True,
    help="The answer as text, the turn as one JSON object, or each event as a line of JSON.",
)
@click.option(
    "--approve",
    type=click.Choice(["all", "reads", "none"]),
    help="How questions about tools are answered: all, reads (those that read or search), or none may run "
    "(default: none).",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    help="Cancel after S seconds, the agent's start included.",
    metavar="S",
)
@click.option(
    "--session", "session_id", help="Go on with this session (an id or its beginning).", metavar="ID"
)
@policy_option
@journal_option
@click.option("--cwd", type=FOLDER, help="The agent's folder in a new session (default: this one).")
@yes_option
def command(
    target: str,
    prompt: str,
    format_: Format,
    approve: Approve | None,
    timeout: float | None,
    session_id: str | None,
    policy: Policy | None,
    journal: str | None,
    cwd: str | None,
    yes: bool,
) -> int:
    if session_id is not None and cwd is not None:
        raise click.UsageError("--cwd is for a new session; the one you go on with has its own folder")
    text = _read_prompt(prompt)
    prepare_process(shows_failures=format_ == "text")
    confirm_launch([target], yes=yes)
    output = Output.claim()
    agent = resolve_target(target)

    async def run() -> int:
        async with opened_hub(agent, target, journal, policy) as hub:
            began = asyncio.get_running_loop().time()
            opening = asyncio.timeout(timeout)
            try:
                async with opening:
                    session = await open_session(hub, session_id, cwd or os.getcwd())
            except TimeoutError:
                if not opening.expired():
                    raise
                click.echo(f"error: the agent did not start within --timeout {timeout:g}", err=True)
                return TIMED_OUT
            execution = ExecRun(session, _printer(format_, output), ExecApprovals(approve))
            output.on_reader_gone = lambda: execution.stop(READER_GONE)
            took = asyncio.get_running_loop().time() - began
            code = await execution.run(text, None if timeout is None else max(timeout - took, 0))
            if execution.waited_for is not None:
                click.echo(
                    f"error: --timeout {timeout:g} was over while we waited for {execution.waited_for}",
                    err=True,
                )
            return code

    try:
        return asyncio.run(run())
    finally:
        end_descendants()


def _read_prompt(prompt: str) -> str:
    if prompt != "-":
        return prompt
    data = sys.stdin.buffer.read(_LONGEST_PROMPT + 1)
    if len(data) > _LONGEST_PROMPT:
        raise click.UsageError(f"the prompt on stdin is longer than {_LONGEST_PROMPT >> 20} MiB")
    return data.decode("utf-8", "replace").removesuffix("\n")


def _printer(format_: Format, output: Output) -> Printer:
    if format_ == "events":
        return EventsPrinter(output)
    return JsonPrinter(output) if format_ == "json" else TextPrinter(output)
