"""The argument TARGET: names of the configuration file stand for their TARGETs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click

from trunkline.cli.config_option import config_of
from trunkline.cli.tab_suggestions import complete_targets
from trunkline.config_file import Config
from trunkline.errors import did_you_mean


def from_config(target: str, context: click.Context | None) -> str:
    """Give the TARGET that a name of the configuration file stands for; any other as it is."""
    config = config_of(context)
    if config is None:
        return target
    if target not in config.agents and target not in config.agents.values():
        _check_slip(target, config)
        return target
    # Its modules are those of the folder that it lies in, also for a child that gets the TARGET itself.
    if config.folder not in sys.path:
        sys.path.insert(0, config.folder)
    return config.agents.get(target, target)


def _check_slip(target: str, config: Config) -> None:
    """Refuse a word that is nearly the name of an agent of the file, and no other TARGET."""
    from trunkline.agents.targets import BUILT_IN  # Slow to import; a name that is known needs it not.

    is_word = ":" not in target and not target.endswith(".py") and target not in BUILT_IN
    if is_word and (hint := did_you_mean(target, config.agents)):
        raise click.UsageError(f"{config.path} names no agent {target!r}{hint}")


def _whole_target(context: click.Context, parameter: click.Parameter, value: str) -> str:
    return value if context.resilient_parsing else from_config(value, context)


class _Target(click.types.StringParamType):
    """A text that says, when it is missing, what is wanted."""

    name = "target"

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str:
        config = config_of(ctx)
        names = [] if config is None else list(config.agents)
        return f"Which agent? For example {', '.join([*names, 'demo', 'agent.py:hello'][:3])}"


target_argument: Callable[[Callable[..., Any]], Callable[..., Any]] = click.argument(
    "target", type=_Target(), callback=_whole_target, shell_complete=complete_targets
)
"""Gives a command the argument TARGET."""
