"""One agent of the OpenAI Agents SDK, streamed bare and by us: what each costs per token.

Every line of its input names a way and a number of tokens, and every line of its output is the processor time
that the way took. Both run the same agent on the same model, without traces.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from measured import PIECE, Meter, measure, stream_session
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseTextDeltaEvent,
)

from agents import Agent, Model, ModelResponse, RunConfig, Runner, function_tool


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
    return await stream_session(make_agent(), pieces)


if __name__ == "__main__":
    measure({"bare": stream_bare, "events": stream_events})
