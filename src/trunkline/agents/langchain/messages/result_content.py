"""What a ``content_mapper`` gives, read as content: texts, our blocks, or dicts of ACP, MCP or LangChain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

import msgspec

from trunkline import content as c
from trunkline.agents.langchain.messages.content_mapper import ContentBlockMapper
from trunkline.agents.langchain.user_functions import UserFunction, check_function, contain

ContentMapper = Callable[
    [Any], "Iterable[str | c.Content | dict[str, Any]] | str | c.Content | dict[str, Any] | None"
]
"""From a tool's message to what is shown of it; None leaves it as it is."""

_MAPPER = ContentBlockMapper()
_WIRE_ONLY = ("resource", "resource_link")
"""Types of blocks that ACP and MCP have, and LangChain does not."""


def contain_content_mapper(mapper: ContentMapper | None) -> UserFunction | None:
    """Give a mapper whose result is read as content, and which never raises."""
    if mapper is None or isinstance(mapper, UserFunction):
        return mapper
    check_function(mapper, "content_mapper")

    def read(message: Any) -> tuple[c.Content, ...] | None:
        return read_content(mapper(message))

    return contain(read, "content_mapper", "results are shown as they are")


def read_content(given: Any) -> tuple[c.Content, ...] | None:
    """Read what stands for a result: one block or several; TypeError for anything else."""
    if given is None:
        return None
    # Models of pydantic can be iterated too.
    single = isinstance(given, str | Mapping | c.Block) or hasattr(given, "model_dump")
    items = (
        list(cast("Iterable[Any]", given))
        if not single and isinstance(given, Iterable)
        else [cast("Any", given)]
    )
    return tuple(block for item in items for block in _read(item))


def _read(item: Any) -> tuple[c.Content, ...]:
    if isinstance(item, str | c.Block):
        return c.as_content(cast("str | c.Content", item))
    if isinstance(item, msgspec.Struct):
        item = msgspec.to_builtins(item)
    elif hasattr(item, "model_dump"):  # The blocks of the MCP SDK are models of pydantic.
        item = item.model_dump(mode="json", by_alias=True, exclude_none=True)
    block = dict(cast("Mapping[str, Any]", item)) if isinstance(item, Mapping) else {}
    try:
        found = _read_dict(block)
    except (KeyError, msgspec.ValidationError) as error:
        raise TypeError(f"{_about(item)}: {error}") from None
    if not found:
        raise TypeError(_about(item))
    return found


def _read_dict(block: dict[str, Any]) -> tuple[c.Content, ...]:
    kind = block.get("type")
    if kind == "content":
        return _read(block["content"])
    if kind == "diff":
        return (c.DiffBlock(path=block["path"], old=block.get("oldText"), new=block["newText"]),)
    if kind == "terminal":
        return (c.TerminalBlock(terminal_id=block["terminalId"]),)
    if kind in _WIRE_ONLY or "mimeType" in block or isinstance(block.get("annotations"), dict):
        block = _MAPPER.to_langchain(block)
    return _MAPPER.content_of([block])


def _about(item: Any) -> str:
    return (
        "a content_mapper gives None, a text, a content block, a dict of ACP, MCP or LangChain, "
        f"or a list of these, not {item!r}"
    )
