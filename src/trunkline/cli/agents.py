"""``trunkline agents``: the agents of the public ACP registry, and the commands that start them."""

from __future__ import annotations

import shutil

import click

from trunkline.agents.acp.registry import Launch, RegistryAgent, launch_of, parse_name, read_registry
from trunkline.errors import TargetError

_HELP = """List the agents of the public ACP registry: each is a TARGET registry:ID.

An agent is marked with * if its program is on PATH. The others are fetched by npx or uvx when they are first
started, after the command was shown; an agent without a package must be installed first.

\b
Examples:
  trunkline agents
  trunkline agents --installed
  trunkline agents show gemini
"""


@click.group("agents", help=_HELP, invoke_without_command=True)
@click.option("--installed", is_flag=True, help="Only those whose program is on PATH.")
@click.pass_context
def command(context: click.Context, installed: bool) -> None:
    if context.invoked_subcommand is not None:
        if installed:
            raise click.UsageError("--installed is for the list, not for one agent")
        return
    registry = read_registry()
    rows = [(agent, _is_installed(agent)) for agent in registry.agents]
    shown = [row for row in rows if row[1] or not installed]
    if not shown:
        click.echo("No agent of the registry is installed. All of them: trunkline agents", err=True)
        return
    click.echo(f"  {'ID':<20}{'NAME':<20}STARTED BY")
    for agent, is_there in shown:
        click.echo(f"{'*' if is_there else ' '} {agent.id:<20}{agent.name:<20}{_started_by(agent, is_there)}")
    click.echo(f"\n* installed. {registry.source}, {registry.date}", err=True)


def _is_installed(agent: RegistryAgent) -> bool:
    return agent.program is not None and shutil.which(agent.program) is not None


def _started_by(agent: RegistryAgent, is_there: bool) -> str:
    if is_there:
        return f"{agent.program} (installed)"
    return f"{agent.kind} (downloads it)" if agent.package else f"{agent.program} (install it first)"


_SHOW = """Show how an agent of the registry is started: the exact command.

ID@VERSION takes another version of its package than the one of the registry.

\b
Examples:
  trunkline agents show gemini
  trunkline agents show gemini@latest
"""


@command.command("show", help=_SHOW)
@click.argument("name", metavar="ID")
def show(name: str) -> None:
    agent, version = parse_name(name.removeprefix("registry:"))
    rows = [("home", agent.home), ("registry", f"{read_registry().source}, {read_registry().date}")]
    try:
        launch = launch_of(agent, version)
    except TargetError as error:
        rows.append(("missing", str(error)))
    else:
        rows += _launch_rows(launch, name.removeprefix("registry:"))
    click.echo(f"{agent.id}: {agent.name}")
    for label, text in rows:
        click.echo(f"  {label:<10}{text}")


def _launch_rows(launch: Launch, name: str) -> list[tuple[str, str]]:
    rows = [("command", launch.line), ("use it", f"trunkline chat registry:{name}")]
    if launch.downloads:
        rows.insert(1, ("note", f"{launch.command} downloads this package and runs it"))
    return rows
