"""The command line: one module per command, imported only when that command is run.

Exit codes: 0 fine, 1 failed, 2 wrong usage (also a TARGET or a session that is not there), 3 timeout,
5 a permission was refused, 129 the window was closed, 130 interrupted, 141 the reader of the output is gone,
143 terminated.

* ``acp``: ``trunkline acp``
* ``agents``: ``trunkline agents``
* ``browser``: opens the page in a browser
* ``chat``: ``trunkline chat``
* ``completion``: ``trunkline completion``
* ``config``: ``trunkline config``
* ``config_option``: ``--config``: trunkline.toml, and the question before a found one is used
* ``diagnosis``: ``trunkline check``, ``doctor``, ``record``, ``replay`` and ``bundle``
* ``exec``: ``trunkline exec``
* ``finance``: ``trunkline finance``
* ``first_launch``: asks before an agent of the registry is downloaded and run
* ``init``: ``trunkline init``
* ``journals``: opens the journal of a command, and finds sessions by id, beginning or name
* ``login``: ``trunkline login``
* ``logs``: what went wrong, as a line on stderr
* ``mcp``: ``trunkline mcp``
* ``new``: ``trunkline new``
* ``open_hub``: journal, hub and session of a command
* ``options``: options that several commands have
* ``output``: writes results without blocking the loop
* ``reloading``: ``serve --reload``
* ``serve``: ``trunkline serve``
* ``server_extra``: what to install where the server's packages are missing
* ``sessions``: ``trunkline sessions``
* ``signals``: Ctrl-C, SIGTERM and a closed window
* ``start``: the start of every command that runs an agent
* ``tab_suggestions``: what the Tab key offers: TARGETs, sessions and policies
* ``target_argument``: the argument TARGET, with the names of trunkline.toml
* ``terminal``: what a person at a terminal sees and types
* ``units``: ages and sizes as a person writes them
"""

from __future__ import annotations

import difflib
import errno
import importlib
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple, NoReturn

import click

from trunkline._version import __version__

__all__ = ["main"]

_HELP = """One trunk, many lines: any agent in any front end.

TARGET says which agent: finance, demo and demo-auth need nothing; your own is module:attr or
path/file.py:attr; one that speaks ACP is "acp:COMMAND ARGS" or registry:ID (see trunkline agents), any other
program "pty:COMMAND".

\b
Examples:
  trunkline chat demo                           talk to the scripted agent
  trunkline exec demo "hello"                   one prompt, one answer
  trunkline exec agent.py:hello "hi"            an agent of your own
  trunkline chat "acp:gemini --acp"             a coding agent that speaks ACP
  trunkline exec demo /tools --format events    every event as a line of JSON
  trunkline sessions list                       the conversations so far
  trunkline agents                              agents that others wrote
  trunkline new my-agent                        the files of an agent of your own
  trunkline init zed agent.py:hello --yes       in an editor: see trunkline init --help
  trunkline mcp tools.py:registry               for MCP clients: see trunkline mcp --help
  trunkline serve agent.py:hello                a page in the browser, and web apps
"""


class _Entry(NamedTuple):
    module: str
    about: str


_COMMANDS = {
    "exec": _Entry("trunkline.cli.exec.command", "Send one prompt to an agent and print the answer."),
    "chat": _Entry("trunkline.cli.chat.command", "Talk to an agent in this terminal."),
    "acp": _Entry("trunkline.cli.acp", "Serve an agent to an editor (the Agent Client Protocol on stdio)."),
    "serve": _Entry("trunkline.cli.serve", "Serve agents over HTTP: a page, useChat, AG-UI, CopilotKit."),
    "mcp": _Entry("trunkline.cli.mcp", "Serve tools to MCP clients (the Model Context Protocol on stdio)."),
    "agents": _Entry("trunkline.cli.agents", "List the agents of the public ACP registry."),
    "login": _Entry("trunkline.cli.login", "Log in to an agent, or out."),
    "finance": _Entry(
        "trunkline.cli.finance.command", "Import bank statements and sync banks for the finance agent."
    ),
    "new": _Entry("trunkline.cli.new.command", "Make the files of a new agent, with tests."),
    "init": _Entry("trunkline.cli.init.command", "Put an agent into the settings of an editor."),
    "check": _Entry("trunkline.cli.diagnosis.check", "Check an agent or a server against its protocol."),
    "doctor": _Entry("trunkline.cli.diagnosis.doctor", "Find out why an agent does not start."),
    "record": _Entry("trunkline.cli.diagnosis.record", "Record what a client and an agent say."),
    "replay": _Entry("trunkline.cli.diagnosis.replay", "Play a recording as a fake agent or a fake client."),
    "bundle": _Entry("trunkline.cli.diagnosis.bundle", "Write what a bug report needs, without secrets."),
    "config": _Entry("trunkline.cli.config", "Show and approve trunkline.toml."),
    "completion": _Entry("trunkline.cli.completion", "Print the completion script of a shell."),
    "sessions": _Entry(
        "trunkline.cli.sessions.command", "List, search, show, export, cancel and delete sessions."
    ),
}


class _Commands(click.Group):
    """A group whose commands are imported when they are run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = _COMMANDS.get(cmd_name)
        if entry is None:
            return None
        command: click.Command = importlib.import_module(entry.module).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.about) for name, entry in _COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], _COMMANDS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"commands are {', '.join(_COMMANDS)}"
            ctx.fail(f"there is no command {args[0]!r}; {hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            code = super().invoke(ctx)
            _flush()
        except BrokenPipeError:
            return _discard_output()
        return code

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> NoReturn:
        """Run a command and leave with its exit code; an error is a sentence, never a stack trace."""
        _allow_every_character()
        try:
            code = super().main(args, prog_name or "trunkline", complete_var, standalone_mode=False, **extra)
        except click.ClickException as error:
            error.show()
            code = error.exit_code
        except (click.Abort, KeyboardInterrupt):
            code = 130
        except Exception as error:
            code = _explain(error)
        sys.exit(code or 0)


_FULL = (errno.ENOSPC, errno.EDQUOT)


def _allow_every_character() -> None:
    """Show what the encoding of a stream has no character for as an escape, as stderr always does."""
    stdout: Any = sys.stdout  # A test may have another one here, and a closed one is None.
    if isinstance(stdout, io.TextIOWrapper):
        stdout.reconfigure(errors="backslashreplace")


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        # There is no stream when the parent process closed it.
        with suppress(AttributeError):
            stream.flush()


def _discard_output() -> int:
    """Discard what is left to print, so that the last flush does not fail; give the exit code."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
    return 141


def _explain(error: Exception) -> int:
    """Print what is wrong and give the exit code; a bug of ours keeps its traceback."""
    from trunkline.agents.acp.errors import AgentCommandNotFound
    from trunkline.errors import ConfigurationError, JournalError, PeerError, SessionNotFound, TrunklineError
    from trunkline.safe_text import escape

    if isinstance(error, OSError):
        named = error.filename is not None and error.strerror is not None
        why = f"{error.filename}: {error.strerror}" if named else str(error)
        advice = "; free some space or write elsewhere" if error.errno in _FULL else ""
        click.echo(f"error: {escape(why)}{advice}", err=True)
        _discard_output()
        return 1
    if not isinstance(error, TrunklineError):
        raise error
    where = (
        f" (the journal is {escape(error.path)})" if isinstance(error, JournalError) and error.path else ""
    )
    click.echo(f"error: {escape(str(error))}{where}", err=True)
    wrong_usage = (AgentCommandNotFound, ConfigurationError, PeerError, SessionNotFound)
    return 2 if isinstance(error, wrong_usage) else 1


@click.group(cls=_Commands, help=_HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="trunkline", message="%(prog)s %(version)s")
def main() -> None: ...
