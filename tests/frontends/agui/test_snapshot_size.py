from typing import Any

from ag_ui.core import Message
from pydantic import TypeAdapter

from trunkline.frontends.agui.snapshot_size import fits_frame, fitting
from trunkline.protocols.agui import wire

MESSAGES: TypeAdapter[Any] = TypeAdapter(list[Message])
MIB = 1024 * 1024
JsonObject = dict[str, Any]


def user(key: str, content: Any = "hello") -> JsonObject:
    return {"id": key, "role": "user", "content": content}


def picture(size: int) -> JsonObject:
    return {"type": "image", "source": {"type": "data", "value": "A" * size, "mimeType": "image/png"}}


def result(key: str, size: int, **fields: Any) -> JsonObject:
    return {"id": key, "role": "tool", "toolCallId": key, "content": "x" * size, **fields}


def fits(messages: list[JsonObject]) -> list[JsonObject]:
    """Give what is sent of messages, which the official models and the client's buffer take."""
    output = fitting(messages)
    assert len(wire.encode(output)) < 10 * MIB
    MESSAGES.validate_python(output)
    return output


def test_what_can_be_sent_is_sent_as_it_is() -> None:
    messages = [user("u1", [picture(10)]), result("r1", 5000)]

    assert fits_frame(messages)
    assert fitting(messages) is messages


def test_long_results_are_cut_first() -> None:
    about = {"trunkline": {"bytes": 99}, "other": 1}
    messages = [
        user("u1", [picture(1000)]),
        *(result(f"r{number}", MIB) for number in range(9)),
        result("short", 10),
        result("r9", MIB, metadata=about),
    ]
    output = fits(messages)

    assert output[0] == messages[0]
    sizes = [len(message["content"].partition("\n[cut here: ")[0]) for message in output[1:]]
    assert sizes == [1024] * 9 + [10, 1024]
    assert output[1]["metadata"]["trunkline"]["bytes"] == MIB
    assert output[-1]["metadata"]["trunkline"]["bytes"] == 99, "the size of the whole is kept"
    assert output[-1]["metadata"]["other"] == 1


def test_attachments_are_named_where_they_are_too_many() -> None:
    linked = {"type": "image", "source": {"type": "url", "value": "https://x"}}
    output = fits([user("u1", "words"), *(user(f"p{n}", [picture(MIB), linked]) for n in range(9))])

    assert output[0]["content"] == "words"
    assert output[1]["content"] == [{"type": "text", "text": "[image left out]"}, linked]


def test_of_a_conversation_that_is_too_long_the_newest_part_is_sent() -> None:
    output = fits([user(f"u{number}", "x" * MIB) for number in range(20)])

    assert [message["id"] for message in output] == [f"u{number}" for number in range(13, 20)]
