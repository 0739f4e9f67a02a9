from __future__ import annotations

from typing import Any, cast

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.messages.content import KNOWN_BLOCK_TYPES

from trunkline import content as c
from trunkline import events as ev
from trunkline.agents.langchain.content import ContentBlockMapper, Neutral
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
        c.ResourceBlock,
        uri=texts,
        text=maybe,
        data=maybe,
        mime_type=st.none() | mimes,
        blob=maybe,
        **common,
    ),
    st.builds(c.DiffBlock, path=texts, new=maybe, old=maybe, **common),
    st.builds(c.TerminalBlock, terminal_id=texts, **common),
    st.builds(
        c.SourceBlock,
        source_id=texts,
        url=maybe,
        title=maybe,
        document=maybe,
        mime_type=maybe,
        **common,
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


acp_common: dict[str, Any] = {"annotations": annotations.filter(lambda it: it is not None), "_meta": metas}
acp_blocks: st.SearchStrategy[dict[str, Any]] = st.one_of(
    objects({"type": st.just("text"), "text": texts}, acp_common),
    objects(
        {"type": st.just("image"), "data": texts, "mimeType": mimes},
        {"uri": texts, **acp_common},
    ),
    objects({"type": st.just("audio"), "data": texts, "mimeType": mimes}, acp_common),
    objects(
        {"type": st.just("resource_link"), "uri": texts, "name": texts},
        {
            "title": texts,
            "description": texts,
            "mimeType": mimes,
            "size": st.integers(0, 9),
            **acp_common,
        },
    ),
    objects(
        {
            "type": st.just("resource"),
            "resource": st.one_of(
                objects({"uri": texts, "text": texts}, {"mimeType": mimes}),
                objects({"uri": texts, "blob": texts}, {"mimeType": mimes}),
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
    ("block", "said"),
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
def test_what_langchain_has_no_type_for_reaches_a_model_in_words(block: c.Content, said: str) -> None:
    assert MAPPER.message_content([block]) == [{"type": "text", "text": said}]


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


# -- what LangChain's blocks mean ------------------------------------------------------------------


def call(name: str, args: Any, **fields: Any) -> list[Neutral]:
    """A call as to_neutral says it, without title and kind, which other tests look at."""
    made = ev.ToolCall(call_id="c1", native_id="c1", name=name, message_id="m", **fields)
    return [made, ev.ToolUpdate(call_id="c1", input=args)]


TABLE: list[tuple[str, dict[str, Any], list[Neutral]]] = [
    # The standard.
    ("text", {"type": "text", "text": "a", "id": "lc_1", "index": 0}, [c.TextBlock(text="a")]),
    ("text without text", {"type": "text", "index": -1}, [c.TextBlock(text="")]),
    (
        "text with extras",
        {"type": "text", "text": "a", "extras": {"signature": "S"}},
        [c.TextBlock(text="a", meta={"langchain": {"signature": "S"}})],
    ),
    (
        "citation of a page",
        {
            "type": "text",
            "text": "a",
            "annotations": [
                {"type": "citation", "url": "https://x", "title": "X", "start_index": 0, "end_index": 1}
            ],
        },
        [
            c.TextBlock(text="a"),
            ev.Source(
                message_id="m",
                source_id="https://x",
                url="https://x",
                title="X",
                meta={"citation": {"start_index": 0, "end_index": 1}},
            ),
        ],
    ),
    (
        "citation of a document",
        {
            "type": "text",
            "text": "",
            "annotations": [
                {"type": "citation", "title": "Doc", "cited_text": "q", "extras": {"page": 1}},
                {"type": "non_standard_annotation", "value": {}},
            ],
        },
        [
            ev.Source(
                message_id="m",
                source_id="m:0",
                title="Doc",
                document="Doc",
                meta={"citation": {"cited_text": "q", "extras": {"page": 1}}},
            )
        ],
    ),
    (
        "reasoning",
        {"type": "reasoning", "reasoning": "hm", "extras": {"signature": "S"}},
        [ev.Thought(message_id="m", delta="hm", signature="S")],
    ),
    (
        "image by address",
        {"type": "image", "url": "https://x/a.png"},
        [c.ImageBlock(mime_type="image/*", url="https://x/a.png")],
    ),
    (
        "image by file id",
        {"type": "image", "file_id": "f1", "mime_type": "image/png"},
        [c.ImageBlock(mime_type="image/png", url="file-id:f1")],
    ),
    (
        "image as data, its type guessed",
        {"type": "image", "base64": "/9j/AA=="},
        [c.ImageBlock(mime_type="image/jpeg", data="/9j/AA==")],
    ),
    (
        "image as bytes",
        {"type": "image", "base64": b"\x89PNG\r\n\x1a\n"},
        [c.ImageBlock(mime_type="image/png", data=PNG)],
    ),
    (
        "image with extras",
        {"type": "image", "base64": PNG, "mime_type": "image/png", "extras": {"detail": "low"}},
        [c.ImageBlock(mime_type="image/png", data=PNG, meta={"langchain": {"detail": "low"}})],
    ),
    (
        "audio",
        {"type": "audio", "base64": "AA==", "mime_type": "audio/mp3"},
        [c.AudioBlock(mime_type="audio/mp3", data="AA==")],
    ),
    (
        "audio of no type",
        {"type": "audio", "base64": "AA=="},
        [c.AudioBlock(mime_type="audio/wav", data="AA==")],
    ),
    ("video", {"type": "video", "url": "https://v"}, [c.VideoBlock(mime_type="video/*", url="https://v")]),
    (
        "file as data",
        {"type": "file", "base64": "AA==", "mime_type": "application/pdf", "extras": {"filename": "a.pdf"}},
        [
            c.ResourceBlock(
                uri="file:a.pdf",
                data="AA==",
                mime_type="application/pdf",
                meta={"langchain": {"filename": "a.pdf"}},
            )
        ],
    ),
    (
        "file by address",
        {"type": "file", "url": "https://x/d/a.pdf"},
        [c.LinkBlock(uri="https://x/d/a.pdf", name="a.pdf")],
    ),
    ("file by id", {"type": "file", "file_id": "f1"}, [c.LinkBlock(uri="file-id:f1", name="file-id:f1")]),
    (
        "plain text document",
        {"type": "text-plain", "text": "hi", "mime_type": "text/plain", "title": "T", "context": "C"},
        [
            c.ResourceBlock(
                uri="file:T",
                text="hi",
                mime_type="text/plain",
                meta={"langchain": {"title": "T", "context": "C"}},
            )
        ],
    ),
    (
        "tool call",
        {"type": "tool_call", "id": "c1", "name": "think", "args": {"a": 1}},
        call("think", {"a": 1}, title="Think", kind="think"),
    ),
    (
        "tool call chunk",
        {"type": "tool_call_chunk", "id": "c1", "name": "think", "args": '{"a', "index": 0},
        [
            ev.ToolCall(
                call_id="c1", native_id="c1", name="think", title="Think", kind="think", message_id="m"
            ),
            ev.ToolInput(call_id="c1", delta='{"a'),
        ],
    ),
    (
        "chunk without arguments yet",
        {"type": "server_tool_call_chunk", "id": "c1", "name": "think", "args": ""},
        call("think", None, title="Think", kind="think")[:1],
    ),
    (
        "later chunk of a server's call",
        {"type": "server_tool_call_chunk", "id": "c1", "args": "1}"},
        [ev.ToolInput(call_id="c1", delta="1}")],
    ),
    (
        "chunk that only an index names",
        {"type": "tool_call_chunk", "id": None, "name": None, "args": "1}", "index": 0},
        [
            ev.Raw(
                source="langchain",
                payload={"type": "tool_call_chunk", "id": None, "name": None, "args": "1}", "index": 0},
            )
        ],
    ),
    (
        "server's call without an id",
        {"type": "server_tool_call", "id": "", "name": "think", "args": {}},
        [
            ev.ToolCall(
                call_id="m:tool", native_id="", name="think", title="Think", kind="think", message_id="m"
            ),
            ev.ToolUpdate(call_id="m:tool", input={}),
        ],
    ),
    (
        "server's result",
        {"type": "server_tool_result", "tool_call_id": "c1", "status": "success", "output": "4"},
        [ev.ToolUpdate(call_id="c1", status="completed", raw_output="4", content=(c.TextBlock(text="4"),))],
    ),
    (
        "server's failure without words",
        {"type": "server_tool_result", "tool_call_id": "", "status": "error"},
        [ev.ToolUpdate(call_id="m:tool", status="failed", reason="the tool failed")],
    ),
    (
        "non standard",
        {"type": "non_standard", "value": {"a": 1}},
        [ev.Raw(source="langchain", payload={"type": "non_standard", "value": {"a": 1}})],
    ),
    ("unknown", {"type": "hologram"}, [ev.Raw(source="langchain", payload={"type": "hologram"})]),
    ("media without data", {"type": "image"}, [ev.Raw(source="langchain", payload={"type": "image"})]),
    (
        "extras that are none of ours",
        {"type": "text", "text": "a", "extras": {"trunkline": {"type": "hologram"}}},
        [c.TextBlock(text="a")],
    ),
    # Anthropic.
    (
        "anthropic thinking",
        {"type": "thinking", "thinking": "hm", "signature": "S", "index": 0},
        [ev.Thought(message_id="m", delta="hm", signature="S")],
    ),
    (
        "anthropic redacted thinking",
        {"type": "redacted_thinking", "data": "ZZ"},
        [ev.Thought(message_id="m", signature="ZZ")],
    ),
    (
        "anthropic tool use",
        {"type": "tool_use", "id": "c1", "name": "think", "input": {"a": 1}},
        call("think", {"a": 1}, title="Think", kind="think"),
    ),
    (
        "anthropic tool use in pieces",
        {"type": "tool_use", "id": "c1", "name": "think", "input": {}, "partial_json": '{"a": 1}'},
        call("think", {"a": 1}, title="Think", kind="think"),
    ),
    (
        "anthropic tool use cut short",
        {"type": "tool_use", "id": "c1", "name": "think", "input": {}, "partial_json": '{"a'},
        call("think", '{"a', title="Think", kind="think"),
    ),
    (
        "anthropic tool of a remote server",
        {"type": "mcp_tool_use", "id": "c1", "name": "think", "server_name": "s", "input": {"a": 1}},
        call("think", {"a": 1}, title="Think", kind="think"),
    ),
    (
        "anthropic search result",
        {
            "type": "web_search_tool_result",
            "tool_use_id": "c1",
            "content": [{"type": "web_search_result", "url": "https://x", "title": "X"}],
        },
        [
            ev.ToolUpdate(
                call_id="c1",
                status="completed",
                content=(c.SourceBlock(source_id="https://x", url="https://x", title="X"),),
                raw_output=[{"type": "web_search_result", "url": "https://x", "title": "X"}],
            )
        ],
    ),
    (
        "anthropic search that failed",
        {
            "type": "web_search_tool_result",
            "tool_use_id": "c1",
            "content": {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
        },
        [
            ev.ToolUpdate(
                call_id="c1",
                status="failed",
                reason="max_uses_exceeded",
                raw_output={"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
            )
        ],
    ),
    (
        "anthropic citation",
        {
            "type": "text",
            "text": "a",
            "citations": [
                {"type": "web_search_result_location", "url": "https://x", "title": "X", "cited_text": "q"}
            ],
        },
        [
            c.TextBlock(text="a"),
            ev.Source(
                message_id="m",
                source_id="https://x",
                url="https://x",
                title="X",
                meta={"citation": {"cited_text": "q"}},
            ),
        ],
    ),
    (
        "anthropic image",
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
        [c.ImageBlock(mime_type="image/png", data=PNG)],
    ),
    (
        "anthropic image by file id",
        {"type": "image", "source": {"type": "file", "file_id": "f1"}},
        [c.ImageBlock(mime_type="image/*", url="file-id:f1")],
    ),
    (
        "anthropic image of a source nobody knows",
        {"type": "image", "source": "somewhere"},
        [ev.Raw(source="langchain", payload={"type": "image", "source": "somewhere"})],
    ),
    (
        "anthropic document",
        {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": "hi"},
            "title": "T",
        },
        [
            c.ResourceBlock(
                uri="file:T", text="hi", mime_type="text/plain", meta={"langchain": {"title": "T"}}
            )
        ],
    ),
    (
        "anthropic document by file id",
        {"type": "document", "source": {"type": "file", "file_id": "f1"}},
        [c.LinkBlock(uri="file-id:f1", name="file-id:f1")],
    ),
    (
        "anthropic document of blocks",
        {"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "hi"}]}},
        [c.TextBlock(text="hi")],
    ),
    (
        "anthropic document of text",
        {"type": "document", "source": {"type": "content", "content": "hi"}},
        [c.TextBlock(text="hi")],
    ),
    # OpenAI.
    (
        "openai image as data",
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
        [c.ImageBlock(mime_type="image/png", data=PNG)],
    ),
    (
        "openai image by address",
        {"type": "image_url", "image_url": "https://x"},
        [c.ImageBlock(mime_type="image/*", url="https://x")],
    ),
    (
        "openai image in a prompt",
        {"type": "input_image", "image_url": "https://x"},
        [c.ImageBlock(mime_type="image/*", url="https://x")],
    ),
    (
        "openai image by file id",
        {"type": "input_image", "file_id": "f1"},
        [c.ImageBlock(mime_type="image/*", url="file-id:f1")],
    ),
    (
        "openai audio",
        {"type": "input_audio", "input_audio": {"data": "AA==", "format": "mp3"}},
        [c.AudioBlock(mime_type="audio/mp3", data="AA==")],
    ),
    (
        "openai file as data",
        {"type": "file", "file": {"file_data": "data:application/pdf;base64,AA==", "filename": "a.pdf"}},
        [
            c.ResourceBlock(
                uri="file:a.pdf",
                data="AA==",
                mime_type="application/pdf",
                meta={"langchain": {"filename": "a.pdf"}},
            )
        ],
    ),
    (
        "openai file by id",
        {"type": "input_file", "file_id": "f1"},
        [c.LinkBlock(uri="file-id:f1", name="file-id:f1")],
    ),
    (
        "openai file by address",
        {"type": "input_file", "file_url": "https://x/a.pdf"},
        [c.LinkBlock(uri="https://x/a.pdf", name="a.pdf")],
    ),
    ("openai text", {"type": "output_text", "text": "a"}, [c.TextBlock(text="a")]),
    ("openai refusal", {"type": "refusal", "refusal": "I won't."}, [c.TextBlock(text="I won't.")]),
    (
        "openai citation",
        {
            "type": "output_text",
            "text": "a",
            "annotations": [{"type": "url_citation", "url": "https://x", "title": "X"}],
        },
        [
            c.TextBlock(text="a"),
            ev.Source(message_id="m", source_id="https://x", url="https://x", title="X"),
        ],
    ),
    (
        "openai summary",
        {
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}],
            "encrypted_content": "E",
        },
        [ev.Thought(message_id="m", delta="ab", signature="E")],
    ),
    (
        "openai summary as text",
        {"type": "reasoning", "summary": "a"},
        [ev.Thought(message_id="m", delta="a")],
    ),
    (
        "openai raw reasoning",
        {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "raw"}]},
        [ev.Thought(message_id="m", delta="raw")],
    ),
    (
        "openai function call",
        {"type": "function_call", "call_id": "c1", "id": "fc", "name": "think", "arguments": '{"a": 1}'},
        call("think", {"a": 1}, title="Think", kind="think"),
    ),
    (
        "openai call of a server tool, with its result",
        {"type": "code_interpreter_call", "id": "c1", "status": "completed", "code": "1", "outputs": []},
        [
            *call("code_interpreter", {"code": "1"}, title="Code interpreter", kind="execute"),
            ev.ToolUpdate(call_id="c1", status="completed", raw_output=[]),
        ],
    ),
    (
        "openai image it made",
        {"type": "image_generation_call", "id": "i1", "result": PNG, "output_format": "png"},
        [c.ImageBlock(mime_type="image/png", data=PNG, meta={"langchain": {"output_format": "png"}})],
    ),
    (
        "openai call without an id",
        {"type": "web_search_call"},
        [ev.Raw(source="langchain", payload={"type": "web_search_call"})],
    ),
    # Google and Bedrock.
    (
        "google media",
        {"type": "media", "mime_type": "video/mp4", "data": b"\0"},
        [c.VideoBlock(mime_type="video/mp4", data="AA==")],
    ),
    (
        "google media by address",
        {"type": "media", "file_uri": "gs://b/a.pdf"},
        [c.LinkBlock(uri="gs://b/a.pdf", name="a.pdf")],
    ),
    (
        "google code",
        {"type": "executable_code", "executable_code": "1", "language": "PYTHON", "id": "c1"},
        call(
            "code_interpreter",
            {"code": "1", "language": "PYTHON"},
            title="Code interpreter",
            kind="execute",
        ),
    ),
    (
        "google code's result",
        {"type": "code_execution_result", "code_execution_result": "1", "outcome": 1, "tool_call_id": "c1"},
        [ev.ToolUpdate(call_id="c1", status="completed", raw_output="1", content=(c.TextBlock(text="1"),))],
    ),
    (
        "google function call",
        {"type": "function_call", "id": "c1", "name": "think", "args": {"a": 1}},
        call("think", {"a": 1}, title="Think", kind="think"),
    ),
    ("bedrock text", {"text": "hi"}, [c.TextBlock(text="hi")]),
    (
        "bedrock image",
        {"image": {"format": "png", "source": {"bytes": b"\x89PNG\r\n\x1a\n"}}},
        [c.ImageBlock(mime_type="image/png", data=PNG)],
    ),
    (
        "bedrock reasoning",
        {"type": "reasoning_content", "reasoning_content": {"text": "hm", "signature": "S"}},
        [ev.Thought(message_id="m", delta="hm", signature="S")],
    ),
    # LangChain before 1.0.
    (
        "old image",
        {"type": "image", "source_type": "base64", "data": PNG, "mime_type": "image/png"},
        [c.ImageBlock(mime_type="image/png", data=PNG)],
    ),
    (
        "old block that LangChain itself trips over",
        {"type": "file", "source_type": "text", "text": "hi", "mime_type": "text/plain"},
        [
            c.ResourceBlock(
                uri="file:text",
                text="hi",
                mime_type="text/plain",
                meta={"langchain": {"source_type": "text"}},
            )
        ],
    ),
]


@pytest.mark.parametrize(("block", "meaning"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_a_block_means(block: dict[str, Any], meaning: list[Neutral]) -> None:
    before = repr(block)
    assert MAPPER.to_neutral(block, "m") == meaning
    assert repr(block) == before


def test_every_standard_block_of_this_langchain_is_in_the_table() -> None:
    known = {row[1].get("type") for row in TABLE}
    assert known >= KNOWN_BLOCK_TYPES - {"invalid_tool_call"}


@pytest.mark.parametrize(
    ("error", "reason"), [("no JSON here", "no JSON here"), (None, "its arguments are not JSON")]
)
def test_an_invalid_call_has_failed(error: str | None, reason: str) -> None:
    block = {"type": "invalid_tool_call", "id": "c1", "name": "think", "args": '{"a', "error": error}
    announced, failed = MAPPER.to_neutral(block)
    assert isinstance(announced, ev.ToolCall)
    assert failed == ev.ToolUpdate(call_id="c1", status="failed", input='{"a', reason=reason)


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
