"""The HTML of a conversation: one file that runs nothing and shows everything as it was said."""

import base64
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunkline import events as ev
from trunkline.content import (
    AudioBlock,
    Content,
    DiffBlock,
    ImageBlock,
    LinkBlock,
    ResourceBlock,
    TerminalBlock,
    TextBlock,
)
from trunkline.exports.html import as_html
from trunkline.folding import fold
from trunkline.journal import SessionInfo
from trunkline.testing import ScriptedAgent, run_prompt

INFO = SessionInfo(principal="local", session_id="sess_1", target="demo", title="A title", created_at=60.0)
ALLOWED = {
    "html", "head", "meta", "title", "style", "body", "header", "h1", "h2", "p", "main", "article", "div",
    "details", "summary", "pre", "ins", "del", "img", "ul", "li",
}  # fmt: skip
MARKDOWN = {
    "h3", "h4", "h5", "h6", "strong", "em", "s", "code", "br", "hr", "ol", "blockquote", "table", "thead",
    "tbody", "tr", "th", "td",
}  # fmt: skip
"""What the text of an agent may become."""
ATTRIBUTES = {"lang", "charset", "http-equiv", "content", "name", "class", "style", "start"}


class Page(HTMLParser):
    """What a browser makes of it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.words += data


def said(*content: Content, text: str = "") -> Page:
    events: list[ev.Event] = [
        ev.TurnStarted(turn_id="t"),
        ev.UserMessage(turn_id="t", message_id="u", content=content),
        *([ev.Text(turn_id="t", message_id="m", delta=text)] if text else []),
        ev.TurnFinished(turn_id="t"),
    ]
    return Page(as_html(INFO, fold(events)))


@pytest.mark.parametrize(
    "scenario", ["/text", "/thoughts", "/tools", "/media", "/sources", "/plan", "/subagents", "/diff"]
)
async def test_every_kind_of_thing_is_shown_and_nothing_runs(scenario: str) -> None:
    page = Page(as_html(INFO, fold(await run_prompt(ScriptedAgent(), scenario))))
    assert set(page.tags) <= ALLOWED | MARKDOWN
    assert scenario in page.words
    assert not [name for name, _ in page.attributes if name.startswith("on") or name in ("href", "action")]
    assert all((value or "").startswith("data:image/") for name, value in page.attributes if name == "src")


@given(st.text(max_size=80))
def test_no_word_becomes_a_tag(text: str) -> None:
    attack = f'</pre></style><script>alert(1)</script><img src=x onerror="x">{text}'
    info = SessionInfo(principal="p", session_id=attack, target=attack, title=attack)
    events: list[ev.Event] = [
        ev.TurnStarted(turn_id="t"),
        ev.UserMessage(
            turn_id="t", message_id="u", content=(TextBlock(text=attack), LinkBlock(uri=attack, name=attack))
        ),
        ev.Text(turn_id="t", message_id="m", delta=attack),
        ev.Thought(turn_id="t", message_id="m", delta=attack),
        ev.ToolCall(turn_id="t", call_id="c", name=attack, title=attack, message_id="m"),
        ev.ToolUpdate(
            turn_id="t",
            call_id="c",
            status="failed",
            reason=attack,
            input={attack: attack},
            output=attack,
            content=(
                DiffBlock(path=attack, old=attack, new=attack + "x"),
                ResourceBlock(uri=attack, text=attack),
            ),
        ),
        ev.Source(turn_id="t", message_id="m", source_id="s", url=attack, title=attack),
        ev.Plan(turn_id="t", entries=(ev.PlanEntry(content=attack),)),
        ev.TurnFailed(turn_id="t", code="x", message=attack, fault="ours"),
    ]
    page = Page(as_html(info, fold(events)))
    assert set(page.tags) <= (ALLOWED | MARKDOWN) - {"img"}
    assert {name for name, _ in page.attributes} <= ATTRIBUTES
    assert page.words.count("<script>alert(1)</script>") >= 12


def test_an_image_is_inside_the_file_and_only_if_it_is_one() -> None:
    data = base64.b64encode(b"png").decode()
    fine = said(ImageBlock(mime_type="image/png", data=data))
    assert ("src", f"data:image/png;base64,{data}") in fine.attributes
    others = [
        ImageBlock(mime_type="image/svg+xml", data=data),
        ImageBlock(mime_type="image/png", data='"><script>'),
        ImageBlock(mime_type='image/png"><script>', data=data),
        ImageBlock(mime_type="image/png", url="https://example.com/a.png"),
        ImageBlock(mime_type="image/png", blob="sha256:1"),
        AudioBlock(mime_type="audio/wav", data=data),
        TerminalBlock(terminal_id="t"),
    ]
    page = said(*others)
    assert "img" not in page.tags
    assert "script" not in page.tags
    assert "[audio audio/wav]" in page.words


def test_a_change_of_a_file_is_marked_line_by_line() -> None:
    page = said(DiffBlock(path="a.txt", old="one\ntwo\n", new="one\n2\n"))
    assert {"ins", "del"} <= set(page.tags)
    assert "-two" in page.words
    assert "+2" in page.words


def test_a_very_long_change_is_cut() -> None:
    page = said(DiffBlock(path="a.txt", new="x\n" * 5000))
    assert page.words.count("+x") == 2000
    assert "…" in page.words


def test_how_turns_ended_and_when_they_began_is_said() -> None:
    ends: list[tuple[ev.Event, str]] = [
        (ev.TurnFinished(turn_id="t", stop_reason="cancelled"), "Stopped: cancelled"),
        (ev.TurnFailed(turn_id="t", code="boom", message="it broke", fault="agent"), "Failed: it broke"),
    ]
    for end, expected in ends:
        events = [ev.TurnStarted(turn_id="t"), ev.Text(turn_id="t", message_id="m", delta="hi"), end]
        page = Page(as_html(INFO, fold(events)))
        assert expected in page.words
        assert "begun 1970-01-01 00:01 UTC" in page.words


def test_control_characters_are_shown() -> None:
    assert "\\x1b[2J\\x00" in said(text="\x1b[2J\x00").words


def test_calls_that_belong_to_no_message_are_shown_where_they_were_made() -> None:
    events: list[ev.Event] = [
        ev.TurnStarted(turn_id="t"),
        ev.UserMessage(turn_id="t", message_id="u", content=(TextBlock(text="Look"),)),
        ev.ToolCall(turn_id="t", call_id="c", name="find"),
        ev.Text(turn_id="t", message_id="a", delta="I look again."),
        ev.ToolCall(turn_id="t", call_id="d", name="read"),
    ]
    words = Page(as_html(INFO, fold(events))).words
    order = [words.index(word) for word in ("Look", "Agent", "find", "I look again.", "read")]
    assert order == sorted(order)


async def test_the_output_of_a_terminal_is_there() -> None:
    page = Page(as_html(INFO, fold(await run_prompt(ScriptedAgent(), "/terminal"))))
    assert "line 1\nline 2\nline 3" in page.words
