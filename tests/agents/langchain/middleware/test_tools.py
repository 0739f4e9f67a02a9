"""Tests of tool calls as the middleware shows them, and of tools that raise."""

import asyncio
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, InjectedToolCallId, tool
from langgraph.errors import GraphInterrupt
from langgraph.types import Command

from tests.agents.langchain.graphs import WaitingTool, agent_of, broken, run_turn, weather
from tests.agents.langchain.middleware.conftest import Play
from tests.agents.langchain.middleware.recording_channel import Ear
from tests.agents.langchain.recorded_updates import PROMPT, call_of, on_thread, statuses
from tests.agents.langchain.untyped_langchain import create_agent
from tests.hubs import only, soon
from trunkline import events as ev
from trunkline.agents.langchain.channel import use_channel
from trunkline.agents.langchain.hosted.acp import acp_agent
from trunkline.agents.langchain.middleware import tools as tools_module
from trunkline.agents.langchain.middleware.tools import ToolEventFilter, ToolMiddleware
from trunkline.content import ImageBlock, TextBlock
from trunkline.errors import TurnCancelled
from trunkline.grammar import Grammar
from trunkline.questions import Permission
from trunkline.testing.chat import ScriptedChatModel, call
from trunkline.testing.recording import RecordingTransport

Run = Callable[..., Ear]


def _agent(answers: tuple[Any, ...], tools: Any, middleware: Any) -> Any:
    return create_agent(ScriptedChatModel(*answers), list(tools), middleware=list(middleware))


@pytest.fixture
def run(play: Play) -> Run:
    def run(*answers: Any, tools: Any = (weather, broken), middleware: Any) -> Ear:
        return play(_agent(answers, tools, middleware), PROMPT)

    return run


WEATHER = call("weather", {"city": "Rome"})
BROKEN = call("broken", {"why": "no fuel"})


def updates(ear: Ear) -> list[ev.ToolUpdate]:
    return only(ear.heard, ev.ToolUpdate)


def told(ear: Ear) -> list[str | None]:
    return [one.status for one in updates(ear) if one.status is not None]


def test_a_call_is_shown_from_its_beginning_to_its_end(run: Run) -> None:
    ear = run(WEATHER, "Done.", middleware=[ToolMiddleware()])
    (begun,) = only(ear.heard, ev.ToolCall)
    assert (begun.call_id, begun.name) == ("call_1", "weather")
    assert told(ear) == ["in_progress", "completed"]
    assert updates(ear)[-1].raw_output == "It is sunny in Rome."


def test_an_exception_answers_the_model_and_the_run_goes_on(run: Run) -> None:
    heard: list[Any] = []

    def answer(messages: list[Any]) -> str:
        heard.append(messages[-1])
        return "I see."

    ear = run(BROKEN, answer, middleware=[ToolMiddleware()])
    assert told(ear) == ["in_progress", "failed"]
    (message,) = heard
    assert (message.status, message.content) == ("error", "Error: ValueError: no fuel")


def test_an_exception_is_raised_where_that_is_wanted(run: Run) -> None:
    ears: list[Ear] = []
    with pytest.raises(ValueError, match="no fuel"):
        ears.append(run(BROKEN, middleware=[_Keeps(ears), ToolMiddleware(handle_errors=False)]))
    (ear,) = ears
    assert told(ear) == ["in_progress", "failed"]
    assert updates(ear)[-1].reason == "ValueError: no fuel"


class _Keeps(AgentMiddleware[Any, Any, Any]):
    """Keeps the channel of a run that will raise."""

    def __init__(self, ears: list[Ear]) -> None:
        super().__init__()
        self._ears = ears

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        self._keep()
        return handler(request)

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        self._keep()
        return await handler(request)

    def _keep(self) -> None:
        from trunkline.agents.langchain.channel import current_channel

        channel = current_channel()
        assert isinstance(channel, Ear)
        self._ears.append(channel)


@pytest.mark.parametrize("error", [GraphInterrupt(()), TurnCancelled("the turn is over")])
def test_an_interrupt_and_a_cancelled_turn_always_pass(run: Run, error: Exception) -> None:
    @tool
    def leave() -> str:
        """Leave."""
        raise error

    if isinstance(error, GraphInterrupt):
        assert told(run(call("leave", {}), tools=[leave], middleware=[ToolMiddleware()])) == ["in_progress"]
    else:
        with pytest.raises(TurnCancelled):
            run(call("leave", {}), tools=[leave], middleware=[ToolMiddleware()])


async def test_a_cancelled_task_passes() -> None:
    waiting = WaitingTool()

    agent = create_agent(ScriptedChatModel(call("wait", {})), [waiting.tool], middleware=[ToolMiddleware()])
    task = asyncio.create_task(agent.ainvoke(PROMPT))
    await soon(waiting.begun.wait())
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await soon(task)


def test_an_answer_that_does_not_fit_its_interrupt_is_raised(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tools_module, "is_invalid_resume", bool)
    with pytest.raises(ValueError, match="no fuel"):
        run(BROKEN, middleware=[ToolMiddleware()])


def test_arguments_that_do_not_fit_fail_the_call_with_the_reason(run: Run) -> None:
    ear = run(call("weather", {"town": "Rome"}), "Sorry.", middleware=[ToolMiddleware()])
    assert told(ear)[-1] == "failed"
    assert "city" in str(updates(ear)[-1].reason)


def test_a_call_that_is_answered_in_the_tools_place_is_shown(run: Run) -> None:
    class Refuses(AgentMiddleware[Any, Any, Any]):
        def wrap_tool_call(self, request: Any, handler: Any) -> Any:
            return ToolMessage("no", tool_call_id=request.tool_call["id"], status="error")

        async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
            return self.wrap_tool_call(request, handler)

    ear = run(WEATHER, "Done.", middleware=[ToolMiddleware(), Refuses()])
    assert told(ear)[-1] == "failed"
    assert updates(ear)[-1].reason == "no"


def test_the_message_in_a_command_is_the_result(run: Run) -> None:
    @tool
    def store(tool_call_id: Annotated[str, InjectedToolCallId]) -> Any:
        """Store."""
        return Command(update={"messages": [ToolMessage("stored", tool_call_id=tool_call_id)]})

    ear = run(call("store", {}), "Done.", tools=[store], middleware=[ToolMiddleware()])
    assert told(ear) == ["in_progress", "completed"]
    assert updates(ear)[-1].raw_output == "stored"


def test_the_messages_of_other_calls_are_not_taken_for_the_result() -> None:
    from trunkline.agents.langchain.middleware.tools import _messages_of  # pyright: ignore[reportPrivateUsage]

    mine, other = ToolMessage("a", tool_call_id="1"), ToolMessage("b", tool_call_id="2")
    assert _messages_of([mine, Command(update={"messages": [other]})], "1") == [mine]
    assert _messages_of(other, "1") == []
    assert _messages_of(Command(goto="x"), "1") == []


def test_without_starts_a_call_is_shown_when_it_ends(run: Run) -> None:
    ear = run(WEATHER, "Done.", middleware=[ToolMiddleware(emit_tool_start=False)])
    assert told(ear) == ["completed"]


def test_without_results_a_call_still_ends(run: Run) -> None:
    ear = run(WEATHER, "Done.", middleware=[ToolMiddleware(emit_tool_results=False)])
    assert told(ear) == ["in_progress", "completed"]
    assert not updates(ear)[-1].content
    assert "sunny" not in str(updates(ear)[-1])


def test_with_both_off_nothing_is_said_and_errors_are_still_handled(run: Run) -> None:
    silent = ToolMiddleware(emit_tool_start=False, emit_tool_results=False)
    assert run(WEATHER, BROKEN, "Done.", middleware=[silent]).heard == []


def test_without_anybody_to_tell_errors_are_handled_all_the_same() -> None:
    result = _agent((BROKEN, "I see."), [broken], [ToolMiddleware()]).invoke(PROMPT)
    assert result["messages"][-1].content == "I see."


def test_a_mapper_says_what_kind_a_tool_is(run: Run) -> None:
    middleware = ToolMiddleware(tool_kind_mapper=lambda name: "fetch" if name == "weather" else None)
    ear = run(WEATHER, BROKEN, "Done.", middleware=[middleware])
    assert [(one.call_id, one.kind) for one in updates(ear) if one.kind is not None] == [("call_1", "fetch")]


def test_the_hints_of_a_server_say_what_kind_a_tool_is(run: Run) -> None:
    hinted: BaseTool = weather.model_copy(update={"metadata": {"readOnlyHint": True}})
    ear = run(WEATHER, "Done.", tools=[hinted], middleware=[ToolMiddleware()])
    assert [one.kind for one in updates(ear) if one.kind is not None] == ["read"]


@pytest.mark.parametrize("shown", ["short", TextBlock(text="short"), ["short"], (TextBlock(text="short"),)])
def test_a_content_mapper_says_what_is_shown_of_a_result(run: Run, shown: Any) -> None:
    def show(message: ToolMessage) -> Any:
        return shown

    ear = run(WEATHER, "Done.", middleware=[ToolMiddleware(content_mapper=show)])
    assert updates(ear)[-1].content == (TextBlock(text="short"),)


def test_a_content_mapper_may_leave_a_result_as_it_is(run: Run) -> None:
    def leave(message: ToolMessage) -> None:
        return None

    ear = run(WEATHER, "Done.", middleware=[ToolMiddleware(content_mapper=leave)])
    assert updates(ear)[-1].content == (TextBlock(text="It is sunny in Rome."),)


async def test_a_client_never_gets_what_a_content_mapper_hides(transport: RecordingTransport) -> None:
    def hide(message: ToolMessage) -> str:
        return "[hidden]"

    script = ScriptedChatModel(WEATHER, "Done.")
    agent = acp_agent(script, [weather], transport=transport, content_mapper=hide)
    await soon(agent.ainvoke(PROMPT))
    assert statuses(transport, "call_1") == ["pending", "in_progress", "completed"]
    (block,) = call_of(transport, "call_1")["content"]
    assert block["content"]["text"] == "[hidden]"
    assert "sunny" not in str(transport.emitted)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["pending", "in_progress", "completed"]),
        ({"emit_tool_start": False}, ["pending", "completed"]),
        ({"emit_tool_results": False}, ["pending", "in_progress", "completed"]),
        ({"emit_tool_start": False, "emit_tool_results": False}, []),
    ],
)
async def test_the_options_hold_for_the_callbacks_too(
    options: dict[str, Any], expected: list[str], transport: RecordingTransport
) -> None:
    agent = acp_agent(ScriptedChatModel(WEATHER, "Done."), [weather], transport=transport, **options)
    await soon(agent.ainvoke(PROMPT))
    assert statuses(transport, "call_1") == expected
    assert ("sunny" in str(transport.emitted)) == options.get("emit_tool_results", True)


async def test_an_image_in_a_result_is_an_image() -> None:
    @tool
    def draw() -> list[Any]:
        """Draw."""
        return [{"type": "image", "base64": "aGk=", "mime_type": "image/png"}]

    ear = Ear()
    with use_channel(ear):
        agent = create_agent(
            ScriptedChatModel(call("draw", {}), "Done."), [draw], middleware=[ToolMiddleware()]
        )
        await soon(agent.ainvoke(PROMPT))
    assert updates(ear)[-1].content == (ImageBlock(data="aGk=", mime_type="image/png"),)


async def test_in_a_session_everything_is_still_said_once() -> None:
    agent, _ = agent_of(WEATHER, BROKEN, "Done.", tools=[weather, broken], middleware=[ToolMiddleware()])
    events = await run_turn(agent, "go")
    statuses = [(one.call_id, one.status) for one in only(events, ev.ToolUpdate) if one.status is not None]
    assert statuses == [
        ("call_1", "in_progress"),
        ("call_1", "completed"),
        ("call_2", "in_progress"),
        ("call_2", "failed"),
    ]
    assert not only(events, ev.Notice)


async def test_inside_a_subagent_the_word_is_left_to_the_callbacks(transport: RecordingTransport) -> None:
    inner = create_agent(ScriptedChatModel(WEATHER, "Sunny."), [weather], middleware=[ToolMiddleware()])

    @tool
    async def scout() -> str:
        """Ask the scout."""
        return (await inner.ainvoke(PROMPT))["messages"][-1].content

    agent = acp_agent(ScriptedChatModel(call("scout", {}, id="c1"), "Done."), [scout], transport=transport)
    await soon(agent.ainvoke(PROMPT, on_thread("s1")))
    begun = [one["toolCallId"] for one in transport.updates if one["sessionUpdate"] == "tool_call"]
    assert begun == ["c1", "call_1@c1"]


# -- event_filter ------------------------------------------------------------------------------------


def test_a_question_about_a_call_shows_the_call() -> None:
    quiet = ToolEventFilter(start=False)
    begun = ev.ToolCall(call_id="1", name="x")
    asked = ev.Asked(question_id="q", question=Permission(call_id="1"))
    assert quiet.feed(begun) == []
    assert quiet.feed(ev.ToolInput(call_id="1", delta="{}")) == []
    assert quiet.feed(asked) == [begun, asked]
    done = ev.ToolUpdate(call_id="1", status="completed")
    assert quiet.feed(done) == [done]


def test_what_is_not_about_calls_passes() -> None:
    word = ev.Text(message_id="m", delta="hi")
    assert ToolEventFilter(start=False, results=False, ends=False).feed(word) == [word]


def test_what_is_left_is_legal_whatever_is_left_out() -> None:
    story: list[ev.AnyEvent] = [
        ev.TurnStarted(turn_id="t"),
        ev.ToolCall(call_id="1", name="x"),
        ev.ToolUpdate(call_id="1", status="in_progress"),
        ev.ToolUpdate(call_id="1", status="completed", raw_output="secret"),
        ev.TurnFinished(turn_id="t"),
    ]
    for start in (True, False):
        for results in (True, False):
            grammar, quiet = Grammar(), ToolEventFilter(start=start, results=results, ends=start or results)
            for event in story:
                for shown in quiet.feed(event):
                    grammar.feed(shown)
            assert grammar.violations == []


def test_closing_forgets_what_was_held_back() -> None:
    quiet = ToolEventFilter(start=False)
    quiet.feed(ev.ToolCall(call_id="1", name="x"))
    assert quiet.close() == []
    done = ev.ToolUpdate(call_id="1", status="completed")
    assert quiet.feed(done) == [done]
