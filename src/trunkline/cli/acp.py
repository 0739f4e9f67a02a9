"""``trunkline acp``: an agent for the editor that started us."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from trunkline.cli.options import journal_option, policy_option
from trunkline.cli.start import prepare_process
from trunkline.frontends.acp.stdio import serve_target

if TYPE_CHECKING:
    from trunkline.agents.interface import Agent
    from trunkline.workspace.policy import Policy

_HELP = """Serve the agent TARGET over the Agent Client Protocol on stdin and stdout.

Editors run this; there is nothing to type. Whatever the agent prints goes to stderr.

\b
Examples:
  Zed, settings.json:
    "agent_servers": {"My agent": {"type": "custom", "command": "trunkline",
                                   "args": ["acp", "/path/to/agent.py:hello"]}}
  JetBrains, ~/.jetbrains/acp.json:
    {"agent_servers": {"My agent": {"command": "trunkline", "args": ["acp", "/path/to/agent.py:hello"]}}}
  By hand, to see the wire:
    echo '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}' |
      trunkline acp demo
"""


@click.command("acp", help=_HELP)
@click.argument("target")
@policy_option
@journal_option
@click.option(
    "--login", metavar="METHOD", help="Log in by METHOD in this terminal, and leave: editors run this, too."
)
def command(target: str, policy: Policy | None, journal: str | None, login: str | None) -> int | None:
    if login is not None:
        # Imported only now, as everything that the answer to initialize does not need.
        from trunkline.cli.login import log_in

        if policy is not None or journal is not None:
            raise click.UsageError("--login serves nothing, so it takes neither --policy nor --journal")
        return log_in(target, login)
    prepare_process()

    def load() -> Agent:
        # Imported only now: an editor waits for the answer to initialize, which does not need it.
        from trunkline.agents.targets import resolve_target
        from trunkline.cli.first_launch import confirm_launch

        confirm_launch([target], yes=False, may_ask=False)
        return resolve_target(target)

    serve_target(target, load, journal=journal, policy=policy)
    return None
