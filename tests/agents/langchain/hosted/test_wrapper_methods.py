"""Tests of what acp_agent and agui_agent objects can do besides a plain call, as any other agent."""

from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langgraph.checkpoint.memory import InMemorySaver
from tests.agents.langchain.graphs import weather
from tests.agents.langchain.recorded_updates import PROMPT, on_thread, text
from tests.agents.langchain.untyped_langchain import create_agent
from tests.hubs import run_turn, soon, text_of

from trunkline import adapt
from trunkline.agents.langchain import (
    ModeMiddleware,
    Rule,
    TrunklineCallbackHandler,
    TrunklineContext,
    acp_agent,
    acp_middleware,
    agui_agent,
    agui_middleware,
)
from trunkline.agents.langchain.agent import LangChainAgent
from trunkline.errors import ConfigurationError, InvalidCommand
from trunkline.frontends.agui import sse_transport
from trunkline.testing import AguiRecorder, RecordingTransport
from trunkline.testing.chat import ScriptedChatModel, call

MODES: Any = {"open": {"description": "All of it"}, "careful": {"allowed_kinds": ["read"]}}


def client() -> RecordingTransport:
    return RecordingTransport(session_id="s")


def model(*answers: Any) -> ScriptedChatModel:
    return ScriptedChatModel(*(answers or ("Hi.",)))


# -- other ways to run -----------------------------------------------------------------------------


ONE_BY_ONE: Any = {"max_concurrency": 1}


def test_a_batch_shows_each_of_its_runs() -> None:
    here = client()
    assert len(acp_agent(model("One.", "Two.")).batch([PROMPT] * 2, ONE_BY_ONE, transport=here)) == 2
    assert text(here) == "One.Two."


async def test_an_async_batch_shows_each_of_its_runs() -> None:
    here = client()
    await soon(acp_agent(model("One.", "Two."), transport=here).abatch([PROMPT] * 2, ONE_BY_ONE))
    assert text(here) == "One.Two."


async def test_a_stream_of_events_and_a_config_that_is_bound_show_their_runs_too() -> None:
    here, page = client(), AguiRecorder()
    acp, agui = acp_agent(model(), transport=here), agui_agent(model(), transport=page)
    assert [one async for one in acp.astream_events(PROMPT, version="v2")]
    await soon(agui.with_config({"configurable": {"thread_id": "t7"}}).ainvoke(PROMPT))
    assert text(here) == "Hi."
    assert (page.messages[-1]["content"], getattr(page.events[0], "thread_id", None)) == ("Hi.", "t7")


async def test_the_rest_is_what_the_agent_itself_has() -> None:
    agent = agui_agent(model(), transport=AguiRecorder(), checkpointer=InMemorySaver(), name="mine")
    await soon(agent.ainvoke(PROMPT, on_thread("t1")))
    assert agent.get_state(on_thread("t1")).values["messages"][-1].text == "Hi."
    assert (await agent.aget_state(on_thread("t1"))).values["messages"][-1].text == "Hi."
    assert set(agent.get_graph().nodes) == set(agent.agent.get_graph().nodes)
    assert agent.get_input_jsonschema() == agent.agent.get_input_jsonschema()
    assert agent.get_output_jsonschema() == agent.agent.get_output_jsonschema()
    assert agent.name == "mine"
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = agent.no_such_name


# -- as a target -----------------------------------------------------------------------------------


class Counts(BaseCallbackHandler):
    """Counts the models that started."""

    def __init__(self) -> None:
        self.models = 0

    def on_chat_model_start(self, *about: Any, **more: Any) -> None:
        self.models += 1


@pytest.mark.parametrize("wrap", [acp_agent, agui_agent])
@pytest.mark.parametrize("bound", [False, True], ids=["as it is", "bound"])
async def test_a_wrapper_is_served_like_the_agent_in_it(wrap: Any, bound: bool) -> None:
    counts, elsewhere = Counts(), client() if wrap is acp_agent else AguiRecorder()
    agent = wrap(model(), transport=elsewhere, callbacks=[counts], modes=MODES)
    served = adapt(agent.with_config({"tags": ["x"]}).bind(transport=elsewhere) if bound else agent)
    assert isinstance(served, LangChainAgent)
    assert [one.value for one in served.card.options] == ["open"]
    events = await run_turn(served, "go")
    assert text_of(events) == "Hi."
    assert counts.models == 1
    assert not (elsewhere.emitted if isinstance(elsewhere, RecordingTransport) else elsewhere.events)


# -- modes -----------------------------------------------------------------------------------------


def modes_told(transport: RecordingTransport) -> list[str]:
    return [one["currentModeId"] for one in transport.updates if "currentModeId" in one]


async def test_the_mode_of_a_thread_is_chosen_on_the_agent_and_its_client_is_told() -> None:
    here = client()
    agent = acp_agent(
        model(call("weather", {"city": "Rome"}), "No.", "No."), [weather], transport=here, modes=MODES
    )
    agent.set_mode("t1", "careful")
    result = await soon(agent.ainvoke(PROMPT, on_thread("t1")))
    assert "mode 'careful' does not allow it" in result["messages"][-2].content
    assert modes_told(here) == ["careful"], "once"
    agent.set_mode("t1", "open")
    await soon(agent.ainvoke(PROMPT, on_thread("t1")))
    assert modes_told(here) == ["careful", "open"]
    with pytest.raises(InvalidCommand, match="no mode 'yolo'"):
        agent.set_mode("t1", "yolo")


async def test_the_modes_of_an_agent_that_is_built_already_are_chosen_too() -> None:
    page = AguiRecorder()
    built = create_agent(model(), [], middleware=[ModeMiddleware(MODES)]).with_config({"tags": ["x"]})
    agent = agui_agent(built, transport=page)
    agent.set_mode("t1", "careful")
    await soon(agent.ainvoke(PROMPT, on_thread("t1")))
    assert "careful" in str([one for one in page.events if type(one).__name__ == "Custom"])
    with pytest.raises(ConfigurationError, match="has no modes"):
        agui_agent(model()).set_mode("t1", "careful")


@pytest.mark.parametrize("is_sync", [False, True], ids=["ainvoke", "invoke"])
async def test_the_config_of_a_run_may_name_its_mode(is_sync: bool) -> None:
    script = model(call("weather", {"city": "Rome"}), "No.")
    agent = create_agent(script, [weather], middleware=[ModeMiddleware(MODES)])
    config: Any = {"configurable": {"mode": "careful"}}
    result = agent.invoke(PROMPT, config) if is_sync else await soon(agent.ainvoke(PROMPT, config))
    assert "mode 'careful' does not allow it" in result["messages"][-2].content
    with pytest.raises(InvalidCommand, match="no mode 'yolo'; choose one of open, careful"):
        await soon(agent.ainvoke(PROMPT, {"configurable": {"mode": "yolo"}}))


# -- whom a run is shown to ------------------------------------------------------------------------


async def test_a_callback_handler_alone_speaks_agui_too() -> None:
    page = AguiRecorder()
    agent = create_agent(model(call("weather", {"city": "Rome"}), "Done."), [weather])
    await soon(agent.ainvoke(PROMPT, {"callbacks": [TrunklineCallbackHandler(transport=page)]}))
    assert [one["role"] for one in page.messages] == ["assistant", "tool", "assistant"]
    assert (page.types[0], page.types[-1]) == ("RUN_STARTED", "RUN_FINISHED")


async def test_a_context_that_is_a_dict_needs_no_schema() -> None:
    here, page = client(), AguiRecorder()
    for make, transport in ((acp_middleware, here), (agui_middleware, page)):
        own: Any = make()
        agent = create_agent(model(), [], middleware=own)
        context = {"transport": transport, "thread_id": "t1"}
        await soon(agent.ainvoke(PROMPT, {"callbacks": own.callbacks}, context=context))
    assert text(here) == "Hi."
    assert page.messages[-1]["content"] == "Hi."


@pytest.mark.parametrize("context", [None, TrunklineContext()])
async def test_a_run_without_a_transport_is_warned_of_once_with_the_line_to_write(
    context: Any, caplog: pytest.LogCaptureFixture
) -> None:
    own = acp_middleware()
    agent = create_agent(model("1", "2"), [], middleware=own)
    for _ in range(2):
        await soon(agent.ainvoke(PROMPT, {"callbacks": own.callbacks}, context=context))
    (warning,) = caplog.records
    assert "context=TrunklineContext(transport=...)" in warning.getMessage()
    wrapper = agui_agent(model("1", "2"))
    for _ in range(2):
        await soon(wrapper.ainvoke(PROMPT))
    (_, warning) = caplog.records
    assert "agent.ainvoke(input, transport=...)" in warning.getMessage()


async def test_a_word_in_a_context_is_no_transport_where_one_is_needed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bus, page = {"transport": "a bus"}, AguiRecorder()
    await soon(create_agent(model(), [], middleware=agui_middleware(page)).ainvoke(PROMPT, context=bus))
    assert page.messages[-1]["content"] == "Hi."
    for agent in (
        create_agent(model(), [], middleware=agui_middleware()),
        create_agent(model(), [], middleware=acp_middleware()),
        agui_agent(model()),
        acp_agent(model()),
    ):
        with pytest.raises(ConfigurationError, match=r"a transport of .* and str"):
            await soon(agent.ainvoke(PROMPT, context=bus))
    for wrong in ("a bus", AguiRecorder):
        with pytest.raises(ConfigurationError, match=r"sse_transport\(\) makes one"):
            TrunklineContext(transport=wrong)
    assert caplog.records == []


class AsyncEmit:
    async def emit(self, event: Any) -> None:
        """Be too late."""


class NoRequest:
    def emit(self, method: str, params: Any) -> None:
        """Ask nobody anything."""


@pytest.mark.parametrize(
    ("make", "wrong", "why"),
    [
        (agui_agent, RecordingTransport(), r"emit\(event\).*one of ACP is for acp_agent"),
        (agui_agent, AguiRecorder, "AguiRecorder is a class"),
        (agui_agent, AsyncEmit(), r"plain function emit\(event\)"),
        (agui_agent, sse_transport, "function has none"),
        (acp_agent, AguiRecorder(), r"request\(.*one of AG-UI is for agui_agent"),
        (acp_agent, NoRequest(), "NoRequest lacks them"),
        (acp_agent, RecordingTransport, "RecordingTransport is a class"),
    ],
)
async def test_what_is_no_transport_of_the_protocol_is_refused_at_once(
    make: Any, wrong: Any, why: str
) -> None:
    with pytest.raises(ConfigurationError, match=why):
        make(model(), transport=wrong)
    with pytest.raises(ConfigurationError, match=why):
        await soon(make(model()).ainvoke(PROMPT, transport=wrong))


@pytest.mark.parametrize("twice", [True, False])
async def test_a_middleware_in_an_agent_that_is_wrapped_shows_nothing_twice(
    twice: bool, caplog: pytest.LogCaptureFixture
) -> None:
    page = AguiRecorder()
    inside = agui_middleware(page if twice else None, policy={"delete_*": Rule()})
    agent = agui_agent(create_agent(model(), [weather], middleware=inside))
    await soon(agent.ainvoke(PROMPT, transport=page))
    kinds = [kind.name for kind in page.types]
    assert (kinds.count("RUN_STARTED"), kinds.count("RUN_FINISHED")) == (1, 1)
    assert page.messages[-1]["content"] == "Hi."
    assert caplog.records == []


@pytest.mark.parametrize(("make", "wrap"), [(acp_middleware, acp_agent), (agui_middleware, agui_agent)])
def test_an_agent_that_brings_a_middleware_takes_no_second_one(make: Any, wrap: Any) -> None:
    for given in (make(), [make()]):
        with pytest.raises(ConfigurationError, match="itself: give its options"):
            wrap(model(), middleware=given)


def test_a_wrapper_names_its_agent_and_lists_what_that_can_do() -> None:
    named = agui_agent(create_agent(model(), name="weather"))
    assert repr(named) == "AguiAgent(weather)"
    assert {"get_state", "ainvoke", "set_mode", "middleware"} <= {*dir(named)}
    assert "AguiAgentOptions" in (agui_agent.__doc__ or "")
    assert "AcpAgentOptions" in (acp_agent.__doc__ or "")
