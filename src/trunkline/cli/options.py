"""Options that several commands have, checked before the command starts anything."""

from __future__ import annotations

import click

from trunkline.journal.address import DEFAULT_TEXT, parse_address

__all__ = ["journal_option"]


def _check_journal(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    parse_address(value)
    return value


journal_option = click.option(
    "--journal",
    metavar="ADDRESS",
    callback=_check_journal,
    help=f"Where sessions are kept: sqlite:PATH or memory: (default: {DEFAULT_TEXT}).",
)
