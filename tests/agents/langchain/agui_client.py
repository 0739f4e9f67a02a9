"""A client at the end of an AG-UI transport: what it got is legal, and it holds what the client would.

Besides, an agent for it, and the ways to call one.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from ag_ui.core import Event
from pydantic import TypeAdapter

from tests.hubs import soon
from trunkline.agents.langchain import Rule
from trunkline.conformance.agui.event_verifier import breaches
from trunkline.conformance.agui.reference_client import ReferenceClient
from trunkline.frontends.agui import RunAgentInput, read_input
from trunkline.protocols.agui.wire import AguiEvent, encode
from trunkline.testing.chat import ScriptedChatModel, call, thinks

_OFFICIAL: TypeAdapter[Any] = TypeAdapter(Event)


class Page(ReferenceClient):
    """A transport and the client that reads from it, in one; each event is checked by the official models."""

    def __init__(self, thread_id: str = "t1", **options: Any) -> None:
        """Begin with an empty thread."""
        super().__init__(thread_id, **options)
        self.events: list[dict[str, Any]] = []

    def emit(self, event: AguiEvent) -> None:
        """Take an event."""
        data = encode(event)
        _OFFICIAL.validate_json(data)
        report = json.loads(data)
        self.events.append(report)
        self.take([report])

    def request(self, words: str | None = None, **fields: Any) -> RunAgentInput:
        """What the page sends for its next run, with a new message if there are words."""
        if words is not None:
            self.say(words)
        return read_input(json.dumps(self.body(**fields)).encode())

    @property
    def kinds(self) -> list[str]:
        """The types of what was said, each run of one type once."""
        found: list[str] = []
        for event in self.events:
            if not found or found[-1] != event["type"]:
                found.append(event["type"])
        return found

    @property
    def breaches(self) -> list[str]:
        """Which rules of the official client were broken."""
        return breaches(self.events)

    @property
    def outcome(self) -> Any:
        """How the last run ended."""
        return self.terminal.get("outcome", {}).get("type")

    @property
    def text(self) -> str:
        """All that the agent said."""
        return "".join(one.get("content") or "" for one in self.messages if one["role"] == "assistant")

    def call(self, call_id: str) -> dict[str, Any]:
        """A call as the page knows it: its arguments and its result."""
        calls = [call for one in self.messages for call in one.get("toolCalls", ()) if call["id"] == call_id]
        results = [one for one in self.messages if one.get("toolCallId") == call_id]
        report: dict[str, Any] = calls[0]["function"] if calls else {}
        return {**report, "result": results[0]["content"] if results else None}


class AguiPage(Page):
    """A page that a run brings in its context."""

    front_end = "agui"


# -- agents, and the ways to call them ---------------------------------------------------------------

ASK = {"weather": Rule()}
SECONDS = 40.0
"""For a run that may have to start a server."""


def model(**options: Any) -> ScriptedChatModel:
    return ScriptedChatModel(
        [thinks("Where is it?"), "Let me look. ", call("weather", {"city": "Paris"})],
        "It is sunny.",
        **options,
    )


async def ainvoke(agent: Any, *args: Any, **kwargs: Any) -> None:
    await soon(agent.ainvoke(*args, **kwargs), SECONDS)


async def astream(agent: Any, *args: Any, **kwargs: Any) -> None:
    async with asyncio.timeout(SECONDS):
        assert [item async for item in agent.astream(*args, **kwargs)]


async def invoke(agent: Any, *args: Any, **kwargs: Any) -> None:
    await soon(asyncio.to_thread(agent.invoke, *args, **kwargs), SECONDS)


async def stream(agent: Any, *args: Any, **kwargs: Any) -> None:
    assert await soon(asyncio.to_thread(lambda: list(agent.stream(*args, **kwargs))), SECONDS)


async def stream_nothing(agent: Any, *args: Any, **kwargs: Any) -> None:
    async with asyncio.timeout(10):
        assert [item async for item in agent.astream(*args, **kwargs)] == []


WAYS = pytest.mark.parametrize("run", [ainvoke, astream, invoke, stream], ids=lambda way: way.__name__)
Way = Callable[..., Awaitable[None]]
