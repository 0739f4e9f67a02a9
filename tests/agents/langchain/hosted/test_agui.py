"""Tests of agents that speak AG-UI by themselves: every way to call them, any transport, any end."""

import asyncio
import json
import operator
from typing import Annotated, Any

import pytest
from ag_ui import core as official
from ag_ui_validate import create_validator
from langchain.agents import AgentState
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import InjectedState
from langgraph.types import Command, interrupt
from tests.agents.langchain.agui_client import ASK, WAYS, Page, Way, ainvoke, astream, model
from tests.agents.langchain.graphs import WaitingTool, broken, graph_of, weather
from tests.agents.langchain.recorded_updates import PROMPT, call_graph, on_thread
from tests.agents.langchain.untyped_langchain import create_agent
from tests.hubs import soon

from trunkline.agents.langchain import emit_custom
from trunkline.agents.langchain.hosted.agui import agui_agent, agui_system
from trunkline.agents.langchain.hosted.context import TrunklineContext
from trunkline.errors import ConfigurationError, InvalidCommand
from trunkline.frontends.agui import sse_transport
from trunkline.testing.chat import ScriptedChatModel, call, ends, thinks

# -- what is told ----------------------------------------------------------------------------------


@WAYS
async def test_an_agent_tells_its_client_everything_however_it_is_called(run: Way, page: Page) -> None:
    saver = InMemorySaver()
    agent = agui_agent(model(), [weather], transport=page, checkpointer=saver)
    await run(agent, PROMPT, on_thread("t1"))
    assert page.kinds == [
        "RUN_STARTED", "STEP_STARTED", "REASONING_START", "REASONING_MESSAGE_START",
        "REASONING_MESSAGE_CONTENT", "REASONING_MESSAGE_END", "REASONING_END", "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT", "TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TEXT_MESSAGE_END",
        "STEP_FINISHED", "TOOL_CALL_RESULT", "STEP_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END", "STEP_FINISHED", "RUN_FINISHED",
    ]  # fmt: skip
    assert page.outcome == "success"
    assert page.call("call_1") == {
        "name": "weather",
        "arguments": '{"city": "Paris"}',
        "result": "It is sunny in Paris.",
    }
    kept = saver.get_tuple({"configurable": {"thread_id": "t1"}})
    assert kept is not None
    thread = kept.checkpoint["channel_values"]["messages"][1:]
    assert [one["id"] for one in page.messages if one["role"] != "reasoning"] == [one.id for one in thread]


@tool
def list_files() -> str:
    """Gives a name that is not UTF-8."""
    emit_custom("seen", "\udcff")
    return "file \udcff"


@pytest.mark.parametrize("value", ["\udcff", object()])
async def test_a_value_that_cannot_be_encoded_costs_no_terminal(value: Any, page: Page) -> None:
    script = ScriptedChatModel(call("list_files", {}), "done")
    agent = agui_agent(script, [list_files], transport=page, state_mapper=lambda _: {"a": value})
    await ainvoke(agent, PROMPT)
    assert page.outcome == "success"
    assert page.call("call_1")["result"] == "file \N{REPLACEMENT CHARACTER}"
    assert "seen" in [event.get("name") for event in page.events]


NODES = ["SeesTheStart.before_agent", "model", "tools", "model"]


class SeesTheStart(AgentMiddleware[Any, Any, Any]):
    """Has a node before the first model call."""

    def before_agent(self, state: Any, runtime: Any) -> None:
        return None


@WAYS
@pytest.mark.parametrize(("steps", "expected"), [("model", ["model"] * 2), ("node", NODES), ("none", [])])
@pytest.mark.parametrize("built", [False, True])
async def test_the_steps_are_calls_of_models_or_nodes(
    run: Way, steps: Any, expected: list[str], built: bool, page: Page
) -> None:
    first: Any = [SeesTheStart()]
    if built:
        graph = create_agent(model(), [weather], middleware=first)
        agent = agui_agent(graph, transport=page, emit_steps=steps)
    else:
        agent = agui_agent(model(), [weather], transport=page, emit_steps=steps, middleware=first)
    await run(agent, PROMPT)
    for kind in ("STEP_STARTED", "STEP_FINISHED"):
        assert [event["stepName"] for event in page.events if event["type"] == kind] == expected


@pytest.mark.parametrize("with_callbacks", [True, False])
async def test_a_message_ends_before_its_tools_run(with_callbacks: bool, page: Page) -> None:
    @tool
    def look() -> str:
        """Look at what the page was told so far."""
        return " ".join(page.kinds[-5:])

    middleware, callbacks = agui_system(page, emit_steps="none")
    script = ScriptedChatModel([thinks("Hm."), "Let me look. ", call("look")], "Done.")
    agent = create_agent(script, [look], middleware=middleware)
    await soon(agent.ainvoke(PROMPT, {"callbacks": callbacks if with_callbacks else []}))
    assert page.call("call_1")["result"].endswith("TOOL_CALL_END TEXT_MESSAGE_END")


async def test_the_official_validator_has_nothing_to_say(page: Page) -> None:
    await ainvoke(agui_agent(model(), [weather], transport=page), PROMPT, on_thread("t1"))
    validator = create_validator()
    for event in page.events:
        validator.feed(event)
    validator.finalize()
    summary = validator.report().summary
    assert (summary.errors, summary.warnings) == (0, 0)


async def test_tokens_and_the_reason_of_the_end_are_told(page: Page) -> None:
    script = ScriptedChatModel(["Too long to", ends("length", input=3, output=4)])
    await ainvoke(agui_agent(script, transport=page), PROMPT)
    assert page.terminal["usage"] == [{"inputTokens": 3, "outputTokens": 4, "totalTokens": 7}]
    assert page.terminal["result"] == {"stopReason": "max_tokens"}


async def test_a_model_that_cannot_stream_is_told_whole(page: Page) -> None:
    await ainvoke(agui_agent(model(streaming=False), [weather], transport=page), PROMPT)
    assert page.text == "Let me look. It is sunny."


async def test_an_agent_that_exists_is_followed_by_callbacks(page: Page) -> None:
    async def answer(state: Any) -> Any:
        return {"messages": [await ScriptedChatModel("Hello.").ainvoke(state["messages"])]}

    agent = agui_agent(graph_of(answer), transport=page)
    await ainvoke(agent, page.request("hi"))
    assert page.text == "Hello."
    with pytest.raises(ConfigurationError, match="tools cannot be added: give agui_agent the model"):
        agui_agent(graph_of(answer), [weather])


async def test_without_any_transport_the_agent_just_runs() -> None:
    agent = agui_agent(ScriptedChatModel("Hello.", each_turn=True))
    assert (await soon(agent.ainvoke(PROMPT)))["messages"][-1].content == "Hello."
    assert (await soon(agent.ainvoke(Page().request("go"))))["messages"][-1].content == "Hello."
    assert agent.invoke(PROMPT)["messages"][-1].content == "Hello."


# -- whose run it is -------------------------------------------------------------------------------


def ids(page: Page) -> tuple[str, str]:
    first = page.events[0]
    return first["threadId"], first["runId"]


async def test_ids_are_overridden_then_the_configs_then_the_contexts_then_new() -> None:
    hello = ScriptedChatModel("Hello.", each_turn=True)
    context = TrunklineContext(thread_id="context-t", run_id="context-r")
    config: Any = {"configurable": {"thread_id": "config-t", "run_id": "config-r"}}
    override: Any = {"thread_id_override": "over-t", "run_id_override": "over-r"}
    cases: list[tuple[Any, Any, tuple[str, str]]] = [
        (override, config, ("over-t", "over-r")),
        ({}, config, ("config-t", "config-r")),
        ({}, {}, ("context-t", "context-r")),
    ]
    for options, given, expected in cases:
        page = Page()
        await ainvoke(agui_agent(hello, transport=page, **options), PROMPT, given, context=context)
        assert ids(page) == expected
        assert (page.terminal["threadId"], page.terminal["runId"]) == expected
    first, second = Page(), Page()
    for page in (first, second):
        await ainvoke(agui_agent(hello, transport=page), PROMPT)
    assert len({*ids(first), *ids(second)}) == 4


async def test_a_clients_ids_are_echoed_whatever_the_graph_calls_its_thread() -> None:
    page, saver = Page("mine"), InMemorySaver()
    agent = agui_agent(ScriptedChatModel("Hello."), transport=page, checkpointer=saver)
    await ainvoke(agent, page.request("hi"), {"configurable": {"thread_id": "anna/mine"}})
    assert ids(page) == ("mine", "mine-run1")
    assert saver.get_tuple({"configurable": {"thread_id": "anna/mine"}}) is not None
    assert saver.get_tuple({"configurable": {"thread_id": "mine"}}) is None


@pytest.mark.parametrize("read", [bytes, json.loads, official.RunAgentInput.model_validate_json])
async def test_a_request_keeps_its_ids_in_whatever_form_it_comes(read: Any, page: Page) -> None:
    page.say("hi")
    body = page.body(tools=[], context=[], state={"note": None}, forwardedProps={})
    request = read(json.dumps(body).encode())
    script = ScriptedChatModel("Hello.")
    await ainvoke(agui_agent(script), request, transport=page)
    assert ids(page) == ("t1", "t1-run1")
    assert script.calls[0].messages[-1].content == "hi"
    with pytest.raises(ConfigurationError, match="ainvoke"):
        agui_agent(script).invoke(request)


@pytest.mark.parametrize("wrong", [b"{", {"threadId": "t", "runId": "r"}])
async def test_a_request_that_cannot_be_read_says_why_in_whatever_form_it_comes(wrong: Any) -> None:
    with pytest.raises(InvalidCommand, match=r"not JSON|messages is missing"):
        await ainvoke(agui_agent(ScriptedChatModel("Hello.")), wrong, transport=Page())


async def test_a_thread_has_one_run_at_a_time(page: Page) -> None:
    waiting = WaitingTool()

    script = ScriptedChatModel(call("wait", {}), "Done.", each_turn=True)
    agent = agui_agent(script, [waiting.tool], checkpointer=InMemorySaver())
    first = asyncio.create_task(agent.ainvoke(page.request("go"), transport=page))
    await soon(waiting.begun.wait())
    second = sse_transport()
    second.attach(agent.ainvoke(page.request("me too"), transport=second))
    refused = b"".join([piece async for piece in second])
    assert b"a run of this thread is on its way" in refused
    assert b"SESSION_BUSY" in refused
    waiting.go.set()
    await soon(first)
    await ainvoke(agent, page.request("and now"), transport=page)
    assert page.outcome == "success"


# -- transports ------------------------------------------------------------------------------------


class _Deaf:
    """A transport whose client is gone."""

    def __init__(self) -> None:
        self.tried = 0

    def emit(self, event: Any) -> None:
        self.tried += 1
        raise ConnectionError("nobody is there")


@WAYS
async def test_a_transport_that_throws_breaks_nothing_and_is_left_alone(
    run: Way, caplog: pytest.LogCaptureFixture
) -> None:
    transport, script = _Deaf(), model()
    await run(agui_agent(script, [weather], transport=transport), PROMPT, on_thread("t1"))
    assert script.calls[1].messages[-1].content == "It is sunny in Paris."
    assert transport.tried == 1
    assert [record.message for record in caplog.records if "cannot be told" in record.message] == [
        "the client of session t1 cannot be told: ConnectionError: nobody is there"
    ]


class _Line(Page):
    """A transport with everything that is optional."""

    def __init__(self, *, fails: bool = False) -> None:
        super().__init__()
        self.connected = False
        self.waits = 0
        self._fails = fails

    async def connect(self) -> None:
        if self._fails:
            raise ConnectionError("no line")
        self.connected = True

    def is_connected(self) -> bool:
        return self.connected

    async def drained(self) -> None:
        self.waits += 1
        if self._fails:
            raise ConnectionError("no line")


async def test_a_transport_is_connected_once_and_waited_for() -> None:
    line = _Line()
    agent = agui_agent(ScriptedChatModel("Hello.", each_turn=True), transport=line)
    await ainvoke(agent, PROMPT)
    assert line.connected
    line.connected = True
    await astream(agent, PROMPT)
    assert (line.waits, line.breaches) == (2, [])


async def test_a_transport_that_cannot_connect_is_tried_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    line = _Line(fails=True)
    await ainvoke(agui_agent(ScriptedChatModel("Hello."), transport=line), PROMPT, on_thread("t1"))
    assert line.text == "Hello."
    assert "the client of thread t1 cannot be reached: ConnectionError: no line" in caplog.text


async def test_a_reader_that_leaves_cancels_the_run_that_is_for_it() -> None:
    waiting = WaitingTool()

    reader = sse_transport()
    agent = agui_agent(ScriptedChatModel(call("wait", {})), [waiting.tool])
    task = asyncio.create_task(agent.ainvoke(PROMPT, transport=reader))
    pieces = aiter(reader)
    await soon(anext(pieces))
    await soon(waiting.begun.wait())
    await pieces.aclose()
    await soon(waiting.ended.wait())
    with pytest.raises(asyncio.CancelledError):
        await soon(task)


async def test_a_run_goes_on_without_its_reader_where_that_is_the_policy() -> None:
    waiting = WaitingTool()

    reader = sse_transport()
    agent = agui_agent(ScriptedChatModel(call("wait", {}), "Done."), [waiting.tool], on_disconnect="continue")
    task = asyncio.create_task(agent.ainvoke(PROMPT, transport=reader))
    pieces = aiter(reader)
    await soon(anext(pieces))
    await pieces.aclose()
    waiting.go.set()
    assert (await soon(task))["messages"][-1].content == "Done."


async def test_a_run_that_ended_is_not_cancelled_any_more() -> None:
    reader = sse_transport()
    agent = agui_agent(ScriptedChatModel("Hello."))

    async def handler() -> str:
        await agent.ainvoke(PROMPT, transport=reader)
        await reader.disconnect()
        await asyncio.sleep(0)
        return "still here"

    assert await soon(asyncio.create_task(handler())) == "still here"


# -- options ---------------------------------------------------------------------------------------


class _Tally(AgentState[Any]):
    tally: Annotated[int, operator.add]


@pytest.mark.parametrize(
    ("when", "kinds"),
    [
        ("initial", ["STATE_SNAPSHOT", "STATE_DELTA"]),
        ("all", ["STATE_SNAPSHOT", "STATE_SNAPSHOT"]),
        ("final", ["STATE_SNAPSHOT"]),
        ("none", []),
    ],
)
async def test_the_state_is_told_as_the_options_say(when: Any, kinds: list[str], page: Page) -> None:
    @tool
    def count() -> Command[Any]:
        """Count."""
        answer = ToolMessage("counted", tool_call_id="call_1")
        return Command(update={"tally": 1, "messages": [answer]})

    script = ScriptedChatModel(call("count", {}), "Done.")
    agent = agui_agent(script, [count], transport=page, state_schema=_Tally, emit_state_snapshots=when)
    await ainvoke(agent, {**PROMPT, "tally": 1})
    assert [event["type"] for event in page.events if event["type"].startswith("STATE")] == kinds
    if kinds:
        assert page.state == {"tally": 2}


async def test_a_clients_state_is_the_graphs_and_is_not_told_back(page: Page) -> None:
    page.state = {"tally": 3, "unknown": True}
    agent = agui_agent(ScriptedChatModel("Done."), transport=page, state_schema=_Tally)
    result = await soon(agent.ainvoke(page.request("go")))
    assert result["tally"] == 3
    assert page.state == {"tally": 3}


async def test_a_tool_that_changes_the_clients_state_in_place_tells_the_change(page: Page) -> None:
    class Boxed(AgentState[Any]):
        box: dict[str, int]

    @tool
    def count(state: Annotated[dict[str, Any], InjectedState]) -> Command[Any]:
        """Count."""
        state["box"]["n"] += 1
        answer = ToolMessage("counted", tool_call_id="call_1")
        return Command(update={"box": state["box"], "messages": [answer]})

    page.state = {"box": {"n": 0}}
    script = ScriptedChatModel(call("count", {}), "Done.")
    agent = agui_agent(script, [count], transport=page, state_schema=Boxed)
    told = page.request("go")
    await soon(agent.ainvoke(told))
    assert told.state == {"box": {"n": 0}}
    assert page.state == {"box": {"n": 1}}


async def test_each_run_tells_the_whole_state_to_whoever_reads_it() -> None:
    agent = agui_agent(
        ScriptedChatModel("One.", each_turn=True), state_schema=_Tally, checkpointer=InMemorySaver()
    )
    for one in (Page(), Page()):
        await ainvoke(agent, {**PROMPT, "tally": 1}, on_thread("t1"), transport=one)
        assert one.state["tally"] > 0


# -- how a run ends --------------------------------------------------------------------------------


async def test_a_model_that_fails_in_the_middle_leaves_nothing_open(
    page: Page, caplog: pytest.LogCaptureFixture
) -> None:
    script = ScriptedChatModel(["Well, ", call("weather", {"city": "Rome"}), ValueError("no more tokens")])
    agent = agui_agent(script, [weather], transport=page)
    with pytest.raises(ValueError, match="no more tokens"):
        await ainvoke(agent, PROMPT)
    assert page.terminal["type"] == "RUN_ERROR"
    assert "no more tokens" not in page.terminal["message"]
    assert "ValueError" in page.terminal["message"]
    assert page.terminal["code"] == "MODEL_INVOCATION_ERROR"
    run_id = page.events[0]["runId"]
    assert run_id in page.terminal["message"]
    assert f"{run_id} of session" in caplog.text
    assert "ValueError: no more tokens" in caplog.text


async def test_a_tool_that_raises_is_told_and_the_run_goes_on(page: Page) -> None:
    script = ScriptedChatModel(call("broken", {}), "Never mind.")
    await ainvoke(agui_agent(script, [broken], transport=page), PROMPT)
    assert "no fuel" in page.call("call_1")["result"]
    assert page.outcome == "success"


@pytest.mark.parametrize(("version", "outcome"), [("1.0", "cancelled"), (None, None)])
async def test_a_run_that_is_cancelled_says_so_as_its_client_knows_it(
    version: str | None, outcome: str | None
) -> None:
    page, waiting = Page(version=version), WaitingTool()

    agent = agui_agent(ScriptedChatModel(call("wait", {})), [waiting.tool], transport=page)
    task = asyncio.create_task(agent.ainvoke(page.request("go")))
    await soon(waiting.begun.wait())
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await soon(task)
    assert (page.outcome, page.breaches) == (outcome, [])


@pytest.mark.parametrize("saver", [None, InMemorySaver()])
async def test_a_question_that_no_checkpointer_remembers_is_logged_once(
    saver: Any, page: Page, caplog: pytest.LogCaptureFixture
) -> None:
    def ask(state: Any) -> Any:
        return {"messages": [("ai", interrupt("Your name?"))]}

    agent = agui_agent(graph_of(ask, checkpointer=saver), transport=page)
    for thread in ("a", "b"):
        await ainvoke(agent, PROMPT, on_thread(thread))
        assert page.outcome == "interrupt"
    assert ["checkpointer" in one.getMessage() for one in caplog.records] == ([] if saver else [True])


async def test_a_stream_that_is_left_early_ends_its_run(page: Page) -> None:
    agent = agui_agent(model(), [weather], transport=page)
    stream = agent.astream(PROMPT, stream_mode="updates")
    async with asyncio.timeout(10):
        await anext(stream)
        await stream.aclose()
    assert page.outcome == "cancelled"


# -- your own create_agent and ainvoke -------------------------------------------------------------


@pytest.mark.parametrize("follow", [True, False], ids=["with callbacks", "without"])
@pytest.mark.parametrize("plain", [True, False], ids=["invoke", "ainvoke"])
async def test_a_run_of_your_own_that_stops_says_what_for(follow: bool, plain: bool, page: Page) -> None:
    middleware, callbacks = agui_system(page, policy=ASK)
    agent = create_agent(model(), [weather], middleware=middleware, checkpointer=InMemorySaver())
    config = on_thread("t1", *callbacks) if follow else on_thread("t1")

    async def run(given: Any) -> None:
        await call_graph(agent, given, config, plain=plain)

    await run(PROMPT)
    assert [one["toolCallId"] for one in page.interrupts] == ["call_1"]
    await run(Command(resume=True))
    assert page.call("call_1")["result"] == "It is sunny in Paris."
    assert (page.text, page.outcome) == ("Let me look. It is sunny.", "success")


async def test_a_stream_that_was_left_ends_before_the_next_run_of_its_thread(page: Page) -> None:
    agent = agui_agent(model(), [weather], transport=page, checkpointer=InMemorySaver())
    async for _ in agent.astream(PROMPT, on_thread("t1")):
        break
    await ainvoke(agent, PROMPT, on_thread("t1"))
    kinds = [kind for kind in page.kinds if kind.startswith("RUN_")]
    assert kinds == ["RUN_STARTED", "RUN_FINISHED", "RUN_STARTED", "RUN_FINISHED"]
