"""Turns with Anthropic's own class: tools, people who refuse, why it stopped, and histories that it takes."""

import json

import pytest
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.tools import ToolException, tool
from langgraph.checkpoint.memory import InMemorySaver

from tests.agents.langchain.expected_blocks import PNG
from tests.agents.langchain.graphs import (
    answering,
    calls_of,
    converse,
    failure_of,
    only_call,
    stop_of,
    weather,
)
from tests.agents.langchain.providers.conftest import Options, look
from tests.agents.langchain.providers.model_server import ModelServer, pause
from tests.agents.langchain.providers.wires import anthropic
from tests.agents.langchain.providers.wires.anthropic import call, say, served, text, thought
from tests.hubs import collect, session_for, text_of
from trunkline import content as c
from trunkline import events as ev

pytestmark = pytest.mark.asyncio(loop_scope="module")

WIRE = anthropic.Anthropic()


@tool
def fall() -> str:
    """Fall down."""
    raise ToolException("it hurts")


fall.handle_tool_error = True


# -- tools -------------------------------------------------------------------------------------------


async def test_images_and_errors_of_tools_are_told_to_the_model(server: ModelServer, memory: Options) -> None:
    server.play(
        say(call("toolu_1", "look"), call("toolu_2", "fall"), stop="tool_use"),
        say(text("Ouch.")),
        say(text("Better.")),
    )
    first, _ = await converse(server.agent(WIRE, look, fall, **memory), "Go on!", "And now?")
    calls = calls_of(first)
    image = c.ImageBlock(data=PNG, mime_type="image/png")
    assert calls["toolu_1"].content == (c.TextBlock(text="A dot."), image)
    assert (calls["toolu_2"].status, calls["toolu_2"].reason) == ("failed", "it hurts")
    for asked in server.asked[1:]:
        WIRE.check(asked)
        seen, hurt = anthropic.blocks_of(asked)[2]
        assert [block["type"] for block in seen["content"]] == ["text", "image"]
        assert (seen["is_error"], hurt["is_error"], hurt["content"]) == (False, True, "it hurts")


async def test_a_call_that_a_person_rejects_is_denied_and_the_model_is_told(
    server: ModelServer, settings: Options
) -> None:
    asking = say(
        thought("Hm."), text("I ask."), call("toolu_1", "weather", '{"city": "Paris"}'), stop="tool_use"
    )
    server.play(asking, say(text("As you wish.")), say(text("Still.")))
    review = HumanInTheLoopMiddleware({"weather": True})
    agent = server.agent(WIRE, weather, settings=settings, checkpointer=InMemorySaver(), middleware=[review])
    async with session_for(agent) as session:
        reject = answering(session, option_id="reject", reason="not today")
        events = await collect(session, "How is the weather?", reject)
        await collect(session, "And now?")
    assert (only_call(events).status, only_call(events).reason) == ("denied", "not today")
    assert text_of(events) == "I ask.As you wish."
    for asked in server.asked[1:]:
        WIRE.check(asked)
    (output,) = anthropic.blocks_of(server.asked[1])[2]
    assert (output["is_error"], "not today" in output["content"]) == (True, True)


# -- the end -----------------------------------------------------------------------------------------

STOPS: dict[str, tuple[tuple[anthropic.Block, ...], ev.StopReason]] = {
    "stop_sequence": ((text("Half"),), "end_turn"),
    "model_context_window_exceeded": ((text("Half"),), "max_tokens"),
    "refusal": ((), "refusal"),
}


@pytest.mark.parametrize("stop", STOPS)
async def test_why_it_stopped_is_told_and_the_next_turn_goes_on(
    server: ModelServer, memory: Options, stop: str
) -> None:
    blocks, reason = STOPS[stop]
    server.play(say(*blocks, stop=stop), say(text("Well.")))
    later, last = await converse(server.agent(WIRE, **memory), "Go on!", "And?")
    assert stop_of(later) == reason
    assert text_of(last) == "Well."
    WIRE.check(server.asked[1])


async def test_a_search_that_was_paused_failed_and_is_not_sent_back(
    server: ModelServer, settings: Options, memory: Options
) -> None:
    searching = served("srvtoolu_1", "web_search", '{"query": "sky"}')
    server.play(say(text("I look."), searching, stop="pause_turn"), say(text("Well.")))
    events, later = await converse(
        server.agent(WIRE, anthropic.SEARCH, settings=settings, **memory), "How is the sky?", "Go on!"
    )
    assert text_of(later) == "Well."
    assert only_call(events).status == "failed"
    WIRE.check(server.asked[1])
    assert "I look." in json.dumps(server.asked[1])


async def test_an_error_in_the_middle_of_a_stream_ends_what_was_begun(
    server: ModelServer, memory: Options
) -> None:
    half = say(
        text("Half a ", "word"),
        served("srvtoolu_1", "web_search", '{"que'),
        call("toolu_1", "weather", '{"ci'),
    )
    server.play(anthropic.error(half, "overloaded_error", "Too many people."), say(text("Better.")))
    events, later = await converse(
        server.agent(WIRE, weather, anthropic.SEARCH, **memory), "Hello", "Hello again"
    )
    assert text_of(later) == "Better."
    assert failure_of(events) == ("model_failed", "APIStatusError: Too many people.")
    assert text_of(events) == "Half a word"
    for begun in calls_of(events).values():
        assert begun.status == "failed"
        assert str(begun.reason).startswith("the model's answer broke off")
    WIRE.check(server.asked[1])


async def test_a_prompt_after_a_cancelled_answer_finds_a_whole_history(
    server: ModelServer, memory: Options
) -> None:
    half = say(
        thought("Hm."),
        text("Half a ", "word"),
        served("srvtoolu_1", "web_search", '{"que'),
        call("toolu_1", "weather", '{"ci'),
    )
    reply, held = pause(half, 3)
    server.play(reply, say(text("Better.")))
    async with session_for(server.agent(WIRE, weather, anthropic.SEARCH, **memory)) as session:

        async def stop(piece: ev.ToolInput) -> None:
            if piece.call_id == "toolu_1":
                await session.cancel()

        events = await collect(session, "Hello", {ev.ToolInput: stop})
        held.end()
        assert text_of(await collect(session, "Hello again")) == "Better."
    assert stop_of(events) == "cancelled"
    assert {one.status for one in calls_of(events).values()} == {"cancelled"}
    WIRE.check(server.asked[1])
    assert "Half a word" in json.dumps(server.asked[1])
