"""``trunkline login``: log in to an agent by one of the ways that it offers."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from collections.abc import Sequence

import click

from trunkline.agents.interface import Agent, Authenticates, AuthMethod, Closes, LogsInByCommand, Prepares
from trunkline.agents.targets import resolve_target
from trunkline.cli.config_option import config_option
from trunkline.cli.first_launch import confirm_launch, yes_option
from trunkline.cli.options import env_file_option
from trunkline.cli.start import prepare_process
from trunkline.cli.target_argument import target_argument
from trunkline.errors import ConfigurationError, InvalidCommand, did_you_mean
from trunkline.safe_text import one_line
from trunkline.transports.process.foreground import run_in_terminal
from trunkline.transports.process.own_exit_processes import end_descendants
from trunkline.transports.process.own_exit_threads import run_async

_WITHIN = 15 * 60
"""Seconds that a person has to log in, in a browser for example."""

_HELP = """Log in to the agent TARGET by METHOD; without METHOD, by its only one, or list them.

An agent may log in by itself (agent: it opens a browser, for example), by a program of its own in this
terminal (terminal), or by variables of its environment, which you set (env_var). What it keeps of the login
is the agent's own business.

\b
Examples:
  trunkline login demo-auth
  trunkline login demo-auth demo-login
  trunkline login demo-auth demo-terminal
  trunkline login "acp:npx -y @google/gemini-cli --acp"
  trunkline login demo-auth --logout

Exit codes: 0 logged in (or out, or no login is needed), 1 not logged in, 2 wrong usage, or METHOD is missing.
"""


@click.command("login", help=_HELP)
@target_argument
@click.argument("method", required=False)
@click.option("--logout", is_flag=True, help="Log out instead.")
@config_option
@env_file_option
@yes_option
def command(target: str, method: str | None, logout: bool, yes: bool) -> int:
    if logout and method is not None:
        raise click.UsageError("--logout takes no METHOD")
    return log_in(target, method, logout=logout, yes=yes)


def log_in(target: str, method_id: str | None, *, logout: bool = False, yes: bool = False) -> int:
    """Log in to a TARGET, or out; give the exit code."""
    prepare_process()
    confirm_launch([target], yes=yes)
    agent = resolve_target(target)
    try:
        method = run_async(_use_agent(agent, target, method_id, logout))
        # In the foreground, when the agent itself is gone: the terminal belongs to one program.
        return method if isinstance(method, int) else _in_terminal(agent, method)
    finally:
        end_descendants()


async def _use_agent(agent: Agent, target: str, method_id: str | None, logout: bool) -> int | AuthMethod:
    """Do what needs the agent itself; give the exit code, or the method that needs the terminal."""
    try:
        if isinstance(agent, Prepares):
            await agent.prepare()
        if logout:
            return await _log_out(agent)
        method = _choose(agent.card.auth_methods, method_id, target)
        if method is None:
            return 2 if agent.card.auth_methods else 0
        if method.kind == "env_var":
            return _show_variables(method)
        return method if method.kind == "terminal" else await _authenticate(agent, method)
    finally:
        if isinstance(agent, Closes):
            await agent.close_agent()


def _choose(methods: Sequence[AuthMethod], method_id: str | None, target: str) -> AuthMethod | None:
    """Give the method to use; None after a list of them, or if there is none."""
    if method_id is None:
        if len(methods) == 1:
            return methods[0]
        for method in methods:
            click.echo(_row(method))
        choose = f"Choose one: trunkline login {shlex.quote(target)} METHOD"
        click.echo(choose if methods else f"{target} offers no login, and may need none.", err=True)
        return None
    known = {method.method_id: method for method in methods}
    if method_id not in known:
        near = did_you_mean(method_id, known) or f"; known: {', '.join(known) or 'none'}"
        raise ConfigurationError(f"{target} has no login {one_line(method_id)!r}{one_line(near, 300)}")
    return known[method_id]


def _row(method: AuthMethod) -> str:
    about = f"{method.name}: {method.description}" if method.description else method.name
    return f"{one_line(method.method_id, 40):<20}  {method.kind:<8}  {one_line(about, 47)}"


def _show_variables(method: AuthMethod) -> int:
    missing = [name for name in method.variables if not os.environ.get(name)]
    for name in method.variables:
        click.echo(f"{one_line(name)}  {'not set' if name in missing else 'set'}")
    if missing:
        names = " ".join(f"{one_line(name)}=..." for name in missing)
        click.echo(f"Set what is missing, and start the agent again: export {names}", err=True)
        return 1
    click.echo(f"{one_line(method.name)}: all are set. The agent reads them when it starts.", err=True)
    return 0


async def _authenticate(agent: Agent, method: AuthMethod) -> int:
    if not isinstance(agent, Authenticates):
        raise InvalidCommand(f"{agent.card.name} names a login and cannot carry it out")
    click.echo(f"{one_line(method.name)} ... (Ctrl-C gives up)", err=True)
    try:
        async with asyncio.timeout(_WITHIN):
            await agent.authenticate(method.method_id)
    except TimeoutError:
        raise click.ClickException(f"there was no login within {_WITHIN // 60} minutes") from None
    click.echo(f"Logged in: {one_line(method.name)}", err=True)
    return 0


async def _log_out(agent: Agent) -> int:
    if not isinstance(agent, Authenticates):
        raise InvalidCommand(f"{agent.card.name} has no logout")
    await agent.logout()
    click.echo("Logged out.", err=True)
    return 0


def _in_terminal(agent: Agent, method: AuthMethod) -> int:
    if not isinstance(agent, LogsInByCommand):
        raise InvalidCommand(f"{agent.card.name} has no command of its own that could log in")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise click.ClickException(f"{one_line(method.name)} needs a terminal: run this command in one")
    login = agent.login_command(method.method_id)
    click.echo(f"Running: {one_line(shlex.join(login.argv), 300)}", err=True)
    code = run_in_terminal(login.argv, login.env)
    # "A zero exit status signals success. Any other termination signals failure."
    # (https://agentclientprotocol.com/protocol/v1/schema#authmethodterminal)
    if code == 0:
        click.echo(f"Logged in: {one_line(method.name)}", err=True)
        return 0
    how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
    raise click.ClickException(f"not logged in: {one_line(login.argv[0])} {how}")
