"""``trunkline record``: everything that a client and an agent say, in a file."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import BinaryIO

import click

from trunkline.cli.config_option import config_of, config_option
from trunkline.cli.diagnosis.check import acp_command
from trunkline.cli.first_launch import confirm_launch, yes_option
from trunkline.cli.options import env_file_option
from trunkline.cli.signals import end_by_signals
from trunkline.cli.target_argument import from_config
from trunkline.errors import ConfigurationError
from trunkline.journal.address import parse_address
from trunkline.traces.recorder import record
from trunkline.transports.process.environment import scrub

_HELP = """Run an agent for the client that started us, and write all they say to a trace.

Put it where an editor has the agent's command: it speaks ACP on stdin and stdout, as the agent does. After
-- comes a command, as it is; one word alone is a TARGET. A trace holds everything that was said, secrets
too: look at it before you share it. See trunkline replay.

\b
Examples:
  trunkline exec "acp:trunkline record demo -o trace.jsonl" "hello"
  trunkline record -o trace.jsonl -- gemini --acp
"""


@click.command("record", help=_HELP)
@click.argument("words", nargs=-1, required=True, metavar="TARGET | -- COMMAND ARGS")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The trace; it must not be there yet.",
)
@config_option
@env_file_option
@yes_option
@click.pass_context
def command(context: click.Context, words: tuple[str, ...], output: Path, yes: bool) -> int:
    env: dict[str, str] = {}
    argv = list(words)
    if len(words) == 1:
        target = from_config(words[0], context)
        confirm_launch([target], yes=yes, may_ask=False)
        config = config_of(context)
        journal = None if config is None or os.environ.get("TRUNKLINE_JOURNAL") else config.journal
        argv = acp_command(target, env, str(parse_address(journal)))
    elif yes:
        raise click.UsageError("--yes is for agents of the registry: registry:ID")
    try:
        # A trace is only for its owner: it holds whatever was said.
        opened = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise click.UsageError(f"{output} is there already: name another file") from None
    with open(opened, "wb", buffering=0) as trace:
        try:
            variables = {**scrub(os.environ, ["*"]), **env}
            with end_by_signals():
                return record(argv, trace, stdin=_own_stdin(), stdout=sys.stdout.buffer, env=variables)
        except OSError as error:
            output.unlink()
            raise ConfigurationError(f"{argv[0]!r} cannot be started: {error.strerror}") from error


def _own_stdin() -> BinaryIO:
    """Give stdin without the lock that Python wants at its end: a thread that reads has it."""
    return open(sys.stdin.fileno(), "rb", closefd=False)
