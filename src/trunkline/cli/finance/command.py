"""``trunkline finance``: imports, accounts and linked banks of the finance agent's ledger."""

from __future__ import annotations

import sys

import click

from trunkline.cli.finance.import_command import command as import_command
from trunkline.demos.finance.bank.items import link_fake_bank, link_item, list_items, unlink_item
from trunkline.demos.finance.bank.sync import bank_variables, sync_all
from trunkline.demos.finance.ledger.database import Ledger
from trunkline.demos.finance.ledger.environment import environment
from trunkline.demos.finance.statements.accounts import list_accounts
from trunkline.demos.finance.statements.undo import list_imports, undo_import
from trunkline.demos.finance.today import now
from trunkline.safe_text import one_line

_HELP = """Import bank statements and sync banks for the finance agent.

The ledger is a SQLite file of yours: DATABASE_URL=sqlite:///PATH chooses another. Ask about it with
`trunkline chat finance`.

\b
Examples:
  trunkline finance import bank.csv
  trunkline finance undo
  trunkline finance accounts
  trunkline finance link --fake
  trunkline finance sync
"""
_TOKEN = "PLAID_ACCESS_TOKEN"


@click.group("finance", help=_HELP)
def command() -> None: ...


command.add_command(import_command)

_UNDO = """Undo an import of a file: the last one, or the one with this number.

What another import shows too stays, and so does what you changed since (a category, a tag or a note).

\b
Examples:
  trunkline finance undo
  trunkline finance undo 1 --edited-too
"""


@command.command("undo", help=_UNDO)
@click.argument("import_id", required=False, type=click.IntRange(min=1), metavar="[IMPORT]")
@click.option("--edited-too", is_flag=True, help="Remove also what you changed since.")
def undo(import_id: int | None, edited_too: bool) -> None:
    with Ledger().writing() as db:
        done = undo_import(db, import_id, at=now(), edited="remove" if edited_too else "keep")
    click.echo(f"Import {done.import_id} ({one_line(done.file)}) is undone: {done.removed} removed.")
    if done.also_in_others:
        click.echo(f"{done.also_in_others} stay, because another import shows them too.")
    if done.edited and done.edited_kept:
        click.echo(f"{len(done.edited)} stay, because you changed them (--edited-too removes such ones):")
        for text in done.edited[:20]:
            click.echo(f"  {one_line(text, 100)}")
    for name in done.accounts_removed:
        click.echo(f"Account {one_line(name)} had nothing else, and is gone.")


_IMPORTS = """List the last imports and syncs, newest first.

\b
Example:
  trunkline finance imports --limit 5
"""


@command.command("imports", help=_IMPORTS)
@click.option("--limit", type=click.IntRange(min=1, max=10_000), default=20, show_default=True)
def imports(limit: int) -> None:
    with Ledger().reading() as db:
        found = list_imports(db, limit)
    for one in found:
        state = "undone" if one.undone_at else f"{one.left} of {one.added} left"
        click.echo(f"{one.id:>4}  {one.at[:16]}  {one.source:<6}  {state:<20}  {one_line(one.file, 60)}")
    if not found:
        click.echo("There are no imports yet. Make one: trunkline finance import bank.csv", err=True)


_ACCOUNTS = """List the accounts of the ledger.

\b
Example:
  trunkline finance accounts
"""


@command.command("accounts", help=_ACCOUNTS)
def accounts() -> None:
    with Ledger().reading() as db:
        found = list_accounts(db)
        counts = dict[str, int](
            db.execute("SELECT account_id, count(*) FROM transactions GROUP BY account_id").fetchall()
        )
    for one in found:
        number = f"…{one.number[-4:]}" if one.number else ""
        made_up = "  (made up)" if one.source == "demo" else ""
        row = f"{one_line(one.name, 30):<30}  {one.kind:<8}  {one.currency}  {number:<6}"
        click.echo(f"{row}  {counts.get(one.id, 0):>6} transactions{made_up}")
    if not found:
        click.echo(
            "There are no accounts yet. An import makes one: trunkline finance import bank.csv", err=True
        )


_LINK = """Link a bank for `trunkline finance sync`; without options, list those that are linked.

A bank of Plaid's is linked by its item id and an access token, which is read from the variable
PLAID_ACCESS_TOKEN or asked for. --fake links a bank that runs on this machine.

\b
Examples:
  trunkline finance link --fake
  trunkline finance link --item ITEM_ID --institution "First Bank"
  trunkline finance unlink fake
"""


@command.command("link", help=_LINK)
@click.option("--fake", is_flag=True, help="Link the fake bank.")
@click.option("--item", metavar="ID", help="The id of the item at Plaid.")
@click.option("--institution", metavar="NAME", help="The name of the bank, to show.")
def link(fake: bool, item: str | None, institution: str | None) -> None:
    if fake and (item or institution):
        raise click.UsageError("--fake links the fake bank: leave --item and --institution out")
    if institution and not item:
        raise click.UsageError("--institution names the bank of an --item: give that too")
    ledger = Ledger()
    if not fake and item is None:
        with ledger.reading() as db:
            found = list_items(db)
        for one in found:
            click.echo(f"{one_line(one.id, 60)}  {one_line(one.institution, 60)}")
        if not found:
            click.echo("No bank is linked. Try one: trunkline finance link --fake", err=True)
        return
    token = "" if fake else environment().get(_TOKEN, "")
    if item and not token:
        if not sys.stdin.isatty():
            raise click.UsageError(f"set {_TOKEN} to the access token of the item")
        token = click.prompt("Access token", hide_input=True, err=True)
    with ledger.writing() as db:
        if fake or item is None:
            link_fake_bank(db)
        else:
            link_item(db, item, institution or item, token)
    click.echo("Linked. Bring its transactions: trunkline finance sync", err=True)


_UNLINK = """Forget a bank and its access token; its transactions stay.

\b
Example:
  trunkline finance unlink fake
"""


@command.command("unlink", help=_UNLINK)
@click.argument("item")
def unlink(item: str) -> None:
    with Ledger().writing() as db:
        unlink_item(db, item)
    click.echo("Unlinked. Its transactions are still there.", err=True)


_SYNC = """Bring the changes of every linked bank into the ledger.

\b
Example:
  trunkline finance sync
"""


@command.command("sync", help=_SYNC)
def sync() -> int:
    done = sync_all(Ledger(), at=now(), variables=bank_variables())
    for item in done.items:
        if item.error is None:
            counts = f"{item.added} new, {item.modified} changed, {item.removed} removed"
            known = f", {item.known} known from files" if item.known else ""
            click.echo(f"{one_line(item.institution)}: {counts}{known}")
        else:
            click.echo(f"{one_line(item.institution)}: {one_line(item.error, 500)}", err=True)
    if not done.items:
        raise click.UsageError("no bank is linked: trunkline finance link --item ID, or --fake to try one")
    return 1 if done.errors else 0
