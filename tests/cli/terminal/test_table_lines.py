from hypothesis import given
from hypothesis import strategies as st

from trunkline.cli.terminal.table_lines import cells_of, is_numeric, table_size


def test_a_table_ends_where_its_rows_end() -> None:
    lines = ["| a | b |", "| --- | ---: |", "| 1 | x\\|y |", "", "1 row"]
    assert table_size(lines) == 3
    assert cells_of(lines[2]) == ["1", "x|y"]


def test_lines_that_only_look_like_a_table_are_none() -> None:
    assert table_size(["| a | b |"]) == 0
    assert table_size(["| a | b |", "| c | d |"]) == 0
    assert table_size(["| a |", "| --- | --- |"]) == 0
    assert table_size(["  | a | b |", "  | --- | --- |"]) == 0  # An argument of several lines.
    assert table_size(["| a | b |", "| --- | --- |", "| only one |"]) == 2


def test_columns_of_numbers_and_amounts_are_numeric() -> None:
    assert is_numeric(["-1,234.50 EUR", "", "+14.3%", "7"])
    assert not is_numeric(["", ""])
    assert is_numeric(["3.250,00", "-1.012,99"])
    assert not is_numeric(["2026-10-01"])
    assert not is_numeric(["15.11.2026"])
    assert not is_numeric(["Rewe", "1"])


@given(st.lists(st.text(alphabet="|\\- :a", max_size=20), max_size=6))
def test_any_lines_have_a_size_that_fits(lines: list[str]) -> None:
    size = table_size(lines)
    assert size == 0 or 2 <= size <= len(lines)
