"""``trunkline sessions list`` and ``search``: sessions as a table that fits the terminal."""

from __future__ import annotations

import shutil
import sys

import click
import msgspec

from trunkline.cli.journals import all_sessions, name_of, short_ids, use_journal
from trunkline.cli.options import journal_option
from trunkline.cli.sessions.show import write
from trunkline.cli.units import age_of
from trunkline.events import TurnStarted
from trunkline.exports.formats import as_row
from trunkline.journal import Journal, SessionInfo
from trunkline.safe_text import escape_json, one_line
from trunkline.target_names import split_target

_AGENT_WIDTH = 18
_RECORDS = 20_000
"""How many records are read to count turns; what is longer than that has no count."""

_LIST = """List the sessions that have a prompt, newest first.

The beginning of an id, or the name, is enough to go on with a session: trunkline chat TARGET --session ID.

\b
Examples:
  trunkline sessions list --limit 10
  trunkline sessions list --format json | jq '.[0].session_id'
"""

_FORMAT = click.option(
    "--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True
)
_LIMIT = click.option("--limit", type=click.IntRange(min=1), help="At most N sessions.", metavar="N")


@click.command("list", help=_LIST)
@_FORMAT
@_LIMIT
@journal_option
def list_command(format_: str, limit: int | None, journal: str | None) -> None:
    async def read(opened: Journal) -> Listed:
        infos = [info async for info in all_sessions(opened, limit, begun=True)]
        return await _counted(opened, infos) if format_ == "text" else Listed(infos, {}, {})

    listed = use_journal(journal, read)
    if not listed.infos and format_ == "text":
        click.echo('There are no sessions yet. Start one: trunkline exec demo "hello"', err=True)
        return
    _print(listed, format_)


_SEARCH = """Find sessions by words of their title or of what was said.

They have every word of TEXT, and the newest is first.

\b
Examples:
  trunkline sessions search hello
  trunkline sessions search "hello" --format json --limit 5
"""


@click.command("search", help=_SEARCH)
@click.argument("text")
@_FORMAT
@_LIMIT
@journal_option
def search_command(text: str, format_: str, limit: int | None, journal: str | None) -> None:
    async def find(opened: Journal) -> Listed:
        infos: list[SessionInfo] = []
        before: tuple[float, str] | None = None
        while limit is None or len(infos) < limit:
            left = 100 if limit is None else limit - len(infos)
            page = await opened.search(text, None, limit=left, before=before)
            infos += page.sessions
            if (before := page.next) is None:
                break
        return await _counted(opened, infos) if format_ == "text" else Listed(infos, {}, {})

    listed = use_journal(journal, find)
    if not listed.infos and format_ == "text":
        raise click.ClickException(f"no session has {one_line(text, 100)!r} in it; `trunkline sessions list`")
    _print(listed, format_)


class Listed(msgspec.Struct):
    """Sessions, with their short ids and how many turns each has."""

    infos: list[SessionInfo]
    short: dict[str, str]
    turns: dict[str, int]


async def _counted(journal: Journal, infos: list[SessionInfo]) -> Listed:
    """Count the turns, newest sessions first, as long as that is quick; find the shortest ids."""
    everyone = [info async for info in all_sessions(journal)]
    turns: dict[str, int] = {}
    left = _RECORDS
    for info in infos:
        size = info.last_seq - info.first_seq + 1
        if size <= left:
            left -= size
            turns[info.session_id] = await _count_turns(journal, info)
    return Listed(infos, short_ids(everyone), turns)


async def _count_turns(journal: Journal, info: SessionInfo) -> int:
    found = after = 0
    while records := await journal.read(info.key, after):
        found += sum(isinstance(record.event, TurnStarted) for record in records)
        after = records[-1].seq
    return found


def _print(listed: Listed, format_: str) -> None:
    if format_ == "json":
        rows = msgspec.json.encode([as_row(info) | {"name": name_of(info)} for info in listed.infos])
        write(escape_json(msgspec.json.format(rows)) + b"\n")
        return
    # A pipe has no width: 80 columns are what most readers show.
    width = shutil.get_terminal_size((80, 24)).columns if sys.stdout.isatty() else 80
    for line in table(listed, width):
        click.echo(line)


def table(listed: Listed, width: int = 80) -> list[str]:
    """Give the lines of a table with a header, none longer than ``width``; it is at least 40.

    Below 60 there is no room for the agent and the turns.
    """
    is_narrow = width < 60
    ids = {info.session_id: one_line(listed.short[info.session_id], 20) for info in listed.infos}
    size = max(map(len, ["ID", *ids.values()]))
    room = max(40, width) - size - 6 - 2 * 2 - (0 if is_narrow else _AGENT_WIDTH + 5 + 2 * 2)
    rows = [_row("ID", "AGENT", "AGE", "TURNS", "TITLE", size, is_narrow)]
    for info in listed.infos:
        turns = listed.turns.get(info.session_id)
        rows.append(
            _row(
                ids[info.session_id],
                agent_name(info.target),
                age_of(info.updated_at),
                "" if turns is None else str(turns),
                _fit(titled(info), room),
                size,
                is_narrow,
            )
        )
    return rows


def _row(id_: str, agent: str, age: str, turns: str, title: str, size: int, is_narrow: bool) -> str:
    if is_narrow:
        return f"{id_:<{size}}  {age:>6}  {title}".rstrip()
    return f"{id_:<{size}}  {agent:<{_AGENT_WIDTH}}  {age:>6}  {turns:>5}  {title}".rstrip()


def titled(info: SessionInfo) -> str:
    """Give the title of a session, behind the name that a person gave to it."""
    name, title = name_of(info), info.title or ""
    return title if name is None else f"[{name}] {title}".rstrip()


def agent_name(target: str) -> str:
    """Give a TARGET in a few letters: the file without its folders, the agent's name in any case."""
    parts = split_target(target)
    short = parts.with_source(parts.source.rpartition("/")[2]) if parts.is_file else target
    short = one_line(short, 200)
    return short if len(short) <= _AGENT_WIDTH else f"…{short[1 - _AGENT_WIDTH :]}"


def _fit(text: str, room: int) -> str:
    """Cut a text to so many columns; signs of East Asian scripts and emoji take two."""
    import unicodedata

    shown, left = "", room
    safe = one_line(text, 4 * room)
    for index, sign in enumerate(safe):
        size = 2 if unicodedata.east_asian_width(sign) in "WF" else 1
        rest = safe[index + 1 :]
        if size > left or (rest and size == left):
            return shown + "…"
        shown, left = shown + sign, left - size
    return shown
