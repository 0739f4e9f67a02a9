"""``trunkline sessions show``: the conversation of a session."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click

from trunkline.cli.journals import find_session, use_journal
from trunkline.cli.options import journal_option, session_argument
from trunkline.exports.formats import FORMATS
from trunkline.journal import Journal

_SHOW = """Show the conversation of a session.

With --format events, every event is a line of JSON.

\b
Examples:
  trunkline sessions show sess_1a2b3c
  trunkline sessions show sess_1a2b3c --format events | jq .type
"""


@click.command("show", help=_SHOW)
@session_argument
@click.option(
    "--format", "format_", type=click.Choice(["text", "json", "events"]), default="text", show_default=True
)
@journal_option
def show_command(session_id: str, format_: str, journal: str | None) -> None:
    use_journal(journal, lambda opened: write_session(opened, session_id, format_, write))


async def write_session(
    journal: Journal, session_id: str, format_: str, write: Callable[[bytes], Any]
) -> None:
    """Write a session in a format, piece by piece."""
    info = await find_session(journal, session_id)
    async for piece in FORMATS[format_](journal, info):
        write(piece)


def write(data: bytes) -> None:
    """Write to stdout."""
    sys.stdout.buffer.write(data)
