"""Functions as agents: every kind of function, what it takes, what it may say, and how it is stopped."""

import asyncio
import contextvars
import functools
import sqlite3
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, Self

import pytest

import trunkline
from tests.hubs import collect, forever, hub_for, make, only, run_turn, session_for, soon, text_of, until
from trunkline import events as ev
from trunkline.agents.function import FunctionAgent, agent
from trunkline.agents.interface import Agent, PromptCapabilities
from trunkline.commands import Answer, Prompt
from trunkline.content import LinkBlock, TextBlock
from trunkline.errors import NotAnAgent, TurnCancelled
from trunkline.session.context import TurnContext
from trunkline.session.session import Session


async def run(function: Agent | Callable[..., Any], prompt: str = "hi") -> list[ev.Event]:
    """Give all events of one turn."""
    return await run_turn(function, prompt)


# -- kinds of functions ------------------------------------------------------------------------------


async def stream(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
    yield prompt.text
    yield "!"


async def answer(prompt: Prompt) -> str:
    return f"{prompt.text}!"


def plain(prompt: Prompt) -> str:
    return f"{prompt.text}!"


def pieces(prompt: Prompt) -> Iterator[str]:
    yield prompt.text
    yield "!"


def later(prompt: Prompt) -> Awaitable[str]:
    return answer(prompt)


def later_stream(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
    return stream(prompt, ctx)


async def late_stream(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
    return stream(prompt, ctx)


class Speaker:
    """Speaks."""

    def plain(self, prompt: Prompt) -> str:
        return f"{prompt.text}!"

    async def stream(self, prompt: Prompt) -> AsyncIterator[str]:
        yield f"{prompt.text}!"

    async def __call__(self, prompt: Prompt, ctx: TurnContext) -> str:
        return f"{prompt.text}!"


class Streamer:
    async def __call__(self, prompt: Prompt) -> AsyncIterator[str]:
        yield f"{prompt.text}!"


class Blocking:
    def __call__(self, prompt: Prompt) -> str:
        return f"{prompt.text}!"


def ending(prompt: Prompt, end: str) -> str:
    return prompt.text + end


KINDS: dict[str, Callable[..., Any]] = {
    "async generator": stream,
    "coroutine": answer,
    "plain function": plain,
    "generator": pieces,
    "function giving an awaitable": later,
    "function giving an async generator": later_stream,
    "coroutine giving an async generator": late_stream,
    "coroutine callable": Speaker(),
    "async generator callable": Streamer(),
    "plain callable": Blocking(),
    "bound method": Speaker().plain,
    "bound async generator": Speaker().stream,
    "partial": functools.partial(ending, end="!"),
    "partial of an async generator": functools.partial(stream),
}


@pytest.mark.parametrize("function", KINDS.values(), ids=KINDS)
async def test_every_kind_of_function_can_answer(function: Callable[..., Any]) -> None:
    events = await run(make(function))
    assert text_of(events) == "hi!"
    assert isinstance(events[-1], ev.TurnFinished)


async def test_a_function_that_returns_nothing_emits_no_text() -> None:
    def silent() -> None:
        return None

    events = await run(silent)
    assert [type(event) for event in events] == [ev.TurnStarted, ev.UserMessage, ev.TurnFinished]


# -- what a function takes ---------------------------------------------------------------------------


def show(*things: Any) -> str:
    return " ".join(type(thing).__name__ for thing in things)


@pytest.mark.parametrize(
    ("source", "given"),
    [
        ("lambda: show()", ""),
        ("lambda prompt: show(prompt)", "Prompt"),
        ("lambda ctx: show(ctx)", "TurnContext"),
        ("lambda prompt, ctx: show(prompt, ctx)", "Prompt TurnContext"),
        ("lambda ctx, prompt: show(ctx, prompt)", "TurnContext Prompt"),
        ("lambda message, context: show(message, context)", "Prompt TurnContext"),
        ("lambda message, ctx: show(message, ctx)", "Prompt TurnContext"),
        ("lambda message, context, /: show(message, context)", "Prompt TurnContext"),
        ("lambda *, ctx, prompt: show(ctx, prompt)", "TurnContext Prompt"),
        ("lambda prompt, heat=0.5: show(prompt, heat)", "Prompt float"),
        ("lambda prompt, heat=0.5, ctx=None: show(prompt, heat, ctx)", "Prompt float TurnContext"),
        ("lambda number=7: show(number)", "int"),
        ("lambda *args, **kwargs: show(*args, *kwargs.values())", "Prompt TurnContext"),
        ("lambda prompt, *args: show(prompt, *args)", "Prompt"),
    ],
)
async def test_a_function_gets_what_it_names_and_keeps_its_defaults(source: str, given: str) -> None:
    assert text_of(await run(eval(source))) == given


def three(prompt: Any, ctx: Any, more: Any) -> None: ...
def needs_keyword(prompt: Any, *, model: Any) -> None: ...


@pytest.mark.parametrize("function", [three, needs_keyword])
def test_a_function_that_wants_something_else_is_refused_with_its_signature(
    function: Callable[..., Any],
) -> None:
    with pytest.raises(NotAnAgent, match=rf"{function.__name__} must take \(prompt, ctx\).*signature is \("):
        agent(function)


class Unreadable:
    __signature__ = "none"

    def __call__(self) -> None: ...


def test_a_callable_whose_signature_is_unknown_is_refused() -> None:
    with pytest.raises(NotAnAgent, match="signature is unknown"):
        agent(Unreadable())


# -- what may be said --------------------------------------------------------------------------------


def link(name: str) -> LinkBlock:
    return LinkBlock(uri=f"https://example.org/{name}", name=name)


async def yields_all(ctx: TurnContext) -> AsyncIterator[Any]:
    yield "text "
    yield TextBlock(text="block ")
    yield ev.Text(message_id=ctx.message_id, delta="event ")
    yield ev.Text(turn_id=ctx.turn_id, message_id="mine", delta="own message")
    yield ev.Thought(message_id=ctx.message_id, delta="hm")
    yield link("a")


def returns_list(ctx: TurnContext) -> list[Any]:
    return [
        "text ",
        TextBlock(text="block "),
        ev.Text(message_id=ctx.message_id, delta="event "),
        ev.Text(turn_id=ctx.turn_id, message_id="mine", delta="own message"),
        ev.Thought(message_id=ctx.message_id, delta="hm"),
        link("a"),
    ]


async def returns_tuple(ctx: TurnContext) -> tuple[Any, ...]:
    return tuple(returns_list(ctx))


@pytest.mark.parametrize("function", [yields_all, returns_list, returns_tuple])
async def test_text_events_and_blocks_may_be_yielded(function: Callable[..., Any]) -> None:
    events = await run(function)
    turn_id = events[0].turn_id
    assert {event.turn_id for event in events} == {turn_id}
    assert text_of(events) == "text block event own message"
    texts = only(events, ev.Text)
    assert [text.message_id for text in texts] == [f"{turn_id}.1"] * 3 + ["mine"]
    assert [media.content for media in only(events, ev.Media)] == [link("a")]
    assert [thought.delta for thought in only(events, ev.Thought)] == ["hm"]


@pytest.mark.parametrize("result", ["one", TextBlock(text="one"), ev.Text(message_id="m", delta="one")])
async def test_one_thing_may_be_returned(result: Any) -> None:
    assert text_of(await run(lambda: result)) == "one"


@pytest.mark.parametrize("wrong", [42, {"text": "hi"}, b"bytes", None], ids=repr)
async def test_an_illegal_thing_yielded_fails_the_turn_as_the_agents_fault(wrong: Any) -> None:
    closed: list[str] = []

    async def bad() -> AsyncIterator[Any]:
        try:
            yield "so far "
            yield wrong
        finally:
            closed.append("closed")

    events = await run(make(bad, name="bad"))
    failed = events[-1]
    assert isinstance(failed, ev.TurnFailed)
    assert (failed.code, failed.fault) == ("agent_protocol", "agent")
    assert failed.message == (
        f"bad gave an object of type {type(wrong).__name__}: "
        "give text, an event (trunkline.events) or a content block (trunkline.content); "
        "a function that makes an agent takes one parameter, session"
    )
    assert text_of(events) == "so far "
    assert closed == ["closed"], "the generator is closed before the turn ends"


@pytest.mark.parametrize("wrong", [42, {"text": "hi"}, b"bytes", ["fine ", 42]], ids=repr)
async def test_an_illegal_thing_returned_fails_the_turn_too(wrong: Any) -> None:
    failed = (await run(lambda: wrong))[-1]
    assert isinstance(failed, ev.TurnFailed)
    kind = "int" if isinstance(wrong, list) else type(wrong).__name__
    assert f"gave an object of type {kind}: give text" in failed.message


# -- threads -----------------------------------------------------------------------------------------


async def test_plain_code_runs_in_one_thread_of_its_own_with_the_turns_context_variables() -> None:
    voice: contextvars.ContextVar[str] = contextvars.ContextVar("voice", default="none")
    seen: list[int] = []

    def talk() -> Iterator[str]:
        # A connection of sqlite3 refuses to be used by another thread.
        database = sqlite3.connect(":memory:")
        try:
            for row in range(3):
                seen.append(threading.get_ident())
                yield str(database.execute("select ?", (row,)).fetchone()[0])
            yield voice.get()
        finally:
            database.close()

    async with session_for(talk) as session:
        voice.set("loud")
        assert text_of(await collect(session, "hi")) == "012loud"
    assert len(set(seen)) == 1
    assert seen[0] != threading.get_ident()


async def test_a_thread_may_emit_ask_and_yield_in_order() -> None:
    def talk(prompt: Prompt, ctx: TurnContext) -> Iterator[str]:
        for number in range(5):
            ctx.emit(f"e{number} ")
            yield f"y{number} "
        with ctx.tool("search", kind="search") as call:
            call.output("found")
        if ctx.wait(ctx.permission("May I?", tool="write")):
            yield "allowed"

    async with session_for(talk) as session:

        async def allow(asked: ev.Asked) -> None:
            await session.answer(Answer(question_id=asked.question_id, option_id="allow_once"))

        events = await collect(session, "go", {ev.Asked: allow})
    assert text_of(events) == "e0 y0 e1 y1 e2 y2 e3 y3 e4 y4 allowed"
    assert [u.status for u in only(events, ev.ToolUpdate) if u.status] == [
        "in_progress",
        "completed",
        "in_progress",
        "completed",
    ]


async def start(session: Session, ready: threading.Event) -> None:
    """Send a prompt and wait until the agent's thread says that it is ready."""
    await session.prompt("go")
    await until(ready.is_set)


@pytest.mark.parametrize("kind", ["function", "generator"])
async def test_cancel_does_not_wait_for_a_thread_that_is_held_up(kind: str) -> None:
    ready, held, over = threading.Event(), threading.Event(), threading.Event()

    def hold(ctx: TurnContext) -> str:
        ready.set()
        held.wait(10)
        ctx.emit("too late")
        over.set()
        return "much too late"

    def generate(ctx: TurnContext) -> Iterator[str]:
        yield "working"
        try:
            yield hold(ctx)
        finally:
            over.set()

    async with session_for(hold if kind == "function" else generate) as session:
        await start(session, ready)
        async with asyncio.timeout(5):
            assert await session.cancel()
        assert not over.is_set()
        assert (await session.history()).turns[-1].stop_reason == "cancelled"
        held.set()
        await until(over.is_set)
        assert "late" not in str(await session.history())


async def test_a_generator_that_was_held_up_is_closed_once_it_comes_back() -> None:
    ready, held, closed = threading.Event(), threading.Event(), threading.Event()

    def generate() -> Iterator[str]:
        try:
            ready.set()
            held.wait(10)
            yield "late"
        finally:
            closed.set()

    async with session_for(generate) as session:
        await start(session, ready)
        await soon(session.cancel())
        assert not closed.is_set()
        held.set()
        await until(closed.is_set)


async def test_a_generator_between_two_pieces_is_closed_before_the_turn_ends() -> None:
    closed: list[str] = []

    def generate() -> Iterator[Any]:
        try:
            yield "one"
            yield 2
        finally:
            closed.append("closed")

    events = await run(generate)
    assert isinstance(events[-1], ev.TurnFailed)
    assert closed == ["closed"]


async def test_a_thread_that_waits_is_released_when_its_turn_is_cancelled() -> None:
    ready = threading.Event()
    raised: list[BaseException] = []

    def hold(ctx: TurnContext) -> None:
        ready.set()
        for _ in range(2):
            try:
                ctx.wait(forever())
            except TurnCancelled as error:
                raised.append(error)

    async with session_for(hold) as session:
        await start(session, ready)
        await soon(session.cancel())
        await until(lambda: len(raised) == 2)
    assert "the turn is over" in str(raised[0])


async def test_many_blocked_threads_do_not_block_others() -> None:
    held, count = threading.Event(), 40
    waiting = threading.Semaphore(0)

    def hold(prompt: Prompt) -> str:
        if prompt.text == "quick":
            return "done"
        waiting.release()
        held.wait(10)
        return "held"

    async with hub_for(hold) as hub:
        try:
            for _ in range(count):
                await (await hub.create()).prompt("hold")
            async with asyncio.timeout(10):
                for _ in range(count):
                    while not waiting.acquire(blocking=False):
                        await asyncio.sleep(0.001)
            assert text_of(await collect(await hub.create(), "quick")) == "done"
            assert await soon(asyncio.to_thread(lambda: "free"), 2) == "free"
        finally:
            held.set()


def stops() -> str:
    raise StopIteration("enough")


def leaves() -> str:
    raise SystemExit(3)


def breaks() -> str:
    raise KeyError("x")


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (stops, "RuntimeError: raised StopIteration('enough')"),
        (leaves, "SystemExit: 3"),
        (breaks, "KeyError: 'x'"),
    ],
)
async def test_an_error_in_the_thread_fails_the_turn(function: Callable[..., str], expected: str) -> None:
    failed = (await run(function))[-1]
    assert isinstance(failed, ev.TurnFailed)
    assert (failed.message, failed.fault) == (expected, "agent")


async def test_a_thread_that_outlives_the_loop_ends_quietly() -> None:
    ready, held, ended = threading.Event(), threading.Event(), threading.Event()

    def hold(ctx: TurnContext) -> str:
        ready.set()
        held.wait(10)
        try:
            ctx.wait(forever())
        finally:
            ended.set()
        return ""

    async def life() -> None:
        async with hub_for(hold) as hub:
            await start(await hub.create(), ready)

    await asyncio.to_thread(asyncio.run, life())
    alive = [thread for thread in threading.enumerate() if thread.name == "trunkline agent"]
    held.set()
    await until(ended.is_set)
    for thread in alive:
        await asyncio.to_thread(thread.join, 10)
        assert thread.daemon
        assert not thread.is_alive()


async def test_an_async_iterator_that_a_function_returns_is_closed_with_the_turn() -> None:
    closed: list[str] = []

    async def inner() -> AsyncIterator[Any]:
        try:
            yield "one"
            yield 2
        finally:
            closed.append("closed")

    def give() -> AsyncIterator[Any]:
        return inner()

    assert isinstance((await run(give))[-1], ev.TurnFailed)
    assert closed == ["closed"]


class Counter:
    """An async iterator without aclose."""

    def __init__(self) -> None:
        self.left = 2

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        if not self.left:
            raise StopAsyncIteration
        self.left -= 1
        return str(self.left)


async def test_an_async_iterator_needs_no_close() -> None:
    assert text_of(await run(lambda: Counter())) == "10"


# -- the decorator -----------------------------------------------------------------------------------


def test_the_bare_decorator_takes_name_and_description_from_the_function() -> None:
    @agent
    async def hello(prompt: Prompt) -> str:
        """Says hello.

        At length.
        """
        return "hello"

    assert isinstance(hello, Agent)
    assert hello.card.name == "hello"
    assert hello.card.description == "Says hello.\n\nAt length."
    assert (hello.card.title, hello.card.version) == (None, "0")


def test_the_decorator_with_arguments_fills_the_card() -> None:
    commands = (ev.CommandInfo(name="greet"),)

    @trunkline.agent(
        name="greeter",
        title="The Greeter",
        version="1.2",
        description="Greets.",
        commands=commands,
        prompt=PromptCapabilities(image=True),
    )
    def hello() -> str:
        """Another text."""
        return "hello"

    card = hello.card
    assert (card.name, card.title, card.version, card.description) == (
        "greeter",
        "The Greeter",
        "1.2",
        "Greets.",
    )
    assert card.commands == commands
    assert card.prompt.image


def test_empty_parentheses_are_the_bare_decorator() -> None:
    @agent()
    def hello() -> str:
        return "hello"

    assert (hello.card.name, hello.card.description) == ("hello", None)


def test_an_object_and_a_partial_have_the_name_and_text_of_what_they_wrap() -> None:
    assert agent(Speaker()).card.name == "Speaker"
    assert agent(Speaker()).card.description == "Speaks."
    partial = agent(functools.partial(functools.partial(ending, end="."), end="!"))
    assert (partial.card.name, partial.card.description) == ("ending", None)


async def test_a_decorated_function_can_be_called_directly() -> None:
    @agent
    def double(prompt: Prompt, times: int = 2) -> str:
        return prompt.text * times

    assert isinstance(double, FunctionAgent)
    assert double(Prompt.of("ab"), times=3) == "ababab"
    assert text_of(await run(double, "ab")) == "abab"


def test_a_field_the_card_does_not_have_is_refused() -> None:
    with pytest.raises(TypeError, match="colour"):
        agent(colour="red")(plain)


@pytest.mark.parametrize("wrong", ["hello", 42, Speaker])
def test_something_else_than_a_function_is_refused_with_the_right_form(wrong: Any) -> None:
    with pytest.raises(NotAnAgent, match=r"is not a function; write @agent or @agent\(name=...\)"):
        agent(wrong)


def _add(prompt: Any) -> Any:
    return "said " + prompt


def _shout(prompt: Any) -> Any:
    return prompt.upper()


@pytest.mark.parametrize("function", [_add, _shout])
async def test_who_takes_the_prompt_for_its_text_is_told(function: Any) -> None:
    failed = (await run(function))[-1]
    assert isinstance(failed, ev.TurnFailed)
    assert failed.message.endswith("; the text of a prompt is prompt.text")
