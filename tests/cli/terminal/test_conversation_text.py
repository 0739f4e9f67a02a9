from trunkline import events as ev
from trunkline.cli.terminal.conversation_text import as_markdown, as_text
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


def test_what_was_said_is_escaped_for_a_terminal() -> None:
    events = [ev.TurnStarted(turn_id="t"), ev.Text(turn_id="t", message_id="m", delta="\x1b[2Jhidden")]
    for render in (as_text, as_markdown):
        assert "\\x1b[2Jhidden" in render(INFO, fold(events))
