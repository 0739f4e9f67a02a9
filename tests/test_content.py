"""Content blocks are values, and made from whatever a person is likely to write."""

from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given

from tests.strategies import values_of
from trunkline import content
from trunkline.content import (
    Block,
    Content,
    ImageBlock,
    LinkBlock,
    ResourceBlock,
    TextBlock,
    as_content,
    text_of,
)

KINDS: tuple[type[Block], ...] = get_args(Content)
HI = TextBlock(text="hi")


@given(values_of(Content))
def test_any_block_survives_json(block: Content) -> None:
    decoded: Any = msgspec.json.decode(msgspec.json.encode(block), type=Content)
    assert decoded == block
    assert type(decoded) is type(block)


def test_the_union_holds_every_block_and_all_are_exported() -> None:
    assert set(KINDS) == set(Block.__subclasses__())
    assert {kind.__name__ for kind in KINDS} | {"Block", "Content", "as_content", "text_of"} == set(
        content.__all__
    )


def test_tags_are_the_first_words_of_the_names() -> None:
    for kind in KINDS:
        assert kind.__struct_config__.tag == kind.__name__.removesuffix("Block").lower()


@pytest.mark.parametrize("value", ["hi", HI, [HI], (HI,)])
def test_text_a_block_or_several_become_a_tuple(value: Any) -> None:
    assert as_content(value) == (HI,)


def test_nothing_is_nothing() -> None:
    assert as_content([]) == ()
    assert text_of(()) == ""


def test_the_text_of_blocks_is_what_can_be_read() -> None:
    blocks: list[Content] = [
        HI,
        ImageBlock(mime_type="image/png", data="AAAA"),
        LinkBlock(uri="file:///a", name="a"),
        ResourceBlock(uri="file:///b", text="inside"),
        ResourceBlock(uri="file:///c", data="AAAA"),
    ]
    assert text_of(blocks) == "hi\nfile:///a\ninside"
    assert text_of(tuple(blocks)) == text_of(blocks)
