"""The shell of our own page: conversations, settings, colours, sizes, keys and axe."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser.chromium import Browser
from tests.browser.own_page import ANSWER, COMPOSER, QUESTION, STOP, OwnPage
from tests.browser.servers import SECRET, serve_agent
from tests.cli.child_programs import run
from tests.hubs import opened
from trunkline.events import Text, TurnFinished, TurnStarted
from trunkline.journal import Lease, Record, SessionInfo, SessionKey
from trunkline.journal.sqlite import SqliteJournal

pytestmark = pytest.mark.slow

Converse = Callable[..., OwnPage]

CURRENT = ".session.current"


def contrast(talk: OwnPage) -> float:
    """The contrast of the page's text and background, as WCAG counts it."""
    return talk.page.evaluate(
        """(() => {
          const light = (color) => {
            const [r, g, b] = color.match(/[\\d.]+/g).slice(0, 3).map((one) => {
              const share = Number(one) / 255;
              return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
            });
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
          };
          const { color, backgroundColor } = getComputedStyle(document.body);
          const [low, high] = [light(color), light(backgroundColor)].sort((a, b) => a - b);
          return (high + 0.05) / (low + 0.05);
        })()"""
    )


def test_a_conversation_is_begun_found_renamed_forked_exported_and_deleted(converse: Converse) -> None:
    talk = converse()
    page = talk.page
    # A session in which nothing was said says what its agent can do, and can be written to at once.
    page.see(".welcome h2", "Demo")
    page.see(".starters button", "/tools")
    page.wait("document.activeElement.matches('[data-composer]')")
    page.click(".new button", "New conversation")
    page.see(".menu-list [role=menuitem]", "hostile")
    page.click(".menu-list [role=menuitem]", "Demo", nth=0)
    page.see(".welcome h2", "Demo")
    page.see(".starters button", "/text")
    # A double click begins one conversation.
    before = len(talk.ask("GET", "/sessions")["sessions"])
    page.evaluate("(([one]) => (one.click(), one.click()))(document.querySelectorAll('.starters button'))")
    page.see(ANSWER, "A short answer")
    talk.rests()
    assert len(talk.ask("GET", "/sessions")["sessions"]) == before + 1
    page.press("Alt+n")
    page.see(".welcome h2", "Demo")
    page.type(COMPOSER, "the giraffe is tall")
    page.see(ANSWER, "the giraffe is tall")
    page.see(CURRENT, "the giraffe is tall")
    # rename
    page.click(f"{CURRENT} .menu > button")
    page.click("[role=menuitem]", "Rename")
    page.see("dialog input:focus")
    page.press("Escape")
    page.miss("dialog")
    assert "Actions for" in talk.focused(), "the focus is where it was"
    page.press("Enter")
    page.click("[role=menuitem]", "Rename")
    page.fill("dialog input", "About giraffes")
    page.press("Enter", "dialog input")
    page.see(CURRENT, "About giraffes")
    page.see(".heading h1", "About giraffes")
    # search, in titles and in texts
    page.fill("#search", "giraffe is")
    page.see(".session", "About giraffes")
    page.fill("#search", "no such animal")
    page.see(".sessions .empty", "Nothing is found")
    talk.excused = ("422",)
    page.fill("#search", "one two three four five six seven eight nine")
    page.see(".sessions .empty", "The query has 9 words: 8 are the most.")
    page.fill("#search", "")
    page.see(CURRENT, "About giraffes")
    # export
    page.click(f"{CURRENT} .menu > button")
    name, text = page.download("[role=menuitem]", "Markdown")
    assert name.endswith(".md")
    assert "the giraffe is tall" in text
    page.click(f"{CURRENT} .menu > button")
    name, text = page.download("[role=menuitem]", "JSON")
    assert name.endswith(("json", "jsonl"))
    assert "giraffe" in text
    # fork
    before = page.evaluate("location.hash")
    page.click(f"{CURRENT} .menu > button")
    page.click("[role=menuitem]", "Fork")
    page.wait(f"location.hash !== {json.dumps(before)}")
    page.see(ANSWER, "the giraffe is tall")
    page.type(COMPOSER, "the fork goes on")
    page.see(ANSWER, "the fork goes on")
    # delete, after a question
    page.click(f"{CURRENT} .menu > button")
    page.click("[role=menuitem]", "Delete")
    page.see("dialog", "deleted for good")
    size = "parseFloat(getComputedStyle(document.querySelector('dialog {}')).fontSize)"
    assert page.evaluate(f"{size.format('h2')} > {size.format('p')}")
    page.click("dialog button", "Cancel")
    page.see(ANSWER, "the fork goes on")
    page.click(f"{CURRENT} .menu > button")
    page.click("[role=menuitem]", "Delete")
    page.click("dialog button.danger")
    page.see(".welcome h2")
    page.click(".session-open", "About giraffes")
    page.see(ANSWER, "the giraffe is tall")
    assert not page.count(ANSWER, "the fork goes on")


def test_the_list_says_which_conversation_works_and_which_one_waits(converse: Converse) -> None:
    talk = converse()
    page = talk.page
    talk.say("/permission")
    page.see(QUESTION)
    page.click(".new button", "New conversation")
    page.click(".menu-list [role=menuitem]", "Demo", nth=0)
    page.see(".session:has(.session-asking)", "Demo: permission")
    talk.say("/wait-for-cancel")
    page.see(f"{CURRENT}:has(.session-running)")
    page.press("Escape")
    page.miss(f"{CURRENT} .session-status")
    page.click(".session:has(.session-asking) .session-open", "Demo: permission", nth=0)
    page.click(f"{QUESTION} button", "Reject", nth=0)
    page.miss(f"{CURRENT} .session-status")


def test_options_modes_usage_and_cost_are_in_the_head(converse: Converse) -> None:
    talk = converse()
    page = talk.page
    talk.say("hello")
    talk.hears("hello")
    talk.rests()
    page.see(".usage .cost")
    assert "tokens" in (page.attribute(".usage", "aria-label") or "")
    mode = ".options select"
    # The page may show the old value again until the server has taken the new one.
    chosen = page.evaluate(
        "(() => { const field = document.querySelector('.options select');"
        "const chosen = [...field.options].find((one) => !one.selected).value;"
        "field.value = chosen;"
        "field.dispatchEvent(new Event('change', {bubbles: true})); return chosen; })()"
    )
    page.wait(f"document.querySelector({json.dumps(mode)}).value === {json.dumps(chosen)}")
    page.click(".switch input")
    page.wait("document.querySelector('.switch input').checked")
    page.reload()
    page.see(".options")
    page.wait(f"document.querySelector({json.dumps(mode)})?.value === {json.dumps(chosen)}")
    page.wait("document.querySelector('.switch input').checked")


def test_light_and_dark_differ_and_a_choice_is_kept(converse: Converse) -> None:
    talk = converse()
    page = talk.page
    background = "getComputedStyle(document.body).backgroundColor"
    page.theme("light")
    page.wait("document.documentElement.dataset.theme === 'light'")
    light = page.evaluate(background)
    assert contrast(talk) >= 7
    page.theme("dark")
    page.wait("document.documentElement.dataset.theme === 'dark'")
    dark = page.evaluate(background)
    assert contrast(talk) >= 7
    assert light != dark
    page.click(".sidebar-foot button[aria-pressed]", "Dark colours")
    page.wait("document.documentElement.dataset.theme === 'light'")
    page.reload()
    page.see(COMPOSER)
    assert page.evaluate(background) == light
    page.click(".sidebar-foot button[aria-pressed]", "Dark colours")
    page.wait("document.documentElement.dataset.theme === 'dark'")
    page.theme("light")


def test_a_narrow_window_has_a_drawer_and_nothing_is_cut_off(converse: Converse) -> None:
    talk = converse()
    page = talk.page
    page.resize(360, 740)
    for prompt, words in (
        ("/tools", "There are two notes"),
        ("/diff", "The greeting is friendlier now."),
        ("/terminal", "The command counted to three."),
        ("/plan", "I checked it twice."),
    ):
        talk.say(prompt)
        talk.hears(words)
        talk.rests()
    talk.say("x" * 300)
    talk.hears("x" * 300)
    talk.rests()
    assert talk.overflow() <= 0
    page.see(".usage")
    lines = "new Set([...document.querySelectorAll('.header > .heading, .header-tools > :not(.options)')]"
    assert page.evaluate(f"{lines}.map((one) => Math.round(one.getBoundingClientRect().y / 30))).size") == 1
    assert page.evaluate("getComputedStyle(document.querySelector('.sidebar')).visibility") == "hidden"
    page.click(".drawer-button")
    page.see(f".sidebar {CURRENT}")
    assert talk.overflow() <= 0
    page.press("Escape")
    hidden = "getComputedStyle(document.querySelector('.sidebar')).visibility === 'hidden'"
    page.wait(hidden)
    # Escape is for the list first, and for the agent behind it then.
    talk.say("/wait-for-cancel")
    page.see(STOP)
    page.click(".drawer-button")
    page.see(f".sidebar {CURRENT}")
    page.press("Escape")
    page.wait(hidden)
    assert page.count(STOP)
    page.press("Escape")
    talk.rests()
    page.resize(900, 700)


def test_a_key_just_after_the_list_is_closed_is_not_for_the_list(converse: Converse) -> None:
    page = converse().page
    page.resize(360, 740)
    page.click(".drawer-button")
    page.wait("document.querySelector('.sidebar').contains(document.activeElement)")
    taken = page.evaluate(
        "(async () => { const taken = []; for (let at = 0; at < 2; at++) {"
        "const key = new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, cancelable: true });"
        "document.activeElement.dispatchEvent(key); taken.push(key.defaultPrevented);"
        # Until the page has drawn what the key did, and no longer.
        "for (let turn = 0; turn < 20; turn++) await null; } return taken; })()"
    )
    assert taken == [True, False]
    page.resize(900, 700)


def test_the_smallest_window_wastes_no_lines(converse: Converse) -> None:
    talk = converse()
    page = talk.page
    page.resize(320, 560)
    talk.say("/diff")
    talk.hears("The greeting is friendlier now.")
    page.see(".usage")
    places = (
        "[...document.querySelectorAll('{}')].map((one) => Math.round(one.getBoundingClientRect().y / 30))"
    )
    tops = f"new Set({places}).size"
    assert page.evaluate(tops.format(".header > .heading, .header-tools > :not(.options)")) == 1
    assert page.evaluate("document.querySelector('.diff-path').offsetWidth > 120")
    talk.say("/wait-for-cancel")
    page.see(STOP)
    assert page.evaluate(tops.format(".composer-tools > button, .composer-tools > fieldset")) == 1
    assert talk.overflow() <= 0
    page.press("Escape")
    talk.rests()
    page.resize(900, 700)


def test_what_is_chosen_is_seen_where_the_system_chooses_the_colours(converse: Converse) -> None:
    talk = converse()
    page = talk.page
    talk.say("/wait-for-cancel")
    page.see(STOP)
    page.see(".session.current")
    page.force_colours(True)
    style = "getComputedStyle(document.querySelector('{}')).outlineStyle"
    assert page.evaluate(style.format(".session.current")) == "solid"
    assert page.evaluate(style.format(".segments input:checked + span")) == "solid"
    assert page.evaluate(style.format(".segments input:not(:checked) + span")) == "none"
    page.force_colours(False)
    page.press("Escape")
    talk.rests()


def test_the_keyboard_alone_is_enough(converse: Converse) -> None:
    talk = converse()
    page = talk.page
    page.evaluate("document.activeElement.blur()")
    page.press("?")
    page.see("dialog h2", "Keys")
    page.press("Escape")
    page.miss("dialog")
    page.evaluate("document.activeElement.blur()")
    page.press("Tab")
    assert "skip" in talk.focused()
    page.press("Enter")
    page.wait("document.activeElement.matches('[data-composer]')")
    talk.say("a first one")
    talk.hears("a first one")
    talk.rests()
    page.press("Alt+n")
    page.see(".welcome h2", "Demo")
    page.wait("document.activeElement.matches('[data-composer]')")
    talk.say("a second one")
    page.see(CURRENT, "a second one")
    page.press("Alt+ArrowDown")
    page.see(CURRENT, "a first one")
    page.press("Alt+k")
    page.wait("document.activeElement.id === 'search'")
    # The Alt of a Mac writes other letters: the key counts, unless somebody may be writing one.
    mac = "new KeyboardEvent('keydown', {key: '˚', code: 'KeyK', altKey: true, bubbles: true})"
    page.evaluate(
        f"document.querySelector('[data-composer]').focus(), document.activeElement.dispatchEvent({mac})"
    )
    page.wait("document.activeElement.matches('[data-composer]')")
    page.evaluate(f"document.activeElement.blur(), document.body.dispatchEvent({mac})")
    page.wait("document.activeElement.id === 'search'")
    outline = page.evaluate("getComputedStyle(document.querySelector('.search')).outlineStyle")
    assert outline == "solid"


def test_the_answer_is_read_aloud(converse: Converse) -> None:
    talk = converse()
    talk.say("words for the ear")
    talk.hears("words for the ear")
    talk.page.wait("document.querySelector('[data-live]').textContent.includes('words for the ear')")
    assert talk.page.attribute("[data-live]", "aria-live") == "polite"


def test_axe_finds_nothing_serious(converse: Converse, axe: str) -> None:
    talk = converse()
    page = talk.page
    for prompt, words in (
        ("/thoughts", "this is the answer."),
        ("/parallel-tools", "Oslo has -3"),
        ("/diff", "The greeting is friendlier now."),
        ("/subagents", "The tower is 330 metres high."),
        ("/notice", "There were three notices."),
    ):
        talk.say(prompt)
        talk.hears(words)
        talk.rests()
    talk.say("/permission")
    page.see(".question")
    page.evaluate(axe)
    assert talk.findings() == []
    page.theme("dark")
    page.wait("document.documentElement.dataset.theme === 'dark'")
    assert talk.findings() == []
    page.theme("light")
    page.resize(360, 740)
    page.fill(COMPOSER, "/")
    page.see(".suggestions li")
    assert talk.findings() == []
    page.fill(COMPOSER, "")
    page.resize(900, 700)


def test_a_page_that_one_would_show_to_a_colleague(converse: Converse, axe: str) -> None:
    talk = converse("finance")
    page = talk.page
    page.resize(1280, 800)
    # The agent's own lines stay lines.
    page.see(".welcome > p", "bank data")
    assert "Try:\nHow much did I spend" in page.texts(".welcome > p")[0]
    talk.say("Chart my spending by category last month")
    page.see(f"{ANSWER} img")
    talk.rests()
    talk.say("How much did I spend on groceries last month?")
    talk.hears("Groceries")
    talk.rests()
    assert talk.overflow() <= 0
    page.miss(f"{CURRENT} .session-status")
    page.resize(1280, 960)  # The chart, and a question with its call and its answer.
    talk.picture("page")
    page.resize(1280, 800)
    page.evaluate(axe)
    assert talk.findings() == []
    # What would change stands in columns; it is not drawn as Markdown, which can hide things.
    talk.say("Set the category of Netflix to Fun")
    page.see(f"{QUESTION} .whole td", "Netflix")
    assert page.texts(f"{QUESTION} .whole th") == ["Day", "Merchant", "Amount", "Now", "Then"]
    page.click(f"{QUESTION} .answer", "Reject", nth=0)
    talk.rests()
    ask = converse()
    ask.page.resize(1280, 800)
    ask.page.theme("dark")
    ask.say("/plan")
    ask.hears("I checked it twice.")
    ask.rests()
    ask.say("/permission")
    ask.page.see(f"{QUESTION}:focus")
    ask.page.see(CURRENT, "Demo: plan")
    ask.picture("page-permission-dark")
    ask.page.theme("light")
    ask.page.resize(390, 800)
    ask.picture("page-narrow")
    ask.page.resize(1600, 900)
    ask.page.press("Alt+i")
    ask.page.see(".column")
    ask.picture("page-inspector")
    assert ask.overflow() <= 0
    for one in (talk, ask):
        one.page.resize(900, 700)


def test_the_printed_link_logs_in_once_and_leaves_no_code_behind(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers/report.txt").write_text("all is well", encoding="utf-8")
    (tmp_path / "papers/own words.txt").write_text("mine", encoding="utf-8")
    with serve_agent("demo", folder=tmp_path, options=("--cwd", str(tmp_path))) as server:
        page = browser.open(server.link)
        page.see(".welcome h2", "Demo")
        assert "code" not in page.evaluate("location.href")
        assert page.evaluate("document.cookie") == "", "no script can read it"
        # The same code again, for a name of this machine that has no cookie.
        other = browser.open(server.link.replace("127.0.0.1", "localhost"))
        other.see(".login .problem", "used")
        other.close()
        page.reload()
        page.see(".welcome h2", "Demo")
        # A new conversation knows the files of the server's folder before anything is said.
        page.attach(".composer input[type=file]", tmp_path / "papers/own words.txt")
        page.see(".attachments li", "own words.txt")
        page.fill(COMPOSER, "read @rep")
        page.see(".suggestions li", "papers/report.txt")
        page.press("Enter", COMPOSER)
        page.wait("document.querySelector('[data-composer]').value === 'read @papers/report.txt '")
        # What was attached before its session was made is still there.
        page.see(".attachments li", "own words.txt")
        page.fill(COMPOSER, "read @papers/report.txt and @own")
        page.see(".suggestions li", "papers/own words.txt")
        page.press("Enter", COMPOSER)
        page.wait("document.querySelector('[data-composer]').value.endsWith('@papers/own words.txt ')")
        page.press("Enter", COMPOSER)
        page.see(ANSWER, "read @papers/report.txt")
        page.miss(".attachments")
        assert page.texts(".message.person .attachment-name")[:2] == [
            "papers/report.txt",
            "papers/own words.txt",
        ]
        page.close()


async def fill_journal(path: Path) -> None:
    """Write more than one request of a search looks at; only the oldest session has the word."""
    async with opened(SqliteJournal(path)) as journal:
        for title, words, pieces in (
            ("the oldest", "needle", 1),
            *((f"number {number}", "x" * 2**20, 9) for number in range(3)),
            ("the newest", "x", 1),
        ):
            key = SessionKey("local", f"sess_{title.replace(' ', '_')}")
            await journal.create(
                SessionInfo(principal=key.principal, session_id=key.session_id, target="demo", title=title)
            )
            lease = await journal.claim(key, "a test", 30)
            assert isinstance(lease, Lease)
            said = (TurnStarted(turn_id="t"), *[Text(message_id="m", delta=words)] * pieces, TurnFinished())
            for seq, event in enumerate(said, 1):
                record = Record(seq=seq, at=float(seq), fence=lease.fence, event=event)
                await journal.append(lease, [record], durable=True)
            await journal.release(lease)


def test_a_search_goes_on_behind_what_one_request_looks_at(browser: Browser, tmp_path: Path) -> None:
    asyncio.run(fill_journal(tmp_path / "journal.db"))
    with serve_agent("demo", folder=tmp_path) as server:
        page = browser.open(server.link)
        page.see(".session-title", "the newest")
        page.fill("#search", "needle")
        titles = "[...document.querySelectorAll('.session-title')].map((one) => one.innerText).join()"
        page.wait(f"{titles} === 'the oldest'")
        page.close()


def test_a_conversation_of_an_agent_that_is_not_served_says_so(browser: Browser, tmp_path: Path) -> None:
    journal = f"sqlite:{tmp_path / 'journal.db'}"
    assert run("exec", "finance", "hello", cwd=tmp_path, TRUNKLINE_JOURNAL=journal).code == 0
    with serve_agent("demo", folder=tmp_path) as server:
        page = browser.open(server.link)
        page.see(".session-open", "not served here")
        page.click(".session-open", "hello")
        page.see(".agent-name", "not served here")
        page.see(ANSWER)
        page.close()


def test_a_login_by_token_says_what_is_wrong(browser: Browser, own_server: str) -> None:
    # The other name of this machine has no cookie yet.
    server = own_server.replace("127.0.0.1", "localhost")
    page = browser.open(f"{server}/")
    page.see(".login h1", "Trunkline")
    page.see(".login .hint", "printed by trunkline serve")
    page.type(".login input[type=password]", "wrong")
    page.see(".problem", "token")
    page.type(".login input[type=password]", SECRET)
    page.see(".welcome h2")
    page.reload()
    page.see(".welcome h2")
    page.evaluate("location.hash = '#/s/%E0%A4%A'")
    page.see(".welcome h2", "This conversation is not here")
    page.click(".sidebar-foot button", "Log out")
    page.see(".login h1", "Trunkline")
    page.reload()
    page.see(".login h1", "Trunkline")
    page.type(".login input[type=password]", SECRET)
    page.click(".sidebar-foot button", "Log out")
    page.wait("document.activeElement.matches('input[type=password]')")
    page.close()
