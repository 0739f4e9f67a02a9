"""Outputs of tools as content: text, images and files, and what the tools of the SDK itself print."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from trunkline import content as c
from trunkline import events as ev
from trunkline.agents.openai.stream_events.fields import as_json, field, list_field, number_field, text_field

_FILE_ID = "file-id:"
_REASON_LENGTH = 500


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """How a call ended."""

    status: ev.ToolStatus = "completed"
    content: tuple[c.Content, ...] = ()
    raw_output: Any = None
    reason: str | None = None


def failed(content: tuple[c.Content, ...], raw_output: Any, reason: str | None = None) -> Outcome:
    """A call that failed; its reason is what it printed, where nothing else is known."""
    text = reason or c.text_of(content) or "the tool failed"
    return Outcome(status="failed", content=content, raw_output=raw_output, reason=text[:_REASON_LENGTH])


def read_output(item: Any, returned: Any = None) -> Outcome:
    """Read an output item; ``returned`` is what the tool itself gave, where that is known."""
    kind, output = text_field(item, "type"), field(item, "output")
    raw = as_json(output if returned is None else returned)
    match kind:
        case "shell_call_output":
            content = shell_content(output)
            raw = as_json(output)
            if any(
                text_field(field(one, "outcome"), "type") == "timeout" for one in list_field(item, "output")
            ):
                return failed(content, raw, "the command took too long")
        case "computer_call_output":
            content = content_of([{"type": "input_image", "image_url": field(output, "image_url")}])
            raw = None
        case "program_output":
            content, raw = content_of(field(item, "result")), as_json(field(item, "result"))
        case "tool_search_output":
            names = [name for tool in list_field(item, "tools") if (name := _tool_name(tool))]
            content, raw = content_of(", ".join(names)), as_json(field(item, "tools"))
        case _:
            content = content_of(output)
    if text_field(item, "status") in ("failed", "incomplete"):
        return failed(content, raw)
    return Outcome(content=content, raw_output=raw)


def content_of(output: Any) -> tuple[c.Content, ...]:
    """Read an output as the model gets it: text, or a list of texts, images and files."""
    if output is None or output == "":
        return ()
    if isinstance(output, str):
        return (c.TextBlock(text=output),)
    parts = cast("list[Any]", output) if isinstance(output, list | tuple) else [output]
    return tuple(block for part in parts for block in _read_part(part))


def _read_part(part: Any) -> tuple[c.Content, ...]:
    match text_field(part, "type"):
        case "input_text" | "output_text" | "text":
            return content_of(text_field(part, "text"))
        case "input_image" | "image":
            return _image(
                text_field(part, "image_url") or text_field(part, "url"), text_field(part, "file_id")
            )
        case "input_file" | "file":
            return _file(part)
        case _:
            if isinstance(part, str):
                return content_of(part)
            return (c.TextBlock(text=msgspec.json.encode(as_json(part)).decode()),)


def _image(url: str, file_id: str) -> tuple[c.Content, ...]:
    mime, data = read_data_url(url)
    if data is not None:
        return (c.ImageBlock(mime_type=mime or "image/png", data=data),)
    if not url and not file_id:
        return ()
    return (c.ImageBlock(mime_type="image/*", url=url or f"{_FILE_ID}{file_id}"),)


def _file(part: Any) -> tuple[c.Content, ...]:
    name, given = text_field(part, "filename"), text_field(part, "file_data")
    if given:
        mime, data = read_data_url(given)
        found = data if data is not None else given
        return (c.ResourceBlock(uri=f"file:{name or 'data'}", data=found, mime_type=mime),)
    uri = text_field(part, "file_url")
    if not uri and (file_id := text_field(part, "file_id")):
        uri = f"{_FILE_ID}{file_id}"
    return (c.LinkBlock(uri=uri, name=name or uri.rpartition("/")[2] or uri),) if uri else ()


def read_data_url(url: str) -> tuple[str | None, str | None]:
    """The media type and the base64 data of a ``data:`` address; (None, None) for any other."""
    head, comma, data = url.partition(",")
    if not head.startswith("data:") or not comma or ";base64" not in head:
        return None, None
    return head.removeprefix("data:").partition(";")[0] or None, data


def shell_content(output: Any) -> tuple[c.Content, ...]:
    """What commands printed, one after the other, and the exit codes that are not 0."""
    if not isinstance(output, list | tuple):
        return content_of(output)
    pieces: list[str] = []
    for command in cast("list[Any]", output):
        pieces += [text for name in ("stdout", "stderr") if (text := text_field(command, name))]
        outcome = field(command, "outcome")
        if text_field(outcome, "type") == "exit" and (code := number_field(outcome, "exit_code")):
            pieces.append(f"exit code {code}")
    return tuple(c.TextBlock(text=piece) for piece in pieces)


def _tool_name(tool: Any) -> str:
    return text_field(tool, "name") or text_field(tool, "server_label") or text_field(tool, "type")
