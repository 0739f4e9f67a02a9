from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from trunkline import content as c
from trunkline import events as ev
from trunkline.agents.langchain.messages.content_mapper import ContentBlockMapper
from trunkline.agents.langchain.messages.history import (
    UNANSWERED,
    conversation_of,
    messages_of,
    unanswered_calls,
)
from trunkline.folding import fold

MAPPER = ContentBlockMapper()


def history_of(*events: Any) -> list[Any]:
    return messages_of(fold(events), MAPPER)


def user(message_id: str, *content: Any) -> ev.UserMessage:
    blocks = tuple(c.TextBlock(text=block) if isinstance(block, str) else block for block in content)
    return ev.UserMessage(message_id=message_id, content=blocks)


def call(call_id: str, message_id: str = "a1", **fields: Any) -> ev.ToolCall:
    return ev.ToolCall(call_id=call_id, name="find", message_id=message_id, native_id=call_id, **fields)


def shape(messages: list[Any]) -> list[tuple[str, Any]]:
    return [(message.type, message.id) for message in messages]


# -- the journal as messages -------------------------------------------------------------------------


def test_parallel_calls_are_one_message_and_their_results_follow_it() -> None:
    messages = history_of(
        user("u1", "Find both"),
        ev.Text(message_id="a1", delta="I look."),
        call("x"),
        call("y"),
        ev.ToolUpdate(call_id="x", input={"q": 1}),
        ev.ToolInput(call_id="y", delta='{"q"'),
        ev.ToolInput(call_id="y", delta=":2}"),
        ev.ToolUpdate(call_id="y", status="completed", raw_output="two", result_message_id="r2"),
        ev.ToolUpdate(call_id="x", status="completed", raw_output="one", result_message_id="r1"),
        ev.Text(message_id="a2", delta="Here."),
    )
    assert shape(messages) == [("human", "u1"), ("ai", "a1"), ("tool", "r1"), ("tool", "r2"), ("ai", "a2")]
    asking = messages[1]
    assert [(made["id"], made["args"]) for made in asking.tool_calls] == [("x", {"q": 1}), ("y", {"q": 2})]
    assert [(m.tool_call_id, m.content, m.status) for m in messages[2:4]] == [
        ("x", "one", "success"),
        ("y", "two", "success"),
    ]


@pytest.mark.parametrize(
    ("update", "content"),
    [
        ({"status": "failed", "reason": "no such file"}, "no such file"),
        ({"status": "denied", "reason": "The user refused it"}, "The user refused it"),
        ({"status": "cancelled"}, UNANSWERED),
        ({"status": "in_progress"}, UNANSWERED),
        ({}, UNANSWERED),
    ],
)
def test_every_call_is_answered_whatever_became_of_it(update: dict[str, Any], content: str) -> None:
    messages = history_of(user("u1", "Go"), call("x"), ev.ToolUpdate(call_id="x", **update))
    assert (messages[-1].tool_call_id, messages[-1].status, messages[-1].content) == ("x", "error", content)


def test_calls_that_belong_to_no_message_are_made_where_they_were() -> None:
    messages = history_of(
        user("u1", "Find both"),
        ev.ToolCall(call_id="x", name="find", native_id="x"),
        ev.ToolUpdate(call_id="x", status="completed", raw_output="one", result_message_id="r1"),
        ev.Text(message_id="s", lane="sub", delta="of a subagent"),
        ev.ToolCall(call_id="y", name="find", native_id="y"),
        ev.ToolUpdate(call_id="y", status="completed", raw_output="two", result_message_id="r2"),
        ev.ToolCall(call_id="z", name="find", native_id="z", lane="sub"),
        ev.Text(message_id="a1", delta="Here."),
    )
    ids = ["u1", "u1.calls", "r1", "s.calls", "r2", "a1"]
    assert shape(messages) == list(zip(["human", "ai", "tool", "ai", "tool", "ai"], ids, strict=True))


def test_a_call_that_was_cut_off_while_it_was_made_is_there_without_its_arguments() -> None:
    messages = history_of(user("u1", "Go"), call("x"), ev.ToolInput(call_id="x", delta='{"q": "ha'))
    assert messages[1].tool_calls[0]["args"] == {}
    assert history_of(call("x"), ev.ToolInput(call_id="x", delta="[1]"))[0].tool_calls[0]["args"] == {}


@pytest.mark.parametrize(
    ("update", "content"),
    [
        ({"content": (c.TextBlock(text="seen"),), "raw_output": {"an": "artifact"}}, "seen"),
        ({"content": (c.DiffBlock(path="a", new="b"),), "raw_output": "edited"}, "edited"),
        ({"output": "line 1\n"}, "line 1\n"),
        ({"raw_output": {"n": 1}}, '{"n":1}'),
        ({}, ""),
    ],
)
def test_a_result_is_what_the_model_was_told(update: dict[str, Any], content: str) -> None:
    messages = history_of(call("x"), ev.ToolUpdate(call_id="x", status="completed", **update))
    assert (messages[-1].content, messages[-1].status) == (content, "success")


def test_reasoning_sources_and_subagents_are_left_out() -> None:
    messages = history_of(
        user("u1", "Go"),
        ev.Thought(message_id="a0", delta="Only a thought", signature="s"),
        ev.Thought(message_id="a1", delta="Hm"),
        ev.Text(message_id="a1", delta="Done."),
        ev.Source(message_id="a1", source_id="s1", url="http://x.test"),
        ev.SubagentStarted(lane="t1"),
        ev.Text(lane="t1", message_id="b1", delta="inside"),
        ev.ToolCall(lane="t1", call_id="z@t1", name="find", message_id="b1"),
    )
    assert [(m.id, m.content) for m in messages] == [("u1", "Go"), ("a1", "Done.")]


# -- what a thread owes ------------------------------------------------------------------------------


def test_only_the_last_answers_calls_can_be_open() -> None:
    made: Any = [{"id": "x", "name": "f", "args": {}}, {"id": "y", "name": "f", "args": {}}]
    asking = AIMessage(content="", tool_calls=made)
    results = [ToolMessage("1", tool_call_id="x"), ToolMessage("2", tool_call_id="y")]
    assert unanswered_calls([]) == []
    assert [call["id"] for call in unanswered_calls([HumanMessage("a"), asking])] == ["x", "y"]
    assert [call["id"] for call in unanswered_calls([asking, results[0]])] == ["y"]
    assert unanswered_calls([asking, *results]) == []
    assert unanswered_calls([asking, AIMessage("done")]) == []


# -- messages as a conversation ----------------------------------------------------------------------


def test_calls_that_are_counted_anew_in_every_message_are_told_apart() -> None:
    made: Any = [{"id": "call_1", "name": "find", "args": {}}]
    thread: list[Any] = [HumanMessage("Go", id="u1")]
    for number in range(3):
        thread.append(AIMessage("", id=f"a{number}", tool_calls=made))
        thread.append(ToolMessage(f"result {number}", tool_call_id="call_1", id=f"r{number}"))
    conversation = conversation_of(thread)
    assert [(made.call_id, made.native_id, made.raw_output) for made in conversation.calls.values()] == [
        ("call_1", "call_1", "result 0"),
        ("call_1.2", "call_1", "result 1"),
        ("call_1.3", "call_1", "result 2"),
    ]
    back = messages_of(conversation, MAPPER)
    assert [(m.type, m.id) for m in back] == [(m.type, m.id) for m in thread]


def test_what_the_framework_wrote_for_the_model_is_not_shown() -> None:
    thread = [
        HumanMessage("Here is a summary", id="h0", additional_kwargs={"lc_source": "summarization"}),
        HumanMessage("Task finished", id="h1", additional_kwargs={"lc_source": "async_subagent"}),
        HumanMessage("Go", id="u1"),
    ]
    assert [message.message_id for message in conversation_of(thread).messages] == ["u1"]


def test_messages_that_were_taken_out_are_not_shown() -> None:
    thread = [HumanMessage("a", id="1"), HumanMessage("b", id="2"), RemoveMessage(id="1")]
    assert [message.message_id for message in conversation_of(thread).messages] == ["2"]
    emptied = [*thread, RemoveMessage(id=REMOVE_ALL_MESSAGES), HumanMessage("c", id="3")]
    assert [message.message_id for message in conversation_of(emptied).messages] == ["3"]


def test_a_call_that_nobody_answered_is_told_as_cancelled() -> None:
    made: Any = [{"id": "x", "name": "find", "args": {}}]
    conversation = conversation_of([HumanMessage("Go"), AIMessage("", id="a1", tool_calls=made)])
    assert (conversation.calls["x"].status, conversation.calls["x"].reason) == ("cancelled", UNANSWERED)
    assert conversation.messages[0].message_id == "message-0"


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)


@st.composite
def threads(draw: st.DrawFn) -> list[Any]:
    """Threads as a provider would take them."""
    thread: list[Any] = []
    for number in range(draw(st.integers(1, 4))):
        thread.append(HumanMessage(draw(TEXTS), id=f"u{number}"))
        for step in range(draw(st.integers(0, 3))):
            names = [f"c{number}.{step}.{n}" for n in range(draw(st.integers(0, 3)))]
            made: Any = [{"id": name, "name": "f", "args": {"n": name}} for name in names]
            text = draw(TEXTS) if not names else draw(st.just("") | TEXTS)
            thread.append(AIMessage(text, id=f"a{number}.{step}", tool_calls=made))
            for name in names:
                status = draw(st.sampled_from(["success", "error"]))
                thread.append(
                    ToolMessage(draw(TEXTS), tool_call_id=name, id=f"r{name}", name="f", status=status)
                )
    return thread


@given(threads())
def test_a_thread_survives_the_way_there_and_back(thread: list[Any]) -> None:
    def facts(messages: list[Any]) -> list[Any]:
        return [
            (
                m.type,
                m.id,
                m.content,
                getattr(m, "status", None),
                [c["id"] for c in getattr(m, "tool_calls", ())],
            )
            for m in messages
        ]

    assert facts(messages_of(conversation_of(thread), MAPPER)) == facts(thread)
