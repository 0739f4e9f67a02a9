"""Reading and following a session, the same in every process."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.hubs import collect, entries_of, only, session_for, soon

from trunkline import events as ev
from trunkline.commands import Prompt
from trunkline.cursor import Cursor, Gap, cut, piece_of
from trunkline.errors import InvalidCommand
from trunkline.folding import fold


async def test_streaming_a_prompt_that_was_answered_gives_the_same_answer() -> None:
    async with session_for() as session:
        events = await collect(session, Prompt.of("only once", key="k"))
        await collect(session, "something else")
        again = await collect(session, Prompt.of("only once", key="k"))
        assert fold(again) == fold(events)


async def test_the_history_up_to_a_cursor_is_what_a_reader_at_that_place_knows() -> None:
    async with session_for() as session:
        for prompt in ("one two three", "four five"):
            await collect(session, prompt)
        before: list[ev.Event] = []
        for entry in await entries_of(session):
            piece = piece_of(entry.event)
            if piece is not None and len(piece) > 1:
                head, _ = cut(entry.event, 1)
                assert head is not None
                cursor = Cursor(entry.fence, entry.seq, entry.offset - len(piece) + 1)
                assert await session.history(until=cursor) == fold([*before, head])
            before.append(entry.event)
            assert await session.history(until=entry.cursor) == fold(before)
        assert await session.history(until=session.position) == await session.history()


async def test_a_cursor_that_names_no_position_of_the_session_gives_no_history() -> None:
    async with session_for() as session:
        await collect(session, "one")
        fence, record, offset = session.position
        for cursor in (
            Cursor(fence + 1, record, offset),
            Cursor(fence, record + 1),
            Cursor(fence, 2, 10_000),
        ):
            with pytest.raises(InvalidCommand, match=f"the cursor {cursor} names no position"):
                await session.history(until=cursor)


async def test_an_empty_session_has_an_empty_history_up_to_its_position() -> None:
    async with session_for() as session:
        assert (await session.history(until=session.position)).messages == []


async def test_a_reader_resumes_from_any_cursor_without_loss_or_repetition() -> None:
    async with session_for() as session:
        seen: list[tuple[Cursor, ev.AnyEvent]] = []
        async with session.follow() as reader:
            await session.prompt("one two three four")
            while not seen or not isinstance(seen[-1][1], ev.TurnFinished):
                seen += [(entry.cursor, entry.event) for entry in await soon(reader.next())]
        whole = fold(event for _, event in seen)
        for index, (cursor, _) in enumerate(seen):
            parsed = Cursor.parse(str(cursor))
            again = await session.subscribe(parsed)
            assert not isinstance(again, Gap)
            rest: list[ev.AnyEvent] = []
            async with again as reader:
                while index + 1 < len(seen) and not only(rest, ev.TurnFinished):
                    rest += [entry.event for entry in await soon(reader.next())]
            assert fold([event for _, event in seen[: index + 1]] + rest) == whole


async def test_a_cursor_of_another_life_gets_a_gap() -> None:
    async with session_for() as session:
        await collect(session, "one two")
        last = session.position
        for cursor in (
            Cursor(last.fence + 5, 1, 0),
            Cursor(last.fence, last.record + 10, 0),
            Cursor(last.fence, 3, 10_000),
        ):
            assert isinstance(await session.subscribe(cursor), Gap)
        assert not isinstance(await session.subscribe(Cursor(0, 0, 0)), Gap)


async def test_a_slow_reader_falls_back_to_the_journal_and_loses_nothing() -> None:
    async def chatty(prompt: Prompt) -> AsyncIterator[str]:
        for number in range(2000):
            yield f"{number} "
            if not number % 100:
                await asyncio.sleep(0)

    async with session_for(chatty, reader_backlog=64) as session, session.follow() as slow:
        events = await collect(session, "go")
        assert not slow.live
        got: list[Any] = []
        while not only(got, ev.TurnFinished):
            got += [entry.event for entry in await soon(slow.next())]
        assert fold(got) == fold(events)
        assert len(got) < 100, "records are joined, so far fewer than 2000 entries"
