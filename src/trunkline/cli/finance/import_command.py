"""``trunkline finance import``: statement files into the ledger, after a look at what they would do."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Literal

import click

from trunkline.demos.finance.ledger.database import Ledger
from trunkline.demos.finance.ledger.results import Money
from trunkline.demos.finance.statements.importing import (
    Imported,
    ImportPlan,
    apply_import,
    explain_problems,
    plan_import,
)
from trunkline.demos.finance.statements.reading import FIELDS, ImportQuestion
from trunkline.demos.finance.statements.statement import LARGEST_FILE, StatementError
from trunkline.demos.finance.today import now
from trunkline.safe_text import one_line

_SHOWN = 10

_HELP = """Import statement files of banks: CSV, OFX, QFX and MT940.

A file is read and compared with the ledger first, and nothing is changed before you agree. Files may overlap:
only what is new is added. What a file does not tell is asked once; the answers are kept for all files with
the same header. Nothing leaves this machine.

\b
Examples:
  trunkline finance import bank.csv
  trunkline finance import 2026-01.ofx 2026-02.ofx --yes
  trunkline finance import bank.csv --account "My card" --dry-run
  trunkline finance import bank.csv --answer currency=EUR --answer sign=positive_is_out
"""


@click.command("import", help=_HELP)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(dir_okay=False))
@click.option(
    "--account", metavar="NAME", help="The account of the file: its name, number or id, or a new name."
)
@click.option("--dry-run", is_flag=True, help="Say what would happen, and change nothing.")
@click.option("--yes", is_flag=True, help="Import without asking.")
@click.option(
    "--answer", "answers", multiple=True, metavar="FIELD=VALUE", help="What the file does not tell."
)
@click.option(
    "--duplicates",
    type=click.Choice(["skip", "add"]),
    default="skip",
    show_default=True,
    help="Rows that look like bookings which another source brought.",
)
@click.option(
    "--leave-out-unreadable", is_flag=True, help="Import a file without the rows that cannot be read."
)
def command(
    files: tuple[str, ...],
    account: str | None,
    dry_run: bool,
    yes: bool,
    answers: tuple[str, ...],
    duplicates: Literal["skip", "add"],
    leave_out_unreadable: bool,
) -> int:
    if dry_run and yes:
        raise click.UsageError("--dry-run changes nothing: leave --yes out")
    given = dict(_split(answer) for answer in answers)
    ledger = Ledger()
    if ledger.path is None and not dry_run:
        raise click.UsageError(
            "a ledger in memory is gone when this command ends: name a file with "
            "DATABASE_URL=sqlite:///PATH, or say --dry-run"
        )
    importer = _Importer(
        ledger, account, given, yes=yes, duplicates=duplicates, leave_out=leave_out_unreadable
    )
    if dry_run:
        return importer.rehearse(files)
    return max(importer.bring(file) for file in files)


def _split(answer: str) -> tuple[str, str]:
    name, equals, value = answer.partition("=")
    if not equals or not name:
        raise click.UsageError(f"--answer {answer!r} is no FIELD=VALUE")
    if name not in FIELDS:
        raise click.UsageError(f"--answer {answer!r}: no file asks for {name!r}, but for {', '.join(FIELDS)}")
    return name, value


class _Rehearsed(Exception):
    """Ends a transaction that must not be stored."""


class _Importer:
    """Imports one file after the other with the same options."""

    def __init__(
        self,
        ledger: Ledger,
        account: str | None,
        answers: dict[str, str],
        *,
        yes: bool,
        duplicates: Literal["skip", "add"],
        leave_out: bool,
    ) -> None:
        self._ledger = ledger
        self._account = account
        self._answers = answers
        self._yes = yes
        self._duplicates: Literal["skip", "add"] = duplicates
        self._leave_out = leave_out

    def bring(self, file: str) -> int:
        """Plan, show, ask and import one file; give the exit code."""
        data = _read(file)
        answers: dict[str, Any] = dict(self._answers)
        with self._ledger.reading() as db:
            found = plan_import(db, _name(file), data, account=self._account, answers=answers)
        if isinstance(found, ImportQuestion):
            answers |= _ask(found)
            with self._ledger.reading() as db:
                found = plan_import(db, _name(file), data, account=self._account, answers=answers)
        plan = _certain(found)
        _show(plan, self._duplicates)
        leave_out = self._leave_out
        if plan.problems and not leave_out:
            if self._yes or not _at_terminal():
                raise StatementError(f"{explain_problems(plan)}: --leave-out-unreadable")
            leave_out = click.confirm("Import the file without these rows?", default=False, err=True)
            if not leave_out:
                raise click.ClickException("nothing was imported")
        additions = len(plan.new) + (len(plan.possible_duplicates) if self._duplicates == "add" else 0)
        if additions and not self._yes:
            if not _at_terminal():
                raise click.UsageError("nobody can be asked here: say --yes to import, or --dry-run")
            if not click.confirm(f"Add {additions} to the ledger?", default=True, err=True):
                raise click.ClickException("nothing was imported")
        with self._ledger.writing() as db:
            done = apply_import(
                db,
                plan,
                at=now(),
                duplicates=self._duplicates,
                unreadable="leave_out" if leave_out else "refuse",
            )
        _report(done)
        return 0

    def rehearse(self, files: tuple[str, ...]) -> int:
        """Show what all files would do, one after the other; nothing of it is stored."""
        try:
            with self._ledger.writing() as db:
                for file in files:
                    data = _read(file)
                    found = plan_import(
                        db, _name(file), data, account=self._account, answers=dict(self._answers)
                    )
                    if isinstance(found, ImportQuestion):
                        answers = {**self._answers, **_ask(found)}
                        found = plan_import(db, _name(file), data, account=self._account, answers=answers)
                    plan = _certain(found)
                    _show(plan, self._duplicates)
                    for problem in plan.problems[:_SHOWN]:
                        click.echo(f"  cannot be read: {one_line(str(problem), 300)}")
                    apply_import(db, plan, at=now(), duplicates=self._duplicates, unreadable="leave_out")
                raise _Rehearsed
        except _Rehearsed:
            click.echo("Nothing was changed: this was a dry run.", err=True)
        return 0


def _name(file: str) -> str:
    return Path(file).name


def _read(file: str) -> bytes:
    """Read a file, up to a little more than may be imported."""
    path = Path(file)
    try:
        if not path.is_file():
            raise click.UsageError(f"there is no file {one_line(file)}")
        with path.open("rb") as opened:
            return opened.read(LARGEST_FILE + 1)
    except OSError as error:
        raise click.UsageError(f"{one_line(file)} cannot be read: {error.strerror}") from error


def _certain(found: ImportPlan | ImportQuestion) -> ImportPlan:
    if isinstance(found, ImportQuestion):
        raise click.UsageError(_how_to_answer(found))
    return found


def _at_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _ask(question: ImportQuestion) -> dict[str, str]:
    """Ask the fields of the form one after the other; without a terminal say how to answer."""
    if not _at_terminal():
        raise click.UsageError(_how_to_answer(question))
    click.echo(question.message, err=True)
    answers: dict[str, str] = {}
    for name, field in question.fields["properties"].items():
        choices = {choice["const"]: choice["title"] for choice in field.get("oneOf", ())}
        for value, title in choices.items():
            click.echo(f"  {value}: {one_line(title, 100)}", err=True)
        kind = click.Choice(list(choices)) if choices else str
        answers[name] = click.prompt(field["title"], type=kind, default=field.get("default"), err=True)
    return answers


def _how_to_answer(question: ImportQuestion) -> str:
    parts: list[str] = []
    for name, field in question.fields["properties"].items():
        choices = "|".join(choice["const"] for choice in field.get("oneOf", ())) or "..."
        if name not in question.fields["required"]:
            choices += " (if it is another than the first)"
        parts.append(
            f"--account NAME ({field['title']})" if name == "account" else f"--answer {name}={choices}"
        )
    return f"{one_line(question.file)} does not tell everything; say: {', '.join(parts)}"


def _show(plan: ImportPlan, duplicates: str) -> None:
    """Say what a plan would do."""
    period = f", {plan.period[0]} to {plan.period[1]}" if plan.period else ""
    click.echo(f"{one_line(plan.file)} ({plan.format}{period}): {plan.counts}")
    for account in plan.accounts:
        new = ", a new one" if account.is_new else ""
        kind = f", {account.kind}" if account.is_new else ""
        click.echo(f"  account: {one_line(account.name)} ({account.currency}{kind}{new})")
    if plan.totals:
        click.echo(f"  new in sum: {', '.join(map(str, plan.totals))}")
    for one in plan.possible_duplicates[:_SHOWN]:
        money = Money(one.row.currency, one.row.amount)
        text = f"{one.row.posted} {money} {one.row.description}"
        click.echo(f"  like {one_line(one.like, 60)!r}: {one_line(text, 120)}")
    if plan.possible_duplicates:
        summary = (
            "they are added too" if duplicates == "add" else "they are left out (--duplicates add takes them)"
        )
        click.echo(f"  {len(plan.possible_duplicates)} look like bookings of another source: {summary}")
    for note in plan.notes[:_SHOWN]:
        click.echo(f"  note: {one_line(note, 300)}")


def _report(done: Imported) -> None:
    if done.import_id is None:
        click.echo("  nothing new: the ledger has every row of the file, so there is nothing to undo")
        return
    what = f"{done.added} added" if done.added else "nothing added"
    click.echo(f"  import {done.import_id}: {what}; undo it with: trunkline finance undo {done.import_id}")
