import time

from trunkline import events as ev
from trunkline.content import DiffBlock, ImageBlock, ResourceBlock, TextBlock
from trunkline.exports.markdown import as_markdown, as_text
from trunkline.folding import fold
from trunkline.journal import SessionInfo
from trunkline.testing import ScriptedAgent, run_prompt

INFO = SessionInfo(principal="local", session_id="sess_1", target="demo", title="A\ttitle")


async def test_media_sources_and_plans_have_their_place() -> None:
    media = as_text(INFO, fold(await run_prompt(ScriptedAgent(), "/media")))
    assert "[image image/png]" in media
    assert "[resource file:///demo/notes.md]" in media
    assert media.startswith("A title\nsess_1  demo\n")
    sources = as_markdown(INFO, fold(await run_prompt(ScriptedAgent(), "/sources")))
    assert "Source: On water https://example.com/water" in sources
    plan = as_markdown(INFO, fold(await run_prompt(ScriptedAgent(), "/plan")))
    assert plan.endswith("plan: ✓ Read the question  ✓ Write the answer  ✓ Check it\n")


def test_output_cannot_end_its_own_block() -> None:
    events: list[ev.Event] = [
        ev.TurnStarted(turn_id="t"),
        ev.ToolCall(turn_id="t", call_id="c", name="cat", message_id="m"),
        ev.ToolUpdate(turn_id="t", call_id="c", status="completed", output="```\n# not a heading\n````"),
        ev.ToolCall(turn_id="t", call_id="d", name="quiet", message_id="m"),
        ev.ToolUpdate(turn_id="t", call_id="d", status="failed", reason="it is\nquiet"),
        ev.TurnFinished(turn_id="t"),
    ]
    text = as_markdown(SessionInfo(principal="local", session_id="s"), fold(events))

    assert text.startswith("# Untitled session\n")
    assert "\n`````\n```\n# not a heading\n````\n`````\n" in text
    assert "**✗ quiet (failed): it is quiet**" in text


def test_a_long_run_of_backticks_gets_a_longer_fence_at_once() -> None:
    run = "`" * 200_000
    events: list[ev.Event] = [
        ev.TurnStarted(turn_id="t"),
        ev.ToolCall(turn_id="t", call_id="c", name="cat", message_id="m"),
        ev.ToolUpdate(turn_id="t", call_id="c", status="completed", output=run),
    ]
    begun = time.process_time()
    text = as_markdown(INFO, fold(events))
    assert f"\n{run}`\n{run}\n{run}`" in text
    assert time.process_time() - begun < 5


def test_what_was_said_is_escaped_for_a_terminal() -> None:
    events = [ev.TurnStarted(turn_id="t"), ev.Text(turn_id="t", message_id="m", delta="\x1b[2Jhidden")]
    for render in (as_text, as_markdown):
        assert "\\x1b[2Jhidden" in render(INFO, fold(events))


def turn(number: int, *last: ev.Event) -> list[ev.Event]:
    turn_id = f"t{number}"
    said = ev.UserMessage(turn_id=turn_id, message_id=f"u{number}", content=(TextBlock(text=f"{number}?"),))
    answer = ev.Text(turn_id=turn_id, message_id=f"m{number}", delta=f"{number}!")
    return [ev.TurnStarted(turn_id=turn_id), said, answer, *last]


def test_a_turn_that_did_not_end_well_says_so_where_it_ended() -> None:
    events = [
        *turn(1, ev.TurnFinished(turn_id="t1", stop_reason="cancelled")),
        *turn(2, ev.TurnFailed(turn_id="t2", code="interrupted", message="the process ended")),
        *turn(3, ev.TurnFailed(turn_id="t3", code="agent_failed", message="it broke")),
        *turn(4, ev.TurnFinished(turn_id="t4")),
        *turn(5),
    ]
    lines = [line for line in as_text(INFO, fold(events)).splitlines() if line]
    assert lines[lines.index("1!") + 1] == "cancelled"
    assert lines[lines.index("2!") + 1] == "interrupted: the process ended"
    assert lines[lines.index("3!") + 1] == "failed: it broke"
    assert lines[lines.index("4!") + 1] == "you:"
    assert lines[-1] == "not finished"
    assert "*interrupted: the process ended*" in as_markdown(INFO, fold(events))


def test_dates_are_told_where_they_are_known() -> None:
    info = SessionInfo(principal="local", session_id="s", created_at=1e9, updated_at=2e9)
    dates = "egun 2001-09-09 01:46 UTC, last used 2033-05-18 03:33 UTC\n"
    assert f"\nb{dates}" in as_text(info, fold([]))
    assert f"\nB{dates}" in as_markdown(info, fold([]))


LOOSE_CALLS: list[ev.Event] = [
    ev.TurnStarted(turn_id="t"),
    ev.UserMessage(turn_id="t", message_id="u", content=(TextBlock(text="Look"),)),
    ev.ToolCall(turn_id="t", call_id="c", name="find"),
    ev.Text(turn_id="t", message_id="a", delta="I look again."),
    ev.ToolCall(turn_id="t", call_id="d", name="read"),
    ev.TurnFinished(turn_id="t", stop_reason="max_tokens"),
]


def test_calls_that_belong_to_no_message_stand_where_they_were_made() -> None:
    text = as_text(INFO, fold(LOOSE_CALLS))
    order = [
        text.index(word) for word in ("Look", "agent:", "find (", "I look again.", "read (", "max tokens")
    ]
    assert order == sorted(order)
    assert "**" in as_markdown(INFO, fold(LOOSE_CALLS)).partition("## Agent")[2]


async def test_a_change_and_the_output_of_a_terminal_are_in_the_markdown() -> None:
    changed = as_markdown(INFO, fold(await run_prompt(ScriptedAgent(), "/diff")))
    assert '(changed)\n\n```diff\n@@ -1,2 +1,2 @@\n def greet():\n-    return "hello"\n+' in changed
    ran = as_markdown(INFO, fold(await run_prompt(ScriptedAgent(), "/terminal")))
    assert "\n```\nline 1\nline 2\nline 3\n```\n" in ran


def test_what_a_call_gave_as_content_cannot_be_a_part_of_the_document() -> None:
    given = (
        TextBlock(text="# not a heading"),
        DiffBlock(path="a.txt", old=None, new="```\n"),
        DiffBlock(path="b.txt", old="x", new="x"),
        ImageBlock(mime_type="image/png", data=""),
    )
    events: list[ev.Event] = [
        ev.TurnStarted(turn_id="t"),
        ev.ToolCall(turn_id="t", call_id="c", name="cat", message_id="m"),
        ev.ToolUpdate(turn_id="t", call_id="c", status="completed", content=given),
        ev.TurnFinished(turn_id="t"),
    ]
    text = as_markdown(INFO, fold(events))
    assert "\n```\n# not a heading\n```\n" in text
    assert "`a.txt` (new)\n\n````diff\n@@ -0,0 +1 @@\n+```\n````\n" in text
    assert "`b.txt` (unchanged)\n" in text
    assert "[image image/png]" in text


def test_what_a_person_attached_is_named() -> None:
    content = (
        TextBlock(text="Look:"),
        ImageBlock(mime_type="image/png", data=""),
        ResourceBlock(uri="file:///a.txt", text="inside"),
    )
    events: list[ev.Event] = [
        ev.TurnStarted(turn_id="t"),
        ev.UserMessage(turn_id="t", message_id="u", content=content),
    ]
    for render in (as_text, as_markdown):
        shown = render(INFO, fold(events))
        assert "Look:\n\n[image image/png]\n\n[resource file:///a.txt]\n```\ninside\n```" in shown
