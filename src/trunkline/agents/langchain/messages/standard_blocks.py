"""LangChain's standard blocks, one by one: read as ours, and ours written as theirs."""

from __future__ import annotations

import re
from base64 import b64decode
from pathlib import PurePosixPath
from typing import Any, Union, cast

import msgspec

from trunkline import content as c
from trunkline import events as ev
from trunkline.agents.langchain.messages.provider_blocks import Block, encode_data, list_blocks
from trunkline.tools.naming import kind_of, title_of

OURS = "trunkline"
"""The key in a block's extras for what LangChain has no field for."""
_THEIRS = "langchain"
_FILE_ID = "file-id:"
_MADE_BY_LANGCHAIN = "lc_"
"""The prefix of ids that LangChain makes where a provider gave none; they are new each time."""
_CLOSING = "\n</resource>"

MediaBlock = Union[c.ImageBlock, c.AudioBlock, c.VideoBlock]
TextOnlyBlock = Union[c.LinkBlock, c.ResourceBlock, c.DiffBlock, c.SourceBlock, c.TerminalBlock, MediaBlock]
_MEDIA: dict[str, type[MediaBlock]] = {"image": c.ImageBlock, "audio": c.AudioBlock, "video": c.VideoBlock}
_DEFAULT_MIME = {"image": "image/png", "audio": "audio/wav", "video": "video/mp4"}
_PROVIDER_MIME = {
    "audio/mpeg": "audio/mp3",
    "audio/x-wav": "audio/wav",
    "audio/wave": "audio/wav",
    "audio/vnd.wave": "audio/wav",
}
"""The only names under which OpenAI and Google accept these audio types."""
_TEXT_MIME = re.compile(r"text/.+|.+[/+](json|xml|yaml|x-yaml|toml|javascript)")
_BASE64_STARTS = {"/9j/": "image/jpeg", "R0lGOD": "image/gif", "UklGR": "image/webp"}
_FIELDS = frozenset(
    {"type", "id", "index", "extras", "text", "annotations", "mime_type", "base64", "url", "file_id"}
)
"""The fields that are read from a standard block; its id and its index in a stream are not content."""


# -- reading ---------------------------------------------------------------------------------------


def restore(block: Block) -> c.Content | None:
    """Read a block of ours that was written as another type of LangChain's."""
    kept = _kept(block)
    if "type" not in kept:
        return None
    if kept["type"] == "resource" and "base64" in block:
        kept = kept | {"data": block["base64"]}
    elif kept["type"] == "resource" and "text" not in kept:
        text = str(block.get("text"))
        kept = kept | {"text": text[len(_opening(kept.get("uri"))) : -len(_CLOSING)]}
    try:
        return msgspec.convert(kept, c.Content)
    except msgspec.ValidationError:
        return None


def read_text(block: Block) -> list[c.Content]:
    """Read a text; a block that has only citations has none."""
    text = str(block.get("text") or "")
    return [c.TextBlock(text=text, **_common(block))] if text or not block.get("annotations") else []


def read_citations(block: Block, message_id: str) -> list[ev.Source]:
    """Read the sources of a text; where in the text they are cited is in the event's meta."""
    notes = [_name_file(note) for note in list_blocks(block.get("annotations"))]
    cited = enumerate(notes)
    return [_read_citation(note, message_id, at) for at, note in cited if note.get("type") == "citation"]


def _name_file(note: Block) -> Block:
    """Read a note that names a file as a citation: OpenAI's code interpreter names its output files so."""
    value: Any = note.get("value") if note.get("type") == "non_standard_annotation" else None
    if not isinstance(value, dict) or "file_id" not in value:
        return note
    about = cast("Block", value)
    position = {key: about[key] for key in ("start_index", "end_index") if key in about}
    extras = {key: value for key, value in about.items() if key not in ("filename", *position)}
    title = about.get("filename") or about["file_id"]
    return {"type": "citation", "title": title, **position, "extras": extras}


def _read_citation(note: Block, message_id: str, number: int) -> ev.Source:
    extras, title, kept = _extras(note), _text(note.get("title")), _kept(note)
    found = _text(
        extras.get("source")
    )  # Anthropic's name for the address of a search result that the user gave.
    url = _text(note.get("url")) or (found if found and found.startswith(("http://", "https://")) else None)
    # Citations are streamed one by one, so their own number is always 0; the document's number is not.
    number = extras.get("document_index", number)
    given_id = None if str(note.get("id")).startswith(_MADE_BY_LANGCHAIN) else note.get("id")
    rest = {key: note[key] for key in note if key not in ("type", "id", "url", "title", "extras")}
    if theirs := {key: value for key, value in extras.items() if key != OURS}:
        rest["extras"] = theirs
    return ev.Source(
        message_id=message_id,
        source_id=str(given_id or url or found or extras.get("file_id") or f"{message_id}:{number}"),
        url=url,
        title=title,
        document=_text(kept.get("document", None if url else title)),
        mime_type=_text(kept.get("mime_type")),
        meta={"citation": rest} if rest else None,
    )


def read_grounding(metadata: Block, message_id: str) -> list[ev.Source]:
    """Read what Google's search found for an answer, each page once; v1 content has it as citations."""
    grounding: Any = None if metadata.get("output_version") == "v1" else metadata.get("grounding_metadata")
    given = cast("Block", grounding) if isinstance(grounding, dict) else {}
    pages = [_read_page(chunk) for chunk in list_blocks(given.get("grounding_chunks"))]
    positions: dict[int, Block] = {}
    for support in list_blocks(given.get("grounding_supports")):
        segment = cast("Block", support.get("segment") or {})
        position = {key: segment.get(key) for key in ("start_index", "end_index")}
        for number in support.get("grounding_chunk_indices") or ():
            positions.setdefault(number, {**position, "cited_text": segment.get("text")})
    notes = [page | positions.get(number, {}) for number, page in enumerate(pages)]
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
    """Read one page that a provider's search found."""
    url = str(block["url"])
    return c.SourceBlock(source_id=url, url=url, title=_text(block.get("title")))


def cite(source: ev.Source) -> c.SourceBlock:
    """Give a source as a block, where only blocks are allowed."""
    return c.SourceBlock(
        source_id=source.source_id,
        url=source.url,
        title=source.title,
        document=source.document,
        mime_type=source.mime_type,
        meta=source.meta,
    )


def read_thought(block: Block, message_id: str) -> ev.Thought:
    """Read a piece of reasoning, with the signature that its provider wants back."""
    extras = _extras(block)
    signature = extras.get("signature") or block.get("signature") or extras.get("encrypted_content")
    return ev.Thought(
        message_id=message_id, delta=str(block.get("reasoning") or ""), signature=_text(signature)
    )


def has_data(block: Block) -> bool:
    """Whether a block has data, or says where its data is."""
    return any(block.get(key) is not None for key in ("base64", "url", "file_id", "text"))


def _url_of(block: Block) -> str | None:
    """The URL of a block: its own, or one made of a provider's file id."""
    if block.get("url") is not None or block.get("file_id") is None:
        return _text(block.get("url"))
    return f"{_FILE_ID}{block['file_id']}"


def read_media(kind: str, block: Block) -> c.Content:
    """Read an image, a sound or a video."""
    kept = _kept(block)
    mime = _text(kept.get("mime_type", block.get("mime_type")))
    data = None if block.get("base64") is None else encode_data(block["base64"])
    if mime is None:
        mime = f"{kind}/*" if data is None else _guess_mime(kind, data)
    url, blob = _text(kept.get("url", _url_of(block))), _text(kept.get("blob"))
    return _MEDIA[kind](mime_type=mime, data=data, url=url, blob=blob, **_common(block))


def _guess_mime(kind: str, data: str) -> str:
    found = (mime for start, mime in _BASE64_STARTS.items() if kind == "image" and data.startswith(start))
    return next(found, _DEFAULT_MIME[kind])


def read_file(block: Block) -> c.Content:
    """Read a file: an embedded one is a resource, one with an address is a link."""
    about = block | _extras(block)
    name = next((str(about[key]) for key in ("filename", "title", "name") if about.get(key)), None)
    common: Block = {"mime_type": _text(block.get("mime_type")), **_common(block)}
    if block.get("text") is not None:
        return c.ResourceBlock(uri=f"file:{name or 'text'}", text=str(block["text"]), **common)
    if block.get("base64") is not None:
        return c.ResourceBlock(uri=f"file:{name or 'data'}", data=encode_data(block["base64"]), **common)
    uri = str(_url_of(block))
    return c.LinkBlock(uri=uri, name=name or PurePosixPath(uri).name or uri, **common)


def call_id_of(native_id: Any, message_id: str) -> str:
    """The id of a call; one that its provider gave none gets an id that its result has too."""
    return str(native_id or f"{message_id}:tool")


def read_call(block: Block, message_id: str) -> tuple[ev.ToolCall, ev.ToolUpdate]:
    """Read a whole call; one with invalid arguments has failed already."""
    call = _announce(block, message_id)
    given = block.get("args")
    if block["type"] != "invalid_tool_call":
        # A streamed call was announced before its arguments were known.
        late = block["type"] == "server_tool_call" and call.title != title_of(call.name, None)
        return call, ev.ToolUpdate(call_id=call.call_id, title=call.title if late else None, input=given)
    reason = str(block.get("error") or "its arguments are not JSON")
    return call, ev.ToolUpdate(call_id=call.call_id, status="failed", input=given, reason=reason)


def read_chunk(block: Block, message_id: str) -> list[ev.ToolCall | ev.ToolInput]:
    """Read a piece of a call: its beginning, arguments, or both."""
    made: list[ev.ToolCall | ev.ToolInput] = [_announce(block, message_id)] if block.get("name") else []
    if block.get("args"):
        made.append(ev.ToolInput(call_id=str(block["id"]), delta=str(block["args"])))
    return made


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
    """Read the output of a provider's own tool as blocks: printed text, and content."""
    if isinstance(output, list):
        return [_name_passage(item) for item in cast("list[Any]", output)]
    if not isinstance(output, dict):
        return output if isinstance(output, str) else []
    given = cast("Block", output)
    if "sources" in given:
        return list_blocks(given["sources"])
    printed = [given[key] for key in ("stdout", "stderr") if given.get(key)]
    content = given.get("content") if given.get("file_type", "text") == "text" else None
    return [*printed, *(cast("list[Any]", content) if isinstance(content, list) else [content])]


def _name_passage(item: Any) -> Any:
    """Read a passage that OpenAI's file search found, which has no type, as a text of that file."""
    block = cast("Block", item) if isinstance(item, dict) else {"type": "text"}
    if "type" in block or not block.get("filename"):
        return cast("Any", item)
    return {"type": "text-plain", "text": block.get("text") or "", "title": block["filename"]}


def server_tool_error(block: Block) -> str | None:
    """Why a call that the provider ran itself failed, if that is beside its output."""
    extras = _extras(block)
    error: Any = extras.get("error")
    if isinstance(error, dict):
        given = cast("Block", error)
        parts = [str(part.get("text")) for part in list_blocks(given.get("content")) if part.get("text")]
        return _text(given.get("message")) or " ".join(parts) or _text(given.get("type"))
    if error:
        return str(error)
    return "it was not finished" if extras.get("status") == "incomplete" else None


def _text(value: Any) -> str | None:
    """Read a field as text, whatever its type."""
    return value if value is None or isinstance(value, str) else str(value)


def _extras(block: Block) -> Block:
    extras = block.get("extras")
    return cast("Block", extras) if isinstance(extras, dict) else {}


def _kept(block: Block) -> Block:
    kept = _extras(block).get(OURS)
    return cast("Block", kept) if isinstance(kept, dict) else {}


def _common(block: Block) -> Block:
    """Read the fields that every block of ours has: annotations and meta."""
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
    """Write a text."""
    return _with_extras({"type": "text", "text": block.text}, block, {})


def write_data(block: MediaBlock, data: str) -> Block:
    """Write an embedded image, sound or video.

    Its URL is only kept in the extras: providers would use it and not the data, and cannot reach an editor's.
    """
    mime = _PROVIDER_MIME.get(block.mime_type, block.mime_type)
    made = {"type": _kind(block), "mime_type": mime, "base64": data}
    other = None if mime == block.mime_type else block.mime_type
    return _with_extras(made, block, {"blob": block.blob, "url": block.url, "mime_type": other})


def write_url(block: MediaBlock, url: str) -> Block:
    """Write an image, a sound or a video that has a URL."""
    kind = _kind(block)
    made = {"type": kind} if block.mime_type == f"{kind}/*" else {"type": kind, "mime_type": block.mime_type}
    where = {"file_id": url.removeprefix(_FILE_ID)} if url.startswith(_FILE_ID) else {"url": url}
    return _with_extras(made | where, block, {"blob": block.blob})


def write_resource(block: c.ResourceBlock, data: str) -> Block:
    """Write binary contents by their type: an image, a sound, a video, a text or a file."""
    given = block.mime_type or "application/octet-stream"
    mime = _PROVIDER_MIME.get(given, given)
    main = mime.partition("/")[0]
    kept = msgspec.to_builtins(block)
    if _TEXT_MIME.fullmatch(mime) and (text := _decode(data)) is not None:
        # Providers accept no text as a file.
        shown = msgspec.structs.replace(block, data=None, text=text)
        return {"type": "text", "text": _as_text(shown), "extras": {OURS: kept | {"text": None}}}
    del kept["data"]
    made: Block = {"type": main, "mime_type": mime, "base64": data, "extras": {OURS: kept}}
    if main not in _MEDIA:
        made["type"] = "file"
        # OpenAI reads "filename", Anthropic reads "title".
        name = PurePosixPath(block.uri.partition(":")[2] or block.uri).name or "data"
        made["extras"]["filename"] = made["extras"]["title"] = name
    return made


def _decode(data: str) -> str | None:
    try:
        return b64decode(data, validate=True).decode()
    except ValueError:
        return None


def write_thought(thought: ev.Thought) -> Block:
    """Write a piece of reasoning."""
    made: Block = {"type": "reasoning", "reasoning": thought.delta}
    return made | {"extras": {"signature": thought.signature}} if thought.signature else made


def write_citation(source: ev.Source) -> Block:
    """Write a source as an annotation of a text."""
    note: Block = dict((source.meta or {}).get("citation") or {})
    note |= {"type": "citation", "id": source.source_id}
    note |= {key: value for key, value in {"url": source.url, "title": source.title}.items() if value}
    if source.document != (None if source.url else source.title) or source.mime_type is not None:
        kept = {"document": source.document, "mime_type": source.mime_type}
        note["extras"] = _extras(note) | {OURS: kept}
    return note


def write_as_text(block: TextOnlyBlock) -> Block:
    """Write a block that LangChain has no type for as text for the model, and keep it whole in the extras."""
    kept = msgspec.to_builtins(block)
    if isinstance(block, c.ResourceBlock):
        # Its text is not kept twice: it is between the tags.
        kept |= {"text": None}
        if block.text is not None:
            del kept["text"]
    return {"type": "text", "text": _as_text(block), "extras": {OURS: kept}}


def _as_text(block: TextOnlyBlock) -> str:
    match block:
        case c.LinkBlock():
            about = f": {block.description}" if block.description else ""
            return f"[{block.title or block.name}]({block.uri}){about}"
        case c.ResourceBlock():
            return f"{_opening(block.uri)}{block.text or ''}{_CLOSING}"
        case c.DiffBlock():
            removed = [f"-{line}" for line in (block.old or "").splitlines()]
            added = [f"+{line}" for line in (block.new or "").splitlines()]
            return "\n".join([block.path, *removed, *added])
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


def _with_extras(made: Block, block: c.Block, kept: Block) -> Block:
    """Add the extras of a block of ours to a standard block."""
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
