import io

from trunkline import events as ev
from trunkline.cli.terminal.plain_screen import PlainScreen
from trunkline.content import DiffBlock, TerminalBlock
from trunkline.conversation import Call, Conversation, TerminalState


def make() -> tuple[PlainScreen, io.StringIO]:
    shown = io.StringIO()
    return PlainScreen(shown), shown


def test_an_answer_is_written_exactly_as_it_was_said() -> None:
    # ruff: noqa: RUF001
    said = "👨\u200d💻 می\u200cخواهم **bold** " + "word " * 60 + "\u200f\x1b[1mtext\n\n\n| a |"
    screen, shown = make()
    for piece in said:
        screen.say(piece)
    screen.end_answer()
    assert shown.getvalue() == said + "\n"


def test_half_a_character_does_not_end_the_chat() -> None:
    screen, shown = make()
    screen.say("half \ud83d")
    assert shown.getvalue() == "half ?"


def test_thoughts_are_told_from_the_answer() -> None:
    screen, shown = make()
    screen.say("First.")
    screen.think("Hm, ")
    screen.think("well")
    screen.say("Then.")
    screen.end_turn()
    assert shown.getvalue() == "First.\n(thinking) Hm, well\nThen."


def test_notes_begin_a_line_of_their_own_and_input_follows_its_mark() -> None:
    screen, shown = make()
    screen.say("text")
    screen.note("a note")
    screen.ask("> ")
    screen.echo("", "typed\x1b[2J")
    screen.plan((ev.PlanEntry(content="One", status="completed"), ev.PlanEntry(content="Two")))
    assert shown.getvalue() == "text\na note\n> typed\\x1b[2J\nPlan\n  ✓ One\n  · Two\n"


def test_colours_of_a_command_are_left_out_and_other_controls_shown() -> None:
    screen, shown = make()
    conversation = Conversation(terminals={"t": TerminalState(data="\x1b[32m5 passed\x1b[0m\x07\n")})
    call = Call(
        call_id="c",
        name="run",
        title="Run the tests?",
        status="completed",
        content=(TerminalBlock(terminal_id="t"), DiffBlock(path="a.txt", old="a\n", new="b\n")),
    )
    screen.work(Call(call_id="c", name="run", title="Run the tests?", status="in_progress"))
    screen.card(call, conversation)
    expected = "→ Run the tests\n✓ Run the tests\n  5 passed\\x07\n  a.txt (changed)\n  -a\n  +b\n"
    assert shown.getvalue() == expected


def test_a_question_hides_nothing_and_says_when_it_is_cut() -> None:
    screen, shown = make()
    assert screen.question("May\u200d I?", ["tool: run"], ["  a  Allow"], more="s shows all")
    assert shown.getvalue() == "? May\\u200d I?\n  tool: run\n    a  Allow\n"
    assert not screen.question("May I?", ["x"] * 100, [], more="s shows all")
    assert "NOT shown: s shows all" in shown.getvalue()
