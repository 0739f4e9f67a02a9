"""``trunkline sessions delete``: one session, for good."""

from __future__ import annotations

import sys

import click

from trunkline.cli.journals import find_session, use_journal
from trunkline.cli.options import journal_option, session_argument
from trunkline.errors import SessionBusy
from trunkline.journal import Journal
from trunkline.safe_text import one_line

_DELETE = """Delete a session for good.

\b
Example:
  trunkline sessions delete sess_1a2b3c --yes
"""


@click.command("delete", help=_DELETE)
@session_argument
@click.option("--yes", is_flag=True, help="Do not ask.")
@journal_option
def delete_command(session_id: str, yes: bool, journal: str | None) -> None:
    if not yes and not sys.stdin.isatty():
        raise click.UsageError("deleting cannot be undone: add --yes when there is no terminal to ask in")

    async def remove(opened: Journal) -> str:
        info = await find_session(opened, session_id)
        if info.owner is not None:
            raise SessionBusy(f"a process uses session {info.session_id}: close it there and try again")
        if not yes:
            click.confirm(f"Delete {info.session_id} ({one_line(info.title or 'untitled')})?", abort=True)
        await opened.delete(info.key)
        return info.session_id

    click.echo(f"deleted {use_journal(journal, remove)}", err=True)
