"""Tools that import bank files and write reports; both work on the session's files and ask first."""

from __future__ import annotations

import asyncio
import base64
import sqlite3
from pathlib import PurePath
from typing import Any

from trunkline.content import DiffBlock, ResourceBlock, TextBlock
from trunkline.demos.finance.attachments import attached_name
from trunkline.demos.finance.ledger.database import Ledger
from trunkline.demos.finance.ledger.masking import mask_text
from trunkline.demos.finance.ledger.results import format_amount
from trunkline.demos.finance.statements.importing import (
    ImportPlan,
    apply_import,
    explain_problems,
    plan_import,
)
from trunkline.demos.finance.statements.reading import ImportQuestion
from trunkline.demos.finance.statements.statement import StatementError
from trunkline.demos.finance.statements.undo import BANK, ImportRecord, Undone, list_imports
from trunkline.demos.finance.statements.undo import undo_import as take_back
from trunkline.demos.finance.today import now
from trunkline.demos.finance.tools.figures import Today, read_period
from trunkline.demos.finance.tools.report import write_markdown
from trunkline.errors import NoSuchFile
from trunkline.tools import Table, ToolContext, ToolError, ToolRegistry, ToolResult

__all__ = ["register_files"]

_SHOWN = 15
_FORMS = 3
"""How often a person is asked before an import is given up."""


def register_files(registry: ToolRegistry, ledger: Ledger, today: Today) -> None:
    """Add the tools that read and write files."""

    def plan(name: str, data: bytes, answers: dict[str, Any] | None) -> ImportPlan | ImportQuestion:
        with ledger.reading() as db:
            return plan_import(db, name, data, answers=answers)

    @registry.register(kind="edit", title="Import {path}", locations="{path}")
    async def import_statement(path: str, *, ctx: ToolContext) -> ToolResult:
        """Import a bank statement (CSV, OFX, QFX, MT940) from the session's folder or from an attached file.

        What the file does not tell is asked in a form; then the person sees how many transactions are new and
        allows the import. A file may be imported again: what the ledger knows is left out.

        Args:
            path: The file, relative to the session's folder.
        """
        data = _attached(path, ctx)
        if data is None:
            try:
                data = await ctx.files.read_bytes(path)
            except NoSuchFile as error:
                raise ToolError(
                    f"{error}: a file is looked for in the session's folder, {ctx.files.resolve('.')}"
                ) from error
        name, answers = PurePath(path).name, None
        planned = await asyncio.to_thread(plan, name, data, answers)
        for _ in range(_FORMS):
            if not isinstance(planned, ImportQuestion):
                break
            answers = await ctx.form(planned.message, planned.fields)
            if answers is None:
                raise ToolError(f"{name} was not imported: the form was declined, nothing was changed")
            planned = await asyncio.to_thread(plan, name, data, answers)
        if isinstance(planned, ImportQuestion):
            raise ToolError(
                f"{name} was not imported: its form was answered {_FORMS} times and is still open"
            )
        if planned.new:
            accounts = ", ".join(one.name for one in planned.accounts)
            message = f"Import {name} into {accounts} ({planned.counts})?"
            await ctx.require_permission(message, content=_preview(planned))
        elif planned.problems:
            raise StatementError(f"{name} was not imported: {explain_problems(planned)}")
        document = await asyncio.to_thread(carry_out, planned)
        summary = f"{document['new']} new, {document['known']} known, into {document['account']}"
        return ToolResult(document, "\n".join([summary, *document["notes"]]))

    def carry_out(planned: ImportPlan) -> dict[str, Any]:
        period = planned.period
        accounts = ", ".join(one.name for one in planned.accounts)
        document: dict[str, Any] = {
            "file": planned.file,
            "new": len(planned.new),
            "known": len(planned.known) + len(planned.possible_duplicates),
            "account": mask_text(accounts),
            "first": str(period[0]) if period else None,
            "last": str(period[1]) if period else None,
            "notes": [mask_text(one) for one in planned.notes],
        }
        if not planned.new:
            return document
        with ledger.writing() as db:
            demo = "SELECT count(*) FROM visible_accounts WHERE source = 'demo'"
            had_demo = db.execute(demo).fetchone()[0]
            # The question named the rows that cannot be read.
            done = apply_import(db, planned, at=now(), unreadable="leave_out")
            hidden = bool(had_demo) and not db.execute(demo).fetchone()[0]
        return {**document, "new": done.added, "demo_hidden": hidden}

    def last_import(db: sqlite3.Connection) -> ImportRecord | None:
        return next((one for one in list_imports(db) if one.undone_at is None and one.source != BANK), None)

    def undo(import_id: int) -> Undone:
        with ledger.writing() as db:
            return take_back(db, at=now(), import_id=import_id)

    def read_last() -> ImportRecord | None:
        with ledger.reading() as db:
            return last_import(db)

    @registry.register(kind="edit", title="Undo the last import")
    async def undo_import(*, ctx: ToolContext) -> ToolResult:
        """Take the last import back: remove the transactions that it alone brought. Asks the person first."""
        last = await asyncio.to_thread(read_last)
        if last is None:
            raise ToolError("there is no import to take back")
        await ctx.require_permission(f"Take back the import of {last.file} ({last.left} transactions)?")
        # The one that was shown, also if another came between.
        done = await asyncio.to_thread(undo, last.id)
        return ToolResult({"file": done.file, "removed": done.removed}, f"{done.removed} removed")

    @registry.register(kind="edit", title="Write a report", locations="{path}", shows="diff")
    async def write_report(
        start: str, end: str, path: str | None = None, *, ctx: ToolContext
    ) -> dict[str, Any]:
        """Write a report of a period as Markdown into the session's folder. Asks the person first.

        Args:
            start: The first day, YYYY-MM-DD.
            end: The last day, included.
            path: The file; without it finance-START.md.
        """
        period = read_period(start, end, today())
        wanted = path or f"finance-{period.start.isoformat()[:7]}.md"
        text = await asyncio.to_thread(write_markdown, ledger, period, today())
        old = await ctx.files.read(wanted) if await ctx.files.exists(wanted) else None
        block = DiffBlock(path=ctx.files.resolve(wanted), old=old, new=text)
        await ctx.require_permission(f"Write the report to {wanted}?", content=block)
        await ctx.files.write(wanted, text)
        return {
            "path": wanted,
            "period": {"start": period.start.isoformat(), "end": period.end.isoformat()},
            "lines": text.count("\n"),
        }


def _attached(path: str, ctx: ToolContext) -> bytes | None:
    """A file that came with the prompt: dropped into a page, or attached in an editor."""
    for block in ctx.turn.prompt.content if ctx.turn is not None else ():
        if isinstance(block, ResourceBlock) and attached_name(block.uri) == PurePath(path).name:
            if block.text is not None:
                return block.text.encode()
            return base64.b64decode(block.blob or block.data or "")
    return None


def _preview(planned: ImportPlan) -> TextBlock:
    rows = [
        (str(one.row.posted), one.row.description, format_amount(one.row.amount, one.row.currency))
        for one in planned.new[:_SHOWN]
    ]
    more = len(planned.new) - _SHOWN
    doubles = [
        f"left out as a possible duplicate: {one.row.posted} {one.row.description} "
        f"{format_amount(one.row.amount, one.row.currency)} (the ledger has {one.like})"
        for one in planned.possible_duplicates[:_SHOWN]
    ]
    unreadable = [f"left out, because it cannot be read: {one}" for one in planned.problems[:_SHOWN]]
    notes = [*([f"and {more} more"] if more > 0 else []), *doubles, *unreadable, *planned.notes]
    return TextBlock(text=Table(("Day", "Text", "Amount"), rows, "\n".join(notes) or None).markdown())
