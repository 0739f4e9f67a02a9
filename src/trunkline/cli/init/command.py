"""``trunkline init``: an agent in the configuration of an editor."""

from __future__ import annotations

import os
import shlex
import sys
from typing import Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from trunkline.agents.targets import name_target
from trunkline.cli.config_option import config_of
from trunkline.cli.init.agent_launch import (
    Launch,
    absolute_target,
    default_name,
    needed_variables,
    own_command,
)
from trunkline.cli.init.editors import Editor, found_editors, known_editors
from trunkline.cli.init.settings_folders import this_machine
from trunkline.cli.init.setup import Choices, set_up, take_out
from trunkline.cli.init.variables import PLAIN, parse_variables, provider_keys
from trunkline.cli.options import journal_option
from trunkline.cli.tab_suggestions import complete_targets
from trunkline.cli.target_argument import from_config
from trunkline.errors import ConfigurationError, did_you_mean
from trunkline.safe_text import escape
from trunkline.target_names import split_target
from trunkline.workspace.policy_file import load_policy

_HELP = """Put the agent TARGET into the settings of EDITOR, or of each editor that is found here.

EDITOR is zed, jetbrains, vscode, cursor, neovim, emacs, jupyter, marimo or acpx. What changes is shown first,
and you are asked; comments and layout of the file stay as they are, and what was there is kept beside it. The
command is written with absolute paths, so that an editor started from a desktop finds it.

\b
Examples:
  trunkline init agent.py:hello --dry-run
  trunkline init zed agent.py:hello --yes
  trunkline init vscode agent.py:hello --project --yes
  trunkline init jetbrains agent.py:hello --yes --env-file .env
  trunkline init cursor "acp:gemini --acp" --policy allow-reads --yes
  trunkline init acpx agent.py:hello --name greeter --yes
  trunkline init neovim agent.py:hello       print what to paste
  trunkline init zed --undo --yes            take it out again

Exit codes: 0 written, printed or there already; 1 not written (what to paste is printed if the file cannot be
changed); 2 wrong usage.
"""

_OFFLINE = ("demo", "demo-auth")
"""TARGETs that need no key."""


def _complete_words(context: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Offer editors for the first word, and TARGETs."""
    given: tuple[str, ...] = context.params.get("words") or ()
    editors = [] if given else [key for key in known_editors(this_machine()) if key.startswith(typed)]
    return [*map(CompletionItem, editors), *complete_targets(context, parameter, typed)]


def _check_policy(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Give the policy as an editor's command has to name it."""
    if value is None:
        return None
    load_policy(value)
    return os.path.abspath(value) if os.path.isfile(value) else value


@click.command("init", help=_HELP)
@click.argument("words", nargs=-1, metavar="[EDITOR] TARGET", shell_complete=_complete_words)
@click.option("--name", help="What the agent is called in the editor (default: its own title).")
@click.option(
    "--env",
    "variables",
    multiple=True,
    metavar="NAME[=VALUE]",
    help="A variable for the agent: NAME copies the value that it has here; may be given several times.",
)
@click.option(
    "--env-file",
    type=click.Path(exists=True, dir_okay=False, resolve_path=True),
    metavar="FILE",
    help="Let the agent read its variables from this file (.env), so that no key is in the settings.",
)
@click.option("--policy", metavar="NAME|FILE", callback=_check_policy, help="The policy of trunkline acp.")
@journal_option
@click.option("--project", is_flag=True, help="Write the settings of this folder's project, not your own.")
@click.option("--yes", is_flag=True, help="Write without asking.")
@click.option("--dry-run", is_flag=True, help="Show what would change, and write nothing.")
@click.option("--force", is_flag=True, help="Replace or remove an entry also if somebody else wrote it.")
@click.option(
    "--undo", is_flag=True, help="Take out what was written; the file is as before if nobody changed it."
)
@click.pass_context
def command(context: click.Context, words: tuple[str, ...], **options: Any) -> int:
    editors = known_editors(this_machine())
    editor, target = _words(words, editors, undo=options["undo"])
    choices = Choices(**{name: options[name] for name in Choices._fields})
    if choices.yes and choices.dry_run:
        raise click.UsageError("--dry-run writes nothing, so there is nothing to say --yes to")
    if options["undo"]:
        if editor is None:
            raise click.UsageError("--undo needs the editor, as in: trunkline init zed --undo")
        _refuse_with_undo(context)
        return take_out(editor, options["name"], choices)
    assert target is not None, "only --undo goes without one"
    launch = _launch(context, target, options)
    given = parse_variables(options["variables"], os.environ)
    if editor is not None:
        return set_up(editor, _with_variables(editor, launch, given, target, options), choices)
    return _set_up_all(list(editors.values()), launch, given, target, options, choices)


def _words(
    words: tuple[str, ...], editors: dict[str, Editor], *, undo: bool
) -> tuple[Editor | None, str | None]:
    """Tell the editor and the TARGET apart."""
    known = ", ".join(editors)
    if len(words) > 2 or (undo and len(words) > 1):
        raise click.UsageError(
            "--undo takes the editor alone, and --name"
            if undo
            else "give an EDITOR and a TARGET, in this order"
        )
    if not words and undo:
        raise click.UsageError(
            f"--undo needs the editor, as in: trunkline init zed --undo; it is one of {known}"
        )
    if not words:
        raise click.UsageError(f"which agent? trunkline init [EDITOR] TARGET; EDITOR is one of {known}")
    first = editors.get(words[0])
    if len(words) == 1:
        if first is None and undo:
            raise click.UsageError(f"there is no editor {words[0]!r}: it is one of {known}")
        if first is not None and not undo:
            raise click.UsageError(f"which agent? As in: trunkline init {words[0]} agent.py:hello")
        return first, None if first else words[0]
    if first is None:
        hint = did_you_mean(words[0], list(editors)) or f"; it is one of {known}"
        raise click.UsageError(f"there is no editor {words[0]!r}{hint}")
    return first, words[1]


def _refuse_with_undo(context: click.Context) -> None:
    for name in ("variables", "env_file", "policy", "journal"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError("--undo takes out what was written, so it takes no settings of the agent")


def _launch(context: click.Context, target: str, options: dict[str, Any]) -> Launch:
    """Find out how the agent is started from elsewhere; it is loaded, as it would fail in the editor else."""
    config = config_of(context)
    whole = from_config(target, context)
    named = name_target(whole)
    written = absolute_target(named.target)
    args = ["acp", written]
    if config is not None:
        args = ["acp", target if target in config.agents else written, "--config", config.path]
    for name, option in (("env_file", "--env-file"), ("policy", "--policy"), ("journal", "--journal")):
        # What the configuration file says is found there again.
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            args += [option, _absolute_journal(options[name]) if name == "journal" else options[name]]
    has_prefix = bool(split_target(whole).prefix)
    title = None if has_prefix else named.agent.card.title
    # The names of a person are better than those of a function and of a program.
    known_as = target if config is not None and target in config.agents else None
    own_name = title or known_as or (default_name(whole) if has_prefix else named.agent.card.name)
    command, *rest = own_command()
    launch = Launch(
        (options["name"] or own_name).strip(), command, (*rest, *args), needed_variables(written, os.environ)
    )
    _check_text(launch)
    return launch


def _absolute_journal(address: str) -> str:
    scheme, colon, path = address.partition(":")
    return f"sqlite:{os.path.abspath(os.path.expanduser(path))}" if colon and scheme == "sqlite" else address


def _check_text(launch: Launch) -> None:
    if not launch.name or not launch.name.isprintable():
        raise ConfigurationError(f"{launch.name!r} cannot be the name of an agent: choose one with --name")
    try:
        "".join([launch.command, *launch.args, *launch.variables.values()]).encode()
    except UnicodeEncodeError:
        raise ConfigurationError(
            "a path is not text in UTF-8, so it cannot stand in a settings file: rename the folder"
        ) from None


def _with_variables(
    editor: Editor, launch: Launch, given: dict[str, str], target: str, options: dict[str, Any]
) -> Launch:
    """Add the variables that were given, and those that a person agrees to."""
    if not editor.takes_variables:
        if given:
            raise ConfigurationError(
                f"{editor.title} has no place for variables: it gives agents its own. Export them where "
                "you start it, or write them into a file and use --env-file FILE"
            )
        if "PYTHONPATH" in launch.variables:
            raise ConfigurationError(
                f"{editor.title} has no place for PYTHONPATH, which a module of this folder needs: name "
                "the file, as in path/to/file.py:NAME"
            )
        return launch._replace(variables={})
    chosen = {**launch.variables, **given}
    keys = [] if target in _OFFLINE or options["env_file"] else provider_keys(os.environ, chosen)
    may_ask = not options["yes"] and not options["dry_run"] and sys.stdin.isatty() and sys.stderr.isatty()
    for key in keys:
        question = f"{key} is set here; an editor may not have it. Copy it into the settings?"
        if may_ask and click.confirm(question, default=False, err=True):
            chosen[key] = os.environ[key]
    if keys and not may_ask:
        click.echo(
            f"note: {', '.join(keys)} is set here and was not copied; --env {keys[0]} copies it, --env-file "
            "FILE keeps it out of the settings",
            err=True,
        )
    secrets = [name for name in chosen if name not in PLAIN]
    if secrets and options["project"]:
        click.echo(
            f"warning: {', '.join(secrets)} goes into the settings of a project, which are often committed; "
            "--env-file FILE keeps it out",
            err=True,
        )
    return launch._replace(variables=chosen)


def _set_up_all(
    editors: list[Editor],
    launch: Launch,
    given: dict[str, str],
    target: str,
    options: dict[str, Any],
    choices: Choices,
) -> int:
    """Offer each editor that is found."""
    found = found_editors({editor.key: editor for editor in editors})
    if not found:
        raise click.ClickException(
            f"no editor was found here; name one: {', '.join(editor.key for editor in editors)}"
        )
    click.echo(f"found: {', '.join(editor.title for editor in found)}", err=True)
    codes: list[int] = []
    for editor in found:
        if editor.settings is None:
            click.echo(
                f"{editor.title}: run trunkline init {editor.key} {escape(shlex.quote(target))}", err=True
            )
            continue
        if choices.project and editor.project is None:
            click.echo(f"{editor.title}: it has no project settings for agents", err=True)
            continue
        try:
            codes.append(set_up(editor, _with_variables(editor, launch, given, target, options), choices))
        except ConfigurationError as error:
            click.echo(f"{editor.title}: error: {escape(str(error))}", err=True)
            codes.append(1)
    return max(codes, default=0)
