"""Parts that the screen draws with rich: markdown without air around it, and lines behind a bar."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement, TableElement
from rich.segment import Segment
from rich.style import Style
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from trunkline.safe_text import escape

_BAR = "  │ "


class LeftHeading(Heading):
    """A heading at the left, where the eye is; rich puts it into the middle."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw it bold, and the largest underlined."""
        yield Text(self.text.plain, style="bold underline" if self.tag == "h1" else "bold")


class TightCode(CodeBlock):
    """Code without empty lines above and below it."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw it a blank away from the edge."""
        code = str(self.text).rstrip()
        yield Syntax(code, self.lexer_name, theme=self.theme, word_wrap=True, padding=(0, 1))


class WholeTable(TableElement):
    """A table that breaks a long word in a narrow terminal; rich cuts its end off."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw it with all that its cells say."""
        for part in super().__rich_console__(console, options):
            if isinstance(part, Table):
                for column in part.columns:
                    column.overflow = "fold"
            yield part


class Answer(Markdown):
    """Markdown of an agent: links show where they lead, code has the terminal's own colours.

    Tags of HTML are text: without a browser they would be lost, and with them what was said. A line that the
    agent ended stays one: the output of a program, a poem or an address would run together.
    """

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": LeftHeading,
        "fence": TightCode,
        "code_block": TightCode,
        "table_open": WholeTable,
    }

    def __init__(self, markup: str) -> None:
        super().__init__("", hyperlinks=False, code_theme="ansi_dark")
        self.markup = markup
        parser = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])
        self.parsed = parser.parse(markup)
        _settle_tokens(self.parsed)


def _settle_tokens(tokens: Iterable[Token]) -> None:
    """Keep the ends of lines, and escape text once more: ``&#x202e;`` became its character only now."""
    for token in tokens:
        token.content = escape(token.content)
        if token.type == "softbreak":
            token.type = "hardbreak"
        _settle_tokens(token.children or ())
        if token.children:
            token.children = [part for child in token.children for part in _without_image(child)]


def _without_image(token: Token) -> list[Token]:
    """Put a link in the place of an image: rich draws images before their paragraph, without the address."""
    if token.type != "image":
        return [token]
    words = Token("text", "", 0, content=f"image: {token.content}" if token.content else "image")
    source = str(token.attrs.get("src", ""))
    if not source or source.startswith("data:"):
        return [words]
    return [Token("link_open", "a", 1, attrs={"href": source}), words, Token("link_close", "a", -1)]


class Trimmed:
    """Draws something without the empty lines around it and the blanks behind its lines."""

    def __init__(self, part: RenderableType) -> None:
        self._part = part

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw line by line."""
        lines = [_stripped(line) for line in console.render_lines(self._part, options, pad=False)]
        while lines and not lines[-1]:
            lines.pop()
        while lines and not lines[0]:
            lines.pop(0)
        for line in lines:
            yield from line
            yield Segment.line()


class Barred:
    """Draws something behind a bar that goes down at its left."""

    def __init__(self, part: RenderableType, colour: str) -> None:
        self._part = part
        self._style = Style.parse(f"dim {colour}")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw line by line."""
        inner = options.update(width=max(options.max_width - len(_BAR), 1))
        for line in console.render_lines(self._part, inner, pad=False):
            yield Segment(_BAR, self._style)
            yield from _stripped(line)
            yield Segment.line()


def _stripped(line: list[Segment]) -> list[Segment]:
    """Leave the blanks at the end of a line out."""
    line = list(line)
    while line and not line[-1].text.strip():
        line.pop()
    if line:
        last = line[-1]
        line[-1] = Segment(last.text.rstrip(), last.style, last.control)
    return line
