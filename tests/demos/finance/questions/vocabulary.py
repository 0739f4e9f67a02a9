"""The names of a small ledger, and a day, for questions; and how a conversation is read."""

from datetime import date

from trunkline.demos.finance.questions.intent import Intent, Reading
from trunkline.demos.finance.questions.names import Vocabulary
from trunkline.demos.finance.questions.reading import read_question

TODAY = date(2026, 11, 18)

WORDS = Vocabulary(
    categories=(
        "Groceries",
        "Restaurants",
        "Coffee",
        "Transport",
        "Fuel",
        "Rent",
        "Travel",
        "Income",
        "Food",
    ),
    merchants=(
        "Rewe",
        "Edeka",
        "Netflix",
        "Spotify",
        "Lufthansa",
        "Starbucks",
        "Deutsche Bahn",
        "Burger King",
    ),
    accounts={"chk": "Checking", "card": "Credit Card", "sav": "Savings"},
    tags=("vacation",),
    synonyms={
        "supermarket": "Groceries",
        "eating out": "Restaurants",
        "dining": "Restaurants",
        "petrol": "Fuel",
    },
)


def read(*texts: str) -> Reading:
    """Read a conversation; give what its last message says."""
    earlier: list[Intent] = []
    reading = Reading()
    for text in texts:
        reading = read_question(text, WORDS, TODAY, earlier)
        earlier[:0] = [step for step in reversed(reading.steps) if step.what != "show_sql"]
    return reading
