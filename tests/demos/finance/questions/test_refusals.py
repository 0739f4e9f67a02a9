"""Questions whose nearest figure would be a wrong one: they are not answered."""

from datetime import date

import msgspec
import pytest
from tests.demos.finance.questions.vocabulary import TODAY, WORDS

from trunkline.demos.finance.questions.intent import Intent
from trunkline.demos.finance.questions.periods import Period, month_of
from trunkline.demos.finance.questions.reading import read_question


@pytest.mark.parametrize(
    "text",
    [
        "how much did I not spend on rent",
        "how much will I spend this month",
        "how much did I spend until June",
        "how much did I spend up to 10 October",
        "how much in early October",
        "how much did I spend since the start of the year",
        "first 5 merchants",
        "show my first 10 transactions",
        "how much did I get back from Lufthansa",
        "how much did I move to my credit card",
        "how much more does Netflix cost now",
        "which merchants did I pay for the first time in October",
        "how many times per week do I go to Rewe",
        "is Rewe more expensive than Edeka",
        "is my savings rate better than last year",
        "average income per month",
        "which month did I save most",
        "when did I get my last salary",
        "which subscriptions did I cancel",
        "new subscriptions",
        "which subscriptions got cheaper",
        "how many merchants did I visit in October",
        "how many categories do I have",
        "do you spend money on groceries",
        "how much did I spend in October compared to average",
        "how much cash did I spend in October",
        "card spending in October",
        "one time purchases in October",
        "groceries every Monday",
        "groceries through October",
        "how much did I pay off in October",
        "how much went to my credit card in October",
        "how much did my balance change in October",
        "how much did I spend at new merchants",
        "new merchants this month",
        "spending by quarter",
        "spending by year",
        "share of restaurants in food in October",
        "how much in last year's October",
        "how much in the last week of last year",
        "spending by tag",
        "when was I paid last",
        "how much are my bills per month",
        "which merchant did I visit most often this year",
        "how much did I spend in euros and dollars this year",
        "how much did I spend on the tag Travel",
        "how much did my salary change from 2025 to 2026",
        "did my salary go up",
        "did I go to restaurants more often in October than in September",
        "what did I spend on my last travel",
        "spending in the morning",
        "top categories by number of purchases in October",
        "what percentage is that of groceries in October",
        "how much did I spend during my trip in March 2026",
        "how much can I spend per day until the end of the month",
        "how much came into my savings account in October",
        "which percentage of my spending goes to restaurants per month",
    ],
)
def test_a_word_that_the_figure_would_leave_out_is_not_understood(text: str) -> None:
    reading = read_question(text, WORDS, TODAY)
    assert not reading.steps
    assert not reading.unknown


@pytest.mark.parametrize(
    ("text", "by"),
    [
        ("subscriptions over 10 euros", "an amount"),
        ("subscriptions in October", "a period"),
        ("unusual charges over 100 euros", "an amount"),
        ("how much income in dollars", "a currency"),
        ("what was my income on the credit card", "an account"),
        ("how much did Netflix pay me", "a merchant"),
        ("how much came into my credit card in October", "an account"),
        ("tag transactions over 100 euros as big", "an amount"),
        ("put Rewe under Groceries in October", "a period"),
        ("set a budget of 400 EUR for groceries in December", "a period"),
        ("accounts with more than 1000 euros", "an amount"),
        ("compare September and October over 100 euros", "an amount"),
        ("write a report for October at Rewe", "a merchant"),
        ("share of groceries without Rewe in October", "what does not count"),
    ],
)
def test_a_value_that_the_figure_would_leave_out_is_named(text: str, by: str) -> None:
    reading = read_question(text, WORDS, TODAY)
    assert not reading.steps
    assert f"by {by}," in (reading.problem or "")


def test_a_number_of_things_is_no_amount() -> None:
    assert not read_question("more than 3 purchases at Rewe", WORDS, TODAY).steps
    (step,) = read_question("list purchases of more than 3 euros at Rewe", WORDS, TODAY).steps
    assert step.minimum == 300


def test_a_second_merchant_is_not_left_out_of_a_change() -> None:
    reading = read_question("move Rewe and Edeka to Groceries", WORDS, TODAY)
    assert reading.steps == ()
    assert "one merchant at a time: say Rewe and Edeka" in (reading.problem or "")


def test_what_is_no_spending_is_not_said_to_be_nothing() -> None:
    words = msgspec.structs.replace(
        WORDS, categories=(*WORDS.categories, "Interest", "Card payment", "Transfer")
    )
    assert "as income" in (read_question("how much interest this year", words, TODAY).problem or "")
    for text in ("card payments in October", "list transfers in October", "show my last 5 transfers"):
        assert "own accounts" in (read_question(text, words, TODAY).problem or "")


def test_income_is_told_by_its_source() -> None:
    words = msgspec.structs.replace(WORDS, categories=(*WORDS.categories, "Interest", "Salary"))
    for text, source in (
        ("how much interest did I earn in October", "Interest"),
        ("my salary in October", "Salary"),
        ("how much did I earn in October", None),
    ):
        (step,) = read_question(text, words, TODAY).steps
        assert (step.what, step.category) == ("income", source)
    assert "by a category" in (read_question("how much income from groceries", words, TODAY).problem or "")
    both = read_question("how much salary and interest did I get in October", words, TODAY)
    assert "one by one" in (both.problem or "")


@pytest.mark.parametrize(
    "text",
    ["am I over budget in Q3", "budget this year", "budget in the first week of October", "budget this week"],
)
def test_a_budget_is_for_one_month(text: str) -> None:
    assert "month" in (read_question(text, WORDS, TODAY).problem or "")
    october = read_question("Did I stay within my budget in October?", WORDS, TODAY).steps
    assert "month" in (read_question("and in Q3?", WORDS, TODAY, october).problem or "")


@pytest.mark.parametrize(
    "text",
    [
        "how much did I spend in the month of October",
        "how much did I spend this entire year",
        "how much did I spend per month this year",
        "which transactions have no category",
        "how much can I still spend",
    ],
)
def test_other_words_for_the_same_are_understood(text: str) -> None:
    assert read_question(text, WORDS, TODAY).steps


@pytest.mark.parametrize(
    ("first", "then", "by"),
    [
        ("List charges over 100 in October", "tag them as big", "an amount"),
        ("List charges over 100 in October", "top 3 merchants", "an amount"),
        ("List charges over 100 in October", "chart it", "an amount"),
        ("How much did I spend in October without rent?", "tag them as check", "what does not count"),
        ("How much did I spend in October without rent?", "write a report of it", "what does not count"),
    ],
)
def test_a_value_of_the_question_before_is_not_left_out(first: str, then: str, by: str) -> None:
    before = read_question(first, WORDS, TODAY).steps
    reading = read_question(then, WORDS, TODAY, before)
    assert not reading.steps
    assert f"by {by}, as the question before was" in (reading.problem or "")
    together = read_question(f"{first.rstrip('?')} and {then}", WORDS, TODAY)
    assert not together.steps
    assert together.problem


@pytest.mark.parametrize("text", ["What is the total?", "How many?", "How many of them?", "how much is it"])
def test_a_sum_or_a_count_of_some_charges_is_their_list(text: str) -> None:
    before = read_question("List charges over 100 in October", WORDS, TODAY).steps
    (step,) = read_question(text, WORDS, TODAY, before).steps
    assert (step.what, step.minimum, step.period) == ("list", 10000, before[0].period)


def test_income_of_the_question_before_is_not_added_up_as_spending() -> None:
    before = (Intent(what="list", category="Income", period=Period(TODAY, TODAY)),)
    reading = read_question("What is the total?", WORDS, TODAY, before)
    assert "as income" in (reading.problem or "")


@pytest.mark.parametrize(
    "text",
    [
        "average spending per month in the first week of October",
        "what do I spend per week on average on 3 October",
        "groceries per year in October",
        "average groceries per month of all time",
    ],
)
def test_an_average_needs_a_period_that_is_long_enough(text: str) -> None:
    reading = read_question(text, WORDS, TODAY)
    assert not reading.steps
    assert "average" in (reading.problem or "").lower()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("how often did I buy groceries and restaurants in October", "category"),
        ("average groceries and restaurants per month this year", "category"),
        ("chart groceries and restaurants in October", "category"),
        ("how many purchases at Rewe and Edeka in October", "merchant"),
        ("tag Rewe and Edeka in October as weekly", "merchant"),
        ("groceries and restaurants at Rewe and Edeka in October", "merchant"),
        ("spending with the credit card and checking in October", "account"),
    ],
)
def test_a_second_name_is_not_left_out(text: str, kind: str) -> None:
    reading = read_question(text, WORDS, TODAY)
    assert not reading.steps
    assert f"one {kind} at a time" in (reading.problem or "")


def test_trips_are_counted_where_a_name_says_which() -> None:
    for text in ("How many trips did I make in October?", "how many meals did I have this year"):
        assert "I count purchases" in (read_question(text, WORDS, TODAY).problem or "")
    (step,) = read_question("How many trips did I make to Rewe in October?", WORDS, TODAY).steps
    assert (step.what, step.merchant) == ("count", "Rewe")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("set a budget of 50 euros a week for restaurants", "A budget is for a month"),
        ("set a yearly budget of 1000 for travel", "A budget is for a month"),
        ("increase the groceries budget by 50", "Say the new amount"),
        ("remove all budgets", "Say the category"),
        ("what is due tomorrow", "due in the next 30 days"),
        ("upcoming payments in the next 2 weeks", "due in the next 30 days"),
        ("what will I spend next month", "due in the next 30 days"),
        ("which bills are due next month", "due in the next 30 days"),
    ],
)
def test_an_amount_or_a_span_of_another_time_is_refused_with_a_sentence(text: str, said: str) -> None:
    reading = read_question(text, WORDS, TODAY)
    assert reading.steps == ()
    assert said in (reading.problem or "")


@pytest.mark.parametrize(
    "text", ["set a budget of 50 euros a month for restaurants", "raise the groceries budget to 450"]
)
def test_an_amount_for_a_month_is_a_budget(text: str) -> None:
    assert read_question(text, WORDS, TODAY).steps[0].what == "set_budget"


def test_a_whole_month_may_be_said_to_be_during() -> None:
    for text in ("spending during the whole of October", "spending during the entire October"):
        (step,) = read_question(text, WORDS, TODAY).steps
        assert step.period == month_of(date(2026, 10, 1))
