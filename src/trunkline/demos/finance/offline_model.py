"""The offline model: plans tool calls and writes answers by rules, always the same for the same conversation.

It is not a language model. It is given what a model is given (the conversation with the results of its calls,
and the names of the tools) and gives back what a model gives: text, or calls of tools. The plain agent, the
model of the OpenAI Agents SDK and the chat model of LangChain are three ways to call the same function.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from datetime import date
from typing import Any, Literal

import msgspec

from trunkline.demos.finance.answers.about import explain, greet, help_text
from trunkline.demos.finance.answers.figures import TOP
from trunkline.demos.finance.answers.step_answers import answer
from trunkline.demos.finance.commands import question_of
from trunkline.demos.finance.ledger.analysis.spending import IN_TIME
from trunkline.demos.finance.questions.intent import Intent, Reading
from trunkline.demos.finance.questions.names import Vocabulary
from trunkline.demos.finance.questions.periods import BEGINNING, Period, describe_period
from trunkline.demos.finance.questions.reading import read_question

__all__ = ["Called", "Item", "PlannedCall", "Reply", "Returned", "Said", "plan_reply", "split_words"]

PLAN_TOOL = "update_plan"
_LONGEST_QUESTION = 2000
"""Characters: each word is compared with each name of the ledger, so reading takes as long as the text is."""
_REMEMBERED = 30
_SPEECHLESS = frozenset({"show_sql", "run_shown_sql", "help", "instructions", "greeting", "thanks"})


class Said(msgspec.Struct, frozen=True):
    """Words of the person or of the model."""

    role: Literal["user", "assistant"]
    text: str


class Called(msgspec.Struct, frozen=True):
    """A call that the model made."""

    call_id: str
    name: str
    arguments: dict[str, Any]


class Returned(msgspec.Struct, frozen=True):
    """What a call gave back, as the model reads it."""

    call_id: str
    text: str


Item = Said | Called | Returned


class PlannedCall(msgspec.Struct, frozen=True):
    """A call that the model wants made."""

    name: str
    arguments: dict[str, Any]


class Reply(msgspec.Struct, frozen=True):
    """What the model says and wants next; without calls it has answered."""

    text: str = ""
    calls: tuple[PlannedCall, ...] = ()


def plan_reply(items: Sequence[Item], tools: Collection[str], vocabulary: Vocabulary, today: date) -> Reply:
    """Give the next reply in a conversation that ends with the person's words or with results."""
    at = max(
        (at for at, item in enumerate(items) if isinstance(item, Said) and item.role == "user"), default=-1
    )
    if at < 0:
        return Reply(greet())
    question = items[at]
    assert isinstance(question, Said)
    if (length := len(question_of(question.text))) > _LONGEST_QUESTION:
        most = f"{_LONGEST_QUESTION:,}"
        return Reply(
            f"That has {length:,} characters. I read questions of at most {most}: please ask a shorter one."
        )
    earlier = _earlier_steps(items[:at], vocabulary, today)
    reading = read_question(question_of(question.text), vocabulary, today, earlier)
    if not reading.steps:
        return Reply(explain(question.text, reading, vocabulary))
    return _Work(items, at, reading, tools, vocabulary, today).reply()


def split_words(text: str) -> list[str]:
    """Cut a text into words with the space before them: how an answer is streamed."""
    words: list[str] = []
    begin = 0
    for at in range(1, len(text)):
        if text[at].isspace() and not text[at - 1].isspace():
            words.append(text[begin:at])
            begin = at
    return [*words, text[begin:]] if text else []


def _earlier_steps(items: Sequence[Item], vocabulary: Vocabulary, today: date) -> list[Intent]:
    """What was asked before, the latest first."""
    asked = [item.text for item in items if isinstance(item, Said) and item.role == "user"][-_REMEMBERED:]
    steps: list[Intent] = []
    for text in asked:
        if len(question_of(text)) > _LONGEST_QUESTION:
            continue
        reading = read_question(question_of(text), vocabulary, today, steps)
        for step in reading.steps:
            if step.what not in _SPEECHLESS:
                steps.insert(0, step)
    return steps


class _Work:
    """The calls that a question needs, and how far they are."""

    def __init__(
        self,
        items: Sequence[Item],
        at: int,
        reading: Reading,
        tools: Collection[str],
        vocabulary: Vocabulary,
        today: date,
    ) -> None:
        self.tools = tools
        self.today = today
        self.before = items[:at]
        results = {item.call_id: item.text for item in items if isinstance(item, Returned)}
        made = [item for item in items[at + 1 :] if isinstance(item, Called)]
        self.results = [results.get(call.call_id, "") for call in made]
        self.steps = reading.steps

    def reply(self) -> Reply:
        """Say what the last result says, and make the next call."""
        work = [(one, self._call(one)) for one in self.steps]
        # A step that needs no tool is answered at once; a plan is shown where several need one.
        kinds = {step.what for step, call in work if isinstance(call, PlannedCall)}
        is_planned = len(kinds) > 1 and PLAN_TOOL in self.tools
        texts: list[str] = []
        done = failed = 0
        for number, (step, call) in enumerate(work):
            if is_planned:
                if done >= len(self.results):
                    return Reply(_paragraphs(texts), (self._plan(number),))
                done += 1
                texts = []
            if isinstance(call, str):
                texts.append(call)
                continue
            if done >= len(self.results):
                return Reply(_paragraphs(texts), (call,))
            # What stands before a call was said with it.
            result = read_result(self.results[done])
            texts = [answer(step, call.name, result, self.today)]
            failed += isinstance(result, str)
            done += 1
        if is_planned:
            if done >= len(self.results):
                return Reply(_paragraphs(texts), (self._plan(len(work)),))
            return Reply(f"{failed} of {len(work)} steps did not work." if failed else "All steps are done.")
        return Reply(_paragraphs(texts))

    def _plan(self, number: int) -> PlannedCall:
        """The plan with this many steps done."""
        entries = [
            {
                "step": describe_step(step, self.today),
                "status": "completed" if at < number else "in_progress" if at == number else "pending",
            }
            for at, step in enumerate(self.steps)
        ]
        return PlannedCall(PLAN_TOOL, {"steps": entries})

    def _call(self, step: Intent) -> PlannedCall | str:
        """The call that answers a step, or its answer if it needs none."""
        if step.what == "help":
            return help_text(self.tools)
        if step.what == "instructions":
            from trunkline.demos.finance.instructions import INSTRUCTIONS

            return INSTRUCTIONS
        if step.what == "greeting":
            return greet()
        if step.what == "thanks":
            return "You are welcome."
        if step.what in ("show_sql", "run_shown_sql"):
            return self._sql(step)
        if step.what == "import" and step.file is None:
            return "Name the file, as in: import statement.csv. CSV, OFX, QFX and MT940 files are read."
        name, arguments = plan_call(step)
        if name not in self.tools:
            return _MISSING.get(name, f"The tool {name} is not available here.")
        return PlannedCall(name, arguments)

    def _sql(self, step: Intent) -> PlannedCall | str:
        shown = [one for item in self.before if isinstance(item, Returned) if (one := _sql_in(item.text))]
        if not shown:
            return "There is no figure yet whose SQL I could show. Ask a question first."
        if step.what == "run_shown_sql" and "run_sql" in self.tools:
            return PlannedCall("run_sql", {"query": shown[-1]})
        return f'The last figures come from:\n\n```sql\n{shown[-1]}\n```\n\nSay "run it" to run it.'


_MISSING = {
    "sync_transactions": "No bank is linked here, so there is nothing to sync. Import a file instead, as in: "
    "import statement.csv."
}


def _paragraphs(texts: Sequence[str]) -> str:
    return "\n\n".join(text for text in texts if text)


def read_result(text: str) -> Any:
    """Read what a tool gave back: JSON, or a sentence (an error, a refusal)."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _sql_in(text: str) -> str | None:
    result = read_result(text)
    sql: Any = result.get("sql") if isinstance(result, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return sql if isinstance(sql, str) else None


# -- from a step to a call --

_TOOLS: dict[str, str] = {
    "spend": "spending",
    "breakdown": "spending",
    "top": "spending",
    "count": "spending",
    "average": "spending",
    "share": "spending",
    "list": "list_transactions",
    "uncategorized": "list_transactions",
    "compare": "compare_spending",
    "income": "income_and_savings",
    "savings": "income_and_savings",
    "unusual": "unusual_charges",
    "double_charges": "unusual_charges",
    "subscriptions": "subscriptions",
    "price_rises": "subscriptions",
    "due": "subscriptions",
    "budget": "budgets",
    "accounts": "list_accounts",
    "why_category": "explain_category",
    "chart": "chart_spending",
    "report": "write_report",
    "import": "import_statement",
    "undo_import": "undo_import",
    "undo_edit": "undo_edit",
    "set_budget": "set_budget",
    "sync": "sync_transactions",
    "recategorize": "recategorize_merchant",
    "tag": "tag_transactions",
    "categorize": "categorize",
    "sql": "run_sql",
}
_FILTERS = ("category", "merchant", "account", "tag", "currency")
_EXCLUDING = ("spending", "list_transactions", "compare_spending", "chart_spending")
"""Tools that can leave something out."""
_LISTED = 10


def plan_call(step: Intent) -> tuple[str, dict[str, Any]]:
    """Give the tool that answers a step, and its arguments."""
    name = _TOOLS[step.what]
    arguments: dict[str, Any] = {}
    if step.period is not None and name not in ("subscriptions", "budgets"):
        arguments |= _days(step.period)
    if name in ("spending", "list_transactions", "compare_spending", "chart_spending", "tag_transactions"):
        kept = {key: value for key in _FILTERS if (value := getattr(step, key)) is not None}
        arguments |= kept
    if step.excluding and name in _EXCLUDING:
        arguments["excluding"] = list(step.excluding)
    if step.what in ("breakdown", "top", "chart"):
        arguments["group_by"] = step.by or "category"
    if step.what == "average":
        arguments["group_by"] = "month"
    if step.what == "share":
        arguments["share"] = True
    if step.what == "top" and step.by not in IN_TIME:
        arguments["limit"] = step.count or TOP
    if name == "list_transactions":
        arguments |= {"order": step.order or "newest", "limit": step.count or _LISTED}
        if step.minimum is not None:
            arguments["minimum"] = step.minimum / 100
        if step.what == "uncategorized":
            arguments["category"] = "Uncategorized"
    if step.what == "compare" and step.against is not None:
        arguments |= {f"against_{key}": value for key, value in _days(step.against).items()}
    if step.what == "double_charges":
        arguments["only_double"] = True
    if step.what == "budget":
        arguments |= {} if step.category is None else {"category": step.category}
        arguments |= {} if step.period is None else {"month": step.period.start.isoformat()}
    if name in ("subscriptions", "unusual_charges"):
        kinds = ("category", "merchant", "account")
        arguments |= {kind: value for kind in kinds if (value := getattr(step, kind)) is not None}
    if step.what in ("why_category", "recategorize"):
        arguments["merchant"] = step.merchant or ""
    if step.what == "recategorize":
        arguments["category"] = step.category or ""
    if step.what == "set_budget":
        arguments["category"] = step.category or ""
        arguments |= {"remove": True} if step.amount is None else {"monthly": step.amount / 100}
        arguments |= {"currency": step.currency} if step.currency else {}
    if step.what == "tag":
        arguments["add"] = step.text or ""
    if step.what == "sql":
        arguments["query"] = step.text or ""
    if step.what == "import":
        arguments["path"] = step.file or ""
    return name, arguments


def _days(period: Period) -> dict[str, str]:
    start = {} if period.start <= BEGINNING else {"start": period.start.isoformat()}
    return {**start, "end": period.end.isoformat()}


def describe_step(step: Intent, today: date) -> str:
    """Say what a step does, for the plan."""
    period = f" for {describe_period(step.period, today)}" if step.period is not None else ""
    if step.what == "compare" and step.period is not None and step.against is not None:
        period = f" {describe_period(step.period, today)} with {describe_period(step.against, today)}"
    name = step.category or step.merchant
    about = f" of {name}" if name else ""
    return f"{_STEP_WORDS.get(step.what, step.what.replace('_', ' ').capitalize())}{about}{period}"


_STEP_WORDS: dict[str, str] = {
    "spend": "Add up the spending",
    "breakdown": "Break down the spending",
    "top": "Find the top merchants",
    "list": "List the transactions",
    "count": "Count the purchases",
    "average": "Work out the average spending",
    "share": "Work out the share",
    "compare": "Compare",
    "income": "Add up the income",
    "savings": "Work out what was saved",
    "unusual": "Look for unusual charges",
    "double_charges": "Look for double charges",
    "subscriptions": "Find the subscriptions",
    "price_rises": "Find subscriptions that got dearer",
    "due": "Find what is due",
    "budget": "Check the budgets",
    "accounts": "List the accounts",
    "chart": "Draw a chart",
    "report": "Write a report",
    "import": "Import the file",
    "tag": "Tag transactions",
    "categorize": "Categorize transactions",
    "recategorize": "Change the category",
    "set_budget": "Set the budget",
    "undo_edit": "Undo the last change",
    "sync": "Sync with the bank",
    "sql": "Run the query",
}
