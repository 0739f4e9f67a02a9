import io

import pytest
from rich.console import Console

from trunkline import events as ev
from trunkline.cli.terminal.live_area import LiveArea
from trunkline.cli.terminal.screen import Screen
from trunkline.content import ImageBlock, TerminalBlock, TextBlock
from trunkline.conversation import Call, Conversation


def make(*, terminal: bool = False) -> tuple[Screen, io.StringIO]:
    shown = io.StringIO()
    console = Console(
        file=shown, width=80, force_terminal=terminal, highlight=False, markup=False, emoji=False
    )
    return Screen(console), shown


def test_paragraphs_are_drawn_when_they_are_finished() -> None:
    screen, shown = make()
    screen.say("one **bold")
    assert shown.getvalue() == ""
    screen.say("** word\n\ntwo")
    assert shown.getvalue().split() == ["one", "bold", "word"]
    screen.end_answer()
    assert shown.getvalue().split()[-1] == "two"


def test_what_is_said_of_a_name_in_a_list_stays_in_its_column() -> None:
    screen, shown = make()
    about = "Show or choose an option of the agent by its name and its value, as often as you like"
    screen.note(f"  /option    {about}\n* sess_1a2b3c  14 s  {about}\n  {about}")
    lines = shown.getvalue().splitlines()
    assert lines[0].startswith("  /option    Show or choose")
    assert lines[1] == " " * 13 + "often as you like"
    assert lines[3].startswith(" " * 15)
    assert lines[-1] == "you like"  # No row: nothing is put into columns.


def test_a_code_fence_is_one_block() -> None:
    screen, shown = make()
    screen.say("```\na\n\nb\n")
    assert shown.getvalue() == ""
    screen.say("```\n\n")
    assert shown.getvalue().split() == ["a", "b"]


def test_a_fence_ends_only_with_as_many_marks_as_it_began_with() -> None:
    screen, shown = make()
    screen.say("````md\n```py\n\na\n```\n\nb\n")
    assert shown.getvalue() == ""
    screen.say("````\n\nc")
    assert shown.getvalue().split() == ["```py", "a", "```", "b"]


def test_a_list_is_one_block_with_what_is_indented_in_it() -> None:
    screen, shown = make()
    screen.say("- one\n\n    more of one\n\n- two\n\n")
    assert shown.getvalue() == ""
    screen.say("after")
    assert shown.getvalue().splitlines() == [" • one", "   more of one", " • two"]


def test_an_endless_paragraph_is_drawn_in_parts() -> None:
    screen, shown = make()
    screen.say("word " * 2000)
    assert shown.getvalue().count("word") == 2000


def test_on_a_terminal_the_last_paragraph_grows() -> None:
    screen, shown = make(terminal=True)
    screen.live = LiveArea()
    screen.say("**gro")
    assert "**gro" in screen.live.growing
    screen.say("wing**\n\nand more")
    assert "growing" in shown.getvalue()
    assert "and more" in screen.live.growing
    screen.note("a note")
    assert screen.live.growing == ""
    assert shown.getvalue().rindex("a note") > shown.getvalue().rindex("and more")


def test_links_show_where_they_lead_and_controls_do_nothing() -> None:
    screen, shown = make(terminal=True)
    screen.say("[https://bank.example](https://evil.example) \x1b]8;;x")
    screen.end_answer()
    assert "https://evil.example" in shown.getvalue()
    assert "\x1b]8" not in shown.getvalue()


def test_a_line_end_in_two_pieces_is_not_shown_as_a_control() -> None:
    screen, shown = make()
    for piece in ("one\r", "\n\r", "\ntwo\r"):
        screen.say(piece)
    screen.end_answer()
    assert shown.getvalue() == "one\n\ntwo\\x0d\n"


def test_a_card_shows_what_was_given_and_what_came_back() -> None:
    screen, shown = make()
    call = Call(
        call_id="c",
        name="run",
        status="failed",
        arguments='{"a": 1}',
        output="\n".join(str(number) for number in range(30)),
        content=(TerminalBlock(terminal_id="gone"), ImageBlock(mime_type="image/png")),
        reason="it broke",
    )
    screen.card(call, Conversation())
    assert "✗ run (failed)" in shown.getvalue()
    assert '{"a": 1}' in shown.getvalue()
    assert "… 20 more lines" in shown.getvalue()


def test_a_single_line_more_is_shown_itself() -> None:
    screen, shown = make()
    screen.card(Call(call_id="c", name="run", output="\n".join("x" * 12) + "\nlast"), Conversation())
    assert "last" in shown.getvalue()
    assert "more line" not in shown.getvalue()


@pytest.mark.parametrize(("output", "times"), [("not now,\nplease", 0), ("", 1)])
def test_a_reason_that_is_the_result_too_is_shown_once(output: str, times: int) -> None:
    screen, shown = make()
    call = Call(call_id="c", name="run", status="denied", output=output, reason="not now,\nplease")
    screen.card(call, Conversation())
    assert shown.getvalue().count("please") == 1
    assert shown.getvalue().count("not now, please") == times


@pytest.mark.parametrize("status", ["completed", "cancelled"])
def test_a_call_without_anything_to_show_is_a_line(status: ev.ToolStatus) -> None:
    screen, shown = make()
    screen.card(Call(call_id="c", name="wait", status=status), Conversation())
    assert shown.getvalue().strip().endswith("✓ wait" if status == "completed" else "⊘ wait (cancelled)")


def test_a_table_of_a_card_is_drawn_in_columns_and_without_fences() -> None:
    screen, shown = make()
    table = "| shop | spent |\n| --- | --- |\n| Rewe | 311.09 EUR |\n| Lidl | 4.00 EUR |"
    text = f"18 rows\n\n{table}\n\n```\nbars\n```"
    call = Call(call_id="c", name="add", status="completed", input={}, content=(TextBlock(text=text),))
    screen.card(call, Conversation())
    lines = [line.strip("│ ").rstrip() for line in shown.getvalue().splitlines()]
    assert "Rewe   311.09 EUR" in lines
    assert "Lidl     4.00 EUR" in lines
    assert "bars" in lines
    assert not {"{}", "```"} & {*lines}


def test_a_table_that_is_too_wide_is_folded_and_nothing_of_it_is_hidden() -> None:
    screen, shown = make()
    cells = [letter * 30 for letter in "abcdef"]
    rule = " | ".join("---" for _ in cells)
    screen.question("Import?", [f"| {' | '.join(cells)} |", f"| {rule} |", f"| {' | '.join(cells)} |"])
    assert all(shown.getvalue().count(letter) >= 60 for letter in "abcdef")
    assert max(map(len, shown.getvalue().splitlines())) <= 80


def test_colours_of_a_command_are_kept_and_other_controls_shown() -> None:
    screen, shown = make(terminal=True)
    call = Call(call_id="c", name="run", status="completed", output="\x1b[32m5 passed\x1b[0m\x1b[2J\x07")
    screen.card(call, Conversation())
    assert "\x1b[32m5 passed\x1b[0m" in shown.getvalue()
    assert "\\x1b[2J\\x07" in shown.getvalue()


def test_a_long_line_and_a_table_stay_behind_the_bar() -> None:
    screen, shown = make()
    table = "| shop | spent |\n| --- | --- |\n| Rewe | 311.09 EUR |"
    call = Call(call_id="c", name="add", status="completed", output=f"{'word ' * 40}\n{table}")
    screen.card(call, Conversation())
    head, *lines = shown.getvalue().splitlines()
    assert head == "✓ add"
    assert len(lines) == 6
    assert all(line.startswith("  │") and len(line) <= 80 for line in lines)


def test_an_answer_has_no_air_around_it_and_its_heading_is_at_the_left() -> None:
    screen, shown = make()
    screen.say("# One\n\ntext\n\n")
    screen.say("```\ncode\n```\n\n- a\n")
    screen.think("well")
    screen.end_answer()
    assert shown.getvalue() == "One\n\ntext\n\n code\n\n • a\n  well\n"
