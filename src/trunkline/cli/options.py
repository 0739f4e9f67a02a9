"""Options that several commands have, checked before the command starts anything."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from trunkline.journal.address import DEFAULT_TEXT, parse_address

if TYPE_CHECKING:
    from trunkline.workspace.policy import Policy


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


def _check_journal(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    parse_address(value)
    return value


journal_option = click.option(
    "--journal",
    metavar="ADDRESS",
    callback=_check_journal,
    help=f"Where sessions are kept: sqlite:PATH or memory: (default: {DEFAULT_TEXT}).",
)


def _load_policy(context: click.Context, parameter: click.Parameter, value: str | None) -> Policy | None:
    if value is None:
        return None
    # Imported only now: an editor waits for the start of ``trunkline acp``.
    from trunkline.workspace.policy_file import load_policy

    return load_policy(value)


policy_option = click.option(
    "--policy",
    metavar="NAME|FILE",
    callback=_load_policy,
    help="What the agent may do without asking, and what not at all: ask, allow-reads, accept-edits, "
    "read-only, deny-commands, deny, allow-all, or a TOML or JSON file. Without base = ... a file asks about "
    "every tool call that its rules do not decide (default: no policy; only what the agent asks is asked).",
)
