"""``trunkline sessions``: the group of commands; only ``import`` runs an agent."""

from __future__ import annotations

import click

from trunkline.cli.sessions.cancel import cancel_command
from trunkline.cli.sessions.delete import delete_command
from trunkline.cli.sessions.export import export_command
from trunkline.cli.sessions.import_command import command as import_command
from trunkline.cli.sessions.listing import list_command, search_command
from trunkline.cli.sessions.prune import prune_command
from trunkline.cli.sessions.rename import rename_command
from trunkline.cli.sessions.show import show_command

_HELP = """List, show, search, rename, cancel, export, import, delete and prune sessions.

An ID may be shortened to its first characters, as long as only one session has them, with or without the
sess_ before them; a name that was given to a session works too.

\b
Examples:
  trunkline sessions list
  trunkline sessions search hello
  trunkline sessions show sess_1a2b3c
  trunkline sessions rename sess_1a2b3c taxes
  trunkline sessions export sess_1a2b3c --output talk.md
  trunkline sessions import "acp:npx -y @agentclientprotocol/claude-agent-acp"
  trunkline sessions delete sess_1a2b3c --yes
  trunkline sessions prune --older-than 30d --dry-run
"""


@click.group("sessions", help=_HELP)
def command() -> None: ...


for one in (
    list_command,
    search_command,
    show_command,
    rename_command,
    cancel_command,
    export_command,
    import_command,
    delete_command,
    prune_command,
):
    command.add_command(one)
