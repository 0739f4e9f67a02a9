"""The front end's own tools, through a real agent in a real session."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState
from langgraph.prebuilt import ToolNode
from langgraph.types import Command
from tests.agents.langchain.graphs import agent_of, answering, calls_of, converse, terminal, weather
from tests.agents.langchain.mcp_example import in_turn, invoke
from tests.agents.langchain.untyped_langchain import StateGraph, create_agent
from tests.hubs import collect, events_of, only, reopened, session_for, text_of, until

from trunkline import events as ev
from trunkline.agents.langchain.agent import LangChainAgent
from trunkline.agents.langchain.channel import Channel
from trunkline.agents.langchain.tools.client_tools import client_tools
from trunkline.agents.langchain.tools.session_tools import session_tools
from trunkline.commands import Answer, Prompt
from trunkline.journal import open_journal
from trunkline.questions import ClientCall
from trunkline.testing.chat import ScriptedChatModel, call

COLOUR: dict[str, Any] = {
    "name": "set_colour",
    "description": "Paint the page.",
    "parameters": {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]},
}
RED = call("set_colour", {"colour": "red"}, "k1")


def results_in(model: ScriptedChatModel) -> list[ToolMessage]:
    """What the model was told in its second call."""
    return [message for message in model.calls[1].messages if isinstance(message, ToolMessage)]


async def play(agent: Any, *tools: dict[str, Any], answer: dict[str, Any] | None = None) -> list[ev.Event]:
    """Play a turn in which the front end has tools and answers their calls."""
    async with session_for(agent) as session:
        given = answer or {"outcome": "accepted", "content": "painted"}
        return await collect(session, Prompt.of("paint", tools=tools), answering(session, **given))


@pytest.mark.parametrize("tools", [(weather,), ()], ids=["beside tools", "without a tools node"])
@pytest.mark.parametrize("saver", [None, InMemorySaver], ids=["journal", "checkpointer"])
async def test_a_frontend_tool_is_bound_to_a_plain_create_agent_asked_for_and_its_result_read(
    tools: Any, saver: Any
) -> None:
    agent, model = agent_of(RED, "It is red.", tools=tools, checkpointer=saver and saver())
    output = await play(agent, COLOUR)
    assert "set_colour" in model.calls[0].tool_names
    (asked,) = only(output, ev.Asked)
    assert asked.question == ClientCall(call_id="k1", name="set_colour", input={"colour": "red"})
    assert asked.durable_key == ("client:k1" if saver else None)
    assert [result.content for result in results_in(model)] == ["painted"]
    painted = calls_of(output)["k1"]
    assert (painted.status, painted.input) == ("completed", {"colour": "red"})
    assert text_of(output) == "It is red."
    assert terminal(output) == output[-1]
    announced = [event for event in only(output, ev.ToolCall) if event.call_id == "k1"]
    assert len(announced) == 1


def routed(model: Any, checkpointer: Any = None) -> Any:
    """A graph as CopilotKit's docs write it: its own calls go to a ToolNode, those of the page to the end."""

    async def chat(state: MessagesState) -> Any:
        answer = await model.bind_tools([*session_tools(), weather]).ainvoke(state["messages"])
        own = answer.tool_calls and all(made["name"] == "weather" for made in answer.tool_calls)
        return Command(goto="tool_node" if own else END, update={"messages": [answer]})

    builder = StateGraph(MessagesState)
    builder.add_node("chat", chat, destinations=("tool_node", END))
    builder.add_node("tool_node", ToolNode([weather]))
    builder.add_edge("tool_node", "chat")
    builder.add_edge(START, "chat")
    return builder.compile(checkpointer=checkpointer)


@pytest.mark.parametrize("saver", [None, InMemorySaver], ids=["journal", "checkpointer"])
async def test_a_call_that_a_graph_with_a_tool_node_routes_to_its_end_stays_the_pages(saver: Any) -> None:
    model = ScriptedChatModel(call("weather", {"city": "Oslo"}, "w1"), RED, "It is red.")
    agent = LangChainAgent(routed(model, saver and saver()))
    output = await play(agent, COLOUR)
    (asked,) = only(output, ev.Asked)
    assert asked.question == ClientCall(call_id="k1", name="set_colour", input={"colour": "red"})
    assert {name: made.status for name, made in calls_of(output).items()} == {
        "w1": "completed",
        "k1": "completed",
    }
    results = [one.content for one in model.calls[2].messages if isinstance(one, ToolMessage)]
    assert results == ["It is sunny in Oslo.", "painted"]
    assert text_of(output) == "It is red."
    assert only(output, ev.Notice) == []


async def test_a_call_of_the_agent_beside_one_of_the_page_is_answered_as_not_run() -> None:
    model = ScriptedChatModel([RED, call("weather", {"city": "Oslo"}, "w1")], "It is red.")
    output = await play(LangChainAgent(routed(model)), COLOUR)
    assert [(one.tool_call_id, one.content) for one in results_in(model)] == [
        ("k1", "painted"),
        ("w1", "The agent stopped before it ran this call."),
    ]
    assert {name: made.status for name, made in calls_of(output).items()} == {
        "k1": "completed",
        "w1": "failed",
    }
    assert text_of(output) == "It is red."


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"outcome": "declined", "reason": "no paint left"}, "no paint left"),
        ({"outcome": "declined"}, "the front end did not run set_colour"),
    ],
)
@pytest.mark.parametrize("tools", [(weather,), ()], ids=["beside tools", "without a tools node"])
async def test_a_call_that_the_front_end_refuses_is_an_error_for_the_model(
    tools: Any, answer: dict[str, Any], words: str
) -> None:
    agent, model = agent_of(RED, "A pity.", tools=tools)
    output = await play(agent, COLOUR, answer=answer)
    (result,) = results_in(model)
    assert (result.status, result.content) == ("error", words)
    refused = calls_of(output)["k1"]
    assert (refused.status, refused.reason) == ("failed", words)
    assert isinstance(terminal(output), ev.TurnFinished)


@pytest.mark.parametrize(
    ("given", "content"),
    [
        (None, ""),
        ("plain", "plain"),
        ({"ok": True, "n": "ü"}, '{"ok": true, "n": "ü"}'),
        ([], "[]"),
        ([1, 2], "[1, 2]"),
        ([{"type": "text", "text": "hi"}], [{"type": "text", "text": "hi"}]),
        (
            [{"type": "audio", "base64": "AA==", "mime_type": "audio/wav"}],
            [{"type": "audio", "base64": "AA==", "mime_type": "audio/wav"}],
        ),
        (
            [{"type": "image", "source": {"type": "data", "value": "aGk=", "mimeType": "image/png"}}],
            [{"type": "image", "base64": "aGk=", "mime_type": "image/png"}],
        ),
        (
            [{"type": "image", "source": {"type": "base64", "data": "aGk=", "media_type": "image/png"}}],
            [{"type": "image", "source": {"type": "base64", "data": "aGk=", "media_type": "image/png"}}],
        ),
    ],
)
async def test_whatever_a_front_end_answers_is_what_the_model_reads(given: Any, content: Any) -> None:
    agent, model = agent_of(RED, "So be it.")
    await play(agent, COLOUR, answer={"outcome": "accepted", "content": given})
    (result,) = results_in(model)
    assert result.content == content


async def test_two_calls_at_once_are_two_questions_at_once() -> None:
    two = [call("set_colour", {"colour": "red"}, "k1"), call("set_colour", {"colour": "blue"}, "k2")]
    agent, model = agent_of(two, "Purple.")
    waiting: list[ev.Asked] = []
    async with session_for(agent) as session:

        async def settle(asked: ev.Asked) -> None:
            waiting.append(asked)
            if len(waiting) == 2:
                for item in reversed(waiting):
                    question = item.question
                    assert isinstance(question, ClientCall)
                    words = question.input["colour"]
                    await session.answer(
                        Answer(question_id=item.question_id, outcome="accepted", content=words)
                    )

        await collect(session, Prompt.of("paint", tools=(COLOUR,)), {ev.Asked: settle})
    assert {result.tool_call_id: result.content for result in results_in(model)} == {
        "k1": "red",
        "k2": "blue",
    }


async def test_a_model_that_never_stops_calling_is_stopped_by_the_graphs_own_limit() -> None:
    model = ScriptedChatModel(*([call("set_colour", {"colour": "red"}, f"k{number}")] for number in range(9)))
    agent = LangChainAgent(create_agent(model, []), config={"recursion_limit": 4})
    output = await play(agent, COLOUR)
    assert terminal(output) == ev.TurnFinished(turn_id=output[0].turn_id, stop_reason="max_turn_requests")
    assert [made.status for made in calls_of(output).values()] == ["completed"] * 4
    assert len(model.calls) == 4


async def test_a_tool_of_the_agent_wins_and_a_notice_says_so_once() -> None:
    agent, model = agent_of(call("weather", {"city": "Oslo"}), "Sunny.")
    output = await play(agent, {**COLOUR, "name": "weather"})
    assert only(output, ev.Asked) == []
    assert model.calls[0].tool_names.count("weather") == 1
    (notice,) = only(output, ev.Notice)
    assert (notice.title, notice.code) == ("Two tools are called 'weather'", "tool_clash")
    assert text_of(output) == "Sunny."


async def test_tools_are_the_prompts_and_gone_with_the_next() -> None:
    agent, model = agent_of("One.", "Two.")
    await converse(agent, Prompt.of("a", tools=(COLOUR, {"description": "nameless"})), Prompt.of("b"))
    assert [one.tool_names for one in model.calls] == [["weather", "set_colour"], ["weather"]]


@pytest.mark.parametrize("kind", ["beside tools", "without a tools node", "routed to the end"])
async def test_an_answer_after_a_restart_reaches_the_model(kind: str) -> None:
    tools = () if kind == "without a tools node" else (weather,)
    agent, model = agent_of(RED, "It is red.", tools=tools, checkpointer=InMemorySaver())
    if kind == "routed to the end":
        agent = LangChainAgent(routed(model, InMemorySaver()))
    journal = await open_journal("memory:")
    async with session_for(agent, journal=journal, session_id="s") as session:
        await session.prompt(Prompt.of("paint", tools=(COLOUR,)))
        await until(lambda: bool(session.open_questions))
    async with reopened("s", agent, journal=journal) as session:
        await session.own()
        (question,) = session.open_questions
        await session.answer(Answer(question_id=question, outcome="accepted", content="painted"))
        await until(lambda: not session.busy)
        events = await events_of(session)
    await journal.close()
    assert [result.content for result in results_in(model)] == ["painted"]
    assert calls_of(events)["k1"].status == "completed"
    assert text_of(events) == "It is red."
    assert len(only(events, ev.Asked)) == 1
    assert only(events, ev.Notice) == []
    # Its schema went with the prompt: the call is answered, but the model is not offered another.
    assert "set_colour" not in model.calls[1].tool_names


@pytest.mark.parametrize("tools", [(weather,), ()], ids=["beside tools", "without a tools node"])
async def test_a_cancelled_turn_does_not_wait_for_the_front_end(tools: Any) -> None:
    agent, _ = agent_of(RED, "Never.", tools=tools)
    async with session_for(agent) as session:
        prompt = Prompt.of("paint", tools=(COLOUR,))
        events = await collect(session, prompt, {ev.Asked: lambda _: session.cancel()})
        assert isinstance(events[-1], ev.TurnFinished)
        assert events[-1].stop_reason == "cancelled"
        assert calls_of(events)["k1"].status == "cancelled"


async def test_a_tool_that_is_kept_beyond_its_run_says_that_nobody_is_there() -> None:
    kept: list[Any] = []

    async def act(channel: Channel) -> None:
        kept.extend(client_tools(channel))

    await in_turn(act, tools=(COLOUR,))
    message = await invoke(kept[0], colour="red")
    assert (message.status, message.content) == (
        "error",
        "set_colour is a tool of the front end, and there is none in this run",
    )


async def test_plain_functions_ask_the_front_end_from_their_thread() -> None:
    async def act(channel: Channel) -> str:
        (tool,) = client_tools(channel)
        run: Any = {"type": "tool_call", "id": "k1", "name": tool.name, "args": {"colour": "red"}}
        message: Any = await asyncio.to_thread(tool.invoke, run)
        return message.content

    async def settle(session: Any, asked: ev.Asked) -> None:
        await session.answer(Answer(question_id=asked.question_id, outcome="accepted", content="painted"))

    answers: dict[type[ev.Event], Callable[[Any, Any], Awaitable[Any]]] = {ev.Asked: settle}
    seen_events, events = await in_turn(act, answers, tools=(COLOUR,))
    assert seen_events == "painted"
    (asked,) = only(events, ev.Asked)
    assert asked.question == ClientCall(call_id="k1", name="set_colour", input={"colour": "red"})
