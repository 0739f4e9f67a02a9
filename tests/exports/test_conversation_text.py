import re
import time

from trunkline import events as ev
from trunkline.content import TextBlock
from trunkline.exports.conversation_text import as_markdown, as_text
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
    assert re.search(
        r"\nbegun 2001-09-\d\d \d\d:\d\d, last used 2033-05-\d\d \d\d:\d\d\n", as_text(info, fold([]))
    )
    assert "Begun 2001-09-" in as_markdown(info, fold([]))


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
