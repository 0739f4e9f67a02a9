import asyncio
import concurrent.futures
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState
from langgraph.prebuilt import ToolNode
from langgraph.prebuilt.tool_node import ToolInvocationError
from langgraph.types import Command, Send
from tests.agents.langchain.graphs import calls_of, failure_of, helper_for, plain_graph, stop_of
from tests.agents.langchain.permission_helpers import Person, Trace, ask, chooses, outlive, permissions, says
from tests.agents.langchain.untyped_langchain import StateGraph, create_agent, create_deep_agent
from tests.hubs import collect, hub_for, only, session_for, soon, text_of

from trunkline import adapt
from trunkline import events as ev
from trunkline.agents.langchain.callbacks.hosted_handler import TrunklineCallbackHandler
from trunkline.agents.langchain.callbacks.session_handler import GraphHandler
from trunkline.agents.langchain.channel import Channel, use_channel
from trunkline.agents.langchain.messages.emitter import Emitter
from trunkline.agents.langchain.middleware.permission import PermissionMiddleware, Rule
from trunkline.agents.langchain.middleware.tools import ToolMiddleware
from trunkline.agents.langchain.permissions.subagents import Refused
from trunkline.commands import Answer, Prompt
from trunkline.journal import open_journal
from trunkline.session.context import TurnContext
from trunkline.testing.chat import ScriptedChatModel, call

ASK = {"delete": Rule(), "write": Rule()}
GO: Any = {"messages": [("user", "go")]}


def nested(
    inner: Any, policy: Any = ASK, *outer: Any, sync: bool = False, **options: Any
) -> tuple[Any, ScriptedChatModel]:
    """An agent with a tool that runs another agent, and its model."""
    if sync:

        @tool
        def helper(job: str) -> str:
            """Let somebody else do it."""
            return inner.invoke({"messages": [("user", job)]})["messages"][-1].text
    else:
        helper = helper_for(inner)
    about = {key: options.pop(key) for key in ("subagents", "persist") if key in options}
    permission = PermissionMiddleware(policy, **about)
    model = ScriptedChatModel(*(outer or ([call("helper", {"job": "x"}, "h1")], "Outer done.")))
    return create_agent(model, [helper], middleware=[permission], **options), model


def worker(trace: Trace, *calls: Any, **options: Any) -> tuple[Any, ScriptedChatModel]:
    """The agent inside: it makes these calls and is done."""
    model = ScriptedChatModel(list(calls), "Inner done.")
    return create_agent(model, trace.tools, **options), model


# -- asking below ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["delete", "write"], ids=["async tool", "plain tool"])
async def test_a_call_of_an_agent_inside_a_tool_is_asked_about_in_its_lane(name: str, trace: Trace) -> None:
    inner, _ = worker(trace, call(name, {"path": "a"}, "d1"))
    graph, _ = nested(inner)
    events = await ask(graph, chooses("allow_once"))
    (question,) = permissions(events)
    assert (question.call_id, only(events, ev.Asked)[0].lane) == ("d1@h1", "h1")
    assert not question.allows_edit
    assert [option.kind for option in question.options] == [
        "allow_once",
        "allow_always",
        "reject_once",
        "reject_always",
    ]
    assert trace.ran == ["a"]
    assert [(made.call_id, made.native_id) for made in only(events, ev.ToolCall)] == [
        ("h1", "h1"),
        ("d1@h1", "d1"),
    ]
    shown = calls_of(events)
    assert {made.status for made in shown.values()} == {"completed"}
    inside = [
        event.status for event in only(events, ev.ToolUpdate) if event.call_id == "d1@h1" and event.status
    ]
    assert inside == ["in_progress", "completed"]


async def test_a_handler_that_leaves_the_word_to_the_session_does_not_hide_its_lanes(trace: Trace) -> None:
    inner, _ = worker(trace, call("delete", {"path": "a"}, "d1"))
    graph, _ = nested(inner)
    graph = graph.with_config({"callbacks": [TrunklineCallbackHandler()]})
    (asked,) = only(await ask(graph, chooses("allow_once")), ev.Asked)
    assert asked.lane == "h1"


async def test_no_call_runs_before_it_is_allowed_whatever_else_follows_the_run(trace: Trace) -> None:
    model = ScriptedChatModel([call("delete", {"path": "a"}, "d1")], "Done.")
    middleware = [ToolMiddleware(), PermissionMiddleware({"delete": Rule()})]
    graph = create_agent(model, trace.tools, middleware=middleware)
    graph = graph.with_config({"callbacks": [TrunklineCallbackHandler()]})
    events = await ask(graph, chooses("allow_once"))
    running = [one for one in only(events, ev.ToolUpdate) if one.status == "in_progress"]
    (asked,) = only(events, ev.Asked)
    assert events.index(asked) < events.index(running[0])


@pytest.mark.parametrize("name", ["delete", "write"], ids=["async tool", "plain tool"])
async def test_a_refused_call_inside_is_denied_its_agent_learns_why_and_goes_on(
    name: str, caplog: pytest.LogCaptureFixture, trace: Trace
) -> None:
    inner, model = worker(trace, call(name, {"path": "a"}, "d1"))
    graph, _ = nested(inner)
    events = await ask(graph, chooses("reject_once", reason="keep it"))
    made = calls_of(events)["d1@h1"]
    assert trace.ran == []
    assert (made.status, made.reason) == ("denied", "keep it")
    message: Any = model.calls[1].messages[-1]
    assert (message.status, message.content) == ("error", "keep it")
    inside = [
        event.status for event in only(events, ev.ToolUpdate) if event.call_id == "d1@h1" and event.status
    ]
    assert inside == ["denied"]
    assert text_of([event for event in events if event.lane is None]) == "Outer done."
    assert caplog.text == ""


async def test_the_subagents_of_an_unmodified_deep_agent_are_gated(trace: Trace) -> None:
    inner = ScriptedChatModel(
        [call("delete", {"path": "a"}, "d1"), call("write", {"path": "b"}, "w1")], "Inner."
    )
    outer = ScriptedChatModel(
        [call("task", {"description": "clean up", "subagent_type": "cleaner"}, "t1")], "Outer."
    )
    graph = create_deep_agent(
        model=outer,
        tools=[],
        subagents=[
            {
                "name": "cleaner",
                "description": "cleans",
                "system_prompt": "Clean.",
                "tools": trace.tools,
                "model": inner,
            }
        ],
        middleware=[PermissionMiddleware(ASK)],
    )

    def person(asked: ev.Asked) -> Answer:
        refused = permissions([asked])[0].call_id.startswith("w1")
        return chooses("reject_once" if refused else "allow_once")(asked)

    events = await ask(graph, person)
    assert sorted(question.call_id for question in permissions(events)) == ["d1@t1", "w1@t1"]
    assert trace.ran == ["a"]
    assert {call_id: made.status for call_id, made in calls_of(events).items()} == {
        "t1": "completed",
        "d1@t1": "completed",
        "w1@t1": "denied",
    }


async def test_the_same_id_in_two_subagents_is_two_questions(trace: Trace) -> None:

    def start(messages: list[Any]) -> Any:
        return [call("delete", {"path": str(messages[0].content)}, "d1")]

    inner = create_agent(
        ScriptedChatModel(by_prompt={"x": [start, "X."], "y": [start, "Y."]}), [trace.delete]
    )
    graph, _ = nested(
        inner, ASK, [call("helper", {"job": "x"}, "h1"), call("helper", {"job": "y"}, "h2")], "Done."
    )

    def person(asked: ev.Asked) -> Answer:
        return chooses("allow_once" if asked.lane == "h1" else "reject_once")(asked)

    events = await ask(graph, person)
    assert sorted(question.call_id for question in permissions(events)) == ["d1@h1", "d1@h2"]
    assert trace.ran == ["x"]
    assert calls_of(events)["d1@h1"].status == "completed"
    assert calls_of(events)["d1@h2"].status == "denied"


async def test_an_agent_in_an_agent_in_an_agent_is_gated_in_its_own_lane(trace: Trace) -> None:
    deepest, _ = worker(trace, call("delete", {"path": "a"}, "d1"))
    middle, _ = nested(deepest, {}, [call("helper", {"job": "y"}, "h2")], "Middle done.")
    graph, _ = nested(middle)
    events = await ask(graph, chooses("allow_once"))
    assert [question.call_id for question in permissions(events)] == ["d1@h1/h2"]
    assert trace.ran == ["a"]


async def test_a_subagent_with_the_same_middleware_asks_once_and_in_its_own_lane() -> None:
    trace = Trace()
    inner, _ = worker(trace, call("delete", {"path": "a"}, "d1"), middleware=[PermissionMiddleware(ASK)])
    graph, _ = nested(inner)
    events = await ask(graph, chooses("allow_once"))
    assert [question.call_id for question in permissions(events)] == ["d1@h1"]
    assert trace.ran == ["a"]
    trace = Trace()
    inner, _ = worker(trace, call("delete", {"path": "a"}, "d1"), middleware=[PermissionMiddleware(ASK)])
    events = await ask(nested(inner, {})[0], chooses("allow_once", input={"path": "b"}))
    assert [(question.call_id, question.allows_edit) for question in permissions(events)] == [("d1@h1", True)]
    assert trace.ran == ["b"]


async def test_an_always_given_inside_counts_outside_too(trace: Trace) -> None:
    inner, _ = worker(trace, call("delete", {"path": "a"}, "d1"))
    model = ScriptedChatModel(
        [call("helper", {"job": "x"}, "h1")], [call("delete", {"path": "b"}, "d2")], "Outer done."
    )
    graph = create_agent(model, [helper_for(inner), trace.delete], middleware=[PermissionMiddleware(ASK)])
    events = await ask(graph, says(chooses("allow_always")))
    assert len(permissions(events)) == 1
    assert trace.ran == ["a", "b"]


async def test_subagents_can_be_left_alone(trace: Trace) -> None:
    inner, _ = worker(trace, call("delete", {"path": "a"}, "d1"))
    graph, _ = nested(inner, subagents=False)
    assert permissions(await ask(graph, chooses("reject_once"))) == []
    assert trace.ran == ["a"]


async def test_a_tool_that_needs_an_answer_instead_of_a_run_is_refused_inside(trace: Trace) -> None:
    inner, _ = worker(trace, call("delete", {"path": "a"}, "d1"))
    graph, _ = nested(inner, {"delete": Rule(allowed_decisions=("respond", "reject"))})
    events = await ask(graph, chooses("allow_once"))
    assert (permissions(events), trace.ran) == ([], [])
    assert "can be approved here" in calls_of(events)["d1@h1"].reason


@pytest.mark.parametrize("name", ["delete", "write"], ids=["async tool", "plain tool"])
async def test_a_graph_with_a_plain_tool_node_inside_is_gated(name: str, trace: Trace) -> None:
    model = ScriptedChatModel(
        [call(name, {"path": "a"}, "d1"), call(name, {"path": "b"}, "d2")], "Inner done."
    )
    graph, _ = nested(plain_graph(model, trace.tools))

    def person(asked: ev.Asked) -> Answer:
        refused = permissions([asked])[0].call_id.startswith("d2")
        return chooses("reject_once" if refused else "allow_once")(asked)

    events = await ask(graph, person)
    assert trace.ran == ["a"]
    assert calls_of(events)["d1@h1"].status == "completed"
    assert calls_of(events)["d2@h1"].status == "denied"


async def test_a_tool_that_a_tool_calls_by_hand_is_no_models_call(trace: Trace) -> None:

    @tool
    async def helper(job: str) -> str:
        """Do it."""
        return await trace.delete.ainvoke({"path": job})

    model = ScriptedChatModel([call("helper", {"job": "x"}, "h1")], "Done.")
    graph = create_agent(model, [helper], middleware=[PermissionMiddleware(ASK)])
    assert permissions(await ask(graph, chooses("reject_once"))) == []
    assert trace.ran == ["x"]


async def test_calls_that_are_sent_with_their_state_are_gated(trace: Trace) -> None:
    model = ScriptedChatModel([call("write", {"path": "a"}, "w1")], "Inner done.")
    bound = model.bind_tools(trace.tools)

    async def think(state: MessagesState) -> Any:
        return {"messages": [await bound.ainvoke(state["messages"])]}

    def send(state: MessagesState) -> Any:
        calls: list[Any] = getattr(state["messages"][-1], "tool_calls", [])
        context = {"__type": "tool_call_with_context", "state": state}
        return [Send("tools", {**context, "tool_call": made}) for made in calls]

    builder = StateGraph(MessagesState)
    builder.add_node("think", think)
    builder.add_node("tools", ToolNode(trace.tools))
    builder.add_edge(START, "think")
    builder.add_conditional_edges("think", send, ["tools"])
    builder.add_edge("tools", "think")
    graph, _ = nested(builder.compile())
    events = await ask(graph, chooses("reject_once"))
    assert (len(permissions(events)), trace.ran) == (1, [])
    assert calls_of(events)["w1@h1"].status == "denied"


# -- cancelling, many at once ----------------------------------------------------------------------


def leave(asked: ev.Asked) -> Answer:
    return Answer(question_id=asked.question_id, outcome="cancelled", by="ann")


@pytest.mark.parametrize("name", ["delete", "write"], ids=["async tool", "plain tool"])
async def test_a_turn_cancelled_while_a_subagent_asks_ends_as_cancelled(
    name: str, caplog: pytest.LogCaptureFixture, trace: Trace
) -> None:
    inner, _ = worker(trace, call(name, {"path": "a"}, "d1"))
    graph, _ = nested(inner)
    events = await ask(graph, leave)
    assert stop_of(events) == "cancelled"
    assert trace.ran == []
    assert caplog.text == ""


async def test_twenty_sessions_ask_at_once_do_not_mix_and_hold_no_thread(trace: Trace) -> None:

    def start(messages: list[Any]) -> Any:
        return [call("write", {"path": str(messages[-1].content)}, "w1")]

    def hand_over(messages: list[Any]) -> Any:
        return [call("helper", {"job": str(messages[-1].content)}, "h1")]

    inner = create_agent(ScriptedChatModel(start, "Inner.", each_turn=True), trace.tools)
    graph = create_agent(
        ScriptedChatModel(hand_over, "Outer.", each_turn=True),
        [helper_for(inner)],
        middleware=[PermissionMiddleware(ASK)],
    )
    # One thread must do for all of them: a plain tool takes one only once it may run.
    pool = concurrent.futures.ThreadPoolExecutor(max_workers=1)
    asyncio.get_running_loop().set_default_executor(pool)
    waiting: dict[int, ev.Asked] = {}
    all_ask = asyncio.Event()
    async with hub_for(adapt(graph)) as hub:

        async def talk(number: int) -> list[Any]:
            session = await hub.create()

            async def react(asked: ev.Asked) -> None:
                waiting[number] = asked
                if len(waiting) == 20:
                    all_ask.set()
                await soon(all_ask.wait())
                button = "allow_once" if number % 2 else "reject_once"
                await session.answer(Answer(question_id=asked.question_id, option_id=button))

            return await collect(session, f"file-{number}", {ev.Asked: react})

        results = await soon(asyncio.gather(*(talk(number) for number in range(20))), within=30)
    assert sorted(trace.ran) == sorted(f"file-{number}" for number in range(1, 20, 2))
    for number, events in enumerate(results):
        made = calls_of(events)["w1@h1"]
        assert made.input == {"path": f"file-{number}"}
        assert made.status == ("completed" if number % 2 else "denied")
        assert len(permissions(events)) == 1


# -- plain functions -------------------------------------------------------------------------------


def in_thread(graph: Any, payload: Any = GO) -> Any:
    """An agent that runs a graph with invoke(), in a thread, as somebody's own code might."""

    async def agent(prompt: Prompt, ctx: TurnContext) -> Any:
        emitter = Emitter(ctx.emit, ctx.turn_id)
        with use_channel(Channel(ctx, emitter)):
            result = await asyncio.to_thread(graph.invoke, payload, {"callbacks": [GraphHandler(emitter)]})
        yield str(result["messages"][-2].content)

    return agent


async def sync_turn(graph: Any, person: Person) -> list[Any]:
    async with session_for(in_thread(graph)) as session:

        async def react(asked: ev.Asked) -> None:
            await session.answer(person(asked))

        return await collect(session, "go", {ev.Asked: react})


@pytest.mark.parametrize("button", ["allow_once", "reject_once"])
async def test_a_plain_invoke_asks_from_its_thread(button: str, trace: Trace) -> None:
    model = ScriptedChatModel([call("write", {"path": "a"}, "w1")], "Done.")
    graph = create_agent(model, [trace.write], middleware=[PermissionMiddleware(ASK)])
    events = await sync_turn(graph, chooses(button))
    assert [question.call_id for question in permissions(events)] == ["w1"]
    assert trace.ran == (["a"] if button == "allow_once" else [])
    assert calls_of(events)["w1"].status == ("completed" if trace.ran else "denied")


@pytest.mark.parametrize("button", ["allow_once", "reject_once"])
async def test_a_plain_invoke_inside_a_plain_invoke_is_gated(
    button: str, caplog: pytest.LogCaptureFixture, trace: Trace
) -> None:
    inner, model = worker(trace, call("write", {"path": "a"}, "w1"))
    graph, _ = nested(inner, sync=True)
    events = await sync_turn(graph, chooses(button))
    assert [question.call_id for question in permissions(events)] == ["w1@h1"]
    assert trace.ran == (["a"] if button == "allow_once" else [])
    assert calls_of(events)["w1@h1"].status == ("completed" if trace.ran else "denied")
    message: Any = model.calls[1].messages[-1]
    assert message.status == ("success" if trace.ran else "error")
    assert caplog.text == ""


async def test_a_plain_invoke_in_the_event_loop_refuses_as_nobody_could_be_waited_for(trace: Trace) -> None:
    inner, model = worker(trace, call("write", {"path": "a"}, "w1"))

    @tool
    async def helper(job: str) -> str:
        """Block the loop."""
        return inner.invoke({"messages": [("user", job)]})["messages"][-1].text

    outer = ScriptedChatModel([call("helper", {"job": "x"}, "h1")], "Outer done.")
    graph = create_agent(outer, [helper], middleware=[PermissionMiddleware(ASK)])
    events = await ask(graph, chooses("allow_once"))
    assert (permissions(events), trace.ran) == ([], [])
    message: Any = model.calls[1].messages[-1]
    assert "ainvoke()" in message.content
    assert text_of([event for event in events if event.lane is None]) == "Outer done."


async def test_a_cancelled_turn_stops_a_plain_invoke_that_asks_inside(trace: Trace) -> None:
    inner, _ = worker(trace, call("write", {"path": "a"}, "w1"))
    graph, _ = nested(inner, sync=True)
    events = await sync_turn(graph, leave)
    assert (stop_of(events), trace.ran) == ("cancelled", [])


async def test_a_question_that_cannot_be_put_stops_a_plain_invoke_and_is_not_put_again() -> None:
    trace, tries = Trace(), list[str]()

    class Unreadable(dict[str, str]):
        def get(self, key: str, default: Any = None) -> Any:
            tries.append(key)
            raise ValueError("no answers")

    inner, _ = worker(trace, call("write", {"path": "a"}, "w1"))
    graph, _ = nested(inner, sync=True, persist=Unreadable())
    events = await sync_turn(graph, chooses("allow_once"))
    assert "no answers" in failure_of(events)[1]
    assert (len(tries), trace.ran, permissions(events)) == (1, [], [])


async def test_a_run_by_another_name_does_not_lead_around_the_rule_of_its_tool(trace: Trace) -> None:
    renamed: Any = trace.delete.with_config(run_name="harmless")

    @tool
    async def helper(job: str) -> str:
        """Make a call in a model's stead."""
        made = {"name": "delete", "args": {"path": job}, "id": "d1", "type": "tool_call"}
        return (await renamed.ainvoke(made)).text

    model = ScriptedChatModel([call("helper", {"job": "x"}, "h1")], "Done.")
    graph = create_agent(model, [helper], middleware=[PermissionMiddleware(ASK)])
    assert len(permissions(await ask(graph, chooses("reject_once")))) == 1
    assert trace.ran == []


# -- without a channel -------------------------------------------------------------------------------


async def test_without_anybody_to_ask_a_call_inside_is_refused(trace: Trace) -> None:
    inner, model = worker(trace, call("delete", {"path": "a"}, "d1"))
    graph, _ = nested(inner)
    await graph.ainvoke(GO)
    message: Any = model.calls[1].messages[-1]
    assert (trace.ran, message.status) == ([], "error")
    assert "nobody can be asked" in message.content


@pytest.mark.parametrize("sync", [False, True])
@pytest.mark.parametrize("answer", ["approve", "reject"])
async def test_without_a_channel_a_call_inside_interrupts_and_resumes(
    sync: bool, answer: str, caplog: pytest.LogCaptureFixture, trace: Trace
) -> None:
    inner, _ = worker(trace, call("write", {"path": "a"}, "w1"))
    graph, _ = nested(inner, sync=sync, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}

    async def run(payload: Any) -> Any:
        if sync:
            return await asyncio.to_thread(graph.invoke, payload, config)
        return await graph.ainvoke(payload, config)

    stopped = await run(GO)
    (question,) = stopped["__interrupt__"]
    assert (question.value["type"], question.value["tool_call_id"]) == ("tool_approval", "w1")
    assert trace.ran == []
    result = await run(Command(resume={question.id: {"type": answer}}))
    assert trace.ran == (["a"] if answer == "approve" else [])
    assert result["messages"][-1].text == "Outer done."
    assert caplog.text == ""


# -- restart, and the error itself -----------------------------------------------------------------


async def test_a_question_of_a_subagent_outlives_the_process_that_asked(tmp_path: Path) -> None:
    saver, dead, living = InMemorySaver(), Trace(), Trace()
    first, _ = nested(worker(dead, call("delete", {"path": "a"}, "d1"))[0], checkpointer=saver)
    inner = create_agent(ScriptedChatModel("Inner done."), living.tools)
    second, _ = nested(inner, ASK, "Outer done.", checkpointer=saver)
    events, shown = await outlive(
        first, second, lambda: open_journal(f"sqlite:{tmp_path / 'journal.db'}"), chooses("allow_once")
    )
    assert (dead.ran, living.ran) == ([], ["a"])
    assert only(events, ev.Asked) == []
    assert shown.calls["d1@h1"].status == "completed"


def test_a_refusal_is_the_error_that_langgraph_answers_a_model_with() -> None:
    refused = Refused("delete", "not today")
    assert isinstance(refused, ToolInvocationError)
    assert (refused.message, refused.tool_name, str(refused)) == ("not today", "delete", "not today")
