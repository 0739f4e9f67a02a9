"""``trunkline config``: what ``trunkline.toml`` says, and the approval of one that was found."""

from __future__ import annotations

from pathlib import Path

import click

from trunkline.cli.config_option import approval_of, checked_config, describe_config
from trunkline.config_file import CONFIG_NAME, Config, find_config
from trunkline.errors import ConfigurationError

_HELP = """Show the configuration file that commands use here, and what it sets.

A file that is found in this folder or above it is used after you have approved its text; to name one with
--config FILE is to approve it. docs/config.md lists what may stand in it.

\b
Examples:
  trunkline config
  trunkline config approve
  trunkline chat shop --config trunkline.toml
"""


@click.group("config", help=_HELP, invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    if context.invoked_subcommand is not None:
        return
    config = _found(None)
    approved = approval_of(config).load() is not None
    click.echo(f"{config.path} ({'approved' if approved else 'not approved: trunkline config approve'})")
    click.echo("\n".join(describe_config(config)))


_APPROVE = """Approve a configuration file as it is now.

After a change it is asked about again.

\b
Examples:
  trunkline config approve
  trunkline config approve trunkline.toml
"""


@command.command("approve", help=_APPROVE)
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
def approve(file: Path | None) -> None:
    config = _found(file)
    approval_of(config).store({"path": config.path})
    click.echo(f"approved {config.path}:", err=True)
    click.echo("\n".join(describe_config(config)), err=True)


def _found(file: Path | None) -> Config:
    path = file or find_config()
    if path is None:
        raise ConfigurationError(
            f"there is no {CONFIG_NAME} in this folder or above it: docs/config.md shows how to write one"
        )
    return checked_config(path)
