"""``trunkline replay``: a trace as a fake agent, or as a fake client."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, cast

import click
import msgspec
import orjson

from trunkline.cli.config_option import config_option
from trunkline.cli.diagnosis.check import acp_command
from trunkline.cli.first_launch import confirm_launch, yes_option
from trunkline.cli.options import env_file_option
from trunkline.cli.signals import end_by_signals
from trunkline.cli.target_argument import from_config
from trunkline.cli.units import parse_age
from trunkline.errors import ConfigurationError
from trunkline.safe_text import escape
from trunkline.traces.agent_player import AgentPlayer
from trunkline.traces.trace import TraceLine, read_trace
from trunkline.transports.process.environment import scrub

_LONGEST_LINE = 256 * 1024 * 1024

_HELP = """Play a trace again: as an agent for any client, or as a client against an agent.

As an agent (the default) it answers on stdin and stdout with what was recorded, in the order of the trace:
"acp:trunkline replay trace.jsonl" is a TARGET that needs no model and no key. With a TARGET it is the client:
the recorded requests are sent to that agent, and what comes back is compared, request by request; the exit
code is 1 when something changed.

\b
Examples:
  trunkline exec "acp:trunkline record demo -o trace.jsonl" "hello"
  trunkline exec "acp:trunkline replay trace.jsonl" "hello"
  trunkline replay trace.jsonl demo
"""


@click.command("replay", help=_HELP)
@click.argument("trace", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("target", required=False)
@click.option("--as", "role", type=click.Choice(["agent", "client"]), help="The side that the trace plays.")
@click.option("--timeout", metavar="TIME", help="How long an answer of TARGET may take (default: 30s).")
@config_option
@env_file_option
@yes_option
@click.pass_context
def command(
    context: click.Context, trace: Path, target: str | None, role: str | None, timeout: str | None, yes: bool
) -> int:
    if role == "client" and target is None:
        raise click.UsageError("as a client the trace needs the TARGET that it plays against")
    if role == "agent" and target is not None:
        raise click.UsageError("as an agent the trace is played to the client on stdin: leave TARGET out")
    lines = read_trace(trace)
    if not lines:
        raise ConfigurationError(f"{trace} is empty: record a trace with `trunkline record`")
    if target is None:
        if timeout is not None or yes:
            raise click.UsageError("--timeout and --yes are for a TARGET")
        return _play_agent(lines)
    target = from_config(target, context)
    confirm_launch([target], yes=yes)
    return _play_client(lines, target, parse_age(timeout or "30s"))


def _play_agent(trace: list[TraceLine]) -> int:
    player = AgentPlayer(trace)
    while line := sys.stdin.buffer.readline(_LONGEST_LINE):
        try:
            message: Any = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if isinstance(message, dict):
            for output in player.feed(cast("dict[str, Any]", message)):
                sys.stdout.buffer.write(msgspec.json.encode(output) + b"\n")
            sys.stdout.buffer.flush()
    return 0


def _play_client(trace: list[TraceLine], target: str, patience: float) -> int:
    from trunkline.conformance.acp.stdio_client import StdioClient
    from trunkline.traces.client_player import ClientPlayer

    env: dict[str, str] = {}
    argv = acp_command(target, env, "memory:")
    try:
        client = StdioClient(argv, env=env, environ=scrub(os.environ, ["*"]), patience=patience)
    except OSError as error:
        raise ConfigurationError(f"{argv[0]!r} cannot be started: {error.strerror}") from error
    with end_by_signals(), client:
        steps = ClientPlayer(trace, client).play()
    for step in steps:
        click.echo(f"{'same' if step.same else 'DIFF'}  {escape(step.method)}")
        if not step.same:
            for line in step.recorded:
                click.echo(f"      {'-' if line not in step.now else ' '} {escape(line)}")
            for line in step.now:
                if line not in step.recorded:
                    click.echo(f"      + {escape(line)}")
    changed = sum(not step.same for step in steps)
    click.echo(f"{len(steps)} requests, {changed} with a difference")
    return 1 if changed or not steps else 0
