"""One agent of the OpenAI Agents SDK, streamed bare and by us: what each costs per token.

Every line of its input names a way and a number of tokens, and every line of its output is the processor time
that the way took. Both run the same agent on the same model, without traces.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseTextDeltaEvent,
)

from agents import Agent, Model, ModelResponse, RunConfig, Runner, function_tool

PIECE = "token "


class Tokens(Model):
    """Says as many pieces as its prompt asks for."""

    async def get_response(self, *args: Any, **kwargs: Any) -> ModelResponse:
        """Nobody calls it without a stream."""
        raise NotImplementedError

    async def stream_response(
        self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any
    ) -> AsyncIterator[Any]:
        """Stream the pieces, as the Responses API does."""
        pieces = int(input if isinstance(input, str) else input[-1]["content"])
        for number in range(pieces):
            yield ResponseTextDeltaEvent(
                content_index=0,
                delta=PIECE,
                item_id="m",
                logprobs=[],
                output_index=0,
                sequence_number=number,
                type="response.output_text.delta",
            )
        text = ResponseOutputText(annotations=[], text=PIECE * pieces, type="output_text")
        message = ResponseOutputMessage(
            id="m", content=[text], role="assistant", status="completed", type="message"
        )
        response = Response(
            id="r",
            created_at=0,
            model="tokens",
            object="response",
            output=[message],
            parallel_tool_calls=True,
            tool_choice="auto",
            tools=[],
        )
        yield ResponseCompletedEvent(response=response, sequence_number=pieces, type="response.completed")


@function_tool
def look_up(word: str) -> str:
    """Look a word up; nobody ever does here."""
    return word


def make_agent() -> Agent[Any]:
    """The agent that both ways run."""
    return Agent(name="Tokens", model=Tokens(), tools=[look_up])


class Meter:
    """Times one turn; what came out of it must be whole."""

    def __init__(self) -> None:
        gc.collect()
        self._cpu = time.process_time()

    def read(self, pieces: int, heard: int) -> float:
        """Give the seconds of processor time so far."""
        cpu = time.process_time() - self._cpu
        assert heard == pieces, f"{heard} of {pieces} tokens came"
        return cpu


async def stream_bare(pieces: int) -> float:
    """The SDK's own stream of events, and nothing else."""
    agent, heard = make_agent(), 0
    meter = Meter()
    result = Runner.run_streamed(agent, str(pieces), run_config=RunConfig(tracing_disabled=True))
    async for event in result.stream_events():
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
            heard += event.data.delta.count(PIECE)
    return meter.read(pieces, heard)


async def stream_events(pieces: int) -> float:
    """Through a session with a journal in memory to one reader of neutral events."""
    from trunkline.agents.adapt import adapt
    from trunkline.events import Text, TurnFinished
    from trunkline.journal import open_journal
    from trunkline.session.hub import Hub

    journal = await open_journal("memory:")
    async with Hub(adapt(make_agent()), journal) as hub:
        session = await hub.create()
        heard, ended = 0, False
        meter = Meter()
        async with session.follow() as reader:
            await session.prompt(str(pieces))
            while not ended:
                for entry in await reader.next():
                    if type(entry.event) is Text:
                        heard += entry.event.delta.count(PIECE)
                    elif isinstance(entry.event, TurnFinished):
                        ended = True
        cpu = meter.read(pieces, heard)
    await journal.close()
    return cpu


WAYS: dict[str, Callable[[int], Coroutine[Any, Any, float]]] = {"bare": stream_bare, "events": stream_events}


def main() -> None:
    """Measure what is asked for, for as long as somebody asks."""
    for line in sys.stdin:
        way, pieces = line.split()
        print(json.dumps(asyncio.run(WAYS[way](int(pieces)))), flush=True)


if __name__ == "__main__":
    main()
