"""Tests of agents that speak ACP by themselves: in every way to call them, for one client and for many."""

import asyncio
import operator
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Annotated, Any, cast

import pytest
from langchain.agents import AgentState
from langchain.agents.middleware import (
    AgentMiddleware,
    HumanInTheLoopMiddleware,
    ToolRetryMiddleware,
)
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import MessagesState
from langgraph.types import Command
from tests.agents.langchain.agui_client import WAYS, Page, Way, ainvoke, astream, invoke, model
from tests.agents.langchain.graphs import WaitingTool, weather
from tests.agents.langchain.recorded_updates import (
    PROMPT,
    call_graph,
    call_of,
    kinds,
    on_thread,
    pieces,
    session_ids,
    statuses,
    text,
)
from tests.agents.langchain.untyped_langchain import StateGraph, create_agent
from tests.hubs import soon

from trunkline.agents.langchain import Rule
from trunkline.agents.langchain.channel import current_channel
from trunkline.agents.langchain.hosted.acp import acp_agent, acp_middleware
from trunkline.agents.langchain.hosted.agui import agui_agent, agui_middleware
from trunkline.agents.langchain.hosted.context import TrunklineContext
from trunkline.agents.langchain.messages.history import unanswered_calls
from trunkline.agents.langchain.middleware._run_observer import RunObserver
from trunkline.agents.langchain.middleware.mode import Mode
from trunkline.errors import ConfigurationError, TurnCancelled
from trunkline.protocols.acp.transport import AcpTransport
from trunkline.testing.chat import ScriptedChatModel, call
from trunkline.testing.recording import RecordingTransport
from trunkline.transports.event_loops import background_loop


@WAYS
async def test_an_agent_tells_its_client_everything_however_it_is_called(
    run: Way, transport: RecordingTransport
) -> None:
    agent = acp_agent(model(), [weather], transport=transport)
    await run(agent, PROMPT, on_thread("s1"))
    assert kinds(transport) == [
        "agent_thought_chunk",
        "agent_message_chunk",
        "tool_call",
        "tool_call_update",
        "agent_message_chunk",
    ]
    assert text(transport, "agent_thought_chunk") == "Where is it?"
    assert pieces(transport) == ["Let ", "me ", "look. ", "It ", "is ", "sunny."]
    assert statuses(transport, "call_1") == ["pending", "in_progress", "completed"]
    assert call_of(transport, "call_1")["rawInput"] == {"city": "Paris"}
    assert call_of(transport, "call_1")["rawOutput"] == "It is sunny in Paris."
    assert session_ids(transport) == {"s1"}


async def test_an_always_holds_for_the_session_and_no_other() -> None:
    transport = RecordingTransport(permissions=["allow_always", "reject_once"])
    script = ScriptedChatModel(call("weather", {"city": "Oslo"}), "Done.", each_turn=True)
    agent = acp_agent(script, [weather], transport=transport, policy={"weather": Rule()})
    await ainvoke(agent, PROMPT, on_thread("s1"))
    await ainvoke(agent, PROMPT, on_thread("s1"))
    assert len(transport.requested) == 1
    await ainvoke(agent, PROMPT, on_thread("s2"))
    assert len(transport.requested) == 2


async def test_a_call_id_that_comes_again_in_the_next_turn_is_another_call(
    transport: RecordingTransport,
) -> None:
    script = ScriptedChatModel(call("weather", {"city": "Oslo"}, id="same"), "Done.", each_turn=True)
    agent = acp_agent(script, [weather], transport=transport)
    await ainvoke(agent, PROMPT, on_thread("s1"))
    await ainvoke(agent, PROMPT, on_thread("s1"))
    begun = [one["toolCallId"] for one in transport.updates if one["sessionUpdate"] == "tool_call"]
    assert len(begun) == len(set(begun)) == 2


@WAYS
async def test_what_a_thread_said_before_is_not_said_again(run: Way, transport: RecordingTransport) -> None:
    script = ScriptedChatModel(
        call("weather", {"city": "Oslo"}), "One.", call("weather", {"city": "Rome"}), "Two."
    )
    saver = InMemorySaver()
    agent = acp_agent(script, [weather], transport=transport, checkpointer=saver)
    await run(agent, PROMPT, on_thread("s1"))
    later = RecordingTransport()
    await run(agent, PROMPT, on_thread("s1"), transport=later)
    assert text(transport) == "One."
    assert text(later) == "Two."
    assert [one["toolCallId"] for one in later.updates if one["sessionUpdate"] == "tool_call"] == ["call_2"]


async def test_a_context_says_which_client_and_which_thread(transport: RecordingTransport) -> None:
    script = ScriptedChatModel("Hello.", each_turn=True)
    saver = InMemorySaver()
    agent = acp_agent(script, checkpointer=saver)
    context = TrunklineContext(transport=transport, thread_id="s7", run_id="r1")
    await ainvoke(agent, PROMPT, context=context)
    assert text(transport) == "Hello."
    assert session_ids(transport) == {"s7"}
    assert saver.get_tuple({"configurable": {"thread_id": "s7"}}) is not None


async def test_a_session_without_an_id_is_left_to_the_transport() -> None:
    transport = RecordingTransport(session_id="its own", permissions=["allow_once"])
    agent = acp_agent(model(), [weather], transport=transport, policy={"weather": Rule()})
    await ainvoke(agent, PROMPT)
    assert session_ids(transport) == {"its own"}


async def test_a_handler_given_twice_says_everything_once(transport: RecordingTransport) -> None:
    agent = acp_agent(model(), [weather], transport=transport)
    another = acp_middleware(transport)
    await ainvoke(agent, PROMPT, on_thread("s1", *agent.middleware.callbacks, *another.callbacks))
    assert text(transport) == "Let me look. It is sunny."
    assert statuses(transport, "call_1") == ["pending", "in_progress", "completed"]


class _Deaf:
    """A transport whose client is gone."""

    def __init__(self) -> None:
        self.tried = 0

    def emit(self, method: str, params: Any, /) -> None:
        self.tried += 1
        raise ConnectionError("nobody is there")

    async def request(self, method: str, params: Any, /, *, timeout: float | None) -> Any:
        raise ConnectionError("nobody is there")


@WAYS
async def test_a_transport_that_throws_breaks_nothing_and_is_logged_once(
    run: Way, caplog: pytest.LogCaptureFixture
) -> None:
    transport = _Deaf()
    script = model()
    agent = acp_agent(script, [weather], transport=transport)
    await run(agent, PROMPT, on_thread("s1"))
    assert script.calls[1].messages[-1].content == "It is sunny in Paris."
    assert transport.tried > 5
    assert [record.message for record in caplog.records if "cannot be told" in record.message] == [
        "the client of session s1 cannot be told: ConnectionError: nobody is there"
    ]


async def test_a_permission_that_cannot_be_asked_is_refused() -> None:
    script = model()
    agent = acp_agent(script, [weather], transport=_Deaf(), policy={"weather": Rule()})
    await ainvoke(agent, PROMPT)
    assert "could not be read: nobody is there" in str(script.calls[1].messages[-1].content)


async def test_a_client_that_cancels_ends_the_run() -> None:
    transport = RecordingTransport(permissions=["cancelled"])
    agent = acp_agent(model(), [weather], transport=transport, policy={"weather": Rule()})
    with pytest.raises(TurnCancelled):
        await ainvoke(agent, PROMPT)
    assert statuses(transport, "call_1") == ["pending", "failed"]
    assert "Cancelled" in call_of(transport, "call_1")["content"][-1]["content"]["text"]


@WAYS
@pytest.mark.parametrize("wrap", [acp_agent, agui_agent])
async def test_a_thread_has_no_unanswered_call_after_a_cancel(wrap: Any, run: Way) -> None:
    saver: Any = SqliteSaver(sqlite3.connect(":memory:", check_same_thread=False))
    if run in (ainvoke, astream):
        saver = InMemorySaver()

    @tool
    def leave() -> str:
        """Stop everything."""
        raise TurnCancelled("the client cancelled")

    script = [["Wait. ", call("leave", {}), call("weather", {"city": "Rome"})], "Hello."]
    transport = RecordingTransport() if wrap is acp_agent else Page()
    agent = wrap(ScriptedChatModel(*script), [leave, weather], transport=transport, checkpointer=saver)
    with pytest.raises(TurnCancelled):
        await run(agent, PROMPT, on_thread("s1"))
    left = agent.agent.get_state(on_thread("s1"))
    assert left.next == ()
    assert unanswered_calls(left.values["messages"]) == []
    await run(agent, PROMPT, on_thread("s1"))
    kinds = [message.type for message in agent.agent.get_state(on_thread("s1")).values["messages"]]
    assert kinds == ["human", "ai", "tool", "tool", "human", "ai"]


async def test_a_thread_has_no_unanswered_call_after_its_task_was_cancelled() -> None:
    waiting = WaitingTool()

    page = Page()
    agent = agui_agent(
        ScriptedChatModel([call("wait", {})]), [waiting.tool], transport=page, checkpointer=InMemorySaver()
    )
    task = asyncio.create_task(agent.ainvoke(PROMPT, on_thread("s1")))
    await soon(waiting.begun.wait())
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    state = cast("Any", agent.agent).get_state(on_thread("s1"))
    assert [message.type for message in state.values["messages"]] == ["human", "ai", "tool"]
    assert page.outcome == "cancelled"


async def test_a_thread_that_waits_for_an_answer_still_does_when_its_stream_is_closed() -> None:
    review = HumanInTheLoopMiddleware(interrupt_on={"weather": True})
    agent = acp_agent(
        model(), [weather], transport=RecordingTransport(), middleware=[review], checkpointer=InMemorySaver()
    )
    async with asyncio.timeout(10):
        stream = agent.astream(PROMPT, on_thread("s1"), stream_mode="updates")
        async for item in stream:
            if "__interrupt__" in item:
                break
        await stream.aclose()
    assert cast("Any", agent.agent).get_state(on_thread("s1")).interrupts


async def test_a_stream_that_is_left_early_settles_its_calls(transport: RecordingTransport) -> None:
    agent = acp_agent(model(), [weather], transport=transport)
    stream = agent.astream(PROMPT, stream_mode="updates")
    async with asyncio.timeout(10):
        await anext(stream)
        assert current_channel() is None
        await stream.aclose()
    assert statuses(transport, "call_1")[-1] == "failed"


def test_a_plain_stream_that_is_left_early_settles_its_calls(transport: RecordingTransport) -> None:
    agent = acp_agent(model(), [weather], transport=transport)
    stream = agent.stream(PROMPT, stream_mode="updates")
    next(stream)
    assert current_channel() is None
    stream.close()
    assert statuses(transport, "call_1")[-1] == "failed"


@WAYS
@pytest.mark.parametrize(
    ("decision", "ended"),
    [({"type": "approve"}, ["in_progress", "completed"]), ({"type": "reject", "message": "no"}, ["failed"])],
)
async def test_an_interrupted_run_goes_on_in_the_same_calls(
    run: Way, decision: dict[str, str], ended: list[str], transport: RecordingTransport
) -> None:
    gate = HumanInTheLoopMiddleware({"weather": True})
    agent = acp_agent(
        model(), [weather], transport=transport, middleware=[gate], checkpointer=InMemorySaver()
    )
    await run(agent, PROMPT, on_thread("s1"))
    assert statuses(transport, "call_1") == ["pending"]
    await run(agent, Command(resume={"decisions": [decision]}), on_thread("s1"))
    assert statuses(transport, "call_1") == ["pending", *ended]
    assert text(transport) == "Let me look. It is sunny."


async def test_a_tool_that_is_tried_again_is_one_call(transport: RecordingTransport) -> None:
    tries = 0

    @tool
    def flaky() -> str:
        """Work the second time."""
        nonlocal tries
        tries += 1
        if tries == 1:
            raise OSError("not yet")
        return "now"

    retry = ToolRetryMiddleware(max_retries=2, initial_delay=0, jitter=False)
    agent = acp_agent(
        ScriptedChatModel(call("flaky", {}), "Done."), [flaky], transport=transport, middleware=[retry]
    )
    await ainvoke(agent, PROMPT)
    assert tries == 2
    assert statuses(transport, "call_1") == ["pending", "in_progress", "completed"]


@WAYS
async def test_a_permission_below_is_asked_about_the_call_in_its_lane(run: Way) -> None:
    script = ScriptedChatModel(call("weather", {"city": "Oslo"}, id="inner"), "Sunny.")
    inner = create_agent(script, [weather])

    @tool
    def scout(where: str) -> str:
        """Ask the scout."""
        return inner.invoke({"messages": [("user", where)]})["messages"][-1].content

    transport = RecordingTransport(permissions=["allow_once"])
    outer = ScriptedChatModel(call("scout", {"where": "Oslo"}), "Done.")
    agent = acp_agent(outer, [scout], transport=transport, policy={"weather": Rule()})
    await run(agent, PROMPT, on_thread("s1"))
    (asked,) = transport.requested
    assert asked.params["toolCall"]["toolCallId"] == "inner@call_1"
    begun = [one["toolCallId"] for one in transport.updates if one["sessionUpdate"] == "tool_call"]
    assert begun == ["call_1", "inner@call_1"]
    assert statuses(transport, "inner@call_1") == ["pending", "in_progress", "completed"]
    below = [one["_meta"]["trunkline"]["lane"] for one in transport.updates if one.get("_meta")]
    assert (set(below), text(transport)) == ({"call_1"}, "Sunny.Done.")


async def test_an_agent_that_exists_is_followed_by_callbacks(transport: RecordingTransport) -> None:
    async def greet(state: Any) -> Any:
        return {"messages": [AIMessage("Good morning. ", id="canned")]}

    async def answer(state: Any) -> Any:
        return {"messages": [await ScriptedChatModel("What is it?").ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("greet", greet)
    graph.add_node("answer", answer)
    graph.add_edge("__start__", "answer")
    graph.add_edge("answer", "greet")
    agent = acp_agent(graph.compile(), transport=transport)
    await ainvoke(agent, PROMPT)
    assert text(transport) == "What is it?Good morning. "


async def test_a_plain_runnable_is_followed_too(transport: RecordingTransport) -> None:
    same: Any = RunnableLambda(str)
    agent = acp_agent(same | ScriptedChatModel("Hello.", "Again."), transport=transport)
    await ainvoke(agent, "hi")
    await astream(agent, "hi")
    assert text(transport) == "Hello.Again."


def test_an_agent_that_exists_takes_no_more_parts() -> None:
    with pytest.raises(ConfigurationError, match="name, tools, middleware cannot be added"):
        acp_agent(create_agent(model(), []), [weather], middleware=[HumanInTheLoopMiddleware({})], name="x")


def test_the_pieces_come_in_their_order() -> None:
    named = [
        one.name
        for one in acp_middleware(RecordingTransport(), policy={"*": Rule()}, modes={"a": Mode()}).pieces
    ]
    assert named == [
        "SessionMiddleware",
        "ToolMiddleware",
        "PermissionMiddleware",
        "ModeMiddleware",
        "PlanMiddleware",
    ]
    line = acp_middleware()
    assert [one.name for one in line.pieces] == ["SessionMiddleware", "ToolMiddleware", "PlanMiddleware"]
    assert [one.name for one in line] == ["Trunkline.acp"], (
        "LangChain takes its time for each that it is given"
    )


class _AtHome(RecordingTransport):
    """A transport that works in the thread of its loop alone, as one over pipes does."""

    def emit(self, method: str, params: Any = None) -> None:
        asyncio.get_running_loop()
        super().emit(method, params)


async def test_a_plain_run_in_a_thread_speaks_in_the_loop_the_agent_was_made_in() -> None:
    transport = _AtHome(permissions=["allow_once"])
    agent = acp_agent(model(), [weather], transport=transport, policy={"weather": Rule()})
    await invoke(agent, PROMPT, on_thread("s1"))
    await asyncio.sleep(0)
    assert text(transport) == "Let me look. It is sunny."
    assert statuses(transport, "call_1") == ["pending", "in_progress", "completed"]


class _OneLoop(RecordingTransport):
    """A transport whose questions wait for each other in the loop where they are asked."""

    def __init__(self, questions: int) -> None:
        super().__init__(permissions=["allow_once"] * 2 * questions)
        self.everyone = asyncio.Barrier(questions)
        self.loops: set[Any] = set()

    async def request(self, *args: Any, **kwargs: Any) -> Any:
        self.loops.add(asyncio.get_running_loop())
        await soon(self.everyone.wait())
        return await super().request(*args, **kwargs)


def test_questions_of_a_plain_run_are_asked_side_by_side_in_one_loop() -> None:
    calls = [call("weather", {"city": city}) for city in ("Rome", "Oslo", "Bonn")]
    transport = _OneLoop(len(calls))
    script = ScriptedChatModel(calls, "Sunny.", each_turn=True)
    agent = acp_agent(script, [weather], transport=transport, policy={"weather": Rule()})
    for _ in range(2):
        agent.invoke(PROMPT, on_thread("s1"))
    assert transport.loops == {background_loop()}


def test_a_program_ends_while_a_question_of_a_plain_run_is_open(root: Path) -> None:
    program = """
        import asyncio, threading
        from tests.agents.langchain.graphs import weather
        from trunkline.agents.langchain import Rule, acp_agent
        from trunkline.testing.chat import call, chat_model

        asked = threading.Event()

        class Silent:
            def emit(self, method, params): pass

            async def request(self, method, params, timeout):
                asked.set()
                await asyncio.Event().wait()

        agent = acp_agent(chat_model(call("weather", {"city": "Rome"})), [weather], policy={"*": Rule()})
        prompt = {"messages": [("user", "go")]}
        threading.Thread(
            target=agent.invoke, args=(prompt,), kwargs={"transport": Silent()}, daemon=True
        ).start()
        assert asked.wait(30)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], timeout=60, check=True, cwd=root)


# -- somebody's own create_agent and ainvoke ---------------------------------------------------------


@pytest.mark.parametrize("follow", [True, False], ids=["with callbacks", "without"])
@pytest.mark.parametrize("plain", [True, False], ids=["invoke", "ainvoke"])
async def test_the_middlewares_find_their_client_in_anybodys_run(follow: bool, plain: bool) -> None:
    transport = RecordingTransport(permissions=["allow_once"])
    line = acp_middleware(transport, policy={"weather": Rule()})
    agent = create_agent(model(), [weather], middleware=line)
    config = on_thread("s1", *line.callbacks) if follow else on_thread("s1")
    await call_graph(agent, PROMPT, config, plain=plain)
    assert text(transport) == "Let me look. It is sunny."
    assert len(pieces(transport)) == 6
    assert statuses(transport, "call_1") == ["pending", "in_progress", "completed"]
    assert len(transport.requested) == 1
    assert session_ids(transport) == {"s1"}
    assert current_channel() is None


async def test_a_tool_finds_the_channel_of_its_run() -> None:
    heard: list[str] = []

    @tool
    async def listen() -> str:
        """Listen."""
        channel = current_channel()
        assert channel is not None
        heard.append(channel.session_id)
        return "ok"

    line = acp_middleware(RecordingTransport(), emit_tool_start=False, emit_tool_results=False)
    agent = create_agent(ScriptedChatModel(call("listen", {}), "Done."), [listen], middleware=line)
    await soon(agent.ainvoke(PROMPT, on_thread("s9")))
    assert heard == ["s9"]


# -- nothing of it is kept ----------------------------------------------------------------------------


class _Tally(AgentState[Any]):
    tally: Annotated[int, operator.add]


@pytest.mark.parametrize("plain", [True, False], ids=["invoke", "ainvoke"])
async def test_no_checkpoint_on_disk_contains_a_transport_or_a_channel(
    plain: bool, tmp_path: Path, transport: RecordingTransport
) -> None:
    path = str(tmp_path / "threads.db")
    line = acp_middleware()
    context = TrunklineContext(transport=transport, run_id="r1")
    config = on_thread("s1", *line.callbacks)

    def build(saver: Any) -> Any:
        return create_agent(model(), [weather], middleware=line, checkpointer=saver)

    if plain:
        with SqliteSaver.from_conn_string(path) as saver:
            await asyncio.to_thread(build(saver).invoke, PROMPT, config, context=context)
    else:
        async with AsyncSqliteSaver.from_conn_string(path) as saver:
            await soon(build(saver).ainvoke(PROMPT, config, context=context))
    assert text(transport) == "Let me look. It is sunny."
    with sqlite3.connect(path) as database:
        tables = [row[0] for row in database.execute("select name from sqlite_master where type = 'table'")]
        kept = b"".join(
            repr(database.execute(f"select * from {name}").fetchall()).encode() for name in tables
        )
    database.close()
    assert b"sunny" in kept
    _assert_clean(kept)


def _assert_clean(kept: bytes) -> None:
    for word in (b"trunkline", b"Transport", b"transport", b"OwnRun", b"emitter", b"Channel"):
        assert word not in kept, word


def test_the_middlewares_add_nothing_to_an_agents_state() -> None:
    bare = create_agent(model(), [weather], state_schema=_Tally)
    line = acp_middleware(RecordingTransport(), policy={"*": Rule()}, modes={"a": Mode()})
    ours = create_agent(model(), [weather], state_schema=_Tally, middleware=line)
    assert ours.get_input_jsonschema() == bare.get_input_jsonschema()
    assert ours.get_output_jsonschema() == bare.get_output_jsonschema()
    added = [channel for name, channel in ours.channels.items() if name not in bare.channels]
    assert [type(channel) for channel in added] == [RunObserver], "which holds nothing"


@pytest.mark.parametrize("mode", ["values", "updates", "checkpoints"])
async def test_no_stream_and_no_checkpoint_shows_what_middlewares_are_present(mode: str) -> None:
    line = acp_middleware(RecordingTransport(), policy={"*": Rule()}, modes={"a": Mode()})
    saver = InMemorySaver()
    agent = create_agent(model(), [weather], middleware=line, checkpointer=saver)
    shown = [item async for item in agent.astream(PROMPT, on_thread("s1"), stream_mode=cast("Any", mode))]
    kept = [checkpoint async for checkpoint in saver.alist(on_thread("s1"))]
    assert shown
    assert kept
    assert "trunkline" not in f"{shown} {kept} {await agent.aget_state(on_thread('s1'))}".lower()


def test_with_everything_off_no_step_is_added_to_the_graph() -> None:
    bare = create_agent(model(), [weather])
    line = acp_middleware(RecordingTransport(), emit_state_snapshots="none")
    assert set(create_agent(model(), [weather], middleware=line).nodes) == set(bare.nodes)


async def test_an_agent_closes_what_its_middlewares_opened() -> None:
    agent = acp_agent(model(), transport=cast("AcpTransport", RecordingTransport()))
    await soon(agent.aclose())
    await soon(agent.aclose())


async def test_a_middleware_of_the_users_stays_inside_of_ours() -> None:
    class Redacts(AgentMiddleware[Any, Any, Any]):
        async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
            message = await handler(request)
            return message.model_copy(update={"content": "[redacted]"})

    script = model()
    agent = acp_agent(script, [weather], transport=RecordingTransport(), middleware=[Redacts()])
    await ainvoke(agent, PROMPT)
    assert script.calls[1].messages[-1].content == "[redacted]"


# -- agents inside agents --------------------------------------------------------------------------


def build_on(make: Any, script: Any, tools: Any, transport: Any) -> Any:
    """Make an agent on a transport, with a wrapper or with a middleware."""
    if make in (acp_agent, agui_agent):
        return make(script, tools, transport=transport)
    return create_agent(script, tools, middleware=[make(transport)])


def ask_inside(make: Any, transport: Any) -> Any:
    """An agent whose tool asks another one, both on one transport."""
    inner = build_on(make, ScriptedChatModel("Inside."), [], transport)

    @tool
    async def delegate() -> str:
        """Asks another agent."""
        return str((await inner.ainvoke(PROMPT))["messages"][-1].text)

    return build_on(make, ScriptedChatModel(call("delegate", {}), "Outside."), [delegate], transport)


@pytest.mark.parametrize("make", [agui_agent, agui_middleware])
async def test_an_agent_inside_a_run_is_part_of_it_on_the_same_page(make: Any, page: Page) -> None:
    await ainvoke(ask_inside(make, page), PROMPT, on_thread("s1"))
    assert (page.breaches, page.outcome, page.text) == ([], "success", "Inside.Outside.")
    assert [one["type"] for one in page.events].count("RUN_STARTED") == 1


@pytest.mark.parametrize("make", [acp_agent, acp_middleware])
async def test_an_agent_inside_a_run_is_shown_to_an_editor_once(make: Any) -> None:
    client = RecordingTransport()
    await ainvoke(ask_inside(make, client), PROMPT, on_thread("s1"))
    assert text(client) == "Inside.Outside."
