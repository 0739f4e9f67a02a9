"""Bars: as a PNG picture for front ends that show one, and as text for a terminal.

All bars of a chart are of one currency. The picture needs Pillow (the extra ``finance``), which is imported
when one is drawn.
"""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Iterable, Sequence

import msgspec

from trunkline.demos.finance.ledger.errors import LedgerError
from trunkline.demos.finance.ledger.results import format_amount

MAX_BARS = 60
"""How many bars a chart has at most: enough for the weeks of a year."""
_LABEL = 24
"""How many characters of a label are shown."""
_EIGHTHS = "▏▎▍▌▋▊▉█"


class Bar(msgspec.Struct, frozen=True):
    """A label and an amount in minor units."""

    label: str
    amount: int
    currency: str


def _check(bars: Sequence[Bar]) -> None:
    if not bars:
        raise LedgerError("there is nothing to draw: no transactions fit; choose another period or filter")
    if len({bar.currency for bar in bars}) > 1:
        raise LedgerError("a chart has one currency, for they cannot be compared: name one, EUR for example")
    if len(bars) > MAX_BARS:
        raise LedgerError(f"a chart has at most {MAX_BARS} bars: choose longer steps or a shorter period")


def _short(label: str) -> str:
    line = " ".join(label.split())
    return line if len(line) <= _LABEL else f"{line[: _LABEL - 1]}…"


def text_bars(bars: Sequence[Bar], width: int = 40) -> str:
    """Draw bars as lines of text; ``width`` is how many characters the longest has."""
    _check(bars)
    most = max((abs(bar.amount) for bar in bars), default=0) or 1
    labels = [_short(bar.label) for bar in bars]
    amounts = [format_amount(bar.amount, bar.currency) for bar in bars]
    wide, right = max(map(len, labels)), max(map(len, amounts))
    lines = (
        f"{label:<{wide}}  {amount:>{right}}  {_blocks(abs(bar.amount), most, width)}".rstrip()
        for label, amount, bar in zip(labels, amounts, bars, strict=True)
    )
    return "\n".join(lines)


def _blocks(amount: int, most: int, width: int) -> str:
    eighths = round(amount * width * 8 / most)
    whole, part = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[part - 1] if part else "")


_ROW, _TOP, _MARGIN, _BAR = 34, 96, 28, 18
_WIDTH = 960
_SCALE = 2
_BACKGROUND, _INK, _PALE, _LINE, _COLOUR, _RETURNED = (
    "#ffffff",
    "#1f2933",
    "#66737f",
    "#e3e7eb",
    "#2f6f8f",
    "#b4632d",
)


def bar_chart_png(title: str, bars: Sequence[Bar], subtitle: str = "") -> bytes:
    """Draw bars as a PNG picture, one below the other; what came back is drawn in another colour."""
    _check(bars)
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError as error:
        raise LedgerError(
            "a picture needs Pillow, which is not installed: pip install 'trunkline[finance]', "
            "or ask for the chart as text"
        ) from error

    scale = _SCALE
    height = _TOP + _ROW * len(bars) + _MARGIN
    image = Image.new("RGB", (_WIDTH * scale, height * scale), _BACKGROUND)
    draw = ImageDraw.Draw(image)
    texts = [title, subtitle, *(_short(bar.label) for bar in bars)]
    name = _font_name(texts)
    large, normal, small = (
        ImageFont.truetype(name, size * scale) if name else ImageFont.load_default(size * scale)
        for size in (22, 15, 14)
    )
    title, subtitle, *labels = texts if name else map(_plain, texts)
    draw.text((_MARGIN * scale, 22 * scale), title, fill=_INK, font=large)
    draw.text((_MARGIN * scale, 56 * scale), subtitle, fill=_PALE, font=small)

    amounts = [format_amount(bar.amount, bar.currency) for bar in bars]
    left = _MARGIN * scale + int(max(draw.textlength(label, font=normal) for label in labels)) + 16 * scale
    room = int(max(draw.textlength(amount, font=normal) for amount in amounts)) + 14 * scale
    longest = _WIDTH * scale - _MARGIN * scale - room - left
    most = max(abs(bar.amount) for bar in bars) or 1
    for number, (bar, label, amount) in enumerate(zip(bars, labels, amounts, strict=True)):
        middle = (_TOP + _ROW * number + _ROW // 2) * scale
        top, bottom = middle - _BAR * scale // 2, middle + _BAR * scale // 2
        length = max(abs(bar.amount) * longest // most, scale)
        draw.text((left - 12 * scale, middle), label, fill=_INK, font=normal, anchor="rm")
        draw.line((left, top - 6 * scale, left, bottom + 6 * scale), fill=_LINE, width=scale)
        draw.rounded_rectangle(
            (left, top, left + length, bottom),
            radius=2 * scale,
            fill=_COLOUR if bar.amount >= 0 else _RETURNED,
        )
        draw.text((left + length + 10 * scale, middle), amount, fill=_INK, font=normal, anchor="lm")
    data = io.BytesIO()
    image.save(data, "PNG", optimize=True)
    return data.getvalue()


_FONTS = (
    "DejaVuSans.ttf",
    "Arial.ttf",
    "arial.ttf",
    "LiberationSans-Regular.ttf",
    "NotoSans-Regular.ttf",
    "Helvetica.ttc",
)


def _font_name(texts: Iterable[str]) -> str | None:
    """Give a font of this machine if a text needs one: that of Pillow has the letters of ASCII only."""
    from PIL import ImageFont

    if all(text.replace("…", "").isascii() for text in texts):
        return None
    for name in _FONTS:
        try:
            ImageFont.truetype(name, 10)
        except OSError:
            continue
        return name
    return None


def _plain(text: str) -> str:
    """Write a text with letters of ASCII: Größe is Grosse; what has no such letter is a question mark."""
    words = text.replace("ß", "ss").replace("\u2013", "-").replace("…", "...")
    letters = (letter for letter in unicodedata.normalize("NFKD", words) if not unicodedata.combining(letter))
    return "".join(letter if letter.isascii() else "?" for letter in letters)
