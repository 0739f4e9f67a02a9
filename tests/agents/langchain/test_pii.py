"""What an agent redacts is redacted for whoever reads along."""

from typing import Any

import pytest
from langchain.agents.middleware import PIIMiddleware
from langchain_core.tools import tool

from tests.agents.langchain.graphs import agent_of, calls_of, run_turn, terminal
from tests.agents.langchain.recorded_updates import PROMPT, call_of, on_thread, text
from tests.agents.langchain.untyped_langchain import create_agent
from tests.hubs import soon, text_of
from trunkline import events as ev
from trunkline.agents.langchain.hosted.acp import acp_agent
from trunkline.testing.chat import ScriptedChatModel, call
from trunkline.testing.recording import RecordingTransport

SECRET = "ada@example.com"


@tool
def look_up(name: str) -> str:
    """Find an address."""
    return f"{name}: {SECRET}"


def guard(strategy: Any = "redact", **where: Any) -> Any:
    """A middleware that looks for addresses there."""
    return PIIMiddleware("email", strategy=strategy, apply_to_input=False, **where)


def seen(events: list[Any]) -> str:
    """Everything that a turn said."""
    return b"".join(ev.encode_event(event) for event in events).decode()


async def test_an_answer_is_said_as_its_middleware_leaves_it() -> None:
    agent, _ = agent_of(
        ["Wait. ", call("look_up", {"name": "Ada"}, "c1")],
        f"Write to {SECRET}, please.",
        tools=[look_up],
        middleware=[guard(apply_to_output=True, apply_to_tool_results=True)],
    )
    events = await run_turn(agent, "go")
    assert text_of(events) == "Wait. Write to [REDACTED_EMAIL], please."
    made = calls_of(events)["c1"]
    assert (made.status, made.input, made.raw_output) == (
        "completed",
        {"name": "Ada"},
        "Ada: [REDACTED_EMAIL]",
    )
    assert SECRET not in seen(events)


@pytest.mark.parametrize(
    ("answers", "where"),
    [
        ([f"Write to {SECRET}."], {"apply_to_output": True}),
        ([[call("look_up", {"name": "Ada"}, "c1")], "Done."], {"apply_to_tool_results": True}),
    ],
)
async def test_what_a_middleware_blocks_ends_the_turn_unsaid(
    answers: list[Any], where: dict[str, bool]
) -> None:
    agent, _ = agent_of(*answers, tools=[look_up], middleware=[guard("block", **where)])
    events = await run_turn(agent, "go")
    assert isinstance(terminal(events), ev.TurnFailed)
    assert SECRET not in seen(events)


async def test_an_agent_that_looks_at_its_input_only_streams_as_ever() -> None:
    agent, _ = agent_of("One two.", middleware=[PIIMiddleware("email", apply_to_input=True)])
    events = await run_turn(agent, "go")
    assert [event.delta for event in events if isinstance(event, ev.Text)] == ["One ", "two."]


@pytest.mark.parametrize("built", [True, False], ids=["around an agent", "from a model"])
async def test_an_agent_that_speaks_by_itself_redacts_too(built: bool, transport: RecordingTransport) -> None:
    model = ScriptedChatModel(
        ["Wait. ", call("look_up", {"name": "Ada"}, "c1")], f"Write to {SECRET}, please."
    )
    middleware = [guard(apply_to_output=True, apply_to_tool_results=True)]
    if built:
        agent = acp_agent(create_agent(model, [look_up], middleware=middleware), transport=transport)
    else:
        agent = acp_agent(model, [look_up], middleware=middleware, transport=transport)
    await soon(agent.ainvoke(PROMPT, on_thread("s1")))
    assert text(transport) == "Wait. Write to [REDACTED_EMAIL], please."
    assert call_of(transport, "c1")["rawOutput"] == "Ada: [REDACTED_EMAIL]"
    assert SECRET not in str(transport.updates)
