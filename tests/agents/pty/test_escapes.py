"""Escape sequences: read in any pieces, bounded, and never taken for text."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from trunkline.agents.pty.escapes import EscapeReader


class Heard:
    """What a handler is told."""

    def __init__(self) -> None:
        self.log: list[object] = []
        self.text = ""

    def print(self, text: str) -> None:
        self.text += text

    def control(self, char: str) -> None:
        self.log.append(char)

    def escape(self, char: str) -> None:
        self.log.append(f"ESC {char}")

    def csi(self, final: str, private: str, numbers: list[int]) -> None:
        self.log.append((private + final, numbers))


def heard(*pieces: bytes) -> Heard:
    handler = Heard()
    reader = EscapeReader(handler)
    for piece in pieces:
        reader.feed(piece)
    return handler


def test_text_controls_and_sequences_are_told_apart() -> None:
    told = heard(b"a\x1b[1;31mb\x1b[0m\r\n\x1b7\x1b[?1049hc")
    assert told.text == "abc"
    assert told.log == [("m", [1, 31]), ("m", [0]), "\r", "\n", "ESC 7", ("?h", [1049])]


def test_strings_for_the_terminal_are_skipped_however_long_they_are() -> None:
    told = heard(b"\x1b]0;a title\x07A\x1b]8;;http://x\x1b\\B\x1bP" + b"x" * 100_000 + b"\x1b\\C\x1b(0D")
    assert told.text == "ABCD"
    assert told.log == []


def test_a_sequence_without_an_end_is_bounded_and_one_that_is_no_command_is_dropped() -> None:
    assert heard(b"\x1b[" + b"1" * 100_000 + b"mrest").text == "rest"
    assert heard(b"\x1b[1$zx\x1b[<uy\x1b[\x1b[Az").log == [("z", [1]), ("<u", [0]), ("A", [0])]


def test_a_sequence_can_be_given_up_and_controls_work_inside_it() -> None:
    told = heard(b"\x1b[1\x18A\x1b[2\nB")
    assert (told.text, told.log) == ("A", ["\n", ("B", [2])])


def test_bytes_that_are_no_utf_8_are_replaced() -> None:
    assert heard(b"a\xffb").text == "a\ufffdb"


@given(st.text(), st.lists(st.integers(0, 40), max_size=6))
def test_any_chunks_of_the_same_bytes_are_the_same(text: str, cuts: list[int]) -> None:
    data = f"ä{text}\x1b[12;3Hü\x1b]0;t\x07".encode()
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    pieces = [data[a:b] for a, b in pairwise(places)]
    whole, parts = heard(data), heard(*pieces)
    assert (whole.text, whole.log) == (parts.text, parts.log)


@given(st.binary())
def test_whatever_comes_no_control_character_is_text(data: bytes) -> None:
    assert not any(char < " " or "\x7f" <= char <= "\x9f" for char in heard(data).text)
