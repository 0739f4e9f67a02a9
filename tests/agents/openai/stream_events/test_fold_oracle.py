"""The oracle: what is folded from a run is what its model meant, and what the SDK itself keeps of it.

Whatever a model sends, in whatever pieces, and whatever its tools and the agents below it do: the messages
have the same text and thoughts in the same order, and the calls the same arguments, ends and results.
"""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from agents.models.interface import Model
from agents.testing import ModelStep, ScriptedModel
from hypothesis import given, settings
from hypothesis import strategies as st

from agents import Agent, ToolOutputImage, ToolOutputText, function_tool
from tests.agents.openai import chat_server
from tests.agents.openai.stream_events import model_scripts, runs
from tests.agents.openai.stream_events.model_scripts import Answer
from trunkline import content as c
from trunkline import events as ev
from trunkline.agents.openai.stream_events import hook_facts as f
from trunkline.agents.openai.stream_events.fields import field, read_arguments
from trunkline.conversation import CallPart, Conversation

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYPhfDwACggF/o0M1KwAAAABJRU5ErkJggg=="


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with chat_server.serving() as address:
        yield address


class Bench:
    """An agent with its tools, and the events of everything that it runs."""

    def __init__(self, model: Model, inner: Model | None) -> None:
        self.translator = runs.translator()
        self.events: list[ev.AnyEvent] = []

        def remember(context: Any, error: Exception) -> str:
            self.take(f.ToolFailed(call_id=context.tool_call_id, reason=str(error)))
            return f"failed: {error}"

        @function_tool(failure_error_function=remember)
        def echo(text: str) -> str:
            """Say it again."""
            return text

        @function_tool
        def draw(text: str) -> Any:
            """Answer in blocks."""
            return [ToolOutputText(text=text), ToolOutputImage(image_url=f"data:image/png;base64,{PIXEL}")]

        @function_tool(failure_error_function=remember)
        def fail(text: str) -> str:
            """Raise."""
            raise ValueError(text)

        @function_tool
        def now() -> str:
            """Tell the time."""
            return "noon"

        tools: list[Any] = [echo, draw, fail, now]
        if inner is not None:
            helper = Agent[Any](name="helper", model=inner, tools=list(tools))
            tools.append(helper.as_tool("delegate", "Let another agent do it.", on_stream=self.nested))
        self.agent = Agent[Any](name="main", model=model, tools=tools)

    async def nested(self, payload: Any) -> None:
        """Take an event of the agent below."""
        self.take(f.NestedEvent(tool_call=payload["tool_call"], event=payload["event"], agent="helper"))

    def take(self, item: Any) -> None:
        """Translate."""
        self.events += self.translator.feed(item)

    async def run(self, prompt: str) -> Any:
        """Run the agent to its end."""
        result = runs.Runner.run_streamed(self.agent, prompt, run_config=runs.QUIET)
        async for event in result.stream_events():
            self.take(event)
        self.events += self.translator.close()
        return result


def check(folded: Conversation, answers: list[Answer], lane: str | None = None) -> None:
    """Hold what was folded in a lane against what its model meant."""
    messages = [message for message in folded.messages if message.lane == lane]
    speaking = [answer for answer in answers if answer.thought or answer.text or answer.calls]
    assert [runs.text_of(message) for message in messages] == [answer.text for answer in speaking]
    assert [runs.thoughts_of(message) for message in messages] == [answer.thought for answer in speaking]
    for message, answer in zip(messages, speaking, strict=True):
        made = [part.call_id for part in message.parts if isinstance(part, CallPart)]
        suffix = "" if lane is None else f"@{lane}"
        assert made == [call.call_id + suffix for call in answer.calls]
        for call in answer.calls:
            check_call(folded, call, suffix)


def check_call(folded: Conversation, call: model_scripts.Call, suffix: str) -> None:
    """Hold a call against what it must have done."""
    shown = folded.calls[call.call_id + suffix]
    given = read_arguments(call.arguments)
    assert (shown.name, shown.input) == (call.name, given)
    assert shown.arguments in ("", call.arguments)
    text: Any = field(given, "text")
    match call.name:
        case "echo" if text is not None:
            assert (shown.status, shown.content) == ("completed", (c.TextBlock(text=text),))
        case "draw":
            image = c.ImageBlock(mime_type="image/png", data=PIXEL)
            assert (shown.status, shown.content) == ("completed", (c.TextBlock(text=str(text)), image))
        case "now":
            assert (shown.status, shown.raw_output) == ("completed", "noon")
        case "delegate":
            assert shown.status == "completed"
            lane = call.call_id
            assert folded.lanes[lane].outcome == "completed"
            inner = json.loads(json.loads(call.arguments)["input"])
            check(folded, [model_scripts.meaning_of(answer) for answer in inner], lane)
        case _:
            assert shown.status == "failed"
            assert c.text_of(shown.content).startswith("failed: ")


def check_history(folded: Conversation, result: Any) -> None:
    """Hold what was folded against the items that the SDK keeps for the next turn."""
    kept = result.to_input_list()[1:]
    texts = ["".join(part["text"] for part in one["content"]) for one in kept if one.get("type") == "message"]
    said = [text for one in folded.messages if one.lane is None and (text := runs.text_of(one))]
    assert said == texts
    outputs = {one["call_id"]: one["output"] for one in kept if one.get("type") == "function_call_output"}
    shown = {one.native_id: one for one in folded.calls.values() if one.lane is None}
    assert set(outputs) == set(shown)
    for call_id, output in outputs.items():
        if isinstance(output, str):
            assert c.text_of(shown[call_id].content) == output


@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_what_is_folded_from_a_chat_completions_server_is_what_it_meant(
    url: str, data: st.DataObject
) -> None:
    answers = data.draw(model_scripts.scripts())
    prompt = json.dumps(data.draw(model_scripts.chat_answers(answers)))

    async def play() -> tuple[Bench, Any]:
        async with chat_server.chat_model(url) as model:
            bench = Bench(model, model)
            return bench, await bench.run(prompt)

    bench, result = asyncio.run(play())
    folded = runs.fold(runs.legal(bench.events))
    check(folded, answers)
    check_history(folded, result)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_what_is_folded_from_any_stream_of_the_responses_api_is_what_it_meant(
    data: st.DataObject,
) -> None:
    answers = data.draw(model_scripts.scripts(nested=False))
    steps = [
        ModelStep.stream([event.data for event in data.draw(model_scripts.response_events(answer))])
        for answer in answers
    ]
    bench = Bench(ScriptedModel(steps), None)
    result = asyncio.run(bench.run("hi"))
    folded = runs.fold(runs.legal(bench.events))
    check(folded, answers)
    check_history(folded, result)
