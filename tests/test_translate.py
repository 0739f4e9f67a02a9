"""Translators in a row behave like one, and are closed however a stream ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from trunkline.translate import Chain, batching, compose, prime, pump, translate


class Tag:
    """Marks what passes; says one last word."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.closed = 0

    def feed(self, item: str, /) -> list[str]:
        if item == "bad":
            raise ValueError("bad item")
        return [f"{item}{self.name}"]

    def close(self) -> list[str]:
        self.closed += 1
        return [f"end{self.name}"] if self.closed == 1 else []


class Pairs:
    """Holds an item back until the next one comes."""

    def __init__(self) -> None:
        self.held: list[str] = []

    def feed(self, item: str, /) -> list[str]:
        self.held.append(item)
        return ["".join(self.drain())] if len(self.held) == 2 else []

    def close(self) -> list[str]:
        return self.drain()

    def drain(self) -> list[str]:
        held, self.held = self.held, []
        return held


async def source(*items: str, error: Exception | None = None) -> AsyncIterator[str]:
    for item in items:
        yield item
    if error is not None:
        raise error


async def listen(stream: AsyncIterator[str], heard: list[str]) -> None:
    async for out in stream:
        heard.append(out)


def test_an_item_passes_every_stage_in_order() -> None:
    assert compose(Tag("a"), Tag("b"), Tag("c")).feed("x") == ["xabc"]


def test_closing_cascades_from_the_first_stage_to_the_last() -> None:
    chain = Chain(Tag("a"), Tag("b"), Tag("c"))
    assert chain.close() == ["endabc", "endbc", "endc"]
    assert chain.close() == []


def test_the_last_words_of_a_stage_reach_what_is_held_back_behind_it() -> None:
    assert translate(compose(Tag("a"), Pairs(), Tag("b")), ["x"]) == ["xaendab", "endb"]
    assert translate(compose(Pairs(), Pairs()), ["1", "2", "3"]) == ["123"]


def test_one_translator_alone_is_itself_and_none_is_a_wire() -> None:
    tag = Tag("a")
    assert compose(tag) is tag
    assert translate(compose(), ["x", "y"]) == ["x", "y"]


def test_a_batch_goes_in_at_once_where_that_is_possible_and_one_by_one_elsewhere() -> None:
    class Whole(Tag):
        def feed_all(self, items: Sequence[str], /) -> list[str]:
            return ["".join(items) + self.name]

    assert batching(Tag("!"))(["a", "b"]) == ["a!", "b!"]
    assert batching(Whole("!"))(["a", "b"]) == ["ab!"]


def test_priming_brings_a_translator_to_where_the_items_lead() -> None:
    pairs = Pairs()
    prime(pairs, ["1", "2", "3"])
    assert pairs.feed("4") == ["34"]


async def test_a_pump_translates_and_closes() -> None:
    assert [out async for out in pump(source("x", "y"), Tag("a"))] == ["xa", "ya", "enda"]


async def test_a_pump_closes_before_it_passes_an_error_of_its_source_on() -> None:
    heard: list[str] = []
    with pytest.raises(RuntimeError, match="cut off"):
        await listen(pump(source("x", error=RuntimeError("cut off")), Tag("a")), heard)
    assert heard == ["xa", "enda"]


async def test_a_pump_closes_before_it_passes_an_error_of_its_translator_on() -> None:
    heard: list[str] = []
    with pytest.raises(ValueError, match="bad item"):
        await listen(pump(source("x", "bad", "y"), Tag("a")), heard)
    assert heard == ["xa", "enda"]


async def test_a_cancelled_pump_stops_at_once() -> None:
    heard: list[str] = []
    reached = asyncio.Event()

    async def endless() -> AsyncIterator[str]:
        yield "x"
        reached.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(listen(pump(endless(), Tag("a")), heard))
    async with asyncio.timeout(5):
        await reached.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert heard == ["xa"]
