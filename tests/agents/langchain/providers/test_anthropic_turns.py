"""Turns with Anthropic's own class: tools, people who refuse, why it stopped, and histories that it takes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain_core.tools import ToolException, tool
from langgraph.checkpoint.memory import InMemorySaver

from tests.agents.langchain.expected_blocks import PNG
from tests.agents.langchain.graphs import calls_of, converse, failure_of, run_turn, stop_of, weather
from tests.agents.langchain.providers import anthropic_messages, wires
from tests.agents.langchain.providers.anthropic_messages import (
    call,
    kinds_of,
    say,
    served,
    text,
    the_call,
    thought,
)
from tests.agents.langchain.providers.conftest import City, Make, look
from tests.agents.langchain.providers.model_server import ModelServer, pause
from tests.hubs import collect, hub_for, text_of
from trunkline import content as c
from trunkline import events as ev
from trunkline.commands import Answer

pytestmark = pytest.mark.asyncio(loop_scope="module")

WIRE = wires.Anthropic()


class Unthinking(wires.Anthropic):
    """A model that may be made to call a tool: one that thinks may not."""

    def model(self, url: str, **options: Any) -> Any:
        from langchain_anthropic import ChatAnthropic

        given: dict[str, Any] = {"model": self.name, "api_key": "none", "base_url": url, "max_retries": 0}
        return ChatAnthropic(**given, **options)


@tool
def fall() -> str:
    """Fall down."""
    raise ToolException("it hurts")


fall.handle_tool_error = True


# -- tools -------------------------------------------------------------------------------------------


async def test_images_and_errors_of_tools_are_told_to_the_model(
    server: ModelServer, make: Make, memory: dict[str, Any]
) -> None:
    server.play(
        say(call("toolu_1", "look"), call("toolu_2", "fall"), stop="tool_use"),
        say(text("Ouch.")),
        say(text("Better.")),
    )
    first, _ = await converse(make(WIRE, server, look, fall, **memory), "Go on!", "And now?")
    calls = calls_of(first)
    image = c.ImageBlock(data=PNG, mime_type="image/png")
    assert calls["toolu_1"].content == (c.TextBlock(text="A dot."), image)
    assert (calls["toolu_2"].status, calls["toolu_2"].reason) == ("failed", "it hurts")
    for asked in server.asked[1:]:
        anthropic_messages.check_history(asked)
        seen, hurt = anthropic_messages.blocks_of(asked)[2]
        assert kinds_of(seen["content"]) == ["text", "image"]
        assert (seen["is_error"], hurt["is_error"], hurt["content"]) == (False, True, "it hurts")


async def test_input_that_is_no_json_fails_its_call_and_not_the_next_turn(
    server: ModelServer, make: Make, memory: dict[str, Any]
) -> None:
    asked = call("toolu_1", "weather", '{"city": Par', "is}")
    server.play(say(asked, stop="tool_use"), say(text("Sorry.")))
    first, events = await converse(
        make(WIRE, server, weather, **memory), "How is the weather?", "Again, please!"
    )
    failed = the_call(first)
    assert failed.status == "failed"
    assert '{"city": Paris}' in str(failed.reason)
    assert text_of(events) == "Sorry."
    anthropic_messages.check_history(server.asked[1])


async def test_a_call_that_a_person_rejects_is_denied_and_the_model_is_told(
    server: ModelServer, make: Make, settings: dict[str, Any]
) -> None:
    asking = say(
        thought("Hm."), text("I ask."), call("toolu_1", "weather", '{"city": "Paris"}'), stop="tool_use"
    )
    server.play(asking, say(text("As you wish.")), say(text("Still.")))
    review = HumanInTheLoopMiddleware({"weather": True})
    agent = make(WIRE, server, weather, settings=settings, checkpointer=InMemorySaver(), middleware=[review])
    async with hub_for(agent) as hub:
        session = await hub.create()

        async def reject(asked: ev.Asked) -> None:
            answer = Answer(question_id=asked.question_id, option_id="reject", reason="not today")
            await session.answer(answer)

        events = await collect(session, "How is the weather?", {ev.Asked: reject})
        await collect(session, "And now?")
    assert (the_call(events).status, the_call(events).reason) == ("denied", "not today")
    assert text_of(events) == "I ask.As you wish."
    for asked in server.asked[1:]:
        anthropic_messages.check_history(asked)
    (output,) = anthropic_messages.blocks_of(server.asked[1])[2]
    assert (output["is_error"], "not today" in output["content"]) == (True, True)


@pytest.mark.parametrize("way", [ToolStrategy, ProviderStrategy])
async def test_an_answer_with_a_structure_is_shown(server: ModelServer, make: Make, way: Any) -> None:
    if way is ToolStrategy:
        server.play(
            say(call("toolu_1", "City", '{"name": "Paris"}'), stop="tool_use"),
            say(call("toolu_2", "City", '{"name": "Paris", ', '"people": 2}'), stop="tool_use"),
        )
    else:
        server.play(say(text('{"name": "Paris", ', '"people": 2}')))
    events = await run_turn(make(Unthinking(), server, response_format=way(City)), "Where?")
    calls = [(one.name, one.status, one.input) for one in calls_of(events).values()]
    paris = {"name": "Paris", "people": 2}
    if way is ToolStrategy:
        assert calls == [("City", "failed", {"name": "Paris"}), ("City", "completed", paris)]
    else:
        assert (calls, json.loads(text_of(events))) == ([], paris)
    assert stop_of(events) == "end_turn"


# -- the end -----------------------------------------------------------------------------------------

STOPS: dict[str, tuple[tuple[anthropic_messages.Block, ...], ev.StopReason]] = {
    "stop_sequence": ((text("Half"),), "end_turn"),
    "model_context_window_exceeded": ((text("Half"),), "max_tokens"),
    "refusal": ((), "refusal"),
}


@pytest.mark.parametrize("stop", STOPS)
async def test_why_it_stopped_is_told_and_the_next_turn_goes_on(
    server: ModelServer, make: Make, memory: dict[str, Any], stop: str
) -> None:
    blocks, reason = STOPS[stop]
    server.play(say(*blocks, stop=stop), say(text("Well.")))
    later, last = await converse(make(WIRE, server, **memory), "Go on!", "And?")
    assert stop_of(later) == reason
    assert text_of(last) == "Well."
    anthropic_messages.check_history(server.asked[1])


async def test_a_search_that_was_paused_failed_and_is_not_sent_back(
    server: ModelServer, make: Make, settings: dict[str, Any], memory: dict[str, Any]
) -> None:
    searching = served("srvtoolu_1", "web_search", '{"query": "sky"}')
    server.play(say(text("I look."), searching, stop="pause_turn"), say(text("Well.")))
    events, later = await converse(
        make(WIRE, server, anthropic_messages.SEARCH, settings=settings, **memory),
        "How is the sky?",
        "Go on!",
    )
    assert text_of(later) == "Well."
    assert the_call(events).status == "failed"
    anthropic_messages.check_history(server.asked[1])
    assert "I look." in json.dumps(server.asked[1])


async def test_an_error_in_the_middle_of_a_stream_ends_what_was_begun(
    server: ModelServer, make: Make, memory: dict[str, Any]
) -> None:
    half = say(
        text("Half a ", "word"),
        served("srvtoolu_1", "web_search", '{"que'),
        call("toolu_1", "weather", '{"ci'),
    )
    server.play(anthropic_messages.error(half, "overloaded_error", "Too many people."), say(text("Better.")))
    events, later = await converse(
        make(WIRE, server, weather, anthropic_messages.SEARCH, **memory), "Hello", "Hello again"
    )
    assert text_of(later) == "Better."
    assert text_of(events) == "Half a word"
    for begun in calls_of(events).values():
        assert begun.status == "failed"
        assert str(begun.reason).startswith("the model's answer broke off")
    anthropic_messages.check_history(server.asked[1])


async def test_an_error_in_the_middle_of_a_stream_is_told_in_the_providers_own_words(
    server: ModelServer, make: Make
) -> None:
    server.play(
        anthropic_messages.error(say(text("Half a ", "word")), "overloaded_error", "Too many people.")
    )
    assert failure_of(await run_turn(make(WIRE, server), "Hello")) == (
        "model_failed",
        "APIStatusError: Too many people.",
    )


async def test_a_prompt_after_a_cancelled_answer_finds_a_whole_history(
    server: ModelServer, make: Make, memory: dict[str, Any]
) -> None:
    half = say(
        thought("Hm."),
        text("Half a ", "word"),
        served("srvtoolu_1", "web_search", '{"que'),
        call("toolu_1", "weather", '{"ci'),
    )
    reply, held = pause(half, 3)
    server.play(reply, say(text("Better.")))
    async with hub_for(make(WIRE, server, weather, anthropic_messages.SEARCH, **memory)) as hub:
        session = await hub.create()

        async def stop(piece: ev.ToolInput) -> None:
            if piece.call_id == "toolu_1":
                await session.cancel()

        events = await collect(session, "Hello", {ev.ToolInput: stop})
        held.end()
        assert text_of(await collect(session, "Hello again")) == "Better."
    assert stop_of(events) == "cancelled"
    assert {one.status for one in calls_of(events).values()} == {"cancelled"}
    anthropic_messages.check_history(server.asked[1])
    assert "Half a word" in json.dumps(server.asked[1])
