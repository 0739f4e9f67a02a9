"""What the page makes of texts, without a browser: hidden characters, colours, blocks, changes and forms.

The page runs in Node here, and its rules are held against those of Python where both have them.
"""

import itertools
import json
import os
import shutil
import subprocess
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.browser.page_agents import FIELDS, MARKDOWN
from trunkline.errors import InvalidCommand
from trunkline.questions import Form
from trunkline.safe_text import escape_json, reveal
from trunkline.session.form_answers import check_form_answer

pytestmark = pytest.mark.slow

often = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


class PageTexts:
    """Node with the pure parts of the page."""

    def __init__(self, module: Path) -> None:
        self._node = subprocess.Popen(
            ["node", module], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def ask(self, what: str, **given: Any) -> Any:
        """Give what the page makes of something."""
        assert self._node.stdin is not None
        assert self._node.stdout is not None
        self._node.stdin.write(json.dumps({"what": what, "given": given}) + "\n")
        self._node.stdin.flush()
        return json.loads(self._node.stdout.readline())

    def close(self) -> None:
        """Let Node go."""
        self._node.communicate(timeout=30)


@pytest.fixture(scope="module")
def texts(root: Path, web_packages: Path, tmp_path_factory: pytest.TempPathFactory) -> Generator[PageTexts]:
    work = tmp_path_factory.mktemp("texts")
    shutil.copytree(root / "web/src", work / "src")
    shutil.copytree(root / "web/tests", work / "tests")
    os.symlink(web_packages / "node_modules", work / "node_modules")
    words = ["tests/text_lines.ts", "--platform", "node", "--format", "esm", "--file", "texts.mjs"]
    bundler = web_packages / "node_modules/.bin/rolldown"
    subprocess.run([bundler, *words], cwd=work, check=True, capture_output=True, timeout=120)
    texts = PageTexts(work / "texts.mjs")
    yield texts
    texts.close()


_SAID = st.text(
    st.one_of(
        st.sampled_from("ab \t\n\r\x1b\x07\xa0\xad\u200b\u200d\u202e\u2028\u3000\ufeff\U000e0041😀👩"),
        st.characters(codec="utf-8"),
    ),
    max_size=60,
)
_BLANKS = st.lists(st.sampled_from([" ", "\t", "\n", "x", " " * 9, " " * 41, "\n\n\n\n\n"]), max_size=30)


@given(st.one_of(_SAID, _BLANKS.map("".join)))
@often
def test_what_hides_is_shown_as_in_the_terminal(texts: PageTexts, said: str) -> None:
    assert texts.ask("reveal", text=said) == reveal(said)


@given(_SAID)
@often
def test_json_is_spelled_as_in_python(texts: PageTexts, said: str) -> None:
    line = json.dumps({"said": said}, ensure_ascii=False)
    spelled = texts.ask("escape_json", text=line)
    assert spelled == escape_json(line.encode()).decode()
    assert json.loads(spelled) == {"said": said}


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("```console\nmade\nagain\n```", "made"),
        ("~~~\n\nmade\n~~~", "made"),
        ("made\nagain", "made"),
        ('{\n  "size": 3\n}', '{ "size": 3 }'),
        ("```console\n```", ""),
    ],
)
def test_a_closed_card_says_the_first_line_and_no_fence(texts: PageTexts, said: str, line: str) -> None:
    assert texts.ask("summary", text=said) == line


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_file_keeps_its_letters_whatever_its_encoding(texts: PageTexts, encoding: str) -> None:
    said = "Müller & Söhne; 12,50\n"  # Node 20 reads the sign of the euro wrongly, browsers do not.
    assert texts.ask("file", bytes=list(said.encode(encoding))) == said


def test_bytes_that_are_no_text_are_none(texts: PageTexts) -> None:
    assert texts.ask("file", bytes=[80, 75, 3, 4, 0, 255]) is None


def test_the_end_of_a_question_has_its_day_unless_that_is_today(texts: PageTexts) -> None:
    now = 1_795_125_077  # 21:51 in UTC
    soon, later = (texts.ask("moment", at=now + seconds, now=now) for seconds in (1, 7 * 86_400))
    assert later.endswith(soon)
    assert later != soon


def test_tokens_that_nobody_counted_are_not_shown_as_none(texts: PageTexts) -> None:
    assert texts.ask("spent", usages=[{"input_tokens": 0, "output_tokens": None}]) is None
    spent = [{"input_tokens": 3, "output_tokens": 1}, {"output_tokens": 2}]
    assert texts.ask("spent", usages=spent) == {"input": 3, "output": 3}


@pytest.mark.parametrize("choice", ["Default", "Default (recommended)", "high", "Off", "xhigh", "3"])
def test_a_setting_is_named_beside_a_value_that_does_not_say_it(texts: PageTexts, choice: str) -> None:
    assert texts.ask("says_what_it_is", choice=choice) is False


@pytest.mark.parametrize("choice", ["Opus", "Ask", "Demo Small", "Automode", "Nova", "Highlander"])
def test_a_setting_whose_value_says_it_has_no_name_beside_it(texts: PageTexts, choice: str) -> None:
    assert texts.ask("says_what_it_is", choice=choice) is True


@given(
    st.lists(st.sampled_from(["a", "\n", "\x1b[31m", "\x1b[0m", "\x1b[38;5;9m", "\x1b[48;2;1;2;3m", "\r\n"]))
)
@often
def test_colours_are_no_text_and_nothing_else_is_lost(texts: PageTexts, pieces: list[str]) -> None:
    shown = texts.ask("ansi", text="".join(pieces))
    plain = "".join("\n" if piece == "\r\n" else piece for piece in pieces if not piece.startswith("\x1b"))
    assert "".join(piece["text"] for piece in shown) == plain
    assert not any(piece.get("control") for piece in shown)


@given(st.text("ab\x1b[2J\x07\x08\x9b]0;m\r", max_size=30))
@often
def test_other_controls_are_shown_and_none_is_passed_on(texts: PageTexts, output: str) -> None:
    shown = texts.ask("ansi", text=output)
    assert not any(
        ord(letter) < 32 or 0x7F <= ord(letter) < 0xA0 for piece in shown for letter in piece["text"]
    )


@pytest.mark.parametrize(
    ("codes", "style"),
    [
        ("31", "ansi-1"),
        ("1;32", "ansi-2 ansi-bold"),
        ("97;44", "ansi-15 ansi-on-4"),
        ("38;5;196", "ansi-9"),
        ("38;2;0;120;0", "ansi-2"),
        ("48;5;236", "ansi-on-0"),
        ("7", "ansi-bg ansi-on-fg"),
        ("4;9;3;2", "ansi-dim ansi-italic ansi-underline ansi-strike"),
        ("31;39", ""),
        ("1;22;3;23;4;24;7;27;9;29", ""),
    ],
)
def test_a_colour_is_a_class(texts: PageTexts, codes: str, style: str) -> None:
    (piece,) = texts.ask("ansi", text=f"\x1b[{codes}mtext")
    assert piece == {"text": "text", "style": style}


@given(st.text("ab\n", max_size=40), st.integers(1, 5), st.integers(1, 30))
@often
def test_the_end_of_an_output_has_no_more_lines_and_characters_than_allowed(
    texts: PageTexts, output: str, lines: int, characters: int
) -> None:
    tail = texts.ask("tail", text=output, lines=lines, characters=characters)
    shown = output[tail["from"] :]
    assert len(shown) <= characters
    assert len(shown.splitlines()) <= lines
    assert (tail["hidden"] > 0) == (tail["from"] > 0)
    if len(output) <= characters and len(output.splitlines()) <= lines:
        assert shown == output


_LINES = st.lists(
    st.sampled_from(
        [
            *MARKDOWN.splitlines(keepends=True),
            "> quote\n",
            "---\n",
            "***bold\n",
            "\n",
            "<details>\n",
            "</details>\n",
            "text\n",
        ]
    ),
    max_size=25,
)


@given(_LINES, st.data())
@often
def test_markdown_that_grows_ends_as_if_it_had_come_at_once(
    texts: PageTexts, lines: list[str], data: st.DataObject
) -> None:
    text = "".join(lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=10)))
    blocks = texts.ask("blocks", text=text, cuts=cuts)
    assert blocks["grown"] == blocks["whole"]


def test_many_foldings_that_never_close_do_not_hold_the_page_up(texts: PageTexts) -> None:
    begun = time.monotonic()
    blocks = texts.ask("blocks", text="<details>\n\n" * 20_000, cuts=[])
    assert blocks["grown"] == blocks["whole"]
    assert time.monotonic() - begun < 15


def test_a_long_paragraph_and_a_long_list_are_cut_and_nothing_is_lost(texts: PageTexts) -> None:
    words = " ".join(map(str, range(1, 12_001)))
    items = "".join(f"- item {number} of a list\n" for number in range(2_000))
    text = f"# Head\n\n{words}\n\n{items}\nThe end.\n"
    cuts = list(range(0, len(text), 997))
    blocks = texts.ask("blocks", text=text, cuts=cuts)
    assert blocks["grown"] == blocks["whole"]
    kinds = [
        (kind, len(list(group))) for kind, group in itertools.groupby(b["kind"] for b in blocks["whole"])
    ]
    assert kinds[0] == ("other", 1)
    assert kinds[1][0] == "paragraph"
    assert max(len(block["source"]) for block in blocks["whole"]) <= 16_000
    assert "".join(b["source"] for b in blocks["whole"] if b["kind"] == "paragraph").startswith(words)
    assert sum(block["source"].count("- item") for block in blocks["whole"]) == 2_000


@given(st.one_of(st.none(), st.text("ab\n", max_size=30)), st.one_of(st.none(), st.text("ab\n", max_size=30)))
@often
def test_the_rows_of_a_change_are_both_texts(texts: PageTexts, before: str | None, after: str | None) -> None:
    change = texts.ask("change", before=before, after=after)
    for text, sign, number in ((before, "-", "old"), (after, "+", "new")):
        rows = [row for row in change["rows"] if row["sign"] in (" ", sign)]
        lines = [row["text"] for row in rows]
        if lines and lines[-1] == "\\ No newline at the end":
            assert "\n".join(lines[:-1]) == text
        else:
            assert "".join(f"{line}\n" for line in lines) == (text or "")
        assert [row[number] for row in rows] == list(range(1, len(rows) + 1))
    assert change["word"] == (
        "new"
        if before is None
        else "deleted"
        if after is None
        else "unchanged"
        if before == after
        else "changed"
    )


def test_texts_that_are_too_long_are_not_compared(texts: PageTexts) -> None:
    change = texts.ask("change", before="a\n" * 15_000, after="b\n" * 15_000)
    assert change["whole"]
    assert (change["added"], change["removed"]) == (15_000, 15_000)


_TYPED = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        ["Ada", "ada@example.com", "https://a.example/", "2026-02-30", "2026-02-28", "3", "-1", "1.5"]
    ),
)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            **dict.fromkeys(("name", "email", "site", "day", "seats", "share"), _TYPED),
            "size": st.sampled_from(["s", "l", ""]),
            "country": st.sampled_from(["AT", "NO", ""]),
            "extras": st.lists(st.sampled_from(["lunch", "wifi", "desk"]), unique=True),
            "news": st.booleans(),
        },
    )
)
@often
def test_a_form_that_the_page_accepts_is_accepted_by_the_server(
    texts: PageTexts, values: dict[str, Any]
) -> None:
    report = texts.ask("form", schema=FIELDS, values=values)
    form = Form(fields=FIELDS)
    if not report["wrong"]:
        check_form_answer(form, report["content"])
        return
    for name in report["wrong"]:
        # What the page refuses is missing or really wrong.
        value: Any = values.get(name, "")
        if value == "":
            assert name in FIELDS["required"]
        elif name in ("name", "email", "day", "size", "extras"):
            with pytest.raises(InvalidCommand):
                check_form_answer(Form(fields={"properties": FIELDS["properties"]}), {name: value})


# -- frames ----------------------------------------------------------------------------------------


_SENT = st.lists(
    st.tuples(
        st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), max_size=8), st.integers(0, 99)
    ),
    max_size=6,
)


@given(_SENT, st.sampled_from(["\n", "\r\n", "\r"]), st.data())
@often
def test_frames_are_the_same_however_they_are_cut(
    texts: PageTexts, sent: list[tuple[str, int]], ending: str, data: st.DataObject
) -> None:
    wire = "".join(f"id: {place}\ndata: x{text}\n\n: keep-alive\n\n" for text, place in sent)
    wire = (wire + "event: snapshot\ndata: a\ndata: b\n\n").replace("\n", ending)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(wire)), max_size=6)))
    pieces = [wire[a:b] for a, b in itertools.pairwise([0, *cuts, len(wire)])]
    # A CR may be half of a line's end: the last frame is sure when something follows it.
    frames = texts.ask("frames", pieces=[*pieces, ": more\n"])
    expected = [{"event": "message", "id": str(place), "data": f"x{text}"} for text, place in sent]
    assert frames == [*expected, {"event": "snapshot", "id": None, "data": "a\nb"}]
