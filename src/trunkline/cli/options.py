"""Options that several commands have, checked before the command starts anything."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from trunkline.cli.config_option import config_of, config_option
from trunkline.cli.tab_suggestions import complete_policies, complete_sessions
from trunkline.env_file import load_env_file
from trunkline.errors import ConfigurationError
from trunkline.journal.address import DEFAULT_TEXT, parse_address

if TYPE_CHECKING:
    from trunkline.workspace.policy import Policy


_IN_FILE = ParameterSource.DEFAULT_MAP
"""Where the value of an option comes from that the configuration file sets."""


class _Folder(click.Path):
    """A folder that exists; an empty name is refused, where click takes it for the current folder."""

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        if not value:
            self.fail("it is empty: name a folder, or leave the option out", param, ctx)
        return super().convert(value, param, ctx)


FOLDER = _Folder(exists=True, file_okay=False, resolve_path=True)
"""The type of an option that names a folder."""


@contextmanager
def _told_with_its_file(context: click.Context | None, parameter: click.Parameter | None) -> Generator[None]:
    """Name the configuration file in an error about what stands in it: nobody typed that value."""
    try:
        yield
    except (ConfigurationError, click.BadParameter) as error:
        config = config_of(context)
        name = (parameter and parameter.name) or ""
        if config is None or context is None or context.get_parameter_source(name) is not _IN_FILE:
            raise
        why = error.message if isinstance(error, click.BadParameter) else error
        raise ConfigurationError(f"{config.path}: {name}: {why}") from None


def _check_journal(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    with _told_with_its_file(context, parameter):
        parse_address(value)
    return value


_journal = click.option(
    "--journal",
    metavar="ADDRESS",
    callback=_check_journal,
    help=f"Where sessions are kept: sqlite:PATH or memory: (default: {DEFAULT_TEXT}).",
)


def journal_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options --journal and --config, which may name a journal too."""
    return config_option(_journal(command))


def _load_variables(context: click.Context, parameter: click.Parameter, value: Path | None) -> None:
    if value is not None and not context.resilient_parsing:
        for number in load_env_file(value):
            click.echo(f"warning: {value}, line {number} is not NAME=value, and is left out", err=True)


class _EnvFile(click.Path):
    """A file that exists; the one that the configuration names is refused by both their names."""

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        with _told_with_its_file(ctx, param):
            return super().convert(value, param, ctx)


env_file_option = click.option(
    "--env-file",
    type=_EnvFile(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    # Eager, as other options and the agent look into the environment.
    is_eager=True,
    expose_value=False,
    callback=_load_variables,
    help="Variables for the agent, a line NAME=value each (.env); those that are set already stay.",
)


def _load_policy(context: click.Context, parameter: click.Parameter, value: str | None) -> Policy | None:
    if value is None:
        return None
    # Imported only now: an editor waits for the start of ``trunkline acp``.
    from trunkline.workspace.policy_file import load_policy

    with _told_with_its_file(context, parameter):
        return load_policy(value)


policy_option = click.option(
    "--policy",
    metavar="NAME|FILE",
    callback=_load_policy,
    shell_complete=complete_policies,
    help="What the agent may do without asking, and what not at all: ask, allow-reads, accept-edits, "
    "read-only, deny-commands, deny, allow-all, or a TOML or JSON file. Without base = ... a file asks about "
    "every tool call that its rules do not decide (default: no policy; only what the agent asks is asked).",
)


def session_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that choose its session: --session and --continue."""
    named = click.option(
        "--session",
        "session_id",
        metavar="ID|NAME",
        shell_complete=complete_sessions,
        help="Go on with this session: an id, its beginning, or a name of your own, which begins one.",
    )
    last = click.option(
        "--continue", "continue_", is_flag=True, help="Go on with the last session of this folder and TARGET."
    )
    return named(last(command))


session_argument = click.argument("session_id", metavar="ID", shell_complete=complete_sessions)
"""The argument that names a session."""
