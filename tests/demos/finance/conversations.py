"""Conversations with the finance agent in a real session, and the list of questions in its documentation."""

import re
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from tests.hubs import collect, session_for

from trunkline import events as ev
from trunkline.agents.interface import Agent
from trunkline.commands import Answer, Prompt
from trunkline.demos.finance.agent import FinanceAgent
from trunkline.demos.finance.ledger.database import MEMORY
from trunkline.folding import fold
from trunkline.session.session import Session
from trunkline.testing import accept_all

TODAY = date(2026, 11, 18)
PAGE = Path(__file__).parent.parent.parent.parent / "docs/finance.md"


class Documented(NamedTuple):
    """A row of the list: a question, its other words, and the tools that answer it."""

    question: str
    others: list[str]
    tools: list[str]


def documented_questions() -> list[Documented]:
    """Read the list of the documentation."""
    rows: list[Documented] = []
    table = PAGE.read_text("utf-8").split("| ask | also understood | tools |\n")[1].split("\n\n")[0]
    for line in table.splitlines()[1:]:
        question, others, tools = (cell.strip() for cell in line.strip("|").split(" | "))
        rows.append(Documented(question, others.split("<br>"), re.findall(r"`(\w+)`", tools)))
    return rows


class Called(NamedTuple):
    """A call as a person sees it."""

    name: str
    input: Any
    status: str
    result: Any


class Answered(NamedTuple):
    """What a turn said and did."""

    text: str
    calls: list[Called]
    events: list[Any]

    @property
    def asked(self) -> list[Any]:
        """The questions to the person."""
        return [event.question for event in self.events if isinstance(event, ev.Asked)]


def agent(url: str = MEMORY) -> FinanceAgent:
    """The plain agent on a ledger of its own, always on the same day."""
    return FinanceAgent(url, lambda: TODAY)


@asynccontextmanager
async def talking(
    to: Agent | None = None, *, cwd: Path | None = None, **options: Any
) -> AsyncGenerator[Callable[..., Any]]:
    """A session; the function that it gives asks one question and gives the answer."""
    folder = None if cwd is None else str(cwd)
    async with session_for(to or agent(), cwd=folder, **options) as session:

        async def ask(text: str, answer: Callable[[ev.Asked], Answer | None] = accept_all) -> Answered:
            return await ask_in(session, text, answer)

        yield ask


async def ask_in(
    session: Session, text: Prompt | str, answer: Callable[[ev.Asked], Answer | None] = accept_all
) -> Answered:
    """Ask in a session, and answer its questions."""

    async def react(asked: ev.Asked) -> None:
        chosen = answer(asked)
        if chosen is not None:
            await session.answer(chosen)

    events = await collect(session, text, {ev.Asked: react}, within=30)
    folded = fold([event for event in events if not isinstance(event, ev.InfoChanged)])
    text = "".join(event.delta for event in events if isinstance(event, ev.Text))
    calls = [Called(call.name, call.input, call.status, call.raw_output) for call in folded.calls.values()]
    return Answered(text, calls, events)
