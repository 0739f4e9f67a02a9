"""The features of AG-UI's dojo in CopilotKit's pages, with graphs written for ag-ui-langgraph."""

from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from tests.agents.langchain.dojo_graphs import DOCUMENT, GRAPHS
from tests.browser.chromium import Browser, Page
from tests.browser.servers import SECRET, serve_agent

pytestmark = pytest.mark.slow

INPUT = "[data-testid=copilot-chat-textarea]"
ANSWER = "[data-testid=copilot-assistant-message]"

Open = Callable[[str], Page]


@pytest.fixture(scope="module")
def server(root: Path, site: str, tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    file = root / "tests/browser/dojo_agents.py"
    targets = [f"{name}={file}:{name}" for name in GRAPHS]
    with serve_agent(*targets, origin=site, folder=tmp_path_factory.mktemp("dojo")) as address:
        yield address


@pytest.fixture
def open(browser: Browser, site: str, server: str) -> Generator[Open]:
    """Open the page of a feature; at the end no page may have complained."""
    opened: list[Page] = []

    def open(feature: str) -> Page:
        place = f"server={server}&token={SECRET}&thread={feature}&feature={feature}"
        page = browser.open(f"{site}/features.html#{place}")
        opened.append(page)
        page.see(INPUT)
        return page

    yield open
    for page in opened:
        assert [line for line in page.console() if line.startswith(("error:", "pageerror:"))] == []
        page.close()


def test_the_pages_context_and_tools_reach_the_model(open: Open) -> None:
    page = open("agentic_chat")
    page.send(INPUT, "Who am I?")
    page.see(ANSWER, "Name of the user: Bob")
    page.send(INPUT, "Make it blue")
    page.see(".background", "blue")
    page.see(ANSWER, "success")


def test_the_result_of_a_tool_becomes_a_card(open: Open) -> None:
    page = open("backend_tool_rendering")
    page.send(INPUT, "How is the weather?")
    page.see(".card", "Paris: 20 degrees")
    page.see(ANSWER, "It is sunny.")


def test_a_person_chooses_the_steps_of_an_interrupt(open: Open) -> None:
    page = open("human_in_the_loop")
    page.send(INPUT, "Plant a tree")
    page.click(".steps button", "Plant")
    page.click(".steps button", "Perform")
    page.see(ANSWER, "I got: The user selected: Dig, Water")


def test_state_that_a_node_emits_is_shown_while_it_runs(open: Open) -> None:
    page = open("agentic_generative_ui")
    page.send(INPUT, "Plant a tree")
    page.see(".progress", "3 of 3")
    page.see(ANSWER, "All done.")


def test_a_tool_of_the_page_runs_without_a_further_run(open: Open) -> None:
    page = open("tool_based_generative_ui")
    page.send(INPUT, "A haiku")
    page.see(".card", "An old silent pond")
    page.see(".haikus", "An old silent pond")


def test_page_and_agent_change_one_recipe(open: Open) -> None:
    page = open("shared_state")
    page.send(INPUT, "A soup")
    page.see(".recipe", "Soup: Carrot")
    page.see(ANSWER, "I made soup of it.")
    page.click(".rename")
    page.see(".recipe", "Mine: Carrot")
    page.send(INPUT, "What have I got?")
    page.see(ANSWER, '"title": "Mine"')


def test_a_document_grows_with_the_arguments_of_its_call_and_is_confirmed(open: Open) -> None:
    page = open("predictive_state_updates")
    page.send(INPUT, "A story")
    page.click(".confirm:not([disabled])")
    page.see(ANSWER, "Glad you like it.")
    sizes = [int(size) for size in page.texts(".growth")[0].split()]
    assert sizes[-1] == len(DOCUMENT)
    assert len(sizes) > 3, "it came in pieces"


def test_options_of_subgraphs_are_chosen_whole(open: Open) -> None:
    page = open("subgraphs")
    page.send(INPUT, "Plan a trip")
    page.click(".options button", "United")
    page.click(".options button", "Hotel Zoe")
    page.see(".itinerary", "United Hotel Zoe")
    page.see(ANSWER, "Have a good trip!")
