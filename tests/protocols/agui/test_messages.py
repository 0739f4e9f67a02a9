from typing import Any

import pytest
from ag_ui.core import Message
from pydantic import TypeAdapter

from trunkline import content as c
from trunkline import events as ev
from trunkline.conformance.agui.event_verifier import plain
from trunkline.folding import fold
from trunkline.outline import CLIENT_MESSAGE_ID
from trunkline.protocols.agui.messages import content_of, parsed, snapshot_of
from trunkline.protocols.agui.results import PART_KEY, content_part
from trunkline.questions import ClientCall

MESSAGES: TypeAdapter[Any] = TypeAdapter(list[Message])
HELLO = ev.UserMessage(message_id="u1", content=(c.TextBlock(text="hello"),))


def snapshot(*events: ev.Event, **options: Any) -> list[dict[str, Any]]:
    """Give the snapshot of a session that said these, which the official models take."""
    messages = plain(snapshot_of(fold(events), **options))
    MESSAGES.validate_python(messages)
    return messages


def call(call_id: str = "c1", **fields: Any) -> ev.ToolCall:
    return ev.ToolCall(call_id=call_id, name="search", **fields)


# -- ours to theirs --------------------------------------------------------------------------------


def test_text_is_text_and_a_result_stands_behind_its_call() -> None:
    assert snapshot(
        HELLO,
        ev.Text(message_id="m1", delta="I look. "),
        call(message_id="m1", title="Search", kind="search"),
        ev.ToolInput(call_id="c1", delta='{"a": 1}'),
        ev.ToolUpdate(
            call_id="c1", status="completed", input={"a": 1}, result_message_id="r1", raw_output="found"
        ),
        ev.Text(message_id="m1", delta="Done."),
        ev.Text(message_id="m2", delta="More."),
    ) == [
        {"id": "u1", "role": "user", "content": "hello"},
        {
            "id": "m1",
            "role": "assistant",
            "content": "I look. Done.",
            "toolCalls": [
                {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"a": 1}'}}
            ],
        },
        {"id": "r1", "role": "tool", "toolCallId": "c1", "content": "found"},
        {"id": "m2", "role": "assistant", "content": "More."},
    ]


def test_with_its_metadata_a_call_has_a_title_and_a_result_says_what_was_cut() -> None:
    _, spoken, result = snapshot(
        HELLO,
        call(message_id="m1", title="Search", kind="search"),
        ev.ToolUpdate(call_id="c1", status="completed", raw_output="x" * 50),
        limit=10,
        with_metadata=True,
    )

    assert spoken["toolCalls"][0]["metadata"] == {"trunkline": {"kind": "search", "title": "Search"}}
    assert result["content"] == f"{'x' * 10}\n[cut here: 50 bytes in all]"
    assert result["metadata"]["trunkline"]["bytes"] == 50


def test_reasoning_stands_where_it_was_and_keeps_its_seals() -> None:
    messages = snapshot(
        ev.Thought(message_id="m1", delta="hm ", signature="s1"),
        ev.Thought(message_id="m1", delta="yes"),
        ev.Text(message_id="m1", delta="Yes."),
        call(message_id="m1"),
        ev.ToolUpdate(call_id="c1", status="completed"),
        ev.Thought(message_id="m1", delta="so"),
    )

    assert [(m["id"], m["role"], m.get("encryptedValue")) for m in messages] == [
        ("m1:reasoning:1", "reasoning", "s1"),
        ("m1:reasoning:2", "reasoning", None),
        ("m1", "assistant", None),
        ("c1:result", "tool", None),
        ("m1:reasoning:3", "reasoning", None),
    ]


def test_a_call_without_a_message_is_one_by_itself_where_it_came() -> None:
    messages = snapshot(
        HELLO,
        ev.Text(message_id="m1", delta="a"),
        call(),
        ev.ToolUpdate(call_id="c1", status="failed", reason="no"),
        ev.Text(message_id="m2", delta="b"),
    )

    assert [m["id"] for m in messages] == ["u1", "m1", "c1", "c1:result", "m2"]
    assert messages[3]["error"] == "no"


def test_a_call_whose_neighbour_was_taken_back_stays_in_its_turn() -> None:
    messages = snapshot(
        ev.UserMessage(turn_id="t1", message_id="u1", content=HELLO.content),
        ev.Text(turn_id="t1", message_id="m1", delta="a"),
        call(turn_id="t1"),
        ev.Rewound(to_message_id="u1"),
    )

    assert [m["id"] for m in messages] == ["u1", "c1"]


def test_a_call_before_any_message_is_the_first() -> None:
    assert [m["id"] for m in snapshot(call(), HELLO)] == ["c1", "u1"]


@pytest.mark.parametrize(
    ("events", "arguments"),
    [
        ((), ""),
        ((ev.ToolInput(call_id="c1", delta='{"a":'),), '{"a":'),
        ((ev.ToolUpdate(call_id="c1", input={"a": 1}),), '{"a":1}'),
        ((ev.ToolUpdate(call_id="c1", input="raw"),), "raw"),
        (
            (ev.ToolInput(call_id="c1", delta='{"a": 1}'), ev.ToolUpdate(call_id="c1", input={"a": 1})),
            '{"a": 1}',
        ),
        (
            (ev.ToolInput(call_id="c1", delta='{"a": 1}'), ev.ToolUpdate(call_id="c1", input={"a": 2})),
            '{"a":2}',
        ),
    ],
)
def test_arguments_are_those_that_the_call_has(events: tuple[ev.Event, ...], arguments: str) -> None:
    (message,) = snapshot(call(message_id="m1"), *events)

    assert message["toolCalls"][0]["function"]["arguments"] == arguments


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ((), ""),
        ((c.TextBlock(text="a"),), "a"),
        ((c.TextBlock(text="a"), c.TextBlock(text="b")), [{"type": "text", "text": t} for t in "ab"]),
        (
            (c.ImageBlock(mime_type="image/png", url="https://x"),),
            [{"type": "image", "source": {"type": "url", "value": "https://x", "mimeType": "image/png"}}],
        ),
    ],
)
def test_a_persons_content_are_sent_in_the_form_they_came(content: tuple[c.Content, ...], shown: Any) -> None:
    (message,) = snapshot(ev.UserMessage(message_id="u1", content=content))

    assert message["content"] == shown


def test_a_subagents_messages_name_it_and_an_older_client_has_none_of_them() -> None:
    events = (
        ev.SubagentStarted(lane="l1", name="helper"),
        ev.Thought(lane="l1", message_id="m1", delta="hm"),
        ev.Text(lane="l1", message_id="m1", delta="a"),
        call("c1", lane="l1", message_id="m1"),
        ev.ToolUpdate(call_id="c1", lane="l1", status="completed"),
        call("c2", lane="l1"),
        ev.Text(message_id="m2", delta="b"),
    )

    lanes = {message["id"]: message.get("subagentRunId") for message in snapshot(*events)}
    assert lanes == dict.fromkeys(("m1:reasoning:1", "m1", "c1:result", "c2"), "l1") | {"m2": None}
    assert [message["id"] for message in snapshot(*events, modern=False)] == ["m2"]


def test_results_can_be_left_out() -> None:
    events = (call(message_id="m1"), ev.ToolUpdate(call_id="c1", status="completed"))

    assert [message["role"] for message in snapshot(*events, results=False)] == ["assistant"]


def test_a_terminal_and_a_change_are_sent_in_text() -> None:
    messages = snapshot(
        call(message_id="m1"),
        ev.TerminalOutput(terminal_id="x", data="$ ls\n"),
        ev.ToolUpdate(call_id="c1", status="completed", content=(c.TerminalBlock(terminal_id="x"),)),
    )

    assert messages[1]["content"] == "$ ls\n"


def sent_by_a_client(**answer: Any) -> tuple[ev.Event, ...]:
    """A call, and the answer to it that a client sent in a message of its own."""
    answered = ev.Answered(question_id="q1", meta={CLIENT_MESSAGE_ID: "mine"}, **answer)
    asked = ev.Asked(question_id="q1", question=ClientCall(call_id="c1"))
    return call(message_id="m1"), asked, answered


@pytest.mark.parametrize("content", ["blue", [{"type": "text", "text": "blue"}]])
def test_a_result_that_a_client_sent_keeps_its_id_and_its_form(content: Any) -> None:
    events = sent_by_a_client(outcome="accepted", content=content)
    brought = {"id": "mine", "role": "tool", "toolCallId": "c1", "content": content}
    assert snapshot(*events)[1] == brought
    completed = ev.ToolUpdate(call_id="c1", status="completed", raw_output=content)
    assert snapshot(*events, completed)[1] == brought
    failed = ev.ToolUpdate(call_id="c1", status="failed", reason="broke")
    assert snapshot(*events, failed)[1] == {**brought, "error": "broke"}


def test_an_error_that_a_client_sent_is_its_own_before_the_agent_knows_it() -> None:
    events = sent_by_a_client(outcome="declined", content="", reason="broke")
    brought = {"id": "mine", "role": "tool", "toolCallId": "c1", "content": "", "error": "broke"}
    assert snapshot(*events)[1] == brought
    failed = ev.ToolUpdate(call_id="c1", status="failed", reason="the front end did not run it")
    assert snapshot(*events, failed)[1] == brought


# -- theirs to ours --------------------------------------------------------------------------------


def source(kind: str = "data", value: str = "aGk=", **fields: Any) -> dict[str, Any]:
    return {"type": kind, "value": value, **fields}


@pytest.mark.parametrize(
    "part",
    [
        {"type": "text", "text": "x"},
        {"type": "text", "text": "x", "metadata": {"k": 1}},
        {"type": "image", "source": source(mimeType="image/png")},
        {"type": "image", "source": source("url", "https://x")},
        {"type": "audio", "source": source("url", "https://x", mimeType="audio/wav"), "metadata": {"k": 1}},
        {"type": "video", "source": source(mimeType="video/mp4")},
        {"type": "document", "source": source(mimeType="application/pdf"), "metadata": {"filename": "a.pdf"}},
        {"type": "document", "source": source("url", "https://x")},
        {"type": "image", "source": source("file", "file-1", provider="openai", mimeType="image/png")},
        {"type": "document", "source": source("file", "file-2"), "metadata": {"filename": "a.pdf"}},
    ],
)
def test_a_part_comes_back_as_it_was(part: dict[str, Any]) -> None:
    (block,) = content_of([part])

    assert content_part(block) == part


def test_a_document_has_the_name_of_its_file() -> None:
    inline = {"type": "document", "source": source(mimeType="a/b"), "metadata": {"filename": "a.pdf"}}
    linked = {"type": "document", "source": source("url", "https://x")}

    one, two = content_of([inline, linked])
    assert isinstance(one, c.ResourceBlock)
    assert one.uri == "file:a.pdf"
    assert isinstance(two, c.LinkBlock)
    assert (two.uri, two.name) == ("https://x", "document")


def test_a_providers_own_file_is_no_address_to_fetch() -> None:
    parts = [
        {"type": "image", "source": source("file", "file-1", provider="openai", mimeType="image/png")},
        {"type": "document", "source": source("file", "file-2")},
    ]

    assert content_of(parts) == (
        c.LinkBlock(uri="openai:file-1", name="image", mime_type="image/png", meta={PART_KEY: parts[0]}),
        c.LinkBlock(uri="file:file-2", name="document", meta={PART_KEY: parts[1]}),
    )


@pytest.mark.parametrize(
    ("part", "block"),
    [
        (
            {"type": "binary", "mimeType": "image/png", "data": "aGk="},
            c.ImageBlock(mime_type="image/png", data="aGk="),
        ),
        (
            {"type": "binary", "mimeType": "audio/wav", "url": "https://x"},
            c.AudioBlock(mime_type="audio/wav", url="https://x"),
        ),
        (
            {"type": "binary", "mimeType": "application/pdf", "data": "aGk="},
            c.ResourceBlock(uri="file:document", data="aGk=", mime_type="application/pdf"),
        ),
    ],
)
def test_parts_of_before_1_0_are_understood(part: dict[str, Any], block: c.Content) -> None:
    assert content_of([part]) == (block,)


@pytest.mark.parametrize(
    "content",
    [
        None,
        {"an": "activity"},
        [],
        [7],
        [{"type": "hologram"}],
        [{"type": "image"}],
        [{"type": "image", "source": {}}],
    ],
)
def test_what_is_no_content_is_passed_over(content: Any) -> None:
    assert content_of(content) == ()


@pytest.mark.parametrize(("text", "value"), [('{"a": 1}', {"a": 1}), ("{", None), ("", None), (7, None)])
def test_arguments_are_read_if_they_can_be(text: Any, value: Any) -> None:
    assert parsed(text) == value
