"""What the variants of the finance agent must have in common: every documented question, and refusals."""

from pathlib import Path
from typing import Any

from tests.demos.finance.conversations import Answered, documented_questions

SCRIPT = [
    *(row.question for row in documented_questions() if "mport" not in row.question),
    "How much did I spend on groceries last month?",
    "why more than in September?",
    "show the SQL",
    "run it",
    "DELETE FROM transactions",
    "import nothing.csv",
    "What is the capital of France?",
    "/accounts",
]
"""Questions in one conversation."""


def same(answered: Answered, folder: Path) -> tuple[str, list[tuple[str, Any, str, Any]]]:
    """Give what must be the same: the text, and each call with its arguments, status and result.

    Each variant has a ``folder`` of its own, which an answer may name.
    """
    calls = [
        (call.name, call.input, call.status, call.result if call.status == "completed" else None)
        for call in answered.calls
    ]
    return answered.text.replace(str(folder), "FOLDER"), calls
