"""``--config``: what a command takes from ``trunkline.toml``, and the question before a found file is used.

An option beats a variable of the environment, which beats the file. A file that was only found (in this
folder or above it) may be a stranger's: it could name programs to run, a policy that asks nothing, or where
conversations are written. So it is used once a person has approved its text; to name it is to approve it.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from trunkline.config_file import Config, check_keys, find_config, read_config
from trunkline.errors import ConfigurationError
from trunkline.own_files import protect_own_file
from trunkline.safe_text import one_line, reveal
from trunkline.state_files import StateFile

VARIABLE = "TRUNKLINE_CONFIG"
_KEY = "trunkline.config"
_NONE = "none"
NOT_IN_FILES = frozenset({"targets", "tokens", "insecure_no_auth", "reload", "policy", "journal", "yes"})
"""Options of serve that a file cannot set: they are said each time, or at its top."""


def config_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the option --config, which sets the defaults of its other options."""
    return click.option(
        "--config",
        metavar="FILE|none",
        callback=_use_config,
        expose_value=False,
        is_eager=True,
        help=f"Agents and options from this file (default: {VARIABLE}, else trunkline.toml here or above; "
        "none: no file).",
    )(command)


def config_of(context: click.Context | None) -> Config | None:
    """Give the file that the running command uses."""
    return None if context is None else context.meta.get(_KEY)


def variables_for_child(context: click.Context | None) -> dict[str, str]:
    """Give what lets a trunkline that the running command starts use the same file, or none as it does."""
    config = config_of(context)
    return {VARIABLE: _NONE if config is None else config.path}


def _use_config(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    if context.resilient_parsing:
        return
    config = chosen_config(value, may_ask=context.info_name not in ("acp", "mcp", "record"))
    if config is None:
        return
    context.meta[_KEY] = config
    protect_own_file(config.path, "the configuration")
    context.default_map = {**_defaults(config), **_serve_options(context, config)}


def chosen_config(value: str | None, *, may_ask: bool = True) -> Config | None:
    """Read the file that was named, or the one that is found and approved."""
    named = value or os.environ.get(VARIABLE)
    if named == _NONE:
        return None
    if named:
        if not Path(named).is_file():
            raise ConfigurationError(f"there is no file {named!r}: name a trunkline.toml, or none")
        return checked_config(Path(named))
    found = find_config()
    if found is None:
        return None
    config = checked_config(found)
    _confirm(config, may_ask=may_ask)
    return config


def checked_config(path: Path) -> Config:
    """Read a file; one that gives the name of an agent of ours to another one is refused."""
    from trunkline.agents.targets import BUILT_IN

    config = read_config(path)
    for name in config.agents:
        if name in BUILT_IN and config.agents[name] != name:
            raise ConfigurationError(
                f"{config.path}: {name!r} is an agent of trunkline itself: choose another name"
            )
    return config


def _defaults(config: Config) -> dict[str, Any]:
    chosen = {"policy": config.policy, "env_file": config.env_file}
    if "TRUNKLINE_JOURNAL" not in os.environ:
        chosen["journal"] = config.journal
    return {name: value for name, value in chosen.items() if value is not None}


def _serve_options(context: click.Context, config: Config) -> dict[str, Any]:
    """The options of ``[serve]``, checked as those of the command line are."""
    if not config.serve:
        return {}
    from trunkline.cli.serve import command as serve

    options = {one.name: one for one in serve.params if isinstance(one, click.Option) and one.expose_value}
    check_keys(config, sorted(name for name in options if name and name not in NOT_IN_FILES))
    given: dict[str, Any] = {}
    for name, value in config.serve.items():
        option = options[name]
        if isinstance(option.type, click.Path) and isinstance(value, str):
            value = os.path.join(config.folder, os.path.expanduser(value))
        try:
            if option.multiple != isinstance(value, list):
                kind = "a list" if option.multiple else "one value, not a list"
                raise click.BadParameter(f"it must be {kind}")
            option.type_cast_value(context, value)
        except click.BadParameter as error:
            raise ConfigurationError(f"{config.path}: {name} in [serve]: {error.message}") from None
        given[name] = value
    return given if context.info_name == "serve" else {}


# -- approval --------------------------------------------------------------------------------------


def approval_of(config: Config) -> StateFile:
    """Where the approval of a file's present text is remembered, and of the policy's that it names."""
    policy: list[str] = []
    if config.policy is not None and os.path.isfile(config.policy):
        with suppress(OSError):
            policy = [hashlib.sha256(Path(config.policy).read_bytes()).hexdigest()]
    return StateFile("configs", config.path, config.digest, *policy)


def describe_config(config: Config) -> list[str]:
    """Say what a file does, line by line, safe to print."""
    lines = [f"agent {name}: {target}" for name, target in config.agents.items()]
    for key in ("journal", "policy", "env_file"):
        if (value := getattr(config, key)) is not None:
            lines.append(f"{key}: {value}")
    lines += [f"serve.{key}: {value}" for key, value in config.serve.items()]
    # Whole, with nothing hidden, as a person decides on it; a line feed would begin a line of its own.
    shown = (reveal(line.replace("\n", "\\n")) for line in lines)
    return [f"  {line}" for line in shown] or ["  nothing"]


def _confirm(config: Config, *, may_ask: bool) -> None:
    approval = approval_of(config)
    if approval.load() is not None:
        return
    path = one_line(config.path, 500)
    if not (may_ask and sys.stdin and sys.stdin.isatty() and sys.stderr and sys.stderr.isatty()):
        raise ConfigurationError(
            f"{path} was found, and nobody has approved it as it is now: read it, then run `trunkline config "
            "approve`; or name it with --config FILE, or go without it: --config none"
        )
    click.echo(f"{path} was found. It sets:", err=True)
    click.echo("\n".join(describe_config(config)), err=True)
    if not click.confirm("Use it, now and later?", err=True):
        raise click.ClickException("the file was not used; --config none goes without it")
    approval.store({"path": config.path})
