"""Runs that begin while the agent talks: what is open is announced first, and nothing is lost or twice."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import pytest
from tests.frontends.agui.client_runs import check_equal, client_of, kinds, run
from tests.hubs import soon, until

from trunkline import events as ev
from trunkline.commands import Prompt
from trunkline.conformance.agui.reference_client import JsonObject, ReferenceClient
from trunkline.frontends.agui.endpoint import AguiEndpoint
from trunkline.session.context import TurnContext

NAME = {"name": {"type": "string"}}


class Talker:
    """An agent that asks, and goes on talking as it is told while its question is open."""

    def __init__(self) -> None:
        """Say nothing yet."""
        self._words: asyncio.Queue[Any] = asyncio.Queue()
        self._said = 0

    async def __call__(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[Any]:
        """Say what is in the queue; None waits for the answer, which ends the turn."""
        asking = asyncio.create_task(ctx.form("Who?", NAME))
        try:
            while (item := await self._words.get()) is not None:
                yield item
                self._said += 1
            await asking
            yield ev.Text(message_id="last", delta="Done.")
        finally:
            asking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asking

    async def say(self, *items: Any) -> None:
        """Have items said, and wait until they were."""
        wanted = self._said + len(items)
        for item in items:
            self._words.put_nowait(item)
        await until(lambda: self._said >= wanted)

    def finish(self) -> None:
        """Let the turn end once it has its answer."""
        self._words.put_nowait(None)


@contextlib.asynccontextmanager
async def asked(version: str | None = "1.0") -> AsyncGenerator[tuple[Talker, AguiEndpoint, ReferenceClient]]:
    """A thread whose first run has ended with a question."""
    talker = Talker()
    async with client_of(talker, version=version) as (endpoint, client):
        await run(endpoint, client, "go")
        assert client.interrupts
        yield talker, endpoint, client


async def go_on(
    endpoint: AguiEndpoint, client: ReferenceClient, talker: Talker, *rest: Any
) -> list[JsonObject]:
    """Answer; what is left is said once the run has begun."""

    async def say() -> None:
        await talker.say(*rest)
        talker.finish()

    return await run(endpoint, client, on={"RUN_STARTED": say}, resume=client.resume(every={"name": "Ada"}))


LATER = (
    ev.Text(message_id="m1", delta="One"),
    ev.Thought(message_id="m2", delta="hm"),
    ev.StepStarted(step_id="s1", name="look"),
    ev.SubagentStarted(lane="l1", name="helper"),
    ev.Text(message_id="m3", lane="l1", delta="below"),
    ev.ToolCall(call_id="c1", name="search", message_id="m4"),
    ev.ToolInput(call_id="c1", delta='{"q": '),
    ev.Text(message_id="m1", delta=" two"),
    ev.Thought(message_id="m2", delta=" well"),
    ev.ToolInput(call_id="c1", delta='"x"}'),
    ev.ToolUpdate(call_id="c1", status="failed", reason="no", input={"q": "x"}),
    ev.Text(message_id="m1", delta=" three"),
    ev.SubagentFinished(lane="l1", outcome="completed"),
    ev.StepFinished(step_id="s1"),
    ev.ToolUpdate(call_id="c1", result_message_id="r1"),
)


@pytest.mark.parametrize("version", ["1.0", None])
@pytest.mark.parametrize("place", range(len(LATER) + 1))
async def test_an_answer_that_comes_while_the_agent_talks_begins_a_run_that_is_whole(
    place: int, version: str | None
) -> None:
    async with asked(version) as (talker, endpoint, client):
        await talker.say(*LATER[:place])
        await go_on(endpoint, client, talker, *LATER[place:])

        assert client.terminal["outcome"] == {"type": "success"}
        await check_equal(endpoint, client)


async def test_the_text_of_a_message_between_two_runs_is_sent_before_it_goes_on() -> None:
    async with asked() as (talker, endpoint, client):
        await talker.say(*LATER[:1])
        events = await go_on(endpoint, client, talker, ev.Text(message_id="m1", delta=" two"))

        assert kinds(events)[:4] == [
            "RUN_STARTED", "MESSAGES_SNAPSHOT", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT"
        ]  # fmt: skip
        assert client.find("m1") == {"id": "m1", "role": "assistant", "content": "One two"}


@pytest.mark.parametrize("first", [0, 1, 7, len(LATER)])
async def test_two_pages_that_both_answer_while_the_agent_talks_are_both_shown_the_rest(first: int) -> None:
    async with asked() as (talker, endpoint, client):
        other = ReferenceClient(name="other-")
        other.messages, other.interrupts = [dict(one) for one in client.messages], client.interrupts
        await talker.say(*LATER[:first])

        async def answer_too() -> None:
            await talker.say(*LATER[first:])
            talker.finish()
            await run(endpoint, other, resume=other.resume(every={"name": "Bob"}))

        resume = client.resume(every={"name": "Ada"})
        await soon(run(endpoint, client, on={"RUN_STARTED": answer_too}, resume=resume))

        await check_equal(endpoint, client)
        await check_equal(endpoint, other)


async def test_a_page_whose_question_was_answered_elsewhere_is_asked_the_next_one() -> None:
    async def asking(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[Any]:
        yield f"{await ctx.form('Who?', NAME)} "
        yield f"{await ctx.form('And who else?', NAME)}"

    async with client_of(asking) as (endpoint, client):
        other = ReferenceClient(name="other-")
        await run(endpoint, client, "go")
        other.messages, other.interrupts = [dict(one) for one in client.messages], client.interrupts
        await run(endpoint, client, resume=client.resume(every={"name": "Ada"}))
        await run(endpoint, other, resume=other.resume(every={"name": "Bob"}))

        assert [one["message"] for one in other.interrupts] == ["And who else?"]
        await check_equal(endpoint, other)
