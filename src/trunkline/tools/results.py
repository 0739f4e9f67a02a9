"""What a tool gave back: what a model reads of it, what people see of it, and its JSON; pure.

The model reads one string, the same in every framework. People see content: a table as Markdown, an
image, a diff, or text.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, cast

import msgspec

from trunkline.content import Block, Content, DiffBlock, ImageBlock, TextBlock, as_content, text_of

Shows = Literal["text", "table", "diff", "image"]

SHOWN = "trunkline"
"""The key under which a framework carries what people see of a result."""

_MOST_ROWS = 200
_MOST_CELL = 200
_IMAGES = {
    b"\x89PNG": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"RIFF": "image/webp",
}


class Table(msgspec.Struct, frozen=True, omit_defaults=True):
    """Rows under named columns; people see a table, the model reads its JSON."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]] = ()
    note: str | None = None
    """A sentence about the rows, for instance that there are more of them."""

    def __post_init__(self) -> None:
        """Refuse rows that do not fit the columns."""
        for number, row in enumerate(self.rows, 1):
            if len(row) != len(self.columns):
                raise ValueError(f"row {number} has {len(row)} values for {len(self.columns)} columns")

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]], note: str | None = None) -> Table:
        """Make a table of rows that name their columns; what a row lacks is None."""
        listed = [dict(row) for row in rows]
        columns = tuple(dict.fromkeys(str(key) for row in listed for key in row))
        return cls(columns, tuple(tuple(row.get(key) for key in columns) for row in listed), note)

    def markdown(self) -> str:
        """Write the table as Markdown; a very long one is cut, and says so."""
        lines = [_line(self.columns), _line(["---"] * len(self.columns))]
        lines += [_line(row) for row in self.rows[:_MOST_ROWS]]
        more = len(self.rows) - _MOST_ROWS
        notes = [*([f"… and {more} more rows"] if more > 0 else []), *([self.note] if self.note else [])]
        return "\n".join(lines) + "".join(f"\n\n{note}" for note in notes)


def _line(cells: Sequence[Any]) -> str:
    return f"| {' | '.join(_cell(cell) for cell in cells)} |"


def _cell(value: Any) -> str:
    plain = json_value(value)
    text = "" if plain is None else plain if isinstance(plain, str) else json_text(plain)
    text = " ".join(text.replace("|", "\\|").split())
    return text if len(text) <= _MOST_CELL else f"{text[: _MOST_CELL - 1]}…"


class ToolResult(msgspec.Struct, frozen=True):
    """A result of which people see something else than the model reads."""

    value: Any
    """What the model reads."""
    content: str | Content | Sequence[Content] = ()
    """What people see."""


def model_text(result: Any) -> str:
    """What a model reads of a result: text as it is, everything else as JSON."""
    if isinstance(result, ToolResult):
        return model_text(result.value)
    if isinstance(result, str):
        return result
    if result is None:
        return "done"
    if isinstance(result, bytes):
        return f"[{_mime_type(result)}, {len(result)} bytes]"
    blocks = _blocks(result)
    if blocks is not None:
        return "\n".join(_block_text(block) for block in blocks)
    return json_text(result)


def json_text(value: Any) -> str:
    """Write any value as JSON."""
    return _encoded(value).decode()


def json_value(result: Any) -> Any:
    """The JSON of a result, for programs."""
    if isinstance(result, ToolResult):
        return json_value(result.value)
    if isinstance(result, bytes):
        return model_text(result)
    return msgspec.json.decode(_encoded(result))


def shown_content(result: Any, shows: Shows = "text") -> tuple[Content, ...]:
    """What people see of a result."""
    if isinstance(result, ToolResult) and result.content:
        return as_content(result.content)
    value: Any = result.value if isinstance(result, ToolResult) else result
    blocks = _blocks(value)
    if blocks is not None:
        return blocks
    if isinstance(value, bytes):
        return (ImageBlock(mime_type=_mime_type(value), data=base64.b64encode(value).decode()),)
    if shows == "table" and _is_rows(value):
        value = Table.of(value)
    if isinstance(value, Table):
        return (TextBlock(text=value.markdown()),)
    if shows == "diff" and isinstance(value, Mapping) and "path" in value:
        return (_diff(cast("Mapping[str, Any]", value)),)
    if value is None or isinstance(value, str):
        return (TextBlock(text=value),) if value else ()
    text = msgspec.json.format(_encoded(value), indent=2).decode()
    return (TextBlock(text=f"```json\n{text}\n```"),)


def read_shown(artifact: Any) -> tuple[tuple[Content, ...], Any] | None:
    """Read what people see of a result, and its JSON, where a framework carried both along."""
    shown: Any = cast("dict[str, Any]", artifact).get(SHOWN) if isinstance(artifact, dict) else None
    if not isinstance(shown, dict):
        return None
    given = cast("dict[str, Any]", shown)
    try:
        return msgspec.convert(given.get("content", ()), tuple[Content, ...]), given.get("raw")
    except msgspec.ValidationError:
        return None  # Somebody else's, under our name.


def write_shown(result: Any, shows: Shows) -> dict[str, Any]:
    """Write what people see of a result as JSON, for a framework to carry along."""
    return {SHOWN: {"content": msgspec.to_builtins(shown_content(result, shows)), "raw": json_value(result)}}


def _blocks(value: Any) -> tuple[Content, ...] | None:
    if isinstance(value, Block):
        return (cast("Content", value),)
    many = cast("Sequence[Any]", value) if isinstance(value, list | tuple) else ()
    return tuple(many) if many and all(isinstance(one, Block) for one in many) else None


def _block_text(block: Content) -> str:
    if isinstance(block, DiffBlock):
        return f"{block.path}: {'removed' if block.new is None else 'written'}"
    return text_of((block,)) or f"[{getattr(block, 'mime_type', None) or type(block).__name__}]"


def _is_rows(value: Any) -> bool:
    many = cast("Sequence[Any]", value) if isinstance(value, list | tuple) else ()
    return bool(many) and all(isinstance(one, Mapping) for one in many)


def _diff(value: Mapping[str, Any]) -> DiffBlock:
    old, new = value.get("old"), value.get("new")
    return DiffBlock(path=str(value["path"]), old=_text(old), new=_text(new))


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _mime_type(data: bytes) -> str:
    return next((kind for start, kind in _IMAGES.items() if data.startswith(start)), "image/png")


def _encoded(value: Any) -> bytes:
    return msgspec.json.encode(msgspec.to_builtins(value, str_keys=True, enc_hook=_encode_other))


def _encode_other(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)  # A model of pydantic.
    return dump(mode="json") if callable(dump) else str(value)
