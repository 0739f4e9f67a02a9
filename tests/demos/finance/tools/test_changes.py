from typing import Any

import pytest
from tests.demos.finance.conversations import agent, ask_in, talking
from tests.demos.finance.tools.desks import desk, read
from tests.hubs import only, session_for

from trunkline import events as ev
from trunkline.commands import Answer
from trunkline.demos.finance.ledger.edits import apply_edit, plan_tag
from trunkline.demos.finance.ledger.selection import Filters
from trunkline.questions import Form
from trunkline.testing import accept_all, refuse_all
from trunkline.tools import ToolError


def choose(category: str) -> Any:
    def answer(asked: ev.Asked) -> Answer:
        assert isinstance(asked.question, Form)
        (field,) = asked.question.fields["properties"]
        return Answer(question_id=asked.question_id, outcome="accepted", content={field: category}, by="test")

    return answer


async def test_what_has_no_category_is_chosen_in_a_form() -> None:
    async with talking() as ask:
        declined = await ask("Categorize my uncategorized transactions", refuse_all)
        assert declined.calls[0].status == "failed"
        left = await ask("Categorize my uncategorized transactions", choose("leave it"))
        assert "Nothing changed" in left.text
        done = await ask("Categorize my uncategorized transactions", choose("Entertainment"))
        assert "Gave 11 transactions a category; 0 transactions left without." in done.text
        again = await ask("Categorize my uncategorized transactions")
        assert again.asked == []


async def test_a_model_can_name_the_categories_itself() -> None:
    one = desk()
    done = await read(one, "categorize", merchants={"Kollektiv Werkhof": "entertainment"})
    assert (done["changed"], done["left"]) == (11, 0)


async def test_what_is_so_already_needs_no_question() -> None:
    async with talking() as ask:
        answered = await ask("Put Rewe under Groceries", refuse_all)
        assert answered.asked == []
        assert "nothing changed" in answered.text


async def test_tags_are_added_once() -> None:
    one = desk()
    first = await read(one, "tag_transactions", add="trip", merchant="Lufthansa")
    assert first["changed"]
    again = await read(one, "tag_transactions", add="trip", merchant="Lufthansa")
    assert again["changed"] == 0


async def test_a_budget_is_set_and_removed_after_a_question_that_shows_both_amounts() -> None:
    async with talking() as ask:
        said = await ask("Set a budget of 1234 EUR for groceries")
        (question,) = said.asked
        assert question.message == "Budget of 1,234.00 EUR a month for Groceries?"
        shown = "".join(str(one.content) for one in only(said.events, ev.ToolUpdate))
        assert "1,234.00 EUR then" in shown
        assert "The budget of Groceries is **1,234.00 EUR** a month now" in said.text
        assert "1,234.00 EUR" in (await ask("groceries budget")).text
        again = await ask("Set a budget of 1234 EUR for groceries", refuse_all)
        assert (again.asked, "nothing changed" in again.text) == ([], True)
        refused = await ask("Remove the groceries budget", refuse_all)
        assert refused.text == "You said no, so nothing was done."
        assert "Removed the budget of Groceries" in (await ask("Remove the groceries budget")).text


async def test_the_last_change_is_taken_back_and_the_one_before_it_then() -> None:
    async with talking() as ask:
        before = (await ask("groceries budget")).text
        await ask("Set a budget of 1234 EUR for groceries")
        moved = await ask("Put Rewe under Restaurants")
        assert "under **Restaurants**" in moved.text
        refused = await ask("undo that", refuse_all)
        assert refused.text == "You said no, so nothing was done."
        undone = await ask("Undo the last change")
        assert undone.asked[0].message.startswith("Take back: Put Rewe under Restaurants (")
        assert undone.text.startswith("Took back: Put Rewe under Restaurants")
        assert "under **Groceries**" in (await ask("Why is Rewe in Groceries?")).text
        await ask("Undo the last change")
        assert (await ask("groceries budget")).text == before
        assert "there is no change to take back" in (await ask("Undo the last change")).text


async def test_the_mode_manage_changes_budgets_and_takes_changes_back_without_asking() -> None:
    async with session_for(agent()) as session:
        await session.set_config("mode", "manage")
        done = await ask_in(session, "Set a budget of 300 EUR for restaurants", refuse_all)
        assert (done.asked, "**300.00 EUR**" in done.text) == ([], True)
        undone = await ask_in(session, "undo the last change", refuse_all)
        assert (undone.asked, undone.text[:9]) == ([], "Took back")


async def test_an_undo_takes_back_the_change_that_was_shown() -> None:
    one = agent()

    def answer(asked: ev.Asked) -> Answer | None:
        with one.desk.ledger.writing() as db:
            apply_edit(db, plan_tag(db, "late", filters=Filters(merchant="Rewe")), "2026-11-18")
        return accept_all(asked)

    async with talking(one) as ask:
        await ask("Set a budget of 1234 EUR for groceries")
        done = await ask("Undo the last change", answer)
        assert done.text.startswith("Took back: Budget of 1,234.00 EUR")


async def test_a_budget_needs_an_amount_or_its_removal_and_a_currency_that_is_known() -> None:
    one = desk()
    wrong: tuple[dict[str, Any], ...] = ({}, {"monthly": 3, "remove": True})
    for arguments in wrong:
        with pytest.raises(ToolError, match="and not both"):
            await read(one, "set_budget", category="Groceries", **arguments)
    found = await read(one, "set_budget", category="Groceries", monthly=55)
    assert found["monthly"] == "55.00 EUR"
    with pytest.raises(ToolError, match="is no currency"):
        await read(one, "set_budget", category="Groceries", monthly=55, currency="EURO")
