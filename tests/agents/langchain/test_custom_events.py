from typing import Any

import pytest
from langchain_core.tools import tool

from tests.agents.langchain.agui_client import Page
from tests.agents.langchain.graphs import agent_of, run_turn
from tests.agents.langchain.recorded_updates import PROMPT, kinds, on_thread
from tests.agents.langchain.untyped_langchain import create_agent
from tests.hubs import only, soon
from trunkline import events as ev
from trunkline.agents.langchain import (
    acp_agent,
    acp_middleware,
    agui_agent,
    agui_middleware,
    agui_system,
    emit_custom,
    emit_plan,
    emit_raw,
)
from trunkline.testing.chat import ScriptedChatModel, call
from trunkline.testing.recording import RecordingTransport

RAW = {"type": "tick", "at": 3}


@tool
def tell() -> str:
    """Tell the page something."""
    emit_custom("sale", {"items": [1, 2]})
    emit_raw(RAW)
    emit_plan(["Sell"])
    return "told"


SCRIPT = (call("tell"), "Done.")


def sent(page: Page) -> list[Any]:
    """The custom and raw events, in few words."""
    events = [event for event in page.events if event["type"] in ("CUSTOM", "RAW")]
    return [(event.get("name"), event.get("value", event.get("event"))) for event in events]


EXPECTED = [("sale", {"items": [1, 2]}), (None, RAW)]


@pytest.mark.parametrize("approach", ["A", "B", "built"])
async def test_an_application_sends_custom_and_raw_events(approach: str, page: Page) -> None:
    model = ScriptedChatModel(*SCRIPT)
    if approach == "A":
        await soon(agui_agent(model, [tell], transport=page).ainvoke(PROMPT))
    elif approach == "B":
        middleware, callbacks = agui_system(page)
        await soon(
            create_agent(model, [tell], middleware=middleware).ainvoke(PROMPT, {"callbacks": callbacks})
        )
    else:
        await soon(agui_agent(create_agent(model, [tell]), transport=page).ainvoke(PROMPT))
    assert [one for one in sent(page) if one[0] != "trunkline.plan"] == EXPECTED


async def test_in_a_session_they_are_events_like_any_other() -> None:
    agent, _ = agent_of(*SCRIPT, tools=[tell])
    events = await run_turn(agent)
    assert [(event.name, event.value) for event in only(events, ev.Custom)] == [EXPECTED[0]]
    assert [(event.source, event.payload) for event in only(events, ev.Raw)] == [("application", RAW)]


def test_outside_of_a_run_nothing_happens() -> None:
    emit_custom("sale")
    emit_raw(RAW)


@pytest.mark.parametrize("way", ["callbacks", "no callbacks", "page first", "wrapped"])
async def test_one_agent_shows_its_run_to_an_editor_and_to_a_page(way: str, page: Page) -> None:
    editor = RecordingTransport()
    acp, agui = acp_middleware(editor), agui_middleware(page)
    both = {"page first": [agui, acp], "wrapped": [agui]}.get(way, [acp, agui])
    agent = create_agent(ScriptedChatModel(*SCRIPT), [tell], middleware=both)
    if way == "wrapped":
        await soon(acp_agent(agent, transport=editor).ainvoke(PROMPT, on_thread("t1")))
    else:
        handlers = [] if way == "no callbacks" else [*acp.callbacks, *agui.callbacks]
        await soon(agent.ainvoke(PROMPT, on_thread("t1", *handlers)))
    assert page.outcome == "success"
    assert page.text == "Done."
    assert page.call("call_1")["result"] == "told"
    assert [one for one in sent(page) if one[0] != "trunkline.plan"] == EXPECTED
    assert "trunkline.plan" in {name for name, _ in sent(page)}
    assert kinds(editor) == [
        "tool_call",
        "tool_call_update",
        "plan",
        "tool_call_update",
        "agent_message_chunk",
    ]
