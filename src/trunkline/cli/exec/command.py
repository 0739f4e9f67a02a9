"""``trunkline exec``: one prompt, one answer."""

from __future__ import annotations

import asyncio
import shlex
import sys
from typing import get_args

import click

from trunkline.agents.targets import name_target
from trunkline.cli.exec.approvals import Approve, ExecApprovals
from trunkline.cli.exec.output import EventsPrinter, Format, JsonPrinter, Printer, TextPrinter
from trunkline.cli.exec.person import Ask
from trunkline.cli.exec.run import READER_GONE, TIMED_OUT, ExecRun
from trunkline.cli.first_launch import confirm_launch, yes_option
from trunkline.cli.open_hub import SessionChoice, open_session, opened_hub
from trunkline.cli.options import FOLDER, env_file_option, journal_option, policy_option, session_options
from trunkline.cli.output import Output
from trunkline.cli.start import prepare_process
from trunkline.cli.target_argument import target_argument
from trunkline.cli.terminal.spinner import shown_waiting
from trunkline.transports.process.own_exit_processes import end_descendants
from trunkline.transports.process.own_exit_threads import run_async
from trunkline.workspace.policy import Policy

_LONGEST_PROMPT = 16 * 1024 * 1024

_HELP = """Send PROMPT to the agent TARGET and print the answer.

A PROMPT of - is read from stdin. The answer goes to stdout, everything else to stderr. In a terminal
you are asked what the agent asks, unless --approve says the answer; elsewhere it is refused. Questions that
an earlier process left open in the session come first; without PROMPT they are all there is to do.

\b
Examples:
  trunkline exec demo "hello"
  trunkline exec agent.py:hello "hi" --approve reads
  trunkline exec "acp:npx -y @agentclientprotocol/claude-agent-acp" "What is in this folder?" --approve reads
  trunkline exec demo /tools --format events | jq .type
  git diff | trunkline exec agent.py:review - --format json
  trunkline exec demo "and then?" --continue
  trunkline exec demo "hello" --session work
  trunkline exec demo "and then?" --session sess_1a2b3c

Exit codes: 0 fine, 1 failed, 2 wrong usage or unknown session, 3 timeout (the turn is cancelled
first), 5 a permission was refused, 130 interrupted, 143 and 129 ended by SIGTERM and SIGHUP (each
cancels the turn first).
"""


@click.command("exec", help=_HELP)
@target_argument
@click.argument("prompt", required=False)
@click.argument("more", nargs=-1, metavar="")
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
    type=click.Choice(get_args(Approve)),
    help="How questions about tools are answered: all, reads (those that read or search), or none may run "
    "(default: you are asked in a terminal, none elsewhere).",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    help="Cancel after S seconds, the agent's start included.",
    metavar="S",
)
@session_options
@policy_option
@journal_option
@env_file_option
@click.option("--cwd", type=FOLDER, help="The agent's folder in a new session (default: this one).")
@yes_option
def command(
    target: str,
    prompt: str | None,
    more: tuple[str, ...],
    format_: Format,
    approve: Approve | None,
    timeout: float | None,
    session_id: str | None,
    continue_: bool,
    policy: Policy | None,
    journal: str | None,
    cwd: str | None,
    yes: bool,
) -> int:
    choice = SessionChoice(session_id, continue_, cwd).check()
    text = _read_prompt(prompt, more, needed=choice.is_new)
    prepare_process(shows_failures=format_ == "text")
    confirm_launch([target], yes=yes)
    output = Output.claim()
    with shown_waiting("loading the agent"):
        target, agent = name_target(target)
    ask = _keyboard() if approve is None else None

    async def run() -> int:
        async with opened_hub(agent, target, journal, policy) as hub:
            began = asyncio.get_running_loop().time()
            opening = asyncio.timeout(timeout)
            try:
                async with opening:
                    session = await open_session(hub, choice)
            except TimeoutError:
                if not opening.expired():
                    raise
                click.echo(f"error: the agent did not start within --timeout {timeout:g}", err=True)
                return TIMED_OUT
            approvals = ExecApprovals(approve, person=ask is not None)
            keeps = not hub.journal.url.startswith("memory:")
            printer = _printer(format_, output, asks=ask is not None, keeps=keeps, name=choice.name)
            execution = ExecRun(session, printer, approvals, ask)
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
        return run_async(run())
    finally:
        end_descendants()


def _read_prompt(prompt: str | None, more: tuple[str, ...], *, needed: bool) -> str | None:
    if more:
        whole = shlex.quote(" ".join((prompt or "", *more)))
        raise click.UsageError(f"the prompt has spaces: quote it, as in {whole}")
    if prompt is None and needed:
        raise click.UsageError("Missing argument 'PROMPT': what is said to the agent, or - for stdin")
    if prompt is not None and not prompt.strip():
        raise click.UsageError("the prompt is empty: is a variable of your shell not set?")
    if prompt != "-":
        return _in_utf8(prompt)
    data = sys.stdin.buffer.read(_LONGEST_PROMPT + 1)
    if len(data) > _LONGEST_PROMPT:
        raise click.UsageError(f"the prompt on stdin is longer than {_LONGEST_PROMPT >> 20} MiB")
    if not data.strip():
        raise click.UsageError("the prompt was to come from stdin, which is empty or closed")
    return data.decode("utf-8", "replace").removesuffix("\n")


def _in_utf8(prompt: str | None) -> str | None:
    try:
        (prompt or "").encode()
    except UnicodeEncodeError:
        raise click.UsageError(
            "PROMPT is not text in UTF-8: convert it, for example with `iconv -t utf-8`, or pipe it in with -"
        ) from None
    return prompt


def _keyboard() -> Ask | None:
    """Give what asks the person at the terminal; None if there is none."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    # Imported only now: scripts have nobody to ask, and drawing is slow to import.
    from rich.console import Console

    from trunkline.cli.terminal.line_input import PlainInput
    from trunkline.cli.terminal.questions import KeyboardQuestions
    from trunkline.cli.terminal.screen import Screen
    from trunkline.cli.terminal.stdin_lines import StdinLines

    screen = Screen(Console(stderr=True, highlight=False, markup=False, emoji=False))
    return KeyboardQuestions(PlainInput(StdinLines(), screen), screen).answer


def _printer(format_: Format, output: Output, *, asks: bool, keeps: bool, name: str | None) -> Printer:
    if format_ == "events":
        return EventsPrinter(output)
    return (
        JsonPrinter(output) if format_ == "json" else TextPrinter(output, asks=asks, keeps=keeps, name=name)
    )
