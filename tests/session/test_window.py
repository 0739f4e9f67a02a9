"""Windows: a primed encoder says the rest, whatever the cursor, and nothing twice."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.hubs import BRISK, collect, entries_of, forever, make, only, session_for, soon

from trunkline import events as ev
from trunkline.commands import Answer, Prompt
from trunkline.cursor import Cursor, Entry, piece_of
from trunkline.errors import InvalidCommand
from trunkline.folding import fold
from trunkline.journal import open_journal
from trunkline.session.context import TurnContext
from trunkline.session.hub import Hub
from trunkline.session.window import Window


class Spans:
    """An encoder with a memory: it announces each message once and ends it before the terminal."""

    def __init__(self) -> None:
        self.open: list[str] = []
        self.over = False

    def feed(self, entry: Entry, /) -> list[Any]:
        event = entry.event
        shown: list[Any] = []
        if isinstance(event, ev.Text) and event.message_id not in self.open:
            self.open.append(event.message_id)
            shown.append(("start", event.message_id))
        if isinstance(event, ev.TurnFinished | ev.TurnFailed):
            shown += self.close()
        shown.append(event)
        return shown

    def announce(self) -> list[Any]:
        return [("start", message_id) for message_id in self.open]

    def close(self) -> list[Any]:
        ended, self.open = [("end", message_id) for message_id in self.open], []
        return ended


def window(
    session: Any, turn_id: str, after: Cursor | None = None, *, new: bool = False, **kwargs: Any
) -> Window[Any]:
    spans = Spans()
    kwargs["announce"] = spans.announce if new else None
    return Window(session, spans, turn_id=turn_id, run_id="r", front_end="test", after=after, **kwargs)


async def gather(shown: Window[Any]) -> list[Any]:
    wire: list[Any] = []

    async def run() -> None:
        async for _, out in shown:
            wire.extend(out)

    await soon(run())
    return wire


def marks(shown: list[Any], kind: str) -> list[tuple[str, str]]:
    return [item for item in shown if isinstance(item, tuple) and item[0] == kind]


async def varied(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[Any]:
    for word in prompt.text.split("|"):
        if word == "!":
            yield ev.Plan(entries=(ev.PlanEntry(content="next"),))
        elif word == "?":
            yield ev.Thought(message_id=ctx.message_id, delta="hm")
        elif word == "+":
            ctx.new_message()
        else:
            yield word


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    st.lists(st.sampled_from(["a", "bc", "déf", "!", "?", "+", "世界"]), min_size=1, max_size=12), st.data()
)
def test_replay_through_a_primed_encoder_folds_equal_from_any_cursor(words: list[str], data: Any) -> None:
    async def play() -> None:
        journal = await open_journal("memory:")
        async with Hub(make(varied), journal, settings=BRISK) as hub:
            session = await hub.create()
            async with session.follow() as reader:
                receipt = await session.prompt("|".join(words))
                live: list[Entry] = []
                while not live or not isinstance(live[-1].event, ev.TurnFinished):
                    live += await soon(reader.next())
            assert receipt.turn_id is not None
            whole = await gather(window(session, receipt.turn_id))
            joined = await entries_of(session)
            cursors = [entry.cursor for entry in live] + [
                Cursor(entry.fence, entry.seq, offset)
                for entry in joined
                for offset in range(len(piece_of(entry.event) or "") + 1)
            ]
            cursor = data.draw(
                st.sampled_from([position for position in cursors if position.record < live[-1].seq])
            )
            seen = [e.event for e in live if (e.seq, e.offset) <= (cursor.record, cursor.offset)]
            rest = await gather(window(session, receipt.turn_id, cursor))
            spoken = [item for item in rest if not isinstance(item, tuple)]
            if cursor in {entry.cursor for entry in live}:
                assert fold(seen + spoken) == fold([entry.event for entry in live])
            assert marks(rest, "start") == [mark for mark in marks(whole, "start") if mark in rest]
            assert marks(rest, "end") == marks(whole, "end")
        await journal.close()

    asyncio.run(play())


async def test_a_live_window_shows_the_turn_and_journals_its_edges() -> None:
    async with session_for(varied) as session:
        receipt = await session.prompt("a|b|!")
        assert receipt.turn_id is not None
        shown = await gather(window(session, receipt.turn_id))
        assert shown[-2:] == [("end", f"{receipt.turn_id}.1"), shown[-1]]
        assert isinstance(shown[-1], ev.TurnFinished)
        events = [entry.event for entry in await entries_of(session)]
        opened, closed = only(events, ev.RunOpened), only(events, ev.RunClosed)
        assert [(o.run_id, o.front_end) for o in opened] == [("r", "test")]
        assert closed[0].to_seq >= opened[0].from_seq


async def test_a_window_that_ends_on_suspension_is_followed_by_one_that_resumes() -> None:
    async def asking(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield "before "
        yield "allowed" if await ctx.permission("May I?", tool="x") else "refused"

    async with session_for(asking) as session:
        receipt = await session.prompt("go")
        assert receipt.turn_id is not None
        last = Cursor(0, 0, 0)
        first: list[Any] = []
        async for cursor, out in window(session, receipt.turn_id, ends_on_suspend=True):
            last, first = cursor, first + out
        suspended = only(first, ev.TurnSuspended)[0]
        assert ("end", f"{receipt.turn_id}.1") in first
        await session.answer(Answer(question_id=suspended.question_ids[0], option_id="allow_once"))
        second = await gather(window(session, receipt.turn_id, last, ends_on_suspend=True))
        assert not only(second, ev.TurnSuspended)
        assert marks(second, "start") == [("start", f"{receipt.turn_id}.2")], (
            "the first is not announced twice"
        )
        assert fold([i for i in first + second if not isinstance(i, tuple)]) == await session.history()


async def test_a_replay_passes_suspensions_that_hold_no_more_and_ends_at_one_that_does() -> None:
    async def asking(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield "before "
        await ctx.permission("May I?", tool="x")
        yield "between "
        await ctx.permission("Again?", tool="y")
        yield "after"

    async with session_for(asking) as session:
        receipt = await session.prompt("go")
        assert receipt.turn_id is not None
        for shown, allowed in (("before ", None), ("before between ", "allow_once")):
            if allowed is not None:
                await session.answer(
                    Answer(question_id=next(iter(session.open_questions)), option_id=allowed)
                )
            live = await gather(window(session, receipt.turn_id, ends_on_suspend=True))
            assert "".join(event.delta for event in only(live, ev.Text)) == shown
            assert len(only(live, ev.TurnSuspended)) == 1
        await session.answer(Answer(question_id=next(iter(session.open_questions)), option_id="allow_once"))
        whole = await gather(window(session, receipt.turn_id, ends_on_suspend=True))
        assert not only(whole, ev.TurnSuspended)
        assert isinstance(whole[-1], ev.TurnFinished)


@pytest.mark.parametrize("new", [True, False])
async def test_a_new_run_inside_a_message_announces_it_and_one_that_goes_on_does_not(new: bool) -> None:
    going_on = asyncio.Event()

    async def talking(prompt: Prompt) -> AsyncIterator[str]:
        yield "one "
        await going_on.wait()
        yield "two"

    async with session_for(talking) as session:
        async with session.follow() as reader:
            receipt = await session.prompt("go")
            seen: list[Entry] = []
            while not seen or not isinstance(seen[-1].event, ev.Text):
                seen += await soon(reader.next())
        assert receipt.turn_id is not None
        shown = window(session, receipt.turn_id, seen[-1].cursor, new=new)
        wire: list[Any] = []
        async with contextlib.aclosing(aiter(shown)) as batches:
            if new:
                # At once: no client has to wait for the next delta to see what is under way.
                cursor, wire = await soon(anext(batches))
                assert (cursor, wire) == (seen[-1].cursor, [("start", f"{receipt.turn_id}.1")])
            going_on.set()
            async for _, out in batches:
                wire += out

        starts = [("start", f"{receipt.turn_id}.1")]
        assert marks(wire, "start") == (starts if new else [])
        assert [event.delta for event in only(wire, ev.Text)] == ["two"]
        assert marks(wire, "end") == [("end", f"{receipt.turn_id}.1")]


async def test_a_window_on_an_unknown_turn_is_the_peers_fault() -> None:
    async with session_for() as session:
        await collect(session, "hi")
        with pytest.raises(InvalidCommand, match="no turn 'nope'"):
            await gather(window(session, "nope"))


async def test_leaving_a_window_leaves_the_turn_alone() -> None:
    async def waiting(prompt: Prompt) -> AsyncIterator[str]:
        yield "begun"
        await forever()

    async with session_for(waiting) as session:
        receipt = await session.prompt("go")
        assert receipt.turn_id is not None
        async with contextlib.aclosing(window(session, receipt.turn_id).__aiter__()) as shown:
            await soon(anext(shown))
        assert session.busy
        assert session.followers == 0


async def test_a_place_is_reached_once_the_consumer_took_all_before_it() -> None:
    go = asyncio.Event()

    async def agent(prompt: Prompt) -> AsyncIterator[str]:
        yield "one"
        await go.wait()
        yield "two"

    async with session_for(agent) as session:
        receipt = await session.prompt("go")
        shown = window(session, receipt.turn_id or "")
        batches = aiter(shown)
        wire: list[Any] = []
        while not (only(wire, ev.Text) and only(wire, ev.RunOpened)):
            wire += (await soon(anext(batches)))[1]
        _, record, offset = session.position
        reached = shown.reached(record, offset)
        assert reached is not None, "the last batch is still with the code that iterates"

        async def take_the_rest() -> None:
            async for _ in batches:
                pass

        rest = asyncio.create_task(take_the_rest())
        await soon(reached)
        assert shown.reached(record, offset) is None
        later = shown.reached(record + 1000, 0)
        assert later is not None
        assert not later.done()
        go.set()
        await soon(rest)
        await soon(later)
        assert shown.reached(record + 1000, 0) is None, "a window that is closed lets no caller wait"
