"""A page of assistant-ui's, on our AG-UI address."""

import pytest

from tests.browser.contract import REFUSED, Chat, Open, PageContract

pytestmark = pytest.mark.slow


class AssistantUi(Chat):
    """@assistant-ui/react 0.15.20 with react-ag-ui 0.0.57, on @ag-ui/client 0.0.58."""

    name = "assistant-ui"
    INPUT = "textarea[name=input]"
    ANSWER = ".assistant"
    CALL = ".tool pre"
    STOP = "button:has-text('Stop')"

    def question(self, text: str) -> str:
        return f".tool:has-text('{text}') .question"


class TestAssistantUi(PageContract):
    """assistant-ui's primitives."""

    chat = AssistantUi

    def refused(self, chat: Chat) -> None:
        chat.page.see(".error", "Failed to fetch")
        chat.complains("blocked by CORS policy", *REFUSED)

    def test_an_answer_is_there_as_far_as_it_came_when_the_page_is_reloaded_in_its_middle(
        self, open: Open, scripted: str
    ) -> None:
        # It stops, unless the page is back before the server knew that it was gone: then it ends by itself.
        chat = open(scripted)
        chat.say("/slow 100 0.05")
        chat.hears("step 3")
        chat.page.reload()
        chat.hears("step 3")
        chat.say("Are you free?")
        chat.hears("Are you free?")
        steps = chat.answers()[0]
        assert steps.split() == " ".join(f"step {n}" for n in range(1, len(steps.split()) // 2 + 1)).split()

    def test_a_run_that_fails_says_why(self, open: Open, scripted: str) -> None:
        chat = open(scripted)
        chat.say("/fails")
        chat.page.see(".error", "the demo failed on purpose")
        chat.say("Better now?")
        chat.hears("Better now?")

    def test_a_page_with_a_wrong_token_is_told_so(self, open: Open, scripted: str) -> None:
        chat = open(scripted, token="wrong")
        chat.say("Hello?")
        chat.page.see(".error", "a token is missing or wrong")
        chat.complains("a token is missing or wrong", *REFUSED)
