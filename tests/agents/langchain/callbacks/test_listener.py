from types import SimpleNamespace
from typing import Any, cast

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, Generation, GenerationChunk, LLMResult
from langgraph.errors import GraphInterrupt
from langgraph.types import Command
from tests.hubs import only

from trunkline import events as ev
from trunkline.agents.langchain.callbacks.listener import Listener, tool_messages
from trunkline.agents.langchain.messages.emitter import Emitter


class Recorder(Listener):
    """A listener that keeps its events, the usage and the final messages."""

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.usage: list[ev.TokenUsage] = []
        self.final: list[Any] = []
        super().__init__(
            Emitter(self.events.append, "t1"), on_usage=self.usage.append, on_final=self.final.append
        )
        self.started("root", None)

    def stream(self, *texts: str, run: str = "model", parent: str = "root", **about: Any) -> None:
        """Run a model that streams these texts."""
        self.model_started([[HumanMessage("Hi")]], run, parent, **about)
        for text in texts:
            chunk = ChatGenerationChunk(message=AIMessageChunk(content=text, id=f"m-{run}"))
            self.token(text, chunk, run, run)
        self.end("".join(texts), run)

    def end(self, text: str, run: str = "model", **fields: Any) -> None:
        """End a model with this message."""
        message = AIMessage(text, id=f"m-{run}", **fields)
        self.model_ended(LLMResult(generations=[[ChatGeneration(message=message)]]), run, run)

    def tool(self, run: str = "tool", native_id: Any = "c1", parent: str = "root", **about: Any) -> None:
        """Start a tool."""
        given: dict[str, Any] = {"native_id": native_id, "name": "look", "inputs": {"at": "x"}, **about}
        self.tool_started({}, run, parent, **given)


@pytest.fixture
def listener() -> Recorder:
    return Recorder()


def test_tokens_are_text_and_the_whole_message_adds_nothing(listener: Recorder) -> None:
    listener.stream("Hel", "lo")
    assert [event.delta for event in only(listener.events, ev.Text)] == ["Hel", "lo"]
    assert [message.content for message in listener.final] == ["Hello"]


def test_a_model_that_streams_nothing_is_emitted_at_its_end(listener: Recorder) -> None:
    listener.model_started([[]], "model", "root")
    listener.end("Hello")
    assert [event.delta for event in only(listener.events, ev.Text)] == ["Hello"]


def test_a_completion_model_streams_plain_tokens(listener: Recorder) -> None:
    listener.completion_started("model", "root")
    assert listener.token("Hi", GenerationChunk(text="Hi"), "model", "r1")
    listener.model_ended(LLMResult(generations=[[Generation(text="Hi")]]), "model", "r1")
    assert [(event.message_id, event.delta) for event in only(listener.events, ev.Text)] == [
        ("lc_run--r1", "Hi")
    ]


@pytest.mark.parametrize(
    "about",
    [
        {"tags": ["nostream"]},
        {"metadata": {"lc_source": "summarization"}},
        {"metadata": {"lc_internal_call": True}},
        {"metadata": {"emit-messages": False}},
        {"metadata": {"copilotkit:emit-messages": False}},
        {"options": {"ls_structured_output_format": {"schema": {}}}},
    ],
)
def test_an_internal_model_call_is_counted_and_not_shown(listener: Recorder, about: dict[str, Any]) -> None:
    listener.model_started([[]], "model", "root", **about)
    listener.end("Summary", usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3})
    assert (listener.events, listener.final) == ([], [])
    assert [(one.input_tokens, one.output_tokens) for one in listener.usage] == [(1, 2)]


def test_a_message_that_gets_another_id_at_its_end_keeps_its_first(listener: Recorder) -> None:
    listener.model_started([[]], "model", "root")
    listener.token("Hi", ChatGenerationChunk(message=AIMessageChunk(content="Hi", id="first")), "model", "r")
    listener.end("Hi")
    assert [event.message_id for event in only(listener.events, ev.Text)] == ["first"]
    assert listener.emitter.is_emitted("m-model")


def test_a_response_without_generations_is_ignored(listener: Recorder) -> None:
    listener.model_started([[]], "model", "root")
    listener.model_ended(LLMResult(generations=[]), "model", "r")
    assert [type(event) for event in listener.events] == [ev.StepStarted, ev.StepFinished]


def test_the_calls_of_an_answer_that_broke_off_fail(listener: Recorder) -> None:
    listener.model_started([[]], "model", "root")
    part = {"name": "look", "args": "{", "id": "c1", "index": 0, "type": "tool_call_chunk"}
    chunk = AIMessageChunk(content="", id="m", tool_call_chunks=[cast("Any", part)])
    listener.token("", ChatGenerationChunk(message=chunk), "model", "r")
    listener.model_failed(ConnectionError("cut"), "model")
    (update,) = only(listener.events, ev.ToolUpdate)
    assert (update.status, update.reason) == ("failed", "the model's answer broke off: ConnectionError: cut")


def test_a_tool_runs_and_its_result_is_emitted_with_the_next_model_input(listener: Recorder) -> None:
    listener.tool()
    listener.tool_ended(ToolMessage("early", tool_call_id="c1"), "tool")
    assert [event.status for event in only(listener.events, ev.ToolUpdate)] == [None, "in_progress"]
    listener.model_started([[ToolMessage("late", tool_call_id="c1", id="r1")]], "model", "root")
    last = only(listener.events, ev.ToolUpdate)[-1]
    assert (last.status, last.raw_output, last.result_message_id) == ("completed", "late", "r1")


def test_a_result_that_comes_in_no_message_is_emitted_before_the_next_model(listener: Recorder) -> None:
    listener.tool()
    listener.tool_ended(ToolMessage("seen", tool_call_id="c1"), "tool")
    listener.model_started([[]], "model", "root")
    assert only(listener.events, ev.ToolUpdate)[-1].raw_output == "seen"


def test_a_tool_without_a_call_is_not_shown(listener: Recorder) -> None:
    listener.tool(native_id=None)
    listener.tool_ended("x", "tool")
    listener.tool_failed(ValueError("no"), "tool")
    assert listener.events == []


def test_a_tool_that_raises_fails_when_its_lane_ends_without_an_answer(listener: Recorder) -> None:
    listener.tool()
    listener.tool_failed(ValueError("broken"), "tool")
    listener.emitter.finish_calls(None)
    last = only(listener.events, ev.ToolUpdate)[-1]
    assert (last.status, last.reason) == ("failed", "ValueError: broken")


def test_an_interrupt_of_langgraph_is_no_failure(listener: Recorder) -> None:
    listener.tool()
    listener.tool_failed(GraphInterrupt(()), "tool")
    listener.emitter.finish_calls(None)
    assert [event.status for event in only(listener.events, ev.ToolUpdate)] == [None, "in_progress"]


def test_a_model_below_a_tool_speaks_in_the_lane_of_its_call(listener: Recorder) -> None:
    listener.tool()
    listener.stream("Deep", run="inner", parent="tool", metadata={"lc_agent_name": "Researcher"})
    listener.tool_ended(ToolMessage("done", tool_call_id="c1"), "tool")
    (started,) = only(listener.events, ev.SubagentStarted)
    assert (started.lane, started.name) == ("c1", "Researcher")
    assert [event.lane for event in only(listener.events, ev.Text)] == ["c1"]
    assert only(listener.events, ev.SubagentFinished)[0].outcome == "completed"
    assert listener.final == []


def test_models_and_tools_that_outlive_their_subagent_are_not_shown(listener: Recorder) -> None:
    listener.tool()
    listener.started("graph", "tool")
    listener.tool_failed(ValueError("broken"), "tool")
    shown = len(listener.events)
    listener.stream("Late", run="stray", parent="graph")
    listener.completion_started("stray", "graph")
    listener.tool(run="other", native_id="c2", parent="graph")
    assert len(listener.events) == shown


@pytest.mark.parametrize(
    ("output", "contents"),
    [
        (ToolMessage("a", tool_call_id="c"), ["a"]),
        (Command(update={"messages": [AIMessage("no"), ToolMessage("b", tool_call_id="c")]}), ["b"]),
        ([ToolMessage("a", tool_call_id="c"), Command(goto="x")], ["a"]),
        ("text", []),
    ],
)
def test_tool_messages_are_found_in_whatever_a_tool_gives_back(output: Any, contents: list[str]) -> None:
    assert [message.content for message in tool_messages(output)] == contents


@pytest.mark.parametrize("key", ["predict_state", "copilotkit:emit-intermediate-state"])
@pytest.mark.parametrize("kind", [dict, SimpleNamespace])
def test_the_front_end_is_told_which_argument_becomes_which_field_before_the_call(
    key: str, kind: Any, listener: Recorder
) -> None:
    predicted = {"state_key": "document", "tool": "write", "tool_argument": "text"}
    listener.model_started([[]], "model", "root", metadata={key: [kind(**predicted)]})
    for at, name in enumerate(("look", "write")):
        piece = tool_call_chunk(id=f"c{at}", name=name, args="{}", index=at)
        message = AIMessageChunk(content="", id="m", tool_call_chunks=[piece])
        listener.token("", ChatGenerationChunk(message=message), "model", "model")
    told = [event.name for event in listener.events if isinstance(event, ev.ToolCall | ev.Custom)]
    assert told == ["look", "PredictState", "write"]
    assert [event.value for event in only(listener.events, ev.Custom)] == [[predicted]]


@pytest.mark.parametrize("value", ["all", ["write", 5], {"tool": "write"}, None])
def test_a_prediction_that_is_none_is_passed_over(value: Any, listener: Recorder) -> None:
    listener.stream("Hello", metadata={"predict_state": value})
    assert [event.delta for event in only(listener.events, ev.Text)] == ["Hello"]
