"""The names of a small ledger, and a day, for questions."""

from datetime import date

from trunkline.demos.finance.questions.names import Vocabulary

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
