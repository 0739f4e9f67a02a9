"""``trunkline sessions rename``: a name by which --session finds a session."""

from __future__ import annotations

import click

from trunkline.cli.journals import NAME_KEY, find_session, is_name, look_for_session, use_journal
from trunkline.cli.options import journal_option, session_argument
from trunkline.errors import InvalidCommand
from trunkline.journal import Journal

_RENAME = """Give a session a name of your own, by which --session finds it.

\b
Examples:
  trunkline sessions rename sess_1a2b3c taxes
  trunkline chat finance --session taxes
"""


@click.command("rename", help=_RENAME)
@session_argument
@click.argument("name")
@journal_option
def rename_command(session_id: str, name: str, journal: str | None) -> None:
    if not is_name(name):
        raise click.UsageError(
            f"{name!r} cannot be a session's name: use up to 64 letters, digits, '.', '_' and '-', and "
            "nothing that looks like an id"
        )

    async def rename(opened: Journal) -> str:
        info = await find_session(opened, session_id)
        known = await look_for_session(opened, name, info.target)
        if known is not None and known.key != info.key:
            raise InvalidCommand(f"{known.session_id} is called {name!r} already: choose another name")
        await opened.keep(info.key, NAME_KEY, name)
        return info.session_id

    click.echo(f"{use_journal(journal, rename)} is called {name}", err=True)
