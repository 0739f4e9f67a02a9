from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from trunkline.agents.langchain.messages.refused_inputs import (
    replace_attachments,
    replace_attachments_in_last_turn,
)

PICTURE = {"type": "image", "base64": "AAAA", "mime_type": "image/png"}
WORDS = {"type": "text", "text": "Look:"}
NAMED = {"type": "file", "base64": "AAAA", "mime_type": "application/pdf", "extras": {"filename": "a.pdf"}}


def refused_text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": f"[{words}: the model did not take it]"}


@pytest.mark.parametrize(
    ("block", "words"),
    [
        (PICTURE, "image/png"),
        (NAMED, "a.pdf"),
        ({"type": "image_url", "image_url": {"url": "https://x"}}, "image_url"),
    ],
)
def test_what_was_not_taken_is_named_in_its_place(block: dict[str, Any], words: str) -> None:
    message = HumanMessage([WORDS, block], id="h")
    output = replace_attachments(message)
    assert (output.id, output.content) == ("h", [WORDS, refused_text(words)])
    assert message.content == [WORDS, block], "the message itself stays as it was"


@pytest.mark.parametrize(
    "message",
    [HumanMessage("only words"), HumanMessage([WORDS]), AIMessage([PICTURE])],
    ids=["text", "blocks", "a model's own"],
)
def test_words_and_answers_stay_as_they_are(message: Any) -> None:
    assert replace_attachments(message) is message


def test_only_the_last_turn_is_told_in_words() -> None:
    earlier = HumanMessage([PICTURE], id="h1")
    asking = HumanMessage([WORDS, PICTURE], id="h2")
    result = ToolMessage([PICTURE], tool_call_id="c1", id="t1")
    answer = AIMessage("hm", id="a1")
    assert [output.id for output in replace_attachments_in_last_turn([earlier, asking, answer, result])] == [
        "h2",
        "t1",
    ]
    assert replace_attachments_in_last_turn([]) == []
