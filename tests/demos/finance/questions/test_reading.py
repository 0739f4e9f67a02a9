"""A message is read as SQL, or clause by clause."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.demos.finance.questions.vocabulary import read

from trunkline.demos.finance.questions.intent import Reading
from trunkline.demos.finance.questions.periods import month_of

OCTOBER, SEPTEMBER = month_of(date(2026, 10, 1)), month_of(date(2026, 9, 1))


def test_a_request_of_several_steps_is_split() -> None:
    steps = read("Compare September and October, chart it and write a report").steps
    assert [step.what for step in steps] == ["compare", "chart", "report"]
    assert {step.period for step in steps} == {OCTOBER}
    steps = read("How much did I spend and how much did I earn in October?").steps
    assert [(step.what, step.period) for step in steps] == [("spend", OCTOBER), ("income", OCTOBER)]


@pytest.mark.parametrize(
    "text",
    [
        "select * from spending",
        "SQL: select 1",
        "run: WITH a AS (select 1) select * from a",
        "delete from transactions",
        "drop table transactions",
        "attach database 'x' as y",
    ],
)
def test_sql_is_taken_as_it_is(text: str) -> None:
    (step,) = read(text).steps
    assert step.what == "sql"
    assert (step.text or "") in text


@given(st.text(max_size=80), st.sampled_from(["how much did i spend", "and in may", "compare", "tag", "put"]))
def test_any_text_is_read_without_an_error(text: str, lead: str) -> None:
    for said in (text, f"{lead} {text}"):
        reading = read("groceries in October", said)
        assert isinstance(reading, Reading)


@pytest.mark.parametrize("text", ["without <_category>", "except <_merchant>", "groceries in <_period>"])
def test_a_typed_mark_is_only_its_word(text: str) -> None:
    assert read(text) == read(text.replace("<_", "").replace(">", ""))


@pytest.mark.parametrize(
    "text", ["explain the groceries figure", "drop the groceries budget", "attach the report"]
)
def test_words_that_sql_has_too_are_no_sql(text: str) -> None:
    assert "sql" not in [step.what for step in read(text).steps]
