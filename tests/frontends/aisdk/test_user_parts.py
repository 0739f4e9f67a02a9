"""What a page sends in a person's message: content for the agent, and what is kept for the page."""

from typing import Any

import pytest

from trunkline import content as c
from trunkline.errors import InvalidCommand
from trunkline.frontends.aisdk.user_parts import DATA_PARTS, data_parts_of, read_meta, read_parts

CARD = {"type": "data-cite", "data": {"page": 3}}


def test_text_and_files_are_content_and_parts_of_an_assistant_are_skipped() -> None:
    found = read_parts(
        [
            {"type": "step-start"},
            {"type": "text", "text": "look"},
            {"type": "text", "text": ""},
            CARD,
            {"type": "file", "mediaType": "text/plain", "filename": "a.txt", "url": "data:text/plain,hi"},
            {"type": "file", "mediaType": "image/png", "url": "https://example.com/pics/a%20b.png"},
            {"type": "tool-search", "toolCallId": "c1", "state": "output-available"},
        ]
    )
    assert found == (
        c.TextBlock(text="look"),
        c.ResourceBlock(
            uri="attachment:a.txt", text="hi", mime_type="text/plain", meta={"aisdk": {"filename": "a.txt"}}
        ),
        c.LinkBlock(uri="https://example.com/pics/a%20b.png", name="a b.png", mime_type="image/png"),
    )


@pytest.mark.parametrize(
    ("part", "why"),
    [
        ({"type": "hologram"}, r"Unsupported part type: hologram \(here\[1\]\)"),
        ({}, r"here\[1\] is no part of a message: it has no type"),
        ("text", r"here\[1\] is no part of a message"),
        ({"type": "text"}, r"here\[1\].text must be a text"),
        ({"type": "file", "url": "blob:http://x/1"}, r"here\[1\].url cannot be read here"),
        (
            {"type": "file", "url": "data:image/png;base64,?"},
            r"here\[1\].url is a data: URL that cannot be read",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(part: Any, why: str) -> None:
    with pytest.raises(InvalidCommand, match=why):
        read_parts([{"type": "text", "text": "x"}, part], "here")


def test_metadata_and_data_parts_are_kept_with_their_places() -> None:
    meta = read_meta([CARD, {"type": "text", "text": "x"}, {**CARD, "id": "d2"}], {"at": 1})
    assert meta is not None
    assert meta["at"] == 1
    assert list(data_parts_of(meta)) == [(0, CARD), (2, {**CARD, "id": "d2"})]


def test_a_page_cannot_make_up_what_is_kept() -> None:
    assert read_meta([{"type": "text", "text": "x"}], {DATA_PARTS: [{"at": 0, "part": CARD}]}) is None
    assert read_meta([], "no object") is None
    for broken in (None, {}, {DATA_PARTS: "x"}, {DATA_PARTS: [1, {}, {"at": 0, "part": {"type": "text"}}]}):
        assert list(data_parts_of(broken)) == []
