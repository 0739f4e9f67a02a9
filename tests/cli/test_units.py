import math
import time

import click
import pytest

from trunkline.cli.units import age_of, parse_age, parse_size, parse_wait, size_text


@pytest.mark.parametrize(
    ("text", "seconds"), [("45s", 45), ("90min", 5400), ("12h", 43200), ("30d", 2592000), ("0.5 d", 43200)]
)
def test_an_age_is_a_number_with_its_unit(text: str, seconds: float) -> None:
    assert parse_age(text) == seconds


def test_a_wait_is_an_age_or_never_ends() -> None:
    assert (parse_wait("2s"), parse_wait("never")) == (2.0, math.inf)


@pytest.mark.parametrize(
    "text", ["", "30", "d", "-1d", "1e9d", "30 days", "nan", "inf", "٣d", "9" * 400 + "d"]
)
def test_what_is_no_age_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(click.BadParameter, match="for example 30d"):
        parse_age(text)


@pytest.mark.parametrize(
    ("text", "size"), [("0", 0), ("1500", 1500), ("64k", 65536), ("100M", 104857600), ("1.5GB", 1610612736)]
)
def test_a_size_is_a_number_with_its_unit(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "M", "-1M", "1T", "1e3", "many"])
def test_what_is_no_size_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(click.BadParameter, match="for example 100M"):
        parse_size(text)


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 K"), (104857600, "100.0 M"), (2**31, "2.0 G")],
)
def test_a_size_is_written_in_its_largest_unit(size: int, text: str) -> None:
    assert size_text(size) == text


@pytest.mark.parametrize(("seconds", "age"), [(-5, "0 s"), (59, "59 s"), (7300, "2 h"), (90000, "1 d")])
def test_an_age_is_told_in_one_unit(seconds: int, age: str) -> None:
    assert age_of(time.time() - seconds - 0.5) == age
