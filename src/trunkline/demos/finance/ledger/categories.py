"""The two levels of categories, and the words that tell the category of what no merchant tells. Pure.

The order in which a category is found: a person's own choice, own rules, what the import says, the merchant,
these words.
"""

from __future__ import annotations

from collections.abc import Iterable

from trunkline.demos.finance.ledger.category_words import CARD_PAID, KEYWORDS, REFUNDS, Keyword
from trunkline.demos.finance.ledger.errors import LedgerError
from trunkline.demos.finance.ledger.schema import UNCATEGORIZED
from trunkline.demos.finance.ledger.words import WordIndex, contains, fold
from trunkline.errors import did_you_mean

INCOME = "Income"
TRANSFERS = "Transfers"
TRANSFER = "Transfer"
CARD_PAYMENT = "Card payment"
OTHER_INCOME = "Other income"

TAXONOMY = {
    "Home": (
        "Rent",
        "Mortgage",
        "Utilities",
        "Internet and phone",
        "Furniture",
        "Home improvement",
        "Household goods",
    ),
    "Food": ("Groceries", "Restaurants", "Coffee", "Food delivery"),
    "Transport": ("Public transport", "Fuel", "Taxi", "Car", "Bike and scooter"),
    "Shopping": ("Online shopping", "Clothes", "Electronics", "Books"),
    "Leisure": ("Streaming", "Software", "Entertainment", "Games", "News"),
    "Health": ("Pharmacy", "Doctor", "Fitness", "Hairdresser"),
    "Travel": ("Flights", "Hotels", "Trains", "Car rental", "Sightseeing"),
    "Family": ("Childcare", "Education", "Gifts", "Pets"),
    "Money": ("Insurance", "Bank fees", "Taxes", "Cash", "Donations", "Loans"),
    INCOME: ("Salary", "Interest", "Benefits", OTHER_INCOME),
    TRANSFERS: (TRANSFER, CARD_PAYMENT, "Investment"),
}
"""The groups and their categories. Nothing in the group Transfers is spending or income."""

PARENTS = {name: group for group, names in TAXONOMY.items() for name in names} | {
    UNCATEGORIZED: UNCATEGORIZED
}

SYNONYMS = {
    "supermarket": "Groceries",
    "supermarkets": "Groceries",
    "eating out": "Restaurants",
    "dining": "Restaurants",
    "dining out": "Restaurants",
    "restaurant": "Restaurants",
    "cafe": "Coffee",
    "cafes": "Coffee",
    "coffee shops": "Coffee",
    "takeaway": "Food delivery",
    "takeout": "Food delivery",
    "delivery": "Food delivery",
    "housing": "Home",
    "household": "Household goods",
    "drugstore": "Household goods",
    "phone": "Internet and phone",
    "internet": "Internet and phone",
    "electricity": "Utilities",
    "power": "Utilities",
    "energy": "Utilities",
    "transit": "Public transport",
    "bus": "Public transport",
    "petrol": "Fuel",
    "gas": "Fuel",
    "taxis": "Taxi",
    "transportation": "Transport",
    "clothing": "Clothes",
    "gym": "Fitness",
    "medicine": "Pharmacy",
    "vacation": "Travel",
    "holiday": "Travel",
    "holidays": "Travel",
    "trips": "Travel",
    "fees": "Bank fees",
    "wages": "Salary",
    "fun": "Leisure",
    "uncategorised": UNCATEGORIZED,
    "unknown": UNCATEGORIZED,
}
"""Other words for categories and groups."""


_BY_WORDS = WordIndex((keyword.words, keyword) for keyword in KEYWORDS)


def find_keyword(folded: str, amount: int) -> Keyword | None:
    """Give the longest words of a folded description that tell its category."""
    return _BY_WORDS.find(folded, lambda keyword: keyword.sign * amount >= 0)


def find_card_payment(folded: str) -> Keyword | None:
    """Give the words that tell that a card's bill was paid, for money that came into the card's account."""
    return next((Keyword(words, CARD_PAYMENT, 1) for words in CARD_PAID if contains(folded, words)), None)


def is_refund_text(folded: str) -> bool:
    """Whether a folded description says that money comes back."""
    return any(contains(folded, words) for words in REFUNDS)


def find_category(text: str, names: Iterable[str] = ()) -> str:
    """Give the category or group that a person means (``names``: further ones); refuse an unknown one."""
    wanted = fold(text).strip()
    known = [*PARENTS, *TAXONOMY, *names]
    forms = {fold(name).strip(): name for name in known}
    if (
        found := forms.get(wanted)
        or SYNONYMS.get(wanted)
        or forms.get(f"{wanted}s")
        or forms.get(wanted[:-1])
    ):
        return found
    near = did_you_mean(text, known) or f"; known ones: {', '.join(sorted(TAXONOMY))} and what is below them"
    raise LedgerError(f"there is no category {text!r}{near}")
