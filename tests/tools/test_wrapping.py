"""wrap_tool: the calls of any function, shown in the turn that they are made in."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from tests.hubs import collect, forever, only, run_turn, session_for, soon

from trunkline import events as ev
from trunkline.errors import ConfigurationError
from trunkline.session.context import TurnContext
from trunkline.tools import ToolContext, ToolDenied, ToolError, tool, wrap_tool


class Account:
    """An object that is no JSON."""

    def __str__(self) -> str:
        return "account 7"


def search(query: str, *words: str, account: Any = None, **more: Any) -> list[str]:
    """Search in a way that no schema describes."""
    return [query, *sorted(more)]


def fail(amount: int) -> None:
    """Fail."""
    raise ValueError(f"{amount} is too much")


class Seed:
    """A tool as the seed has them."""

    name = "sync_transactions"
    description = "Sync with the bank"

    def execute(self, **kwargs: Any) -> dict[str, Any]:
        """Sync."""
        return {"status": "ok", **kwargs}


async def play(work: Callable[[], Any]) -> tuple[list[ev.Event], Any]:
    """Await something in a turn; give the events and its result or error."""
    results: list[Any] = []

    async def agent() -> None:
        try:
            results.append(await work())
        except Exception as error:
            results.append(error)

    return await run_turn(agent), results[0]


def steps(events: list[ev.Event]) -> list[str]:
    """What became of the calls: each begins as pending."""
    shown: list[str] = []
    for event in events:
        if isinstance(event, ev.ToolCall):
            shown.append("pending")
        elif isinstance(event, ev.ToolUpdate) and event.status:
            shown.append(str(event.status))
    return shown


async def test_a_function_is_reported_from_pending_to_completed_with_the_id_of_the_call() -> None:
    wrapped = wrap_tool(search, kind="search", title="Search {query}", call_id="call_7")
    events, result = await play(lambda: wrapped("coffee", account=Account(), page=2))
    assert result == ["coffee", "page"]
    (call,) = only(events, ev.ToolCall)
    assert (call.call_id, call.name, call.kind, call.title) == ("call_7", "search", "search", "Search coffee")
    assert only(events, ev.ToolUpdate)[0].input == {"query": "coffee", "account": "account 7", "page": 2}
    assert steps(events) == ["pending", "in_progress", "completed"]


async def test_what_it_raises_is_raised_again_or_returned_as_the_error_of_the_seed() -> None:
    events, raised = await play(lambda: wrap_tool(fail)(5))
    assert isinstance(raised, ValueError)
    assert steps(events) == ["pending", "in_progress", "failed"]
    assert only(events, ev.ToolUpdate)[-1].reason == "5 is too much"
    events, returned = await play(lambda: wrap_tool(fail, on_error="return")(5))
    assert returned == {"status": "error", "error": "5 is too much"}
    assert steps(events) == ["pending", "in_progress", "failed"]


async def test_an_object_of_the_seed_is_wrapped_and_each_call_has_its_own_id() -> None:
    ids = iter(["a", "b"])
    wrapped = wrap_tool(Seed(), kind="fetch", call_id=lambda: next(ids))

    async def twice() -> list[Any]:
        return [await wrapped(days=1), await wrapped()]

    events, results = await play(twice)
    assert results == [{"status": "ok", "days": 1}, {"status": "ok"}]
    assert [call.call_id for call in only(events, ev.ToolCall)] == ["a", "b"]


async def test_the_arguments_and_the_rule_of_a_tool_hold() -> None:
    @tool(permission="ask")
    async def pay(amount: int, *, ctx: ToolContext) -> str:
        """Pay."""
        return f"paid {amount} for {ctx.call_id}"

    with pytest.raises(ToolDenied, match="there is no session"):
        await wrap_tool(pay)(5)
    assert await wrap_tool(pay, on_no_session="allow", call_id="c")(5) == "paid 5 for c"
    assert await wrap_tool(pay, on_error="return")(amount="x") == {
        "status": "error",
        "error": "pay did not run: the argument 'amount': expected `int`, got `str`",
    }
    with pytest.raises(ToolError, match="takes 1 arguments by position, not 2"):
        await wrap_tool(pay)(5, 6)


async def test_plain_code_in_a_thread_calls_it_too() -> None:
    wrapped: Any = wrap_tool(search)

    def agent(ctx: TurnContext) -> str:
        return wrapped.sync("coffee")[0]

    assert steps(await run_turn(agent)) == ["pending", "in_progress", "completed"]
    assert await asyncio.to_thread(wrapped.sync, "tea") == ["tea"]
    with pytest.raises(RuntimeError, match="write `await search"):
        wrapped.sync("tea")


async def test_a_cancelled_turn_settles_the_call() -> None:
    began = asyncio.Event()

    async def wait() -> None:
        """Wait."""
        began.set()
        await forever()

    async def agent() -> None:
        await wrap_tool(wait, on_error="return")()

    async with session_for(agent) as session:
        running = asyncio.create_task(collect(session, "go"))
        await soon(began.wait())
        await session.cancel()
        events = await soon(running)
    assert steps(events) == ["pending", "in_progress", "cancelled"]
    assert [one.stop_reason for one in only(events, ev.TurnFinished)] == ["cancelled"]


async def test_a_function_with_a_context_gets_it_and_names_of_nowhere_do_no_harm() -> None:
    async def look(ctx: ToolContext) -> bool:
        """Look."""
        return ctx.session is not None

    async def odd(x: Any) -> Any:
        """Take something."""
        return x

    odd.__annotations__["x"] = "Nowhere"
    assert (await play(lambda: wrap_tool(look)()))[1] is True
    assert await wrap_tool(odd)(3) == 3


@pytest.mark.parametrize("options", [{"on_error": "hide"}, {"on_no_session": "run"}])
def test_unknown_words_are_refused(options: Any) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(options))):
        wrap_tool(search, **options)


async def test_what_a_function_takes_by_position_only_reaches_it() -> None:
    def many(first: int, *rest: int, scale: int = 1) -> list[int]:
        return [scale * one for one in (first, *rest)]

    def strict(a: int, b: int = 2, /, c: int = 3) -> tuple[int, int, int]:
        return a, b, c

    async def later(*words: str) -> str:
        return " ".join(words)

    assert await wrap_tool(many)(1, 2, 3, scale=2) == [2, 4, 6]
    assert await wrap_tool(many)(1) == [1]
    assert await wrap_tool(strict)(1, c=5) == (1, 2, 5)
    assert await wrap_tool(later)("a", "b") == "a b"
    assert await wrap_tool(len)([1, 2]) == 2
    with pytest.raises(ToolError, match="the signature of int is unknown"):
        await wrap_tool(int)("5")
