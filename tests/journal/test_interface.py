"""What every engine does; the same tests run on each of them."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from trunkline.commands import Answer, Cancel, Prompt
from trunkline.content import TextBlock
from trunkline.errors import Fenced, InvalidCommand, JournalError, SessionBusy, SessionNotFound
from trunkline.events import AnyEvent, ConfigChanged, Custom, Text, TurnFinished, TurnStarted, UserMessage
from trunkline.journal import (
    Disposition,
    Held,
    Journal,
    Lease,
    Record,
    SessionInfo,
    SessionKey,
    Snapshot,
    search,
)
from trunkline.journal.interface import WAITING_COMMANDS
from trunkline.options import ConfigOption

KEY = SessionKey("ada", "one")
OTHER = SessionKey("ada", "two")


async def begin(journal: Journal, key: SessionKey = KEY, owner: str = "A", ttl: float = 30) -> Lease:
    if await journal.get(key) is None:
        await journal.create(SessionInfo(principal=key.principal, session_id=key.session_id))
    lease = await journal.claim(key, owner, ttl)
    assert isinstance(lease, Lease)
    return lease


def records_of(lease: Lease, *events: AnyEvent, after: int = 0) -> list[Record]:
    return [
        Record(seq=seq, at=float(seq), fence=lease.fence, event=event)
        for seq, event in enumerate(events, after + 1)
    ]


def text(delta: str) -> Text:
    return Text(message_id="m", delta=delta)


async def info_of(journal: Journal, key: SessionKey = KEY) -> SessionInfo:
    info = await journal.get(key)
    assert info is not None
    return info


async def texts(journal: Journal, key: SessionKey = KEY) -> list[str]:
    return [record.event.delta for record in await journal.read(key) if isinstance(record.event, Text)]


# -- searching --


async def spoken(
    journal: Journal, name: str, *said: AnyEvent, title: str | None = None, target: str = "", of: str = "ada"
) -> Lease:
    """A session in which something was said."""
    key = SessionKey(of, name)
    await journal.create(SessionInfo(principal=of, session_id=name, title=title, target=target))
    lease = await begin(journal, key)
    events = (TurnStarted(turn_id="t"), *said, TurnFinished(turn_id="t", stop_reason="end_turn"))
    await journal.append(lease, records_of(lease, *events))
    return lease


async def found(journal: Journal, query: str, of: str | None = "ada", **options: Any) -> list[str]:
    return [info.session_id for info in (await journal.search(query, of, **options)).sessions]


async def test_a_search_finds_titles_and_texts_in_any_case_and_takes_every_word(journal: Journal) -> None:
    await spoken(journal, "title", title="Größe of the Garden")
    asked = UserMessage(message_id="u", content=(TextBlock(text='Where is the\n"garden"?'),))
    await spoken(journal, "asked", asked)
    await spoken(journal, "answered", text("In the gar"), text("den, there is"), text(" room"))
    await spoken(journal, "mixed", text("there is room"), title="Garden")
    assert sorted(await found(journal, "GARDEN")) == ["answered", "asked", "mixed", "title"]
    assert sorted(await found(journal, "  room   garden ")) == ["answered", "mixed"]
    assert await found(journal, "GRÖSSE") == ["title"]
    assert await found(journal, '"garden"?') == ["asked"]
    assert await found(journal, "delta") == []
    assert await found(journal, "%") == []


async def test_a_search_shows_a_principal_its_own_sessions_that_were_spoken_in(journal: Journal) -> None:
    await spoken(journal, "mine", text("word"), target="demo")
    await spoken(journal, "hers", text("word"), of="eve")
    await journal.create(SessionInfo(principal="ada", session_id="silent", title="word"))
    assert await found(journal, "word") == ["mine"]
    assert sorted(await found(journal, "word", of=None)) == ["hers", "mine"]
    assert await found(journal, "word", target="demo") == ["mine"]
    assert await found(journal, "word", target="other") == []


async def test_a_search_goes_on_page_by_page_newest_first(journal: Journal, clock: SimpleNamespace) -> None:
    for number in range(5):
        clock.now += 1
        await spoken(journal, f"s{number}", text("odd" if number % 2 else "even"))
    first = await journal.search("even", "ada", limit=2)
    rest = await journal.search("even", "ada", limit=2, before=first.next)
    assert [info.session_id for page in (first, rest) for info in page.sessions] == ["s4", "s2", "s0"]
    assert first.next is not None
    assert rest.next is None


async def test_a_search_ends_after_so_many_bytes_with_the_place_to_go_on(
    journal: Journal, clock: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "PAGE_BYTES", 1000)
    for number in range(4):
        clock.now += 1
        await spoken(journal, f"s{number}", text("x" * 2000))
    clock.now += 1
    await spoken(journal, "newest", text("needle"))
    pages: list[list[str]] = []
    before: tuple[float, str] | None = None
    while not pages or before is not None:
        page = await journal.search("needle", "ada", before=before)
        pages.append([info.session_id for info in page.sessions])
        before = page.next
        assert len(pages) < 10
    assert pages[0] == ["newest"]
    assert [one for page in pages for one in page] == ["newest"]
    assert len(pages) >= 4, "no page reads much more than its budget"


async def test_of_a_long_session_the_newest_part_is_searched(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "SESSION_BYTES", 1000)
    await spoken(journal, "long", text("oldest"), text("x" * 2000), text("newest"))
    assert await found(journal, "newest") == ["long"]
    assert await found(journal, "oldest") == []


async def test_what_retention_cut_off_is_not_found(journal: Journal) -> None:
    lease = await spoken(journal, "one", text("first" + "x" * 2000))
    later = (TurnStarted(turn_id="t2"), text("second"), TurnFinished(turn_id="t2", stop_reason="end_turn"))
    await journal.append(lease, records_of(lease, *later, after=3))
    assert await found(journal, "first") == ["one"]
    await journal.retain(max_bytes=1000)
    assert await found(journal, "first") == []
    assert await found(journal, "second") == ["one"]


@pytest.mark.parametrize("query", ["", "  ", "x" * 201, "a b c d e f g h i"])
async def test_a_query_that_is_empty_or_too_long_is_refused(journal: Journal, query: str) -> None:
    with pytest.raises(InvalidCommand, match="query"):
        await journal.search(query, "ada")


async def test_sessions_of_one_target_are_listed(journal: Journal) -> None:
    await spoken(journal, "one", target="demo")
    await spoken(journal, "two", target="other")
    assert [info.session_id for info in await journal.list("ada", target="demo")] == ["one"]


# -- sessions --


async def test_a_new_session_is_stored_as_given_with_the_engines_time(
    journal: Journal, clock: SimpleNamespace
) -> None:
    given: dict[str, Any] = {
        "principal": "ada", "session_id": "one", "target": "demo", "cwd": "/work", "roots": ("/a", "/b"),
        "title": "Hello", "meta": {"colour": "green"},
    }  # fmt: skip
    stored = await journal.create(SessionInfo(**given, created_at=5.0, last_seq=77, owner="nobody"))
    assert stored == await journal.get(KEY)
    assert stored == SessionInfo(**given, created_at=clock.now, updated_at=clock.now)


async def test_a_session_cannot_be_created_twice(journal: Journal) -> None:
    await begin(journal)
    with pytest.raises(SessionBusy, match="exists already"):
        await journal.create(SessionInfo(principal="ada", session_id="one"))


async def test_the_same_name_of_another_person_is_another_session(journal: Journal) -> None:
    lease = await begin(journal)
    await journal.append(lease, records_of(lease, text("hers")))
    await begin(journal, SessionKey("bob", "one"))
    assert await texts(journal, SessionKey("bob", "one")) == []


async def test_an_unknown_session_is_not_found(journal: Journal) -> None:
    assert await journal.get(KEY) is None
    assert await journal.delete(KEY) is False
    for attempt in (
        journal.claim(KEY, "A", 5),
        journal.read(KEY),
        journal.describe(KEY, title="x"),
        journal.post(KEY, "k", Cancel()),
        journal.commands(KEY),
        journal.disposition(KEY, "k"),
    ):
        with pytest.raises(SessionNotFound, match="'one'"):
            await attempt


async def test_sessions_are_listed_newest_first_in_pages(journal: Journal, clock: SimpleNamespace) -> None:
    for name in ("a", "b", "c", "d", "e"):
        clock.now += 1 if name < "d" else 0  # c, d and e share one moment
        await journal.create(
            SessionInfo(principal="ada", session_id=name, cwd="/x" if name in "ae" else None)
        )
    await journal.create(SessionInfo(principal="bob", session_id="z"))
    names: list[str] = []
    before: tuple[float, str] | None = None
    while page := await journal.list("ada", limit=2, before=before):
        assert len(page) <= 2
        names += [info.session_id for info in page]
        before = (page[-1].updated_at, page[-1].session_id)
    assert names == ["e", "d", "c", "b", "a"]
    assert [info.session_id for info in await journal.list("ada", cwd="/x")] == ["e", "a"]
    assert [info.session_id for info in await journal.list("ada", cwd="/x/")] == ["e", "a"]
    assert await journal.list("ada", cwd="/") == []
    assert {info.principal for info in await journal.list(None)} == {"ada", "bob"}
    assert await journal.list("ada", limit=-1) == []


async def test_sessions_can_be_listed_from_their_first_turn_on(journal: Journal) -> None:
    options = (ConfigOption(option_id="think", name="Think aloud", value=True),)
    lease, other = await begin(journal), await begin(journal, OTHER)
    await journal.append(lease, records_of(lease, ConfigChanged(options=options)))
    await journal.append(other, records_of(other, ConfigChanged(options=options)))
    assert await journal.list("ada", begun=True) == [], "to choose a mode is not to speak"
    await journal.append(lease, records_of(lease, TurnStarted(turn_id="t1"), after=1))
    assert [info.session_id for info in await journal.list("ada", begun=True)] == ["one"]
    assert len(await journal.list("ada")) == 2


async def test_an_append_makes_a_session_the_newest(journal: Journal, clock: SimpleNamespace) -> None:
    lease = await begin(journal)
    clock.now += 1
    await begin(journal, OTHER)
    clock.now += 1
    await journal.append(lease, records_of(lease, text("hi")))
    listed = await journal.list("ada")
    assert [info.session_id for info in listed] == ["one", "two"]
    assert listed[0].updated_at == clock.now


async def test_a_title_can_be_set_and_taken_away(journal: Journal) -> None:
    await begin(journal)
    for title in ("New", None):
        await journal.describe(KEY, title=title)
        assert (await info_of(journal)).title == title


async def test_progress_is_counted_for_the_commands_that_wait_and_by_the_owner_only(journal: Journal) -> None:
    lease = await begin(journal)
    for name in ("one", "two"):
        await journal.post(KEY, name, Cancel())
    await journal.report_progress(lease)
    await journal.settle(lease, "one", Disposition(accepted=True))
    await journal.report_progress(lease)
    assert [await journal.progress(KEY, name) for name in ("one", "two", "unknown")] == [1, 2, 0]
    with pytest.raises(Fenced):
        await journal.report_progress(lease._replace(fence=lease.fence - 1))


async def test_values_are_kept_with_a_session_by_name_until_they_are_removed(journal: Journal) -> None:
    await begin(journal)
    states: list[Any] = []
    for name, value in (("peer", {"id": "abc"}), ("n", 1), ("n", 2), ("peer", None), ("n", None)):
        await journal.keep(KEY, name, value)
        states.append((await info_of(journal)).kept)
    peer = {"peer": {"id": "abc"}}
    assert states == [peer, {**peer, "n": 1}, {**peer, "n": 2}, {"n": 2}, None]
    with pytest.raises(JournalError, match="cannot be written as JSON"):
        await journal.keep(KEY, "n", object())
    with pytest.raises(SessionNotFound):
        await journal.keep(OTHER, "n", 1)


async def test_a_deleted_session_is_gone_with_its_records_and_commands(journal: Journal) -> None:
    lease = await begin(journal)
    await journal.append(lease, records_of(lease, text("hi")))
    await journal.post(KEY, "k", Cancel())
    assert await journal.delete(KEY) is True
    assert await journal.get(KEY) is None
    await begin(journal)
    assert await journal.read(KEY) == []
    assert await journal.commands(KEY) == []


async def test_a_lease_of_a_deleted_session_never_fits_one_of_the_same_name(journal: Journal) -> None:
    old = await begin(journal)
    await journal.delete(KEY)
    with pytest.raises(Fenced, match="deleted"):
        await journal.append(old, records_of(old, text("late")))
    new = await begin(journal)
    assert new.fence > old.fence
    with pytest.raises(Fenced, match="taken over"):
        await journal.append(old, records_of(old, text("late")))
    assert await texts(journal) == []


# -- ownership --


async def test_a_lease_is_held_until_it_runs_out(journal: Journal, clock: SimpleNamespace) -> None:
    lease = await begin(journal, owner="A", ttl=10)
    assert lease == Lease(KEY, "A", 1, 0)
    clock.now += 4
    assert await journal.claim(KEY, "B", 10) == Held("A", 1, 6.0)
    clock.now += 6
    assert await journal.claim(KEY, "B", 10) == Lease(KEY, "B", 2, 0)


async def test_the_owner_is_shown_only_while_it_holds_the_lease(
    journal: Journal, clock: SimpleNamespace
) -> None:
    await begin(journal, owner="A", ttl=10)
    assert (await info_of(journal)).owner == "A"
    clock.now += 10
    assert (await info_of(journal)).owner is None
    assert (await journal.list(None))[0].owner is None


async def test_renewing_extends_every_lease_of_the_owner_and_no_other(
    journal: Journal, clock: SimpleNamespace
) -> None:
    await begin(journal, KEY, "A", ttl=10)
    await begin(journal, OTHER, "A", ttl=10)
    await begin(journal, SessionKey("ada", "three"), "B", ttl=10)
    clock.now += 8
    assert await journal.renew("A", 10) == {KEY: 1, OTHER: 1}
    clock.now += 8
    for key in (KEY, OTHER):
        assert isinstance(await journal.claim(key, "C", 10), Held)
    assert isinstance(await journal.claim(SessionKey("ada", "three"), "C", 10), Lease)


async def test_renewing_late_keeps_a_lease_that_nobody_took(journal: Journal, clock: SimpleNamespace) -> None:
    await begin(journal, owner="A", ttl=10)
    clock.now += 100
    assert await journal.renew("A", 10) == {KEY: 1}
    assert isinstance(await journal.claim(KEY, "B", 10), Held)


async def test_renewing_never_takes_a_lost_lease_back(journal: Journal, clock: SimpleNamespace) -> None:
    await begin(journal, owner="A", ttl=10)
    clock.now += 10
    await begin(journal, owner="B", ttl=10)
    assert await journal.renew("A", 1000) == {}
    assert await journal.claim(KEY, "A", 10) == Held("B", 2, 10.0)


async def test_renewing_says_what_is_held_and_by_which_fence(
    journal: Journal, clock: SimpleNamespace
) -> None:
    for key in (KEY, OTHER, SessionKey("ada", "three"), SessionKey("ada", "four")):
        await begin(journal, key, owner="A", ttl=10)
    await begin(journal, KEY, owner="A", ttl=10)
    clock.now += 10
    await begin(journal, OTHER, owner="B", ttl=10)
    await journal.delete(SessionKey("ada", "three"))
    assert await journal.renew("A", 10) == {KEY: 2, SessionKey("ada", "four"): 1}
    assert await journal.renew("B", 10) == {OTHER: 2}


@pytest.mark.parametrize("jump", [60.0, -86_400.0])
async def test_setting_the_wall_clock_neither_ends_nor_prolongs_a_lease(
    journal: Journal, clock: SimpleNamespace, jump: float
) -> None:
    await begin(journal, owner="A", ttl=10)
    clock.set += jump
    assert await journal.claim(KEY, "B", 10) == Held("A", 1, 10.0)
    assert (await info_of(journal)).owner == "A"
    clock.now += 10
    assert isinstance(await journal.claim(KEY, "B", 10), Lease)


async def test_a_released_lease_is_free_at_once(journal: Journal) -> None:
    lease = await begin(journal, owner="A")
    await journal.release(lease)
    assert isinstance(await journal.claim(KEY, "B", 10), Lease)


async def test_releasing_a_lost_lease_does_nothing(journal: Journal, clock: SimpleNamespace) -> None:
    lost = await begin(journal, owner="A", ttl=10)
    clock.now += 10
    await begin(journal, owner="B", ttl=10)
    await journal.release(lost)
    await journal.release(Lease(OTHER, "A", 1, 0))
    assert isinstance(await journal.claim(KEY, "C", 10), Held)


async def test_claiming_again_raises_the_fence_even_for_the_same_owner(journal: Journal) -> None:
    first = await begin(journal, owner="A")
    await journal.append(first, records_of(first, text("a")))
    second = await begin(journal, owner="A")
    assert second == Lease(KEY, "A", 2, 1)
    with pytest.raises(Fenced):
        await journal.append(first, records_of(first, text("b"), after=1))


# -- records --


async def test_records_come_back_as_they_were_said(journal: Journal) -> None:
    lease = await begin(journal)
    events = [TurnStarted(turn_id="t", meta={"a": [1, None]}), text("héllo 世界"), TurnFinished(turn_id="t")]
    records = records_of(lease, *events)
    records.append(Record(seq=4, at=9.5, fence=lease.fence, command=Prompt.of("hi", key="k")))
    await journal.append(lease, records, durable=True)
    assert await journal.read(KEY) == records


async def test_a_value_that_changes_after_the_append_changes_nothing(journal: Journal) -> None:
    lease = await begin(journal)
    value = {"n": 1}
    appending = journal.append(lease, records_of(lease, Custom(name="x", value=value)))
    value["n"] = 2
    await appending
    (record,) = await journal.read(KEY)
    assert record.event == Custom(name="x", value={"n": 1})


async def test_records_are_read_in_pages(journal: Journal) -> None:
    lease = await begin(journal)
    await journal.append(lease, records_of(lease, *(text(str(n)) for n in range(25))))
    seen: list[int] = []
    while page := await journal.read(KEY, after=seen[-1] if seen else 0, limit=10):
        assert len(page) <= 10
        seen += [record.seq for record in page]
    assert seen == list(range(1, 26))
    assert await journal.read(KEY, limit=0) == []


async def test_the_session_knows_its_size(journal: Journal) -> None:
    lease = await begin(journal)
    await journal.append(lease, records_of(lease, text("x" * 1000), text("y")))
    info = await info_of(journal)
    assert (info.first_seq, info.last_seq, info.fence) == (1, 2, 1)
    assert 1000 < info.bytes < 1200


async def test_an_append_that_is_not_the_next_one_is_refused(journal: Journal) -> None:
    lease = await begin(journal)
    await journal.append(lease, records_of(lease, text("a")))
    for after in (0, 2):
        with pytest.raises(JournalError, match="not the next one") as caught:
            await journal.append(lease, records_of(lease, text("again"), after=after))
        assert not isinstance(caught.value, Fenced)
    assert await texts(journal) == ["a"]


async def test_an_owner_that_slept_through_its_lease_is_fenced(
    journal: Journal, clock: SimpleNamespace
) -> None:
    zombie = await begin(journal, owner="A", ttl=10)
    await journal.append(zombie, records_of(zombie, text("a")))
    clock.now += 10
    await journal.append(zombie, records_of(zombie, text("b"), after=1))  # late, but nobody took it
    heir = await begin(journal, owner="B")
    with pytest.raises(Fenced, match="taken over"):
        await journal.append(zombie, records_of(zombie, text("z"), after=2))
    await journal.append(heir, records_of(heir, text("c"), after=2))
    assert [(record.seq, record.fence) for record in await journal.read(KEY)] == [(1, 1), (2, 1), (3, 2)]


async def test_appends_behind_a_failed_one_fail_too_and_leave_no_trace(journal: Journal) -> None:
    lease = await begin(journal)
    good = journal.append(lease, records_of(lease, text("a")))
    bad = journal.append(lease, records_of(lease, text("b"), Custom(name="x", value=object()), after=1))
    behind = journal.append(lease, records_of(lease, text("d"), after=3))
    results = await asyncio.gather(good, bad, behind, return_exceptions=True)
    assert results[0] is None
    assert all(isinstance(result, JournalError) for result in results[1:])
    assert await texts(journal) == ["a"]
    await journal.append(lease, records_of(lease, text("b"), after=1))
    assert await texts(journal) == ["a", "b"]


@pytest.mark.parametrize("value", [object(), "\ud800", {(1, 2): 3}])
async def test_what_is_not_json_is_refused_with_the_record_named(journal: Journal, value: Any) -> None:
    lease = await begin(journal)
    with pytest.raises(JournalError, match=r"record 1 \(Custom\) cannot be written as JSON"):
        await journal.append(lease, records_of(lease, Custom(name="x", value=value)))


async def test_a_malformed_append_is_refused(journal: Journal) -> None:
    lease = await begin(journal)
    hole = [*records_of(lease, text("a")), *records_of(lease, text("c"), after=2)]
    with pytest.raises(JournalError, match="without holes"):
        await journal.append(lease, hole)
    with pytest.raises(JournalError, match="fence 9, its lease has 1"):
        await journal.append(lease, [Record(seq=1, at=0, fence=9, event=text("a"))])
    with pytest.raises(JournalError, match="only one"):
        await journal.append(lease, [Record(seq=1, at=0, fence=1)])
    with pytest.raises(JournalError, match="only one"):
        await journal.append(lease, [Record(seq=1, at=0, fence=1, event=text("a"), command=Cancel())])
    assert await journal.read(KEY) == []


async def test_an_empty_append_checks_the_lease(journal: Journal) -> None:
    lease = await begin(journal)
    await journal.append(lease, [], durable=True)
    await begin(journal)
    with pytest.raises(Fenced):
        await journal.append(lease, [])


# -- snapshots --


async def test_snapshots_of_a_part_follow_each_other_and_replace_what_is_behind(journal: Journal) -> None:
    lease = await begin(journal)
    await journal.append(lease, records_of(lease, *[text("x")] * 9))
    first, second = Snapshot(3, 0, 1, b"\x00first"), Snapshot(6, 3, 1, b"second")
    for snapshot in (first, second):
        await journal.put_snapshot(lease, "pages", snapshot)
    await journal.put_snapshot(lease, "other", Snapshot(9, 0, 2, b""))
    assert await journal.get_snapshots(KEY, "pages") == [first, second]
    other = Snapshot(9, 3, 1, b"another second")
    await journal.put_snapshot(lease, "pages", other)
    assert await journal.get_snapshots(KEY, "pages") == [first, other]
    alone = Snapshot(9, 0, 2, b"alone")
    await journal.put_snapshot(lease, "pages", alone)
    assert await journal.get_snapshots(KEY, "pages") == [alone]
    assert await journal.get_snapshots(KEY, "nothing") == []


async def test_a_snapshot_is_kept_only_by_the_owner_and_only_of_what_is_there(journal: Journal) -> None:
    lease = await begin(journal)
    await journal.append(lease, records_of(lease, text("x")))
    for seq, after in ((2, 0), (1, 1)):
        with pytest.raises(JournalError, match="does not fit"):
            await journal.put_snapshot(lease, "head", Snapshot(seq, after, 1, b""))
    await begin(journal)
    with pytest.raises(Fenced):
        await journal.put_snapshot(lease, "head", Snapshot(1, 0, 1, b""))
    with pytest.raises(SessionNotFound):
        await journal.get_snapshots(OTHER, "head")
    assert await journal.get_snapshots(KEY, "head") == []


async def test_what_removes_records_removes_their_snapshots(journal: Journal) -> None:
    lease = await begin(journal)
    turns = [event for turn in "ab" for event in (TurnStarted(turn_id=turn), text("x" * 500))]
    await journal.append(lease, records_of(lease, *turns))
    await journal.put_snapshot(lease, "head", Snapshot(2, 0, 1, b"of what goes"))
    assert await journal.retain(max_bytes=600) == 2
    assert await journal.get_snapshots(KEY, "head") == []
    await journal.put_snapshot(lease, "head", Snapshot(4, 0, 1, b"of what is left"))
    await journal.delete(KEY)
    await begin(journal)
    assert await journal.get_snapshots(KEY, "head") == []


# -- commands --


async def test_commands_wait_in_order_until_they_are_settled(journal: Journal) -> None:
    lease = await begin(journal)
    prompt, answer = Prompt.of("hi"), Answer(question_id="q", option_id="o")
    first = await journal.post(KEY, "k1", prompt)
    second = await journal.post(KEY, "k2", answer)
    assert first < second
    assert await journal.commands(KEY) == [(first, "k1", prompt), (second, "k2", answer)]
    assert await journal.disposition(KEY, "k1") is None
    done = Disposition(accepted=True, result={"turn_id": "t"})
    await journal.settle(lease, "k1", done)
    assert await journal.commands(KEY) == [(second, "k2", answer)]
    assert await journal.disposition(KEY, "k1") == done
    assert await journal.disposition(KEY, "never posted") is None


async def test_the_same_key_is_the_same_command_even_when_it_is_settled(journal: Journal) -> None:
    lease = await begin(journal)
    number = await journal.post(KEY, "k", Prompt.of("hi"))
    assert await journal.post(KEY, "k", Prompt.of("hi again")) == number
    await journal.settle(lease, "k", Disposition(accepted=True))
    assert await journal.post(KEY, "k", Prompt.of("hi")) == number
    assert await journal.commands(KEY) == []


async def test_the_first_disposition_stays(journal: Journal) -> None:
    lease = await begin(journal)
    await journal.post(KEY, "k", Cancel())
    await journal.settle(lease, "k", Disposition(accepted=True))
    await journal.settle(lease, "k", Disposition(accepted=False, code="busy"))
    assert await journal.disposition(KEY, "k") == Disposition(accepted=True)


async def test_only_the_owner_settles_and_only_what_was_posted(journal: Journal) -> None:
    lost = await begin(journal)
    lease = await begin(journal)
    await journal.post(KEY, "k", Cancel())
    with pytest.raises(Fenced):
        await journal.settle(lost, "k", Disposition(accepted=True))
    with pytest.raises(JournalError, match="'other' was posted"):
        await journal.settle(lease, "other", Disposition(accepted=True))
    assert await journal.disposition(KEY, "k") is None


async def test_an_owner_finds_the_sessions_whose_commands_wait(journal: Journal) -> None:
    lease = await begin(journal, KEY, "A")
    await begin(journal, OTHER, "B")
    for key in (KEY, KEY, OTHER):
        await journal.post(key, f"k{await journal.changes(0, poll=0.05)}", Cancel())
    assert await journal.inbox("A") == [KEY]
    assert await journal.inbox("B") == [OTHER]
    assert await journal.inbox("C") == []
    for posted in await journal.commands(KEY):
        await journal.settle(lease, posted.key, Disposition(accepted=True))
    assert await journal.inbox("A") == []


async def test_commands_that_nobody_settles_are_refused_at_a_limit(journal: Journal) -> None:
    lease = await begin(journal)
    for number in range(WAITING_COMMANDS):
        await journal.post(KEY, str(number), Cancel())
    with pytest.raises(SessionBusy, match="try again later"):
        await journal.post(KEY, "one more", Cancel())
    await journal.post(KEY, "7", Cancel())
    await journal.settle(lease, "7", Disposition(accepted=True))
    await journal.post(KEY, "one more", Cancel())


async def test_a_command_that_is_not_json_is_refused(journal: Journal) -> None:
    lease = await begin(journal)
    with pytest.raises(JournalError, match="command 'k'"):
        await journal.post(KEY, "k", Answer(question_id="q", content=object()))
    await journal.post(KEY, "k", Cancel())
    with pytest.raises(JournalError, match="disposition of 'k'"):
        await journal.settle(lease, "k", Disposition(accepted=True, result={"x": object()}))
    assert len(await journal.commands(KEY)) == 1


# -- watching --


async def test_a_change_wakes_everyone_who_waits_without_a_poll(journal: Journal) -> None:
    lease = await begin(journal)
    version = await journal.changes(0, poll=0.05)
    async with asyncio.timeout(10):
        waiting = [asyncio.create_task(journal.changes(version, poll=3600)) for _ in range(3)]
        await asyncio.sleep(0)
        await journal.append(lease, records_of(lease, text("a")))
        versions = await asyncio.gather(*waiting)
    assert len(set(versions)) == 1
    assert versions[0] > version


async def test_every_kind_of_change_moves_the_version(journal: Journal) -> None:
    lease = await begin(journal)
    await journal.post(KEY, "k", Cancel())
    version = await journal.changes(0, poll=0.05)
    for change in (
        lambda: journal.append(lease, records_of(lease, text("a"))),
        lambda: journal.post(KEY, "k2", Cancel()),
        lambda: journal.settle(lease, "k", Disposition(accepted=True)),
        lambda: journal.describe(KEY, title="x"),
        lambda: journal.renew("A", 99),
        lambda: journal.release(lease),
        lambda: journal.claim(KEY, "B", 10),
        lambda: journal.delete(KEY),
        lambda: journal.create(SessionInfo(principal="ada", session_id="one")),
    ):
        await change()
        async with asyncio.timeout(10):
            newer = await journal.changes(version, poll=3600)
        assert newer > version
        version = newer


async def test_what_changes_nothing_wakes_nobody(journal: Journal) -> None:
    lease = await begin(journal)
    version = await journal.changes(0, poll=0.05)
    await journal.read(KEY)
    await journal.renew("nobody", 10)
    with pytest.raises(Fenced):
        await journal.append(lease._replace(fence=99), [])
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await journal.changes(version, poll=0.01)


# -- blobs --


async def test_blobs_are_kept_by_digest(journal: Journal) -> None:
    digest = await journal.put_blob(b"picture")
    assert digest == "sha256:2cea274d0bedc39ec4ab6ba9e59ec889e3ed6fb56a1cf088a64d9b383378dc97"
    assert await journal.put_blob(b"picture") == digest
    assert await journal.get_blob(digest) == b"picture"
    assert await journal.get_blob(await journal.put_blob(b"")) == b""
    assert await journal.get_blob("sha256:unknown") is None


async def test_blobs_go_when_nothing_mentions_them_for_an_hour(
    journal: Journal, clock: SimpleNamespace
) -> None:
    lease = await begin(journal)
    by_record, by_command, by_nobody, again = [
        await journal.put_blob(data) for data in (b"record", b"command", b"nobody", b"again")
    ]
    await journal.append(lease, records_of(lease, Custom(name="x", value={"blob": by_record})))
    await journal.post(KEY, "k", Prompt.of(f"see {by_command}"))
    await journal.retain()
    assert await journal.get_blob(by_nobody) == b"nobody"
    clock.now += 3601
    await journal.put_blob(b"again")
    await journal.retain()
    assert await journal.get_blob(by_nobody) is None
    assert await journal.get_blob(by_record) == b"record"
    assert await journal.get_blob(by_command) == b"command"
    assert await journal.get_blob(again) == b"again"
    await journal.delete(KEY)
    await journal.retain()
    assert await journal.get_blob(by_record) is None


# -- retention --


def turn(lease: Lease, number: int, after: int) -> list[Record]:
    name = f"t{number}"
    return records_of(
        lease, TurnStarted(turn_id=name), text("x" * 1000), TurnFinished(turn_id=name), after=after
    )


async def test_idle_sessions_are_forgotten_whole(journal: Journal, clock: SimpleNamespace) -> None:
    idle = await begin(journal, KEY)
    await journal.append(idle, records_of(idle, text("a"), text("b")))
    await journal.release(idle)
    clock.now += 50
    fresh = await begin(journal, OTHER)
    await journal.append(fresh, records_of(fresh, text("c")))
    await journal.release(fresh)
    clock.now += 50
    assert await journal.retain(max_age=100) == 0
    assert await journal.retain(max_age=60) == 2
    assert await journal.get(KEY) is None
    assert await texts(journal, OTHER) == ["c"]


async def test_a_session_that_somebody_holds_is_not_idle(journal: Journal, clock: SimpleNamespace) -> None:
    await begin(journal, owner="A", ttl=1000)
    clock.now += 500
    await journal.retain(max_age=60)
    assert await journal.get(KEY) is not None
    clock.now += 500
    await journal.retain(max_age=60)
    assert await journal.get(KEY) is None


async def test_a_large_session_loses_its_oldest_turns(journal: Journal) -> None:
    lease = await begin(journal)
    await journal.append(lease, records_of(lease, text("before any turn")))
    for number in range(4):
        await journal.append(lease, turn(lease, number, 1 + 3 * number))
    before = await info_of(journal)
    assert await journal.retain(max_bytes=before.bytes) == 0
    assert await journal.retain(max_bytes=2500) == 7
    left = await journal.read(KEY)
    after = await info_of(journal)
    assert (after.first_seq, after.last_seq) == (8, 13)
    assert [record.seq for record in left] == list(range(8, 14))
    assert left[0].event == TurnStarted(turn_id="t2")
    assert 2000 < after.bytes <= 2500
    assert [record.seq for record in await journal.read(KEY, after=9, limit=2)] == [10, 11]
    await journal.append(lease, turn(lease, 4, 13))


async def test_the_newest_turn_is_never_touched(journal: Journal) -> None:
    lease = await begin(journal)
    for number in range(3):
        await journal.append(lease, turn(lease, number, 3 * number))
    assert await journal.retain(max_bytes=1) == 6
    assert await journal.retain(max_bytes=1) == 0
    (first, *_) = await journal.read(KEY)
    assert first.event == TurnStarted(turn_id="t2")


async def test_a_session_without_turns_is_not_trimmed(journal: Journal) -> None:
    lease = await begin(journal)
    await journal.append(lease, records_of(lease, text("x" * 1000)))
    assert await journal.retain(max_bytes=1) == 0


# -- the end --


async def test_a_closed_journal_says_so(journal: Journal) -> None:
    lease = await begin(journal)
    version = await journal.changes(0, poll=0.05)
    waiting = asyncio.create_task(journal.changes(version, poll=3600))
    await asyncio.sleep(0)
    await journal.close()
    await journal.close()
    with pytest.raises(JournalError, match="not open"):
        await waiting
    for attempt in (
        journal.append(lease, []),
        journal.get(KEY),
        journal.list(None),
        journal.renew("A", 1),
        journal.changes(0, poll=0.05),
        journal.put_blob(b""),
        journal.get_blob("sha256:"),
        journal.retain(),
    ):
        with pytest.raises(JournalError, match="not open"):
            await attempt


async def test_opening_twice_is_opening_once(journal: Journal) -> None:
    await begin(journal)
    await journal.open()
    assert await journal.get(KEY) is not None
