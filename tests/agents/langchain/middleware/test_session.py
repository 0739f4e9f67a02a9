"""Tests of the state that a session shows, and of what belongs to a session."""

import operator
from collections.abc import Callable
from itertools import combinations
from typing import Annotated, Any, NotRequired, cast

import pytest
from langchain.agents import AgentState
from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import OmitFromOutput, PrivateStateAttr
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.channels import EphemeralValue
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from tests.agents.langchain.agui_client import Page
from tests.agents.langchain.graphs import agent_of, run_turn, weather
from tests.agents.langchain.middleware.conftest import Play
from tests.agents.langchain.middleware.recording_channel import Ear
from tests.agents.langchain.recorded_updates import (
    PROMPT,
    call_graph,
    call_of,
    on_thread,
    states,
    statuses,
    text,
)
from tests.agents.langchain.untyped_langchain import create_agent
from tests.hubs import collect, hub_for, only, soon
from trunkline import events as ev
from trunkline.agents.langchain.callbacks.hosted_handler import TrunklineCallbackHandler
from trunkline.agents.langchain.channel import use_channel
from trunkline.agents.langchain.hosted.acp import acp_agent, acp_middleware
from trunkline.agents.langchain.hosted.agui import agui_agent, agui_system
from trunkline.agents.langchain.hosted.context import TrunklineContext
from trunkline.agents.langchain.middleware.mode import ModeMiddleware
from trunkline.agents.langchain.middleware.permission import PermissionMiddleware, Rule
from trunkline.agents.langchain.middleware.plan import PlanMiddleware
from trunkline.agents.langchain.middleware.session import SessionMiddleware
from trunkline.agents.langchain.middleware.tools import ToolMiddleware
from trunkline.errors import ConfigurationError
from trunkline.testing.agui_recorder import AguiRecorder
from trunkline.testing.chat import ScriptedChatModel, call
from trunkline.testing.recording import RecordingTransport


class Tally(AgentState[Any]):
    tally: Annotated[int, operator.add]
    note: NotRequired[str]


@tool
def count(by: int, tool_call_id: Annotated[str, InjectedToolCallId]) -> Any:
    """Count."""
    return Command(update={"tally": by, "messages": [ToolMessage("counted", tool_call_id=tool_call_id)]})


START: Any = {**PROMPT, "tally": 1}
SCRIPT = (call("count", {"by": 2}), call("count", {"by": 3}), "Done.")
Run = Callable[..., Ear]


def _agent(script: Any, middleware: Any, options: Any) -> Any:
    model = ScriptedChatModel(*script)
    return create_agent(model, [count], middleware=list(middleware), state_schema=Tally, **options)


@pytest.fixture
def run(play: Play) -> Run:
    def run(*middleware: Any, script: Any = SCRIPT, start: Any = START, **options: Any) -> Ear:
        return play(_agent(script, middleware, options), start)

    return run


def shown(ear: Ear) -> list[Any]:
    """States as they are, patches as lists."""
    found: list[Any] = []
    for one in ear.heard:
        if isinstance(one, ev.StateReplaced):
            found.append(one.state)
        elif isinstance(one, ev.StatePatched):
            found.append(list(one.patch))
    return found


def _patch(value: int) -> list[dict[str, Any]]:
    return [{"op": "replace", "path": "/tally", "value": value}]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [{"tally": 1}, _patch(3), _patch(6)]),
        ({"emit_state_snapshots": "initial"}, [{"tally": 1}, _patch(3), _patch(6)]),
        ({"emit_state_snapshots": "all"}, [{"tally": 1}, {"tally": 3}, {"tally": 6}]),
        ({"emit_state_snapshots": "final"}, [{"tally": 6}]),
        ({"emit_state_snapshots": "none"}, []),
    ],
)
def test_the_state_is_shown_as_often_as_it_is_wanted(run: Run, options: Any, expected: list[Any]) -> None:
    assert shown(run(SessionMiddleware(**options))) == expected


def test_a_state_that_does_not_change_is_shown_once(run: Run) -> None:
    for when in ("initial", "all", "final"):
        told = shown(run(SessionMiddleware(emit_state_snapshots=when), script=("Done.",)))
        assert told == [{"tally": 1}]


def test_an_agent_without_a_state_of_its_own_shows_none() -> None:
    ear = Ear()
    with use_channel(ear):
        agent = create_agent(ScriptedChatModel("Hi."), [], middleware=[SessionMiddleware()])
        agent.invoke(PROMPT)
    assert shown(ear) == []


def test_what_changes_after_the_last_answer_is_shown_too(run: Run) -> None:
    class Notes(AgentMiddleware[Any, Any, Any]):
        state_schema = Tally

        def after_model(self, state: Any, runtime: Any) -> dict[str, Any]:
            return {"note": "after"}

    told = shown(run(SessionMiddleware(), Notes(), script=("Done.",)))
    assert told == [{"tally": 1}, [{"op": "add", "path": "/note", "value": "after"}]]


def test_a_mapper_says_what_is_shown(run: Run) -> None:
    seen: list[Any] = []

    def squared(values: dict[str, Any]) -> Any:
        seen.append(set(values))
        return {"square": values["tally"] ** 2}

    told = shown(run(SessionMiddleware(emit_state_snapshots="all", state_mapper=squared)))
    assert told == [{"square": 1}, {"square": 9}, {"square": 36}]
    assert all("messages" not in one for one in seen)


def test_a_mapper_that_raises_shows_nothing_and_is_logged_once(
    run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    def wrong(values: dict[str, Any]) -> Any:
        raise LookupError("no such thing")

    assert shown(run(SessionMiddleware(state_mapper=wrong))) == []
    assert [one.message for one in caplog.records] == ["the state mapper failed, so this state is not shown"]


def test_a_word_that_is_none_of_the_four_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="one of initial, final, all, none, not 'always'"):
        SessionMiddleware(emit_state_snapshots=cast("Any", "always"))


@pytest.mark.parametrize("when", ["initial", "none"])
def test_its_name_is_the_same_whatever_it_does(when: Any) -> None:
    middleware = SessionMiddleware(emit_state_snapshots=when)
    assert isinstance(middleware, SessionMiddleware)
    assert middleware.name == "SessionMiddleware"


def test_silence_costs_no_step_of_the_graph() -> None:
    def steps(*middleware: Any) -> set[str]:
        return set(_agent(SCRIPT, middleware, {}).nodes)

    assert steps(SessionMiddleware(emit_state_snapshots="none")) == steps()
    assert steps(SessionMiddleware()) == steps()


def test_a_subclass_keeps_the_hooks_that_it_brings() -> None:
    class Own(SessionMiddleware):
        async def awrap_model_call(self, request: Any, handler: Any) -> Any:
            return await handler(request)

    silent = Own(emit_state_snapshots="none")
    assert type(silent).awrap_model_call is Own.awrap_model_call
    assert type(silent).awrap_tool_call is AgentMiddleware.awrap_tool_call
    assert type(silent).__module__ == __name__


@pytest.mark.parametrize("plain", [True, False], ids=["invoke", "ainvoke"])
async def test_a_client_is_told_of_the_state_by_an_extension_of_acp(
    plain: bool, transport: RecordingTransport
) -> None:
    agent = acp_agent(ScriptedChatModel(*SCRIPT), [count], transport=transport, state_schema=Tally)
    await call_graph(agent, START, on_thread("s1"), plain=plain)
    assert states(transport) == [{"tally": 1}, _patch(3), _patch(6)]
    told = [sent for sent in transport.emitted if sent.method == "_trunkline/state"]
    assert all(sent.params["sessionId"] == "s1" for sent in told)


async def test_the_next_run_of_a_session_shows_what_changed_since(transport: RecordingTransport) -> None:
    script = ScriptedChatModel("One.", "Two.")
    agent = acp_agent(script, transport=transport, state_schema=Tally, checkpointer=InMemorySaver())
    await soon(agent.ainvoke(START, on_thread("s1")))
    await soon(agent.ainvoke({**PROMPT, "tally": 5}, on_thread("s1")))
    assert states(transport) == [{"tally": 1}, _patch(6)]


async def test_the_state_of_a_subagent_is_its_own_business() -> None:
    inner = _agent(SCRIPT, [SessionMiddleware()], {})

    @tool
    async def scout() -> str:
        """Ask the scout."""
        await inner.ainvoke(START)
        return "found"

    ear = Ear()
    with use_channel(ear):
        outer = create_agent(ScriptedChatModel(call("scout", {}), "Done."), [scout])
        await soon(outer.ainvoke(PROMPT))
    assert shown(ear) == []


@pytest.mark.parametrize("when", ["initial", "final", "all", "none"])
async def test_in_a_session_of_ours_the_options_govern(when: Any) -> None:
    agent, _ = agent_of(
        *SCRIPT, tools=[count], middleware=[SessionMiddleware(emit_state_snapshots=when), Seeds()]
    )
    events = await run_turn(agent, "go")
    snapshots, patches = only(events, ev.StateReplaced), only(events, ev.StatePatched)
    expected = {"initial": (1, True), "final": (1, False), "all": (4, False), "none": (0, False)}
    assert (len(snapshots), bool(patches)) == expected[when]


class Seeds(AgentMiddleware[Any, Any, Any]):
    """Gives the state a beginning."""

    state_schema = Tally

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        return {"tally": 1}


# -- what is private ---------------------------------------------------------------------------------


class Secrets(AgentState[Any]):
    open: NotRequired[str]
    secret: NotRequired[Annotated[str, PrivateStateAttr]]
    kept: NotRequired[Annotated[str, OmitFromOutput]]
    fleeting: NotRequired[Annotated[str, EphemeralValue, PrivateStateAttr]]
    summed: NotRequired[Annotated[str, PrivateStateAttr, operator.add]]


class KeepsSecrets(AgentMiddleware[Any, Any, Any]):
    """Has private fields, and one that everybody may see."""

    state_schema = Secrets

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        return {"open": "seen", **dict.fromkeys(("secret", "kept", "fleeting", "summed"), "API-KEY")}


async def _in_a_session(page: Page) -> list[Any]:
    agent, _ = agent_of("Hi.", middleware=[KeepsSecrets()])
    async with hub_for(agent) as hub:
        return await collect(await hub.create(), "go")


async def _around_an_agent(page: Page) -> list[Any]:
    await soon(
        agui_agent(ScriptedChatModel("Hi."), transport=page, middleware=[KeepsSecrets()]).ainvoke(PROMPT)
    )
    return page.events


async def _around_a_built_agent(page: Page) -> list[Any]:
    built = create_agent(ScriptedChatModel("Hi."), [], middleware=[KeepsSecrets()])
    await soon(agui_agent(built, transport=page).ainvoke(PROMPT))
    return page.events


async def _by_middleware(page: Page) -> list[Any]:
    middleware, callbacks = agui_system(page)
    agent = create_agent(ScriptedChatModel("Hi."), [], middleware=[*middleware, KeepsSecrets()])
    await soon(agent.ainvoke(PROMPT, {"callbacks": callbacks}))
    return page.events


async def _over_acp(page: Page) -> list[Any]:
    client = RecordingTransport()
    await soon(
        acp_agent(ScriptedChatModel("Hi."), transport=client, middleware=[KeepsSecrets()]).ainvoke(PROMPT)
    )
    return client.emitted


@pytest.mark.parametrize(
    "way", [_in_a_session, _around_an_agent, _around_a_built_agent, _by_middleware, _over_acp]
)
async def test_private_fields_reach_no_client(way: Callable[[Page], Any], page: Page) -> None:
    told = repr(await way(page))
    assert "{'open': 'seen'}" in told
    assert "API-KEY" not in told


# -- which session it is -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["thread_id", "session_id", "sessionId"])
def test_a_checkpoint_belongs_to_the_session_of_its_thread(name: str) -> None:
    assert SessionMiddleware().session_of({"configurable": {name: "s1"}}) == "s1"


def test_a_config_may_belong_to_no_session() -> None:
    assert SessionMiddleware().session_of({}) is None
    assert SessionMiddleware().session_of(None) is None


async def test_an_extractor_says_which_session_a_run_belongs_to(transport: RecordingTransport) -> None:
    def of_tenant(config: Any) -> str:
        return f"{config['configurable']['tenant']}:{config['configurable']['thread_id']}"

    saver = InMemorySaver()
    line = acp_middleware(transport, session_id_extractor=of_tenant)
    agent = create_agent(ScriptedChatModel("Hi."), [], middleware=line, checkpointer=saver)
    config: Any = {"configurable": {"thread_id": "t1", "tenant": "acme"}, "callbacks": line.callbacks}
    await soon(agent.ainvoke(PROMPT, config))
    assert {sent.params["sessionId"] for sent in transport.emitted} == {"acme:t1"}
    checkpoint = saver.get_tuple(config)
    assert checkpoint is not None
    found = {"configurable": {**checkpoint.config.get("configurable", {}), "tenant": "acme"}}
    assert line.session.session_of(found) == "acme:t1"


# -- what nobody else says -----------------------------------------------------------------------------


async def test_where_no_callback_follows_the_answers_are_said_whole(transport: RecordingTransport) -> None:
    agent = create_agent(ScriptedChatModel("All at once."), [], middleware=[SessionMiddleware()])
    await soon(agent.ainvoke(PROMPT, on_thread("s1"), context=TrunklineContext(transport=transport)))
    assert text(transport) == "All at once."
    assert [one["content"]["text"] for one in transport.updates] == ["All at once."]


async def test_a_model_call_that_another_middleware_answers_is_said(transport: RecordingTransport) -> None:
    class Answers(AgentMiddleware[Any, Any, Any]):
        async def awrap_model_call(self, request: Any, handler: Any) -> Any:
            return AIMessage("By the way.", id="canned")

    line = acp_middleware(transport)
    agent = create_agent(ScriptedChatModel(), [], middleware=[*line, Answers()])
    await soon(agent.ainvoke(PROMPT, on_thread("s1", *line.callbacks)))
    assert text(transport) == "By the way."


async def test_without_anybody_to_tell_it_does_nothing() -> None:
    agent = _agent(SCRIPT, [SessionMiddleware(), ToolMiddleware()], {})
    assert (await soon(agent.ainvoke(START)))["tally"] == 6


async def test_it_can_be_closed_at_any_time() -> None:
    async with SessionMiddleware() as middleware:
        await middleware.aclose()


# -- beside others, or alone -----------------------------------------------------------------------

PIECES: dict[str, Callable[[], Any]] = {
    "session": SessionMiddleware,
    "tools": ToolMiddleware,
    "modes": ModeMiddleware,
    "permission": lambda: PermissionMiddleware({"*": Rule(require_permission=False)}),
    "plan": PlanMiddleware,
}


@pytest.mark.parametrize("callbacks", [False, True], ids=["alone", "callbacks"])
@pytest.mark.parametrize("order", [1, -1], ids=["forwards", "backwards"])
async def test_whatever_is_combined_a_call_that_is_shown_ends_as_it_did(callbacks: bool, order: int) -> None:
    for names in (some for number in range(1, 6) for some in combinations(PIECES, number)):
        client, page = RecordingTransport(session_id="s"), AguiRecorder()
        for transport in (client, page):
            model = ScriptedChatModel([call("weather", {"city": "Rome"}), call("no_such_tool", {})], "Done.")
            pieces = [PIECES[name]() for name in names[::order]]
            agent = create_agent(model, [weather], middleware=pieces, context_schema=TrunklineContext)
            config = on_thread("t", *([TrunklineCallbackHandler()] if callbacks else []))
            await soon(agent.ainvoke(PROMPT, config, context=TrunklineContext(transport=transport)))
        shown = callbacks or "session" in names or "tools" in names
        assert (page.types[0], page.types[-1]) == ("RUN_STARTED", "RUN_FINISHED"), names
        for call_id, status in (("call_1", "completed"), ("call_2", "failed")):
            assert statuses(client, call_id)[-1:] == ([status] if shown else []), names


async def test_a_session_middleware_alone_shows_a_call_as_it_ended() -> None:
    client = RecordingTransport(session_id="s")
    model = ScriptedChatModel(call("weather", {"city": "Rome"}), "Done.")
    agent = create_agent(model, [weather], middleware=[SessionMiddleware()], context_schema=TrunklineContext)
    await soon(agent.ainvoke(PROMPT, context=TrunklineContext(transport=client)))
    assert statuses(client, "call_1") == ["pending", "completed"]
    assert call_of(client, "call_1")["rawOutput"] == "It is sunny in Rome."
