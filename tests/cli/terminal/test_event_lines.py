from typing import Any

import pytest

from trunkline import events as ev
from trunkline.cli.terminal.event_lines import EventLines
from trunkline.content import ImageBlock, ResourceBlock
from trunkline.questions import ClientCall, Form, Link
from trunkline.testing import ScriptedAgent, run_prompt


async def lines_of(scenario: str) -> list[str]:
    lines = EventLines()
    events = await run_prompt(ScriptedAgent(), f"/{scenario}")
    return [line for event in events if (line := lines.describe(event)) is not None]


async def test_a_turn_is_told_in_lines() -> None:
    assert await lines_of("tools") == ["→ Search the notes", "✓ Search the notes"]
    assert await lines_of("text") == []
    assert await lines_of("sources") == [
        "source: On water https://example.com/water",
        "source: A physics book physics.pdf",
    ]
    assert await lines_of("compaction") == [
        "compaction in progress",
        "compaction completed: We spoke about towers and T-shirts.",
    ]
    assert await lines_of("fails") == ["error: the demo failed on purpose; send anything else to see it work"]


@pytest.mark.parametrize(
    ("question", "line"),
    [
        (Form(message="Fill in", fields={}), "? Fill in (a form)"),
        (Link(message="Visit", url="https://example.com"), "? Visit https://example.com"),
        (ClientCall(call_id="c", name="open"), "? asks the front end to run open"),
    ],
)
def test_a_question_is_one_line(question: Form | Link | ClientCall, line: str) -> None:
    assert EventLines().describe(ev.Asked(question_id="q", question=question)) == line


def test_an_update_without_news_is_not_told_again() -> None:
    lines = EventLines()
    update = ev.ToolUpdate(call_id="c", status="in_progress", title="Now named")
    assert lines.describe(update) == "→ Now named"
    assert lines.describe(update) is None
    assert lines.describe(ev.ToolUpdate(call_id="c", output="more")) is None


def test_a_lane_nobody_announced_is_named_by_its_id() -> None:
    media = ev.Media(lane="l1", message_id="m", content=ImageBlock(mime_type="image/png"))
    assert EventLines().describe(media) == "[l1] [image image/png]"
    resource = ev.Media(message_id="m", content=ResourceBlock(uri="file:///a"))
    assert EventLines().describe(resource) == "[resource file:///a]"


def test_an_activity_is_a_line_and_its_changes_are_none() -> None:
    lines = EventLines()
    said = ev.Activity(activity_id="a", activity_type="progress", content={"done": 1})
    assert lines.describe(said) == 'progress: {"done": 1}'
    assert lines.describe(ev.Activity(activity_id="a", activity_type="progress", patch=())) is None


CLEAR: Any = "\x1b[2J"


@pytest.mark.parametrize(
    "event",
    [
        ev.TurnFinished(stop_reason=CLEAR),
        ev.Notice(title="news", severity=CLEAR),
        ev.SubagentFinished(lane="l", outcome=CLEAR),
        ev.Compaction(compaction_id="c", status=CLEAR),
        ev.Answered(question_id="q", outcome="selected", option_kind=CLEAR),
        ev.ToolUpdate(call_id=CLEAR, status="failed"),
    ],
)
def test_a_word_of_a_foreign_agent_cannot_steer_the_terminal(event: ev.AnyEvent) -> None:
    line = EventLines().describe(event)
    assert line is not None
    assert "\\x1b[2J" in line
    assert "\x1b" not in line
