"""Content blocks as parts, for an agent's answer and for what a person sent."""

from typing import Any

import pytest

from trunkline import content as c
from trunkline.frontends.aisdk.content_parts import block_part, output_parts, source_part, user_part


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (c.TextBlock(text="a"), {"type": "text", "text": "a"}),
        (
            c.ImageBlock(mime_type="image/png", url="https://a.b/c.png"),
            {"type": "file", "mediaType": "image/png", "url": "https://a.b/c.png"},
        ),
        (
            c.AudioBlock(mime_type="audio/wav", data="AA==", meta={"agent": {"x": 1}}),
            {
                "type": "file",
                "mediaType": "audio/wav",
                "url": "data:audio/wav;base64,AA==",
                "providerMetadata": {"agent": {"x": 1}},
            },
        ),
        (
            c.VideoBlock(mime_type="video/mp4", blob="sha"),
            {"type": "data-content", "data": {"type": "video", "mimeType": "video/mp4", "blob": "sha"}},
        ),
        (
            c.ResourceBlock(uri="file:///n.md", text="hé", mime_type="text/markdown"),
            {
                "type": "file",
                "mediaType": "text/markdown",
                "url": "data:text/markdown;base64,aMOp",
                "providerMetadata": {"trunkline": {"uri": "file:///n.md"}},
            },
        ),
        (
            c.ResourceBlock(uri="file:///n.bin", data="AA=="),
            {
                "type": "file",
                "mediaType": "application/octet-stream",
                "url": "data:application/octet-stream;base64,AA==",
                "providerMetadata": {"trunkline": {"uri": "file:///n.bin"}},
            },
        ),
        (
            c.ResourceBlock(uri="file:///n.bin"),
            {"type": "data-content", "data": {"type": "resource", "uri": "file:///n.bin"}},
        ),
        (
            c.LinkBlock(uri="https://a.b", name="n", title="T", mime_type="text/html", annotations={"p": 1}),
            {
                "type": "source-url",
                "sourceId": "https://a.b",
                "url": "https://a.b",
                "title": "T",
                "providerMetadata": {"trunkline": {"mediaType": "text/html", "annotations": {"p": 1}}},
            },
        ),
        (
            c.LinkBlock(uri="file:///a.pdf", name="a.pdf", size=3),
            {
                "type": "source-document",
                "sourceId": "file:///a.pdf",
                "mediaType": "application/octet-stream",
                "title": "a.pdf",
                "filename": "a.pdf",
                "providerMetadata": {"trunkline": {"size": 3, "uri": "file:///a.pdf"}},
            },
        ),
        (
            c.SourceBlock(source_id="s", url="https://a.b"),
            {"type": "source-url", "sourceId": "s", "url": "https://a.b"},
        ),
        (
            c.DiffBlock(path="/a", new=None, old="x"),
            {"type": "data-diff", "data": {"path": "/a", "oldText": "x", "newText": None}},
        ),
        (c.TerminalBlock(terminal_id="x"), {"type": "data-terminal", "data": {"terminalId": "x"}}),
    ],
)
def test_every_block_has_a_part(block: c.Content, expected: Any) -> None:
    assert block_part(block) == expected


def test_a_document_has_a_title_whatever_is_known_of_it() -> None:
    assert source_part("s", None, None, "a.pdf", None)["title"] == "a.pdf"
    assert source_part("s", None, None, None, None)["title"] == "s"


def test_an_output_is_text_or_parts_and_leaves_out_what_is_shown_apart() -> None:
    apart = (c.DiffBlock(path="/a", new="x"), c.TerminalBlock(terminal_id="x"))

    assert output_parts(apart) is None
    assert output_parts((*apart, c.TextBlock(text="a"), c.TextBlock(text="b"))) == "a\nb"
    assert output_parts((c.LinkBlock(uri="https://a.b", name="n"),)) == [
        {"type": "source-url", "sourceId": "https://a.b", "url": "https://a.b", "title": "n"}
    ]


def test_what_a_person_sent_comes_back_as_files_with_their_names() -> None:
    image = c.ImageBlock(mime_type="image/png", data="AA==", meta={"aisdk": {"filename": "a.png"}})

    assert user_part(image) == {
        "type": "file", "mediaType": "image/png", "url": "data:image/png;base64,AA==", "filename": "a.png"
    }  # fmt: skip
    assert user_part(c.LinkBlock(uri="https://a.b/c", name="c", mime_type="text/html")) == {
        "type": "file", "mediaType": "text/html", "url": "https://a.b/c", "filename": "c"
    }  # fmt: skip
    assert user_part(c.TextBlock(text="a")) == {"type": "text", "text": "a"}
