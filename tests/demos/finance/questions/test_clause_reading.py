"""A clause, with the questions before it, is read into the steps that answer it."""

from datetime import date

import msgspec
import pytest
from tests.demos.finance.questions.vocabulary import TODAY, WORDS, read

from trunkline.demos.finance.questions.intent import Intent, Reading
from trunkline.demos.finance.questions.periods import BEGINNING, Period, month_of
from trunkline.demos.finance.questions.reading import read_question

OCTOBER, SEPTEMBER = month_of(date(2026, 10, 1)), month_of(date(2026, 9, 1))
SPENT = Intent(what="spend", category="Groceries", period=OCTOBER, has_period=True)


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
        "how much have I spent on grocerys last mnth",
        "give me the sum of all grocery purchases in October",
        "how much did I waste on groceries last month",
    ],
)
def test_a_question_is_the_same_in_other_words(text: str) -> None:
    assert read(text).steps == (SPENT,)


def test_a_merchant_with_the_name_of_an_everyday_word_is_not_left_out() -> None:
    words = msgspec.structs.replace(WORDS, merchants=("Shell", "Next"))
    for text, name in (("at Shell in October", "Shell"), ("shell in October", "Shell"), ("at next", "Next")):
        assert read_question(f"spending {text}", words, TODAY).steps[0].merchant == name
    assert read_question("how much did I shell out in October", words, TODAY).steps[0].merchant is None
    assert read("how much did I spend online in October").unknown == ("online",)


@pytest.mark.parametrize("text", ["change from", "rise from", "increase from", "grow between"])
def test_a_change_from_one_month_to_another_compares_them(text: str) -> None:
    joined = "and" if "between" in text else "to"
    (step,) = read(f"how much did my grocery spending {text} September {joined} October").steps
    assert step == msgspec.structs.replace(SPENT, what="compare", against=SEPTEMBER)


def test_the_share_of_the_income_that_was_spent_and_a_sum_per_day_are_no_plain_sums() -> None:
    assert [
        read(f"how much {text} in October").steps[0].what
        for text in ("of my income did I spend", "did I spend on groceries a day")
    ] == ["savings", "average"]


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


@pytest.mark.parametrize(
    "text",
    [
        "what's my total for groceries since summer",
        "rename Rewe to Supermarket",
        "show a graph of my income by month",
        "what was my first transaction",
        "did I earn more this year than last year",
        "how much did I spend on groceries the quarter before",
        "tag all Blorbo rides in October as work",
        "how much of the groceries did I earn",
    ],
)
def test_a_question_is_not_answered_without_the_words_that_change_its_figure(text: str) -> None:
    assert read(text).steps == ()
    assert read("How much did I spend on groceries last month?", text).steps == ()


def test_the_month_before_is_the_one_before_the_question_before() -> None:
    before = "How much did I spend on groceries last month?"
    for text in ("and the month before?", "how much did I spend on groceries in the month before"):
        (step,) = read(before, text).steps
        assert (step.what, step.category, step.period) == ("spend", "Groceries", SEPTEMBER)
    first, second = read("how much did I spend on groceries last month and how much the month before").steps
    assert (first.period, second.period) == (OCTOBER, SEPTEMBER)
    (step,) = read("groceries in 2026", "and the year before?").steps
    assert step.period is not None
    assert (step.period.start, step.period.end) == (date(2025, 1, 1), date(2025, 12, 31))
    (step,) = read("groceries last week", "and the week before?").steps
    assert step.period is not None
    assert step.period.start == date(2026, 11, 2)
    assert read("how much did I spend the month before").steps == ()


def test_a_limit_lists_the_charges_and_months_are_compared_over_a_year() -> None:
    (step,) = read("any charges over 500?").steps
    assert (step.what, step.minimum) == ("list", 50000)
    (step,) = read("which month was most expensive").steps
    assert step.period is not None
    assert (step.by, step.period.start, step.period.end) == ("month", date(2025, 11, 1), date(2026, 10, 31))
    (step,) = read("chart groceries over the last 6 months").steps
    assert (step.what, step.by) == ("chart", "month")
    (step,) = read("how much per week do I spend on groceries").steps
    assert (step.what, step.per) == ("average", "week")
    assert [step.what for step in read("how much do I owe on my credit card").steps] == ["accounts"]


def test_a_new_question_does_not_inherit_names() -> None:
    (step,) = read(
        "How much did I spend on groceries last month?", "What is my savings rate this year?"
    ).steps
    assert (step.what, step.category) == ("savings", None)


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


def test_a_share_is_of_all_spending_or_of_the_category_around_it() -> None:
    (step,) = read("What percent of my spending in October is rent?").steps
    assert (step.what, step.category, step.period) == ("share", "Rent", OCTOBER)
    (step,) = read("which share of my groceries was at rewe last month").steps
    assert (step.what, step.category, step.merchant) == ("share", "Groceries", "Rewe")
    (step,) = read("How much was rent in October?", "what percentage of my spending is that?").steps
    assert (step.what, step.category, step.period) == ("share", "Rent", OCTOBER)
    (step,) = read("What percent of my spending in October is rent?", "and groceries?").steps
    assert (step.what, step.category, step.period) == ("share", "Groceries", OCTOBER)
    (step,) = read("What share has each category?").steps
    assert (step.what, step.by) == ("breakdown", "category")


@pytest.mark.parametrize(
    "order",
    [
        "cancel netflix",
        "Please cancel my Netflix subscription",
        "should I cancel Netflix?",
        "how do I unsubscribe from Spotify",
        "pay Netflix",
        "delete all transactions",
        "transfer 100 EUR to savings",
        "block my credit card",
    ],
)
def test_an_order_that_cannot_be_carried_out_gets_no_figure(order: str) -> None:
    reading = read(order)
    assert reading.steps == ()
    assert "I cannot cancel, pay" in (reading.problem or "")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("Which subscriptions could I cancel?", "subscriptions"),
        ("Delete the last import", "undo_import"),
        ("By what percentage did my spending rise in October?", "compare"),
    ],
)
def test_words_of_orders_and_shares_that_ask_for_something_else(text: str, what: str) -> None:
    (step,) = read(text).steps
    assert step.what == what


@pytest.mark.parametrize(
    "words",
    [
        "without rent",
        "except rent",
        "except for rent",
        "excluding rent",
        "apart from rent",
        "besides rent",
        "other than my rent",
        "minus the rent",
        "but not rent",
        "not counting rent",
    ],
)
def test_what_does_not_count_is_left_out_and_never_counted_alone(words: str) -> None:
    (step,) = read(f"how much did I spend in October {words}").steps
    assert (step.what, step.category, step.excluding, step.period) == ("spend", None, ("Rent",), OCTOBER)


def test_exclusions_go_with_names_and_follow_ups() -> None:
    (step,) = read("groceries in October but not at Rewe").steps
    assert (step.category, step.merchant, step.excluding) == ("Groceries", None, ("Rewe",))
    (step,) = read("how much on anything but rent and groceries in October").steps
    assert step.excluding == ("Rent", "Groceries")
    (step,) = read("How much did I spend on food in October?", "and without restaurants?").steps
    assert (step.category, step.excluding, step.period) == ("Food", ("Restaurants",), OCTOBER)
    (step,) = read("How much did I spend in October without rent?", "and in September?").steps
    assert (step.excluding, step.period) == (("Rent",), SEPTEMBER)
    (step,) = read("How much did I spend in October without rent?", "and on travel?").steps
    assert (step.category, step.excluding) == ("Travel", ())


def test_months_with_others_between_are_not_one_period() -> None:
    august = month_of(date(2026, 8, 1))
    steps = read("how much did I spend at Rewe in August and October").steps
    assert [(step.merchant, step.period) for step in steps] == [("Rewe", august), ("Rewe", OCTOBER)]
    (step,) = read("groceries in September and October").steps
    assert step.period is not None
    assert (step.period.start, step.period.end) == (SEPTEMBER.start, OCTOBER.end)
    assert "two periods" in (read("compare June, July and August").problem or "")


def test_a_count_with_a_limit_is_a_list() -> None:
    (step,) = read("how many purchases over 50 euros in October").steps
    assert (step.what, step.minimum) == ("list", 5000)
    (step,) = read("How much did I spend in October?", "more than 100").steps
    assert (step.what, step.minimum, step.period) == ("list", 10000, OCTOBER)


@pytest.mark.parametrize(
    ("text", "per"),
    [
        ("how much for Spotify per year", "year"),
        ("what does rent cost me a year", "year"),
        ("what is the average price of a coffee", "purchase"),
        ("what do I spend per Rewe visit on average", "purchase"),
        ("average restaurant bill", "purchase"),
    ],
)
def test_an_average_may_be_of_a_year_or_a_purchase(text: str, per: str) -> None:
    (step,) = read(text).steps
    assert (step.what, step.per) == ("average", per)
    assert read("groceries per year in October").steps == ()


@pytest.mark.parametrize(
    ("text", "what", "by"),
    [
        ("How much did I spend per week on groceries in October?", "breakdown", "week"),
        ("daily spending last week", "breakdown", "day"),
        ("which day did I spend the most in October", "top", "day"),
        ("when did I spend the most in October", "top", "day"),
        ("which month was the most expensive this year", "top", "month"),
    ],
)
def test_spending_is_told_by_week_and_day(text: str, what: str, by: str) -> None:
    (step,) = read(text).steps
    assert (step.what, step.by) == (what, by)


def test_short_words_go_on_with_the_question_before() -> None:
    (step,) = read("groceries in October", "how often").steps
    assert (step.what, step.category, step.period) == ("count", "Groceries", OCTOBER)
    (step,) = read("top 5 merchants in October", "top 10").steps
    assert (step.what, step.count, step.by, step.period) == ("top", 10, "merchant", OCTOBER)
    (step,) = read("groceries in October", "how much is that per day").steps
    assert (step.what, step.per, step.category) == ("average", "day", "Groceries")
    assert read("Which subscriptions do I have?", "how much are they per year").steps == ()


def test_a_budget_is_that_of_the_month_that_was_asked_about() -> None:
    (step,) = read("did I go over budget last month").steps
    assert (step.what, step.period) == ("budget", OCTOBER)
    (step,) = read("how much is left on my credit card").steps
    assert step.what == "accounts"


def test_a_name_after_a_question_that_takes_none_is_a_new_question() -> None:
    (step,) = read("How much did I save in October?", "groceries from June to October").steps
    assert (step.what, step.category) == ("spend", "Groceries")
    (step,) = read("How much did I earn in October?", "and groceries?").steps
    assert (step.what, step.category, step.period) == ("spend", "Groceries", OCTOBER)


@pytest.mark.parametrize(
    "text",
    ["what was my largest grocery purchase", "what's the most I spent on a single purchase in October"],
)
def test_the_largest_purchase_is_one_of_a_list(text: str) -> None:
    (step,) = read(text).steps
    assert (step.what, step.order) == ("list", "largest")


@pytest.mark.parametrize(
    "order", ["remove tag vacation", "rename the category Groceries", "delete category Food"]
)
def test_what_cannot_be_removed_gets_no_figure(order: str) -> None:
    assert read(order).steps == ()


def test_what_is_made_is_income_and_how_often_is_a_count() -> None:
    (step,) = read("How much did I make in October?").steps
    assert step.what == "income"
    for text in ("How many purchases did I make in October?", "how often did I make a purchase in October"):
        (step,) = read(text).steps
        assert (step.what, step.period) == ("count", OCTOBER)


def test_the_most_recent_are_the_newest() -> None:
    (step,) = read("top 5 most recent transactions").steps
    assert (step.what, step.order, step.count) == ("list", "newest", 5)
    (step,) = read("top 5 transactions in October").steps
    assert step.order == "largest"


def test_both_shops_are_within_the_category() -> None:
    steps = read("How much did I spend on groceries at Rewe and Edeka in October?").steps
    assert [(step.category, step.merchant) for step in steps] == [
        ("Groceries", "Rewe"),
        ("Groceries", "Edeka"),
    ]


def test_a_question_after_a_change_makes_no_other_change() -> None:
    (step,) = read("put Rewe under Groceries", "what's in the category Transport").steps
    assert (step.what, step.category) == ("spend", "Transport")
    (step,) = read("put Rewe under Groceries", "and Edeka?").steps
    assert (step.what, step.merchant, step.category) == ("recategorize", "Edeka", "Groceries")


def test_the_same_time_last_year_does_not_point_to_the_question_before() -> None:
    question = "How much did I spend this month compared to the same time last year?"
    (step,) = read("how much did I spend on rent in October", question).steps
    assert (step.what, step.category) == ("compare", None)
    (step,) = read("groceries in October", "why is it more than the same month last year?").steps
    assert (step.category, step.period) == ("Groceries", OCTOBER)


@pytest.mark.parametrize("text", ["list my merchants", "which merchants did I visit", "show all merchants"])
def test_a_list_of_merchants_is_no_list_of_transactions(text: str) -> None:
    (step,) = read(f"{text} in October").steps
    assert (step.what, step.by, step.period) == ("breakdown", "merchant", OCTOBER)


def test_a_merchant_and_a_category_that_are_joined_are_each_asked_about() -> None:
    for text in ("at Rewe and on groceries", "on groceries and Rewe"):
        steps = read(f"how much did I spend {text} in October").steps
        named = {(step.category, step.merchant) for step in steps}
        assert named == {("Groceries", None), (None, "Rewe")}
    (step,) = read("how much did I spend on groceries at Rewe in October").steps
    assert (step.category, step.merchant) == ("Groceries", "Rewe")


def test_two_days_with_dots_between_are_one_period() -> None:
    (step,) = read("spending 2026-10-01..2026-10-31").steps
    assert step.period == OCTOBER


def test_what_is_left_out_is_no_condition_any_more() -> None:
    (step,) = read("spending in October", "only Rewe", "without Rewe").steps
    assert (step.merchant, step.excluding, step.period) == (None, ("Rewe",), OCTOBER)


def test_another_name_is_compared_with_that_of_the_question_before() -> None:
    steps = read("how much did I spend at Rewe in October", "compare it with Edeka").steps
    assert [(step.what, step.merchant, step.period) for step in steps] == [
        ("spend", "Rewe", OCTOBER),
        ("spend", "Edeka", OCTOBER),
    ]


def test_how_much_after_a_budget_is_not_the_spending() -> None:
    assert read("am I over budget", "by how much?").steps == ()
    (step,) = read("am I over budget", "for groceries").steps
    assert (step.what, step.category) == ("budget", "Groceries")


def test_the_most_expensive_subscription_is_none_that_got_dearer() -> None:
    assert read("which subscription is the most expensive").steps[0].what == "subscriptions"
    assert read("which subscriptions became more expensive").steps[0].what == "price_rises"


def test_in_total_is_of_all_time_where_no_period_is_named() -> None:
    (step,) = read("how much rent did I pay in total").steps
    assert (step.category, step.period) == ("Rent", Period(BEGINNING, TODAY))
    assert read("how much rent did I pay in total in October").steps[0].period == OCTOBER


@pytest.mark.parametrize(
    ("text", "order", "count"),
    [
        ("how much was my last Rewe purchase", "newest", 1),
        ("my last purchase at Rewe", "newest", 1),
        ("my last purchases at Rewe", "newest", None),
        ("what was the most expensive trip to Rewe", "largest", None),
    ],
)
def test_one_purchase_is_no_sum(text: str, order: str, count: int | None) -> None:
    (step,) = read(text).steps
    assert (step.what, step.merchant, step.order, step.count) == ("list", "Rewe", order, count)


def test_a_merchant_that_is_not_known_does_not_categorize_everything() -> None:
    assert read("categorize Blorbo as Groceries").unknown == ("blorbo",)
    assert read("categorize everything").steps[0].what == "categorize"


def test_whether_there_is_an_account_is_no_sum() -> None:
    assert read("do I have a credit card").steps[0].what == "accounts"


def test_whether_more_than_so_much_was_spent_is_answered_by_the_sum() -> None:
    (step,) = read("did I spend more than 500 on groceries in October?").steps
    assert step == SPENT
    (step,) = read("have I already spent over 1000 this month").steps
    assert (step.what, step.minimum) == ("spend", None)
    assert read("show charges over 500 in October").steps[0].what == "list"


def test_all_of_something_is_a_list_or_a_count_of_all_days() -> None:
    (step,) = read("show me everything from Rewe").steps
    assert (step.what, step.merchant, step.period) == ("list", "Rewe", None)
    (step,) = read("how many purchases did I make at Rewe in total").steps
    assert (step.what, step.period) == ("count", Period(BEGINNING, TODAY))


def test_what_is_on_an_account_is_no_spending() -> None:
    for text in (
        "how much is on my credit card",
        "how much do I have in checking",
        "how much is left on my savings",
    ):
        assert [step.what for step in read(text).steps] == ["accounts"]


def test_how_something_develops_is_told_by_month() -> None:
    for text, by in (("how did groceries develop in 2026", "month"), ("how did food evolve by week", "week")):
        (step,) = read(text).steps
        assert (step.what, step.by) == ("breakdown", by)


def test_the_kind_that_drives_a_comparison_is_not_that_of_the_question_before() -> None:
    (step,) = read("Compare groceries in September and October", "which category grew most?").steps
    assert (step.what, step.category, step.period) == ("compare", None, OCTOBER)


def test_a_year_that_is_not_over_is_compared_with_the_same_days() -> None:
    for text in ("compare this year with last year", "how much more did I spend this year than last year"):
        (step,) = read(text).steps
        assert step.against == Period(date(2025, 1, 1), date(2025, 11, 18))


def test_what_is_ranked_is_what_was_named() -> None:
    (step,) = read("what are the 3 most expensive days in October").steps
    assert (step.what, step.by, step.count) == ("top", "day", 3)
    (step,) = read("list my biggest 3 restaurant visits this year").steps
    assert (step.what, step.category, step.order, step.count) == ("list", "Restaurants", "largest", 3)


def test_what_was_left_is_what_was_saved() -> None:
    for text in ("what was left in September", "what's left of my salary this month"):
        assert [step.what for step in read(text).steps] == ["savings"]
    assert [step.what for step in read("how much was left of the groceries budget").steps] == ["budget"]


def test_the_largest_of_what_was_shown_is_not_the_largest_of_all() -> None:
    assert read("Which subscriptions do I have?", "which is the most expensive?").steps == ()
    asked = read("Which subscriptions do I have?", "which are my top 5 merchants?").steps
    assert [step.what for step in asked] == ["top"]


def test_the_same_days_of_a_longer_period_are_as_many() -> None:
    for text in (
        "compare this month to the same days last month",
        "compare last month with the same days this month",
    ):
        (step,) = read(text).steps
        assert (step.period, step.against) == (
            Period(date(2026, 11, 1), TODAY),
            Period(date(2026, 10, 1), date(2026, 10, 18)),
        )


def test_the_week_before_is_that_before_the_one_that_is_named_with_it() -> None:
    week, before = (
        Period(date(2026, 11, 9), date(2026, 11, 15)),
        Period(date(2026, 11, 2), date(2026, 11, 8)),
    )
    for earlier in ((), ("How much did I spend on groceries in September?",)):
        (step,) = read(*earlier, "compare last week with the week before").steps
        assert (step.period, step.against) == (week, before)


def test_all_merchants_after_one_are_not_only_that_one() -> None:
    (step,) = read("How much did I spend at Rewe in October?", "list all my merchants").steps
    assert (step.what, step.by, step.merchant, step.period) == ("breakdown", "merchant", None, OCTOBER)


def test_the_average_of_purchases_is_for_each_of_them() -> None:
    (step,) = read("what is the average of my October grocery purchases").steps
    assert (step.what, step.per) == ("average", "purchase")


def test_year_over_year_is_a_comparison() -> None:
    (step,) = read("restaurants in October year over year").steps
    october = Period(date(2025, 10, 1), date(2025, 10, 31))
    assert (step.what, step.category, step.period, step.against) == (
        "compare",
        "Restaurants",
        OCTOBER,
        october,
    )


def test_what_was_spent_after_a_source_of_income_is_all_that_was_spent() -> None:
    words = msgspec.structs.replace(WORDS, categories=(*WORDS.categories, "Salary", "Interest"))
    for question in ("How much salary did I get last month?", "How much interest did I earn in October?"):
        earlier = read_question(question, words, TODAY).steps
        (step,) = read_question("and how much did I spend?", words, TODAY, earlier).steps
        assert (step.what, step.category, step.period) == ("spend", None, OCTOBER)
        (step,) = read_question("and in September?", words, TODAY, earlier).steps
        assert (step.what, step.category) == ("income", earlier[0].category)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("which purchases are on my credit card in October?", "list"),
        ("how many transactions are on my credit card in October?", "count"),
        ("what is on my credit card?", "accounts"),
    ],
)
def test_charges_on_a_card_are_no_balance(text: str, what: str) -> None:
    (step,) = read(text).steps
    assert (step.what, step.account) == (what, "card")


@pytest.mark.parametrize("before", ["Which subscriptions do I have?", "Am I within my budget this month?"])
def test_the_biggest_of_a_group_is_a_question_of_its_own(before: str) -> None:
    for text, by in (
        ("which is the biggest category?", "category"),
        ("which are the biggest shops", "merchant"),
    ):
        (step,) = read(before, text).steps
        assert (step.what, step.by) == ("top", by)
    (step,) = read("How much did I spend on groceries in October?", "which is the biggest merchant?").steps
    assert (step.category, step.by, step.period) == ("Groceries", "merchant", OCTOBER)


def test_a_month_that_is_not_over_is_compared_with_the_same_days_of_the_month_before() -> None:
    for text in (
        "did I spend more this month than the month before",
        "compare this month with the month before",
    ):
        (step,) = read(text).steps
        assert step.against == Period(date(2026, 10, 1), date(2026, 10, 18))
    (step,) = read("how much did I spend this month and the month before").steps
    assert step.period == Period(date(2026, 10, 1), TODAY)
