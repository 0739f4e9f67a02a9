"""Results: one text for the model, content for people."""

import base64
import datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from trunkline.content import DiffBlock, ImageBlock, TextBlock
from trunkline.tools.results import Table, ToolResult, json_value, model_text, shown_content

PNG = b"\x89PNG\r\n\x1a\n..."
TABLE = Table(("day", "sum"), [(datetime.date(2026, 1, 2), Decimal("3.50")), (None, "a|b\nc")], "two rows")


class Total(msgspec.Struct):
    """A sum."""

    sum: Decimal


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("plain", "plain"),
        (None, "done"),
        (7, "7"),
        ({"a": [1, None]}, '{"a":[1,null]}'),
        ({1: datetime.date(2026, 1, 2)}, '{"1":"2026-01-02"}'),
        (Total(Decimal("1.0")), '{"sum":"1.0"}'),
        (
            TABLE,
            '{"columns":["day","sum"],"rows":[["2026-01-02","3.50"],[null,"a|b\\nc"]],"note":"two rows"}',
        ),
        (TextBlock(text="hi"), "hi"),
        ([TextBlock(text="hi"), ImageBlock(mime_type="image/png", data="")], "hi\n[image/png]"),
        (DiffBlock(path="a.txt", old=None, new="x"), "a.txt: written"),
        (DiffBlock(path="a.txt", old="x", new=None), "a.txt: removed"),
        (PNG, "[image/png, 11 bytes]"),
        (ToolResult({"sum": 1}, PNG.decode("latin-1")), '{"sum":1}'),
        ({"odd": object}, '{"odd":"<class \'object\'>"}'),
    ],
)
def test_a_model_reads_text_or_json(result: Any, text: str) -> None:
    assert model_text(result) == text


def test_people_see_a_table_as_markdown() -> None:
    (shown,) = shown_content(TABLE)
    assert isinstance(shown, TextBlock)
    assert shown.text == ("| day | sum |\n| --- | --- |\n| 2026-01-02 | 3.50 |\n|  | a\\|b c |\n\ntwo rows")


def test_rows_that_name_their_columns_are_a_table_when_the_tool_says_so() -> None:
    rows = [{"a": 1}, {"a": 2, "b": "x"}]
    assert shown_content(rows, "table") == (TextBlock(text="| a | b |\n| --- | --- |\n| 1 |  |\n| 2 | x |"),)
    assert shown_content(rows)[0] != shown_content(rows, "table")[0]


def test_a_very_long_table_is_cut_and_says_so() -> None:
    text = Table(("n", "t"), [(number, "x" * 500) for number in range(1000)]).markdown()
    assert text.endswith("… and 800 more rows")
    assert len(text) < 60_000


def test_a_row_that_does_not_fit_its_columns_is_refused() -> None:
    with pytest.raises(ValueError, match="row 2 has 1 values for 2 columns"):
        Table(("a", "b"), [(1, 2), (3,)])


def test_bytes_are_an_image_and_a_change_is_a_diff() -> None:
    assert shown_content(PNG, "image") == (
        ImageBlock(mime_type="image/png", data=base64.b64encode(PNG).decode()),
    )
    assert shown_content({"path": "a", "old": "1", "new": "2"}, "diff") == (
        DiffBlock(path="a", old="1", new="2"),
    )
    assert shown_content({"path": "a", "new": None}, "diff") == (DiffBlock(path="a", new=None),)


def test_people_may_see_something_else_than_the_model_reads() -> None:
    result = ToolResult({"sum": 1}, "a chart")
    assert shown_content(result) == (TextBlock(text="a chart"),)
    assert json_value(result) == {"sum": 1}
    assert shown_content(ToolResult("only this")) == (TextBlock(text="only this"),)
    assert shown_content(None) == ()
    assert shown_content([ImageBlock(mime_type="image/png", data="")])[0] == ImageBlock(
        mime_type="image/png", data=""
    )
