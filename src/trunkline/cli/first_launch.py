"""The question before an agent of the registry is downloaded and run for the first time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import click

_PREFIX = "registry:"


def yes_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the option --yes."""
    text = "Download and run an agent of the registry without asking; remembered for this command."
    return click.option("--yes", is_flag=True, help=text)(command)


def check_yes(targets: Sequence[str], *, yes: bool) -> None:
    """Refuse --yes where there is nothing to ask."""
    if yes and not any(target.startswith(_PREFIX) for target in targets):
        raise click.UsageError("--yes is for agents of the registry: registry:ID")


def confirm_launch(targets: Sequence[str], *, yes: bool, may_ask: bool = True) -> None:
    """Show the command of each agent that is downloaded, and ask on a terminal; a yes is remembered.

    Without a terminal it is shown at each start, and nobody is asked.
    """
    check_yes(targets, yes=yes)
    for name in [target.removeprefix(_PREFIX) for target in targets if target.startswith(_PREFIX)]:
        _confirm(name, yes=yes, may_ask=may_ask)


def _confirm(name: str, *, yes: bool, may_ask: bool) -> None:
    from trunkline.agents.acp.registry import launch_of, parse_name
    from trunkline.state_files import StateFile

    launch = launch_of(*parse_name(name))
    approved = StateFile("launches", launch.line)
    if not launch.downloads or approved.load() is not None:
        return
    click.echo(f"{_PREFIX}{name} is downloaded and run: {launch.line}", err=True)
    if not yes:
        if not (may_ask and sys.stdin.isatty() and sys.stderr.isatty()):
            return
        if not click.confirm("Start it?", err=True):
            raise click.ClickException("nothing was started")
    approved.store({"command": launch.line})
