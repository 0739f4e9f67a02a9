"""Agents that ask the user, and how a test answers them; run here, or in a process that is killed."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Literal

from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import MessagesState
from langgraph.types import interrupt
from pydantic import BaseModel, Field

from tests.agents.langchain.graphs import graph_of
from tests.agents.langchain.untyped_langchain import create_agent
from tests.hubs import BRISK, soon, until
from trunkline import events as ev
from trunkline.agents.langchain.agent import LangChainAgent
from trunkline.commands import Answer
from trunkline.conversation import Conversation
from trunkline.journal import open_journal
from trunkline.session.hub import Hub
from trunkline.session.session import Session
from trunkline.testing.chat import ScriptedChatModel, call

Mode = Literal["batched", "per_call"]


@tool
def delete(path: str) -> str:
    """Delete a file."""
    return f"deleted {path}"


@tool
def look(path: str) -> str:
    """Look at a file."""
    return f"looked at {path}"


def reviewed(
    mode: Mode, saver: Any, *, gate: Any = True, answers: Any = None
) -> tuple[Any, ScriptedChatModel]:
    """An agent that deletes two files and looks at one, and whose deletions are reviewed."""
    calls = [
        call("delete", {"path": "a"}, "d1"),
        call("look", {"path": "b"}, "l1"),
        call("delete", {"path": "a"}, "d2"),
    ]
    model = ScriptedChatModel(*(answers or (calls, "Done.")), each_turn=True)
    review = HumanInTheLoopMiddleware({"delete": gate}, interrupt_mode=mode)
    return create_agent(model, [delete, look], middleware=[review], checkpointer=saver), model


def delegating(mode: Mode, saver: Any) -> tuple[Any, ScriptedChatModel]:
    """An agent with two subagents at once, each of which deletes the same file under the same call id."""
    inner = ScriptedChatModel([call("delete", {"path": "a"}, "x1")], "Sub done.", each_turn=True)
    review = HumanInTheLoopMiddleware({"delete": True}, interrupt_mode=mode)
    worker = create_agent(inner, [delete], middleware=[review], name="worker")

    @tool
    async def task(what: str) -> str:
        """Let a subagent do it."""
        done = await worker.ainvoke({"messages": [("user", what)]})
        return f"{what}: {done['messages'][-2].content}"

    calls = [call("task", {"what": "one"}, "t1"), call("task", {"what": "two"}, "t2")]
    model = ScriptedChatModel(calls, "Done.", each_turn=True)
    return create_agent(model, [task], checkpointer=saver), model


class Trip(BaseModel):
    """Where to?"""

    city: str = Field(min_length=2)
    nights: int = 1


def asking(value: Any, saver: Any, schema: Any = None) -> tuple[Any, None]:
    """A graph without a model whose only node asks, and says what it was told."""

    async def node(state: MessagesState) -> dict[str, Any]:
        answer: Any = interrupt(value, response_schema=schema) if schema else interrupt(value)
        return {"messages": [AIMessage(f"You said {answer!r}.", id="said")]}

    return graph_of(node, checkpointer=saver), None


Scene = Callable[[Any], tuple[Any, Any]]
SCENES: dict[str, tuple[Scene, int]] = {
    "batched": (lambda saver: reviewed("batched", saver), 2),
    "per_call": (lambda saver: reviewed("per_call", saver), 2),
    "batched_subagents": (lambda saver: delegating("batched", saver), 2),
    "per_call_subagents": (lambda saver: delegating("per_call", saver), 2),
    "words": (lambda saver: asking("Which colour?", saver), 1),
    "options": (lambda saver: asking({"question": "Deploy?", "options": ["yes", "no"]}, saver), 1),
    "form": (lambda saver: asking("Where to?", saver, Trip), 1),
}
"""Each agent by name, with the number of questions it asks at once."""


# -- answering ---------------------------------------------------------------------------------------


async def stopped(session: Session, questions: int) -> list[ev.Asked]:
    """Wait until a session has asked everything it wants to know at once."""
    await until(lambda: len(session.open_questions) == questions and session.is_suspended)
    return list(session.open_questions.values())


async def finish(session: Session, answers: Mapping[str, dict[str, Any]]) -> list[ev.AnyEvent]:
    """Answer every open question by its call, or the only one, and give all events once the turn ended."""
    given: list[Answer] = []
    for asked in session.open_questions.values():
        about = getattr(asked.question, "call_id", None) or ""
        given.append(Answer(question_id=asked.question_id, **answers[about if about in answers else ""]))
    await soon(session.answer(*given))
    return await ended(session)


async def ended(session: Session) -> list[ev.AnyEvent]:
    """All events of a session whose turn has come to its end."""
    await until(lambda: not session.busy)
    return [entry.event async for entry in session.replay()]


def shown(folded: Conversation) -> dict[str, tuple[str, Any]]:
    """What became of each call."""
    return {call_id: (made.status, made.raw_output) for call_id, made in folded.calls.items()}


# -- a process that is killed ------------------------------------------------------------------------


@asynccontextmanager
async def staged(folder: Path, name: str) -> AsyncGenerator[tuple[Hub, Any, Any]]:
    """A hub for one scene on the files of a folder, as every process would open it."""
    async with AsyncExitStack() as stack:
        saver = await stack.enter_async_context(AsyncSqliteSaver.from_conn_string(str(folder / "threads.db")))
        journal = await open_journal(f"sqlite:{folder / 'journal.db'}")
        stack.push_async_callback(journal.close)
        graph, model = SCENES[name][0](saver)
        hub = await stack.enter_async_context(
            Hub(LangChainAgent(graph), journal, target=name, settings=BRISK)
        )
        yield hub, graph, model


async def play(folder: Path) -> None:
    """Let every scene come to its questions, say so, and wait to be killed."""
    async with AsyncExitStack() as stack:
        for name, (_, questions) in SCENES.items():
            hub, _, _ = await stack.enter_async_context(staged(folder, name))
            session = await hub.create(name)
            await session.prompt("Go on.")
            await stopped(session, questions)
            await session.durable()
        sys.stdout.write("asked\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(play(Path(sys.argv[1])))
