"""What no model said is said all the same, once, in words."""

import json
from typing import Any, TypedDict

import pytest
from langchain.agents import AgentState
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import RunnableLambda, RunnableParallel
from langgraph.graph import START
from pydantic import BaseModel
from tests.agents.langchain.graphs import run_turn, terminal
from tests.agents.langchain.untyped_langchain import StateGraph, create_agent
from tests.hubs import only, text_of

from trunkline import adapt
from trunkline import events as ev
from trunkline.agents.langchain import SessionMiddleware
from trunkline.agents.langchain.messages.plain_outputs import combine_outputs, output_text
from trunkline.testing.chat import ScriptedChatModel, call


class Question(TypedDict):
    """What a graph is asked."""

    question: str


class Answer(Question):
    """What it makes of it."""

    answer: str


class Counted(AgentState[Any]):
    """An agent's state with a field of its own."""

    count: int


class City(BaseModel):
    """A city."""

    name: str
    people: int


def answering() -> Any:
    """A graph that has no messages."""

    def greet(state: Question) -> dict[str, str]:
        return {"answer": f"Hello to {state['question']}."}

    builder = StateGraph(Answer, input_schema=Question)
    builder.add_node("node", greet)
    builder.add_edge(START, "node")
    return builder.compile()


def gives(output: Any) -> Any:
    """A Runnable whose output this is."""

    def give(prompt: Any) -> Any:
        return output

    return RunnableLambda(give)


def first(outputs: dict[str, Any]) -> Any:
    """Take the first of several outputs."""
    return outputs["one"]


def use_channel(*answers: Any) -> Any:
    """An agent whose model says this."""
    return create_agent(ScriptedChatModel(*answers), [])


RUNNABLES: dict[str, tuple[Any, Any]] = {
    "a field that is the answer": (gives({"answer": "Yes.", "sources": ["a"]}), "Yes."),
    "an only field": (gives({"summary": "Short."}), "Short."),
    "a message in a field": (gives({"output": AIMessage("Said.")}), "Said."),
    "fields that come one by one": (
        RunnableParallel(one=gives("first"), two=gives(["second"])),
        {"one": "first", "two": ["second"]},
    ),
    "a number": (gives(42), "42"),
    "nothing": (gives(None), ""),
    "a graph without messages": (answering(), "Hello to you."),
    "a model inside of a field": (
        RunnableParallel(answer=ScriptedChatModel("Spoken."), sources=gives(["a"])),
        "Spoken.",
    ),
    "what a step makes of a model's words": (
        ScriptedChatModel("quiet") | StrOutputParser() | RunnableLambda(str.upper),
        "quietQUIET",
    ),
    "one of several models": (
        RunnableParallel(one=ScriptedChatModel("One."), two=gives("Two.")) | RunnableLambda(first),
        "One.",
    ),
    "a structured answer": (
        ScriptedChatModel([call("City", {"name": "Paris", "people": 2})]).with_structured_output(City),
        '{\n  "name": "Paris",\n  "people": 2\n}',
    ),
    "an agent that is tried again": (
        use_channel(RuntimeError("down"), "Better.").with_retry(wait_exponential_jitter=False),
        "Better.",
    ),
    "an agent with another to fall back on": (
        use_channel(["Half. ", RuntimeError("down")]).with_fallbacks([use_channel("Whole.")]),
        "Half. Whole.",
    ),
    "a model with another to fall back on": (
        ScriptedChatModel(["Half. ", RuntimeError("down")]).with_fallbacks([ScriptedChatModel("Whole.")]),
        "Half. Whole.",
    ),
}


@pytest.mark.parametrize("name", RUNNABLES)
async def test_what_a_runnable_gives_is_said_once(name: str) -> None:
    runnable, words = RUNNABLES[name]
    output = await run_turn(adapt(runnable), "you")
    outputs = text_of(output)
    # Fields come in the order in which their Runnables were done.
    assert (json.loads(outputs) if isinstance(words, dict) else outputs) == words
    assert isinstance(terminal(output), ev.TurnFinished)


async def test_a_state_mapper_that_fails_costs_the_state_and_not_the_turn(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def wrong(state: dict[str, Any]) -> Any:
        raise ValueError("no such field")

    middleware = [SessionMiddleware(state_mapper=wrong)]
    agent = create_agent(ScriptedChatModel("Hello."), [], middleware=middleware, state_schema=Counted)
    output = await run_turn(adapt(agent), "you")
    assert (text_of(output), type(terminal(output))) == ("Hello.", ev.TurnFinished)
    assert not only(output, ev.StateReplaced)
    assert caplog.text.count("the state mapper failed") == 1


class Odd:
    def __str__(self) -> str:
        return "odd"


def test_what_no_json_can_hold_is_still_put_in_words() -> None:
    assert output_text({"a": Odd(), "b": 1}) == '{\n  "a": "odd",\n  "b": 1\n}'
    circle: list[Any] = []
    circle.append(circle)
    assert output_text(circle) == "[[...]]"
    assert output_text(AIMessage("hi")) == "hi"
    assert output_text({"question": "same"}, {"question": "same"}) == ""


def test_pieces_that_cannot_be_added_replace_what_was_before() -> None:
    assert combine_outputs(None, {"a": 1}) == {"a": 1}
    assert combine_outputs([1], [2]) == [1, 2]
    assert combine_outputs({"a": 1}, {"a": 2}) == {"a": 2}
