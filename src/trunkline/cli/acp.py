"""``trunkline acp``: an agent for the editor that started us."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, cast

import click

from trunkline.cli.first_launch import check_yes, yes_option
from trunkline.cli.options import env_file_option, journal_option, policy_option
from trunkline.cli.start import prepare_process
from trunkline.cli.target_argument import target_argument
from trunkline.frontends.acp.stdio import serve_target

if TYPE_CHECKING:
    from trunkline.agents.acp import AcpAgent
    from trunkline.agents.interface import Agent
    from trunkline.workspace.policy import Policy

_SPLICED = ("acp:", "registry:")
"""The TARGETs of agents that speak ACP themselves."""

_HELP = """Serve the agent TARGET over the Agent Client Protocol on stdin and stdout.

Editors run this; there is nothing to type. Whatever the agent prints goes to stderr.

An agent that speaks ACP itself (acp:COMMAND, registry:ID) gets the editor's own lines, and the editor gets
the agent's, unchanged; we add the journal and the policy. With --no-splice the editor talks to our own front
end instead, which keeps the session when the agent's process ends.

\b
Examples:
  Zed, settings.json:
    "agent_servers": {"My agent": {"type": "custom", "command": "trunkline",
                                   "args": ["acp", "/path/to/agent.py:hello"]}}
  JetBrains, ~/.jetbrains/acp.json:
    {"agent_servers": {"My agent": {"command": "trunkline", "args": ["acp", "/path/to/agent.py:hello"]}}}
  A coding agent, with a journal and a policy beside it:
    "args": ["acp", "acp:npx -y @agentclientprotocol/claude-agent-acp", "--policy", "allow-reads"]
  By hand, to see the wire:
    echo '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}' |
      trunkline acp demo
"""


@click.command("acp", help=_HELP)
@target_argument
@policy_option
@journal_option
@env_file_option
@click.option(
    "--no-splice",
    is_flag=True,
    help="Put our own ACP front end before an agent that speaks ACP, instead of forwarding its lines.",
)
@click.option(
    "--login", metavar="METHOD", help="Log in by METHOD in this terminal, and leave: editors run this, too."
)
@yes_option
def command(
    target: str, policy: Policy | None, journal: str | None, no_splice: bool, login: str | None, yes: bool
) -> int | None:
    speaks_acp = target.startswith(_SPLICED)
    if no_splice and not speaks_acp:
        raise click.UsageError("--no-splice is for agents that speak ACP: acp:COMMAND or registry:ID")
    if login is not None:
        # Imported only now, as everything that the answer to initialize does not need.
        from trunkline.cli.login import log_in

        if policy is not None or journal is not None or no_splice or yes:
            raise click.UsageError("--login serves nothing, so it takes no other option")
        return log_in(target, login)
    check_yes([target], yes=yes)
    prepare_process()
    if sys.stdin.isatty():
        click.echo(
            "Waiting for an editor: this speaks JSON-RPC on stdin and stdout, and editors start it (see "
            "trunkline acp --help). To talk to the agent yourself: trunkline chat. Ctrl-C ends.",
            err=True,
        )

    def load() -> tuple[str, Agent]:
        # Imported only now: an editor waits for the answer to initialize, which does not need it.
        from trunkline.agents.targets import name_target
        from trunkline.cli.first_launch import confirm_launch

        confirm_launch([target], yes=yes, may_ask=False)
        return name_target(target)

    if speaks_acp and not no_splice:
        from trunkline.agents.acp.splice.stdio import serve_splice

        serve_splice(target, lambda: cast("AcpAgent", load()[1]), journal=journal, policy=policy)
        return None
    serve_target(target, load, journal=journal, policy=policy)
    return None
