"""Writing on our own page: history, completions, attachments, and words while the agent works."""

import base64
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.browser.own_page import ANSWER, COMPOSER, QUESTION, STOP, OwnPage
from tests.demos.finance.statements.bank_files import SPARKASSE

pytestmark = pytest.mark.slow

Converse = Callable[..., OwnPage]

PERSON = ".message.person:not(.on-the-way)"


def png() -> bytes:
    """The smallest picture: one red pixel."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big")

    head = (1).to_bytes(4, "big") * 2 + bytes([8, 2, 0, 0, 0])
    pixels = zlib.compress(b"\0\xff\0\0")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def events(talk: OwnPage, kind: str) -> list[dict[str, Any]]:
    """What the journal has of a kind of event."""
    records = talk.ask("GET", f"/sessions/{quote(talk.session, safe='')}")["records"]
    return [record["event"] for record in records if record.get("event", {}).get("type") == kind]


def test_lines_history_and_a_draft_that_survives_a_reload(converse: Converse) -> None:
    talk = converse()
    page = talk.page
    page.fill(COMPOSER, "first line")
    page.press("Shift+Enter", COMPOSER)
    page.evaluate("document.execCommand('insertText', false, 'second line')")
    page.press("Enter", COMPOSER)
    page.see(PERSON, "second line")
    assert page.texts(f"{PERSON} .said") == ["first line\nsecond line"]
    talk.rests()
    talk.say("another message")
    talk.hears("another message")
    talk.rests()
    page.press("ArrowUp", COMPOSER)
    assert page.evaluate("document.querySelector('[data-composer]').value") == "another message"
    page.press("ArrowUp", COMPOSER)
    page.wait("document.querySelector('[data-composer]').value.startsWith('first line')")
    page.press("ArrowDown", COMPOSER)
    page.press("ArrowDown", COMPOSER)
    page.wait("document.querySelector('[data-composer]').value === ''")
    # In Safari the Enter that ends a word of an input method comes after the word.
    page.fill(COMPOSER, "half a thought")
    page.evaluate(
        "document.querySelector('[data-composer]').dispatchEvent("
        "new KeyboardEvent('keydown', { key: 'Enter', keyCode: 229, bubbles: true, cancelable: true }))"
    )
    page.reload()
    page.see(COMPOSER)
    page.wait("document.querySelector('[data-composer]')?.value === 'half a thought'")


def test_commands_are_completed(converse: Converse) -> None:
    talk = converse()
    page = talk.page
    page.fill(COMPOSER, "/para")
    page.see(".suggestions [aria-selected=true]", "/parallel-tools")
    page.press("Tab", COMPOSER)
    page.wait("document.querySelector('[data-composer]').value === '/parallel-tools '")
    page.miss(".suggestions")
    page.press("Enter", COMPOSER)
    talk.hears("Oslo has")
    talk.rests()
    page.fill(COMPOSER, "/")
    page.see(".suggestions li", "/slow how many steps")
    page.press("ArrowUp", COMPOSER)
    page.see(".suggestions [aria-selected=true]", "/notice")
    page.press("Escape", COMPOSER)
    page.miss(".suggestions")


def test_attachments_come_by_button_paste_and_drop(converse: Converse, tmp_path: Path) -> None:
    talk = converse()
    page = talk.page
    notes = tmp_path / "notes.md"
    notes.write_text("# Notes\n", encoding="utf-8")
    page.attach(".composer input[type=file]", notes)
    page.see(".attachments li", "notes.md")
    encoded = base64.b64encode(png()).decode()
    make = (
        f"const bytes = Uint8Array.from(atob('{encoded}'), (c) => c.charCodeAt(0));"
        "const data = new DataTransfer(); data.items.add(new File([bytes], NAME, {type: 'image/png'}));"
        "const field = document.querySelector('[data-composer]');"
    )
    init = "bubbles: true, cancelable: true"
    paste = f"field.dispatchEvent(new ClipboardEvent('paste', {{clipboardData: data, {init}}}))"
    page.evaluate(f"(() => {{ {make.replace('NAME', repr('pasted.png'))} {paste} }})()")
    page.see(".attachments li img")
    page.see(".attachments li", "pasted.png")
    # A file may be dropped anywhere.
    drop = f"document.body.dispatchEvent(new DragEvent('drop', {{dataTransfer: data, {init}}}))"
    page.evaluate(f"(() => {{ {make.replace('NAME', repr('dropped.png'))} {drop} }})()")
    page.see(".attachments li", "dropped.png")
    page.click(".attachments li button", "Remove dropped.png")
    page.fill(COMPOSER, "what are these?")
    page.press("Enter", COMPOSER)
    page.see(f"{PERSON} img")
    talk.rests()
    said = events(talk, "user_message")[-1]["content"]
    assert [block["type"] for block in said] == ["text", "resource", "image"]
    assert said[1]["text"] == "# Notes\n"
    assert base64.b64decode(said[2]["data"]) == png()
    page.miss(".attachments")


def test_a_file_of_a_bank_in_an_old_encoding_keeps_its_letters(converse: Converse, tmp_path: Path) -> None:
    talk = converse("finance")
    (tmp_path / "bank.csv").write_bytes(SPARKASSE.data)
    talk.page.attach(".composer input[type=file]", tmp_path / "bank.csv")
    talk.page.see(".attachments li", "bank.csv")
    talk.say("import this file")
    talk.page.see(QUESTION, "Müller & Söhne")
    talk.page.click(f"{QUESTION} button", "Reject", nth=0)
    talk.page.miss(QUESTION)


def test_a_message_waits_joins_or_is_taken_back_while_the_agent_works(converse: Converse) -> None:
    talk = converse()
    page = talk.page
    talk.say("/slow 600 0.05")
    talk.hears("step 2")
    talk.say("this one waits")
    page.see(".queue li", "this one waits")
    talk.say("this one goes")
    page.see(".queue li", "this one goes")
    page.click(".queue li:has-text('this one goes') button")
    page.miss(".queue li:has-text('this one goes')")
    page.click(".segments label", "Steer")
    talk.say("and this would join")
    page.see(".queue li", "and this would join")
    page.press("Escape", COMPOSER)
    talk.hears("this one waits")
    talk.hears("and this would join")
    talk.rests()
    assert not page.count(PERSON, "this one goes")
    assert "step 600" not in "".join(talk.answers())
    page.see(".turn-end", "Stopped")


def test_a_message_joins_a_turn_whose_agent_can_take_it(converse: Converse) -> None:
    talk = converse("hostile")
    page = talk.page
    talk.say("steered")
    talk.hears("I listen while I work.")
    page.click(".segments label", "Steer")
    talk.say("turn left")
    talk.hears("You joined with: turn left")
    talk.rests()
    assert page.texts(f"{PERSON} .said") == ["steered", "turn left"]
    assert len(events(talk, "turn_started")) == 1
    page.evaluate("localStorage.clear()")


def test_the_stop_button_stops(converse: Converse) -> None:
    talk = converse()
    talk.say("/wait-for-cancel")
    talk.page.click(STOP)
    talk.rests()
    talk.page.see(".turn-end", "Stopped")
    talk.say("still there?")
    talk.hears("still there?")


def test_a_message_is_edited_and_answered_again(converse: Converse) -> None:
    talk = converse()
    page = talk.page
    talk.say("the first")
    talk.hears("the first")
    talk.rests()
    talk.say("the secnd")
    talk.hears("the secnd")
    talk.rests()
    page.click(f"{PERSON}:has-text('the secnd') button", "Edit message")
    page.fill(".editing textarea", "a text of several lines " * 20)
    field = "document.querySelector('.editing textarea')"
    page.wait(f"{field}.clientHeight === {field}.scrollHeight")
    page.fill(".editing textarea", "the second")
    page.press("Enter", ".editing textarea")
    page.see(PERSON, "the second")
    page.miss(f"{PERSON}:has-text('the secnd')")
    talk.rests()
    page.wait("document.querySelectorAll('.message.agent').length === 2")
    # An answer in the middle takes more than itself back.
    page.click(f"{PERSON}:has-text('the first') button", "Answer again")
    page.click("dialog button", "Cancel")
    page.miss("dialog")
    assert page.count(PERSON, "the second") == 1
    page.click(f"{PERSON}:has-text('the first') button", "Answer again")
    page.click("dialog button", "Answer again")
    page.miss(f"{PERSON}:has-text('the second')")
    page.see(PERSON, "the first")
    page.wait("document.querySelectorAll('.message.agent').length === 1")
    talk.rests()
    assert page.texts(f"{PERSON} .said") == ["the first"]
    assert len(page.texts(ANSWER)) == 1


def test_an_edited_message_keeps_its_files_in_sight(converse: Converse, tmp_path: Path) -> None:
    talk = converse()
    page = talk.page
    (tmp_path / "notes.md").write_text("# Notes\n", encoding="utf-8")
    page.attach(".composer input[type=file]", tmp_path / "notes.md")
    page.see(".attachments li", "notes.md")
    talk.say("look at thiss")
    talk.hears("look at thiss")
    talk.rests()
    page.click(f"{PERSON} button", "Edit message")
    page.see(".editing .kept", "notes.md")
    page.fill(".editing textarea", "look at this")
    page.press("Enter", ".editing textarea")
    page.see(f"{PERSON}:has-text('look at this')", "notes.md")
    talk.rests()
    assert [block["type"] for block in events(talk, "user_message")[-1]["content"]] == ["text", "resource"]


def test_two_messages_that_are_answered_again_at_once_take_their_turn(converse: Converse) -> None:
    talk = converse()
    page = talk.page
    for words in ("the first", "the second"):
        talk.say(words)
        talk.hears(words)
        talk.rests()
    first_sent = page.evaluate(f"document.querySelector('{PERSON}').dataset.message")
    # The network holds commands back until both were asked for.
    page.evaluate(
        "const real = window.fetch;"
        "const held = new Promise((release) => { window.release = release; });"
        "window.fetch = async (...args) => {"
        "  if (args[1]?.method === 'POST') await held;"
        "  return real(...args);"
        "};"
    )
    page.click(f"{PERSON}:has-text('the second') button", "Answer again")
    page.click(f"{PERSON}:has-text('the first') button", "Answer again")
    page.click("dialog button", "Answer again")
    page.miss("dialog")
    page.evaluate("window.release()")
    sent = f"[...document.querySelectorAll('{PERSON}')].map((message) => message.dataset.message)"
    page.wait(f"(({{ length, 0: id }}) => length === 1 && id !== '{first_sent}')({sent})")
    talk.hears("the first")
    talk.rests()
    assert page.texts(f"{PERSON} .said") == ["the first"]
    assert len(page.texts(ANSWER)) == 1


def test_the_focus_goes_where_one_goes_on_when_a_message_is_edited_or_answered_again(
    converse: Converse,
) -> None:
    talk = converse()
    page = talk.page
    on_composer = f"document.activeElement.matches('{COMPOSER}')"
    for words in ("the first", "the second"):
        talk.say(words)
        talk.hears(words)
        talk.rests()
    page.click(f"{PERSON}:has-text('the second') button", "Edit message")
    # At once: what is typed in the next frame is meant for the field.
    page.evaluate("new Promise(requestAnimationFrame)")
    assert page.evaluate("document.activeElement.id") == "edit-message"
    page.press("Escape")
    page.miss(".editing")
    page.wait("document.activeElement.textContent.includes('Edit message')")
    page.press("Enter")
    page.press("End", ".editing textarea")
    page.press("!")
    page.press("Enter")
    page.see(PERSON, "the second!")
    page.wait(on_composer)
    talk.rests()
    page.click(f"{PERSON}:has-text('the second!') button", "Answer again")
    page.wait(on_composer)
    talk.rests()
    page.click(f"{PERSON}:has-text('the first') button", "Answer again")
    page.click("dialog button", "Answer again")
    page.miss(f"{PERSON}:has-text('the second!')")
    page.wait(on_composer)
    talk.rests()
