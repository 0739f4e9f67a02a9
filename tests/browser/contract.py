"""What a person must be able to do on every page, whatever it is made of.

A page complains on its console when it is told what it does not understand: none of these tests leaves
any complaint behind, and no page calls anybody but its own site and our server.
"""

import contextlib
import itertools
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from pathlib import Path
from typing import ClassVar

import pytest

from tests.browser.chromium import Browser, Page
from tests.browser.servers import SECRET

_COMPLAINTS = ("error:", "warning:", "pageerror:")
_CLICKS = 4
_threads = itertools.count(1)

ENDINGS = {
    "thoughts": "this is the answer.",
    "parallel-tools": "Oslo has -3 °C",
    "diff": "The greeting is friendlier now.",
    "terminal": "The command counted to three.",
    "plan": "I checked it twice.",
    "modes": "Now it is code.",
    "subagents": "The tower is 330 metres high.",
    "media": "and a document.",
    "sources": "at sea level.",
    "state": "The counter is 1.",
    "activity": "The files are copied.",
    "compaction": "The context is short again.",
    "notice": "There were three notices.",
    "breaks-grammar": "But I mean well.",
    "long 2000": "1999 2000",
}
"""Scenarios that ask nothing, and their last words."""

REFUSED = ("Failed to load resource", "Failed to fetch", "Agent default not found")
"""What browsers and pages also say, at any time, when no server lets them in."""


class Chat(ABC):
    """A page with a chat on it; the selectors say where things are."""

    name: ClassVar[str]
    INPUT: ClassVar[str]
    ANSWER: ClassVar[str]
    CALL: ClassVar[str]
    STOP: ClassVar[str]

    def __init__(self, browser: Browser, site: str, server: str, *, token: str = SECRET) -> None:
        """Open the page in a new thread."""
        self.thread = f"{self.name}-{next(_threads)}"
        self.places = (site, server)
        self._excused: tuple[str, ...] = ()
        address = f"{site}/{self.name}.html#server={server}&token={token}&thread={self.thread}"
        self.page: Page = browser.open(address)
        self.page.see(self.INPUT)

    def say(self, text: str) -> None:
        """Send a message, once the last one is dealt with."""
        self.page.miss(self.STOP)
        self.page.send(self.INPUT, text)

    def hears(self, text: str) -> None:
        """Wait for words in an answer."""
        self.page.see(self.ANSWER, text)

    def stop(self) -> None:
        """Stop the answer, as a person does: a page that was just loaded may not heed the first click."""
        for _ in range(_CLICKS):
            self.page.click(self.STOP)
            with contextlib.suppress(AssertionError):
                return self.page.miss(self.STOP, seconds=3)
        raise AssertionError(f"{_CLICKS} clicks did not stop it")

    def asks(self, text: str, answer: str) -> None:
        """Wait for a question that names ``text``, and press a button."""
        self.page.see(".question")
        self.page.click(f"{self.question(text)} button", answer)

    @abstractmethod
    def question(self, text: str) -> str:
        """Where a question that names ``text`` is asked."""

    def answers(self) -> list[str]:
        """All that the agent said, with its calls."""
        return self.page.texts(self.ANSWER)

    def tools(self) -> list[str]:
        """All calls that are shown."""
        return self.page.texts(self.CALL)

    def complains(self, words: str, *others: str) -> None:
        """Wait until the page complains in these words; it may, however often and late, and in the others."""
        self._excused += (words, *others)
        self.page.tells(words)

    def complaints(self) -> list[str]:
        """What the page complained of without a reason, and whom else it called."""
        output = self.page.console()
        calls = [line for line in output if line.startswith("asks:") and not self._is_ours(line)]
        complaints = [line for line in output if line.startswith(_COMPLAINTS)]
        return [line for line in complaints if not any(words in line for words in self._excused)] + calls

    def _is_ours(self, line: str) -> bool:
        return line.split(" ")[2].startswith(tuple(f"{place}/" for place in self.places))


Open = Callable[..., Chat]


class PageContract:
    """The tests; a subclass brings the chat."""

    chat: ClassVar[type[Chat]]

    @pytest.fixture
    def open(self, browser: Browser, site: str, tmp_path: Path) -> Generator[Open]:
        """Open the page on a server; at the end a picture is taken, and nobody may have complained."""
        opened: list[Chat] = []

        def open_page(server: str, **options: str) -> Chat:
            opened.append(self.chat(browser, options.pop("site", site), server, **options))
            return opened[-1]

        yield open_page
        for number, chat in enumerate(opened, 1):
            chat.page.shoot(tmp_path / f"page-{number}.png")
            complaints = chat.complaints()
            chat.page.close()
            assert complaints == []

    # -- the scripted agent --

    def test_what_is_said_is_answered_and_a_call_is_a_card(self, open: Open, scripted: str) -> None:
        chat = open(scripted)
        chat.say("Hello there, page")
        chat.hears("Hello there, page")
        chat.say("/tools")
        chat.hears("There are two notes")
        (card,) = chat.tools()
        assert re.fullmatch(r'search \{"query": ?"trunkline", ?"limit": ?2\} .*Found 2 notes\.', card)
        assert [text.split("\n")[0] for text in chat.answers()] == [
            "Hello there, page",
            "Let me look that up.",
            "There are two notes about trunkline.",
        ]

    def test_an_answer_streams_until_it_is_stopped(self, open: Open, scripted: str) -> None:
        chat = open(scripted)
        chat.say("/slow 600 0.05")
        chat.hears("step 2")
        chat.stop()
        chat.say("Are you free?")
        chat.hears("Are you free?")
        assert "step 600" not in chat.answers()[0]

    @pytest.mark.parametrize(
        ("answer", "result", "words"),
        [("Approve", "wrote", "would be written"), ("Reject", "refused it", "Nothing was written.")],
    )
    def test_what_is_asked_is_answered_by_a_button(
        self, open: Open, scripted: str, answer: str, result: str, words: str
    ) -> None:
        chat = open(scripted)
        chat.say("/permission")
        chat.asks("hello.txt", answer)
        chat.hears(words)
        chat.page.miss(".question")
        (card,) = chat.tools()
        assert result in card
        assert [words in text for text in chat.answers()] == [False, True], "below the card, not above it"

    def test_two_questions_at_once_are_answered_one_by_one(self, open: Open, scripted: str) -> None:
        chat = open(scripted)
        chat.say("/permission-twice")
        chat.asks("read_notes", "Approve")
        chat.asks("send_report", "Reject")
        chat.hears("read_notes: allowed, send_report: refused")

    def test_a_tool_of_the_page_runs_on_the_page(self, open: Open, scripted: str) -> None:
        chat = open(scripted)
        chat.say("/client-tool")
        chat.hears('The front end gave "green".')
        (card,) = chat.tools()
        assert card.endswith("green")
        chat.say("Thank you")
        chat.hears("Thank you")

    def test_whatever_an_agent_may_say_is_understood(self, open: Open, scripted: str) -> None:
        chat = open(scripted)
        for scenario, ending in ENDINGS.items():
            chat.say(f"/{scenario}")
            chat.hears(ending)
            chat.page.miss(chat.STOP)

    def test_a_thread_is_there_again_when_the_page_is_reloaded(self, open: Open, scripted: str) -> None:
        chat = open(scripted)
        chat.say("/tools")
        chat.hears("There are two notes")
        chat.page.miss(chat.STOP)
        before = (chat.answers(), chat.tools())
        chat.page.reload()
        chat.hears("There are two notes")
        assert (chat.answers(), chat.tools()) == before
        chat.say("And now?")
        chat.hears("And now?")

    def test_a_question_is_asked_again_when_the_page_is_reloaded(self, open: Open, scripted: str) -> None:
        chat = open(scripted)
        chat.say("/permission")
        chat.page.see(".question")
        chat.page.reload()
        chat.asks("hello.txt", "Approve")
        chat.hears("would be written")
        (card,) = chat.tools()
        assert "wrote" in card

    # -- LangChain --

    def test_an_agent_of_langchain_calls_its_tools(self, open: Open, langchain: str) -> None:
        chat = open(langchain)
        chat.say("How is the weather?")
        chat.hears("The result was: 22 degrees in Paris")
        (card,) = chat.tools()
        assert re.fullmatch(r'weather \{"city": ?"Paris"\} .*22 degrees in Paris', card)
        chat.say("And how much do you know?")
        chat.hears("I know 5 messages: human, ai, tool, ai, human.")

    @pytest.mark.parametrize(
        ("answer", "words"), [("Approve", "The result was: sent to Ada"), ("Reject", "rejected")]
    )
    def test_an_interrupt_of_langgraph_is_answered_by_a_button(
        self, open: Open, langchain: str, answer: str, words: str
    ) -> None:
        chat = open(langchain)
        chat.say("Send a letter")
        chat.asks("send_letter", answer)
        chat.hears(words)
        assert len(chat.tools()) == 1

    def test_an_agent_of_langchain_calls_a_tool_of_the_page(self, open: Open, langchain: str) -> None:
        chat = open(langchain)
        chat.say("Which colour?")
        chat.hears("The result was: green")
        chat.say("And how much do you know?")
        chat.hears("I know 5 messages: human, ai, tool, ai, human.")

    # -- who may --

    def test_a_page_from_elsewhere_gets_nothing(self, open: Open, scripted: str, site: str) -> None:
        chat = open(scripted, site=site.replace("localhost", "127.0.0.1"))
        chat.page.type(chat.INPUT, "Hello?")  # A page that was refused may keep it.
        self.refused(chat)
        assert "Hello?" not in chat.answers(), "the agent would have said it back"

    def refused(self, chat: Chat) -> None:
        """Wait until the page shows that it was refused, and complains of it."""
        raise NotImplementedError
