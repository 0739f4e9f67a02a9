"""What the offline model says of itself, and of a question that it does not understand."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection

from trunkline.demos.finance.answers.phrases import join
from trunkline.demos.finance.questions.intent import Reading
from trunkline.demos.finance.questions.names import Vocabulary, near_names

__all__ = ["EXAMPLES", "NO_MODEL", "closest_question", "explain", "greet", "help_text"]

NO_MODEL = (
    "I am not a language model: I understand a fixed grammar of questions by rules. "
    "Nothing that you say or import leaves this machine."
)

_COMMON = frozenset(
    {
        "a",
        "am",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "did",
        "do",
        "does",
        "for",
        "have",
        "how",
        "i",
        "in",
        "is",
    }
    | {"it", "me", "much", "my", "of", "on", "please", "the", "there", "to", "was", "what", "which", "with"}
)
EXAMPLES: dict[str, tuple[str, ...]] = {
    "Spending": (
        "How much did I spend on groceries last month?",
        "What did I spend my money on in October?",
        "Who are my top 5 merchants this year?",
        "What were my biggest purchases last month?",
        "What do I spend on groceries per month on average?",
    ),
    "Comparing": (
        "Why was October higher than September?",
        "Compare Q3 with Q2",
        "Compare October with the same month last year",
    ),
    "Income and budgets": (
        "How much did I earn last month?",
        "What is my savings rate this year?",
        "Am I within my budget this month?",
    ),
    "Finding": (
        "Which subscriptions do I have?",
        "Which subscriptions got dearer?",
        "What is due in the next 30 days?",
        "Are there any unusual charges?",
        "Was I charged twice for anything?",
        "Show the transactions at Rewe in October",
        "Which accounts do I have?",
    ),
    "Changing (I ask first)": (
        "Put Rewe under Groceries",
        "Tag Lufthansa transactions this year as vacation",
        "Categorize my uncategorized transactions",
        "Import statement.csv",
        "Undo the last import",
        "Set a budget of 400 EUR for groceries",
        "Undo the last change",
    ),
    "Showing": (
        "Chart my spending by category last month",
        "Write a report for October",
        "Compare September and October, chart it and write a report",
        "Show the SQL",
    ),
}
"""Questions of the grammar, as the help shows them."""


def greet() -> str:
    """Say hello, and what can be asked."""
    return (
        f"Hello. I answer questions about your ledger. {NO_MODEL}\n\n"
        'Try "How much did I spend on groceries last month?", "Why was October higher than September?" or '
        '"Import statement.csv". "help" shows more.'
    )


def help_text(tools: Collection[str]) -> str:
    """Say what can be asked."""
    sections = [
        f"**{title}**\n" + "\n".join(f"- {question}" for question in questions)
        for title, questions in EXAMPLES.items()
    ]
    bank = "\n- Sync my bank" if "sync_transactions" in tools else ""
    follow_ups = (
        'A shorter question goes on with the one before: "and in September?", "why more?", "by merchant".'
    )
    return f"{NO_MODEL}\n\n" + "\n\n".join(sections) + f"{bank}\n\n{follow_ups}"


def explain(text: str, reading: Reading, vocabulary: Vocabulary) -> str:
    """Say what was not understood, what can be asked, and the question that is closest."""
    closest = f'The closest question that I know: "{closest_question(text)}"'
    if reading.problem is not None:
        return f"{reading.problem} {NO_MODEL}"
    if reading.unknown:
        sentences = [_say_unknown(name, vocabulary) for name in reading.unknown]
        return f"{' '.join(sentences)} I do not guess, so I counted nothing. {NO_MODEL}\n\n{closest}"
    return (
        f"I do not understand that question. {NO_MODEL}\n\n"
        "I can add up, compare, list and chart spending by category, merchant, account, tag and period; show "
        "income, savings, budgets, subscriptions and unusual charges; and change categories and tags, import "
        f'bank files and write reports. "help" shows examples.\n\n{closest}'
    )


def _say_unknown(name: str, vocabulary: Vocabulary) -> str:
    near = near_names(name, vocabulary)
    hint = f" Did you mean {join(near).replace(' and ', ' or ')}?" if near else ""
    return f'Your ledger has no category, merchant, account or tag called "{name}".{hint}'


def closest_question(text: str) -> str:
    """Give the documented question that has the most words in common with a text."""
    words = _telling_words(text)

    def likeness(question: str) -> tuple[float, float]:
        own = _telling_words(question)
        shared = len(words & own) / (len(words | own) or 1)
        return shared, difflib.SequenceMatcher(None, text.lower(), question.lower()).ratio()

    return max((one for group in EXAMPLES.values() for one in group), key=likeness)


def _telling_words(text: str) -> set[str]:
    return {word for word in re.findall(r"[a-z]+", text.lower()) if word not in _COMMON}
