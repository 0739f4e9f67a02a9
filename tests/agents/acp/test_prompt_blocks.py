"""A prompt as the blocks that an agent takes."""

from typing import Any

import pytest

from trunkline.agents.acp.prompt_blocks import prompt_blocks
from trunkline.commands import Prompt
from trunkline.content import AudioBlock, Content, ImageBlock, LinkBlock, ResourceBlock, TextBlock, VideoBlock
from trunkline.errors import InvalidCommand


def offers(**capabilities: bool) -> dict[str, Any]:
    return {"agentCapabilities": {"promptCapabilities": capabilities}}


ALL = offers(image=True, audio=True, embeddedContext=True)


def fitted(block: Content, initialize: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    (made,), notes = prompt_blocks(Prompt(content=(block,)), initialize)
    return made, notes


def test_text_and_links_are_for_every_agent() -> None:
    assert fitted(TextBlock(text="hi"), {}) == ({"type": "text", "text": "hi"}, [])
    made, notes = fitted(LinkBlock(uri="file:///a", name="a"), {})
    assert (made["type"], notes) == ("resource_link", [])


@pytest.mark.parametrize(
    ("block", "kind"),
    [
        (ImageBlock(mime_type="image/png", data="AA=="), "image"),
        (AudioBlock(mime_type="audio/wav", data="AA=="), "audio"),
        (VideoBlock(mime_type="video/mp4", data="AA=="), "resource"),
        (ResourceBlock(uri="file:///a", text="x"), "resource"),
        (ResourceBlock(uri="memory:a", data="AA=="), "resource"),
    ],
)
def test_what_an_agent_takes_is_sent_as_it_is_and_else_never_silently(block: Content, kind: str) -> None:
    made, notes = fitted(block, ALL)
    assert (made["type"], notes) == (kind, [])
    if getattr(block, "uri", "").startswith("file:"):
        made, notes = fitted(block, {})
        assert (made["type"], len(notes)) == ("text", 1)
    else:
        with pytest.raises(InvalidCommand, match="this agent takes no"):
            fitted(block, {})


def test_what_has_an_address_becomes_a_link_and_text_becomes_text() -> None:
    made, notes = fitted(ImageBlock(mime_type="image/png", data="AA==", url="https://x.org/a.png"), {})
    assert made == {
        "type": "resource_link",
        "uri": "https://x.org/a.png",
        "name": "image",
        "mimeType": "image/png",
    }
    assert notes == ["it takes no images: https://x.org/a.png was sent as a link"]
    made, _ = fitted(ResourceBlock(uri="file:///dir/a.bin", data="AA=="), {})
    assert (made["uri"], made["name"]) == ("file:///dir/a.bin", "a.bin")
    made, notes = fitted(ResourceBlock(uri="memory:a", text="inside"), {})
    assert made == {"type": "text", "text": "memory:a:\ninside"}
    assert "was sent as text" in notes[0]


def test_the_context_of_a_front_end_is_text_and_its_tools_are_noted() -> None:
    prompt = Prompt(
        content=(TextBlock(text="hi"),),
        context=({"description": "The page", "value": "about us"},),
        tools=({"name": "paint"}, {"name": "scroll"}),
    )
    blocks, notes = prompt_blocks(prompt, ALL)
    assert [block["text"] for block in blocks] == ["The page: about us", "hi"]
    assert notes == ["it cannot use the tools of the front end: paint, scroll"]


def test_an_empty_prompt_is_an_empty_text() -> None:
    assert prompt_blocks(Prompt(), ALL) == ([{"type": "text", "text": ""}], [])
