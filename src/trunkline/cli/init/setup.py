"""One agent in one editor: shows what changes, asks, and writes it; or prints what to paste."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import click
from msgspec.structs import replace

from trunkline.cli.init import jsonc
from trunkline.cli.init.agent_launch import Launch
from trunkline.cli.init.difference import show_difference
from trunkline.cli.init.editors import Editor, entry_name
from trunkline.cli.init.jsonc_nodes import JsoncError
from trunkline.cli.init.printed_blocks import placeholder, slug
from trunkline.cli.init.settings_file import SettingsFile, digest
from trunkline.cli.init.settings_text import made_objects, text_of, value_at, value_digest, with_entry
from trunkline.cli.init.undo import chosen_record, text_before
from trunkline.cli.init.variables import PLAIN
from trunkline.cli.init.written_entries import Record, Records
from trunkline.errors import ConfigurationError
from trunkline.safe_text import escape

WRITTEN, FAILED = 0, 1


class Choices(NamedTuple):
    """How a person wants it done."""

    yes: bool = False
    dry_run: bool = False
    force: bool = False
    project: bool = False


def file_of(editor: Editor, name: str, choices: Choices) -> SettingsFile | None:
    """Give the file that an editor's agents are in; None for one where a person pastes them."""
    if choices.project and editor.project is None:
        raise ConfigurationError(
            f"{editor.title} has no project settings for agents: leave --project out"
            if editor.own_file is None
            else f"{editor.title} reads the folder that it is started in: leave --project out"
        )
    if editor.own_file is not None:
        launch = Launch(name, "", (), {})
        return SettingsFile(Path(os.path.abspath(editor.own_file(launch))))
    if editor.settings is None:
        return None
    if choices.project and editor.project is not None:
        return SettingsFile(Path(os.path.abspath(editor.project)))
    return SettingsFile(Path(editor.settings))


def set_up(editor: Editor, launch: Launch, choices: Choices) -> int:
    """Put an agent into an editor's settings; gives the exit code."""
    name = entry_name(editor, launch.name)
    launch = launch._replace(name=name)
    file = file_of(editor, name, choices)
    if file is None:
        assert editor.block is not None, "an editor without a file has a block"
        click.echo(f"{editor.title} is configured by a program of yours. Paste this:\n", err=True)
        click.echo(escape(editor.block(launch)), nl=False)
        _say_next(editor, name)
        return WRITTEN
    try:
        old = file.read()
        plan = _planned(editor, launch, file, old, choices)
        if plan.new == old:
            click.echo(f"{editor.title}: {escape(str(file.path))} has {name!r} already, just so.", err=True)
            return WRITTEN
        _show(file, old, plan.new, launch)
        if not _confirmed(f"Write it into {escape(str(file.path))}?", choices):
            return WRITTEN if choices.dry_run else FAILED
        backup = file.back_up(old) if old is not None and plan.keeps_old else None
        try:
            file.write(plan.new, expected=old)
        except BaseException:
            if backup is not None:
                backup.unlink()
            raise
    except (OSError, JsoncError) as error:
        return _print_instead(editor, launch, file, error)
    _remember(file, plan.record if backup is None else replace(plan.record, backup=str(backup)))
    click.echo(f"{editor.title}: wrote {escape(str(file.path))}", err=True)
    if backup is not None:
        click.echo(f"  what was there: {escape(str(backup))} (--undo puts it back)", err=True)
    _say_next(editor, name)
    return WRITTEN


def take_out(editor: Editor, name: str | None, choices: Choices) -> int:
    """Take an agent out of an editor's settings again; gives the exit code."""
    file = file_of(editor, name or "", choices)
    if file is None:
        raise ConfigurationError(f"nothing is written for {editor.title}: remove what you pasted yourself")
    if editor.own_file is not None and name is None:
        raise ConfigurationError(f"{editor.title} has a file for each agent: say which one with --name")
    records = Records(file)
    record = chosen_record(records, file, editor.key, None if name is None else entry_name(editor, name))
    old = file.read()
    new = text_before(old, record, force=choices.force)
    if new == old:
        if not choices.dry_run:
            records.discard(record.name)
        click.echo(f"{editor.title}: {record.name!r} is out of {escape(str(file.path))} already", err=True)
        return WRITTEN
    _show(file, old, new, Launch(record.name, "", (), {}))
    if not _confirmed(f"Take {record.name!r} out of {escape(str(file.path))}?", choices):
        return WRITTEN if choices.dry_run else FAILED
    if new is None:
        file.discard()
    else:
        file.write(new, expected=old)
    if record.backup is not None and new is not None and _holds(Path(record.backup), new):
        with suppress(OSError):
            Path(record.backup).unlink()
    records.discard(record.name)
    click.echo(f"{editor.title}: took {record.name!r} out of {escape(str(file.path))}", err=True)
    return WRITTEN


def block_of(editor: Editor, launch: Launch) -> str:
    """Give what a person pastes, without the values of variables."""
    if editor.entry is None:
        assert editor.block is not None, "an editor has an entry or a block"
        return editor.block(launch)
    shown = {name: placeholder(name, value) for name, value in launch.variables.items()}
    value: Any = {launch.name: editor.entry(launch._replace(variables=shown))}
    for key in reversed(editor.keys):
        value = {key: value}
    return jsonc.render(value) + "\n"


# -- parts ---------------------------------------------------------------------------------------------


class _Plan(NamedTuple):
    """The new bytes of a file, what is remembered of them, and whether the old ones are kept beside it."""

    new: bytes
    record: Record
    keeps_old: bool = True


def _planned(
    editor: Editor, launch: Launch, file: SettingsFile, old: bytes | None, choices: Choices
) -> _Plan:
    known = Records(file).get(launch.name)
    fresh = Record(
        editor=editor.key, name=launch.name, keys=list(editor.keys), entry="", after="", backup=None
    )
    if editor.entry is None:
        assert editor.block is not None, "a file of its own has a text"
        new = editor.block(launch).encode()
        is_ours = known is not None and old is not None and digest(old) == known.after
        _check_ours(launch.name, str(file.path), is_free=old in (None, new) or is_ours, choices=choices)
        fresh = replace(fresh, entry=digest(new))
    else:
        entry = editor.entry(launch)
        text, path = text_of(old), [*editor.keys, launch.name]
        raw, present = jsonc.find(text, path), value_at(text, path)
        is_same = raw is not None and present == entry
        is_ours = known is not None and value_digest(present) == known.entry
        is_free = raw is None or is_same or is_ours
        _check_ours(launch.name, str(file.path), is_free=is_free, choices=choices)
        new = (text if is_same else with_entry(text, path, entry)).encode()
        made = made_objects(text, path)
        fresh = replace(fresh, entry=value_digest(entry), previous=raw, made=made)
    if known is None or not is_ours:
        return _Plan(new, replace(fresh, after=digest(new)))
    # Ours is written anew: what stood there before us stays what --undo goes back to.
    record = replace(fresh, backup=known.backup, previous=known.previous, made=known.made)
    if old is not None and digest(old) == known.after:
        return _Plan(new, replace(record, after=digest(new)), keeps_old=False)
    return _Plan(new, record)


def _check_ours(name: str, path: str, *, is_free: bool, choices: Choices) -> None:
    if not is_free and not choices.force:
        raise ConfigurationError(
            f"{path} has {name!r} already, and trunkline init did not write it as it is now: choose another "
            "name with --name, or replace it with --force"
        )


def _show(file: SettingsFile, old: bytes | None, new: bytes | None, launch: Launch) -> None:
    before, after = ((data or b"").decode("utf-8", "replace") for data in (old, new))
    for line in show_difference(str(file.path), before, after, launch.variables):
        click.echo(click.style(line, fg={"+": "green", "-": "red"}.get(line[:1])), err=True)


def _confirmed(question: str, choices: Choices) -> bool:
    if choices.dry_run:
        click.echo("nothing was written (--dry-run)", err=True)
        return False
    if choices.yes:
        return True
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        click.echo("nothing was written: --yes writes it without asking", err=True)
        return False
    if click.confirm(question, default=True, err=True):
        return True
    click.echo("nothing was written", err=True)
    return False


def _print_instead(editor: Editor, launch: Launch, file: SettingsFile, error: Exception) -> int:
    why = error.strerror or str(error) if isinstance(error, OSError) else str(error)
    click.echo(f"error: {escape(str(file.path))} cannot be changed: {escape(why)}", err=True)
    click.echo("Put this into it yourself, beside what is there:\n", err=True)
    click.echo(escape(block_of(editor, launch)), nl=False)
    if any(name not in PLAIN for name in launch.variables):
        click.echo("\n(The values of variables are not printed: write them in yourself.)", err=True)
    return FAILED


def _remember(file: SettingsFile, record: Record) -> None:
    try:
        Records(file).add(record)
    except OSError as error:
        click.echo(
            f"warning: --undo will not know of this, as the state folder cannot be written: {error}", err=True
        )


def _holds(path: Path, data: bytes) -> bool:
    try:
        return path.read_bytes() == data
    except OSError:
        return False


def _say_next(editor: Editor, name: str) -> None:
    click.echo(f"Next: {editor.then.format(name=escape(name), slug=slug(name))}", err=True)
