"""A client and an endpoint in one process: runs, and what both sides hold after them."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from itertools import groupby
from typing import Any

from tests.hubs import WAIT, echo, hub_for

from trunkline.conformance.agui.event_verifier import breaches, plain
from trunkline.conformance.agui.reference_client import JsonObject, ReferenceClient
from trunkline.demos.scenarios import SCENARIOS
from trunkline.frontends.agui.decoder import read_input
from trunkline.frontends.agui.endpoint import AguiEndpoint
from trunkline.frontends.agui.options import AguiOptions
from trunkline.protocols.agui.messages import snapshot_of
from trunkline.testing import ScriptedAgent

ARGUMENTS = {"long": " 25", "slow": " 3 0"}
NAMES = [name for name in SCENARIOS if name != "wait-for-cancel"]
EDITED = {"path": "other.txt", "content": "edited"}
_PIECE = {"delta": "", "timestamp": 0}
_RANDOM = re.compile(r"\b([a-z]+)_[0-9a-f]{24,}\b")
_MOMENT = re.compile(r'"(timestamp|expiresAt)": ("[^"]*"|\d+)')


def prompt_of(name: str) -> str:
    """The prompt that plays a scenario in little time."""
    return f"/{name}{ARGUMENTS.get(name, '')}"


@asynccontextmanager
async def client_of(
    agent: Any = echo, options: AguiOptions | None = None, version: str | None = "1.0", **fields: Any
) -> AsyncGenerator[tuple[AguiEndpoint, ReferenceClient]]:
    """A client of an agent, and the endpoint that serves it."""
    async with hub_for(agent, **fields) as hub:
        yield AguiEndpoint(hub, options), ReferenceClient(version=version)


def kinds(events: list[JsonObject]) -> list[str]:
    return [event["type"] for event in events]


def only(events: list[JsonObject], kind: str) -> list[JsonObject]:
    return [event for event in events if event["type"] == kind]


async def run(
    endpoint: AguiEndpoint,
    client: ReferenceClient,
    text: Any = None,
    *,
    on: Mapping[str, Callable[[], Awaitable[Any]]] | None = None,
    **fields: Any,
) -> list[JsonObject]:
    """Let a client run once, with a new message if one is given, and do something on events.

    Gives the events, which broke no rule.
    """
    if text is not None:
        client.say(text)
    output: list[JsonObject] = []
    async with asyncio.timeout(WAIT):
        opened = await endpoint.open(read_input(json.dumps(client.body(**fields)).encode()))
        async for _, batch in opened:
            events = plain(batch)
            output += events
            for event in events:
                if on is not None and event["type"] in on:
                    await on[event["type"]]()
        await opened.close()
    assert breaches(output) == []
    times = [event["timestamp"] for event in output]
    assert times == sorted(times)
    client.take(output)
    return output


async def held(endpoint: AguiEndpoint, thread_id: str, **options: Any) -> tuple[list[JsonObject], Any]:
    """What the agent's side holds of a thread: its messages and its state."""
    session = await endpoint.hub.session(thread_id)
    conversation = await session.history()
    limit = endpoint.options.max_ui_payload_size
    return plain(snapshot_of(conversation, limit, with_metadata=True, **options)), conversation.state


async def check_equal(endpoint: AguiEndpoint, client: ReferenceClient) -> None:
    """The client holds the messages and the state that the agent's side holds."""
    messages, state = await held(endpoint, client.thread_id, modern=client.version is not None)
    assert comparable(client.messages) == comparable(messages)
    assert client.state == ({} if state is None else state)


def answer_all(client: ReferenceClient) -> JsonObject:
    """Say yes to every interrupt, and run every tool of the front end; gives the fields of the next run."""
    for call_id in client.pending:
        client.messages.append(
            {"id": f"mine:{call_id}", "role": "tool", "toolCallId": call_id, "content": "blue"}
        )
    if not client.interrupts:
        return {}
    payloads: dict[str, Any] = {"every": {"approved": True}}
    schema = client.interrupts[0].get("responseSchema", {}).get("properties", {})
    if "editedArgs" in schema:
        payloads["every"] = {"approved": True, "editedArgs": EDITED}
    elif "colour" in schema:
        payloads["every"] = {"name": "Ada", "colour": "red"}
    return {"resume": client.resume(**payloads)}


async def talk(endpoint: AguiEndpoint, client: ReferenceClient, text: Any, **fields: Any) -> list[JsonObject]:
    """Send a prompt and answer whatever comes, until the turn is over; gives the events of all runs."""
    events = await run(endpoint, client, text, **fields)
    while client.interrupts or client.pending:
        events += await run(endpoint, client, **answer_all(client))
    return events


async def play(
    name: str, client: ReferenceClient, **options: Any
) -> tuple[list[JsonObject], list[JsonObject], Any]:
    """Play a scenario to its end; gives the events, and what the agent's side holds then."""
    async with hub_for(ScriptedAgent()) as hub:
        endpoint = AguiEndpoint(hub, AguiOptions(**options))
        events = await talk(endpoint, client, prompt_of(name))
        messages, state = await held(endpoint, client.thread_id, modern=client.version is not None)
        return events, messages, state


def normalized(events: list[JsonObject]) -> list[str]:
    """Give events as lines in which two runs of the same story are equal, in whatever pieces they came."""
    names: dict[str, str] = {}
    counts: dict[str, int] = {}

    def name(match: re.Match[str]) -> str:
        if match[0] not in names:
            counts[match[1]] = counts.get(match[1], 0) + 1
            names[match[0]] = f"{match[1]}{counts[match[1]]}"
        return names[match[0]]

    joined: list[JsonObject] = []
    for event in events:
        if "delta" in event and joined and {**joined[-1], **_PIECE} == {**event, **_PIECE}:
            joined[-1] = {**event, "delta": joined[-1]["delta"] + event["delta"]}
        else:
            joined.append(event)
    lines = [json.dumps(event, ensure_ascii=False) for event in joined]
    return [_MOMENT.sub(r'"\1": 0', _RANDOM.sub(name, line)) for line in lines]


def comparable(messages: list[JsonObject]) -> list[JsonObject]:
    """Leave out what a stream cannot tell: an error as a field of its own, and an order among the results
    of calls that were made side by side; and what is told in a run only."""
    output: list[JsonObject] = []
    messages = [message for message in messages if not message["id"].endswith((":too_late", ":failed"))]
    for is_result, group in groupby(messages, key=lambda message: message["role"] == "tool"):
        plainer = [{key: value for key, value in one.items() if key != "error"} for one in group]
        output += sorted(plainer, key=lambda one: one["id"]) if is_result else plainer
    return output
