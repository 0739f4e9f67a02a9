"""A page that comes back is where one that never left is."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
from tests.frontends.agui.client_runs import ScriptedAgent, answer_all, check_equal, client_of, run, talk
from tests.frontends.agui.test_endpoint import counts
from tests.hubs import WAIT, hub_for

from trunkline import events as ev
from trunkline.agents.interface import AgentCard
from trunkline.commands import Prompt
from trunkline.conformance.agui.event_verifier import breaches, plain
from trunkline.conformance.agui.reference_client import JsonObject, ReferenceClient
from trunkline.content import DiffBlock
from trunkline.frontends.agui.decoder import read_input
from trunkline.frontends.agui.endpoint import AguiEndpoint
from trunkline.frontends.agui.options import AguiOptions
from trunkline.journal.memory import MemoryJournal
from trunkline.session.context import TurnContext


async def connect(endpoint: AguiEndpoint, client: ReferenceClient, **fields: Any) -> list[JsonObject]:
    """Come back to a thread; gives everything that is told."""
    body = json.dumps(client.body(**fields)).encode()
    async with asyncio.timeout(WAIT):
        replay = await endpoint.open_replay(read_input(body))
        assert replay is not None
        output = plain([event async for _, batch in replay for event in batch])
        await replay.close()
    assert breaches(output) == []
    client.take(output)
    return output


async def test_there_is_nothing_to_come_back_to_in_an_unknown_thread() -> None:
    async with hub_for() as hub:
        body = json.dumps(ReferenceClient().body()).encode()

        assert await AguiEndpoint(hub).open_replay(read_input(body)) is None


@pytest.mark.parametrize("known", [True, False])
async def test_a_thread_at_rest_is_sent_whole(known: bool) -> None:
    async with client_of(ScriptedAgent()) as (endpoint, client):
        for prompt in ("/thoughts", "/parallel-tools", "/state"):
            await talk(endpoint, client, prompt)
        again = ReferenceClient(name="again")
        again.messages = [dict(message) for message in client.messages[3:]] if known else []
        events = await connect(endpoint, again)

        assert events[-1]["outcome"] == {"type": "success"}
        await check_equal(endpoint, again)


class Careful:
    """An agent whose permission survives a restart."""

    card = AgentCard(name="careful")

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        diff = DiffBlock(path="a.txt", old="old", new="hi")
        given = {"path": "a.txt", "text": "hi"}
        await ctx.permission("Write?", tool="write", kind="edit", input=given, content=diff, durable_key="k")
        yield ""

    async def resume(self, answers: Mapping[str, ev.Answered], ctx: TurnContext) -> AsyncIterator[str]:
        yield f"Resumed with {answers['k'].option_id}."


async def test_a_permission_of_a_dead_process_is_shown_again_with_the_whole_call(
    journal: MemoryJournal,
) -> None:
    async with hub_for(Careful(), journal=journal) as hub:
        client = ReferenceClient()
        await run(AguiEndpoint(hub), client, "go")
    async with hub_for(Careful(), journal=journal) as hub:
        endpoint = AguiEndpoint(hub)
        again = ReferenceClient(name="again")
        await connect(endpoint, again)
        (interrupt,) = again.interrupts
        calls = [call for message in again.messages for call in message.get("toolCalls", ())]
        assert [call["id"] for call in calls] == [interrupt["toolCallId"]]
        assert json.loads(calls[0]["function"]["arguments"]) == {"path": "a.txt", "text": "hi"}
        shown = {"type": "diff", "path": "a.txt", "old": "old", "new": "hi"}
        assert interrupt["metadata"]["trunkline"]["content"] == [shown]
        assert [one["name"] for one in interrupt["metadata"]["trunkline"]["options"]] == [
            "Allow once", "Always allow write", "Reject", "Always reject write",
        ]  # fmt: skip
        await run(endpoint, again, **answer_all(again))
        assert again.messages[-1]["content"] == "Resumed with allow_once."


async def test_a_turn_that_waits_is_shown_with_its_question_and_can_be_answered() -> None:
    async with client_of(ScriptedAgent()) as (endpoint, client):
        await run(endpoint, client, "/permission")
        again = ReferenceClient(name="again")
        await connect(endpoint, again)

        assert again.interrupts == client.interrupts
        await check_equal(endpoint, again)
        await run(endpoint, again, **answer_all(again))
        await check_equal(endpoint, again)


async def test_a_turn_that_runs_is_shown_from_its_last_start_to_its_end() -> None:
    async with client_of(ScriptedAgent(), AguiOptions(on_disconnect="continue")) as (endpoint, client):
        again = ReferenceClient(name="again")
        client.say("/wait-for-cancel")
        running = asyncio.create_task(run(endpoint, client))
        while not (session := (await endpoint.hub.list())) or not session[0].session_id:
            await asyncio.sleep(0)

        async def come_back() -> None:
            coming = asyncio.create_task(connect(endpoint, again))
            while not (await endpoint.hub.session("t1")).followers > 1:
                await asyncio.sleep(0.001)
            await endpoint.stop("t1")
            await coming

        async with asyncio.timeout(WAIT):
            await come_back()
            await running

        assert again.terminal["outcome"] == {"type": "cancelled"}
        await check_equal(endpoint, again)


@pytest.mark.parametrize("mode", ["initial", "all"])
async def test_state_that_grew_in_the_turn_is_sent_once(mode: Any) -> None:
    async with client_of(counts, AguiOptions(emit_state_snapshots=mode)) as (endpoint, client):
        await run(endpoint, client, "one ask two")
        again = ReferenceClient(name="again")
        await connect(endpoint, again)
        assert again.state == {"log": ["one"]}
        await run(endpoint, again, resume=again.resume(every={"x": "y"}))

        await check_equal(endpoint, again)
