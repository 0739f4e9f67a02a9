"""LangChain's standard blocks, one by one: how each is read as ours, and ours written as one."""

from __future__ import annotations

import re
from base64 import b64decode
from pathlib import PurePosixPath
from typing import Any, Union, cast

import msgspec

from trunkline import content as c
from trunkline import events as ev
from trunkline.agents.langchain.messages.providers import Block, encode_data, list_blocks
from trunkline.tools.naming import kind_of, title_of

__all__ = [
    "OURS",
    "MediaBlock",
    "WordyBlock",
    "call_id_of",
    "cite",
    "has_place",
    "read_call",
    "read_chunk",
    "read_citations",
    "read_file",
    "read_found_page",
    "read_grounding",
    "read_media",
    "read_text",
    "read_thought",
    "restore",
    "tell_failure",
    "unpack_output",
    "write_address",
    "write_citation",
    "write_data",
    "write_resource",
    "write_text",
    "write_thought",
    "write_words",
]

OURS = "trunkline"
"""Where a block's extras keep what LangChain has no field for."""
_THEIRS = "langchain"
_FILE_ID = "file-id:"
_MADE_UP = "lc_"
"""How the ids begin that LangChain gives where a provider gave none: they are new each time."""
_CLOSING = "\n</resource>"

MediaBlock = Union[c.ImageBlock, c.AudioBlock, c.VideoBlock]
WordyBlock = Union[c.LinkBlock, c.ResourceBlock, c.DiffBlock, c.SourceBlock, c.TerminalBlock, MediaBlock]
_MEDIA: dict[str, type[MediaBlock]] = {
    "image": c.ImageBlock,
    "audio": c.AudioBlock,
    "video": c.VideoBlock,
}
_USUAL_MIME = {"image": "image/png", "audio": "audio/wav", "video": "video/mp4"}
_AS_PROVIDERS_SAY = {
    "audio/mpeg": "audio/mp3",
    "audio/x-wav": "audio/wav",
    "audio/wave": "audio/wav",
    "audio/vnd.wave": "audio/wav",
}
"""Sounds by the only names that OpenAI and Google know them by."""
_TEXTS = re.compile(r"text/.+|.+[/+](json|xml|yaml|x-yaml|toml|javascript)")
_BEGINNINGS = {"/9j/": "image/jpeg", "R0lGOD": "image/gif", "UklGR": "image/webp"}
_FIELDS = frozenset(
    {"type", "id", "index", "extras", "text", "annotations", "mime_type", "base64", "url", "file_id"}
)
"""What is read from a standard block; its id and its place in a stream are not content."""


# -- reading ---------------------------------------------------------------------------------------


def restore(block: Block) -> c.Content | None:
    """Give back a block of ours that went to LangChain as another type."""
    kept = _kept(block)
    if "type" not in kept:
        return None
    if kept["type"] == "resource" and "base64" in block:
        kept = kept | {"data": block["base64"]}
    elif kept["type"] == "resource" and "text" not in kept:
        said = str(block.get("text"))
        kept = kept | {"text": said[len(_opening(kept.get("uri"))) : -len(_CLOSING)]}
    try:
        return msgspec.convert(kept, c.Content)
    except msgspec.ValidationError:
        return None


def read_text(block: Block) -> list[c.Content]:
    """Give a block's text; a block that only brings citations has none."""
    text = str(block.get("text") or "")
    return [c.TextBlock(text=text, **_common(block))] if text or not block.get("annotations") else []


def read_citations(block: Block, message_id: str) -> list[ev.Source]:
    """Give what a text rests on; its place in the text and the like stay in the event's meta."""
    notes = [_name_file(note) for note in list_blocks(block.get("annotations"))]
    cited = enumerate(notes)
    return [_read_citation(note, message_id, at) for at, note in cited if note.get("type") == "citation"]


def _name_file(note: Block) -> Block:
    """Give a note that names a file, as OpenAI's do of those that its code left behind, as a citation."""
    told: Any = note.get("value") if note.get("type") == "non_standard_annotation" else None
    if not isinstance(told, dict) or "file_id" not in told:
        return note
    about = cast("Block", told)
    places = {key: about[key] for key in ("start_index", "end_index") if key in about}
    extras = {key: value for key, value in about.items() if key not in ("filename", *places)}
    title = about.get("filename") or about["file_id"]
    return {"type": "citation", "title": title, **places, "extras": extras}


def _read_citation(note: Block, message_id: str, number: int) -> ev.Source:
    extras, title, kept = _extras(note), _text(note.get("title")), _kept(note)
    found = _text(extras.get("source"))  # Anthropic's word for where a result of somebody else's search is.
    url = _text(note.get("url")) or (found if found and found.startswith(("http://", "https://")) else None)
    # Citations come one by one, so their number is no name: that of the document is.
    number = extras.get("document_index", number)
    named = None if str(note.get("id")).startswith(_MADE_UP) else note.get("id")
    rest = {key: note[key] for key in note if key not in ("type", "id", "url", "title", "extras")}
    if theirs := {key: value for key, value in extras.items() if key != OURS}:
        rest["extras"] = theirs
    return ev.Source(
        message_id=message_id,
        source_id=str(named or url or found or extras.get("file_id") or f"{message_id}:{number}"),
        url=url,
        title=title,
        document=_text(kept.get("document", None if url else title)),
        mime_type=_text(kept.get("mime_type")),
        meta={"citation": rest} if rest else None,
    )


def read_grounding(metadata: Block, message_id: str) -> list[ev.Source]:
    """Give what Google's search found for an answer, each page once; standard blocks have it as citations."""
    told: Any = None if metadata.get("output_version") == "v1" else metadata.get("grounding_metadata")
    given = cast("Block", told) if isinstance(told, dict) else {}
    found = [_read_page(chunk) for chunk in list_blocks(given.get("grounding_chunks"))]
    places: dict[int, Block] = {}
    for support in list_blocks(given.get("grounding_supports")):
        segment = cast("Block", support.get("segment") or {})
        place = {key: segment.get(key) for key in ("start_index", "end_index")}
        for number in support.get("grounding_chunk_indices") or ():
            places.setdefault(number, {**place, "cited_text": segment.get("text")})
    notes = [page | places.get(number, {}) for number, page in enumerate(found)]
    sources: dict[str, ev.Source] = {}
    for number, note in enumerate(notes):
        source = _read_citation(note, message_id, number)
        sources.setdefault(source.source_id, source)
    return list(sources.values())


def _read_page(chunk: Block) -> Block:
    kinds = ("web", "maps", "retrieved_context", "image")
    page = cast("Block", next((chunk[kind] for kind in kinds if chunk.get(kind)), None) or {})
    return {key: page[name] for key, name in (("url", "uri"), ("title", "title")) if page.get(name)}


def read_found_page(block: Block) -> c.SourceBlock:
    """Give one page that a provider's search found."""
    url = str(block["url"])
    return c.SourceBlock(source_id=url, url=url, title=_text(block.get("title")))


def cite(source: ev.Source) -> c.SourceBlock:
    """Give a source as a block, for places where only blocks can stand."""
    return c.SourceBlock(
        source_id=source.source_id,
        url=source.url,
        title=source.title,
        document=source.document,
        mime_type=source.mime_type,
        meta=source.meta,
    )


def read_thought(block: Block, message_id: str) -> ev.Thought:
    """Give a piece of reasoning, with the seal its provider wants to see again."""
    extras = _extras(block)
    sealed = extras.get("signature") or block.get("signature") or extras.get("encrypted_content")
    return ev.Thought(message_id=message_id, delta=str(block.get("reasoning") or ""), signature=_text(sealed))


def has_place(block: Block) -> bool:
    """Say whether a block's data is anywhere."""
    return any(block.get(key) is not None for key in ("base64", "url", "file_id", "text"))


def _address(block: Block) -> str | None:
    """Give the address of a block: its own, or one made of a provider's file id."""
    if block.get("url") is not None or block.get("file_id") is None:
        return _text(block.get("url"))
    return f"{_FILE_ID}{block['file_id']}"


def read_media(kind: str, block: Block) -> c.Content:
    """Give an image, a sound or a video."""
    kept = _kept(block)
    mime = _text(kept.get("mime_type", block.get("mime_type")))
    data = None if block.get("base64") is None else encode_data(block["base64"])
    if mime is None:
        mime = f"{kind}/*" if data is None else _guess_mime(kind, data)
    url, blob = _text(kept.get("url", _address(block))), _text(kept.get("blob"))
    return _MEDIA[kind](mime_type=mime, data=data, url=url, blob=blob, **_common(block))


def _guess_mime(kind: str, data: str) -> str:
    found = (mime for start, mime in _BEGINNINGS.items() if kind == "image" and data.startswith(start))
    return next(found, _USUAL_MIME[kind])


def read_file(block: Block) -> c.Content:
    """Give a file: what is embedded is a resource, what is elsewhere is a link."""
    about = block | _extras(block)
    name = next((str(about[key]) for key in ("filename", "title", "name") if about.get(key)), None)
    common: Block = {"mime_type": _text(block.get("mime_type")), **_common(block)}
    if block.get("text") is not None:
        return c.ResourceBlock(uri=f"file:{name or 'text'}", text=str(block["text"]), **common)
    if block.get("base64") is not None:
        return c.ResourceBlock(uri=f"file:{name or 'data'}", data=encode_data(block["base64"]), **common)
    uri = str(_address(block))
    return c.LinkBlock(uri=uri, name=name or PurePosixPath(uri).name or uri, **common)


def call_id_of(native_id: Any, message_id: str) -> str:
    """Name a call that its provider gave no id, so that its result finds it."""
    return str(native_id or f"{message_id}:tool")


def read_call(block: Block, message_id: str) -> tuple[ev.ToolCall, ev.ToolUpdate]:
    """Give a whole call; one whose arguments cannot be read has failed already."""
    call = _announce(block, message_id)
    given = block.get("args")
    if block["type"] != "invalid_tool_call":
        # One in pieces was announced before anybody knew what it is about.
        late = block["type"] == "server_tool_call" and call.title != title_of(call.name, None)
        return call, ev.ToolUpdate(call_id=call.call_id, title=call.title if late else None, input=given)
    why = str(block.get("error") or "its arguments are not JSON")
    return call, ev.ToolUpdate(call_id=call.call_id, status="failed", input=given, reason=why)


def read_chunk(block: Block, message_id: str) -> list[ev.ToolCall | ev.ToolInput]:
    """Give a piece of a call: its beginning, arguments, or both."""
    said: list[ev.ToolCall | ev.ToolInput] = [_announce(block, message_id)] if block.get("name") else []
    if block.get("args"):
        said.append(ev.ToolInput(call_id=str(block["id"]), delta=str(block["args"])))
    return said


def _announce(block: Block, message_id: str) -> ev.ToolCall:
    name = str(_extras(block).get("tool_name") or block.get("name") or "tool")
    return ev.ToolCall(
        call_id=call_id_of(block.get("id"), message_id),
        native_id=_text(block.get("id")),
        name=name,
        title=title_of(name, block.get("args")),
        kind=kind_of(name),
        message_id=message_id or None,
    )


def unpack_output(output: Any) -> str | list[Any]:
    """Give what a provider's own tool gave as blocks: an object by what was printed and what it holds."""
    if isinstance(output, list):
        return [_name_passage(item) for item in cast("list[Any]", output)]
    if not isinstance(output, dict):
        return output if isinstance(output, str) else []
    given = cast("Block", output)
    if "sources" in given:
        return list_blocks(given["sources"])
    printed = [given[key] for key in ("stdout", "stderr") if given.get(key)]
    held = given.get("content") if given.get("file_type", "text") == "text" else None
    return [*printed, *(cast("list[Any]", held) if isinstance(held, list) else [held])]


def _name_passage(item: Any) -> Any:
    """Give a passage of a file, as OpenAI's search finds them without a type, as a text of that name."""
    block = cast("Block", item) if isinstance(item, dict) else {"type": "text"}
    if "type" in block or not block.get("filename"):
        return cast("Any", item)
    return {"type": "text-plain", "text": block.get("text") or "", "title": block["filename"]}


def tell_failure(block: Block) -> str | None:
    """Say why a provider's own call failed, where it is told beside the output."""
    told = _extras(block)
    error: Any = told.get("error")
    if isinstance(error, dict):
        given = cast("Block", error)
        parts = [str(part.get("text")) for part in list_blocks(given.get("content")) if part.get("text")]
        return _text(given.get("message")) or " ".join(parts) or _text(given.get("type"))
    if error:
        return str(error)
    return "it was not finished" if told.get("status") == "incomplete" else None


def _text(value: Any) -> str | None:
    """Give a field as text, whatever its provider made of it."""
    return value if value is None or isinstance(value, str) else str(value)


def _extras(block: Block) -> Block:
    extras = block.get("extras")
    return cast("Block", extras) if isinstance(extras, dict) else {}


def _kept(block: Block) -> Block:
    kept = _extras(block).get(OURS)
    return cast("Block", kept) if isinstance(kept, dict) else {}


def _common(block: Block) -> Block:
    """Read what every block of ours has: annotations and meta."""
    kept = _kept(block)
    theirs = {key: value for key, value in block.items() if key not in _FIELDS}
    theirs |= {key: value for key, value in _extras(block).items() if key != OURS}
    notes, meta = kept.get("annotations"), kept.get("meta", {_THEIRS: theirs} if theirs else None)
    return {
        "annotations": notes if isinstance(notes, dict) else None,
        "meta": meta if isinstance(meta, dict) else None,
    }


# -- writing ---------------------------------------------------------------------------------------


def write_text(block: c.TextBlock) -> Block:
    """Give a text."""
    return _dress({"type": "text", "text": block.text}, block, {})


def write_data(block: MediaBlock, data: str) -> Block:
    """Give an image, a sound or a video that is embedded.

    Its address is only kept: providers prefer one to the data, and an editor's is of no use to them.
    """
    mime = _AS_PROVIDERS_SAY.get(block.mime_type, block.mime_type)
    made = {"type": _kind(block), "mime_type": mime, "base64": data}
    other = None if mime == block.mime_type else block.mime_type
    return _dress(made, block, {"blob": block.blob, "url": block.url, "mime_type": other})


def write_address(block: MediaBlock, url: str) -> Block:
    """Give an image, a sound or a video that is elsewhere."""
    kind = _kind(block)
    made = {"type": kind} if block.mime_type == f"{kind}/*" else {"type": kind, "mime_type": block.mime_type}
    place = {"file_id": url.removeprefix(_FILE_ID)} if url.startswith(_FILE_ID) else {"url": url}
    return _dress(made | place, block, {"blob": block.blob})


def write_resource(block: c.ResourceBlock, data: str) -> Block:
    """Give binary contents as what they are: an image is seen, a sound is heard, a text is read."""
    told = block.mime_type or "application/octet-stream"
    mime = _AS_PROVIDERS_SAY.get(told, told)
    main = mime.partition("/")[0]
    kept = msgspec.to_builtins(block)
    if _TEXTS.fullmatch(mime) and (said := _decode(data)) is not None:
        # Providers take texts as texts only.
        shown = msgspec.structs.replace(block, data=None, text=said)
        return {"type": "text", "text": _in_words(shown), "extras": {OURS: kept | {"text": None}}}
    del kept["data"]
    made: Block = {"type": main, "mime_type": mime, "base64": data, "extras": {OURS: kept}}
    if main not in _MEDIA:
        made["type"] = "file"
        # One is OpenAI's word for it, the other Anthropic's.
        name = PurePosixPath(block.uri.partition(":")[2] or block.uri).name or "data"
        made["extras"]["filename"] = made["extras"]["title"] = name
    return made


def _decode(data: str) -> str | None:
    try:
        return b64decode(data, validate=True).decode()
    except ValueError:
        return None


def write_thought(thought: ev.Thought) -> Block:
    """Give a piece of reasoning."""
    made: Block = {"type": "reasoning", "reasoning": thought.delta}
    return made | {"extras": {"signature": thought.signature}} if thought.signature else made


def write_citation(source: ev.Source) -> Block:
    """Give a source as a text's annotation."""
    note: Block = dict((source.meta or {}).get("citation") or {})
    note |= {"type": "citation", "id": source.source_id}
    note |= {key: value for key, value in {"url": source.url, "title": source.title}.items() if value}
    if source.document != (None if source.url else source.title) or source.mime_type is not None:
        kept = {"document": source.document, "mime_type": source.mime_type}
        note["extras"] = _extras(note) | {OURS: kept}
    return note


def write_words(block: WordyBlock) -> Block:
    """Give a block that LangChain has no type for as words a model can use, and keep it whole."""
    kept = msgspec.to_builtins(block)
    if isinstance(block, c.ResourceBlock):
        # Its text is not kept twice: it stands between the tags.
        kept |= {"text": None}
        if block.text is not None:
            del kept["text"]
    return {"type": "text", "text": _in_words(block), "extras": {OURS: kept}}


def _in_words(block: WordyBlock) -> str:
    match block:
        case c.LinkBlock():
            about = f": {block.description}" if block.description else ""
            return f"[{block.title or block.name}]({block.uri}){about}"
        case c.ResourceBlock():
            return f"{_opening(block.uri)}{block.text or ''}{_CLOSING}"
        case c.DiffBlock():
            gone = [f"-{line}" for line in (block.old or "").splitlines()]
            come = [f"+{line}" for line in (block.new or "").splitlines()]
            return "\n".join([block.path, *gone, *come])
        case c.SourceBlock():
            name = block.title or block.document or block.source_id
            return f"[{name}]({block.url})" if block.url else name
        case c.TerminalBlock():
            return f"[terminal {block.terminal_id}]"
        case _:
            return f"[{block.mime_type}]"


def _opening(uri: Any) -> str:
    return f'<resource uri="{uri}">\n'


def _kind(block: MediaBlock) -> str:
    return next(kind for kind, made in _MEDIA.items() if isinstance(block, made))


def _dress(made: Block, block: c.Block, kept: Block) -> Block:
    """Add to a standard block what it has no field for."""
    extras: Block = {}
    kept = {key: value for key, value in kept.items() if value is not None}
    if block.annotations is not None:
        kept["annotations"] = block.annotations
    theirs: Any = (block.meta or {}).get(_THEIRS)
    if isinstance(theirs, dict) and theirs and len(block.meta or {}) == 1 and OURS not in theirs:
        extras |= cast("Block", theirs)
    elif block.meta is not None:
        kept["meta"] = block.meta
    if kept:
        extras[OURS] = kept
    return made | {"extras": extras} if extras else made
