"""A page of CopilotKit's straight on our server, without a runtime of its own in between."""

import json
import os
import socket
import subprocess
from pathlib import Path

import httpx
import pytest

from tests.browser.chromium import Browser
from tests.browser.contract import REFUSED, Chat, Open, PageContract
from tests.browser.servers import SECRET, serve_agent
from tests.process_state import eventually

pytestmark = pytest.mark.slow


class CopilotKit(Chat):
    """@copilotkit/react-core 1.74, which brings @ag-ui/client 0.0.59."""

    name = "copilotkit"
    INPUT = "[data-testid=copilot-chat-textarea]"
    ANSWER = "[data-testid=copilot-assistant-message]"
    CALL = ".tool"
    STOP = "[data-testid=copilot-send-button]:not([disabled])"

    def question(self, text: str) -> str:
        return f".question:has-text('{text}')"


class TestCopilotKit(PageContract):
    """CopilotKit's chat."""

    chat = CopilotKit

    def refused(self, chat: Chat) -> None:
        chat.page.see("text=Failed to fetch")
        chat.complains("blocked by CORS policy", *REFUSED)

    def test_an_answer_goes_on_when_the_page_is_reloaded_in_its_middle(
        self, open: Open, scripted: str
    ) -> None:
        chat = open(scripted)
        chat.say("/slow 60 0.05")
        chat.hears("step 3")
        chat.page.reload()
        chat.hears("step 60")
        assert chat.answers() == [" ".join(f"step {number}" for number in range(1, 61))], (
            "nothing lost or twice"
        )

    def test_an_answer_can_be_stopped_after_the_page_was_reloaded(self, open: Open, scripted: str) -> None:
        chat = open(scripted)
        chat.say("/slow 600 0.05")
        chat.hears("step 2")
        chat.page.reload()
        chat.hears("step 2")
        chat.stop()
        chat.say("Are you free?")
        chat.hears("Are you free?")

    def test_a_run_that_fails_says_why(self, open: Open, scripted: str) -> None:
        chat = open(scripted)
        chat.say("/fails")
        chat.page.see("text=the demo failed on purpose")
        chat.complains("agent_run_error_event")
        chat.say("Better now?")
        chat.hears("Better now?")

    def test_a_page_with_a_wrong_token_is_told_so(self, open: Open, scripted: str) -> None:
        chat = open(scripted, token="wrong")
        chat.page.see("text=a token is missing or wrong")
        chat.complains("a token is missing or wrong", *REFUSED)

    def test_an_interrupt_of_a_graphs_own_is_asked_again_instead_of_another_message(
        self, open: Open, root: Path, site: str, tmp_path: Path
    ) -> None:
        target = f"{root / 'tests/browser/dojo_agents.py'}:human_in_the_loop"
        with serve_agent(target, origin=site, folder=tmp_path) as address:
            chat = open(address)
            chat.say("Make a garden")
            chat.page.see(chat.question("Dig"))
            chat.say("Something else")
            chat.asks("Dig", "Yes")
            chat.hears("I got: yes")


def test_the_example_is_this_page_with_the_same_packages(root: Path, built: Path) -> None:
    driven, example = (
        json.loads((root / folder / "package.json").read_text())
        for folder in ("tests/browser/pages", "examples/copilotkit")
    )
    assert example["dependencies"].items() <= driven["dependencies"].items()
    assert example["devDependencies"].items() <= driven["devDependencies"].items()
    page = (root / "examples/copilotkit/src/main.tsx").read_text("utf-8")
    assert "enableInspector={false}" in page  # While one develops, it would send its maker what one does.
    assert (built / "src/main.tsx").read_text("utf-8") == page


def test_the_example_calls_its_own_site_which_adds_the_token(
    root: Path, built: Path, browser: Browser, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    site = f"http://localhost:{port}"
    with serve_agent("demo", origin=site, folder=tmp_path) as server:
        words = [
            built.parent / "node_modules/.bin/vite",
            "preview",
            "--host",
            "localhost",
            "--port",
            str(port),
        ]
        config = root / "examples/copilotkit/vite.config.js"
        more = ["--strictPort", "--config", str(config), "--outDir", str(built / "site")]
        environment = {**os.environ, "TRUNKLINE_TOKEN": SECRET, "TRUNKLINE_URL": server}
        with subprocess.Popen([*words, *more], cwd=built, env=environment, stdout=subprocess.DEVNULL) as vite:
            try:
                eventually(lambda: _answers(f"{site}/copilotkit.html"))
                page = browser.open(f"{site}/copilotkit.html")
                page.send(CopilotKit.INPUT, "/permission")
                page.click(".question button", "Approve")
                page.see(CopilotKit.ANSWER, "would be written")
                page.reload()
                page.see(CopilotKit.ANSWER, "would be written")
                asked = [line.split(" ")[2] for line in page.console() if line.startswith("asks:")]
                assert [url for url in asked if not url.startswith(f"{site}/")] == []
                page.close()
            finally:
                vite.terminate()


def _answers(url: str) -> bool:
    try:
        return httpx.get(url).status_code == 200
    except (httpx.ConnectError, httpx.RemoteProtocolError):
        return False
