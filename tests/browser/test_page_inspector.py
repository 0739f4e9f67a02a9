"""The inspector of our own page: one turn in five protocols, and the wire of a spawned agent."""

import json
from collections.abc import Callable

import pytest

from tests.browser.own_page import OwnPage

pytestmark = pytest.mark.slow

Converse = Callable[..., OwnPage]
PROTOCOLS = ("Neutral events", "ACP", "AG-UI", "AI SDK", "UnifiedMessage")


def inspect(talk: OwnPage) -> None:
    """Open the inspector, at a wide screen."""
    talk.page.resize(1500, 900)
    talk.page.press("Alt+i")
    talk.page.see(".inspector")


def test_one_turn_is_shown_in_all_protocols_side_by_side(converse: Converse, axe: str) -> None:
    talk = converse()
    talk.say("/tools")
    talk.hears("There are two notes")
    talk.rests()
    inspect(talk)
    page = talk.page
    for name in ("AI SDK", "UnifiedMessage"):
        page.click(".column-choice button", name)
    for name in PROTOCOLS:
        page.see(f".column[aria-label='{name}'] .line")
    page.see(".column[data-column=events] .line-name", "tool_call")
    page.see(".column[data-column=acp] .line-name", "session/update tool_call")
    page.see(".column[data-column=agui] .line-name", "TOOL_CALL_START")
    page.see(".column[data-column=aisdk] .line-name", "tool-input-start")
    assert page.count(".column[data-column=unified] .line") > 0
    assert page.texts(".column[data-column=events] .line-time")[0] == "+0.000"
    # A line opens to its JSON.
    page.click(".column[data-column=agui] .line-head", "TOOL_CALL_START")
    page.see(".column[data-column=agui] .line pre", '"toolCallName": "search"')
    # A moment is marked in all columns.
    page.click(".column[data-column=events] .line-time", nth=3)
    for name in ("events", "acp", "agui", "aisdk", "unified"):
        page.see(f".column[data-column={name}] .line-marked")
    assert page.attribute(".column[data-column=events] .line:nth-child(4)", "class") == "line line-marked"
    assert talk.overflow() <= 0
    talk.picture("inspector")
    page.evaluate(axe)
    assert talk.findings() == []
    page.theme("dark")
    page.wait("document.documentElement.dataset.theme === 'dark'")
    assert talk.findings() == []
    page.theme("light")
    page.press("Escape")
    page.miss(".inspector")


def test_lines_are_filtered_shown_raw_copied_and_downloaded(converse: Converse) -> None:
    talk = converse()
    talk.say("/tools")
    talk.hears("There are two notes")
    talk.rests()
    inspect(talk)
    page = talk.page
    page.see(".column[data-column=agui] .line")
    every = page.count(".column[data-column=agui] .line")
    page.fill(".inspector input[type=search]", "tool_call")
    page.see(".column[data-column=agui] .column-head", f"of {every}")
    assert 0 < page.count(".column[data-column=agui] .line") < every
    page.click(".inspector .toggle", "Raw")
    lines = [json.loads(line) for line in page.texts(".column[data-column=agui] .line-raw")]
    assert {line["type"] for line in lines} >= {"TOOL_CALL_START", "TOOL_CALL_END"}
    page.click(".column[data-column=agui] .copy-button")
    page.see(".column[data-column=agui] .copy-button", "Copied")
    name, text = page.download(".column[data-column=agui] [aria-label^='Download']")
    assert name == "agui.ndjson"
    assert [json.loads(line) for line in text.splitlines()] == lines
    name, text = page.download(".column-choice [aria-label^='Download the whole turn']")
    assert name.endswith(".json")
    assert set(json.loads(text)["protocols"]) == {"events", "acp", "agui", "aisdk", "unified"}


def test_a_running_turn_grows_in_the_inspector(converse: Converse) -> None:
    talk = converse()
    talk.say("/slow 200 0.1")
    talk.hears("step 1")
    inspect(talk)
    page = talk.page
    page.see(".inspector .live")
    page.see(".column[data-column=events] .line-summary", "step 3")
    page.see(".column[data-column=events] .line-summary", "step 12")
    page.click("button.stop")
    page.see(".column[data-column=events] .line-name", "turn_finished")
    page.miss(".inspector .live")


def test_a_long_turn_is_shown_in_pages(converse: Converse) -> None:
    talk = converse()
    talk.say("/slow 150 0.001")
    talk.hears("step 150")
    talk.rests()
    inspect(talk)
    page = talk.page
    column = ".column[data-column=events]"
    page.see(f"{column} .pager", "1\N{EN DASH}200")
    assert page.count(f"{column} .line") == 200
    page.click(f"{column} .pager button", "Newest")
    page.see(f"{column} .line-name", "turn_finished")
    page.click(f"{column} .pager button", "Earlier")
    page.see(f"{column} .pager button:not(:disabled)", "Later")


def test_an_earlier_turn_can_be_chosen(converse: Converse) -> None:
    talk = converse()
    talk.say("the first prompt")
    talk.hears("the first prompt")
    talk.rests()
    talk.say("the second prompt")
    talk.hears("the second prompt")
    talk.rests()
    inspect(talk)
    page = talk.page
    page.see(".column[data-column=events] .line-summary", "second")
    page.click(".column-choice button", "UnifiedMessage")
    page.select(".inspector select", "1 · end turn")
    page.see(".column[data-column=events] .line-summary", "first")
    # What is looked at stays.
    page.see(".column[data-column=unified] .line")


def test_the_wire_of_a_spawned_agent_is_shown_both_ways(converse: Converse) -> None:
    talk = converse("spawned")
    talk.say("over the wire")
    talk.hears("over the wire")
    talk.rests()
    inspect(talk)
    page = talk.page
    page.click("[role=tab]", "Agent's wire")
    page.see(".column[data-column=wire] .line-head:has(.line-out)", "session/prompt")
    page.see(".column[data-column=wire] .line-head:has(.line-in)", "session/update agent_message_chunk")
    page.click(".column[data-column=wire] .line-head", "session/prompt")
    page.see(".column[data-column=wire] .line pre", "over the wire")


def test_an_agent_without_a_wire_says_so(converse: Converse) -> None:
    talk = converse()
    talk.say("hello")
    talk.hears("hello")
    inspect(talk)
    talk.excused = ("404 (Not Found)",)
    talk.page.press("ArrowRight", "[role=tab][aria-selected=true]")
    talk.page.see(".inspector-note", "the agent of this session runs no program of its own")
    talk.page.see(".inspector-note", "An agent that is a program of its own")


def test_the_inspector_is_the_whole_of_a_narrow_screen_with_one_column(converse: Converse) -> None:
    talk = converse()
    talk.say("hello")
    talk.hears("hello")
    talk.rests()
    page = talk.page
    page.resize(400, 750)
    page.press("Alt+i")
    page.see(".column[data-column=events] .line")
    assert page.count(".column") == 1
    page.click(".column-choice button", "AG-UI")
    page.see(".column[data-column=agui] .line")
    assert page.count(".column") == 1
    assert page.evaluate("document.querySelector('.inspector').getBoundingClientRect().width") == 400
    assert talk.overflow() <= 0
    page.resize(900, 700)
