"""``trunkline sessions``: list, show, export, import, delete and prune sessions of the journal.

Only ``import`` runs an agent, and is in ``sessions_import``.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from trunkline.cli.export import FORMATS, as_row
from trunkline.cli.journals import all_sessions, find_session, opened_journal
from trunkline.cli.options import journal_option
from trunkline.cli.sessions_import import command as import_command
from trunkline.cli.units import parse_age, parse_size, size_text
from trunkline.errors import SessionBusy
from trunkline.events import TurnStarted
from trunkline.journal import Journal, SessionInfo
from trunkline.safe_text import escape_json, one_line

T = TypeVar("T")

_HELP = """List, show, export, import, delete and prune sessions.

An ID may be shortened to its first 8 characters or more, as long as only one session has them.

\b
Examples:
  trunkline sessions list
  trunkline sessions show sess_1a2b3c
  trunkline sessions export sess_1a2b3c --format markdown --output talk.md
  trunkline sessions import "acp:npx -y @agentclientprotocol/claude-agent-acp"
  trunkline sessions delete sess_1a2b3c --yes
  trunkline sessions prune --older-than 30d --dry-run
"""


@click.group("sessions", help=_HELP)
def command() -> None: ...


def _use(url: str | None, work: Callable[[Journal], Awaitable[T]]) -> T:
    async def run() -> T:
        async with opened_journal(url) as journal:
            return await work(journal)

    return asyncio.run(run())


# -- list ------------------------------------------------------------------------------------------


_LIST = """List the sessions that have a prompt, newest first.

\b
Examples:
  trunkline sessions list --limit 10
  trunkline sessions list --format json | jq '.[0].session_id'
"""


@command.command("list", help=_LIST)
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--limit", type=click.IntRange(min=1), help="At most N sessions.", metavar="N")
@journal_option
def list_(format_: str, limit: int | None, journal: str | None) -> None:
    async def read(opened: Journal) -> list[SessionInfo]:
        return [info async for info in all_sessions(opened, limit, begun=True)]

    found = _use(journal, read)
    if format_ == "json":
        rows = msgspec.json.encode([as_row(info) for info in found])
        _write(escape_json(msgspec.json.format(rows)) + b"\n")
    elif not found:
        click.echo('There are no sessions yet. Start one: trunkline exec demo "hello"', err=True)
    for info in found if format_ == "text" else ():
        age, target, title = (
            age_of(info.updated_at),
            one_line(info.target, 30),
            one_line(info.title or "", 60),
        )
        click.echo(f"{one_line(info.session_id)}  {age:>8}  {target:<12}  {title}")


def age_of(at: float) -> str:
    """Give the time since a moment in its largest unit."""
    seconds = max(0, int(time.time() - at))
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


# -- show and export -------------------------------------------------------------------------------


_SHOW = """Show a session: the conversation, or every event as a line of JSON.

\b
Examples:
  trunkline sessions show sess_1a2b3c
  trunkline sessions show sess_1a2b3c --format events | jq .type
"""


@command.command("show", help=_SHOW)
@click.argument("session_id", metavar="ID")
@click.option(
    "--format", "format_", type=click.Choice(["text", "json", "events"]), default="text", show_default=True
)
@journal_option
def show(session_id: str, format_: str, journal: str | None) -> None:
    _use(journal, lambda opened: _write_session(opened, session_id, format_, _write))


_EXPORT = """Export a session: its records as JSON lines or one JSON document, or as markdown.

\b
Examples:
  trunkline sessions export sess_1a2b3c > talk.jsonl
  trunkline sessions export sess_1a2b3c --format markdown --output talk.md
"""


@command.command("export", help=_EXPORT)
@click.argument("session_id", metavar="ID")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["jsonl", "json", "markdown"]),
    default="jsonl",
    show_default=True,
)
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="A file instead of stdout.")
@journal_option
def export(session_id: str, format_: str, output: Path | None, journal: str | None) -> None:
    whole = "document" if format_ == "json" else format_
    if output is None:
        _use(journal, lambda opened: _write_session(opened, session_id, whole, _write))
        return
    # Beside the file first: half an export never replaces a whole one.
    draft = output.with_name(f".{output.name}.{os.getpid()}.part")
    try:
        with draft.open("wb") as file:
            _use(journal, lambda opened: _write_session(opened, session_id, whole, file.write))
        draft.replace(output)
    except OSError as error:
        raise click.ClickException(f"{output} cannot be written: {error.strerror}") from None
    finally:
        with suppress(OSError):
            draft.unlink()


async def _write_session(
    journal: Journal, session_id: str, format_: str, write: Callable[[bytes], Any]
) -> None:
    info = await find_session(journal, session_id)
    async for piece in FORMATS[format_](journal, info):
        write(piece)


def _write(data: bytes) -> None:
    sys.stdout.buffer.write(data)


# -- import ----------------------------------------------------------------------------------------


command.add_command(import_command)


# -- delete ----------------------------------------------------------------------------------------


_DELETE = """Delete a session for good.

\b
Example:
  trunkline sessions delete sess_1a2b3c --yes
"""


@command.command("delete", help=_DELETE)
@click.argument("session_id", metavar="ID")
@click.option("--yes", is_flag=True, help="Do not ask.")
@journal_option
def delete(session_id: str, yes: bool, journal: str | None) -> None:
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

    click.echo(f"deleted {_use(journal, remove)}", err=True)


# -- prune -----------------------------------------------------------------------------------------


_PRUNE = """Forget old sessions, and the oldest turns of large ones, for good.

AGE is a number with s, min, h or d; SIZE one with K, M or G. A session that a process uses is not old,
and the newest turn of a session always stays. The file does not shrink: what comes next takes the space.

\b
Examples:
  trunkline sessions prune --older-than 30d --dry-run
  trunkline sessions prune --older-than 30d --yes
  trunkline sessions prune --max-bytes 100M --yes
"""


@command.command("prune", help=_PRUNE)
@click.option("--older-than", type=parse_age, metavar="AGE", help="Sessions without an event for this long.")
@click.option(
    "--max-bytes", type=parse_size, metavar="SIZE", help="Sessions that are larger lose their oldest turns."
)
@click.option("--dry-run", is_flag=True, help="Only print what would be removed.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@journal_option
def prune(
    older_than: float | None, max_bytes: int | None, dry_run: bool, yes: bool, journal: str | None
) -> None:
    if older_than is None and max_bytes is None:
        raise click.UsageError("say what may go: --older-than AGE, --max-bytes SIZE, or both")
    if not (yes or dry_run or sys.stdin.isatty()):
        raise click.UsageError("pruning cannot be undone: add --yes when there is no terminal to ask in")

    async def forget(opened: Journal) -> str:
        old = large = 0
        async for info in all_sessions(opened):
            name = f"{one_line(info.session_id)}  {age_of(info.updated_at):>8}  {size_text(info.bytes):>8}"
            if older_than is not None and info.owner is None and info.updated_at < time.time() - older_than:
                old += 1
                click.echo(f"forget  {name}  {one_line(info.title or '', 60)}")
            elif max_bytes is not None and info.bytes > max_bytes and await _has_older_turns(opened, info):
                large += 1
                click.echo(f"trim    {name}  {one_line(info.title or '', 60)}")
        if not old + large:
            return "there is nothing to forget"
        if dry_run:
            return f"would forget {old} sessions and trim {large}"
        if not yes:
            click.confirm(f"Forget {old} sessions and trim {large}?", abort=True)
        removed = await opened.retain(max_age=older_than, max_bytes=max_bytes)
        return f"forgot {old} sessions and trimmed {large}: {removed} records"

    click.echo(_use(journal, forget), err=True)


async def _has_older_turns(journal: Journal, info: SessionInfo) -> bool:
    """Whether a session has more than its newest turn, which stays however large it is."""
    after = info.first_seq
    while records := await journal.read(info.key, after):
        if any(isinstance(record.event, TurnStarted) for record in records):
            return True
        after = records[-1].seq
    return False
