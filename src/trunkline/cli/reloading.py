"""``trunkline serve --reload``: what is watched, and the command that is started again."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from trunkline.agents.targets import BUILT_IN
from trunkline.cli.config_option import config_of
from trunkline.cli.server_extra import needs_server_extra
from trunkline.config_file import Config
from trunkline.env_file import own_environment
from trunkline.target_names import split_target
from trunkline.transports.process.reloader import Reloader, Snapshot, snapshot_of
from trunkline.transports.process.secrets import close_process, erase_argument, take_secret


def reload_server(
    host: str, port: int, targets: Sequence[str], *, tokens: Sequence[str] = (), variables: Sequence[str] = ()
) -> int:
    """Run this very command again and again on one socket; give the exit code.

    ``tokens`` are words of its command line, ``variables`` hold others: the child gets both, and no other
    process can see them here.
    """
    with needs_server_extra():
        from trunkline.server.listening_socket import bind
    config = config_of(click.get_current_context())
    folders = watched_folders(targets, config)
    named = [_named("--env-file"), _named("--policy")]
    if config is not None:
        named += [config.path, config.env_file, config.policy]
    files = [Path(name) for name in named if name is not None]

    def look() -> Snapshot:
        return snapshot_of(folders, files)

    env = own_environment()
    for token in tokens:
        erase_argument(token)
    for name in variables:
        take_secret(name)
    close_process()
    with bind(host, port) as listener:
        command = [sys.executable, "-m", "trunkline", *sys.argv[1:]]
        return Reloader(command, listener, look, env=env, say=_say).run()


def _say(text: str) -> None:
    click.echo(text, err=True)


def watched_folders(targets: Sequence[str], config: Config | None = None) -> list[Path]:
    """The folders of the Python files that TARGETs name; modules are looked for here."""
    found: list[Path] = []
    for target in targets:
        parts = split_target(target)
        if parts.is_file:
            found.append(Path(parts.source).resolve().parent)
        elif not parts.prefix and parts.attr is not None and target not in BUILT_IN:
            found.append(Path.cwd() if config is None else Path(config.folder))
    # A folder inside another one is seen with it.
    return [one for one in dict.fromkeys(found) if not any(other in one.parents for other in found)]


def _named(option: str) -> str | None:
    """The file that an option of this command line names."""
    words = sys.argv[1:]
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name == option:
            return value if equals else next(iter(words[index + 1 : index + 2]), None)
    return None
