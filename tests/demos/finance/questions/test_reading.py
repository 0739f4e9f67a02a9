from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.demos.finance.questions.vocabulary import TODAY, WORDS

from trunkline.demos.finance.questions.intent import Intent, Reading
from trunkline.demos.finance.questions.periods import month_of
from trunkline.demos.finance.questions.reading import read_question

OCTOBER, SEPTEMBER = month_of(date(2026, 10, 1)), month_of(date(2026, 9, 1))
SPENT = Intent(what="spend", category="Groceries", period=OCTOBER, has_period=True)


def read(*texts: str) -> Reading:
    """Read a conversation; give what its last message says."""
    earlier: list[Intent] = []
    reading = Reading()
    for text in texts:
        reading = read_question(text, WORDS, TODAY, earlier)
        earlier[:0] = [step for step in reversed(reading.steps) if step.what != "show_sql"]
    return reading


@pytest.mark.parametrize(
    "text",
    [
        "How much did I spend on groceries last month?",
        "HOW MUCH DID I SPEND ON GROCERIES LAST MONTH",
        "Could you please tell me what I spent on groceries in October?",
        "groceries last month",
        "grocreies in ocotber 2026, thanks",
        "what did the supermarket cost me last month",
        "I was wondering how much I paid for groceries last month",
    ],
)
def test_a_question_is_the_same_in_other_words(text: str) -> None:
    assert read(text).steps == (SPENT,)


def test_follow_ups_go_on_with_the_question_before() -> None:
    first = "How much did I spend on groceries last month?"
    (step,) = read(first, "and in September?").steps
    assert (step.what, step.category, step.period) == ("spend", "Groceries", SEPTEMBER)
    (step,) = read(first, "why more than in September?").steps
    assert (step.what, step.category, step.period, step.against) == (
        "compare",
        "Groceries",
        OCTOBER,
        SEPTEMBER,
    )
    (step,) = read(first, "and in September?", "why more than in September?").steps
    assert (step.period, step.against) == (OCTOBER, SEPTEMBER)
    (step,) = read(first, "show the SQL", "and for restaurants?").steps
    assert (step.what, step.category, step.period) == ("spend", "Restaurants", OCTOBER)
    (step,) = read(first, "by merchant?").steps
    assert (step.what, step.category, step.by, step.period) == ("breakdown", "Groceries", "merchant", OCTOBER)
    (step,) = read(first, "list them").steps
    assert (step.what, step.category, step.period) == ("list", "Groceries", OCTOBER)
    (step,) = read(first, "chart it").steps
    assert (step.what, step.category, step.by) == ("chart", "Groceries", "merchant")
    (step,) = read(first, "what about Edeka?").steps
    assert (step.what, step.category, step.merchant) == ("spend", None, "Edeka")


def test_a_comparison_is_asked_again_for_another_period_or_name() -> None:
    (step,) = read("Compare September and October", "now August").steps
    assert (step.what, step.period, step.against) == (
        "compare",
        month_of(date(2026, 8, 1)),
        month_of(date(2026, 7, 1)),
    )
    (step,) = read("Compare September and October", "and for groceries?").steps
    assert (step.category, step.period, step.against) == ("Groceries", OCTOBER, SEPTEMBER)
    (step,) = read("What did I spend my money on last month?", "only groceries").steps
    assert (step.what, step.category, step.by) == ("spend", "Groceries", None)


def test_a_word_that_would_narrow_the_question_is_not_left_out() -> None:
    assert read("How often did I go swimming in October?").unknown == ("swimming",)
    assert read("show spending for week 44").unknown == ("44",)


def test_a_new_question_does_not_inherit_names() -> None:
    (step,) = read(
        "How much did I spend on groceries last month?", "What is my savings rate this year?"
    ).steps
    assert (step.what, step.category) == ("savings", None)


def test_a_request_of_several_steps_is_split() -> None:
    steps = read("Compare September and October, chart it and write a report").steps
    assert [step.what for step in steps] == ["compare", "chart", "report"]
    assert {step.period for step in steps} == {OCTOBER}
    steps = read("How much did I spend and how much did I earn in October?").steps
    assert [(step.what, step.period) for step in steps] == [("spend", OCTOBER), ("income", OCTOBER)]


def test_several_names_are_several_steps() -> None:
    steps = read("groceries and restaurants in October").steps
    assert [step.category for step in steps] == ["Groceries", "Restaurants"]
    steps = read("compare Rewe with Edeka in October").steps
    assert [(step.what, step.merchant) for step in steps] == [("spend", "Rewe"), ("spend", "Edeka")]


def test_what_the_ledger_does_not_have_is_not_answered() -> None:
    assert read("How much did I spend at Blorbo last month?").unknown == ("blorbo",)
    assert read("How much did I spend on groceries in Berlin?").unknown == ("berlin",)
    assert read("put Blorbo under groceries").unknown == ("blorbo",)


@pytest.mark.parametrize(
    "text",
    ["What is the capital of France?", "Wie viel habe ich ausgegeben?", "Can I afford a new car?", "", "  "],
)
def test_what_no_rule_fits_is_not_understood(text: str) -> None:
    assert read(text) == Reading()


def test_a_request_that_lacks_a_word_says_which() -> None:
    assert "Groceries" in (read("put rewe under foo").problem or "")
    assert "tag" in (read("tag these").problem or "")
    assert "tag" in (read("tag these as vacation").problem or "")


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


def test_changes_are_read_with_their_values() -> None:
    assert read("Rewe should be groceries").steps == (
        Intent(what="recategorize", merchant="Rewe", category="Groceries"),
    )
    (step,) = read("add the tag trip to Lufthansa in June").steps
    assert (step.what, step.merchant, step.text) == ("tag", "Lufthansa", "trip")
    (step,) = read("import Bank.csv").steps
    assert (step.what, step.file) == ("import", "Bank.csv")
    (step,) = read("how much did I spend on groceries last month", "tag them as trip").steps
    assert (step.what, step.category, step.text, step.period) == ("tag", "Groceries", "trip", OCTOBER)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What do I spend on groceries per week on average?", ("average", "week")),
        ("my average daily spending", ("average", "day")),
        ("average monthly spending", ("average", "month")),
    ],
)
def test_an_average_has_a_unit(text: str, expected: tuple[str, str]) -> None:
    (step,) = read(text).steps
    assert (step.what, step.per) == expected


@given(st.text(max_size=80), st.sampled_from(["how much did i spend", "and in may", "compare", "tag", "put"]))
def test_any_text_is_read_without_an_error(text: str, lead: str) -> None:
    for said in (text, f"{lead} {text}"):
        reading = read("groceries in October", said)
        assert isinstance(reading, Reading)
