"""Tests of the AG-UI transport that records."""

from tests.agents.langchain.graphs import weather
from tests.hubs import soon

from trunkline.agents.langchain import agui_agent
from trunkline.frontends.agui import EventType, TextMessageContent
from trunkline.testing import AguiRecorder, chat_model
from trunkline.testing.chat import call


async def test_it_gives_the_events_their_types_and_the_messages_of_a_page() -> None:
    page = AguiRecorder()
    agent = agui_agent(
        chat_model(call("weather", {"city": "Rome"}), "It is sunny."), [weather], transport=page
    )
    await soon(agent.ainvoke({"messages": [("user", "Rome?")]}))
    assert (page.types[0], page.types[-1]) == (EventType.RUN_STARTED, EventType.RUN_FINISHED)
    assert "".join(one.delta for one in page.events_of(TextMessageContent)) == "It is sunny."
    assert [one["role"] for one in page.messages] == ["assistant", "tool", "assistant"]
    assert page.messages[0]["toolCalls"][0]["function"]["name"] == "weather"
    assert page.messages[-1]["content"] == "It is sunny."
