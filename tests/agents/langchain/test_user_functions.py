"""Tests of functions that a user gives as options and that raise: the agent goes on, however it runs."""

from typing import Any

import pytest

from tests.agents.langchain.graphs import weather
from tests.agents.langchain.recorded_updates import PROMPT, call_of, on_thread, text
from tests.agents.langchain.untyped_langchain import create_agent
from tests.hubs import only, run_turn, soon
from trunkline import adapt
from trunkline import events as ev
from trunkline.agents.langchain import ToolMiddleware, acp_agent, agui_agent, agui_system
from trunkline.agents.langchain.user_functions import contain, contain_kind_mapper
from trunkline.content import text_of
from trunkline.frontends.agui import RunStarted
from trunkline.testing import AguiRecorder, RecordingTransport
from trunkline.testing.chat import ScriptedChatModel, call


def boom(*given: Any) -> Any:
    """A function with a bug."""
    raise RuntimeError("a bug of the user")


MAPPERS = pytest.mark.parametrize("option", ["content_mapper", "tool_kind_mapper"])
OPTIONS = pytest.mark.parametrize("option", ["content_mapper", "tool_kind_mapper", "session_id_extractor"])


def model() -> ScriptedChatModel:
    return ScriptedChatModel(call("weather", {"city": "Rome"}), "Done.")


def failures(caplog: pytest.LogCaptureFixture, option: str) -> int:
    return sum(one.getMessage().startswith(f"{option} failed, so ") for one in caplog.records)


@OPTIONS
@pytest.mark.parametrize("is_sync", [False, True], ids=["ainvoke", "invoke"])
async def test_an_acp_client_is_shown_the_run_all_the_same(
    option: str, is_sync: bool, caplog: pytest.LogCaptureFixture
) -> None:
    options: Any = {option: boom}
    client = RecordingTransport(session_id="s")
    agent = acp_agent(model(), [weather], transport=client, **options)
    agent.invoke(PROMPT) if is_sync else await soon(agent.ainvoke(PROMPT))
    assert (text(client), call_of(client, "call_1")["rawOutput"]) == ("Done.", "It is sunny in Rome.")
    assert failures(caplog, option) == 1


@OPTIONS
async def test_an_agui_client_is_shown_the_run_all_the_same(
    option: str, caplog: pytest.LogCaptureFixture
) -> None:
    options: Any = {option: boom}
    wrapped, own = AguiRecorder(), AguiRecorder()
    await soon(agui_agent(model(), [weather], transport=wrapped, **options).ainvoke(PROMPT))
    middleware, callbacks = agui_system(own, **options)
    agent = create_agent(model(), [weather], middleware=middleware)
    await soon(agent.ainvoke(PROMPT, {"callbacks": callbacks}))
    for page in (wrapped, own):
        assert [one["content"] for one in page.messages[-2:]] == ["It is sunny in Rome.", "Done."]
        assert page.types[-1] == "RUN_FINISHED"
    assert failures(caplog, option) == 2, "once for each agent"


@MAPPERS
async def test_a_session_goes_on(option: str, caplog: pytest.LogCaptureFixture) -> None:
    options: Any = {option: boom}
    graph = create_agent(model(), [weather], middleware=[ToolMiddleware(**options)])
    events = await run_turn(adapt(graph), "go")
    last = only(events, ev.ToolUpdate)[-1]
    assert (last.status, text_of(last.content or ())) == ("completed", "It is sunny in Rome.")
    assert isinstance(events[-1], ev.TurnFinished)
    assert failures(caplog, option) == 1


async def test_a_session_id_that_cannot_be_told_is_never_the_thread_of_the_config() -> None:
    page = AguiRecorder()
    await soon(
        agui_agent(model(), [weather], transport=page, session_id_extractor=boom).ainvoke(
            PROMPT, on_thread("somebody")
        )
    )
    (started,) = page.events_of(RunStarted)
    assert started.thread_id != "somebody"


@pytest.mark.parametrize(("name", "kind"), [("read_file", "other"), ("delete_file", "delete")])
def test_a_tool_whose_kind_cannot_be_told_does_not_count_as_harmless(name: str, kind: str) -> None:
    mapper = contain_kind_mapper(boom)
    assert mapper is not None
    assert mapper(name) == kind


def test_a_function_is_contained_once() -> None:
    once = contain(boom, "option", "nothing is done")
    assert contain(once, "option", "nothing is done") is once
    assert contain(None, "option", "nothing is done") is None
