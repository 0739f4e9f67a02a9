"""The HTML of an exported conversation in a browser."""

from pathlib import Path

from tests.browser.chromium import Browser
from trunkline import events as ev
from trunkline.content import DiffBlock
from trunkline.exports.html import as_html
from trunkline.folding import fold
from trunkline.journal import SessionInfo
from trunkline.questions import Link

WORD = "x" * 600


def test_no_long_word_makes_the_page_wider_than_its_window(browser: Browser, tmp_path: Path) -> None:
    events: list[ev.Event] = [
        ev.TurnStarted(turn_id="t"),
        ev.Text(turn_id="t", message_id="m", delta=WORD),
        ev.ToolCall(turn_id="t", call_id="c", name=WORD, title=WORD, message_id="m"),
        ev.ToolUpdate(turn_id="t", call_id="c", content=(DiffBlock(path=WORD, old="", new=WORD),)),
        ev.Asked(turn_id="t", question_id="q", question=Link(message=WORD, url=f"https://{WORD}")),
        ev.Source(turn_id="t", message_id="m", source_id="s", url=WORD, title=WORD),
        ev.Plan(turn_id="t", entries=(ev.PlanEntry(content=WORD),)),
        ev.TurnFailed(turn_id="t", code="x", message=WORD),
    ]
    info = SessionInfo(principal="local", session_id=WORD, target=WORD, title=WORD)
    file = tmp_path / "talk.html"
    file.write_text(as_html(info, fold(events)), "utf-8")
    page = browser.open(file.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0
    page.close()
