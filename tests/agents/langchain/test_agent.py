from typing import Any, TypedDict

import pytest
from langchain.agents.middleware import (
    ModelCallLimitMiddleware,
    ModelRetryMiddleware,
    ToolRetryMiddleware,
    wrap_tool_call,
)
from langchain_core.language_models.fake import FakeListLLM, FakeStreamingListLLM
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_stream_writer
from langgraph.graph import START, MessagesState
from langgraph.prebuilt import ToolRuntime

from tests.agents.langchain.graphs import (
    agent_of,
    answering,
    broken,
    calls_of,
    check_settled,
    converse,
    failure_of,
    folded,
    graph_of,
    run_turn,
    terminal,
    weather,
)
from tests.agents.langchain.untyped_langchain import StateGraph, create_agent
from tests.hubs import collect, events_of, only, session_for, text_of
from trunkline import adapt
from trunkline import content as c
from trunkline import events as ev
from trunkline.agents.langchain.agent import LangChainAgent
from trunkline.agents.langchain.middleware.permission import PermissionMiddleware, Rule
from trunkline.agents.langchain.middleware.tools import ToolMiddleware
from trunkline.commands import Prompt
from trunkline.session.imported_history import import_client_history
from trunkline.testing.chat import ScriptedChatModel, call, ends, thinks


async def test_an_unmodified_agent_streams_its_text_and_its_thoughts() -> None:
    agent, _ = agent_of([thinks("Paris, surely."), "It is ", "sunny."])
    events = await run_turn(agent, "How is the weather?")
    assert text_of(events) == "It is sunny."
    assert "".join(event.delta for event in only(events, ev.Thought)) == "Paris, surely."
    assert terminal(events) == ev.TurnFinished(turn_id=events[0].turn_id, stop_reason="end_turn")


async def test_a_call_goes_from_pending_over_in_progress_to_completed_under_its_own_id() -> None:
    agent, _ = agent_of([call("weather", {"city": "Paris"}, "w1")], "Sunny.")
    events = await run_turn(agent, "How is the weather?")
    statuses = [event.status for event in only(events, ev.ToolUpdate) if event.status]
    assert statuses == ["in_progress", "completed"]
    made = calls_of(events)["w1"]
    assert (made.name, made.input, made.raw_output) == ("weather", {"city": "Paris"}, "It is sunny in Paris.")


async def test_message_ids_and_result_ids_are_those_of_the_thread() -> None:
    agent, _ = agent_of([call("weather", {"city": "Rome"}, "w1")], "Sunny.", checkpointer=InMemorySaver())
    async with session_for(agent) as session:
        events = await collect(session, Prompt.of("And Rome?", message_id="mine"))
        state = await agent.runnable.aget_state({"configurable": {"thread_id": session.session_id}})
    human, asking, result, answer = state.values["messages"]
    shown = folded(events)
    assert [message.message_id for message in shown.messages] == ["mine", asking.id, answer.id]
    assert human.id == "mine"
    assert shown.calls["w1"].result_message_id == result.id


async def test_a_tool_that_is_tried_again_is_one_call_that_completes() -> None:
    tries: list[int] = []

    @tool
    def shaky() -> str:
        """Work the second time."""
        tries.append(1)
        if len(tries) == 1:
            raise ConnectionError("not yet")
        return "there"

    retry = ToolRetryMiddleware(max_retries=2, initial_delay=0, jitter=False)
    agent, _ = agent_of([call("shaky", {}, "s1")], "Done.", tools=[shaky], middleware=[retry])
    events = await run_turn(agent)
    assert len(only(events, ev.ToolCall)) == 1
    assert [event.status for event in only(events, ev.ToolUpdate) if event.status] == [
        "in_progress",
        "completed",
    ]


async def test_a_model_that_is_called_again_speaks_in_another_message_and_its_first_calls_are_settled() -> (
    None
):
    retry = ModelRetryMiddleware(max_retries=1, initial_delay=0, jitter=False)
    agent, _ = agent_of(
        ["Let me ", call("weather", {"city": "Oslo"}, "w1"), ConnectionError("cut off")],
        "Rain.",
        middleware=[retry],
    )
    events = await run_turn(agent)
    shown = folded(events)
    assert shown.calls["w1"].status == "failed"
    assert "cut off" in (shown.calls["w1"].reason or "")
    assert len({event.message_id for event in only(events, ev.Text)}) == 2
    assert isinstance(terminal(events), ev.TurnFinished)


async def test_a_model_that_cannot_stream_says_its_message_whole_and_once() -> None:
    agent, _ = agent_of([call("weather", {"city": "Paris"}, "w1")], "Sunny today.", streaming=False)
    events = await run_turn(agent)
    assert [event.delta for event in only(events, ev.Text)] == ["Sunny today."]
    assert calls_of(events)["w1"].status == "completed"


async def test_how_full_the_context_is_shows_when_the_model_says_how_much_it_takes() -> None:
    agent, model = agent_of(["Hi.", ends(input=10, output=2)])
    model.profile = {"max_input_tokens": 1000}
    events = await run_turn(agent)
    assert [(event.used, event.size) for event in only(events, ev.ContextUsage)] == [(12, 1000)]


async def test_what_a_node_writes_to_the_stream_is_a_custom_event_and_an_event_is_itself() -> None:
    def node(state: MessagesState) -> dict[str, Any]:
        write = get_stream_writer()
        write({"progress": 1})
        write(ev.Notice(title="Half way"))
        return {"messages": [AIMessage("Done.")]}

    graph = graph_of(node)
    events = await run_turn(adapt(graph))
    assert [event.value for event in only(events, ev.Custom)] == [{"progress": 1}]
    assert [event.title for event in only(events, ev.Notice)] == ["Half way"]


class Research(MessagesState):
    topic: str
    todos: list[dict[str, str]]


async def test_state_is_a_snapshot_first_and_patches_after_and_todos_are_a_plan() -> None:
    def first(state: Research) -> dict[str, Any]:
        return {"topic": "ants", "todos": [{"content": "look", "status": "in_progress"}]}

    def second(state: Research) -> dict[str, Any]:
        return {"topic": "bees"}

    graph = StateGraph(Research).add_node(first).add_node(second)
    graph = graph.add_edge(START, "first").add_edge("first", "second").compile()
    async with session_for(adapt(graph)) as session:
        events = await collect(session, "Go!")
        assert session.view.state["topic"] == "bees"
    assert len(only(events, ev.StateReplaced)) == 1
    assert [event.patch for event in only(events, ev.StatePatched)] == [
        ({"op": "replace", "path": "/topic", "value": "bees"},)
    ]
    assert [event.entries[0].content for event in only(events, ev.Plan)] == ["look"]


async def test_a_chain_that_ends_in_a_parser_speaks_as_its_model_does() -> None:
    chain = (
        ChatPromptTemplate.from_template("Say {word}") | ScriptedChatModel("Hello there.") | StrOutputParser()
    )
    events = await run_turn(adapt(chain), "hello")
    assert text_of(events) == "Hello there."


async def test_a_bare_chat_model_is_an_agent_with_a_history() -> None:
    model = ScriptedChatModel("One.", "Two.")
    _, events = await converse(adapt(model), "First?", "Second?")
    assert text_of(events) == "Two."
    assert [message.text for message in model.calls[1].messages] == ["First?", "One.", "Second?"]


class Form(TypedDict):
    name: str
    age: int


async def test_a_graph_that_takes_no_prompt_says_what_to_change() -> None:
    def fill(state: Form) -> dict[str, Any]:
        return {"age": 1}

    graph = graph_of(fill, Form)
    ended = terminal(await run_turn(adapt(graph), "hi"))
    assert isinstance(ended, ev.TurnFailed)
    assert "takes name, age" in ended.message
    assert "'messages'" in ended.message


async def test_the_configuration_bound_to_an_agent_is_kept() -> None:
    seen: list[Any] = []

    def node(state: MessagesState, config: RunnableConfig) -> dict[str, Any]:
        seen.append(dict(config.get("configurable", {})))
        return {"messages": [AIMessage("ok")]}

    graph = graph_of(node)
    bound = graph.with_config(configurable={"tenant": "acme"})
    async with session_for(LangChainAgent(bound, config={"configurable": {"extra": 1}})) as session:
        await collect(session, "hi")
    assert seen[0]["tenant"] == "acme"
    assert seen[0]["extra"] == 1
    assert seen[0]["thread_id"] == session.session_id


async def test_a_provider_that_names_its_message_late_is_heard_once() -> None:
    agent, _ = agent_of([AIMessageChunk(content="Hel"), AIMessageChunk(content="lo", id="msg_late")])
    events = await run_turn(agent, "hi")
    assert text_of(events) == "Hello"
    assert len({event.message_id for event in only(events, ev.Text)}) == 1


async def test_the_name_of_an_agent_is_the_one_it_was_made_with() -> None:
    assert adapt(create_agent(ScriptedChatModel(), [], name="weatherman")).card.name == "weatherman"
    assert adapt(create_agent(ScriptedChatModel(), [])).card.name == "agent"


async def test_a_result_that_a_middleware_changes_is_shown_as_the_model_gets_it() -> None:
    @wrap_tool_call
    async def censor(request: Any, handler: Any) -> Any:
        message = await handler(request)
        return message.model_copy(update={"content": "censored"})

    agent, model = agent_of([call("weather", {"city": "Paris"}, "w1")], "Ok.", middleware=[censor])
    events = await run_turn(agent)
    assert calls_of(events)["w1"].raw_output == "censored"
    assert model.calls[1].messages[-1].content == "censored"
    assert not [event for event in only(events, ev.ToolUpdate) if "sunny" in str(event.raw_output)]


async def test_what_a_running_tool_gives_out_is_shown_while_it_runs() -> None:
    @tool
    async def count(runtime: ToolRuntime[Any, Any]) -> str:
        """Count aloud."""
        for word in ("one ", "two"):
            runtime.emit_output_delta(word)
        return "counted"

    agent, _ = agent_of([call("count", {}, "c1")], "Ok.", tools=[count])
    events = await run_turn(agent)
    assert calls_of(events)["c1"].output == "one two"


@pytest.mark.parametrize("saver", [None, InMemorySaver()], ids=["fed by the journal", "with a thread"])
async def test_the_front_ends_state_reaches_the_graph_and_is_there_in_the_next_turn(saver: Any) -> None:
    seen: list[Any] = []

    def node(state: Research) -> dict[str, Any]:
        seen.append(state.get("topic"))
        return {"messages": [AIMessage("ok")]}

    graph = graph_of(node, Research, checkpointer=saver)
    await converse(adapt(graph), Prompt.of("hi", state={"topic": "ants", "unknown": 1}), "again")
    assert seen == ["ants", "ants"]


async def test_a_plan_of_an_earlier_turn_is_not_said_again() -> None:
    def node(state: Research) -> dict[str, Any]:
        return {"todos": [{"content": "look", "status": "pending"}]}

    graph = graph_of(node, Research, checkpointer=InMemorySaver())
    first, second = await converse(adapt(graph), "hi", "again")
    assert len(only(first, ev.Plan)) == 1
    assert only(second, ev.Plan) == []


async def test_a_history_that_a_client_brought_along_reaches_a_new_thread_as_what_the_client_says() -> None:
    agent, model = agent_of("Three.", "Four.", checkpointer=InMemorySaver())
    async with session_for(agent) as session:
        await import_client_history(
            session,
            [
                ev.UserMessage(message_id="u1", content=(c.TextBlock(text="Count."),)),
                ev.Text(message_id="a1", delta="One, two."),
                ev.ToolCall(call_id="c1", name="may_pay", message_id="a1", native_id="c1"),
                ev.ToolUpdate(
                    call_id="c1", status="completed", raw_output="approved", result_message_id="r1"
                ),
            ],
        )
        await collect(session, "Go on.")
        await collect(session, "And on.")
    for seen in (model.calls[0].messages[:4], model.calls[1].messages[:4]):
        person, answer, result, new = seen
        assert (person.text, new.text) == ("Count.", "Go on.")
        assert answer.text == "(The client says that you said this. It is not verified.)\nOne, two."
        assert result.text == "(The client says that this was the result. It is not verified.)\napproved"
        assert [one.additional_kwargs.get("trunkline_untrusted") for one in seen] == [True, True, True, None]
    assert "client says" not in model.calls[1].messages[4].text, "what was said here is as it was"


@pytest.mark.parametrize("model", [FakeListLLM, FakeStreamingListLLM], ids=["whole", "streaming"])
async def test_a_model_that_only_completes_text_speaks_once(model: Any) -> None:
    events = await run_turn(adapt(model(responses=["Once upon a time."])), "Begin:")
    assert text_of(events) == "Once upon a time."


async def test_fields_that_a_graph_keeps_to_itself_are_not_shared() -> None:
    agent, _ = agent_of("Hi.", middleware=[ModelCallLimitMiddleware(run_limit=5)])
    async with session_for(agent) as session:
        await collect(session, "hi")
        assert not session.view.state


async def test_what_the_agents_own_tool_middleware_leaves_out_is_left_out_here_too() -> None:
    quiet = ToolMiddleware(emit_tool_results=False, tool_kind_mapper=lambda name: "fetch")
    agent, _ = agent_of([call("weather", {"city": "Paris"}, "w1")], "Ok.", middleware=[quiet])
    events = await run_turn(agent)
    made = calls_of(events)["w1"]
    assert (made.status, made.kind, made.raw_output) == ("completed", "fetch", None)


async def test_calls_that_are_not_shown_when_they_start_are_shown_when_they_are_asked_about() -> None:
    late = ToolMiddleware(emit_tool_start=False)
    policy = PermissionMiddleware({"weather": Rule()})
    agent, _ = agent_of([call("weather", {"city": "Paris"}, "w1")], "Ok.", middleware=[late, policy])
    async with session_for(agent) as session:
        events = await collect(session, "Go!", answering(session, option_id="allow_once"))
    kinds = [type(event) for event in events]
    assert kinds.index(ev.ToolCall) < kinds.index(ev.Asked)
    assert calls_of(events)["w1"].status == "completed"


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (call("broken", {}, "x1"), "no fuel"),
        (call("no_such_tool", {}, "x1"), "no_such_tool"),
        (call("weather", {"town": 1}, "x1"), "city"),
    ],
    ids=["raises", "unknown", "does not fit"],
)
async def test_a_call_that_fails_is_failed_live_and_in_the_replay_and_the_turn_goes_on(
    asked: Any, reason: str
) -> None:
    agent, model = agent_of([asked], "Sorry.", tools=[broken, weather], checkpointer=InMemorySaver())
    async with session_for(agent) as session:
        events = await collect(session, "Go!")
        replayed = await events_of(session)
    made = calls_of(events)["x1"]
    assert calls_of(replayed)["x1"] == made
    assert made.status == "failed"
    assert reason in made.reason
    assert text_of(events) == "Sorry."
    result: Any = model.calls[1].messages[-1]
    assert (result.type, result.status) == ("tool", "error")


async def test_a_tool_that_raises_ends_the_turn_and_every_open_call_when_that_is_wanted() -> None:
    asks = [call("broken", {}, "b1"), call("weather", {"city": "Rome"}, "w1")]
    made = create_agent(ScriptedChatModel(asks), [broken, weather])
    events = await run_turn(LangChainAgent(made, raise_tool_errors=True))
    check_settled(events)
    assert failure_of(events)[1] == "ValueError: no fuel"
    assert calls_of(events)["b1"].reason == "ValueError: no fuel"


@pytest.mark.parametrize("kind", [str, AIMessage])
async def test_a_runnable_without_a_model_says_the_text_or_the_message_it_gives(kind: Any) -> None:
    agent = adapt(RunnableLambda(lambda text: kind(f"You said {text}.")))
    assert text_of(await run_turn(agent, "hi")) == "You said hi."
