"""The Markdown of an agent in an exported file: drawn, and harmless."""

import time
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.exports.test_html import ALLOWED, MARKDOWN

from trunkline.exports.markdown_html import markdown_html


def inside(text: str) -> str:
    return markdown_html(text).removeprefix('<div class="said">').removesuffix("</div>").strip()


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a **bold** `x<y`\nnext", "<p>a <strong>bold</strong> <code>x&lt;y</code><br>\nnext</p>"),
        ("# Top", "<h3>Top</h3>"),
        ("###### Low", "<h6>Low</h6>"),
        ("[here](https://example.com/a?b&c)", "<p>here (https://example.com/a?b&amp;c)</p>"),
        ("<https://example.com>", "<p>https://example.com</p>"),
        ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>"),
        ("![pixel](https://example.com/p.png)", "<p>!pixel (https://example.com/p.png)</p>"),
        ("<b onclick='x'>b</b>", "<p>&lt;b onclick='x'&gt;b&lt;/b&gt;</p>"),
        ("&#27;[2J \x1b \x00", "<p>\ufffd[2J \\x1b \\x00</p>"),
    ],
)
def test_markdown_is_drawn_and_leads_nowhere(text: str, html: str) -> None:
    assert inside(text).replace("<br />", "<br>") == html


def test_the_time_for_many_links_grows_with_their_number() -> None:
    begun = time.process_time()
    assert inside("[a](b)" * 33_000).count("(b)") == 33_000
    assert time.process_time() - begun < 3


def test_a_table_has_cells() -> None:
    html = inside("| a | b |\n|---|--:|\n| 1 | 2 |")
    assert html.count("<td") == 2
    assert '<td style="text-align:right">2</td>' in html


def test_a_text_that_is_very_long_is_shown_as_it_is() -> None:
    assert markdown_html("**x** " * 50_000).startswith('<div class="text">**x** **x**')


class Tags(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add(tag)
        self.attributes |= {name for name, _ in attrs}


PIECES = [
    "<a href=x>",
    "](",
    "[",
    "!",
    "`",
    "```",
    "\n",
    "&lt;",
    "\\",
    "<!--",
    "javascript:x",
    '"',
    "'>",
    "|",
    "- ",
]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=30).map("".join))
def test_no_text_becomes_a_tag_or_an_attribute_that_does_something(text: str) -> None:
    tags = Tags(markdown_html(text))
    assert tags.found <= (ALLOWED | MARKDOWN) - {"img", "script", "style"}
    assert tags.attributes <= {"class", "style", "start"}
