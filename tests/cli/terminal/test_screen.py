import io

import pytest
from rich.console import Console

from trunkline import events as ev
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


def test_a_code_fence_is_one_block() -> None:
    screen, shown = make()
    screen.say("```\na\n\nb\n")
    assert shown.getvalue() == ""
    screen.say("```\n\n")
    assert shown.getvalue().split() == ["a", "b"]


def test_an_endless_paragraph_is_drawn_in_parts() -> None:
    screen, shown = make()
    screen.say("word " * 2000)
    assert shown.getvalue().count("word") == 2000


def test_on_a_terminal_the_last_paragraph_grows() -> None:
    screen, shown = make(terminal=True)
    screen.say("growing")
    assert "growing" in shown.getvalue()
    screen.note("a note")
    assert shown.getvalue().rindex("a note") > shown.getvalue().rindex("growing")


def test_links_show_where_they_lead_and_controls_do_nothing() -> None:
    screen, shown = make(terminal=True)
    screen.say("[https://bank.example](https://evil.example) \x1b]8;;x")
    screen.end_answer()
    assert "https://evil.example" in shown.getvalue()
    assert "\x1b]8" not in shown.getvalue()


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
    assert shown.getvalue().strip().endswith(f"wait ({status})")


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
