"""Content both ways: LangChain's standard blocks and ours.

A block that has a type keeps it: nothing is turned into text that is not text. What is not content in
our sense (reasoning, tool calls, citations) becomes the event that says it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Union, cast


from trunkline import content as c
from trunkline import events as ev

__all__ = ["ContentBlockMapper", "Neutral"]

Neutral = Union[c.Content, ev.AnyEvent]

_MEDIA: dict[str, Any] = {"image": c.ImageBlock, "audio": c.AudioBlock, "video": c.VideoBlock}
_DEFAULT_MIME = {"image": "image/png", "audio": "audio/wav", "video": "video/mp4"}


class ContentBlockMapper:
    """Maps blocks; subclass it to map your own kinds."""

    # -- LangChain to neutral ----------------------------------------------------------------------

    def to_neutral(self, block: str | dict[str, Any], message_id: str = "") -> list[Neutral]:
        """Give what one LangChain block means."""
        if isinstance(block, str):
            return [c.TextBlock(text=block)]
        kind = str(block.get("type", "text"))
        if kind in ("text", "text-plain", "output_text"):
            return self._text(block, message_id)
        if kind in ("reasoning", "thinking"):
            text = block.get("reasoning") or block.get("thinking") or _summary(block)
            return [ev.Thought(message_id=message_id, delta=text, signature=_signature(block))]
        if kind in _MEDIA:
            return [self._media(kind, block)]
        if kind == "image_url":
            return [self._image_url(block)]
        if kind == "file":
            return [self._file(block)]
        if kind in ("tool_call", "server_tool_call"):
            call_id = str(block.get("id") or "")
            said: list[Neutral] = [
                ev.ToolCall(call_id=call_id, name=str(block.get("name") or "tool"), message_id=message_id)
            ]
            if block.get("args") is not None:
                said.append(ev.ToolUpdate(call_id=call_id, input=block["args"]))
            return said
        if kind == "server_tool_result":
            status: ev.ToolStatus = "failed" if block.get("status") == "error" else "completed"
            call_id = str(block.get("tool_call_id") or "")
            return [ev.ToolUpdate(call_id=call_id, status=status, raw_output=block.get("output"))]
        return [ev.Raw(source="langchain", payload=block)]

    def _text(self, block: dict[str, Any], message_id: str) -> list[Neutral]:
        said: list[Neutral] = [c.TextBlock(text=str(block.get("text", "")))]
        for number, note in enumerate(cast("list[dict[str, Any]]", block.get("annotations") or [])):
            if note.get("type") == "citation":
                said.append(
                    ev.Source(
                        message_id=message_id,
                        source_id=str(note.get("id") or note.get("url") or f"{message_id}:{number}"),
                        url=note.get("url"),
                        title=note.get("title"),
                        document=note.get("cited_text") if not note.get("url") else None,
                    )
                )
        return said

    def _media(self, kind: str, block: dict[str, Any]) -> c.Content:
        source = cast("dict[str, Any]", block.get("source") or {})
        mime = block.get("mime_type") or source.get("media_type") or _DEFAULT_MIME[kind]
        data = block.get("base64") or block.get("data") or source.get("data")
        url = block.get("url") or source.get("url")
        if url is None and data is None and block.get("file_id"):
            url = f"file:{block['file_id']}"
        return _MEDIA[kind](mime_type=str(mime), data=data, url=url, meta=_rest(block))

    def _image_url(self, block: dict[str, Any]) -> c.Content:
        found: Any = block.get("image_url")
        url = str(cast("dict[str, Any]", found).get("url", "")) if isinstance(found, dict) else str(found)
        if url.startswith("data:") and ";base64," in url:
            mime, _, data = url[5:].partition(";base64,")
            return c.ImageBlock(mime_type=mime, data=data)
        return c.ImageBlock(mime_type="image/*", url=url)

    def _file(self, block: dict[str, Any]) -> c.Content:
        name = str(block.get("filename") or block.get("name") or "file")
        mime = block.get("mime_type")
        data = block.get("base64") or block.get("data")
        if data is not None:
            return c.ResourceBlock(uri=f"file:{name}", data=data, mime_type=mime)
        uri = str(block.get("url") or f"file:{block.get('file_id') or name}")
        return c.LinkBlock(uri=uri, name=name, mime_type=mime)

    def content_of(self, content: Any) -> tuple[c.Content, ...]:
        """Give the blocks of a message or a tool result that are content in our sense."""
        blocks: list[c.Content] = []
        for block in [content] if isinstance(content, str) else cast("list[Any]", content or []):
            blocks += [item for item in self.to_neutral(block) if isinstance(item, c.Block)]
        return tuple(blocks)

    # -- neutral to LangChain ----------------------------------------------------------------------

    def from_neutral(self, block: c.Content) -> dict[str, Any]:
        """Give our block as a LangChain standard block."""
        if isinstance(block, c.TextBlock):
            made: dict[str, Any] = {"type": "text", "text": block.text}
            return made if block.annotations is None else made | {"annotations": [block.annotations]}
        if isinstance(block, c.ImageBlock | c.AudioBlock | c.VideoBlock):
            kind = type(block).__name__.removesuffix("Block").lower()
            place = {"base64": block.data} if block.data is not None else {"url": block.url}
            return {"type": kind, "mime_type": block.mime_type, **place}
        if isinstance(block, c.ResourceBlock):
            if block.text is not None:
                return {"type": "text", "text": f'<resource uri="{block.uri}">\n{block.text}\n</resource>'}
            mime = block.mime_type or "application/octet-stream"
            return {"type": "file", "base64": block.data or "", "mime_type": mime, "filename": block.uri}
        if isinstance(block, c.LinkBlock):
            return {"type": "text", "text": f"[{block.title or block.name}]({block.uri})"}
        if isinstance(block, c.DiffBlock):
            return {"type": "text", "text": f"{block.path}:\n{block.new or ''}"}
        if isinstance(block, c.SourceBlock):
            return {"type": "text", "text": block.title or block.url or block.source_id}
        return {"type": "text", "text": f"[terminal {block.terminal_id}]"}

    def message_content(self, content: Iterable[c.Content]) -> str | list[dict[str, Any]]:
        """Give a prompt as a message's content: plain text stays plain."""
        blocks = tuple(content)
        if all(isinstance(block, c.TextBlock) for block in blocks):
            return "\n".join(block.text for block in blocks if isinstance(block, c.TextBlock))
        return [self.from_neutral(block) for block in blocks]

    # -- for ACP, in one step ----------------------------------------------------------------------

    def to_acp(self, block: str | dict[str, Any]) -> list[dict[str, Any]]:
        """Give a LangChain block as ACP content blocks."""
        from trunkline.frontends.acp.blocks import block_to_wire

        return [block_to_wire(item) for item in self.to_neutral(block) if isinstance(item, c.Block)]

    def to_langchain(self, block: dict[str, Any]) -> dict[str, Any]:
        """Give an ACP content block as a LangChain standard block."""
        from trunkline.frontends.acp import wire
        from trunkline.frontends.acp.blocks import blocks_from_wire
        from trunkline.frontends.acp.lossless import decode

        return self.from_neutral(blocks_from_wire([decode(wire.ContentBlock, block)])[0])


def _summary(block: dict[str, Any]) -> str:
    summary: Any = block.get("summary")
    if isinstance(summary, str):
        return summary
    return "".join(str(part.get("text", "")) for part in cast("list[dict[str, Any]]", summary or []))


def _signature(block: dict[str, Any]) -> str | None:
    extras = cast("dict[str, Any]", block.get("extras") or {})
    return block.get("signature") or extras.get("signature")


def _rest(block: dict[str, Any]) -> dict[str, Any] | None:
    known = {"type", "mime_type", "base64", "data", "url", "source", "id", "index", "file_id"}
    kept = {key: value for key, value in block.items() if key not in known}
    return {"langchain": kept} if kept else None
