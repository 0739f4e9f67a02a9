"""The page of examples/usechat: useChat of @ai-sdk/react 4 in a browser, on our /api/chat."""

import itertools
import subprocess
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from tests.browser.chromium import Browser, Page
from tests.browser.servers import SECRET, serve_agent, serve_site

pytestmark = pytest.mark.slow

_threads = itertools.count(1)

INPUT = "input[name=input]"
ANSWER = ".assistant"
STOP = "button:has-text('Stop')"

Open = Callable[[], Page]


@pytest.fixture(scope="module")
def open(root: Path, browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Generator[Open]:
    """Opens the page in a new chat on a server with the scripted agent; it must not complain."""
    made = subprocess.run(
        [root / "scripts/browser-pages", "examples/usechat"],
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    opened: list[Page] = []
    with serve_site(Path(made.stdout.strip()) / "site") as port:
        site = f"http://localhost:{port}"
        folder = tmp_path_factory.mktemp("usechat")
        with serve_agent("demo", origin=site, folder=folder) as server:

            def open_page() -> Page:
                chat = f"usechat-{next(_threads)}"
                page = browser.open(f"{site}/index.html#server={server}&token={SECRET}&thread={chat}")
                page.see(INPUT)
                opened.append(page)
                return page

            yield open_page
            for page in opened:
                page.close()


def say(page: Page, text: str) -> None:
    """Send a message once the page is at rest."""
    page.miss(STOP)
    page.send(INPUT, text)


def complaints(page: Page) -> list[str]:
    """What the page complained of; of a chat that does not exist yet it learns by a 404."""
    found = [line for line in page.console() if line.startswith(("error:", "warning:", "pageerror:"))]
    return [line for line in found if "404" not in line]


def test_an_answer_streams_with_its_tool_cards(open: Open) -> None:
    page = open()
    say(page, "/tools")
    page.see(ANSWER, "There are two notes about trunkline.")
    page.see(".tool i", "output-available")
    assert "notes/design.md" in page.texts(".tool pre")[0]
    assert complaints(page) == []


@pytest.mark.parametrize(("button", "state"), [("Allow", "output-available"), ("Deny", "output-denied")])
def test_an_approval_is_answered(open: Open, button: str, state: str) -> None:
    page = open()
    say(page, "/permission")
    page.see(".tool i", "approval-requested")
    page.see(".question", "Write hello.txt?")
    page.click(".question button", button)
    page.see(".tool i", state)
    page.miss(".question")
    page.miss(STOP)
    before = page.texts(ANSWER)
    page.reload()
    page.see(".tool i", state)
    assert page.texts(ANSWER) == before
    assert complaints(page) == []


def test_a_form_is_filled_in(open: Open) -> None:
    page = open()
    say(page, "/form")
    page.see("form.question")
    page.type("form.question input[name=name]", "Ada")
    page.see(".answered")
    page.see(ANSWER, "Ada")
    assert complaints(page) == []


def test_a_tool_of_the_page_is_run_by_the_page(open: Open) -> None:
    page = open()
    say(page, "/client-tool")
    page.see(".tool i", "output-available")
    page.miss(STOP)
    assert complaints(page) == []


def test_a_page_that_is_reloaded_in_the_middle_goes_on_and_is_stopped(open: Open) -> None:
    page = open()
    say(page, "/slow 1000 0.05")
    page.see(ANSWER, "step 3")
    page.reload()
    page.see(ANSWER, "step 3")
    page.see(ANSWER, "step 12")
    page.click(STOP)
    page.miss(STOP)
    (steps,) = page.texts(ANSWER)
    words = steps.split()
    assert words == " ".join(f"step {number}" for number in range(1, len(words) // 2 + 1)).split()
    say(page, "/text")
    page.see(ANSWER, "A short answer")
    assert complaints(page) == []


def test_an_answer_is_made_anew(open: Open) -> None:
    page = open()
    say(page, "Hello there")
    page.see(ANSWER, "Hello there")
    page.miss(STOP)
    page.click("button", "Again")
    page.see(ANSWER, "Hello there")
    page.miss(STOP)
    page.reload()
    page.see(ANSWER, "Hello there")
    assert len(page.texts(ANSWER)) == len(page.texts(".user")) == 1
    assert complaints(page) == []


def test_a_turn_that_fails_says_why(open: Open) -> None:
    page = open()
    say(page, "/fails")
    page.see(".error", "the demo failed on purpose")
    say(page, "/text")
    page.see(ANSWER, "A short answer")
