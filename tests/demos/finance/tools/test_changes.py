from typing import Any

from tests.demos.finance.conversations import talking
from tests.demos.finance.tools.desks import desk, read

from trunkline import events as ev
from trunkline.commands import Answer
from trunkline.questions import Form
from trunkline.testing import refuse_all


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
