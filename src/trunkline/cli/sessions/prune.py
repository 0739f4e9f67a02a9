"""``trunkline sessions prune``: forget old sessions, and the oldest turns of large ones."""

from __future__ import annotations

import sys
import time

import click

from trunkline.cli.journals import all_sessions, short_ids, use_journal
from trunkline.cli.options import journal_option
from trunkline.cli.units import age_of, parse_age, parse_size, size_text
from trunkline.events import TurnStarted
from trunkline.journal import Journal, SessionInfo
from trunkline.safe_text import one_line

_PRUNE = """Forget old sessions, and the oldest turns of large ones, for good.

AGE is a number with s, min, h or d; SIZE one with K, M or G. A session that a process uses is not old,
and the newest turn of a session always stays. The file does not shrink: what comes next takes the space.

\b
Examples:
  trunkline sessions prune --older-than 30d --dry-run
  trunkline sessions prune --older-than 30d --yes
  trunkline sessions prune --max-bytes 100M --yes
"""


@click.command("prune", help=_PRUNE)
@click.option("--older-than", type=parse_age, metavar="AGE", help="Sessions without an event for this long.")
@click.option(
    "--max-bytes", type=parse_size, metavar="SIZE", help="Sessions that are larger lose their oldest turns."
)
@click.option("--dry-run", is_flag=True, help="Only print what would be removed.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@journal_option
def prune_command(
    older_than: float | None, max_bytes: int | None, dry_run: bool, yes: bool, journal: str | None
) -> None:
    if older_than is None and max_bytes is None:
        raise click.UsageError("say what may go: --older-than AGE, --max-bytes SIZE, or both")
    if not (yes or dry_run or sys.stdin.isatty()):
        raise click.UsageError("pruning cannot be undone: add --yes when there is no terminal to ask in")

    async def forget(opened: Journal) -> str:
        old = large = 0
        found = [info async for info in all_sessions(opened)]
        short = short_ids(found)
        for info in found:
            name = one_line(short[info.session_id])
            name = f"{name:<12}  {age_of(info.updated_at):>8}  {size_text(info.bytes):>8}"
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

    click.echo(use_journal(journal, forget), err=True)


async def _has_older_turns(journal: Journal, info: SessionInfo) -> bool:
    """Whether a session has more than its newest turn, which stays however large it is."""
    after = info.first_seq
    while records := await journal.read(info.key, after):
        if any(isinstance(record.event, TurnStarted) for record in records):
            return True
        after = records[-1].seq
    return False
