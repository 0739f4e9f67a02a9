"""A query of somebody else can read, and nothing more: no writes, no secrets, no endless work."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.demos.finance.ledger.ledgers import TODAY

from trunkline.demos.finance.ledger.analysis.comparison import compare
from trunkline.demos.finance.ledger.analysis.income import income
from trunkline.demos.finance.ledger.analysis.spending import spend
from trunkline.demos.finance.ledger.database import MEMORY, Ledger
from trunkline.demos.finance.ledger.dataset import ACCOUNTS
from trunkline.demos.finance.ledger.demo import seed_demo
from trunkline.demos.finance.ledger.errors import LedgerError
from trunkline.demos.finance.ledger.read_only_sql import (
    MAX_CELL,
    MAX_QUERY,
    MAX_ROWS,
    MAX_TOTAL,
    TABLES,
    run_sql,
)
from trunkline.demos.finance.ledger.results import month_of

TOKEN = "access-sandbox-5e2a"


def filled(url: str) -> Ledger:
    ledger = Ledger(url)
    with ledger.writing() as db:
        seed_demo(db, TODAY)
        db.execute("INSERT INTO bank_items VALUES ('item', 'Nordbank', ?, '')", (TOKEN,))
        db.execute(
            "INSERT INTO transactions (account_id, posted, amount, currency, description, identity) "
            "VALUES ('demo-card', '2026-11-18', -100, 'EUR', 'AN DE89370400440532013000 MIETE', 'iban')"
        )
    return ledger


@pytest.fixture(scope="module")
def memory() -> Iterator[Ledger]:
    ledger = filled(MEMORY)
    yield ledger
    ledger.close()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    return filled(f"sqlite:///{tmp_path_factory.mktemp('ledger')}/ledger.db")


@pytest.fixture(params=["memory", "file"])
def ledger(request: pytest.FixtureRequest) -> Ledger:
    return request.getfixturevalue(request.param)


def everything(ledger: Ledger) -> list[object]:
    """What a change would change: the tables and what they hold."""
    with ledger.reading() as db:
        tables = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
        sums = "SELECT count(*), sum(id), sum(amount), sum(length(description)) FROM transactions"
        return [
            tables,
            db.execute(sums).fetchall(),
            *(db.execute(f"SELECT count(*) FROM {t[0]}").fetchone() for t in tables),
        ]


def test_a_query_gives_a_table(ledger: Ledger) -> None:
    table = run_sql(ledger, "SELECT name, currency FROM accounts ORDER BY name")
    assert table.columns == ("name", "currency")
    assert table.rows[0] == ("Dollar account", "USD")
    assert (table.note, table.truncated) == ("4 rows", False)


def test_every_table_that_is_named_can_be_read(ledger: Ledger) -> None:
    for name in TABLES:
        assert run_sql(ledger, f"SELECT * FROM {name}", limit=1).columns


def test_the_sql_of_every_figure_can_be_run_and_gives_the_figure(ledger: Ledger) -> None:
    month = month_of(TODAY)
    with ledger.reading() as db:
        spent, earned = spend(db, month, by="merchant"), income(db, month)
        compared = compare(db, month, month)
    rows = run_sql(ledger, spent.sql, limit=MAX_ROWS).rows
    assert (
        sum(row[2] for row in rows if row[1] == "EUR" and isinstance(row[2], int)) == spent.totals[0].amount
    )
    assert run_sql(ledger, earned.sql).rows[0][2] == earned.spent[0].amount
    assert run_sql(ledger, compared.sql, limit=MAX_ROWS).rows


WRITES = (
    "DELETE FROM transactions",
    "UPDATE transactions SET amount = 0",
    "UPDATE main.transactions SET amount = 0 RETURNING id",
    "INSERT INTO tags VALUES (1, 'x')",
    "REPLACE INTO main.tags VALUES (1, 'x')",
    "DROP TABLE tags",
    "DROP VIEW spending",
    "ALTER TABLE tags RENAME TO other",
    "CREATE TABLE x (y)",
    "CREATE TEMP TABLE x (y)",
    "CREATE TEMP VIEW x AS SELECT 1",
    "CREATE TRIGGER x AFTER INSERT ON tags BEGIN SELECT 1; END",
    "CREATE INDEX x ON tags (tag)",
    "CREATE VIRTUAL TABLE x USING fts5(y)",
    "REINDEX",
    "ANALYZE",
    "VACUUM",
    "VACUUM INTO 'copy.db'",
    "BEGIN",
    "COMMIT",
    "SAVEPOINT x",
    "ATTACH 'other.db' AS other",
    "ATTACH ':memory:' AS other",
    "DETACH main",
    "PRAGMA query_only=0",
    "PRAGMA writable_schema=1",
    "PRAGMA table_info(accounts)",
    "PRAGMA database_list",
    "WITH x AS (SELECT 1) DELETE FROM tags",
)


@pytest.mark.parametrize("query", WRITES)
def test_what_does_more_than_read_is_refused(ledger: Ledger, query: str) -> None:
    with pytest.raises(LedgerError, match=r"the query was refused: it .*(only SELECT|can read only)"):
        run_sql(ledger, query)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT load_extension('x.so')",
        "SELECT randomblob(10)",
        "SELECT zeroblob(1000000000)",
        "SELECT fts3_tokenizer('x')",
        "SELECT sqlite_source_id()",
        "SELECT sqlite_compileoption_get(1)",
        "SELECT last_insert_rowid()",
    ],
)
def test_a_function_that_is_not_known_to_be_harmless_is_refused(ledger: Ledger, query: str) -> None:
    with pytest.raises(LedgerError, match=r"uses the function|no such function"):
        run_sql(ledger, query)


@pytest.mark.parametrize(
    "query",
    [
        "EXPLAIN SELECT 1",
        "explain query plan SELECT * FROM spending",
        "  -- a comment\n /* another */ ; EXPLAIN SELECT 1",
        "\ufeffEXPLAIN SELECT count(*) FROM spending",
    ],
)
def test_how_sqlite_works_is_not_shown(ledger: Ledger, query: str) -> None:
    with pytest.raises(LedgerError, match=r"the query was refused|the query failed"):
        run_sql(ledger, query)


@pytest.mark.parametrize(
    "query", ["/* why */ SELECT 1", "-- why\nWITH a AS (SELECT 1) SELECT * FROM a", "VALUES (1)", "select 1;"]
)
def test_a_query_may_begin_with_a_comment(ledger: Ledger, query: str) -> None:
    assert run_sql(ledger, query).rows == ((1,),)


SECRETS = (
    "SELECT * FROM bank_items",
    "SELECT access_token FROM main.bank_items",
    "SELECT count(*) FROM bank_items",
    "SELECT (SELECT access_token FROM bank_items)",
    "WITH accounts AS (SELECT access_token AS a FROM bank_items) SELECT a FROM accounts",
    "SELECT number FROM main.accounts",
    "WITH accounts AS (SELECT number FROM main.accounts) SELECT * FROM accounts",
    "WITH transactions AS (SELECT description FROM main.transactions) SELECT * FROM transactions",
    "SELECT a.number FROM (SELECT number FROM main.accounts) AS accounts, main.accounts AS a",
    "SELECT description FROM main.spending",
    "SELECT description FROM main.entries",
    "SELECT * FROM main.visible_accounts",
    "SELECT sql FROM sqlite_master",
    "SELECT sql FROM main.sqlite_master",
    "SELECT name FROM sqlite_temp_master",
    "SELECT name FROM temp.sqlite_master",
    "SELECT name FROM sqlite_schema",
    "SELECT * FROM pragma_table_list",
    "SELECT * FROM pragma_table_info('accounts')",
    "SELECT * FROM dbstat",
    "SELECT * FROM sqlite_dbpage",
    "SELECT * FROM facts",
    "SELECT changes FROM edits",
    "SELECT mapping FROM csv_mappings",
    "SELECT * FROM json_each('[1]')",
)


@pytest.mark.parametrize("query", SECRETS)
def test_what_is_not_for_a_query_cannot_be_read(ledger: Ledger, query: str) -> None:
    with pytest.raises(LedgerError, match=r"the query was refused|no such table"):
        run_sql(ledger, query)


def test_account_numbers_are_masked_before_a_query_sees_them(ledger: Ledger) -> None:
    numbers = [account.number for account in ACCOUNTS]
    for query in (
        "SELECT number FROM accounts",
        "SELECT group_concat(description || account_id) FROM transactions WHERE description LIKE '%MIETE%'",
        "SELECT substr(description, 1, 60) FROM entries WHERE identity IS NULL OR 1",
        "SELECT replace(description, 'D', 'D ') FROM spending WHERE description LIKE 'AN %'",
        "SELECT hex(number) FROM visible_accounts",
    ):
        try:
            text = str(run_sql(ledger, query, limit=MAX_ROWS).rows)
        except LedgerError as error:
            text = str(error)
        assert "370400440532013000" not in text
        assert not any(number in text or number.encode().hex().upper() in text for number in numbers)
    masked = run_sql(ledger, "SELECT description FROM transactions WHERE description LIKE 'AN %'").rows
    assert masked == (("AN ****3000 MIETE",),)


ENDLESS = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT {} FROM r"


@pytest.mark.parametrize(
    "query",
    [
        ENDLESS.format("count(*)"),
        ENDLESS.format("x") + " WHERE x < 0",
        ENDLESS.format("max(x)"),
        "SELECT count(*) FROM transactions AS a, transactions AS b, transactions AS c, transactions AS d",
        "SELECT * FROM transactions AS a, transactions AS b, transactions AS c ORDER BY a.amount",
    ],
)
def test_work_without_an_end_is_stopped(ledger: Ledger, query: str) -> None:
    begun = time.monotonic()
    with pytest.raises(LedgerError, match=r"stopped after 0\.2 seconds"):
        run_sql(ledger, query, seconds=0.2)
    assert time.monotonic() - begun < 30


def test_rows_without_an_end_are_cut(ledger: Ledger) -> None:
    table = run_sql(ledger, ENDLESS.format("x"), limit=5)
    assert len(table.rows) == 5
    assert table.truncated
    assert table.note.startswith("5 rows, and there are more")


def test_a_large_cell_and_a_large_result_are_cut(ledger: Ledger) -> None:
    table = run_sql(ledger, "SELECT printf('%.*c', 5000, 'x')")
    assert table.rows == (("x" * MAX_CELL + "…",),)
    assert "cells are cut" in table.note
    many = ", ".join(["printf('%.*c', 500, 'x')"] * 20)
    wide = run_sql(ledger, f"SELECT {many} FROM transactions", limit=MAX_ROWS)
    assert wide.truncated
    assert sum(len(str(cell)) for row in wide.rows for cell in row) <= MAX_TOTAL + 20 * 501


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT group_concat(printf('%.*c', 900, 'x')) FROM transactions", "too long"),
        ("SELECT replace(printf('%.*c', 9000, 'x'), 'x', printf('%.*c', 9000, 'y'))", "too long"),
        ("SELECT 1; SELECT 2", "only one statement"),
        ("SELECT 1; DELETE FROM tags", "only one statement"),
        ("", "there is no query"),
        ("  -- nothing", "there is no query"),
        (";", "there is no query|only one statement"),
        ("SELECT ?", "a place for a value"),
        ("SELECT :name", "a place for a value"),
        ("SELEC 1", "the query failed: near"),
        ("SELECT missing FROM accounts", "no such column"),
        ("SELECT 1\0", "the query failed"),
        ("SELECT '\ud800'", "the query failed"),
        ("SELECT " + "x" * MAX_QUERY, "more than"),
        ("SELECT " + "(" * 500 + "1" + ")" * 500, "the query failed"),
        ("SELECT " + ", ".join(["1"] * 300), "too many columns"),
    ],
)
def test_what_cannot_be_run_is_said(ledger: Ledger, query: str, said: str) -> None:
    with pytest.raises(LedgerError, match=said):
        run_sql(ledger, query)


@pytest.mark.parametrize("limit", [0, -1, MAX_ROWS + 1])
def test_a_limit_that_makes_no_sense_is_refused(ledger: Ledger, limit: int) -> None:
    with pytest.raises(LedgerError, match="the limit is from 1"):
        run_sql(ledger, "SELECT 1", limit=limit)


def test_cells_are_values_that_json_has(ledger: Ledger) -> None:
    rows = run_sql(ledger, "SELECT 1, 1.5, NULL, 'a', x'00ff', 9e999").rows
    assert rows == ((1, 1.5, None, "a", "<2 bytes>", "inf"),)


def test_a_file_without_any_right_to_write_is_read(tmp_path: Path) -> None:
    ledger = filled(f"sqlite:///{tmp_path}/ledger.db")
    before = (tmp_path / "ledger.db").read_bytes()
    run_sql(ledger, "SELECT count(*) FROM spending")
    assert (tmp_path / "ledger.db").read_bytes() == before


WORDS = st.sampled_from(
    [
        "SELECT",
        "FROM",
        "WHERE",
        "main.",
        "temp.",
        "transactions",
        "accounts",
        "bank_items",
        "access_token",
        "number",
        "description",
        "*",
        ",",
        "(",
        ")",
        ";",
        "UNION",
        "ALL",
        "WITH",
        "AS",
        "RECURSIVE",
        "DELETE",
        "UPDATE",
        "SET",
        "INSERT",
        "INTO",
        "VALUES",
        "DROP",
        "TABLE",
        "ATTACH",
        "'x.db'",
        "PRAGMA",
        "query_only",
        "=",
        "0",
        "1",
        "sqlite_master",
        "load_extension('x')",
        "spending",
        "JOIN",
        "ON",
        "ORDER",
        "BY",
        "LIMIT",
        "5",
        "count(*)",
        "CREATE",
        "TEMP",
        "VIEW",
        "EXPLAIN",
        "REPLACE",
        "VACUUM",
        "RETURNING",
        "NATURAL",
        "tags",
        "x",
        "y",
        "IN",
        "EXISTS",
        "--",
        "/*",
        "*/",
    ]
)


@settings(max_examples=300)
@given(st.lists(WORDS, max_size=14).map(" ".join) | st.text(max_size=60))
def test_any_words_read_no_secret_change_nothing_and_end(memory: Ledger, query: str) -> None:
    before = everything(memory)
    try:
        table = run_sql(memory, query, limit=50, seconds=0.5)
    except LedgerError as error:
        said = str(error)
    else:
        said = str(table.rows)
        assert len(table.rows) <= 50
    assert TOKEN not in said
    assert not any(account.number in said for account in ACCOUNTS)
    assert everything(memory) == before


@pytest.mark.parametrize(
    "query",
    [
        "SELECT printf('%.*c', 2000000000, 'x')",
        "SELECT format('%2000000000d', 1)",
        "SELECT printf('%.' || '999999999' || 'd', 1)",
    ],
)
def test_a_function_that_no_clock_could_stop_is_refused_at_once(memory: Ledger, query: str) -> None:
    before = time.monotonic()
    with pytest.raises(LedgerError, match="a width of more than 10000"):
        run_sql(memory, query)
    assert time.monotonic() - before < 5.0


def test_numbers_are_formatted_as_sqlite_does(memory: Ledger) -> None:
    found = run_sql(
        memory, "SELECT printf('%.2f EUR', 12345/100.0), format('%,d|%5s|%%', 1234567, 'a'), printf(NULL)"
    )
    assert found.rows == (("123.45 EUR", "1,234,567|    a|%", None),)
