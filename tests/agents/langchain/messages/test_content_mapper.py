import base64
from typing import Any, cast

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.messages.content import KNOWN_BLOCK_TYPES

from trunkline import content as c
from trunkline import events as ev
from trunkline.agents.langchain.messages.content_mapper import ContentBlockMapper
from trunkline.errors import InvalidCommand
from trunkline.testing.validation import validate_acp_update

MAPPER = ContentBlockMapper()
PNG = "iVBORw0KGgo="

# -- values ----------------------------------------------------------------------------------------

texts = st.text(max_size=12)
values = st.none() | st.booleans() | st.integers(-9, 9) | texts | st.lists(texts, max_size=2)
metas = st.none() | st.dictionaries(
    st.sampled_from(["langchain", "trunkline", "a"]),
    values | st.dictionaries(st.sampled_from(["signature", "trunkline", "text", "x"]), values, max_size=2),
    max_size=2,
)
annotations = st.none() | st.fixed_dictionaries(
    {},
    optional={
        "audience": st.lists(st.sampled_from(["user", "assistant"]), max_size=2),
        "priority": st.floats(0, 1),
        "lastModified": texts,
    },
)
common: dict[str, Any] = {"annotations": annotations, "meta": metas}
maybe = st.none() | texts
mimes = st.sampled_from(["image/png", "image/*", "audio/*", "video/mp4", "text/plain", "application/pdf", ""])
addresses = st.none() | texts | texts.map(lambda text: f"file-id:{text}")
places: dict[str, Any] = {"mime_type": mimes, "data": maybe, "url": addresses, "blob": maybe, **common}
blocks: st.SearchStrategy[c.Content] = st.one_of(
    st.builds(c.TextBlock, text=texts, **common),
    st.builds(c.ImageBlock, **places),
    st.builds(c.AudioBlock, **places),
    st.builds(c.VideoBlock, **places),
    st.builds(
        c.LinkBlock,
        uri=texts,
        name=texts,
        title=maybe,
        description=maybe,
        mime_type=st.none() | mimes,
        size=st.none() | st.integers(0, 9),
        **common,
    ),
    st.builds(
        c.ResourceBlock, uri=texts, text=maybe, data=maybe, mime_type=st.none() | mimes, blob=maybe, **common
    ),
    st.builds(c.DiffBlock, path=texts, new=maybe, old=maybe, **common),
    st.builds(c.TerminalBlock, terminal_id=texts, **common),
    st.builds(
        c.SourceBlock, source_id=texts, url=maybe, title=maybe, document=maybe, mime_type=maybe, **common
    ),
)


@given(blocks)
def test_a_block_comes_back_from_langchain_as_it_went(block: c.Content) -> None:
    made = MAPPER.from_neutral(block)
    assert made["type"] in KNOWN_BLOCK_TYPES
    assert MAPPER.to_neutral(made) == [block]


@given(st.lists(blocks, max_size=4))
def test_langchain_takes_our_blocks_as_standard_blocks(content: list[c.Content]) -> None:
    made = [MAPPER.from_neutral(block) for block in content]
    message = AIMessage(content=cast("list[str | dict[Any, Any]]", made))
    assert list(message.content_blocks) == made


@given(st.lists(blocks, min_size=1, max_size=4))
def test_a_prompt_comes_back_from_its_message_as_it_went(content: list[c.Content]) -> None:
    message = MAPPER.user_message(content, "m1")
    assert message.id == "m1"
    again = HumanMessage.model_validate_json(message.model_dump_json())
    if isinstance(message.content, str):
        # Plain texts are one text for the model; that is all that is joined.
        assert message.content == "\n".join(cast("c.TextBlock", block).text for block in content)
    else:
        assert MAPPER.content_of(again) == tuple(content)


@given(st.lists(blocks, max_size=4))
def test_text_goes_to_a_model_with_nothing_that_a_provider_could_refuse(content: list[c.Content]) -> None:
    message = MAPPER.user_message(content)
    assert message.content == MAPPER.message_content(content)
    for block in cast("list[Any]", message.content if isinstance(message.content, list) else []):
        if block["type"] == "text":
            assert block.keys() == {"type", "text"}


# -- ACP -------------------------------------------------------------------------------------------


def objects(required: dict[str, Any], optional: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """JSON objects with these fields."""
    return st.fixed_dictionaries(required, optional=optional)


base64s = st.binary(max_size=9).map(lambda data: base64.b64encode(data).decode())
acp_common: dict[str, Any] = {"annotations": annotations.filter(lambda it: it is not None), "_meta": metas}
acp_blocks: st.SearchStrategy[dict[str, Any]] = st.one_of(
    objects({"type": st.just("text"), "text": texts}, acp_common),
    objects({"type": st.just("image"), "data": base64s, "mimeType": mimes}, {"uri": texts, **acp_common}),
    objects({"type": st.just("audio"), "data": base64s, "mimeType": mimes}, acp_common),
    objects(
        {"type": st.just("resource_link"), "uri": texts, "name": texts},
        {"title": texts, "description": texts, "mimeType": mimes, "size": st.integers(0, 9), **acp_common},
    ),
    objects(
        {
            "type": st.just("resource"),
            "resource": st.one_of(
                objects({"uri": texts, "text": texts}, {"mimeType": mimes}),
                objects({"uri": texts, "blob": base64s}, {"mimeType": mimes}),
            ),
        },
        acp_common,
    ),
)


@given(acp_blocks.filter(lambda block: block.get("_meta", {}) is not None))
def test_an_acp_block_comes_back_from_langchain_as_it_went(block: dict[str, Any]) -> None:
    again = MAPPER.to_acp(MAPPER.to_langchain(block))
    assert orjson.loads(orjson.dumps(again)) == [block]
    validate_acp_update({"sessionUpdate": "agent_message_chunk", "content": again[0]})


@pytest.mark.parametrize(
    "block", [{"type": "hologram"}, {"type": "text"}, {"type": "resource", "resource": {"uri": "a"}}]
)
def test_an_acp_block_that_cannot_be_read_is_refused_with_its_type(block: dict[str, Any]) -> None:
    with pytest.raises(InvalidCommand, match=block["type"]):
        MAPPER.to_langchain(block)


@given(blocks)
def test_whatever_langchain_holds_is_valid_for_an_acp_client(block: c.Content) -> None:
    if block.annotations is not None:
        return  # An agent's own annotations are passed through, and only checked above.
    for shown in MAPPER.to_acp(MAPPER.from_neutral(block)):
        validate_acp_update({"sessionUpdate": "agent_message_chunk", "content": shown})


# -- what reaches a model --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (c.LinkBlock(uri="file:///a.py", name="a.py"), "[a.py](file:///a.py)"),
        (
            c.LinkBlock(uri="https://x", name="x", title="The X", description="all of it"),
            "[The X](https://x): all of it",
        ),
        (
            c.ResourceBlock(uri="file:///a.py", text="print()", mime_type="text/x-python"),
            '<resource uri="file:///a.py">\nprint()\n</resource>',
        ),
        (c.DiffBlock(path="a.py", old="one\n", new="two\nthree\n"), "a.py\n-one\n+two\n+three"),
        (c.DiffBlock(path="a.py", new=None, old="one"), "a.py\n-one"),
        (c.SourceBlock(source_id="1", url="https://x", title="The X"), "[The X](https://x)"),
        (c.SourceBlock(source_id="1", document="notes.md"), "notes.md"),
        (c.TerminalBlock(terminal_id="t1"), "[terminal t1]"),
        (c.ImageBlock(mime_type="image/png", blob="sha"), "[image/png]"),
    ],
)
def test_what_langchain_has_no_type_for_reaches_a_model_in_words(block: c.Content, expected: str) -> None:
    assert MAPPER.message_content([block]) == [{"type": "text", "text": expected}]


@pytest.mark.parametrize("output", [42, None, True, 1.5])
def test_an_output_that_is_neither_text_nor_blocks_stays_raw(output: Any) -> None:
    block = {"type": "server_tool_result", "tool_call_id": "s1", "status": "success", "output": output}
    (update,) = ContentBlockMapper().to_neutral(block, "m")
    assert isinstance(update, ev.ToolUpdate)
    assert (update.status, update.content, update.raw_output) == ("completed", None, output)


def test_binary_resources_reach_a_model_as_what_they_are() -> None:
    picture = MAPPER.from_neutral(c.ResourceBlock(uri="file:///a.png", data=PNG, mime_type="image/png"))
    paper = MAPPER.from_neutral(
        c.ResourceBlock(uri="file:///d/a.pdf", data="AA==", mime_type="application/pdf")
    )
    unknown = MAPPER.from_neutral(c.ResourceBlock(uri="", data="AA=="))
    assert (picture["type"], picture["base64"]) == ("image", PNG)
    assert (paper["type"], paper["extras"]["filename"]) == ("file", "a.pdf")
    assert (unknown["mime_type"], unknown["extras"]["filename"]) == ("application/octet-stream", "data")


def test_an_editors_address_of_an_image_is_kept_from_the_provider() -> None:
    made = MAPPER.from_neutral(c.ImageBlock(mime_type="image/png", data=PNG, url="file:///a.png"))
    assert made["base64"] == PNG
    assert "url" not in made


def test_plain_text_stays_plain() -> None:
    assert MAPPER.message_content([]) == ""
    assert MAPPER.message_content([c.TextBlock(text="a"), c.TextBlock(text="b")]) == "a\nb"


# -- one by one --------------------------------------------------------------------------------------


def test_what_a_provider_adds_to_a_block_comes_back_to_it() -> None:
    block = {"type": "image", "base64": PNG, "mime_type": "image/png", "extras": {"signature": "S"}}
    (image,) = MAPPER.content_of([block])
    assert MAPPER.from_neutral(image) == block


def test_reasoning_and_sources_go_back_to_langchain() -> None:
    thought = ev.Thought(message_id="m", delta="hm", signature="S")
    unsealed = ev.Thought(message_id="m", delta="hm")
    page = ev.Source(
        message_id="m", source_id="s", url="https://x", title="X", meta={"citation": {"cited_text": "q"}}
    )
    paper = ev.Source(message_id="m", source_id="s", document="a.pdf", mime_type="application/pdf")
    odd = ev.Raw(source="langchain", payload={"type": "hologram"})
    for event in (thought, unsealed, page, paper, odd):
        assert MAPPER.to_neutral(MAPPER.from_neutral(event), "m") == [event]
    assert MAPPER.from_neutral(ev.Raw(source="x", payload=1)) == {"type": "non_standard", "value": 1}


def test_citations_in_a_tools_result_are_sources() -> None:
    note = {"type": "citation", "id": "s", "url": "https://x"}
    content = MAPPER.content_of([{"type": "text", "text": "a", "annotations": [note]}])
    assert content == (c.TextBlock(text="a"), c.SourceBlock(source_id="s", url="https://x"))


def test_the_content_of_a_tools_message_is_typed() -> None:
    message = ToolMessage(
        content=["see", {"type": "image", "base64": PNG, "mime_type": "image/png"}, {"type": "reasoning"}],
        tool_call_id="c1",
    )
    assert MAPPER.content_of(message) == (
        c.TextBlock(text="see"),
        c.ImageBlock(mime_type="image/png", data=PNG),
    )
    assert MAPPER.content_of(ToolMessage(content="a", tool_call_id="c1")) == (c.TextBlock(text="a"),)
    assert MAPPER.content_of("") == MAPPER.content_of(None) == ()
