"""How a turn ends: by its answer, by a limit, by an error, by a person who stops it."""

import asyncio
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from agents.testing import ModelStep, ScriptedModel
from agents.tracing import TracingProcessor
from pydantic import BaseModel

from agents import (
    Agent,
    FunctionToolResult,
    GuardrailFunctionOutput,
    InputGuardrail,
    RunConfig,
    ToolsToFinalOutputResult,
    function_tool,
    set_trace_processors,
)
from tests.agents.openai.sdk_agents import (
    WaitingTool,
    agent_of,
    call,
    ended,
    named,
    say,
    sent,
    started,
    statuses,
    weather,
)
from tests.hubs import collect, only, run_turn, session_for, soon, text_of
from trunkline import events as ev
from trunkline.agents.openai import OpenAIAgent
from trunkline.commands import Prompt
from trunkline.content import DiffBlock, ImageBlock, TextBlock
from trunkline.folding import fold


async def test_too_many_requests_to_the_model_end_the_turn_with_that_reason() -> None:
    calls = [[call("weather", f"w{number}", city="Rome")] for number in range(3)]
    agent, _ = agent_of(*calls, max_turns=2)
    events = await run_turn(agent)
    assert isinstance(events[-1], ev.TurnFinished)
    assert events[-1].stop_reason == "max_turn_requests"


async def test_a_guardrail_that_stops_the_run_is_named() -> None:
    async def never(context: Any, agent: Any, given: Any) -> GuardrailFunctionOutput:
        return GuardrailFunctionOutput(output_info="not here", tripwire_triggered=True)

    guardrail: InputGuardrail[Any] = InputGuardrail(guardrail_function=never, name="never")
    agent, _ = agent_of("Hi.", input_guardrails=[guardrail])
    events = await run_turn(agent)
    assert isinstance(events[-1], ev.TurnFinished)
    assert events[-1].stop_reason == "refusal"
    assert [notice.code for notice in only(events, ev.Notice)] == ["guardrail_triggered"]


async def test_an_error_of_the_provider_has_its_code_and_its_text() -> None:
    response = httpx2.Response(429, request=httpx2.Request("POST", "https://api.openai.com/v1/responses"))
    error = openai.RateLimitError("Error code: 429", response=response, body={"message": "Slow down."})
    agent, _ = agent_of(ModelStep.raise_error(error))
    events = await run_turn(agent)
    assert isinstance(events[-1], ev.TurnFailed)
    assert (events[-1].code, events[-1].message) == ("rate_limited", "RateLimitError: Slow down.")


async def test_a_cancelled_turn_leaves_no_task_and_the_model_knows_how_far_it_came() -> None:
    waiting, looked = WaitingTool(), asyncio.Event()

    @function_tool
    async def look(city: str) -> str:
        """Look at a city."""
        looked.set()
        return f"It is sunny in {city}."

    agent, model = agent_of(
        [*say("Let me see. "), call("look", "w1", city="Rome"), call("wait", "x1")],
        "Where we were.",
        tools=[look, waiting.tool],
    )
    before = asyncio.all_tasks()
    async with session_for(agent) as session:
        inside = asyncio.all_tasks()
        await started(session, "Look.")
        await soon(waiting.begun.wait())
        await soon(looked.wait())
        await session.cancel()
        shown = await ended(session)
        assert waiting.ended.is_set()
        assert statuses(shown) == {"w1": "completed", "x1": "cancelled"}
        assert shown.turns[-1].stop_reason == "cancelled"
        await asyncio.sleep(0)
        assert not [task for task in asyncio.all_tasks() - inside if "agents" in repr(task.get_coro())]
        await collect(session, "Go on.")
    assert asyncio.all_tasks() == before
    assert sent(model)[:6] == [
        ("user", "Look."),
        ("assistant", "Let me see. "),
        ("call w1", '{"city":"Rome"}'),
        ("output w1", "It is sunny in Rome."),
        ("call x1", "{}"),
        ("output x1", "the turn was cancelled"),
    ]


async def test_a_cancel_inside_nested_agents_settles_every_call_and_lane_and_leaves_no_task() -> None:
    waiting = WaitingTool()
    deep: Agent[Any] = Agent(
        name="Deep", model=ScriptedModel([[call("wait", "x1")], say("Never.")]), tools=[waiting.tool]
    )
    scout: Agent[Any] = Agent(
        name="Scout",
        model=ScriptedModel([[call("weather", "w1", city="Oslo"), call("deep", "d1", input="Wait.")]]),
        tools=[weather, deep.as_tool("deep", "Go deeper.")],
    )
    agent, model = agent_of(
        [call("scout", "s1", input="Oslo?")], "Here again.", tools=[scout.as_tool("scout", "Look there.")]
    )
    before = asyncio.all_tasks()
    async with session_for(agent) as session:
        await started(session, "Look.")
        await soon(waiting.begun.wait())
        await session.cancel()
        shown = await ended(session)
        assert waiting.ended.is_set(), "the tool of the innermost agent has stopped"
        assert shown.turns[-1].stop_reason == "cancelled"
        # What ran to its end is not called cancelled. The SDK tells its result with those of the others.
        cancelled = dict.fromkeys(("s1", "d1", "x1"), "cancelled")
        assert statuses(shown) == {"w1": "completed"} | cancelled
        assert named(shown)["w1"].raw_output == "It is sunny in Oslo."
        assert [lane.outcome for lane in shown.lanes.values()] == ["cancelled", "cancelled"]
        await collect(session, "Go on.")
        assert sent(model)[-1] == ("user", "Go on.")
        outputs = [one for one, _ in sent(model) if one.startswith("output ")]
        assert outputs == ["output s1"], "the model sees an end of every call that it made"
    assert asyncio.all_tasks() == before


async def test_an_agent_as_a_tool_speaks_in_a_lane_of_its_own() -> None:
    inner: Agent[Any] = Agent(
        name="Scout",
        model=ScriptedModel([[call("weather", "w1", city="Oslo")], say("Rain.")]),
        tools=[weather],
    )
    agent, _ = agent_of(
        [call("scout", "s1", input="Oslo?")], "It rains.", tools=[inner.as_tool("scout", "Look there.")]
    )
    shown = fold(await run_turn(agent))
    ((lane, state),) = shown.lanes.items()
    assert (state.name, state.outcome, state.parent_call_id) == ("Scout", "completed", "s1")
    assert [message.text for message in shown.messages if message.lane == lane][-1] == "Rain."
    assert {call.native_id or call.call_id: (call.lane, call.status) for call in shown.calls.values()} == {
        "s1": (None, "completed"),
        "w1": (lane, "completed"),
    }
    assert [message.text for message in shown.messages if message.lane is None][-1] == "It rains."


async def test_a_handoff_reaches_an_agent_that_asks_and_reports_as_the_first_one() -> None:
    other: Agent[Any] = Agent(
        name="Other",
        model=ScriptedModel([[call("weather", "w1", city="Oslo")], say("Rain.")]),
        tools=[weather],
    )
    agent, _ = agent_of([call("transfer_to_other", "h1")], handoffs=[other])
    events = await run_turn(agent)
    assert text_of(events) == "Rain."
    assert statuses(fold(events))["w1"] == "completed"
    assert "in_progress" in [event.status for event in only(events, ev.ToolUpdate)]


class Answer(BaseModel):
    city: str


async def test_a_call_that_overwrites_a_file_shows_the_old_text(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("old words")

    @function_tool
    def write_file(path: str, content: str) -> str:
        """Write a file."""
        Path(path).write_text(content)
        return "written"

    path = str(tmp_path / "notes.md")
    agent, _ = agent_of(
        [call("write_file", "f1", path=path, content="new words")], "Done.", tools=[write_file]
    )
    async with session_for(agent, cwd=str(tmp_path)) as session:
        shown = fold(await collect(session, "Write."))
    (block,) = [one for one in shown.calls["f1"].content if isinstance(one, DiffBlock)]
    assert (block.old, block.new) == ("old words", "new words")


async def test_a_structured_answer_is_streamed_as_its_json() -> None:
    agent, _ = agent_of('{"city": "Rome"}', output_type=Answer, tools=[])
    assert text_of(await run_turn(agent)) == '{"city": "Rome"}'


async def test_images_and_what_the_page_shows_reach_the_model() -> None:
    agent, model = agent_of("A cat.")
    prompt = Prompt(
        content=(TextBlock(text="What is it?"), ImageBlock(mime_type="image/png", data="iVBORw0KGgo=")),
        context=({"description": "The page", "value": {"tab": 2}},),
    )
    await run_turn(agent, prompt)
    given: Any = model.calls[0].input
    assert given[0] == {"role": "user", "content": 'What the application shows:\nThe page: {"tab": 2}'}
    assert [part["type"] for part in given[1]["content"]] == ["input_text", "input_image"]


class Recorder(TracingProcessor):
    def __init__(self) -> None:
        self.traces: list[Any] = []

    def on_trace_start(self, trace: Any) -> None:
        self.traces.append(trace)

    def on_trace_end(self, trace: Any) -> None: ...
    def on_span_start(self, span: Any) -> None: ...
    def on_span_end(self, span: Any) -> None: ...
    def shutdown(self) -> None: ...
    def force_flush(self) -> None: ...


@pytest.mark.parametrize("tracing", [False, True])
async def test_nothing_is_traced_unless_that_is_asked_for(tracing: bool) -> None:
    recorder = Recorder()
    set_trace_processors([recorder])
    try:
        agent, _ = agent_of("Hi.", tracing=tracing, run_config=RunConfig(workflow_name="mine"))
        await run_turn(agent)
    finally:
        set_trace_processors([])
    assert bool(recorder.traces) == tracing


async def test_the_users_context_and_agent_are_as_they_were() -> None:
    seen: list[Any] = []

    @function_tool
    def look(context: Any) -> str:
        """Look."""
        return "x"

    agent: Agent[Any] = Agent(name="A", model=ScriptedModel([say("Hi.")]), tools=[look], instructions=None)
    before = (list(agent.tools), agent.model_settings, type(agent), look.tool_input_guardrails)

    def instructions(context: Any, me: Any) -> str:
        seen.append(context.context)
        return "Be kind."

    agent.instructions = instructions
    async with session_for(OpenAIAgent(agent, context=lambda view: {"session": view.session_id})) as session:
        await collect(session, "Hi.")
        assert seen == [{"session": session.session_id}]
    assert (
        list(agent.tools),
        agent.model_settings,
        type(agent),
        look.tool_input_guardrails,
    ) == before


def final(context: Any, results: list[FunctionToolResult]) -> ToolsToFinalOutputResult:
    """End a run with what its tools gave."""
    return ToolsToFinalOutputResult(is_final_output=True, final_output=f"So: {results[0].output}")


@pytest.mark.parametrize(
    ("behavior", "said"),
    [
        ("stop_on_first_tool", "It is sunny in Rome."),
        ({"stop_at_tool_names": ["weather"]}, "It is sunny in Rome."),
        (final, "So: It is sunny in Rome."),
    ],
)
async def test_the_output_of_a_run_that_ends_with_a_tool_is_its_answer(behavior: Any, said: str) -> None:
    agent, _ = agent_of([call("weather", "w1", city="Rome")], tool_use_behavior=behavior)
    events = await run_turn(agent)
    assert text_of(events) == said
    assert isinstance(events[-1], ev.TurnFinished)
