"""The Responses API over HTTP: the SDK's own model against the scripted server on loopback."""

from typing import Any

from openai import AsyncOpenAI

from agents import Agent, OpenAIResponsesModel, function_tool
from tests.agents.openai.stream_events import runs
from tests.peers.model.dialect import TOKENS_READ, TOKENS_WRITTEN
from tests.peers.model.replies import Refuse, Script, Use, say, think
from tests.peers.model.server import serving
from trunkline import events as ev


@function_tool
def echo(text: str) -> str:
    """Say it again."""
    return text


async def talk(script: Script, prompt: str) -> runs.Played:
    """Play a script over HTTP."""
    with serving(script) as server:
        async with AsyncOpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client:
            model = OpenAIResponsesModel(model="gpt", openai_client=client)
            return await runs.play(Agent[Any](name="main", model=model, tools=[echo]), prompt)


async def test_reasoning_text_and_a_call_come_over_http() -> None:
    first = [think("I ", "see."), say("One ", "moment."), Use("echo", {"text": "hello"})]
    played = await talk({"greet": [first, [say("It said ", "hello.")]]}, "greet")
    before, after = played.folded.messages
    assert (runs.thoughts_of(before), runs.text_of(before)) == ("I see.", "One moment.")
    assert runs.text_of(after) == "It said hello."
    (call,) = played.folded.calls.values()
    assert (call.input, call.raw_output, call.status) == ({"text": "hello"}, "hello", "completed")
    assert [(one.input_tokens, one.output_tokens) for one in played.usage] == [
        (TOKENS_READ, TOKENS_WRITTEN)
    ] * 2
    assert played.stop == "end_turn"


async def test_an_http_error_fails_the_turn_with_its_code() -> None:
    played = await talk({"greet": [[Refuse(429, "slow down")]]}, "greet")
    assert isinstance(played.terminal, ev.TurnFailed)
    assert played.terminal.code == "rate_limited"
    assert "slow down" in played.terminal.message
