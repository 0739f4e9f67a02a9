"""Tests of plans: where they come from, and that each change is shown once."""

import operator
from collections.abc import Callable
from types import SimpleNamespace
from typing import Annotated, Any, NotRequired, cast

import pytest
from langchain.agents import AgentState
from langchain.agents.middleware import AgentMiddleware, TodoListMiddleware
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool, InjectedToolCallId, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import MessagesState
from langgraph.types import Command

from tests.agents.langchain.graphs import agent_of, broken, graph_of, helper_for, run_turn, weather
from tests.agents.langchain.middleware.conftest import Play
from tests.agents.langchain.middleware.recording_channel import Ear
from tests.agents.langchain.recorded_updates import PROMPT, kinds, on_thread
from tests.agents.langchain.untyped_langchain import create_agent
from tests.hubs import collect, hub_for, only, soon
from trunkline import adapt
from trunkline import events as ev
from trunkline.agents.langchain import channel_lookup
from trunkline.agents.langchain.channel import use_channel
from trunkline.agents.langchain.hosted.acp import acp_agent
from trunkline.agents.langchain.hosted.context import TrunklineContext
from trunkline.agents.langchain.middleware.plan import PlanMiddleware, emit_plan
from trunkline.errors import ConfigurationError
from trunkline.testing.chat import ScriptedChatModel, call, thinks
from trunkline.testing.recording import RecordingTransport

TODOS = [{"content": "Look", "status": "in_progress"}, {"content": "Write", "status": "pending"}]
DONE = [{"content": "Look", "status": "completed"}, {"content": "Write", "status": "completed"}]

Run = Callable[..., Ear]


def _made(*answers: Any, tools: Any, **options: Any) -> Any:
    return create_agent(ScriptedChatModel(*answers), list(tools), **options)


@pytest.fixture
def run(play: Play) -> Run:
    def run(*answers: Any, tools: Any = (), state: Any = None, **options: Any) -> Ear:
        return play(_made(*answers, tools=tools, **options), {**PROMPT, **(state or {})})

    return run


def test_the_todo_tool_shows_its_plan_once_per_change(run: Run) -> None:
    ear = run(
        [call("write_todos", {"todos": TODOS})],
        [call("write_todos", {"todos": TODOS})],
        [call("write_todos", {"todos": DONE})],
        "Done.",
        middleware=[PlanMiddleware(), TodoListMiddleware()],
    )
    assert ear.plans == [[">Look", "Write"], ["+Look", "+Write"]]


def test_two_todo_calls_at_once_are_refused_and_change_no_plan(run: Run) -> None:
    both = [call("write_todos", {"todos": TODOS}), call("write_todos", {"todos": DONE})]
    assert run(both, "Sorry.", middleware=[PlanMiddleware(), TodoListMiddleware()]).plans == []


class Refusing(AgentMiddleware[Any, Any, Any]):
    """Refuses every call."""

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        return ToolMessage("no", tool_call_id=request.tool_call["id"], status="error")

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        return self.wrap_tool_call(request, handler)


def test_a_todo_call_that_is_refused_changes_no_plan(run: Run) -> None:
    middleware = [PlanMiddleware(), Refusing(), TodoListMiddleware()]
    assert run([call("write_todos", {"todos": TODOS})], "Well.", middleware=middleware).plans == []


class Planned(AgentState[Any]):
    plan: NotRequired[Annotated[list[Any], operator.add]]


class Planner(AgentMiddleware[Any, Any, Any]):
    state_schema = Planned


@tool
def add_step(step: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
    """Add a step to the plan."""
    return Command(update={"plan": [step], "messages": [ToolMessage("added", tool_call_id=tool_call_id)]})


def test_a_plan_in_the_state_is_shown_as_its_reducer_leaves_it(run: Run) -> None:
    ear = run(
        [call("add_step", {"step": "Write"})],
        "Done.",
        tools=[add_step],
        state={"plan": ["Look"]},
        middleware=[PlanMiddleware(), Planner()],
    )
    assert ear.plans == [["Look"], ["Look", "Write"]]


def test_a_plan_is_read_from_reasoning_and_from_text(run: Run) -> None:
    ear = run(
        [thinks("1. Look\n2. Write"), call("weather", {"city": "Rome"})],
        "Here is my plan:\n- [x] Look\n- [ ] Write",
        tools=[weather],
        middleware=[PlanMiddleware()],
    )
    assert ear.plans == [["Look", "Write"], ["+Look", "Write"]]


def test_an_answer_that_counts_things_is_no_plan(run: Run) -> None:
    assert run("Big cities:\n1. Tokyo\n2. Delhi", middleware=[PlanMiddleware()]).plans == []


def test_words_do_not_replace_a_plan_that_stands_in_the_state(run: Run) -> None:
    ear = run(
        [call("write_todos", {"todos": TODOS})],
        "My plan:\n1. Sleep\n2. Eat",
        middleware=[PlanMiddleware(), TodoListMiddleware()],
    )
    assert ear.plans == [[">Look", "Write"]]


def test_a_function_of_the_state_builds_the_plan_also_from_the_last_answer(run: Run) -> None:
    def steps(state: Any) -> list[Any] | None:
        said = [message for message in state["messages"] if isinstance(message, AIMessage)]
        return [{"title": "Answer", "status": "completed", "priority": "high"}] if said else None

    ear = run("My plan:\n1. Sleep\n2. Eat", middleware=[PlanMiddleware(build_plan=steps)])
    assert only(ear.heard, ev.Plan)[0].entries == (
        ev.PlanEntry(content="Answer", status="completed", priority="high"),
    )
    assert ear.plans == [["+Answer"]]


def test_a_function_that_gives_none_leaves_the_plan_to_the_words(run: Run) -> None:
    ear = run("My plan:\n1. Sleep\n2. Eat", middleware=[PlanMiddleware(build_plan=lambda state: None)])
    assert ear.plans == [["Sleep", "Eat"]]


def test_a_function_that_fails_costs_the_plan_and_not_the_run(
    run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    def steps(state: Any) -> list[str]:
        raise KeyError("nothing")

    ear = run(
        call("weather", {"city": "Rome"}),
        "My plan:\n1. Sleep\n2. Eat",
        middleware=[PlanMiddleware(build_plan=steps)],
    )
    assert ear.plans == []
    assert caplog.text.count("build_plan failed, so no plan is shown") == 1


@tool
def plan_by_hand(steps: list[str]) -> str:
    """Show a plan."""
    emit_plan(steps)
    emit_plan(steps)
    return "shown"


@tool
async def plan_by_hand_async(steps: list[str]) -> str:
    """Show a plan."""
    emit_plan([ev.PlanEntry(content=step) for step in steps])
    return "shown"


def test_a_tool_shows_a_plan_by_hand_once(run: Run) -> None:
    ear = run([call("plan_by_hand", {"steps": ["a", "b"]})], "Done.", tools=[plan_by_hand])
    assert ear.plans == [["a", "b"]]


def test_a_plan_by_hand_stays_until_another_road_brings_a_new_one(run: Run) -> None:
    ear = run(
        [call("write_todos", {"todos": TODOS})],
        [call("plan_by_hand", {"steps": ["a"]})],
        [call("weather", {"city": "Rome"})],
        [call("write_todos", {"todos": DONE})],
        [call("plan_by_hand", {"steps": ["a"]})],
        "Done.",
        tools=[plan_by_hand, weather],
        middleware=[PlanMiddleware(), TodoListMiddleware()],
    )
    assert ear.plans == [[">Look", "Write"], ["a"], ["+Look", "+Write"], ["a"]]


@pytest.mark.parametrize("made", [plan_by_hand, plan_by_hand_async])
async def test_a_plan_by_hand_reaches_the_session(made: BaseTool) -> None:
    agent, _ = agent_of([call(made.name, {"steps": ["a", "b"]})], "Done.", tools=[made])
    events = await run_turn(agent, "go")
    assert [entry.content for plan in only(events, ev.Plan) for entry in plan.entries] == ["a", "b"]


@pytest.mark.parametrize("made", [[{"content": "a"}, "b"], {"entries": [{"content": "a"}, {"content": "b"}]}])
async def test_a_node_shows_a_plan_by_hand(made: Any) -> None:
    def node(state: MessagesState) -> dict[str, Any]:
        emit_plan(made)
        return {"messages": [AIMessage("Done.")]}

    events = await run_turn(adapt(graph_of(node)), "go")
    assert only(events, ev.Plan)[0].entries == (ev.PlanEntry(content="a"), ev.PlanEntry(content="b"))


class Operator:
    """Connects every run to one channel."""

    def __init__(self, ear: Ear) -> None:
        self.ear = ear

    def connect(self, context: TrunklineContext | None, config: Any = None) -> Ear:
        return self.ear

    def has_run_in(self, outer: object, context: TrunklineContext | None) -> bool:
        return False

    def open(self, context: TrunklineContext | None, config: Any) -> Ear:
        return self.ear


def test_a_run_that_only_the_middleware_can_connect_is_heard_also_by_hand() -> None:
    ear, plan = Ear(), PlanMiddleware()
    plan.channel_source = Operator(ear)
    script = [[call("plan_by_hand", {"steps": ["a"]})], "My plan:\n1. b\n2. c"]
    _made(*script, tools=[plan_by_hand], middleware=[plan]).invoke(PROMPT)
    assert ear.plans == [["a"], ["b", "c"]]


def test_a_run_is_connected_by_its_context_too(monkeypatch: pytest.MonkeyPatch) -> None:
    ear = Ear()

    def runs_of_context(transport: Any) -> Operator:
        return Operator(ear)

    monkeypatch.setattr(channel_lookup, "runs_of_context", runs_of_context)
    agent = _made([call("plan_by_hand", {"steps": ["a"]})], "Done.", tools=[plan_by_hand])
    agent.invoke(PROMPT, context=TrunklineContext(transport=SimpleNamespace(emit=print)))
    assert ear.plans == [["a"]]


def test_a_plan_by_hand_outside_of_a_run_is_heard_by_nobody() -> None:
    emit_plan(["a"])


@pytest.mark.parametrize(
    ("given", "error", "why"),
    [
        ("Look", TypeError, "a plan is a list"),
        ({"content": "Look"}, TypeError, "a plan is a list"),
        (7, TypeError, "a plan is a list"),
        ([7], TypeError, "a text, a PlanEntry or a dict, not 7"),
        ([""], ValueError, "has a text as its content"),
        ([{"status": "pending"}], ValueError, "has a text as its content"),
        (
            [{"content": "a", "status": "done"}],
            ValueError,
            "status .* pending, in_progress, completed, not 'done'",
        ),
        ([ev.PlanEntry(content="a", priority=cast("Any", "urgent"))], ValueError, "one of high, medium, low"),
    ],
)
def test_what_is_no_plan_is_refused_with_the_reason(given: Any, error: type[Exception], why: str) -> None:
    with pytest.raises(error, match=why):
        emit_plan(given)


async def test_adapter_and_middleware_together_show_each_change_once() -> None:
    agent, _ = agent_of(
        [call("write_todos", {"todos": TODOS}), call("weather", {"city": "Rome"})],
        [call("weather", {"city": "Oslo"})],
        [call("write_todos", {"todos": DONE})],
        "Done.",
        middleware=[PlanMiddleware(), TodoListMiddleware()],
    )
    events = await run_turn(agent, "go")
    shown = [[entry.status for entry in plan.entries] for plan in only(events, ev.Plan)]
    assert shown == [["in_progress", "pending"], ["completed", "completed"]]


def test_a_plan_of_an_earlier_turn_is_not_shown_again() -> None:
    model = ScriptedChatModel([call("write_todos", {"todos": TODOS})], "Going.", "Nothing new.")
    middleware = [PlanMiddleware(), TodoListMiddleware()]
    agent = create_agent(model, [], middleware=middleware, checkpointer=InMemorySaver())
    ear = Ear()
    with use_channel(ear):
        for _ in range(2):
            agent.invoke(PROMPT, {"configurable": {"thread_id": "1"}})
    assert ear.plans == [[">Look", "Write"]]


# -- what is shown when ----------------------------------------------------------------------------

SCRIPT = (
    [thinks("1. Think\n2. Act"), call("weather", {"city": "Rome"})],
    [call("plan_by_hand", {"steps": ["by hand"]})],
    [call("write_todos", {"todos": TODOS})],
    "Done.",
)


@pytest.mark.parametrize(
    ("emit_on", "plans"),
    [
        ({"reasoning"}, [["Think", "Act"]]),
        ({"tool_calls"}, [[">Look", "Write"]]),
        ({"manual"}, [["by hand"]]),
        (set[str](), []),
        (["reasoning", "tool_calls", "manual"], [["Think", "Act"], ["by hand"], [">Look", "Write"]]),
    ],
)
def test_plans_are_shown_on_what_they_shall_be_shown_on(run: Run, emit_on: Any, plans: list[Any]) -> None:
    middleware = [PlanMiddleware(emit_on=emit_on), TodoListMiddleware()]
    assert run(*SCRIPT, tools=[weather, plan_by_hand], middleware=middleware).plans == plans


def test_words_are_not_read_when_they_shall_not_be(run: Run) -> None:
    middleware = [PlanMiddleware(auto_detect_planning=False), TodoListMiddleware()]
    ear = run(*SCRIPT, tools=[weather, plan_by_hand], middleware=middleware)
    assert ear.plans == [["by hand"], [">Look", "Write"]]


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"emit_on": {"reasoning", "thinking"}}, "no thinking; choose from reasoning, tool_calls, manual"),
        ({"emit_on": "manual"}, "not the word 'manual'"),
        ({"build_plan": ["a"]}, "build_plan must be a function"),
    ],
)
def test_an_option_that_cannot_be_meant_is_refused(wrong: Any, why: str) -> None:
    with pytest.raises(ConfigurationError, match=why):
        PlanMiddleware(**wrong)


def test_without_a_channel_the_agent_runs_as_without_the_middleware() -> None:
    plain = _made("My plan:\n1. a\n2. b", tools=[], middleware=[PlanMiddleware()]).invoke(PROMPT)
    assert plain["messages"][-1].text == "My plan:\n1. a\n2. b"


def test_a_failing_tool_fails_as_it_would_without_the_middleware(run: Run) -> None:
    with pytest.raises(ValueError, match="no fuel"):
        run([call("broken")], tools=[broken], middleware=[PlanMiddleware()])


def _with_a_helper() -> tuple[ScriptedChatModel, BaseTool]:
    """A model that calls an agent whose tool shows a plan."""

    @tool
    def steps() -> str:
        """Show a plan."""
        emit_plan(["one", "two"])
        return "shown"

    inner = create_agent(ScriptedChatModel([call("steps", {})], "Shown."), [steps])
    return ScriptedChatModel([call("helper", {"job": "x"})], "Done."), helper_for(inner)


@pytest.mark.parametrize("off", [True, False], ids=["off", "on"])
async def test_a_plan_that_a_subagent_shows_by_hand_is_silenced_too_in_a_session(off: bool) -> None:
    model, helper = _with_a_helper()
    middleware = [PlanMiddleware(auto_detect_planning=False, emit_on=())] if off else []
    async with hub_for(adapt(create_agent(model, [helper], middleware=middleware))) as hub:
        told = await collect(await hub.create(), "go")
    assert len(only(told, ev.Plan)) == (0 if off else 1)


@pytest.mark.parametrize("off", [True, False], ids=["off", "on"])
async def test_a_plan_that_a_subagent_shows_by_hand_is_silenced_too_in_an_agent_that_speaks(
    off: bool, transport: RecordingTransport
) -> None:
    model, helper = _with_a_helper()
    agent = acp_agent(model, [helper], transport=transport, **({"emit_on": ()} if off else {}))
    await soon(agent.ainvoke(PROMPT, on_thread("s1")))
    assert kinds(transport).count("plan") == (0 if off else 1)
