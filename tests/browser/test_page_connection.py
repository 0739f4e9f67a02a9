"""Our own page stays true: reloads, tabs, cut connections, long answers, an editor beside it."""

import json
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.browser.chromium import Browser
from tests.browser.cut_proxy import cut_proxy
from tests.browser.own_page import ANSWER, COMPOSER, QUESTION, OwnPage, check_smooth
from tests.browser.servers import SECRET, Address, serve_agent
from tests.peers.client_plans import JsonObject, Stage
from trunkline.content import LinkBlock, TextBlock

pytestmark = pytest.mark.slow

Converse = Callable[..., OwnPage]


def test_a_reload_and_a_second_tab_show_the_same(converse: Converse) -> None:
    talk = converse()
    talk.say("/tools")
    talk.hears("There are two notes")
    talk.rests()
    before = talk.answers()
    talk.page.reload()
    talk.hears("There are two notes")
    assert talk.answers() == before
    other = converse(session=talk.session)
    other.hears("There are two notes")
    assert other.answers() == before
    other.say("/permission")
    talk.page.see(QUESTION)
    other.page.see(QUESTION)
    talk.page.click(f"{QUESTION} button", "Allow once")
    other.page.miss(QUESTION)
    other.hears("would be written")
    talk.hears("would be written")
    other.rests()
    talk.rests()
    assert "Allowed once by you" in "\n".join(talk.answers())
    assert [answer.partition("Allowed once")[0] for answer in talk.answers()] == [
        answer.partition("Allowed once")[0] for answer in other.answers()
    ]


def test_a_message_that_another_client_takes_back_takes_nothing_else_back(converse: Converse) -> None:
    talk = converse()
    for words in ("the first", "the second"):
        talk.say(words)
        talk.hears(words)
        talk.rests()
    talk.page.click(".message.person:has-text('the first') button", "Answer again")
    talk.page.see("dialog button", "Answer again")
    talk.command(type="rewind", to_message_id=None)
    talk.page.miss(".message.person:has-text('the first')")
    talk.command(type="prompt", content=[{"type": "text", "text": "from elsewhere"}])
    talk.hears("from elsewhere")
    talk.rests()
    talk.page.click("dialog button", "Answer again")
    talk.page.see(".toasts", "taken back")
    assert "from elsewhere" in "\n".join(talk.page.texts(".message.person"))
    assert "the first" in talk.page.evaluate(f"document.querySelector('{COMPOSER}').value")


WATCH = """(() => {
    window.removed = [];
    const note = (changes) => window.removed.push(
        ...changes.flatMap(({ removedNodes }) => [...removedNodes].map((node) => node.textContent)));
    new MutationObserver(note).observe(document.querySelector(".transcript"), { childList: true });
})()"""


def test_what_was_said_stays_in_sight_while_more_comes(converse: Converse) -> None:
    talk = converse()
    talk.say("the first words")
    talk.hears("the first words")
    talk.rests()
    talk.page.evaluate(WATCH)
    for number in range(4):
        talk.say(f"message {number}")
        talk.hears(f"message {number}")
        talk.rests()
    assert "the first words" not in "".join(talk.page.evaluate("window.removed"))


def test_a_cut_connection_loses_nothing_and_doubles_nothing(browser: Browser, own_server: str) -> None:
    with cut_proxy(own_server) as proxy:
        talk = OwnPage(browser, proxy.address, "demo")
        page = talk.page
        talk.say("/slow 60 0.05")
        for words in ("step 3", "step 20"):
            talk.hears(words)
            proxy.cut()
            page.see(".banner", "Nothing is lost")
            proxy.mend()
            # It tries by itself too, and may be quicker than a hand.
            page.evaluate("document.querySelector('.banner button')?.click()")
            page.miss(".banner")
        talk.hears("step 60")
        talk.rests()
        (answer,) = talk.answers()
        assert [line for line in answer.split() if line.isdigit()] == [str(number) for number in range(1, 61)]
        # What is sent while nobody can be reached arrives once.
        proxy.cut()
        page.see(".banner")
        talk.say("sent into the dark")
        page.see(".on-the-way", "sent into the dark")
        page.see(".unconfirmed", "Not sent yet")
        proxy.mend()
        talk.hears("sent into the dark")
        talk.rests()
        assert page.count(".message.person", "sent into the dark") == 1
        page.miss(".on-the-way")
        page.close()


def test_a_tab_that_nobody_has_looked_at_gives_its_connection_back(converse: Converse) -> None:
    talk = converse()
    page = talk.page
    other = talk.ask("POST", "/sessions", {"agent": "demo"})["session_id"]
    hidden = "Object.defineProperty(document, 'hidden', {{ value: {}, configurable: true }})"
    page.evaluate(hidden.format("true"))
    page.evaluate(f"location.hash = '#/s/{quote(other, safe='')}'")
    # A request is listed once it is over.
    page.wait(
        "performance.getEntriesByType('resource')"
        f".some(({{ name }}) => name.endsWith({f'/sessions/{other}'!r}))"
    )
    talk.session = other
    talk.command(type="prompt", content=[{"type": "text", "text": "said meanwhile"}])
    page.evaluate(hidden.format("false"))
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    talk.hears("said meanwhile")


def test_a_server_that_starts_again_wants_a_login_and_the_conversation_goes_on(
    browser: Browser, tmp_path: Path
) -> None:
    with serve_agent("demo", folder=tmp_path) as server:
        talk = OwnPage(browser, server, "demo")
        page = talk.page
        talk.say("/permission")
        page.see(QUESTION)
        page.fill(COMPOSER, "half a thought")
    page.see(".banner", "Nothing is lost")
    with serve_agent("demo", folder=tmp_path, port=server.rpartition(":")[2]):
        page.see(".login")
        page.type(".login input[type=password]", SECRET)
        page.see(".message.person", "/permission")
        page.see(".turn-end, .notice-error")
        page.miss(QUESTION)
        page.wait("document.querySelector('[data-composer]').value === 'half a thought'")
        page.press("Enter", COMPOSER)
        page.see(ANSWER, "half a thought")
        page.close()


def test_fifty_thousand_tokens_stay_smooth(converse: Converse) -> None:
    def play(talk: OwnPage) -> None:
        talk.say("/long 50000")
        for words in ("30000", "49999 50000"):
            talk.page.wait(f"document.querySelector({ANSWER!r})?.textContent.includes({words!r})")
        talk.rests()
        text = talk.page.evaluate(f"document.querySelector({f'{ANSWER} .markdown'!r}).textContent")
        assert text.split()[-1] == "50000"

    check_smooth(converse, play, 200)


def test_a_reader_who_scrolls_up_is_left_alone(converse: Converse) -> None:
    talk = converse()
    page = talk.page
    talk.say("/long 3000")
    talk.hears("2999 3000")
    talk.rests()
    gap = (
        "(({ scrollHeight, clientHeight, scrollTop }) => scrollHeight - clientHeight - scrollTop)"
        "(document.querySelector('.scroller'))"
    )
    page.wait(f"{gap} < 5")
    talk.say("/slow 400 0.02")
    talk.hears("step 5")
    page.wait(f"{gap} < 5")
    page.evaluate("document.querySelector('.scroller').scrollTop -= 400")
    page.see(".to-end")
    place = page.evaluate("document.querySelector('.scroller').scrollTop")
    talk.hears("step 60")
    assert page.evaluate("document.querySelector('.scroller').scrollTop") == place
    page.click(".to-end")
    page.wait(f"{gap} < 5")
    page.miss(".to-end")
    page.press("Escape")
    talk.rests()


def test_a_long_past_is_shown_on_demand_and_the_reader_keeps_the_place(converse: Converse) -> None:
    talk = converse("hostile")
    page = talk.page
    talk.say("many")
    talk.hears("Message 150 of many")
    talk.rests()
    page.reload()
    page.see(".earlier")
    assert 50 <= page.count(ANSWER) <= 60
    assert not page.count(ANSWER, "Message 1 of many")
    page.evaluate("document.querySelector('.scroller').scrollTop = 0")
    (first, *_) = page.texts(ANSWER)
    mark = (
        "[...document.querySelectorAll('.message.agent')]"
        f".find((one) => one.innerText === {json.dumps(first)}).getBoundingClientRect().top"
    )
    before = page.evaluate(mark)
    page.click(".earlier")
    page.wait("document.querySelectorAll('.message.agent').length === 150")
    page.miss(".earlier")
    assert abs(page.evaluate(mark) - before) < 80, "only the button above it is gone"
    page.click(f"{ANSWER} button[aria-label='Copy answer']", nth=0)
    page.see(f"{ANSWER} button[aria-label='Copy answer']", "Copied")


# -- an editor and the page on one session ---------------------------------------------------------


class Editor:
    """An editor on the official SDK, which plays a plan while the page looks on."""

    def __init__(self, stage: Stage, steps: list[JsonObject]) -> None:
        self.report: JsonObject = {}
        self._thread = threading.Thread(target=self._play, args=(stage, steps))
        self._thread.start()

    def _play(self, stage: Stage, steps: list[JsonObject]) -> None:
        self.report = stage.play(steps)

    def join(self) -> JsonObject:
        """Wait until the plan is played; gives what the editor saw."""
        self._thread.join(60)
        assert self.report, "the editor did not finish"
        return self.report


@pytest.fixture
def stage(root: Path, tmp_path: Path) -> Stage:
    return Stage(tmp_path, ("node", str(root / "tests/peers/node/drive_client.mjs")))


@pytest.fixture
def beside(stage: Stage, tmp_path: Path) -> Generator[Address]:
    """A server on the journal of the editor's agent."""
    with serve_agent("demo", folder=tmp_path) as address:
        yield address


def test_an_editor_and_a_tab_share_a_session_and_its_questions(
    browser: Browser, stage: Stage, beside: Address, tmp_path: Path
) -> None:
    answer = tmp_path / "answer"
    never = {"file": str(tmp_path / "never")}
    (stage.cwd / "papers").mkdir()
    (stage.cwd / "papers/report.txt").write_text("all is well", encoding="utf-8")
    page = browser.open(beside.link)
    page.see(".welcome h2")
    editor = Editor(
        stage,
        [
            stage.new("talk"),
            stage.prompt("hello", "talk", "hello from the editor"),
            stage.prompt("first", "talk", "/permission", answers=[never]),
            stage.prompt("second", "talk", "/permission", answers=[{"file": str(answer)}]),
        ],
    )
    # It appears by itself, and is followed live.
    page.click(".session-open", "hello from the editor")
    page.see(ANSWER, "hello from the editor")
    # The page answers what the editor was asked.
    page.see(QUESTION)
    page.click(f"{QUESTION} button", "Allow once")
    page.see(ANSWER, "hello.txt is written.")
    # The editor answers what the page was asked.
    page.see(QUESTION)
    answer.write_text("reject_once", encoding="utf-8")
    page.miss(QUESTION)
    page.see(ANSWER, "Nothing was written.")
    report = editor.join()
    steps = report["steps"]
    assert [steps[name]["result"]["stopReason"] for name in ("first", "second")] == ["end_turn", "end_turn"]
    session = quote(report["sessions"]["talk"], safe="")
    assert page.evaluate("location.hash").endswith(session)
    # The editor is gone: the page goes on with its session, and with the files of its folder.
    page.fill(COMPOSER, "look at @rep")
    page.see(".suggestions li", "papers/report.txt")
    page.press("Enter", COMPOSER)
    page.wait("document.querySelector('[data-composer]').value === 'look at @papers/report.txt '")
    page.press("Enter", COMPOSER)
    page.see(ANSWER, "look at @papers/report.txt")
    page.miss("button.stop")
    said = stage.conversation(report["sessions"]["talk"]).messages[-2].content
    link = LinkBlock(uri=(stage.cwd / "papers/report.txt").as_uri(), name="papers/report.txt")
    assert said == (TextBlock(text="look at @papers/report.txt"), link)
    page.close()
