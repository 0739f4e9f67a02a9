"""Tests of the callback handler: real streaming in any run, and no harm to the agent."""

import asyncio
import logging
import threading
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, cast
from uuid import uuid4

import pytest
from langchain.agents.middleware import AgentMiddleware, SummarizationMiddleware
from langchain_core.callbacks import adispatch_custom_event
from langchain_core.language_models.llms import LLM
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.outputs import GenerationChunk
from langchain_core.tools import tool
from langchain_core.tracers._streaming import (
    _StreamingCallbackHandler,  # pyright: ignore[reportPrivateUsage]
)
from tests.agents.langchain.graphs import broken, graph_of, helper_for, weather
from tests.agents.langchain.middleware.recording_channel import Ear
from tests.agents.langchain.recorded_updates import (
    PROMPT,
    call_graph,
    call_of,
    on_thread,
    pieces,
    session_ids,
    statuses,
    text,
)
from tests.agents.langchain.untyped_langchain import create_agent
from tests.hubs import only, run_turn, soon, text_of

import trunkline.agents.langchain.callbacks.hosted_handler as callbacks
from trunkline import events as ev
from trunkline.agents.langchain.agent import LangChainAgent
from trunkline.agents.langchain.callbacks.hosted_handler import TrunklineCallbackHandler, is_followed
from trunkline.agents.langchain.channel import use_channel
from trunkline.agents.langchain.hosted.acp import acp_agent
from trunkline.agents.langchain.hosted.context import TrunklineContext
from trunkline.agents.langchain.messages.content_mapper import ContentBlockMapper
from trunkline.agents.langchain.middleware.plan import PlanMiddleware
from trunkline.agents.langchain.middleware.session import SessionMiddleware
from trunkline.agents.langchain.middleware.tools import ToolMiddleware
from trunkline.content import TextBlock
from trunkline.testing.chat import ScriptedChatModel, call, thinks
from trunkline.testing.recording import RecordingTransport


def model() -> ScriptedChatModel:
    return ScriptedChatModel([thinks("Hm."), "Look: ", call("weather", {"city": "Rome"})], "It is sunny.")


@pytest.mark.parametrize("plain", [True, False], ids=["invoke", "ainvoke"])
async def test_tokens_arrive_one_by_one_while_the_model_speaks(plain: bool) -> None:
    seen: list[int] = []
    heard = threading.Semaphore(1)

    class Heard(RecordingTransport):
        def emit(self, method: str, params: Any = None) -> None:
            super().emit(method, params)
            heard.release()

    class Watched(ScriptedChatModel):
        def _perform(self, answer: Any, messages: Any) -> Any:
            for chunk in super()._perform(answer, messages):
                # A plain run is in a thread of its own, and its words come through the loop of the test.
                assert heard.acquire(timeout=5)
                seen.append(len(transport.updates))
                yield chunk

    transport = Heard()

    handler = TrunklineCallbackHandler(transport=transport)
    script: Any = Watched
    agent = create_agent(script(["One ", "two ", "three"]), [])
    await call_graph(agent, PROMPT, on_thread("s1", handler), plain=plain)
    assert pieces(transport) == ["One ", "two ", "three"]
    assert seen[:3] == [0, 1, 2]
    assert session_ids(transport) == {"s1"}


async def test_a_handler_makes_models_stream_and_leaves_their_streams_alone() -> None:
    handler = TrunklineCallbackHandler()
    assert isinstance(handler, _StreamingCallbackHandler)
    items = iter(["a"])
    assert handler.tap_output_iter(uuid4(), items) is items

    async def some() -> AsyncGenerator[str]:
        yield "a"

    stream = some()
    assert handler.tap_output_aiter(uuid4(), stream) is stream
    await stream.aclose()


async def test_one_handler_keeps_many_runs_apart(transport: RecordingTransport) -> None:
    handler = TrunklineCallbackHandler(transport=transport)
    script = ScriptedChatModel(by_prompt={f"n{n}": [f"word {n} "] for n in range(5)})
    agent = create_agent(script, [])
    await soon(
        asyncio.gather(
            *(agent.ainvoke({"messages": [("user", f"n{n}")]}, on_thread(f"s{n}", handler)) for n in range(5))
        )
    )
    told = {
        (sent.params["sessionId"], sent.params["update"]["content"]["text"]) for sent in transport.emitted
    }
    assert told == {(f"s{n}", word) for n in range(5) for word in ("word ", f"{n} ")}


@pytest.mark.parametrize(
    ("options", "texts", "thoughts"),
    [
        ({}, "Look: It is sunny.", "Hm."),
        ({"emit_text_chunks": False}, "", "Hm."),
        ({"emit_reasoning_chunks": False}, "Look: It is sunny.", ""),
        ({"emit_text_chunks": False, "emit_reasoning_chunks": False}, "", ""),
    ],
)
async def test_the_switches_leave_text_and_reasoning_out(
    options: dict[str, Any], texts: str, thoughts: str, transport: RecordingTransport
) -> None:
    handler = TrunklineCallbackHandler(transport=transport, **options)
    await soon(create_agent(model(), [weather]).ainvoke(PROMPT, on_thread("s1", handler)))
    assert (text(transport), text(transport, "agent_thought_chunk")) == (texts, thoughts)
    assert statuses(transport, "call_1") == ["pending", "in_progress", "completed"]


async def test_a_handler_that_says_no_words_makes_no_model_stream() -> None:
    handler = TrunklineCallbackHandler(emit_text_chunks=False, emit_reasoning_chunks=False)
    assert not isinstance(handler, _StreamingCallbackHandler)


@pytest.mark.parametrize("plain", [True, False], ids=["invoke", "ainvoke"])
@pytest.mark.parametrize("middleware", [[], [SessionMiddleware], [ToolMiddleware], [PlanMiddleware]])
async def test_a_handler_that_says_no_words_says_the_calls_to_the_client_of_the_run(
    middleware: list[Any], plain: bool, transport: RecordingTransport
) -> None:
    handler = TrunklineCallbackHandler(emit_text_chunks=False, emit_reasoning_chunks=False)
    script = ScriptedChatModel(
        [thinks("Hm."), "Look: ", call("weather", {"city": "Rome"})],
        [call("weather", {"city": "Oslo"}), call("weather", {"city": "Bonn"})],
        "It is sunny.",
    )
    agent = create_agent(script, [weather], middleware=[make() for make in middleware])
    config, context = on_thread("s1", handler), TrunklineContext(transport=transport)
    await call_graph(agent, PROMPT, config, context=context, plain=plain)
    assert text(transport) == text(transport, "agent_thought_chunk") == ""
    for call_id in ("call_1", "call_2", "call_3"):
        assert statuses(transport, call_id) == ["pending", "in_progress", "completed"]


async def test_a_run_may_be_named_by_anything(transport: RecordingTransport) -> None:
    config = {**on_thread("s1", TrunklineCallbackHandler(transport=transport)), "run_id": "by-hand"}
    await soon(create_agent(model(), [weather]).ainvoke(PROMPT, config))
    assert text(transport) == "Look: It is sunny."
    assert statuses(transport, "call_1") == ["pending", "in_progress", "completed"]


async def test_a_mapper_of_the_users_maps_the_blocks(transport: RecordingTransport) -> None:
    class Loud(ContentBlockMapper):
        def to_neutral(self, block: Any, message_id: str = "") -> Any:
            return [TextBlock(text="LOUD")]

    script = ScriptedChatModel([AIMessageChunk(content=[{"type": "text", "text": "quiet"}])])
    handler = TrunklineCallbackHandler(transport=transport, content_block_mapper=Loud())
    await soon(create_agent(script, []).ainvoke(PROMPT, on_thread("s1", handler)))
    assert text(transport) == "LOUD"


async def test_after_dispose_nothing_is_said_and_nothing_held(transport: RecordingTransport) -> None:
    handler = TrunklineCallbackHandler(transport=transport)

    @tool
    def stop() -> str:
        """Stop listening."""
        handler.dispose()
        return "stopped"

    script = ScriptedChatModel(["Before. ", call("stop", {})], "After.")
    result = await soon(create_agent(script, [stop]).ainvoke(PROMPT, on_thread("s1", handler)))
    assert result["messages"][-1].content == "After."
    assert text(transport) == "Before. "
    assert statuses(transport, "call_1")[-1] == "failed"
    handler.dispose()
    said = len(transport.emitted)
    script = ScriptedChatModel("More.")
    await soon(create_agent(script, []).ainvoke(PROMPT, on_thread("s1", handler)))
    assert len(transport.emitted) == said
    assert not vars(handler)["_followed"]


async def test_once_it_is_disposed_of_the_middleware_says_that_tools_run(
    transport: RecordingTransport,
) -> None:

    @tool
    def stop() -> str:
        """Stop listening."""
        handler.dispose()
        return "stopped"

    script = ScriptedChatModel([call("stop", {})], [call("weather", {"city": "Rome"})], "Done.")
    agent = acp_agent(script, [stop, weather], transport=transport)
    (handler,) = cast("list[TrunklineCallbackHandler]", agent.middleware.callbacks)
    await soon(agent.ainvoke(PROMPT, on_thread("s1")))
    assert statuses(transport, "call_2") == ["pending", "in_progress", "completed"]


async def test_a_finished_run_is_not_held_either() -> None:
    handler = TrunklineCallbackHandler(transport=RecordingTransport())
    agent = create_agent(model(), [weather])
    await soon(agent.ainvoke(PROMPT, on_thread("s1", handler)))
    failing = create_agent(ScriptedChatModel(ValueError("no")), [])
    with pytest.raises(ValueError, match="no"):
        await soon(failing.ainvoke(PROMPT, on_thread("s1", handler)))
    assert not vars(handler)["_followed"]


async def test_a_channel_that_raises_does_no_harm_and_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Hoarse(Ear):
        def emit(self, event: Any) -> None:
            raise RuntimeError("cannot speak")

    script = model()
    with use_channel(Hoarse()), caplog.at_level(logging.WARNING):
        agent = create_agent(script, [weather])
        result = await soon(agent.ainvoke(PROMPT, on_thread("s1", TrunklineCallbackHandler())))
    assert result["messages"][-1].content == "It is sunny."
    assert [one.message for one in caplog.records] == ["what an agent did could not be emitted"]


async def test_a_mapper_that_fails_where_a_subagent_ends_holds_no_run(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Picky(ContentBlockMapper):
        def content_of(self, content: Any) -> Any:
            raise ValueError("no such content")

    @tool(return_direct=True)
    def look(place: str) -> str:
        """Look."""
        return place

    inner = create_agent(ScriptedChatModel([call("look", {"place": "Rome"})]), [look])
    handler = TrunklineCallbackHandler(transport=RecordingTransport(), content_block_mapper=Picky())
    script = ScriptedChatModel([call("helper", {"job": "x"}, "h1")], "Done.")
    await soon(create_agent(script, [helper_for(inner)]).ainvoke(PROMPT, on_thread("s1", handler)))
    assert not vars(handler)["_followed"]
    assert [record.message for record in caplog.records] == ["what an agent did could not be emitted"]


async def test_it_speaks_through_the_channel_of_its_run() -> None:
    ear = Ear()
    with use_channel(ear):
        agent = create_agent(model(), [weather])
        await soon(agent.ainvoke(PROMPT, on_thread("s1", TrunklineCallbackHandler())))
    assert "".join(one.delta for one in ear.heard if isinstance(one, ev.Text)) == "Look: It is sunny."


async def test_without_channel_or_transport_it_is_silent() -> None:
    handler = TrunklineCallbackHandler()
    result = await soon(create_agent(model(), [weather]).ainvoke(PROMPT, on_thread("s1", handler)))
    assert result["messages"][-1].content == "It is sunny."


async def test_in_a_session_it_leaves_the_word_to_the_session(transport: RecordingTransport) -> None:
    handler = TrunklineCallbackHandler(transport=transport)
    graph = create_agent(ScriptedChatModel("Said once."), [])
    events = await run_turn(LangChainAgent(graph, config={"callbacks": [handler]}), "go")
    assert text_of(events) == "Said once."
    assert transport.emitted == []


async def test_a_model_alone_is_followed(transport: RecordingTransport) -> None:
    handler = TrunklineCallbackHandler(transport=transport)
    await soon(ScriptedChatModel("Hello there.").ainvoke("hi", {"callbacks": [handler]}))
    assert pieces(transport) == ["Hello ", "there."]
    with pytest.raises(ValueError, match="gone"):
        await soon(ScriptedChatModel(ValueError("gone")).ainvoke("hi", {"callbacks": [handler]}))
    ear = Ear()
    with use_channel(ear):
        await soon(ScriptedChatModel("Hi.").ainvoke("hi", {"callbacks": [TrunklineCallbackHandler()]}))
    assert [one.delta for one in only(ear.heard, ev.Text)] == ["Hi."]
    assert not vars(handler)["_followed"]


class _Completes(LLM):
    """Completes text, word by word."""

    @property
    def _llm_type(self) -> str:
        return "completes"

    def _call(self, *args: Any, **kwargs: Any) -> str:
        return "abc"

    async def _astream(
        self, prompt: str, stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[GenerationChunk]:
        for letter in "abc":
            chunk = GenerationChunk(text=letter)
            await run_manager.on_llm_new_token(letter, chunk=chunk)
            yield chunk


async def test_a_model_that_completes_text_is_followed(transport: RecordingTransport) -> None:
    handler = TrunklineCallbackHandler(transport=transport)
    async with asyncio.timeout(10):
        assert [one async for one in _Completes().astream("hi", {"callbacks": [handler]})]
    assert pieces(transport) == ["a", "b", "c"]


async def test_a_summary_for_the_model_is_not_shown(transport: RecordingTransport) -> None:
    handler = TrunklineCallbackHandler(transport=transport)
    summaries = ScriptedChatModel("SECRET SUMMARY")
    middleware = SummarizationMiddleware(summaries, trigger=("messages", 3), keep=("messages", 1))
    agent = create_agent(ScriptedChatModel("Fine."), [], middleware=[middleware])
    talk = [HumanMessage("a"), AIMessage("b"), HumanMessage("c"), AIMessage("d"), HumanMessage("e")]
    await soon(agent.ainvoke({"messages": talk}, on_thread("s1", handler)))
    assert summaries.calls
    assert text(transport) == "Fine."


async def test_the_history_of_a_prompt_is_not_said(transport: RecordingTransport) -> None:
    handler = TrunklineCallbackHandler(transport=transport)
    history = [
        HumanMessage("before"),
        AIMessage("", id="old", tool_calls=[{"name": "weather", "args": {}, "id": "old_1"}]),
        ToolMessage("old weather", tool_call_id="old_1", id="old_result"),
        AIMessage("Old answer.", id="old_2"),
        HumanMessage("now"),
    ]
    await soon(
        create_agent(ScriptedChatModel("New."), []).ainvoke({"messages": history}, on_thread("s1", handler))
    )
    assert text(transport) == "New."
    assert all("toolCallId" not in one for one in transport.updates)


async def test_what_no_model_said_is_said_at_the_end(transport: RecordingTransport) -> None:
    handler = TrunklineCallbackHandler(transport=transport)

    async def work(state: Any) -> Any:
        await ScriptedChatModel("By the model. ").ainvoke(state["messages"])
        return {"messages": [AIMessage("By hand.", id="canned")]}

    await soon(graph_of(work).ainvoke(PROMPT, on_thread("s1", handler)))
    assert text(transport) == "By the model. By hand."


async def test_an_event_of_a_node_is_passed_on() -> None:
    ear = Ear()

    async def work(state: Any) -> Any:
        await adispatch_custom_event("progress", {"done": 3})
        return {}

    with use_channel(ear):
        await soon(graph_of(work).ainvoke(PROMPT, on_thread("s1", TrunklineCallbackHandler())))
    assert [(one.name, one.value) for one in only(ear.heard, ev.Custom)] == [("progress", {"done": 3})]


async def test_a_tool_that_raises_ends_its_call_as_failed(transport: RecordingTransport) -> None:
    handler = TrunklineCallbackHandler(transport=transport)
    agent = create_agent(ScriptedChatModel(call("broken", {"why": "no fuel"})), [broken])
    with pytest.raises(ValueError, match="no fuel"):
        await soon(agent.ainvoke(PROMPT, on_thread("s1", handler)))
    assert statuses(transport, "call_1") == ["pending", "in_progress", "failed"]
    assert "no fuel" in str(call_of(transport, "call_1")["content"])


async def test_a_tool_alone_is_nobodys_call(transport: RecordingTransport) -> None:
    handler = TrunklineCallbackHandler(transport=transport)
    await soon(weather.ainvoke({"city": "Oslo"}, {"callbacks": [handler]}))
    assert transport.updates == []


async def test_others_can_ask_in_which_lane_a_run_is() -> None:
    lanes: list[Any] = []
    ours = TrunklineCallbackHandler(transport=RecordingTransport())

    class Spy(AgentMiddleware[Any, Any, Any]):
        async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
            lanes.append(ours.lane_of(request.runtime.config["callbacks"].parent_run_id))
            return await handler(request)

    inner = create_agent(
        ScriptedChatModel(call("weather", {"city": "Oslo"}), "Sunny."), [weather], middleware=[Spy()]
    )

    @tool
    async def scout() -> str:
        """Ask the scout."""
        await inner.ainvoke(PROMPT)
        return "found"

    outer = create_agent(ScriptedChatModel(call("scout", {}, id="c1"), "Done."), [scout], middleware=[Spy()])
    await soon(outer.ainvoke(PROMPT, on_thread("s1", ours)))
    assert lanes == [None, "c1"]
    assert ours.lane_of(None) is None
    assert ours.lane_of(uuid4()) is None


async def test_runs_that_never_end_are_forgotten_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callbacks, "_MOST_RUNS", 3)
    handler = TrunklineCallbackHandler()
    for _ in range(10):
        handler.on_chain_start({}, {}, run_id=uuid4())
    assert len(vars(handler)["_followed"]) == 3


def test_whether_a_run_is_followed_is_seen_in_its_config() -> None:
    ear = Ear()
    assert not is_followed(ear, {})
    assert not is_followed(ear, {"callbacks": None})
