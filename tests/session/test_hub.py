"""Hubs: two of them on one journal share sessions; one owns, the others follow and post."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.hubs import (
    BRISK,
    WAIT,
    Turnstile,
    collect,
    echo,
    events_of,
    forever,
    hub_for,
    make,
    only,
    opened,
    reopened,
    session_for,
    soon,
    text_of,
    until,
)

from trunkline import events as ev
from trunkline.agents.interface import AgentCard
from trunkline.commands import Answer, Prompt
from trunkline.conversation import Conversation
from trunkline.errors import (
    AgentError,
    AlreadyAnswered,
    ConfigurationError,
    Fenced,
    InvalidCommand,
    JournalError,
    SessionBusy,
    SessionClosed,
)
from trunkline.folding import fold
from trunkline.journal import Journal, Lease, Record, SessionInfo, SessionKey, open_journal
from trunkline.journal.memory import MemoryJournal
from trunkline.options import ConfigOption
from trunkline.session.context import SessionView, TurnContext
from trunkline.session.hub import Hub


@pytest.fixture(params=["memory", "sqlite"])
async def journals(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Callable[[], Any]]:
    """Opens the same journal as many times as there are processes."""
    opened: list[Journal] = []

    async def open_again() -> Journal:
        if request.param == "memory" and opened:
            return opened[0]
        url = "memory:" if request.param == "memory" else f"sqlite:{tmp_path / 'journal.db'}"
        opened.append(await open_journal(url))
        return opened[-1]

    yield open_again
    for journal in opened:
        await journal.close()


async def asking(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
    yield "asking "
    if prompt.text == "wait":
        await forever()
    yield "yes" if await ctx.permission("May I?", tool="x") else "no"


async def until_event(reader: Any, kind: type[ev.Event]) -> tuple[list[Any], Any]:
    events: list[Any] = []
    while True:
        events += [entry.event for entry in await soon(reader.next())]
        if found := only(events, kind):
            return events, found[0]


async def test_a_follower_sees_the_turn_live_answers_it_and_learns_who_was_first(
    journals: Callable[[], Any],
) -> None:
    async with hub_for(asking, journal=await journals()) as a, hub_for(asking, journal=await journals()) as b:
        mine = await a.create()
        await mine.own()
        theirs = await b.session(mine.session_id)
        async with theirs.follow() as reader:
            await mine.prompt("go")
            _, suspended = await until_event(reader, ev.TurnSuspended)
            question_id = suspended.question_ids[0]
            await soon(theirs.answer(Answer(question_id=question_id, option_id="allow_once", by="bob")))
            with pytest.raises(AlreadyAnswered) as caught:
                await soon(theirs.answer(Answer(question_id=question_id, option_id="reject_once", by="eve")))
            assert caught.value.by == "bob"
            events, _ = await until_event(reader, ev.TurnFinished)
        assert text_of(events) == "yes"
        assert not theirs.is_owner
        assert fold(await events_of(theirs)) == fold(await events_of(mine))


async def test_a_followers_prompt_config_and_cancel_are_carried_out_by_the_owner(
    journals: Callable[[], Any],
) -> None:
    loud = (ConfigOption(option_id="loud", name="Loud", value=False),)
    agent = make(asking, options=loud)
    async with hub_for(agent, journal=await journals()) as a, hub_for(agent, journal=await journals()) as b:
        mine = await a.create()
        await mine.own()
        theirs = await b.session(mine.session_id)
        receipt = await soon(theirs.prompt(Prompt.of("wait", key="k1")))
        assert mine.turn is not None
        assert receipt.turn_id == mine.turn.turn_id
        assert (await soon(theirs.prompt(Prompt.of("wait", key="k1")))).turn_id == receipt.turn_id
        with pytest.raises(SessionBusy, match="a turn is running"):
            await soon(theirs.prompt("another"))
        await soon(theirs.set_config("loud", True, by="bob"))
        await until(lambda: theirs.view.config == {"loud": True})
        with pytest.raises(InvalidCommand, match="no option 'x'"):
            await soon(theirs.set_config("x", True))
        assert await soon(theirs.cancel(by="bob")) is True
        assert await soon(theirs.cancel()) is False
        assert mine.view.config == {"loud": True}
        assert not mine.busy


async def test_a_dead_owners_session_is_taken_over_with_a_higher_fence(journals: Callable[[], Any]) -> None:
    dead = Hub(make(asking), await journals(), settings=BRISK)
    session = await dead.create()
    await session.prompt("wait")
    await session.durable()
    old = session.event_stream.fence
    async with reopened(session.session_id, echo, journal=await journals()) as again:
        assert again.busy
        events = await collect(again, "are you there?")
        assert text_of(events) == "are you there? "
        assert again.event_stream.fence > old
        meant = await again.history()
        assert [turn.code for turn in meant.turns] == ["interrupted", None]
        # The old owner wakes up and is refused.
        session.emit(ev.Notice(title="I am still here"))
        with pytest.raises(JournalError):
            await session.durable()
        await until(lambda: session.closed)
        assert "still here" not in str(await events_of(again))


async def test_a_fenced_owner_ends_its_readers_with_one_terminal_and_can_follow_again(
    journals: Callable[[], Any],
) -> None:
    sleeper = Hub(make(asking), await journals(), settings=BRISK)
    session = await sleeper.create()
    reader = session.follow()
    await session.prompt("wait")
    await session.durable()
    async with reopened(session.session_id, echo, journal=await journals()) as other:
        await collect(other, "mine now")
        assert session.turn is not None
        session.turn.ctx.emit("too late")
        events: list[Any] = []
        while not only(events, ev.TurnFailed):
            events += [entry.event for entry in await soon(reader.next())]
        with pytest.raises(Fenced):
            await soon(reader.next())
        assert [event.code for event in only(events, ev.TurnFailed)] == ["fenced"]
        again = await sleeper.session(session.session_id)
        assert again is not session
        assert fold(await events_of(again)) == fold(await events_of(other))
    await sleeper.close()


async def test_a_process_with_another_target_may_follow_and_answer_but_never_runs(
    journals: Callable[[], Any],
) -> None:
    async with (
        hub_for(asking, journal=await journals(), target="one") as a,
        hub_for(asking, journal=await journals(), target="two") as b,
    ):
        mine = await a.create()
        await mine.prompt("go")
        theirs = await b.session(mine.session_id)
        async with theirs.follow() as reader:
            await until(lambda: bool(mine.open_questions))
            question_id = next(iter(mine.open_questions))
            await soon(theirs.answer(Answer(question_id=question_id, option_id="reject_once")))
            await until_event(reader, ev.TurnFinished)
        await mine.close()
        with pytest.raises(SessionBusy, match="belongs to 'one': start that first"):
            await soon(theirs.prompt("run it for me"))
        assert not theirs.is_owner


async def test_two_hubs_that_prompt_at_once_run_one_turn_each_in_order(journals: Callable[[], Any]) -> None:
    async with hub_for(echo, journal=await journals()) as a, hub_for(echo, journal=await journals()) as b:
        mine = await a.create()
        theirs = await b.session(mine.session_id)
        await soon(
            asyncio.gather(
                mine.prompt(Prompt.of("one", busy="queue")), theirs.prompt(Prompt.of("two", busy="queue"))
            )
        )
        async with asyncio.timeout(WAIT):
            while len(only(await events_of(mine), ev.TurnFinished)) < 2:
                await a.changed(0.05)
        owners = [session.is_owner for session in (mine, theirs)]
        assert sorted(owners) == [False, True]
        meant = await mine.history()
        assert sorted(m.text for m in meant.messages if m.role == "user") == ["one", "two"]


async def test_a_fork_begins_with_everything_so_far_and_goes_on_separately() -> None:
    async with hub_for(echo) as hub:
        session = await hub.create()
        await collect(session, "shared past")
        fork = await hub.fork(session, "the-fork")
        await collect(fork, "own future")
        await collect(session, "other future")
        past = [m.text for m in (await session.history()).messages]
        own = [m.text for m in (await fork.history()).messages]
        assert past == ["shared past", "shared past ", "other future", "other future "]
        assert own == ["shared past", "shared past ", "own future", "own future "]
        assert fork.info.title == session.info.title


async def test_a_fork_up_to_a_message_ends_there_and_leaves_its_origin_alone() -> None:
    async with hub_for(echo) as hub:
        session = await hub.create("origin")
        for text in ("first", "second"):
            await session.prompt(Prompt.of(text, message_id=f"message-{text}"))
            await session.wait_until_idle()
        fork = await hub.fork(session, "fork", to_message_id="message-first")
        assert [m.text for m in (await fork.history()).messages] == ["first"]
        assert len((await session.history()).messages) == 4
        with pytest.raises(InvalidCommand, match="no message"):
            await hub.fork(session, "none", to_message_id="nowhere")
        assert await hub.journal.get(SessionKey("local", "none")) is None


async def test_a_running_session_cannot_be_forked_and_one_held_elsewhere_not_deleted(
    journal: MemoryJournal,
) -> None:
    async with hub_for(asking, journal=journal) as a, hub_for(asking, journal=journal) as b:
        session = await a.create()
        await session.prompt("wait")
        with pytest.raises(SessionBusy, match="before forking"):
            await a.fork(session)
        with pytest.raises(SessionBusy, match="another process owns"):
            await b.delete(session.session_id)
        assert await soon(a.delete(session.session_id)) is True
        assert await a.delete(session.session_id) is False


async def test_an_id_that_is_taken_and_a_relative_folder_are_refused() -> None:
    async with hub_for(echo) as hub:
        await hub.create("thread-1")
        with pytest.raises(SessionBusy):
            await hub.create("thread-1")
        with pytest.raises(InvalidCommand, match="'src' is not an absolute path"):
            await hub.create(cwd="src")
        with pytest.raises(InvalidCommand, match="not an absolute path"):
            await hub.create(cwd="/", roots=["lib"])


async def test_a_session_whose_client_names_no_folder_gets_the_hubs(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    async with Hub(make(echo), await open_journal("memory:"), default_cwd=tmp_path) as hub:
        assert (await hub.create()).view.cwd == str(tmp_path)
        assert (await hub.create(cwd=str(other))).view.cwd == str(other)
    for wrong in ("relative", tmp_path / "missing"):
        with pytest.raises(ConfigurationError, match="absolute path of a folder"):
            Hub(make(echo), MemoryJournal(), default_cwd=wrong)


async def test_a_closed_hub_opens_nothing(journal: MemoryJournal) -> None:
    hub = Hub(make(echo), journal, settings=BRISK)
    await hub.close()
    await hub.close()
    with pytest.raises(SessionClosed):
        await hub.create()


async def test_opening_a_session_many_times_at_once_gives_one_object(journal: MemoryJournal) -> None:
    async with hub_for(echo, journal=journal) as hub:
        session_id = (await hub.create()).session_id
    async with hub_for(echo, journal=journal) as hub:
        opened = await asyncio.gather(*(hub.session(session_id) for _ in range(20)))
        assert len(set(map(id, opened))) == 1


async def test_one_who_opens_a_session_keeps_out_all_who_come_later() -> None:
    turnstile = Turnstile()

    class SlowJournal(MemoryJournal):
        async def get(self, key: SessionKey) -> SessionInfo | None:
            await turnstile.pass_through()
            return await super().get(key)

    async with opened(SlowJournal()) as journal, hub_for(echo, journal=journal) as hub:
        assert await turnstile.let_three_pass(lambda: hub.session("gone")) == 1


async def test_unused_sessions_are_closed_but_for_the_last_few_and_open_again() -> None:
    async def words(prompt: Prompt) -> AsyncIterator[str]:
        if prompt.text == "stay":
            await forever()
        yield prompt.text

    async with hub_for(words, idle_sessions=1, idle_after=0.0, lease_ttl=0.1) as hub:
        busy = await hub.create("busy")
        await busy.prompt("stay")
        followed = await hub.create("followed")
        async with followed.follow():
            old = await hub.create("old")
            await collect(old, "hello")
            new = await hub.create("new")
            await until(lambda: old.closed)
            assert not new.closed
            again = await hub.session("old")
            assert again is not old
            assert text_of(await events_of(again)) == "hello"
            await until(lambda: new.closed)
            assert [session.closed for session in (busy, followed, again)] == [False, False, False]
        await busy.cancel()


async def test_a_hub_forgets_what_its_settings_do_not_want_to_keep(tmp_path: Path) -> None:
    journal = await open_journal(f"sqlite:{tmp_path / 'journal.db'}")
    async with hub_for(echo, journal=journal) as hub:
        for name in ("old", "new"):
            await collect(await hub.create(name), "hello")
    async with hub_for(echo, journal=journal, retain_age=0.3, retain_every=0.02) as hub:
        # One that this process holds itself is forgotten, too, once no caller asks for it any more.
        held = await hub.session("new")
        assert await held.own()
        async with asyncio.timeout(WAIT):
            async with held.follow():
                while len(await hub.list()) > 1:
                    await asyncio.sleep(0.01)
                assert [info.session_id for info in await hub.list()] == ["new"]
            while await hub.list():
                await asyncio.sleep(0.01)
    await journal.close()


async def test_a_hub_trims_what_grew_too_large() -> None:
    async with hub_for(echo, retain_bytes=500, retain_every=0.02) as hub:
        session = await hub.create("s")
        for number in range(5):
            await collect(session, f"{number} " + "x" * 300)
        async with asyncio.timeout(WAIT):
            while (await hub.list())[0].first_seq == 1:
                await asyncio.sleep(0.01)
        assert text_of(await collect(session, "still here")) == "still here "


async def test_all_sessions_stay_open_unless_that_is_wanted_otherwise() -> None:
    async with hub_for(idle_after=0.0, lease_ttl=0.01) as hub:
        sessions = [await hub.create() for _ in range(20)]
        await hub.changed(0.1)
        assert not any(session.closed for session in sessions)


async def test_a_fork_that_cannot_be_written_leaves_nothing_under_its_name() -> None:
    class Picky(MemoryJournal):
        def append(
            self, lease: Lease, records: Sequence[Record], *, durable: bool = False
        ) -> asyncio.Future[None]:
            if lease.key.session_id != "fork":
                return super().append(lease, records, durable=durable)
            refused: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            refused.set_exception(JournalError("the disk is full"))
            return refused

    async with opened(Picky()) as journal, hub_for(journal=journal) as hub:
        session = await hub.create("s")
        await collect(session, "hello")
        with pytest.raises(JournalError, match="the disk is full"):
            await hub.fork(session, "fork")
        assert await journal.get(SessionKey("local", "fork")) is None


async def test_what_an_agent_keeps_comes_back_in_another_process_and_when_it_deletes_or_forks(
    tmp_path: Path,
) -> None:
    class Peer:
        card = AgentCard(name="peer")

        def __init__(self) -> None:
            self.seen: list[tuple[str, Any, str | None]] = []

        async def open_session(self, session: SessionView) -> None:
            self.seen.append(("open", session.kept, session.cwd))
            if not session.kept:
                await session.keep("peer_session", f"remote-{session.session_id}")
                assert session.kept == {"peer_session": f"remote-{session.session_id}"}

        async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
            yield ""

        async def fork(self, session: SessionView, origin: SessionView) -> None:
            self.seen.append(("fork", origin.kept, origin.cwd))
            assert session.kept == {}

        async def delete_session(self, session: SessionView) -> None:
            self.seen.append(("delete", session.kept, session.cwd))

    journal = await open_journal(f"sqlite:{tmp_path}/j.db")
    kept, cwd = {"peer_session": "remote-s"}, str(tmp_path)
    async with hub_for(Peer(), journal=journal) as hub:
        await (await hub.create("s", cwd=cwd)).prepare()
    agent = Peer()
    async with hub_for(agent, journal=journal) as hub:
        session = await hub.session("s")
        await session.prepare()
        await hub.fork(session, "f")
        await hub.delete("s")
    assert agent.seen == [("open", kept, cwd), ("fork", kept, cwd), ("delete", kept, cwd)]
    await journal.close()


@pytest.mark.parametrize("address", ["memory:", "sqlite:{}/j.db"])
async def test_a_poster_waits_while_the_owner_reports_that_it_works(address: str, tmp_path: Path) -> None:
    ready = asyncio.Event()

    class Slow:
        card = AgentCard(name="slow")

        async def open_session(self, session: SessionView) -> None:
            await ready.wait()

        async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
            yield "at last"

    reports = 0
    journal = await open_journal(address.format(tmp_path))
    report = journal.report_progress

    async def count(lease: Lease) -> None:
        nonlocal reports
        reports += 1
        await report(lease)

    journal.report_progress = count  # type: ignore[method-assign]
    async with (
        hub_for(Slow(), journal=journal, command_timeout=0.2) as owner,
        hub_for(Slow(), journal=journal, command_timeout=0.2) as poster,
    ):
        assert await (await owner.create("s")).own()
        session = await poster.session("s")
        posted = [asyncio.create_task(session.prompt(Prompt.of("go", busy="queue"))) for _ in range(2)]
        await until(lambda: reports > 5)
        assert not any(task.done() for task in posted), "also one that waits behind another"
        ready.set()
        receipts = await soon(asyncio.gather(*posted))
        assert sum(receipt.turn_id is not None for receipt in receipts) >= 1
    await journal.close()


class SlowToClose:
    """Closes what it holds for a session when it may, and remembers what it was asked."""

    card = AgentCard(name="slow to close")

    def __init__(self) -> None:
        self.may_close = asyncio.Event()
        self.calls: list[str] = []

    async def open_session(self, session: SessionView) -> None:
        self.calls.append("open")

    async def close_session(self, session: SessionView) -> None:
        await self.may_close.wait()
        self.calls.append("closed")

    async def delete_session(self, session: SessionView) -> None:
        self.calls.append("delete")

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield ""


async def test_an_agent_closes_its_resources_in_its_own_time_and_the_hub_waits_for_it() -> None:
    agent = SlowToClose()
    async with session_for(agent, detach_after=0.01, session_id="s") as session:
        await session.prepare()
        await soon(session.close())
        assert agent.calls == ["open"], "the session is closed, its agent is not done"
        asyncio.get_running_loop().call_soon(agent.may_close.set)
    assert agent.calls == ["open", "closed"]


async def test_a_session_is_opened_again_and_deleted_only_after_its_agent_closed_it() -> None:
    agent = SlowToClose()

    async def open_again(hub: Hub) -> None:
        await (await hub.session("s")).prepare()

    async def delete(hub: Hub) -> None:
        assert await hub.delete("s")

    async with hub_for(agent, detach_after=0.01) as hub:
        await (await hub.create("s")).prepare()
        for next_step in (open_again, delete):
            agent.may_close.clear()
            await soon((await hub.session("s")).close())
            waiting = asyncio.create_task(next_step(hub))
            assert not (await asyncio.wait({waiting}, timeout=0.1))[0]
            agent.may_close.set()
            await soon(waiting)
    assert agent.calls == ["open", "closed", "open", "closed", "delete"]


async def test_an_agent_that_does_not_close_keeps_its_session_from_opening_for_a_bounded_time() -> None:
    async with hub_for(SlowToClose(), detach_after=0.01, close_agent_after=0.05) as hub:
        await (await hub.create("s")).prepare()
        await soon((await hub.session("s")).close())
        assert await soon(hub.delete("s"))


class Handshake:
    """Says only after a handshake that its memory is the truth."""

    def __init__(self) -> None:
        self.card = AgentCard(name="placeholder")

    async def prepare(self) -> None:
        self.card = AgentCard(name="real", authoritative_history=True)

    async def history(self, session: SessionView) -> Conversation | None:
        text = ev.Text(turn_id="t", message_id="m", delta="from elsewhere")
        return fold([ev.TurnStarted(turn_id="t"), text, ev.TurnFinished(turn_id="t")])

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield str(ctx.session.cwd)


async def test_a_session_that_only_the_agent_remembers_is_found_before_the_handshake_too() -> None:
    async with reopened("elsewhere", Handshake()) as session:
        assert [message.text for message in (await session.history()).messages] == ["from elsewhere"]


async def test_a_stored_session_is_judged_by_the_real_card_and_opens_without_it_too(
    journal: MemoryJournal,
) -> None:
    class Silent(Handshake):
        async def prepare(self) -> None:
            raise AgentError("the program does not answer")

    async with hub_for(journal=journal) as hub:
        await collect(await hub.create("s"), "stored")
    for agent, texts in ((Silent(), 2), (Handshake(), 3)):
        async with hub_for(agent, journal=journal) as hub:
            assert len((await (await hub.session("s")).history()).messages) == texts


async def test_a_session_that_only_the_agent_remembers_gets_the_hubs_folder(tmp_path: Path) -> None:
    async with Hub(Handshake(), await open_journal("memory:"), default_cwd=tmp_path) as hub:
        assert text_of(await collect(await hub.session("elsewhere"), "where?")) == str(tmp_path)


async def test_a_fork_in_another_process_gets_what_the_owners_agent_kept_since(
    journal: MemoryJournal,
) -> None:
    seen: list[dict[str, Any]] = []

    class Keeps:
        card = AgentCard(name="keeps")

        async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
            await ctx.session.keep("id", prompt.text)
            yield ""

        async def fork(self, session: SessionView, origin: SessionView) -> None:
            seen.append(origin.kept)

    async with hub_for(Keeps(), journal=journal) as owner, hub_for(Keeps(), journal=journal) as other:
        session = await owner.create("s")
        follower = await other.session("s")
        await collect(session, "one")
        await until(lambda: follower.last_turn_id is not None and not follower.busy)
        await other.fork(follower, "f")
    assert seen == [{"id": "one"}]


@pytest.mark.parametrize(
    ("agent", "policy", "text"),
    [(object(), None, r"type object is no agent: give trunkline\.adapt"), (make(echo), {}, "type dict")],
)
def test_what_is_no_agent_and_what_is_no_policy_is_refused_at_once(
    agent: Any, policy: Any, text: str
) -> None:
    with pytest.raises(ConfigurationError, match=text):
        Hub(agent, MemoryJournal(), policy=policy)
