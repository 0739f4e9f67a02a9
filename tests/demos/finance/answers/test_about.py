from tests.demos.finance.questions.vocabulary import WORDS

from trunkline.demos.finance.answers.about import NO_MODEL, closest_question, explain, greet, help_text
from trunkline.demos.finance.questions.intent import Reading


def test_the_greeting_and_the_help_say_what_it_is() -> None:
    assert NO_MODEL in greet()
    assert NO_MODEL in help_text([])
    assert "Sync my bank" not in help_text([])
    assert "Sync my bank" in help_text(["sync_transactions"])


def test_an_unknown_name_gets_the_nearest_ones() -> None:
    said = explain("How much at Grocerys?", Reading(unknown=("grocerys",)), WORDS)
    assert 'called "grocerys"' in said
    assert "Groceries" in said
    assert "counted nothing" in said
    assert "Did you mean" not in explain("How much at xyzzy?", Reading(unknown=("xyzzy",)), WORDS)


def test_a_problem_is_said_as_it_is() -> None:
    assert explain("tag", Reading(problem="Say which tag."), WORDS).startswith("Say which tag.")


def test_the_closest_question_shares_words() -> None:
    assert closest_question("subscriptions that are dearer now") == "Which subscriptions got dearer?"
    assert closest_question("my accounts please") == "Which accounts do I have?"
