import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunkline import content as c
from trunkline import events as ev
from trunkline.agents.openai.input_items import Item, items_of, user_item
from trunkline.conversation import Conversation
from trunkline.folding import fold


@pytest.mark.parametrize(
    ("block", "part"),
    [
        (
            c.ImageBlock(mime_type="image/png", data="AA=="),
            {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "auto"},
        ),
        (
            c.ImageBlock(mime_type="image/png", url="https://example.org/a.png"),
            {"type": "input_image", "image_url": "https://example.org/a.png", "detail": "auto"},
        ),
        (
            c.AudioBlock(mime_type="audio/mpeg", data="AA=="),
            {"type": "input_audio", "input_audio": {"data": "AA==", "format": "mp3"}},
        ),
        (
            c.ResourceBlock(uri="file:///tmp/a.pdf", data="AA=="),
            {"type": "input_file", "file_data": "data:application/pdf;base64,AA==", "filename": "a.pdf"},
        ),
        (
            c.ResourceBlock(uri="file:///tmp/a.png", data="AA==", mime_type="image/png"),
            {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "auto"},
        ),
    ],
)
def test_attachments_are_parts_that_the_api_knows(block: c.Content, part: Item) -> None:
    made = user_item((c.TextBlock(text="Look:"), block))
    assert made == {"role": "user", "content": [{"type": "input_text", "text": "Look:"}, part]}


@pytest.mark.parametrize(
    ("block", "text"),
    [
        (c.TextBlock(text="hi"), "hi"),
        (c.LinkBlock(uri="file:///a.py", name="a.py"), "[a.py](file:///a.py)"),
        (
            c.ResourceBlock(uri="file:///a.py", text="x = 1"),
            "<resource uri='file:///a.py'>\nx = 1\n</resource>",
        ),
        (c.ImageBlock(mime_type="image/png", url="file:///a.png"), "[image/png: file:///a.png]"),
        (c.VideoBlock(mime_type="video/mp4", data="AA=="), "[video/mp4: it cannot be shown here]"),
        (c.AudioBlock(mime_type="audio/ogg", data="AA=="), "[audio/ogg: it cannot be shown here]"),
    ],
)
def test_whatever_else_is_named_as_text(block: c.Content, text: str) -> None:
    assert user_item((block,)) == {"role": "user", "content": text}


def told(*events: ev.Event) -> list[Item]:
    return items_of(fold(events))


def test_every_call_has_its_output_right_behind_it() -> None:
    items = told(
        ev.UserMessage(message_id="u", content=(c.TextBlock(text="go"),)),
        ev.Text(message_id="a", delta="Let me see."),
        ev.ToolCall(call_id="1", name="look", message_id="a", native_id="call_1"),
        ev.ToolInput(call_id="1", delta='{"at": 1}'),
        ev.ToolCall(call_id="2", name="web search", message_id="a"),
        ev.ToolInput(call_id="2", delta='{"at": '),
        ev.ToolUpdate(call_id="1", status="completed", raw_output="seen"),
        ev.Text(message_id="b", delta="A door."),
    )
    assert items == [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "Let me see."},
        {"type": "function_call", "call_id": "call_1", "name": "look", "arguments": '{"at": 1}'},
        {"type": "function_call_output", "call_id": "call_1", "output": "seen"},
        {"type": "function_call", "call_id": "2", "name": "web_search", "arguments": "{}"},
        {
            "type": "function_call_output",
            "call_id": "2",
            "output": "This call was cancelled before it was answered.",
        },
        {"role": "assistant", "content": "A door."},
    ]


def test_a_result_is_read_by_its_text_its_images_its_json_or_its_reason() -> None:
    image = c.ImageBlock(mime_type="image/png", data="AA==")
    updates = {
        "text": ev.ToolUpdate(call_id="t", status="completed", content=(c.TextBlock(text="words"),)),
        "image": ev.ToolUpdate(call_id="t", status="completed", content=(image,)),
        "json": ev.ToolUpdate(call_id="t", status="completed", raw_output={"a": 1}),
        "both": ev.ToolUpdate(
            call_id="t", status="completed", raw_output={"a": 1}, content=(c.TextBlock(text="one row"),)
        ),
        "reason": ev.ToolUpdate(call_id="t", status="denied", reason="not today"),
        "nothing": ev.ToolUpdate(call_id="t", status="completed"),
    }
    user = ev.UserMessage(message_id="u", content=())
    call = ev.ToolCall(call_id="t", name="look")
    outputs = {name: told(user, call, update)[-1]["output"] for name, update in updates.items()}
    assert outputs == {
        "text": "words",
        "image": [{"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "auto"}],
        "json": '{"a":1}',
        "both": '{"a":1}',
        "reason": "not today",
        "nothing": "",
    }


def test_lanes_are_left_out_and_claims_of_a_client_are_marked() -> None:
    conversation = fold(
        [
            ev.SubagentStarted(lane="l", name="Scout"),
            ev.Text(lane="l", message_id="x", delta="inner"),
            ev.Text(message_id="a", delta="said"),
            ev.ToolCall(call_id="t", name="look", message_id="a"),
            ev.ToolUpdate(call_id="t", status="completed", raw_output="seen"),
        ]
    )
    for message in conversation.messages:
        message.trusted = False
    conversation.calls["t"].trusted = False
    items = items_of(conversation)
    assert [item.get("content") or item.get("output") for item in items] == [
        "(The client says that you said this. It is not verified.)\nsaid",
        None,
        "(The client says that this was the result. It is not verified.)\nseen",
    ]


def test_attachments_that_a_model_refused_are_named_from_then_on() -> None:
    image = c.ImageBlock(mime_type="image/png", data="AA==")
    items = told(
        ev.TurnStarted(turn_id="t"),
        ev.UserMessage(turn_id="t", message_id="u", content=(image,)),
        ev.TurnFailed(turn_id="t", code="input_refused", message="no vision"),
    )
    assert items == [{"role": "user", "content": "[image/png: it cannot be shown here]"}]


_EVENTS = st.lists(
    st.one_of(
        st.builds(ev.Text, message_id=st.sampled_from("ab"), delta=st.text(max_size=3)),
        st.builds(
            ev.ToolCall,
            call_id=st.sampled_from("123"),
            name=st.just("look"),
            message_id=st.sampled_from(["a", "b", None]),
        ),
        st.builds(
            ev.ToolUpdate,
            call_id=st.sampled_from("123"),
            status=st.sampled_from(["in_progress", "completed", "failed", "denied"]),
        ),
    ),
    max_size=20,
)


@given(_EVENTS)
def test_any_history_has_one_output_for_each_call_and_no_empty_message(events: list[ev.Event]) -> None:
    conversation: Conversation = fold([ev.UserMessage(message_id="u", content=()), *events])
    items = items_of(conversation)
    calls = [item["call_id"] for item in items if item.get("type") == "function_call"]
    outputs = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    assert calls == outputs
    assert len(set(calls)) == len(calls)
    assert all(item["content"].strip() for item in items if item.get("role") == "assistant")
    assert msgspec.json.encode(items)
