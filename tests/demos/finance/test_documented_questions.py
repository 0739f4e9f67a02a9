"""The questions of the documentation: each is understood, in all its words, and its figures are right."""

import re
import sqlite3
from pathlib import Path

import pytest
from tests.demos.finance.conversations import TODAY, Documented, agent, documented_questions, talking

from trunkline.demos.finance.answers.about import EXAMPLES
from trunkline.demos.finance.ledger.classification import classify
from trunkline.demos.finance.ledger.database import MEMORY, Ledger
from trunkline.demos.finance.ledger.demo import seed_demo
from trunkline.demos.finance.offline_model import plan_call
from trunkline.demos.finance.questions.names import Vocabulary
from trunkline.demos.finance.questions.reading import read_question
from trunkline.demos.finance.tools.registry import read_vocabulary

QUESTIONS = documented_questions()


@pytest.fixture(scope="module")
def words() -> Vocabulary:
    ledger = Ledger(MEMORY)
    with ledger.writing() as db:
        seed_demo(db, TODAY)
    return read_vocabulary(ledger)


def test_the_page_has_at_least_forty_questions_with_two_other_wordings_each() -> None:
    assert len(QUESTIONS) >= 40
    assert all(len(row.others) >= 2 for row in QUESTIONS)


@pytest.mark.parametrize("row", QUESTIONS, ids=lambda row: row.question)
def test_a_documented_question_plans_the_same_calls_in_all_its_words(
    row: Documented, words: Vocabulary
) -> None:
    steps = read_question(row.question, words, TODAY).steps
    calls = [plan_call(step) for step in steps]
    assert list(dict.fromkeys(name for name, _ in calls)) == row.tools
    for other in row.others:
        loud = other if "." in other or "SELECT" in other else f"{other.upper()}?"
        for said in (other, loud):
            planned = [plan_call(step) for step in read_question(said, words, TODAY).steps]
            assert planned == calls, said


@pytest.mark.parametrize("question", [one for group in EXAMPLES.values() for one in group])
def test_what_the_help_shows_is_understood(question: str, words: Vocabulary) -> None:
    assert read_question(question, words, TODAY).steps


async def test_every_documented_question_is_answered_from_its_tools(tmp_path: Path) -> None:
    (tmp_path / "statement.csv").write_text(
        "Booking date,Description,Amount,Currency\n2026-10-30,REWE SAGT DANKE,-12.34,EUR\n"
        "2026-10-31,EDEKA BERLIN,-20.00,EUR\n"
    )
    last = [row for row in QUESTIONS if "import" in row.question.lower()]
    async with talking(cwd=tmp_path) as ask:
        for row in [*(one for one in QUESTIONS if one not in last), *last]:
            answered = await ask(row.question)
            called = [call.name for call in answered.calls if call.name != "update_plan"]
            assert list(dict.fromkeys(called)) == row.tools, row.question
            assert {call.status for call in answered.calls} == {"completed"}, (row.question, answered.text)
            assert answered.text.strip(), row.question


# -- the figures, against SQL of our own ---------------------------------------------------------------

PERIOD = ("2026-10-01", "2026-10-31")


def spent_by_hand(db: sqlite3.Connection, where: str, *values: str) -> dict[str, int]:
    """Add up from the plain table, without the views of the product."""
    charges = db.execute(
        "SELECT t.currency, -sum(t.amount) FROM transactions t LEFT JOIN transactions o "
        "ON t.kind = 'refund' AND o.id = t.pair_id WHERE t.kind IN ('spend', 'refund') "
        "AND coalesce(o.posted, t.posted) BETWEEN ? AND ? "
        f"AND {where} GROUP BY t.currency",
        (*PERIOD, *values),
    )
    return dict(charges.fetchall())


def figure(amount: int, currency: str) -> str:
    return f"**{amount // 100:,}.{amount % 100:02d} {currency}**"


@pytest.mark.parametrize("seed", ["one", "two", "three"])
async def test_the_figures_in_the_answers_follow_the_database(seed: str, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    ledger = Ledger(url)
    with ledger.writing() as db:
        seed_demo(db, TODAY, seed=seed)
    questions = {
        "How much did I spend on groceries last month?": (
            "coalesce(o.category, t.category) = ?",
            ("Groceries",),
        ),
        "How much did I spend in October?": ("1", ()),
        "How much did I spend at Rewe in October?": ("coalesce(o.merchant, t.merchant) = ?", ("Rewe",)),
        "How much did I spend with my credit card in October?": (
            "t.account_id IN (SELECT id FROM accounts WHERE kind = ?)",
            ("card",),
        ),
    }
    seen: list[str] = []
    async with talking(agent(url)) as ask:
        for change in (
            None,
            "UPDATE transactions SET amount = amount * 3 WHERE id % 7 = 0 AND kind = 'spend'",
        ):
            with ledger.writing() as db:
                if change is not None:
                    db.execute(change)
                    db.execute(
                        "DELETE FROM transactions WHERE id IN (SELECT max(id) FROM transactions "
                        "WHERE merchant = 'Rewe' AND posted BETWEEN ? AND ?)",
                        PERIOD,
                    )
                    classify(db)
            for question, (where, values) in questions.items():
                answered = await ask(question)
                with ledger.reading() as db:
                    sums = spent_by_hand(db, where, *values)
                assert sums, question
                for currency, amount in sums.items():
                    assert figure(amount, currency) in answered.text, (question, answered.text)
                seen.append(re.sub(r"\D", "", answered.text.partition("\n")[0]))
    assert len(set(seen)) == len(seen)


async def test_currencies_are_never_added() -> None:
    async with talking() as ask:
        answered = await ask("How much did I spend since March?")
        lead = answered.text.partition("\n")[0]
        assert "EUR**" in lead
        assert "USD**" in lead
        assert "no transfers" in answered.text
        assert "netted" in answered.text
