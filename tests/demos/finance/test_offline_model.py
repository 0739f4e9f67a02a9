import json
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.demos.finance.questions.vocabulary import TODAY, WORDS

from trunkline.demos.finance.offline_model import (
    Called,
    Item,
    PlannedCall,
    Reply,
    Returned,
    Said,
    describe_step,
    plan_call,
    plan_reply,
    read_result,
    split_words,
)
from trunkline.demos.finance.questions.intent import Intent
from trunkline.demos.finance.questions.periods import month_of

TOOLS = ["spending", "compare_spending", "chart_spending", "write_report", "update_plan", "run_sql"]
SPENT = {
    "period": {"start": "2026-10-01", "end": "2026-10-31"},
    "filters": ["refunds netted"],
    "rows": 3,
    "totals": ["1,234.50 EUR"],
    "sql": "SELECT 1",
}


def reply(*items: Item, tools: list[str] = TOOLS) -> Reply:
    return plan_reply(items, tools, WORDS, TODAY)


def test_a_question_is_a_call_and_its_result_an_answer() -> None:
    question = Said("user", "How much did I spend on groceries last month?")
    first = reply(question)
    assert first == Reply(
        calls=(
            PlannedCall("spending", {"start": "2026-10-01", "end": "2026-10-31", "category": "Groceries"}),
        )
    )
    called = Called("c1", "spending", first.calls[0].arguments)
    answered = reply(question, called, Returned("c1", json.dumps(SPENT)))
    assert answered.calls == ()
    assert answered.text.startswith("In October 2026 you spent **1,234.50 EUR** on Groceries.")
    assert "3 transactions; refunds netted" in answered.text


def test_the_sql_of_the_last_figures_is_shown_and_run() -> None:
    before = [
        Said("user", "How much did I spend on groceries last month?"),
        Called("c1", "spending", {}),
        Returned("c1", json.dumps(SPENT)),
        Said("assistant", "..."),
    ]
    assert "```sql\nSELECT 1\n```" in reply(*before, Said("user", "show the SQL")).text
    assert reply(*before, Said("user", "run it")).calls == (PlannedCall("run_sql", {"query": "SELECT 1"}),)
    assert "no figure yet" in reply(Said("user", "show the SQL")).text


def test_several_steps_have_a_plan_and_answers_in_between() -> None:
    items: list[Item] = [Said("user", "Compare September and October, chart it and write a report")]
    names: list[str] = []
    texts: list[str] = []
    compared = SPENT | {"against": SPENT["period"], "changes": [], "drivers": []}
    results = {
        "compare_spending": compared,
        "chart_spending": SPENT | {"groups": [], "by": "category"},
        "write_report": SPENT | {"path": "r.md"},
    }
    for number in range(20):
        said = reply(*items)
        texts.append(said.text)
        if not said.calls:
            break
        (call,) = said.calls
        names.append(call.name)
        items += [Called(f"c{number}", call.name, call.arguments)]
        items.append(Returned(f"c{number}", json.dumps(results.get(call.name, "shown"))))
    assert names == [
        "update_plan", "compare_spending", "update_plan", "chart_spending", "update_plan", "write_report",
        "update_plan",
    ]  # fmt: skip
    assert texts[-1] == "All steps are done."
    assert [bool(text) for text in texts] == [False, False, True, False, True, False, True, True]


def test_a_tool_that_is_not_there_is_said() -> None:
    assert "No bank is linked" in reply(Said("user", "sync my bank")).text
    assert "not available" in reply(Said("user", "list my accounts"), tools=["spending"]).text


def test_a_refusal_is_repeated_with_its_reason_and_a_failure_in_its_own_words() -> None:
    items = [Said("user", "SELECT 1"), Called("c1", "run_sql", {}), Returned("c1", "run_sql did not run: no")]
    assert reply(*items).text == "Nothing was done: no."
    items[-1] = Returned("c1", "the query was refused")
    assert reply(*items).text == "That did not work: the query was refused"


def test_a_slash_command_is_its_question() -> None:
    assert reply(Said("user", "/top in October")).calls[0].arguments == {
        "start": "2026-10-01", "end": "2026-10-31", "group_by": "merchant", "limit": 10,
    }  # fmt: skip
    assert "not a language model" in reply(Said("user", "/help")).text
    assert reply(Said("user", "/nonsense")).calls == ()


def test_a_conversation_without_a_question_is_greeted() -> None:
    assert reply().text.startswith("Hello.")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hi", "Hello"),
        ("thanks", "welcome"),
        ("import", "Name the file"),
        ("/instructions", "Never estimate"),
    ],
)
def test_what_needs_no_tool_is_answered_at_once(text: str, said: str) -> None:
    answered = reply(Said("user", text))
    assert answered.calls == ()
    assert said in answered.text


@given(st.text())
def test_the_words_of_a_text_are_the_text(text: str) -> None:
    assert "".join(split_words(text)) == text


def test_results_are_json_or_sentences() -> None:
    assert read_result('{"a": 1}') == {"a": 1}
    assert read_result("no") == "no"


def test_a_step_is_described_for_the_plan() -> None:
    october, september = month_of(date(2026, 10, 1)), month_of(date(2026, 9, 1))
    step = Intent(what="compare", period=october, against=september, category="Groceries")
    assert describe_step(step, TODAY) == "Compare of Groceries October 2026 with September 2026"
    assert describe_step(Intent(what="undo_import"), TODAY) == "Undo import"


@given(
    st.lists(st.sampled_from(["how much last month", "and in may", "why?", "show the SQL", "x", "put it"]))
)
def test_any_conversation_is_replied_to(texts: list[str]) -> None:
    items: list[Any] = []
    for number, text in enumerate(texts):
        items.append(Said("user", text))
        said = reply(*items)
        if said.calls:
            items += [Called(f"c{number}", said.calls[0].name, {}), Returned(f"c{number}", "no")]
    assert isinstance(reply(*items), Reply)


def test_a_minimum_is_given_in_units_of_the_currency() -> None:
    name, arguments = plan_call(Intent(what="list", minimum=20050))
    assert (name, arguments["minimum"]) == ("list_transactions", 200.5)


def test_a_text_that_is_too_long_for_a_question_is_refused_at_once() -> None:
    long = Said("user", "How much did I spend? " + "lorem ipsum " * 8000)
    reply = plan_reply([long], TOOLS, WORDS, TODAY)
    assert reply.calls == ()
    assert "at most 2,000" in reply.text
    # It is no part of what a later question refers to, either.
    assert plan_reply([long, Said("user", "How much did I spend last month?")], TOOLS, WORDS, TODAY).calls


@pytest.mark.parametrize("what", ["report", "tag", "unusual", "budget"])
def test_a_tool_is_not_given_an_argument_that_it_does_not_have(what: Any) -> None:
    step = Intent(what=what, period=month_of(TODAY, 1), excluding=("Rent",), text="x")
    assert "excluding" not in plan_call(step)[1]
    assert plan_call(Intent(what="list", excluding=("Rent",)))[1]["excluding"] == ["Rent"]
