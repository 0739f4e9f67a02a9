from __future__ import annotations

from typing import Any

import pytest

from trunkline.agents.langchain.messages.openai_items import OpenAIItems
from trunkline.agents.langchain.messages.providers import standardize


def texts_of(*blocks: dict[str, Any], whole: bool = False) -> list[str]:
    """What the blocks of a message say, each as it is said."""
    paragraphs = OpenAIItems(whole=whole)
    followed = [paragraphs.feed(block) for block in blocks]
    made = [part for block in followed for part in standardize(block)]
    return [str(part.get("text") or part.get("reasoning") or "") for part in made]


def part(text: str, place: int = 0, item: int = 0) -> dict[str, Any]:
    """A piece of a part of OpenAI's summary."""
    summary = [{"type": "summary_text", "text": text, "index": place}]
    return {"type": "reasoning", "summary": summary, "index": item}


def standard(text: str, place: str = "lc_rs_305f30") -> dict[str, Any]:
    """A piece of a part of a summary in the standard shape."""
    return {"type": "reasoning", "reasoning": text, "index": place}


def test_parts_of_a_summary_begin_paragraphs_and_their_pieces_do_not() -> None:
    output = texts_of(part("a"), part("b"), part("", 1), part("c", 1), part("d", 0, 1))
    assert output == ["a", "b", "", "\n\nc", "\n\nd"]


def test_parts_in_the_standard_shape_do_so_too() -> None:
    sealed = {"type": "reasoning", "id": "rs_1", "extras": {"encrypted_content": "x"}}
    output = texts_of(standard("a"), standard("b"), standard("c", "lc_rs_305f31"), sealed)
    assert output == ["a", "b", "\n\nc", ""]


def test_whole_blocks_are_never_pieces_of_one_another() -> None:
    named = [{"type": "reasoning", "reasoning": text, "id": "rs_1"} for text in "ab"]
    assert texts_of(*named, whole=True) == ["a", "\n\nb"]
    messages = [{"type": "text", "text": text, "id": f"msg_{text}"} for text in "ab"]
    assert texts_of(*messages, {**messages[1], "text": "c"}, whole=True) == ["a", "\n\nb", "\n\nc"]


def test_what_stands_between_two_parts_is_break_enough() -> None:
    search: dict[str, Any] = {"type": "server_tool_call", "id": "s", "name": "web_search", "args": {}}
    text = {"type": "text", "text": "t", "index": 1}
    assert texts_of(part("a"), search, part("b", 0, 2)) == ["a", "", "b"]
    assert texts_of(part("a"), text, part("b", 0, 2)) == ["a", "t", "b"]
    ended = {"type": "text", "text": "", "id": "msg_1", "index": 1}
    assert texts_of(text, ended, search, {**text, "index": 3}) == ["t", "", "", "t"]


@pytest.mark.parametrize("kind", ["reasoning", "thinking", "text"])
def test_blocks_of_others_go_on_as_they_are_sent(kind: str) -> None:
    blocks = [{"type": kind, kind: text, "index": place} for place, text in enumerate("ab")]
    assert texts_of(*blocks) == ["a", "b"]
