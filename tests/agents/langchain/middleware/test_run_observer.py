"""Tests of the run observer: a middleware without hooks is found, and a run is seen to begin and finish."""

from typing import Any, NotRequired

import pytest
from langchain.agents import AgentState
from langchain.agents.middleware import AgentMiddleware, hook_config
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import EmptyChannelError
from langgraph.types import Command, interrupt

from tests.agents.langchain.agui_client import Page
from tests.agents.langchain.graphs import agent_of, helper_for, run_turn, weather
from tests.agents.langchain.middleware.recording_channel import Ear
from tests.agents.langchain.recorded_updates import PROMPT, call_graph, on_thread, states
from tests.agents.langchain.untyped_langchain import create_agent
from tests.hubs import only, soon
from trunkline import events as ev
from trunkline.agents.langchain.channel import use_channel
from trunkline.agents.langchain.graph.inspect import middleware_in
from trunkline.agents.langchain.hosted.acp import acp_middleware
from trunkline.agents.langchain.hosted.agui import agui_middleware
from trunkline.agents.langchain.hosted.context import TrunklineContext
from trunkline.agents.langchain.middleware._run_observer import RunObserver, add_to_state, middlewares_in
from trunkline.agents.langchain.middleware.mode import Mode, ModeMiddleware
from trunkline.agents.langchain.middleware.plan import PlanMiddleware, emit_plan
from trunkline.agents.langchain.middleware.session import SessionMiddleware
from trunkline.agents.langchain.middleware.tools import ToolMiddleware
from trunkline.testing.chat import ScriptedChatModel, call
from trunkline.testing.recording import RecordingTransport

HOOKS = [
    "before_agent", "before_model", "after_model", "after_agent", "wrap_model_call", "wrap_tool_call",
    "abefore_agent", "abefore_model", "aafter_model", "aafter_agent", "awrap_model_call", "awrap_tool_call",
]  # fmt: skip
IDLE: dict[str, Any] = {
    "session": lambda: SessionMiddleware(emit_state_snapshots="none"),
    "tools": lambda: ToolMiddleware(emit_tool_start=False, emit_tool_results=False, handle_errors=False),
    "modes": lambda: ModeMiddleware({"plain": Mode(description="as it is")}),
    "plan": lambda: PlanMiddleware(auto_detect_planning=False, emit_on=()),
}


@pytest.mark.parametrize("which", IDLE)
def test_a_middleware_that_is_off_has_no_hooks_and_is_found_all_the_same(which: str) -> None:
    idle: Any = IDLE[which]()
    assert [
        hook for hook in HOOKS if getattr(idle.__class__, hook) is not getattr(AgentMiddleware, hook)
    ] == []
    agent = create_agent(ScriptedChatModel("Hi."), [weather], middleware=[idle])
    assert middleware_in(agent) == (idle,)


def test_pieces_of_one_are_found_each_by_itself() -> None:
    line = acp_middleware(RecordingTransport(), emit_state_snapshots="none", emit_on=())
    agent = create_agent(ScriptedChatModel("Hi."), [weather], middleware=line)
    assert set(middleware_in(agent)) == set(line.pieces) == set(middlewares_in(agent.channels))


def test_modes_that_change_nothing_are_offered_all_the_same() -> None:
    agent, _ = agent_of("Hi.", middleware=[ModeMiddleware({"one": Mode(), "two": Mode()})])
    (option,) = agent.card.options
    assert [choice.value for choice in option.choices] == ["one", "two"]


async def test_tools_that_are_turned_off_are_not_shown_in_a_session() -> None:
    agent, _ = agent_of([call("weather", {"city": "Rome"})], "Sunny.", middleware=[IDLE["tools"]()])
    told = await run_turn(agent, "go")
    assert only(told, ev.ToolCall) == []


@pytest.mark.parametrize("plain", [True, False], ids=["invoke", "ainvoke"])
@pytest.mark.parametrize("off", [True, False], ids=["off", "on"])
async def test_a_plan_by_hand_is_silenced_without_a_hook(off: bool, plain: bool) -> None:
    def steps() -> str:
        """Show a plan."""
        emit_plan(["one", "two"])
        return "shown"

    middleware = [IDLE["plan"]()] if off else []
    agent = create_agent(ScriptedChatModel([call("steps", {})], "Done."), [steps], middleware=middleware)
    ear = Ear()
    with use_channel(ear):
        await call_graph(agent, PROMPT, on_thread("s1"), plain=plain)
    assert ear.plans == ([] if off else [["one", "two"]])


def test_a_presence_holds_nothing_and_is_one_of_its_middleware() -> None:
    one, other = IDLE["plan"](), IDLE["plan"]()
    channel = RunObserver(one, "key")
    assert channel == RunObserver(one)
    assert channel != RunObserver(other)
    assert channel.copy() is channel
    assert channel.from_checkpoint("anything").key == "key"
    assert not channel.update(["anything"])
    assert not channel.is_available()
    assert not channel.finish()
    assert channel.ValueType is channel.UpdateType is Any
    with pytest.raises(EmptyChannelError):
        channel.get()


@pytest.mark.parametrize("when", ["beginning", "end"])
async def test_a_beginning_or_an_end_that_cannot_be_handled_breaks_no_run(
    when: str, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any) -> Any:
        raise ValueError("no")

    own: Any = AgentMiddleware()
    add_to_state(own, fail if when == "beginning" else lambda middleware, loop: fail)
    agent = create_agent(ScriptedChatModel("Hi."), [weather], middleware=[own])
    ended = await soon(agent.ainvoke(PROMPT, on_thread("s1")))
    assert ended["messages"][-1].text == "Hi."
    assert f"the {when} of a run could not be handled" in caplog.text


async def test_the_end_is_heard_after_the_last_of_all_calls(transport: RecordingTransport) -> None:
    seen: list[int] = []

    def count(state: dict[str, Any]) -> dict[str, int]:
        seen.append(len(transport.updates))
        return {"updates": len(transport.updates)}

    line = acp_middleware(transport, emit_state_snapshots="final", state_mapper=count)
    calls = [call("weather", {"city": city}) for city in ("Rome", "Oslo")]
    agent = create_agent(ScriptedChatModel(calls, [calls[0]], "Done."), [weather], middleware=line)
    await soon(agent.ainvoke(PROMPT, on_thread("s1")))
    assert len(seen) == 1
    assert transport.emitted[-1].method == "_trunkline/state"


class Noted(AgentState[Any]):
    note: NotRequired[str]


class Guard(AgentMiddleware[Any, Any, Any]):
    """Answers in the model's place."""

    state_schema = Noted

    @hook_config(can_jump_to=["end"])
    def before_agent(self, state: Any, runtime: Any) -> Any:
        return {"messages": [AIMessage("Not here.")], "note": "guarded", "jump_to": "end"}


class Review(AgentMiddleware[Any, Any, Any]):
    """Asks before an agent is done."""

    state_schema = Noted

    def after_agent(self, state: Any, runtime: Any) -> Any:
        return {"note": interrupt("good?")}


@tool(return_direct=True)
def say(word: str) -> str:
    """Say a word, once somebody agrees."""
    return f"{word} {interrupt('say it?')}"


QUIET: dict[str, Any] = {
    "a guard answers": (Guard, [], "guarded"),
    "the end is reviewed": (Review, ["reviewed"], "reviewed"),
    "a last tool waited": (AgentMiddleware, ["louder"], None),
}


@pytest.mark.parametrize("followed", [True, False], ids=["callbacks", "no callbacks"])
@pytest.mark.parametrize("plain", [True, False], ids=["invoke", "ainvoke"])
@pytest.mark.parametrize("how", QUIET)
async def test_a_run_that_calls_no_model_begins_and_ends_all_the_same(
    how: str, plain: bool, followed: bool
) -> None:
    other, answers, note = QUIET[how]
    page = Page()
    line = agui_middleware(page)
    script = ScriptedChatModel([call("say", {"word": "Hey"})] if other is AgentMiddleware else "Hi.")
    agent = create_agent(script, [say], middleware=[*line, other()], checkpointer=InMemorySaver())
    config = on_thread("t1", *(line.callbacks if followed else ()))
    for given in (PROMPT, *(Command(resume=answer) for answer in answers)):
        page.events.clear()
        await call_graph(agent, given, config, plain=plain)
    assert (page.kinds[0], page.kinds[-1]) == ("RUN_STARTED", "RUN_FINISHED")
    assert page.kinds.count("RUN_FINISHED") == 1
    state: dict[str, Any] = page.state or {}
    assert state.get("note") == note


@pytest.mark.parametrize("plain", [True, False], ids=["invoke", "ainvoke"])
async def test_the_last_state_of_such_a_run_goes_to_the_client_of_the_run(
    plain: bool, transport: RecordingTransport
) -> None:
    middleware: list[Any] = [SessionMiddleware(emit_state_snapshots="final"), Guard()]
    agent = create_agent(ScriptedChatModel("Hi."), [weather], middleware=middleware)
    context = TrunklineContext(transport=transport)
    await call_graph(agent, PROMPT, on_thread("s1"), plain=plain, context=context)
    assert states(transport) == [{"note": "guarded"}]


async def test_an_agent_inside_of_another_that_calls_no_model_ends_nothing() -> None:
    inner = create_agent(ScriptedChatModel(), [], middleware=[SessionMiddleware(), Guard()])
    model, ear = ScriptedChatModel([call("helper", {"job": "x"})], "Done."), Ear()
    with use_channel(ear):
        await soon(create_agent(model, [helper_for(inner)]).ainvoke(PROMPT, on_thread("s1")))
    assert only(ear.heard, ev.StateReplaced) == []


def test_nobody_is_told_of_a_state_that_is_written_by_hand() -> None:
    ear, middleware = Ear(), [SessionMiddleware(), Review()]
    agent = create_agent(ScriptedChatModel(), [], middleware=middleware, checkpointer=InMemorySaver())
    with use_channel(ear):
        agent.update_state(on_thread("s1"), {**PROMPT, "note": "by hand"}, as_node="Review.after_agent")
        assert agent.get_state(on_thread("s1")).values["note"] == "by hand"
    assert ear.heard == []


def test_one_that_is_off_hears_no_end(transport: RecordingTransport) -> None:
    agent = create_agent(ScriptedChatModel(), [], middleware=[IDLE["session"](), Guard()])
    agent.invoke(PROMPT, on_thread("s1"), context=TrunklineContext(transport=transport))
    assert transport.emitted == []


def test_a_class_of_your_own_may_be_named_late(transport: RecordingTransport) -> None:
    class Named(SessionMiddleware):
        def __init__(self, name: str) -> None:
            super().__init__(emit_state_snapshots="final")
            self._name = name

        @property
        def name(self) -> str:
            return self._name

    middleware = [Named("one"), Named("two")]
    agent = create_agent(ScriptedChatModel("Hi."), [], middleware=middleware, state_schema=Noted)
    context = TrunklineContext(transport=transport)
    agent.invoke({**PROMPT, "note": "x"}, on_thread("s1"), context=context)
    assert middlewares_in(agent.channels) == middleware
    assert states(transport) == [{"note": "x"}]


@pytest.mark.parametrize("kind", [SessionMiddleware, ToolMiddleware, PlanMiddleware, ModeMiddleware])
def test_a_class_of_your_own_keeps_its_state(kind: Any) -> None:
    class Own(kind):
        state_schema = Noted

    off: dict[Any, dict[str, Any]] = {
        ToolMiddleware: {"emit_tool_start": False, "emit_tool_results": False, "handle_errors": False},
        PlanMiddleware: {"auto_detect_planning": False, "emit_on": ()},
        ModeMiddleware: {"modes": {"plain": Mode()}},
    }
    own = Own(**off.get(kind, {}))
    agent = create_agent(ScriptedChatModel("Hi."), [], middleware=[own])
    assert middlewares_in(agent.channels) == [own]
    assert agent.invoke({**PROMPT, "note": "kept"})["note"] == "kept"


def test_attending_leaves_a_middleware_its_other_state() -> None:
    class Own(AgentMiddleware[Any, Any, Any]):
        pass

    own = Own()
    add_to_state(own)
    agent = create_agent(ScriptedChatModel("Hi."), [weather], middleware=[own])
    assert middlewares_in(agent.channels) == [own]
    assert "messages" in agent.channels
