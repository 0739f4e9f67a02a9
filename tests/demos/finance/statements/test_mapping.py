"""Mappings that are kept, and the fields of the form."""

from tests.demos.finance.statements.imports import new_ledger

from trunkline.demos.finance.statements.csv_columns import draft_mapping
from trunkline.demos.finance.statements.csv_layout import read_table
from trunkline.demos.finance.statements.mapping import (
    CsvMapping,
    Draft,
    answer_draft,
    finish_draft,
    first_rows,
    load_mapping,
    open_fields,
    save_mapping,
)

MAPPING = CsvMapping(date=0, date_order="dmy", decimal="comma", sign="negative_is_out", amount=2, texts=(1,))


def test_a_mapping_is_kept_for_its_header_with_the_accounts_that_it_was_used_for() -> None:
    ledger = new_ledger()
    with ledger.writing() as db:
        assert load_mapping(db, "digest") is None
        for account in ("one", "two", "one"):
            save_mapping(db, "digest", MAPPING, account)
        kept = load_mapping(db, "digest")
        assert kept is not None
        assert (kept.accounts, kept.amount, kept.texts) == (("one", "two"), 2, (1,))
        db.execute('UPDATE csv_mappings SET mapping = \'{"date": "x"}\'')
        assert load_mapping(db, "digest") is None


def test_an_empty_draft_asks_for_everything_and_every_answer_fills_it() -> None:
    table = read_table("a,b,c\n03/04/2026,Shop,20.00\n")
    fields = open_fields(table, Draft())
    assert list(fields) == ["date_column", "date_order", "amount_column", "decimal", "sign", "currency"]
    assert fields["date_column"]["oneOf"][0] == {"const": "0", "title": "a"}
    answers = {
        "date_column": "0",
        "date_order": "mdy",
        "amount_column": "C",
        "decimal": "point",
        "sign": "negative_is_out",
        "currency": "chf",
    }
    draft = answer_draft(table, Draft(), answers)
    mapping = finish_draft(draft)
    assert mapping is not None
    assert (mapping.date, mapping.amount, mapping.currency) == (0, 2, "CHF")
    assert open_fields(table, draft) == {}
    assert finish_draft(Draft()) is None


def test_choices_of_the_date_show_what_they_would_mean() -> None:
    table = read_table("Date,Text,Amount\n03/04/2026,Shop,-20.00\n")
    titles = [choice["title"] for choice in open_fields(table, draft_mapping(table))["date_order"]["oneOf"]]
    assert titles[:2] == [
        "day first: 03/04/2026 is 03 April 2026",
        "month first: 03/04/2026 is 04 March 2026",
    ]


def test_the_first_rows_are_a_table_that_no_cell_can_break() -> None:
    table = read_table('Date;Text;Amount\n2026-01-01;"a|b\nc";-1.00\n')
    assert first_rows(table).splitlines() == [
        "| Date | Text | Amount |",
        "| --- | --- | --- |",
        "| 2026-01-01 | a\\|b c | -1.00 |",
    ]
