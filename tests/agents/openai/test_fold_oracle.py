"""The oracle through a real client: what an ACP editor folds from its updates is what the model meant.

Whatever a chat-completions server streams, in whatever deltas, and whatever the tools and the agents below
do: every message, thought and call is seen once, in order, with its arguments, its end and its result; a
session that is loaded shows the same again.
"""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents import Agent, ToolOutputImage, ToolOutputText, function_tool
from tests.agents.openai import chat_server
from tests.agents.openai.stream_events import model_scripts
from tests.agents.openai.stream_events.model_scripts import Answer, meaning_of
from tests.agents.seen_updates import Pieces, Seen, Update, see
from tests.frontends.acp.memory_editor import ABLE, Editor, editing
from tests.hubs import hub_for
from trunkline import adapt
from trunkline.agents.openai.stream_events.fields import field, read_arguments

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYPhfDwACggF/o0M1KwAAAABJRU5ErkJggg=="


@function_tool
def echo(text: str) -> str:
    """Say it again."""
    return text


@function_tool
def draw(text: str) -> Any:
    """Answer in blocks."""
    return [ToolOutputText(text=text), ToolOutputImage(image_url=f"data:image/png;base64,{PIXEL}")]


@function_tool
def fail(text: str) -> str:
    """Raise."""
    raise ValueError(text)


@function_tool
def now() -> str:
    """Tell the time."""
    return "noon"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with chat_server.serving() as address:
        yield address


def make(model: Any) -> Agent[Any]:
    """An agent with a helper that plays its own script."""
    tools: list[Any] = [echo, draw, fail, now]
    helper = Agent[Any](name="helper", model=model, tools=tools)
    delegate = helper.as_tool("delegate", "Let another agent do it.")
    return Agent[Any](name="main", model=model, tools=[*tools, delegate])


def check(lanes: dict[str | None, Seen], answers: list[Answer], lane: str | None) -> None:
    """Hold what was seen in a lane against what its model meant."""
    seen, suffix = lanes[lane], "" if lane is None else f"@{lane}"
    said = [pieces for answer in answers if (pieces := _pieces(answer))]
    assert list(seen.messages.values()) == said
    calls = [call for answer in answers for call in answer.calls]
    assert list(seen.calls) == [call.call_id + suffix for call in calls]
    for call in calls:
        check_call(lanes, call, seen.calls[call.call_id + suffix])


def _pieces(answer: Answer) -> Pieces:
    return [piece for piece in (("thought", answer.thought), ("text", answer.text)) if piece[1]]


def check_call(lanes: dict[str | None, Seen], call: model_scripts.Call, shown: Update) -> None:
    """Hold a call against what it must have done."""
    given = read_arguments(call.arguments)
    assert (shown["name"], shown["rawInput"]) == (call.name, given)
    blocks = [block["content"] for block in shown.get("content", ())]
    text = field(given, "text")
    match call.name:
        case "echo" if text is not None:
            assert (shown["status"], blocks) == ("completed", [{"type": "text", "text": text}])
        case "draw":
            assert shown["status"] == "completed"
            assert [block.get("text", block.get("data")) for block in blocks] == [text, PIXEL]
        case "now":
            assert (shown["status"], shown["rawOutput"]) == ("completed", "noon")
        case "delegate":
            assert shown["status"] == "completed"
            inner = json.loads(json.loads(call.arguments)["input"])
            check(lanes, [meaning_of(answer) for answer in inner], call.call_id)
        case _:
            assert shown["status"] == "failed"


def take_updates(editor: Editor) -> list[Update]:
    """The updates since the last time."""
    updates = [item for item in editor.log if "sessionUpdate" in item]
    editor.log.clear()
    return updates


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_what_an_editor_folds_is_what_the_model_meant(url: str, data: st.DataObject) -> None:
    answers = data.draw(model_scripts.scripts())
    prompt = json.dumps(data.draw(model_scripts.chat_answers(answers)))

    async def play() -> tuple[list[Update], list[Update]]:
        async with (
            chat_server.chat_model(url) as model,
            hub_for(adapt(make(model))) as hub,
            editing(hub, ABLE) as editor,
        ):
            session = await editor.open()
            ended = await editor.prompt(session, prompt)
            assert ended["stopReason"] == "end_turn"
            live = take_updates(editor)
            await editor.call("session/load", sessionId=session, cwd="/", mcpServers=[])
            return live, take_updates(editor)

    live, loaded = asyncio.run(play())
    lanes = see(live)
    check(lanes, answers, None)
    assert see(loaded) == lanes, "a load shows what was seen live"
