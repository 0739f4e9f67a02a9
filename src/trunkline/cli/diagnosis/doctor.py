"""``trunkline doctor``: why an agent does not start, and what to do."""

from __future__ import annotations

import click
import orjson

from trunkline.cli.diagnosis.doctor_steps import Step, examine
from trunkline.cli.diagnosis.redaction import Redactor
from trunkline.cli.options import env_file_option, journal_option
from trunkline.cli.signals import end_by_signals
from trunkline.cli.target_argument import target_argument
from trunkline.cli.units import parse_age
from trunkline.safe_text import escape

_HELP = """Find out why TARGET does not start: step by step, with the fix for the step that fails.

It looks for the file, its imports and keys, or for the program and its version; starts the agent as an editor
does, greets it and opens a session (no prompt is sent); and looks at the journal and the port. The exit code
is 1 when a step fails.

\b
Examples:
  trunkline doctor demo
  trunkline doctor agent.py:hello
  trunkline doctor "acp:gemini --acp"
  trunkline doctor agent.py:hello --json
"""


@click.command("doctor", help=_HELP)
@target_argument
@click.option("--port", default=8000, show_default=True, help="The port for trunkline serve.")
@click.option("--timeout", default="20s", metavar="TIME", help="How long the agent may take (default: 20s).")
@click.option("--json", "as_json", is_flag=True, help="Print the steps as JSON.")
@journal_option
@env_file_option
def command(target: str, port: int, timeout: str, as_json: bool, journal: str | None) -> int:
    seconds = parse_age(timeout)
    steps: list[Step] = []
    redactor = Redactor()
    with end_by_signals():
        for step in examine(target, journal, port, seconds):
            steps.append(step)
            if not as_json:
                click.echo(f"{step.outcome:4}  {step.name:<10} {escape(redactor.text(step.text))}")
                if step.fix:
                    click.echo(f"      {'':<10} -> {escape(step.fix)}")
    failed = [step for step in steps if step.outcome == "fail"]
    if as_json:
        plain = [redactor.value(step._asdict()) for step in steps]
        report = {"target": target, "ok": not failed, "steps": plain}
        click.echo(orjson.dumps(report, option=orjson.OPT_INDENT_2))
    else:
        click.echo("\nEverything is fine." if not failed else f"\nStopped at: {failed[0].name}.")
    return 1 if failed else 0
