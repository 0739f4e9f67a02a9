"""``trunkline sessions``: read, export and delete what the journal holds; no agent is loaded."""

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

from trunkline.cli.formats import FORMATS, as_row
from trunkline.cli.journals import all_sessions, find_session, opened_journal
from trunkline.errors import SessionBusy
from trunkline.escapes import one_line
from trunkline.journal import Journal, SessionInfo

__all__ = ["age_of", "command"]

T = TypeVar("T")

_journal = click.option("--journal", help="Where sessions are kept: sqlite:PATH.", metavar="URL")


_HELP = """List, show, export and delete sessions.

An ID may be shortened to its first 8 characters or more, as long as only one session has them.

\b
Examples:
  trunkline sessions list
  trunkline sessions show sess_1a2b3c
  trunkline sessions export sess_1a2b3c --format markdown --output talk.md
  trunkline sessions delete sess_1a2b3c --yes
"""


@click.group("sessions", help=_HELP)
def command() -> None: ...


def _use(url: str | None, work: Callable[[Journal], Awaitable[T]]) -> T:
    async def run() -> T:
        async with opened_journal(url) as journal:
            return await work(journal)

    return asyncio.run(run())


# -- list ------------------------------------------------------------------------------------------


_LIST = """List the sessions that somebody has spoken in, newest first.

\b
Examples:
  trunkline sessions list --limit 10
  trunkline sessions list --format json | jq '.[0].session_id'
"""


@command.command("list", help=_LIST)
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--limit", type=click.IntRange(min=1), help="At most N sessions.", metavar="N")
@_journal
def list_(format_: str, limit: int | None, journal: str | None) -> None:
    async def read(opened: Journal) -> list[SessionInfo]:
        return [info async for info in all_sessions(opened, limit, begun=True)]

    found = _use(journal, read)
    if format_ == "json":
        _write(msgspec.json.format(msgspec.json.encode([as_row(info) for info in found])) + b"\n")
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
@_journal
def show(session_id: str, format_: str, journal: str | None) -> None:
    _use(journal, lambda opened: _pour(opened, session_id, format_, _write))


_EXPORT = """Export a session: its records as JSON lines or one JSON document, or the talk as markdown.

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
@_journal
def export(session_id: str, format_: str, output: Path | None, journal: str | None) -> None:
    whole = "document" if format_ == "json" else format_
    if output is None:
        _use(journal, lambda opened: _pour(opened, session_id, whole, _write))
        return
    # Beside the file first: half an export never replaces a whole one.
    draft = output.with_name(f".{output.name}.{os.getpid()}.part")
    try:
        with draft.open("wb") as file:
            _use(journal, lambda opened: _pour(opened, session_id, whole, file.write))
        draft.replace(output)
    except OSError as error:
        raise click.ClickException(f"{output} cannot be written: {error.strerror}") from None
    finally:
        with suppress(OSError):
            draft.unlink()


async def _pour(journal: Journal, session_id: str, format_: str, write: Callable[[bytes], Any]) -> None:
    info = await find_session(journal, session_id)
    async for piece in FORMATS[format_](journal, info):
        write(piece)


def _write(data: bytes) -> None:
    sys.stdout.buffer.write(data)


# -- delete ----------------------------------------------------------------------------------------


_DELETE = """Delete a session and everything said in it, for good.

\b
Example:
  trunkline sessions delete sess_1a2b3c --yes
"""


@command.command("delete", help=_DELETE)
@click.argument("session_id", metavar="ID")
@click.option("--yes", is_flag=True, help="Do not ask.")
@_journal
def delete(session_id: str, yes: bool, journal: str | None) -> None:
    if not yes and not sys.stdin.isatty():
        raise click.UsageError("deleting cannot be undone: add --yes when nobody is there to be asked")

    async def remove(opened: Journal) -> str:
        info = await find_session(opened, session_id)
        if info.owner is not None:
            raise SessionBusy(f"a process uses session {info.session_id}: close it there and try again")
        if not yes:
            click.confirm(f"Delete {info.session_id} ({one_line(info.title or 'untitled')})?", abort=True)
        await opened.delete(info.key)
        return info.session_id

    click.echo(f"deleted {_use(journal, remove)}", err=True)
