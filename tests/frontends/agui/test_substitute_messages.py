"""What a client is told in words: answers that were of no use, and a failure that must not lock it."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
from tests.frontends.agui.client_runs import ScriptedAgent, answer_all, check_equal, client_of, run, talk
from tests.hubs import BRISK, hub_for, until

from trunkline import events as ev
from trunkline.commands import Prompt
from trunkline.conformance.agui.reference_client import JsonObject, ReferenceClient
from trunkline.frontends.agui.endpoint import AguiEndpoint
from trunkline.frontends.agui.options import AguiOptions
from trunkline.journal.memory import MemoryJournal
from trunkline.session.context import TurnContext
from trunkline.session.hub import Hub


def words(client: ReferenceClient) -> str:
    """What the client was told last."""
    last = client.messages[-1]
    assert last["role"] == "assistant"
    return last["content"]


@pytest.mark.parametrize(("prompt", "what"), [("/permission", "answer"), ("/client-tool", "result")])
async def test_an_answer_after_the_run_was_stopped_gets_a_notice(prompt: str, what: str) -> None:
    async with client_of(ScriptedAgent()) as (endpoint, client):
        await run(endpoint, client, prompt)
        await endpoint.stop("t1")
        await run(endpoint, client, **answer_all(client))

        why = (
            f"Your {what} came too late and was not used: the turn was cancelled. "
            "Send your message again to go on."
        )
        assert words(client) == why
        assert client.terminal["result"] == {"stopReason": "too_late", "message": why}
        await check_equal(endpoint, client)
        await talk(endpoint, client, "still here?")
        assert words(client) == "still here?"


@pytest.mark.parametrize(("prompt", "what"), [("/permission", "answer"), ("/client-tool", "result")])
async def test_an_answer_after_a_restart_gets_a_notice(
    prompt: str, what: str, journal: MemoryJournal
) -> None:
    # A hub that is not entered renews no lease: it is like a process that was killed.
    dead = Hub(ScriptedAgent(), journal, settings=msgspec.structs.replace(BRISK, lease_ttl=0.05))
    client = ReferenceClient()
    await run(AguiEndpoint(dead), client, prompt)
    async with hub_for(ScriptedAgent(), journal=journal) as hub, asyncio.timeout(10):
        session = await hub.session("t1")
        while not await session.own():
            await hub.changed(0.01)
        await run(AguiEndpoint(hub), client, **answer_all(client))
    await dead.close()

    assert words(client).startswith(f"Your {what} came too late and was not used: the server was restarted")


@pytest.mark.parametrize(("prompt", "what"), [("/permission", "answer"), ("/client-tool", "result")])
async def test_an_answer_in_a_thread_that_was_lost_gets_a_notice(prompt: str, what: str) -> None:
    async with hub_for(ScriptedAgent()) as hub:
        client = ReferenceClient()
        await run(AguiEndpoint(hub), client, prompt)
    async with hub_for(ScriptedAgent()) as hub:
        await run(AguiEndpoint(hub), client, **answer_all(client))

    assert words(client).startswith(f"Your {what} was not used: this thread is not known here any more.")


async def test_an_answer_to_an_expired_question_gets_a_notice() -> None:
    async with hub_for(ScriptedAgent(), question_ttl=1.0) as hub:
        endpoint = AguiEndpoint(hub)
        client = ReferenceClient()
        await run(endpoint, client, "/permission")
        session = await hub.session("t1")
        await until(lambda: not session.busy)
        await run(endpoint, client, **answer_all(client))

        assert "no answer came in time" in words(client)


async def test_a_client_that_only_dismisses_gets_no_notice() -> None:
    async with client_of(ScriptedAgent()) as (endpoint, client):
        await run(endpoint, client, "/permission")
        await endpoint.stop("t1")
        events = await run(endpoint, client, resume=client.resume(every="cancelled"))

        assert not any(event["type"] == "TEXT_MESSAGE_START" for event in events)


# -- failures --------------------------------------------------------------------------------------


FAILED = ev.TurnFailed(code="agent_failed", message="no fuel")


async def failing(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[Any]:
    yield "I ask. "
    if await ctx.permission("May I?", tool="x"):
        yield FAILED


@pytest.mark.parametrize(
    ("level", "expected", "result"),
    [
        ("message", "The run failed: no fuel", {"message": "no fuel", "code": "AGENT_EXECUTION_ERROR"}),
        (
            "code",
            "The run failed: the run failed",
            {"message": "the run failed", "code": "AGENT_EXECUTION_ERROR"},
        ),
        ("none", "The run failed: the run failed", {"message": "the run failed"}),
    ],
)
async def test_a_run_that_fails_after_an_answer_is_finished_and_says_why(
    level: Any, expected: str, result: JsonObject
) -> None:
    async with client_of(failing, AguiOptions(error_detail_level=level)) as (endpoint, client):
        await run(endpoint, client, "go")
        events = await run(endpoint, client, **answer_all(client))

        assert words(client) == expected
        assert events[-1]["type"] == "RUN_FINISHED"
        assert events[-1]["result"] == {"stopReason": "failed", **result}


async def test_a_run_that_fails_without_an_answer_is_an_error() -> None:
    async def broken(prompt: Prompt) -> AsyncIterator[Any]:
        yield "Well, "
        yield FAILED

    async with hub_for(broken) as hub:
        client = ReferenceClient()
        events = await run(AguiEndpoint(hub), client, "go")

    assert (events[-1]["type"], events[-1]["message"]) == ("RUN_ERROR", "no fuel")
