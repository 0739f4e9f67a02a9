"""The transcript of a screen: each line once, when it has settled."""

from hypothesis import given
from hypothesis import strategies as st

from trunkline.agents.pty.screen import Screen
from trunkline.agents.pty.transcript import Transcript


class Reading:
    """A screen that is read, with a clock of its own."""

    def __init__(self, rows: int = 4, columns: int = 20) -> None:
        self.screen = Screen(rows, columns)
        self.transcript = Transcript(self.screen, settle=1.0)
        self.now = 0.0

    def write(self, text: str) -> None:
        self.screen.feed(text.encode())

    def read(self, after: float = 0.0) -> str:
        self.now += after
        return self.transcript.read(self.now)


def test_a_line_is_given_once_it_has_not_changed_for_a_while() -> None:
    one = Reading()
    one.write("a\r\nb")
    assert (one.read(), one.read(0.5), one.read(0.5), one.read(9)) == ("", "", "a\n", "")


def test_a_line_that_scrolls_away_is_given_at_once() -> None:
    one = Reading(rows=2)
    one.write("1\r\n2\r\n3")
    assert one.read() == "1\n"


def test_a_progress_bar_is_given_as_it_ends() -> None:
    one = Reading()
    for percent in range(0, 101, 10):
        one.write(f"\r{percent}%")
        assert one.read(5) == ""
    one.write("\r\ndone\r\n")
    one.read()
    assert one.read(1) == "100%\ndone\n"


def test_a_line_below_one_that_changes_waits_for_it() -> None:
    one = Reading()
    one.write("busy |\r\nlog\r\n")
    one.read()
    one.write("\x1b[2A\rbusy /\x1b[2B\r")
    assert one.read(1) == ""
    assert one.read(1) == "busy /\nlog\n"


def test_the_end_gives_the_line_of_the_cursor_and_what_changed_after_it_was_given() -> None:
    one = Reading()
    one.write("old\r\n> ")
    one.read()
    assert one.read(1) == "old\n"
    one.write("\x1b[A\rnew\x1b[B\r> ")
    assert one.transcript.finish() == "new\n>"
    assert one.transcript.finish() == ""


def test_what_is_typed_is_not_given_and_neither_is_the_programs_prompt_after_it() -> None:
    one = Reading()
    one.write("$ ")
    assert one.transcript.finish() == "$"
    one.transcript.typed(["one", "two"])
    one.write("one\r\n$ two\r\n3\r\n$ ")
    one.read()
    assert one.read(1) == "3\n"
    assert one.transcript.finish() == ""


def test_a_long_line_comes_without_the_breaks_of_the_window() -> None:
    one = Reading(rows=3, columns=4)
    one.write("abcdefgh12\r\nx\r\ny\r\nz")
    assert one.read() == "abcdefgh12\n"


def test_a_full_screen_is_given_at_the_end_and_only_if_it_changed() -> None:
    one = Reading()
    one.write("\x1b[?1049h\x1b[2;3Hmenu\x1b[3;1H1 open")
    assert one.read(9) == ""
    assert not one.transcript.is_behind
    assert one.transcript.finish() == "  menu\n1 open\n"
    assert one.transcript.finish() == ""
    one.write("\x1b[2;3Hlist")
    assert one.transcript.finish() == "  list\n1 open\n"


def test_it_is_behind_while_whole_lines_wait() -> None:
    one = Reading()
    assert not one.transcript.is_behind
    one.write("a")
    assert not one.transcript.is_behind
    one.write("\r\n")
    assert one.transcript.is_behind
    one.read()
    one.read(1)
    assert not one.transcript.is_behind


def test_a_line_without_an_end_is_given_in_pieces() -> None:
    one = Reading(rows=2, columns=1000)
    text = ""
    for _ in range(200):
        one.write("x" * 1000)
        text += one.read()
    assert len(text) > 60_000


_LINES = st.text("abc xyz", min_size=1, max_size=30).map(str.strip).filter(bool)


@given(st.lists(_LINES, max_size=20), st.data())
def test_lines_come_whole_and_once_whenever_they_are_read(lines: list[str], data: st.DataObject) -> None:
    one = Reading(rows=3, columns=10)
    text = ""
    for line in lines:
        one.write(f"{line}\r\n")
        if data.draw(st.booleans()):
            text += one.read(data.draw(st.sampled_from([0.1, 2.0])))
    text += one.transcript.finish()
    assert text.split("\n") == [*lines, ""]
