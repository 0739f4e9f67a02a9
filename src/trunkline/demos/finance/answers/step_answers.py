"""The answer to a step, from the result of its tool."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, cast

from trunkline.demos.finance.answers import changes, figures, findings
from trunkline.demos.finance.answers.phrases import Document
from trunkline.demos.finance.questions.intent import Intent

__all__ = ["answer"]

_Writer = Callable[[Intent, Document, date], str]

_WRITERS: dict[str, _Writer] = {
    "spend": figures.spending,
    "breakdown": figures.breakdown,
    "top": figures.breakdown,
    "count": figures.counted,
    "average": figures.average,
    "share": figures.share,
    "compare": figures.comparison,
    "income": figures.income,
    "savings": figures.savings,
    "list": figures.listing,
    "uncategorized": figures.listing,
    "chart": figures.chart,
    "unusual": findings.unusual,
    "double_charges": findings.unusual,
    "subscriptions": findings.subscriptions,
    "price_rises": findings.price_rises,
    "due": findings.due,
    "budget": findings.budgets,
    "accounts": findings.accounts,
    "why_category": changes.why_category,
    "report": changes.report,
    "import": changes.imported,
    "undo_import": changes.undone,
    "undo_edit": changes.edit_undone,
    "set_budget": changes.budgeted,
    "sync": changes.synced,
    "recategorize": changes.recategorized,
    "tag": changes.tagged,
    "categorize": changes.categorized,
    "sql": changes.query,
    "run_shown_sql": changes.query,
}


def answer(step: Intent, tool: str, result: Any, today: date) -> str:
    """Write the answer; a result that is a sentence is a failure or a refusal, and says so itself."""
    if not isinstance(result, Mapping):
        text = str(result).strip() or "it gave nothing"
        if text == f"{tool} did not run: the user refused it":
            return "You said no, so nothing was done."
        if text.startswith(f"{tool} did not run: "):
            # A person's own reason, a policy's, or arguments that do not fit.
            return f"Nothing was done: {text.partition(': ')[2].rstrip('.')}."
        return text if text.startswith(tool) else f"That did not work: {text}"
    document = cast("Document", result)
    if "error" in document:
        return f"That did not work: {document['error']}"
    return _WRITERS[step.what](step, document, today)
