"""What the permission tests share: a tool that records its calls, and a user who answers."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from langchain_core.tools import BaseTool, tool

from tests.hubs import BRISK, WAIT, collect, hub_for, only, reopened, soon, until
from trunkline import adapt
from trunkline import events as ev
from trunkline.commands import Answer
from trunkline.conversation import Conversation
from trunkline.errors import Fenced
from trunkline.journal import Journal
from trunkline.questions import Permission
from trunkline.session.hub import Hub
from trunkline.workspace import Policy

Person = Callable[[ev.Asked], Answer]


class Trace:
    """Two tools, one async and one plain, and what they were called with."""

    def __init__(self) -> None:
        self.ran: list[str] = []

        @tool
        async def delete(path: str) -> str:
            """Delete a file."""
            self.ran.append(path)
            return f"deleted {path}"

        @tool
        def write(path: str, text: str = "") -> str:
            """Write a file."""
            self.ran.append(path)
            return f"wrote {path}"

        self.delete: BaseTool = delete
        self.write: BaseTool = write

    @property
    def tools(self) -> list[BaseTool]:
        """Both of them."""
        return [self.delete, self.write]


def chooses(option_id: str, **fields: Any) -> Person:
    """A person who always presses the same button."""
    return lambda asked: Answer(question_id=asked.question_id, option_id=option_id, by="ann", **fields)


def says(*people: Person) -> Person:
    """A person who answers the first question so, the second so, and nothing more."""
    turns: Iterator[Person] = iter(people)
    return lambda asked: next(turns)(asked)


async def ask(
    graph: Any, person: Person, *prompts: str, policy: Policy | None = None, principal: str = "local"
) -> list[Any]:
    """Run a graph in one session, a turn for each prompt, with a person at hand; give all events."""
    agent: Any = adapt(graph)
    output: list[Any] = []
    async with hub_for(agent, policy=policy) as hub:
        session = await hub.create(principal=principal)

        async def react(asked: ev.Asked) -> None:
            await session.answer(person(asked))

        for prompt in prompts or ("go",):
            output += await collect(session, prompt, {ev.Asked: react})
    return output


async def outlive(
    dead: Any, living: Any, journals: Callable[[], Awaitable[Journal]], person: Person, questions: int = 1
) -> tuple[list[Any], Conversation]:
    """Let a graph ask and its process die; answer to another. Give what that one said, and all in all."""
    theirs, ours = await journals(), await journals()
    session = await Hub(adapt(dead), theirs, settings=BRISK).create()
    asked: list[ev.Asked] = []
    async with session.follow() as reader:
        await session.prompt("go")
        while len(asked) < questions:
            asked += [e.event for e in await soon(reader.next()) if isinstance(e.event, ev.Asked)]
    await session.durable()
    agent: Any = adapt(living)
    output: list[Any] = []
    async with reopened(session.session_id, agent, journal=ours) as again:
        async with asyncio.timeout(WAIT):
            while not await again.own():
                await asyncio.sleep(0.01)
        async with again.follow() as reader:
            await again.answer(*(person(one) for one in asked))
            while not only(output, ev.TurnFinished):
                output += [entry.event for entry in await soon(reader.next())]
        shown = await again.history()
    session.fail(Fenced("the test ends"))
    await until(lambda: session.closed)
    for journal in {theirs, ours}:
        await journal.close()
    return output, shown


def permissions(events: list[Any]) -> list[Permission]:
    """The permissions that were asked for."""
    return [asked.question for asked in only(events, ev.Asked) if isinstance(asked.question, Permission)]
