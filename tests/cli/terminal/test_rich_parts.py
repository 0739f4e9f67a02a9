import io

from rich.console import Console, RenderableType

from trunkline.cli.terminal.rich_parts import Answer, Barred, Trimmed


def drawn(part: RenderableType) -> list[str]:
    shown = io.StringIO()
    Console(file=shown, width=40, highlight=False, markup=False, emoji=False).print(part)
    return shown.getvalue().splitlines()


def test_tags_of_html_are_text() -> None:
    assert drawn(Trimmed(Answer("Use <Button> here.\n\n<div>\nblock</div>"))) == [
        "Use <Button> here.",
        "",
        "<div>",
        "block</div>",
    ]


def test_a_line_that_the_agent_ended_stays_one() -> None:
    assert drawn(Trimmed(Answer("total 2\na.txt\nb.txt\n\n- one\n  more"))) == [
        "total 2",
        "a.txt",
        "b.txt",
        "",
        " • one",
        "   more",
    ]


def test_an_entity_does_not_become_a_character_that_turns_the_direction() -> None:
    assert drawn(Trimmed(Answer("&#x202e;evil &amp; `&lt;`"))) == ["\\u202eevil & &lt;"]


def test_an_image_stays_in_its_place_and_says_where_it_is() -> None:
    assert drawn(Trimmed(Answer("See ![chart](https://a.org/c.png) there."))) == [
        "See image: chart (https://a.org/c.png)",
        "there.",
    ]
    assert drawn(Trimmed(Answer("[![ok](https://a.org/b.svg)](https://a.org)"))) == [
        "image: ok (https://a.org/b.svg)",
        "(https://a.org)",
    ]
    assert drawn(Trimmed(Answer("- a ![](data:image/png;base64,AAAA)"))) == [" • a image"]


def test_code_has_no_empty_lines_around_it() -> None:
    assert drawn(Trimmed(Answer("a\n\n```\nx\n```\n\nb"))) == ["a", "", " x", "", "b"]


def test_a_table_that_is_too_wide_says_all_the_same() -> None:
    head = "| Category | Spent | Share | Transactions |\n|---|---:|---:|---:|\n"
    rows = "| Entertainment | 1,189.00 EUR | 29% | 1 |\n"
    lines = drawn(Trimmed(Answer(head + rows)))
    assert max(map(len, lines)) <= 40
    shown = "".join("".join(line.split()) for line in lines)
    assert "…" not in shown
    assert sorted(shown.replace("─", "")) == sorted(
        "".join((head.split("\n")[0] + rows).split()).replace("|", "")
    )


def test_a_bar_goes_down_at_the_left() -> None:
    assert drawn(Barred("one\ntwo", "green")) == ["  │ one", "  │ two"]
