import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunkline import content as c
from trunkline.conversation import Call
from trunkline.protocols.agui.results import (
    OUTPUT_TAIL,
    call_metadata,
    content_part,
    result_content,
    shorten,
    tool_result,
)

PNG = c.ImageBlock(mime_type="image/png", data="aGk=")
IMAGE = {"type": "image", "source": {"type": "data", "value": "aGk=", "mimeType": "image/png"}}
DIFF = c.DiffBlock(path="/a", old="x", new="y")


@pytest.mark.parametrize(
    ("block", "part"),
    [
        (c.TextBlock(text="x"), {"type": "text", "text": "x"}),
        (c.TextBlock(text="x", meta={"k": 1}), {"type": "text", "text": "x", "metadata": {"k": 1}}),
        (PNG, IMAGE),
        (
            c.AudioBlock(mime_type="audio/*", url="https://x/a"),
            {"type": "audio", "source": {"type": "url", "value": "https://x/a"}},
        ),
        (
            c.VideoBlock(mime_type="video/mp4", url="https://x/v"),
            {"type": "video", "source": {"type": "url", "value": "https://x/v", "mimeType": "video/mp4"}},
        ),
        (c.ResourceBlock(uri="file:a", text="words"), {"type": "text", "text": "words"}),
        (
            c.ResourceBlock(uri="file:a", data="aGk="),
            {
                "type": "document",
                "source": {"type": "data", "value": "aGk=", "mimeType": "application/octet-stream"},
            },
        ),
        (
            c.LinkBlock(uri="https://x", name="x"),
            {"type": "document", "source": {"type": "url", "value": "https://x"}},
        ),
        (
            c.SourceBlock(source_id="1", url="https://x"),
            {"type": "document", "source": {"type": "url", "value": "https://x"}},
        ),
        (c.SourceBlock(source_id="1", document="x.pdf"), None),
        (DIFF, None),
        (c.TerminalBlock(terminal_id="x"), None),
    ],
)
def test_a_block_is_a_part_where_there_is_one_for_it(block: c.Content, part: Any) -> None:
    assert content_part(block) == part


@pytest.mark.parametrize(
    ("content", "raw", "output", "reason", "shown"),
    [
        ((c.TextBlock(text="words"),), {"a": 1}, "printed", None, "words"),
        ((c.TextBlock(text="words"),), "an artifact", "printed", None, "words"),
        ((), "its own", "printed", None, "its own"),
        ((), {"a": 1}, "printed", None, '{"a":1}'),
        ((), None, "printed", "why", "printed"),
        ((), None, "", "why", "why"),
        ((), None, "", None, ""),
        ((DIFF,), None, "", None, "changed /a"),
        ((c.DiffBlock(path="/a", new="y"), c.DiffBlock(path="/b", old="x", new=None)), None, "", None,
         "wrote /a\nremoved /b"),
        ((DIFF,), None, "", "why", "why"),
        ((c.TerminalBlock(terminal_id="x"),), {"exit": 0}, "", None, "$ ls\n"),
        ((c.TerminalBlock(terminal_id="gone"),), {"exit": 0}, "", None, '{"exit":0}'),
        ((PNG, DIFF), "its own", "", None, [IMAGE]),
        ((c.TextBlock(text="see"), PNG), None, "", None, [{"type": "text", "text": "see"}, IMAGE]),
    ],
)  # fmt: skip
def test_what_stands_for_a_result(
    content: tuple[c.Content, ...], raw: Any, output: str, reason: str | None, shown: Any
) -> None:
    assert result_content(content, raw, output, reason, {"x": "$ ls\n"}) == shown


def test_a_short_result_is_sent_whole_without_metadata() -> None:
    assert shorten("é" * 5, 10) == ("é" * 5, None)
    assert shorten("é" * 500, 0) == ("é" * 500, None)


@given(st.text(min_size=1, max_size=60), st.integers(1, 60))
def test_a_long_text_is_cut_between_characters_and_told_by_size_and_digest(text: str, limit: int) -> None:
    content, facts = shorten(text, limit)

    assert isinstance(content, str)
    size = len(text.encode())
    if facts is None:
        assert content == text
        assert size <= limit
    else:
        mark = f"\n[cut here: {size} bytes in all]"
        assert content.endswith(mark)
        kept = content.removesuffix(mark)
        assert text.startswith(kept)
        assert len(kept.encode()) <= limit < size
        digest = hashlib.sha256(text.encode()).hexdigest()
        assert facts == {"truncated": True, "bytes": len(text.encode()), "sha256": digest}


def test_parts_are_kept_as_far_as_they_fit_and_named_where_they_do_not() -> None:
    long = [{"type": "text", "text": "x" * 50}, {**IMAGE, "source": {"type": "data", "value": "A" * 500}}]

    content, facts = shorten([*long, {"type": "text", "text": "y" * 500}], 100)

    assert facts is not None
    assert facts["truncated"]
    assert isinstance(content, list)
    assert content[0] == long[0]
    assert content[1] == {
        "type": "text",
        "text": f"[image of {len(json.dumps(long[1], separators=(',', ':')))} bytes left out]",
    }
    kept, mark = content[2]["text"].splitlines()
    assert (kept, mark) == ("y" * len(kept), "[cut here: 500 bytes in all]")
    assert len(content[2]["text"]) < 100


def test_a_result_that_went_wrong_says_so_in_its_metadata() -> None:
    call = Call(call_id="c", name="n", status="denied", reason="no")

    assert tool_result(call, {}, 0, modern=True) == ("no", {"trunkline": {"status": "denied", "error": "no"}})
    assert tool_result(call, {}, 0, modern=False) == ("no", None)


def test_a_result_that_went_well_has_nothing_to_add() -> None:
    assert tool_result(
        Call(call_id="c", name="n", status="completed", raw_output=[1]), {}, 0, modern=True
    ) == ("[1]", None)


def test_an_older_client_gets_a_result_of_parts_as_text() -> None:
    call = Call(call_id="c", name="n", status="completed", content=(c.TextBlock(text="see"), PNG))

    assert tool_result(call, {}, 0, modern=False) == ("see\n[image]", None)


def test_of_what_a_call_printed_the_end_is_sent() -> None:
    call = Call(call_id="c", name="n", status="completed", output="x" * OUTPUT_TAIL + "end")

    content, _ = tool_result(call, {}, 0, modern=True)

    assert len(content) == OUTPUT_TAIL
    assert str(content).endswith("end")


def test_a_call_is_sent_with_its_kind_and_title() -> None:
    assert call_metadata("edit", None) == {"trunkline": {"kind": "edit"}}
    assert call_metadata("edit", "Edit") == {"trunkline": {"kind": "edit", "title": "Edit"}}
