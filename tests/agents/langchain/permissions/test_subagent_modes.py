"""Tests of the barrier: what may not be called stays so inside subagents."""

from typing import Any
from uuid import uuid4

import pytest
from langchain_core.tools import tool
from tests.agents.langchain.graphs import run_turn
from tests.agents.langchain.middleware.recording_channel import Ear
from tests.agents.langchain.untyped_langchain import create_agent
from tests.hubs import only

from trunkline import adapt
from trunkline import events as ev
from trunkline.agents.langchain.middleware.mode import Mode, ModeMiddleware
from trunkline.agents.langchain.permissions.subagent_modes import ModeCheck
from trunkline.agents.langchain.permissions.subagents import Refused
from trunkline.testing.chat import ScriptedChatModel, call

PROMPT: Any = {"messages": [("user", "go")]}


@tool
def shred(paper: str) -> str:
    """Shred a paper."""
    raise AssertionError(f"{paper} was shredded")


@tool
def look(paper: str) -> str:
    """Look at a paper."""
    return f"{paper} is intact"


def nested(depth: int) -> tuple[Any, ScriptedChatModel]:
    """An agent that lets an agent, which may let another, shred a paper; and the model of the last."""
    model = ScriptedChatModel([call("shred", {"paper": "a"}), call("look", {"paper": "a"})], "Could not.")
    made = create_agent(model, [shred, look])
    for _ in range(depth):
        made = _delegating(made)
    return made, model


def _delegating(agent: Any) -> Any:
    @tool
    async def delegate() -> str:
        """Let another do it."""
        return (await agent.ainvoke(PROMPT))["messages"][-1].text

    modes = ModeMiddleware({"careful": Mode(allowed_tools=["delegate", "look"])})
    return create_agent(ScriptedChatModel([call("delegate")], "Done."), [delegate], middleware=[modes])


@pytest.mark.parametrize("depth", [1, 2, 3])
async def test_a_call_is_stopped_however_deep_it_is(depth: int) -> None:
    agent, model = nested(depth)
    events = await run_turn(adapt(agent), "go")
    assert [message.text for message in model.calls[1].messages[-2:]] == [
        "shred was not run: mode 'careful' does not allow it. Use the tools you are offered, or ask the user "
        "to change the mode.",
        "a is intact",
    ]
    names = {event.call_id: event.name for event in only(events, ev.ToolCall)}
    ends = {names[event.call_id]: event.status for event in only(events, ev.ToolUpdate) if event.status}
    assert ends == {"delegate": "completed", "shred": "denied", "look": "completed"}


async def test_code_that_calls_a_tool_by_itself_is_not_stopped() -> None:
    @tool
    async def delegate() -> str:
        """Look by itself."""
        return await look.ainvoke({"paper": "b"})

    modes = ModeMiddleware({"careful": Mode(allowed_tools=["delegate"])})
    agent = create_agent(ScriptedChatModel([call("delegate")], "Done."), [delegate], middleware=[modes])
    assert (await agent.ainvoke(PROMPT))["messages"][2].text == "b is intact"


def test_without_a_graph_to_show_it_in_a_call_is_stopped_all_the_same() -> None:
    ear = Ear()
    barrier = ModeCheck(ear, {}, lambda name, about: f"no {name}")
    with pytest.raises(Refused, match="no shred"):
        barrier.on_tool_start({"name": "shred"}, "", run_id=uuid4(), tool_call_id="1", name="read_file")
    assert ear.heard == []
