"""Bars as a picture and as text."""

import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from trunkline.demos.finance.ledger import chart
from trunkline.demos.finance.ledger.chart import MAX_BARS, Bar, bar_chart_png, text_bars
from trunkline.demos.finance.ledger.errors import LedgerError

BARS = [Bar("Groceries", 58158, "EUR"), Bar("Coffee", 3745, "EUR"), Bar("Clothes", -5000, "EUR")]


def picture(bars: list[Bar], title: str = "Spending") -> Image.Image:
    return Image.open(io.BytesIO(bar_chart_png(title, bars, "2026-10"))).convert("RGB")


def longest_run(image: Image.Image, colour: tuple[int, int, int]) -> int:
    """The length of the longest bar of a colour, in pixels."""
    found = 0
    for row in range(image.height):
        cells = [image.getpixel((column, row)) == colour for column in range(image.width)]
        found = max(found, sum(cells))
    return found


def test_a_bar_is_as_long_as_its_amount_and_money_that_came_back_has_its_colour() -> None:
    image = picture([Bar("a", 10000, "EUR"), Bar("b", -5000, "EUR")])
    blue, brown = longest_run(image, (0x2F, 0x6F, 0x8F)), longest_run(image, (0xB4, 0x63, 0x2D))
    assert image.width == 1920
    assert blue > 1000
    assert abs(blue - 2 * brown) <= 8


def test_the_same_bars_are_the_same_picture() -> None:
    assert bar_chart_png("a", BARS) == bar_chart_png("a", BARS) != bar_chart_png("b", BARS)


def test_letters_that_the_own_font_lacks_are_written_another_way(monkeypatch: pytest.MonkeyPatch) -> None:
    umlauts = [Bar("Ärzte", 100, "EUR")]
    assert picture(umlauts).size == picture([Bar("Arzte", 100, "EUR")]).size

    with monkeypatch.context() as patched:
        patched.setattr(chart, "_FONTS", ("Nothing.ttf",))
        assert bar_chart_png("x", umlauts) == bar_chart_png("x", [Bar("Arzte", 100, "EUR")])


def test_bars_as_text() -> None:
    assert text_bars(BARS, width=10).splitlines() == [
        "Groceries  581.58 EUR  ██████████",
        "Coffee      37.45 EUR  ▋",
        "Clothes    -50.00 EUR  ▉",
    ]


bars = st.lists(
    st.builds(Bar, st.text(), st.integers(-(10**9), 10**9), st.just("EUR")), min_size=1, max_size=MAX_BARS
)


@given(bars)
def test_any_bars_are_one_line_each_and_none_is_wider(drawn: list[Bar]) -> None:
    lines = text_bars(drawn, width=20).split("\n")
    assert len(lines) == len(drawn)
    assert all(line.count("█") <= 20 for line in lines)


@pytest.mark.parametrize(
    ("bars", "said"),
    [
        ([], "nothing to draw"),
        ([Bar("a", 1, "EUR"), Bar("b", 1, "USD")], "one currency"),
        ([Bar("a", 1, "EUR")] * (MAX_BARS + 1), f"at most {MAX_BARS} bars"),
    ],
)
def test_what_cannot_be_drawn_is_said(bars: list[Bar], said: str) -> None:
    with pytest.raises(LedgerError, match=said):
        text_bars(bars)
    with pytest.raises(LedgerError, match=said):
        bar_chart_png("a", bars)


def test_without_pillow_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(LedgerError, match=r"pip install 'trunkline\[finance\]'"):
        bar_chart_png("a", BARS)
    assert text_bars(BARS)
