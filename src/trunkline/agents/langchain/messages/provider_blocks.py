"""The block shapes of the providers, brought to LangChain's standard ones; and what is beside the content.

LangChain converts most of them itself, given a message and the name of its provider
(``langchain_core.messages.block_translators``). Here is which provider has which shape, and the shapes that
LangChain does not convert or not completely.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from typing import Any, cast

import orjson
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.messages.content import KNOWN_BLOCK_TYPES

Block = dict[str, Any]

_PROVIDERS = {
    "tool_use": "anthropic",
    "server_tool_use": "anthropic",
    "mcp_tool_use": "anthropic",
    "web_search_call": "openai",
    "file_search_call": "openai",
    "code_interpreter_call": "openai",
    "mcp_call": "openai",
    "mcp_list_tools": "openai",
    "image_generation_call": "openai",
    "reasoning_content": "bedrock_converse",
}
_STANDARD_NOTES = ("citation", "non_standard_annotation")
_CALLS = frozenset(
    {"tool_call", "tool_call_chunk", "tool_use", "input_json_delta", "function_call", "custom_tool_call"}
)
_NEEDS_APPROVAL = "it waits for an approval, which cannot be given here: set require_approval to never"


def standardize(block: Block) -> list[Block]:
    """Give a block as LangChain's standard blocks; an unknown one stays as it is."""
    kind = str(block.get("type"))
    convert = _CONVERTERS.get(kind)
    if convert is not None and (converted := convert(block)) is not None:
        return converted
    provider = _provider_of(kind, block)
    if provider is None:
        return [block]
    message = AIMessage if provider else HumanMessage
    try:
        # A copy, because the translators remove what they have read.
        found = message(content=[dict(block)], response_metadata={"model_provider": provider}).content_blocks
    except (AttributeError, KeyError, TypeError, ValueError):
        return [block]
    made = [cast("Block", item) for item in found]
    return [block if item.get("type") == "non_standard" else item for item in made] or [block]


def _provider_of(kind: str, block: Block) -> str | None:
    """The provider whose shape a block has; "" for the shapes of inputs, None for the standard shape."""
    if kind in _PROVIDERS:
        return _PROVIDERS[kind]
    if kind.endswith("_tool_result") and "tool_use_id" in block:
        return "anthropic"
    if kind == "text":
        if block.get("citations"):
            return "anthropic"
        notes = list_blocks(block.get("annotations"))
        return "openai" if any(note.get("type") not in _STANDARD_NOTES for note in notes) else None
    foreign = kind not in KNOWN_BLOCK_TYPES or "source" in block or "source_type" in block or "file" in block
    return "" if foreign else None


# -- what LangChain does not convert -------------------------------------------------------------------


def _text(block: Block) -> list[Block]:
    return standardize({**block, "type": "text"})


def _refusal(block: Block) -> list[Block]:
    return [{"type": "text", "text": block.get("refusal") or ""}]


def _thinking(block: Block) -> list[Block]:
    thought = block.get("thinking") or ""
    if isinstance(thought, list):  # Mistral's, in parts.
        thought = "".join(str(part.get("text") or "") for part in list_blocks(cast("list[Any]", thought)))
    made: Block = {"type": "reasoning", "reasoning": thought}
    signature = block.get("signature") or block.get("data")
    return [made | {"extras": {"signature": signature}} if signature else made]


def _reasoning(block: Block) -> list[Block] | None:
    """Read the summary or the raw text of OpenAI's Responses."""
    if "summary" not in block and "content" not in block:
        return None
    parts = [block["summary"]] if isinstance(block.get("summary"), str) else list_blocks(block.get("summary"))
    texts = [part if isinstance(part, str) else str(part.get("text") or "") for part in parts]
    texts = texts or [str(part.get("text") or "") for part in list_blocks(block.get("content"))]
    thought = "\n\n".join(text for text in texts if text)
    return _thinking({"thinking": thought, "signature": block.get("encrypted_content")})


def _tool_use(block: Block) -> list[Block] | None:
    """Read arguments that are still in pieces."""
    if block.get("input") or not block.get("partial_json"):
        return None
    return standardize({**block, "input": read_arguments(block["partial_json"]), "partial_json": None})


def _function_call(block: Block) -> list[Block]:
    call_id = block.get("call_id") or block.get("id")
    args = block["args"] if "args" in block else read_arguments(block.get("arguments"))
    return [{"type": "tool_call", "id": call_id, "name": block.get("name"), "args": args}]


def _logs(block: Block) -> list[Block]:
    return [{"type": "text", "text": block.get("logs") or ""}]


def _custom_output(block: Block) -> list[Block]:
    """Read the output of a custom tool of OpenAI's, whose input is plain text."""
    output = block.get("output")
    parts = [{"type": "text", "text": output}] if isinstance(output, str) else list_blocks(output)
    return [made for part in parts for made in standardize(part)]


def _approval_request(block: Block) -> list[Block]:
    """Read a call that OpenAI runs only after an approval, which LangChain cannot send."""
    return standardize({**block, "type": "mcp_call", "error": _NEEDS_APPROVAL})


def _found_page(block: Block) -> list[Block]:
    return [{**block, "type": "web_search_result"}]


def _non_standard(block: Block) -> list[Block] | None:
    """Read what LangChain has no type for, if we have one."""
    if not isinstance(value := block.get("value"), dict):
        return None
    made = standardize(cast("Block", value))
    return None if made == [value] else made


def _image_url(block: Block) -> list[Block] | None:
    url = block.get("image_url")
    if isinstance(url, str):
        return standardize({**block, "image_url": {"url": url}})
    if block.keys() <= {"type", "image_url"}:
        return None
    # LangChain reads only a block without other fields, and Google's answers have some.
    bare = standardize({"type": "image_url", "image_url": url})
    return [{**made, "extras": block["extras"]} if "extras" in block else made for made in bare]


def _input_image(block: Block) -> list[Block]:
    if block.get("file_id"):
        return [{"type": "image", "file_id": block["file_id"]}]
    return standardize({**block, "type": "image_url"})


def _input_file(block: Block) -> list[Block]:
    file = {key: block[key] for key in ("file_data", "file_id", "filename") if block.get(key)}
    if "file_data" in file or "file_id" in file:
        return standardize({"type": "file", "file": file})
    return [{"type": "file", "url": block.get("file_url"), "extras": file}]


def _made_file(block: Block) -> list[Block]:
    """Read a file that Anthropic's code execution made."""
    return [{"type": "file", "file_id": block.get("file_id")}]


def _media(block: Block) -> list[Block]:
    """Read Google's block for anything that has a MIME type."""
    main = str(block.get("mime_type") or "").partition("/")[0]
    made: Block = {"type": main if main in ("image", "audio", "video") else "file"}
    if block.get("mime_type"):
        made["mime_type"] = block["mime_type"]
    where = {"base64": encode_data(block["data"])} if "data" in block else {"url": block.get("file_uri")}
    return [made | where]


def _sourced(block: Block) -> list[Block] | None:
    """Read Anthropic's sources by file id and by content; LangChain reads the others."""
    source = block.get("source")
    if not isinstance(source, dict):
        return None
    given = cast("Block", source)
    if given.get("type") == "file" and given.get("file_id"):
        kind = "image" if block["type"] == "image" else "file"
        return [{"type": kind, "file_id": given["file_id"]}]
    if given.get("type") == "content":
        content = given.get("content")
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else list_blocks(content)
        return [made for part in parts for made in standardize(part)]
    return None


_CONVERTERS: dict[str, Callable[[Block], list[Block] | None]] = {
    "input_text": _text,
    "output_text": _text,
    "refusal": _refusal,
    "thinking": _thinking,
    "redacted_thinking": _thinking,
    "reasoning": _reasoning,
    "tool_use": _tool_use,
    "function_call": _function_call,
    "custom_tool_call_output": _custom_output,
    "mcp_approval_request": _approval_request,
    "logs": _logs,
    "url": _found_page,
    "non_standard": _non_standard,
    "image_url": _image_url,
    "input_image": _input_image,
    "input_file": _input_file,
    "code_execution_output": _made_file,
    "bash_code_execution_output": _made_file,
    "media": _media,
    "image": _sourced,
    "document": _sourced,
}


# -- helpers ----------------------------------------------------------------------------------


def list_blocks(value: Any) -> list[Block]:
    """The objects in a list; [] for any other value."""
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return [cast("Block", item) for item in items if isinstance(item, dict)]


def is_tool_call(block: Block) -> bool:
    """Whether a block is a call, or a piece of one, that the agent has to run; LangChain may wrap it."""
    value: Any = block.get("value") if block.get("type") == "non_standard" else None
    return cast("Block", value if isinstance(value, dict) else block).get("type") in _CALLS


def beside_content(message: Any) -> tuple[str, str]:
    """Read what some providers put beside a message's content: a thought, and the text of a refusal.

    Each is "" where there is none. A thought that the content has too is not given again.
    """
    thought, refusal = (message.additional_kwargs.get(name) for name in ("reasoning_content", "refusal"))
    is_new = isinstance(thought, str) and not _has_thought(message.content, thought)
    return thought if is_new else "", refusal if isinstance(refusal, str) else ""


def _has_thought(content: Any, thought: str) -> bool:
    """Whether a message's content has this thought too, as LangChain's standard content does."""
    blocks = [block for block in list_blocks(content) if block.get("type") == "reasoning"]
    return bool(blocks) and "".join(str(block.get("reasoning")) for block in blocks) == thought


def encode_data(data: Any) -> str:
    """Give binary data as base64 text."""
    return b64encode(data).decode() if isinstance(data, bytes) else str(data)


def read_arguments(text: Any) -> Any:
    """Read the JSON of a call's arguments; text that is none stays text."""
    try:
        return orjson.loads(text or "{}")
    except orjson.JSONDecodeError:
        return text
