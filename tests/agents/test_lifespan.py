"""What a factory opens for its agent is closed with the session, or with the process."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest

from tests.hubs import echo, hub_for, run_turn, text_of
from trunkline.agents.adapt import FactoryAgent, LifespanAgent, adapt
from trunkline.agents.function import agent
from trunkline.agents.lifespan import Lifespan, is_context, makes_context
from trunkline.errors import AgentError, NotAnAgent
from trunkline.session.context import SessionView


class Factories:
    """Factories of every shape, which note when they open and close, and in which task."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.tasks: list[object] = []

    def _note(self, word: str) -> None:
        self.calls.append(word)
        self.tasks.append(asyncio.current_task())

    async def yields(self, session: SessionView) -> AsyncIterator[Any]:
        self._note("open")
        yield echo
        self._note("close")

    def plain(self, session: SessionView) -> Generator[Any]:
        self._note("open")
        yield echo
        self._note("close")

    @asynccontextmanager
    async def decorated(self, session: SessionView) -> AsyncGenerator[Any]:
        self._note("open")
        yield agent(echo)
        self._note("close")

    @contextmanager
    def decorated_plain(self, session: SessionView) -> Generator[Any]:
        self._note("open")
        yield echo
        self._note("close")

    @asynccontextmanager
    async def once(self) -> AsyncGenerator[Any]:
        """Answers with an echo."""
        self._note("open")
        yield agent(title="The echo", description="Says it again.")(echo)
        self._note("close")


SHAPES = ["yields", "plain", "decorated", "decorated_plain"]


@pytest.mark.parametrize("shape", SHAPES)
async def test_a_factory_that_yields_is_closed_with_its_session_by_the_task_that_opened_it(
    shape: str,
) -> None:
    factories = Factories()
    adapted = adapt(getattr(factories, shape))
    assert isinstance(adapted, FactoryAgent)

    async with hub_for(adapted) as hub:
        sessions = [await hub.create(), await hub.create()]
        for session in sessions:
            assert text_of([e async for e in session.stream("hi")]).strip() == "hi"
        assert factories.calls == ["open", "open"]
        await sessions[0].close()
        await sessions[0].released.wait()

    assert factories.calls == ["open", "open", "close", "close"]
    first, second, *closed = factories.tasks
    assert closed == [first, second]


async def test_a_context_without_parameters_is_opened_once_in_the_process() -> None:
    factories = Factories()
    adapted = adapt(factories.once, name="shop")
    assert isinstance(adapted, LifespanAgent)

    for _ in range(2):  # A hub that was closed leaves an agent that can be used again.
        async with hub_for(adapted) as hub:
            for _ in range(2):
                session = await hub.create()
                assert text_of([e async for e in session.stream("hi")]).strip() == "hi"
            assert factories.calls == ["open"]
        assert factories.calls == ["open", "close"]
        factories.calls.clear()
    assert (adapted.card.name, adapted.card.title) == ("shop", "The echo")


async def test_what_was_made_for_a_moment_is_closed_at_once() -> None:
    factories = Factories()
    adapted = adapt(factories.yields)
    assert isinstance(adapted, FactoryAgent)
    view = SessionView(session_id="s", principal="local")

    assert await adapted.history(view) is None
    assert factories.calls == ["open", "close"]


async def test_a_factory_that_cannot_open_is_an_error_of_the_session_and_leaves_nothing() -> None:
    closed: list[str] = []

    async def breaks(session: SessionView) -> AsyncIterator[Any]:
        try:
            raise OSError("no such database")
            yield echo
        finally:
            closed.append("closed")

    with pytest.raises(AgentError, match=r"breaks could not make an agent .*: OSError: no such database"):
        await run_turn(adapt(breaks), "hi")
    assert closed == ["closed"]


@pytest.mark.parametrize("made", [None, 42])
async def test_what_was_opened_for_something_that_is_no_agent_is_closed(made: Any) -> None:
    closed: list[str] = []

    async def odd(session: SessionView) -> AsyncIterator[Any]:
        yield made
        closed.append("closed")

    @asynccontextmanager
    async def odd_once() -> AsyncGenerator[Any]:
        yield made
        closed.append("closed")

    for factory in (odd, odd_once):
        with pytest.raises(NotAnAgent):
            await run_turn(adapt(factory), "hi")
    assert closed == ["closed", "closed"]


async def test_a_factory_without_a_yield_is_told_so() -> None:
    async def empty(session: SessionView) -> AsyncIterator[Any]:
        for nothing in ():
            yield nothing

    with pytest.raises(AgentError, match="must yield its agent once"):
        await run_turn(adapt(empty), "hi")


def test_a_context_with_other_parameters_is_refused() -> None:
    @asynccontextmanager
    async def wrong(prompt: object, ctx: object) -> AsyncGenerator[Any]:
        yield echo

    with pytest.raises(NotAnAgent, match=r"wrong opens a context.*it takes \(prompt, ctx\)"):
        adapt(wrong)


async def test_a_cancelled_opening_cancels_the_context() -> None:
    ended = asyncio.Event()
    begun = asyncio.Event()

    @asynccontextmanager
    async def slow() -> AsyncGenerator[None]:
        try:
            begun.set()
            await asyncio.Event().wait()
            yield
        finally:
            ended.set()

    opening = asyncio.create_task(Lifespan(slow()).open())
    async with asyncio.timeout(10):
        await begun.wait()
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
    assert ended.is_set()


async def test_an_error_of_the_closing_is_raised() -> None:
    @asynccontextmanager
    async def breaks() -> AsyncGenerator[str]:
        yield "made"
        raise OSError("the disk is gone")

    lifespan = Lifespan(breaks())
    assert await lifespan.open() == "made"
    with pytest.raises(OSError, match="the disk is gone"):
        await lifespan.close()


def test_contexts_are_told_from_agents() -> None:
    factories = Factories()
    assert makes_context(factories.once)
    assert not makes_context(factories.yields)
    assert not makes_context(print)
    assert not is_context(echo)
    assert not is_context(None)


async def test_what_opens_in_the_moment_of_a_cancel_is_closed_again() -> None:
    go = asyncio.Event()
    begun = asyncio.Event()
    closed = asyncio.Event()

    @asynccontextmanager
    async def slow() -> AsyncGenerator[str]:
        begun.set()
        await go.wait()
        yield "made"
        closed.set()

    lifespan = Lifespan(slow())
    opening = asyncio.create_task(lifespan.open())
    async with asyncio.timeout(10):
        await begun.wait()
        go.set()
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        await lifespan.close()
    assert closed.is_set()


async def test_a_context_that_cancels_itself_is_an_error_and_cancels_nobody_else() -> None:
    @asynccontextmanager
    async def gives_up() -> AsyncGenerator[str]:
        raise asyncio.CancelledError
        yield

    with pytest.raises(AgentError, match="was cancelled before it was open"):
        await Lifespan(gives_up()).open()
