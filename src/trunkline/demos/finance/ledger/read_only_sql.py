"""Runs one query that somebody else wrote, so that it can do nothing but read, and not too much of that.

The connection is read-only (``mode=ro``; a ledger in memory is copied) and ``query_only``. SQLite asks us
about every part of a statement before it runs (https://www.sqlite.org/c3ref/set_authorizer.html), and what is
not known to be harmless is refused. A clock stops what takes too long, and limits what is too large.

A query sees views in place of the tables ``accounts`` and ``transactions``: account numbers are masked in
them, also in descriptions. The tables below can be read only through these views; their own names are random,
because SQLite tells us the name of a view and the name of a WITH clause in the same way.
"""

from __future__ import annotations

import math
import re
import secrets
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing

import msgspec

from trunkline.demos.finance.ledger.database import Ledger
from trunkline.demos.finance.ledger.errors import LedgerError, explain
from trunkline.demos.finance.ledger.masking import mask_number, mask_text
from trunkline.demos.finance.ledger.sql_views import VIEWS, VISIBLE

MAX_ROWS = 1000
"""How many rows can be asked for."""
MAX_CELL = 500
"""How many characters of a cell are shown."""
MAX_TOTAL = 200_000
"""How many characters a result has."""
MAX_LENGTH = 100_000
"""How long a text may become inside of a query."""
MAX_QUERY = 10_000
"""How long a query may be."""
MAX_WIDTH = 10_000
"""How wide printf() may write a value."""
STEPS = 2000
"""After how many steps of SQLite the clock is looked at."""

TABLES = (
    "accounts",
    "budgets",
    "categories",
    "category_rules",
    "entries",
    "income",
    "spending",
    "tags",
    "transactions",
)
"""What a query can read."""
_READABLE = f"{', '.join(TABLES)} (with no schema before them)"
_PLAIN_TABLES = frozenset({"budgets", "categories", "category_rules", "tags"})
_NAMES = """
abs acos asin atan atan2 avg ceil ceiling char coalesce concat concat_ws cos count cume_dist date
datetime degrees dense_rank exp first_value floor format glob group_concat hex ifnull iif instr json_extract
julianday lag last_value lead length like ln log log10 log2 lower ltrim mask_number mask_text max min mod
nth_value ntile nullif percent_rank pi pow power printf quote radians random rank replace round row_number
rtrim sign sin sqrt strftime string_agg substr substring sum tan time timediff total trim trunc typeof
unicode unixepoch upper
"""
_FUNCTIONS = frozenset(_NAMES.split())
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: MAX_LENGTH,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 4 * MAX_QUERY,
    sqlite3.SQLITE_LIMIT_COLUMN: 200,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 100,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 20,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 200,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}

_DIGITS = re.compile(r"[0-9]+")
_FIRST_WORD = re.compile(r"(?:\s|\ufeff|;|--[^\n]*(?:\n|$)|/\*.*?(?:\*/|$))*(\w*)", re.DOTALL)
_QUERIES = frozenset({"SELECT", "VALUES", "WITH"})

Cell = str | int | float | None


class SqlTable(msgspec.Struct, frozen=True, kw_only=True):
    """What a query found."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    truncated: bool
    """Whether there are more rows than are here."""
    note: str
    """How many rows there are, and what was cut."""
    sql: str


def run_sql(ledger: Ledger, query: str, *, limit: int = 100, seconds: float = 2.0) -> SqlTable:
    """Run one query and give at most ``limit`` rows; LedgerError says what it may not do or why it failed."""
    if not 1 <= limit <= MAX_ROWS:
        raise LedgerError(f"the limit is from 1 to {MAX_ROWS} rows, and not {limit}")
    if len(query) > MAX_QUERY:
        raise LedgerError(f"the query has more than {MAX_QUERY} characters: ask for less at once")
    db = ledger.snapshot()
    try:
        guard = _Guard(db, ledger.where, seconds)
        return guard.run(query, limit)
    finally:
        db.close()


class _Guard:
    def __init__(self, db: sqlite3.Connection, where: str, seconds: float) -> None:
        self._db = db
        self._seconds = seconds
        self._denied = ""
        token = secrets.token_hex(8)
        self._views = {f"transactions_{token}", f"accounts_{token}"}
        try:
            tables = {row[0].lower() for row in db.execute("SELECT name FROM main.sqlite_master")}
            self._hidden = tables - set(TABLES)
            self._make_views(token)
            db.execute("PRAGMA query_only=1")
        except sqlite3.Error as error:
            raise explain(error, where) from error
        for number, most in _LIMITS.items():
            db.setlimit(number, most)
        db.set_authorizer(self._authorize)

    def _make_views(self, token: str) -> None:
        for function in (mask_text, mask_number):
            self._db.create_function(function.__name__, 1, _on_text(function), deterministic=True)
        for name in ("printf", "format"):
            self._db.create_function(name, -1, self._format, deterministic=True)
        visible = VISIBLE.format(accounts="main.accounts", transactions="main.transactions")
        views = {
            f"accounts_{token}": "SELECT mask_text(id) AS id, mask_text(name) AS name, kind, currency, "
            f"mask_number(number) AS number, institution, source FROM main.accounts WHERE {visible}",
            f"transactions_{token}": "SELECT id, mask_text(account_id) AS account_id, posted, amount, "
            "currency, mask_text(description) AS description, mask_text(merchant) AS merchant, category, "
            "category_by, kind, pair_id, pending, mask_text(note) AS note FROM main.transactions "
            f"WHERE account_id IN (SELECT id FROM main.accounts WHERE {visible})",
            "accounts": f"SELECT * FROM temp.accounts_{token}",
            "transactions": f"SELECT * FROM temp.transactions_{token}",
            "visible_accounts": "SELECT * FROM temp.accounts",
        }
        # Names in a view of the temporary schema are looked up there first.
        for name, select in {**views, **{name: VIEWS[name] for name in VIEWS if name not in views}}.items():
            self._db.execute(f"CREATE TEMP VIEW {name} AS {select}")

    def _format(self, template: Cell = None, *values: Cell) -> Cell:
        """Do as SQLite's printf(), but with no width that takes long: no clock stops a single function."""
        widths = [int(digits) for digits in _DIGITS.findall(str(template))]
        if "*" in str(template):
            widths += [abs(value) for value in values if isinstance(value, int)]
        if max(widths, default=0) > MAX_WIDTH:
            self._denied = f"formats with a width of more than {MAX_WIDTH}"
            raise ValueError(self._denied)
        places = ", ".join("?" * (len(values) + 1))
        with closing(sqlite3.connect(":memory:")) as db:
            return db.execute(f"SELECT printf({places})", (template, *values)).fetchone()[0]

    def _authorize(
        self, action: int, first: str | None, second: str | None, schema: str | None, source: str | None
    ) -> int:
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_READ:
            if self._may_read(first or "", schema, source):
                return sqlite3.SQLITE_OK
            self._denied = f"reads {schema}.{first}, and can read only {_READABLE}"
        elif action == sqlite3.SQLITE_FUNCTION:
            if (second or "").lower() in _FUNCTIONS:
                return sqlite3.SQLITE_OK
            self._denied = f"uses the function {second}(), which is none of those that are allowed"
        else:
            self._denied = self._denied or "does more than read: only SELECT is possible"
        return sqlite3.SQLITE_DENY

    def _may_read(self, table: str, schema: str | None, source: str | None) -> bool:
        if table.startswith("sqlite_"):
            return False
        if schema == "temp":
            return True
        if schema == "main":
            return table in _PLAIN_TABLES or source in self._views
        # Without a schema it is a name of the query itself (a WITH clause, a subquery), or a table of which
        # no column is used, as in count(*).
        return not schema and table.lower() not in self._hidden

    def run(self, query: str, limit: int) -> SqlTable:
        deadline = time.monotonic() + self._seconds
        late = False

        def is_late() -> bool:
            nonlocal late
            late = late or time.monotonic() > deadline
            return late

        self._db.set_progress_handler(is_late, STEPS)
        try:
            return self._fetch(query, limit)
        except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
            if late:
                raise LedgerError(
                    f"the query was stopped after {self._seconds:g} seconds: ask for a shorter period or less"
                ) from error
            raise self._refusal(error) from error

    def _fetch(self, query: str, limit: int) -> SqlTable:
        cursor = self._db.execute(query)
        if not cursor.description:
            raise LedgerError("there is no query: write one SELECT")
        # SQLite does not tell the authorizer of EXPLAIN, which shows how SQLite works instead of data.
        first = _FIRST_WORD.match(query)
        if first is None or first[1].upper() not in _QUERIES:
            raise LedgerError("the query was refused: only SELECT is possible")
        columns = tuple(str(column[0])[:MAX_CELL] for column in cursor.description)
        rows: list[tuple[Cell, ...]] = []
        size, cut = 0, False
        while len(rows) < limit and size < MAX_TOTAL and (row := cursor.fetchone()) is not None:
            cells = tuple(map(_cell, row))
            size += sum(len(str(cell)) for cell in cells)
            cut = cut or any(isinstance(cell, str) and cell.endswith("…") for cell in cells)
            rows.append(cells)
        more = cursor.fetchone() is not None
        note = f"{len(rows)} row{'' if len(rows) == 1 else 's'}"
        if more:
            note += ", and there are more: raise the limit, or ask for less"
        if cut:
            note += f"; cells are cut at {MAX_CELL} characters"
        return SqlTable(columns=columns, rows=tuple(rows), truncated=more, note=note, sql=query.strip())

    def _refusal(self, error: Exception) -> LedgerError:
        if self._denied:
            return LedgerError(f"the query was refused: it {self._denied}")
        text = str(error)
        if "one statement" in text:
            return LedgerError("the query was refused: only one statement at a time is possible")
        if "cannot modify" in text:
            return LedgerError("the query was refused: it does more than read: only SELECT is possible")
        if "too big" in text:
            return LedgerError("the query was stopped: a text in it became too long")
        if "variables" in text:
            return LedgerError("the query has a place for a value (? or :name): write the value there")
        return LedgerError(f"the query failed: {text}; it can read {_READABLE}")


def _on_text(function: Callable[[str], str]) -> Callable[[Cell], Cell]:
    return lambda value: function(value) if isinstance(value, str) else value


def _cell(value: object) -> Cell:
    if isinstance(value, bytes):
        return f"<{len(value)} bytes>"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, str):
        return value if len(value) <= MAX_CELL else f"{value[:MAX_CELL]}…"
    return value if isinstance(value, int | float) else None
