"""Every content block is one of the seven contents, and what that leaves out is in the metadata."""

from typing import Any

import msgspec
import pytest

from trunkline import content as c
from trunkline.frontends.unified.content_blocks import contents_of, details_of, shorten

ROWS: list[tuple[c.Content, dict[str, Any], dict[str, Any]]] = [
    (c.TextBlock(text="hi"), {"type": "text", "text": "hi"}, {}),
    (
        c.ImageBlock(mime_type="image/png", data="AA=="),
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}},
        {},
    ),
    (
        c.ImageBlock(mime_type="image/png", url="https://x/a.png"),
        {"type": "text", "text": "[image](https://x/a.png)"},
        {"blocks": ["resource_link"]},
    ),
    (
        c.AudioBlock(mime_type="audio/wav", data="AA=="),
        {"type": "text", "text": "[audio audio/wav]"},
        {"blocks": ["audio"]},
    ),
    (
        c.VideoBlock(mime_type="video/mp4", data="AA=="),
        {"type": "text", "text": "[video video/mp4]"},
        {"blocks": ["resource"]},
    ),
    (
        c.LinkBlock(uri="file:///a", name="a"),
        {"type": "text", "text": "[a](file:///a)"},
        {"blocks": ["resource_link"]},
    ),
    (
        c.ResourceBlock(uri="file:///a.rs", text="fn"),
        {"type": "code", "language": "rust", "code": "fn"},
        {"blocks": ["resource"]},
    ),
    (
        c.ResourceBlock(uri="file:///a.bin", data="AA=="),
        {"type": "text", "text": "[file:///a.bin]"},
        {"blocks": ["resource"]},
    ),
    (
        c.SourceBlock(source_id="s", url="https://x", title="X"),
        {"type": "text", "text": "[X](https://x)"},
        {"blocks": ["resource_link"]},
    ),
    (
        c.DiffBlock(path="/w/Makefile", new=None, old="x"),
        {"type": "code", "language": "text", "code": ""},
        {"diffs": [{"path": "/w/Makefile", "oldText": "x", "newText": None}]},
    ),
    (
        c.TerminalBlock(terminal_id="t"),
        {"type": "code", "language": "console", "code": "ok"},
        {"terminals": [{"terminalId": "t"}]},
    ),
]


@pytest.mark.parametrize(("block", "content", "details"), ROWS, ids=lambda one: type(one).__name__)
def test_a_block_is_a_content_and_details(
    block: c.Content, content: dict[str, Any], details: dict[str, Any]
) -> None:
    (made,) = contents_of([block], {"t": "ok"})
    assert msgspec.to_builtins(made) == content
    found = details_of([block])
    if "blocks" in found:
        found["blocks"] = [one["type"] for one in found["blocks"]]
    assert found == details


def test_a_long_text_is_cut_and_says_how_much_is_left_out() -> None:
    assert shorten("abc", 3) == shorten("abc", 0) == "abc"
    assert shorten("abcd", 3) == "abc\n[1 more characters are not shown]"
