"""A call of a tool: plain code in a thread, async code, generators with progress; its rule."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Generator, Iterator
from typing import Any

import pytest
from tests.hubs import forever, soon

from trunkline.tools import Ask, Table, ToolContext, ToolDenied, ToolError, tool
from trunkline.tools.calls import asking_for, call_tool, sent_object
from trunkline.tools.tool_context import CallHost


class Host(CallHost):
    """Keeps what a call shows."""

    def __init__(self, **options: Any) -> None:
        super().__init__("c1", **options)
        self.said: list[str] = []

    def progress(self, text: str) -> None:
        self.said.append(text)


async def call(made: Any, host: CallHost | None = None, **arguments: Any) -> Any:
    """Call a tool."""
    return await soon(call_tool(made, arguments, host or Host()))


async def test_plain_code_runs_in_a_thread_of_its_own_and_async_code_here() -> None:
    @tool
    def plain() -> bool:
        """Plain."""
        return threading.current_thread() is threading.main_thread()

    @tool
    async def here() -> bool:
        """Here."""
        return threading.current_thread() is threading.main_thread()

    @tool
    def gives_a_coroutine() -> Any:
        """Give a coroutine."""
        return asyncio.sleep(0, "later")

    assert await call(plain) is False
    assert await call(here) is True
    assert await call(gives_a_coroutine) == "later"


@tool
async def counts(to: int, *, ctx: ToolContext) -> AsyncIterator[Any]:
    """Count."""
    for number in range(to):
        yield f"{number} "
    if to > 1:
        yield Table(("to",), [(to,)])
    if to > 2:
        yield "more"


@tool
def counts_plainly(to: int) -> Iterator[Any]:
    """Count."""
    assert threading.current_thread() is not threading.main_thread()
    for number in range(to):
        yield f"{number} "
    if to > 1:
        yield Table(("to",), [(to,)])
    if to > 2:
        yield "more"


@pytest.mark.parametrize("made", [counts, counts_plainly])
async def test_a_generator_yields_progress_and_its_result_last(made: Any) -> None:
    host = Host()
    assert await call(made, host, to=2) == Table(("to",), [(2,)])
    assert host.said == ["0 ", "1 "]
    assert await call(made, to=1) == "0 "
    with pytest.raises(ToolError, match="yielded something after its result"):
        await call(made, to=3)


async def test_a_cancelled_call_closes_its_generator() -> None:
    began, closed = asyncio.Event(), asyncio.Event()

    @tool
    async def endless() -> AsyncIterator[str]:
        """Go on and on."""
        try:
            began.set()
            yield "begin"
            await forever()
        finally:
            closed.set()

    work = asyncio.create_task(call(endless))
    await soon(began.wait())
    work.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await work
    await soon(closed.wait())


async def test_a_rule_is_a_function_of_the_checked_arguments() -> None:
    seen: list[Any] = []

    async def rule(arguments: dict[str, Any], ctx: ToolContext) -> Any:
        seen.append((arguments, ctx.call_id, ctx.arguments))
        return {"small": "allow", "big": "ask", "huge": "deny"}.get(arguments["size"], "perhaps")

    @tool(permission=rule)
    def grow(size: str, by: int = 2) -> str:
        """Grow."""
        return size

    assert await call(grow, size="small") == "small"
    assert seen == [({"size": "small", "by": 2}, "c1", {"size": "small"})]
    with pytest.raises(ToolDenied, match="there is no session in which somebody could be asked"):
        await call(grow, size="big")
    assert await call(grow, Host(may_run=True), size="big") == "big"
    with pytest.raises(ToolDenied, match="its own rule denies this call"):
        await call(grow, Host(may_run=True), size="huge")
    with pytest.raises(ToolError, match="its permission rule gave 'perhaps'"):
        await call(grow, size="other")


def test_a_rule_may_word_its_question() -> None:
    @tool(title="Grow {size}")
    def grow(size: str) -> str:
        """Grow."""
        return size

    assert asking_for(grow, "ask", {"size": "x"}).message == "Grow x?"
    asking = asking_for(grow, Ask(message="Really?", content="look"), {"size": "x"})
    assert (asking.message, asking.content, asking.asks) == ("Really?", "look", True)
    assert not asking_for(grow, "allow", {}).asks


@pytest.mark.parametrize(
    ("sent", "object_"), [('{"a": 1}', {"a": 1}), ("{", {}), ("[1]", {}), (None, {}), ({"a": 2}, {"a": 2})]
)
def test_the_arguments_are_shown_as_an_object_whatever_was_sent(sent: Any, object_: Any) -> None:
    assert sent_object(sent) == object_


async def test_what_a_generator_returns_is_its_result() -> None:
    @tool
    def work() -> Generator[str, None, dict[str, int]]:
        """Work."""
        yield "step"
        return {"done": 1}

    host = Host()
    assert await call(work, host) == {"done": 1}
    assert host.said == ["step"]
