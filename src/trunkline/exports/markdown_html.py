"""Markdown of an agent as HTML that runs nothing and leads nowhere: tags are text, links told in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_LONGEST = 200_000
"""Characters of a text that is read as Markdown: a longer one is shown as it is."""
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f]")


def show_controls(text: str) -> str:
    """Show a control character that a browser could act on."""
    return _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def markdown_html(text: str) -> str:
    """Give a text as HTML."""
    text = show_controls(text.replace("\r\n", "\n"))
    if len(text) > _LONGEST:
        return f'<div class="text">{escape(text)}</div>'
    parser = _parser()
    tokens = parser.parse(text)
    _settle(tokens)
    return f'<div class="said">{parser.renderer.render(tokens, parser.options, {})}</div>'


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # A start that exports nothing needs it not.

    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["strikethrough", "table"])
    # A picture from elsewhere would be loaded: what is left of it is a link.
    parser.disable("image")
    rules: dict[str, Callable[..., str]] = {"link_open": _nothing, "link_close": _address}
    for name, rule in rules.items():
        parser.add_render_rule(name, rule)
    return parser


def _nothing(renderer: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    return ""


def _address(renderer: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    """Say where a link leads, unless its words do."""
    depth, text = 0, ""
    for token in map(tokens.__getitem__, range(index - 1, -1, -1)):
        depth += (token.type == "link_close") - (token.type == "link_open")
        if depth < 0:
            address = str(token.attrGet("href") or "")
            return "" if text == address else f" ({escape(address)})"
        text = token.content + text
    raise AssertionError("a link that ends has begun")


def _settle(tokens: Sequence[Token]) -> None:
    """Show what an entity became, and put headings below those of the document."""
    for token in tokens:
        token.content = show_controls(token.content)
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 2)}"
        _settle(token.children or ())
