"""The rules that every engine keeps, fed with values."""

from __future__ import annotations

import pytest

from trunkline.errors import Corrupt, Fenced, JournalError, SessionBusy
from trunkline.journal import Lease, SessionKey, Snapshot, rules
from trunkline.journal.codec import COMMAND, EVENT, TURN, Batch, Row
from trunkline.journal.interface import WAITING_COMMANDS

KEY = SessionKey("ada", "one")
LEASE = Lease(key=KEY, owner="A", fence=2, last_seq=5)


def test_only_the_lease_with_the_sessions_fence_may_write() -> None:
    rules.check_fence(LEASE, 2)
    with pytest.raises(Fenced, match="taken over"):
        rules.check_fence(LEASE, 3)
    with pytest.raises(Fenced, match="deleted"):
        rules.check_fence(LEASE, None)


@pytest.mark.parametrize("seq", [5, 7])
def test_an_append_begins_behind_the_last_record(seq: int) -> None:
    rules.check_next(LEASE, Batch([], 0), 5)
    rules.check_next(LEASE, Batch([Row(6, 0.0, 2, EVENT, b"{}")], 2), 5)
    with pytest.raises(JournalError, match=f"record {seq} is not the next one"):
        rules.check_next(LEASE, Batch([Row(seq, 0.0, 2, EVENT, b"{}")], 2), 5)


@pytest.mark.parametrize(("after", "seq"), [(0, 6), (3, 3), (4, 3)])
def test_a_snapshot_is_of_records_that_are_there(after: int, seq: int) -> None:
    rules.check_snapshot(LEASE, Snapshot(5, 0, 1, b""), 5)
    with pytest.raises(JournalError, match="does not fit"):
        rules.check_snapshot(LEASE, Snapshot(seq, after, 1, b""), 5)


def test_too_many_waiting_commands_are_refused() -> None:
    rules.check_waiting(KEY, WAITING_COMMANDS - 1)
    with pytest.raises(SessionBusy, match="try again later"):
        rules.check_waiting(KEY, WAITING_COMMANDS)


@pytest.mark.parametrize(
    ("kinds", "excess", "expected"),
    [
        ([], 1, None),
        ([EVENT, EVENT], 1, None),
        ([TURN, EVENT, COMMAND], 100, None),
        ([TURN, EVENT, TURN, EVENT, TURN], 1, (3, 20)),
        ([TURN, EVENT, TURN, EVENT, TURN], 21, (5, 40)),
        ([TURN, EVENT, TURN, EVENT, TURN], 1000, (5, 40)),
    ],
)
def test_whole_turns_are_trimmed_but_never_the_newest(
    kinds: list[int], excess: int, expected: tuple[int, int] | None
) -> None:
    assert rules.cut([(seq, kind, 10) for seq, kind in enumerate(kinds, 1)], excess) == expected


def test_what_an_agent_keeps_is_changed_by_name_and_none_removes_it() -> None:
    kept = rules.with_kept(None, "a", 1)
    assert rules.with_kept(kept, "b", 2) == {"a": 1, "b": 2}
    assert rules.with_kept(kept, "a", 3) == {"a": 3}
    assert rules.with_kept(kept, "a", None) is None
    assert kept == {"a": 1}


def test_blobs_are_named_by_their_digest_and_found_in_payloads() -> None:
    digest = rules.digest_of(b"data")
    assert rules.digests_in(f'{{"a": "{digest}", "b": "sha256:no"}}'.encode()) == {digest}
    assert rules.verify(digest, b"data") == b"data"
    with pytest.raises(Corrupt, match="damaged"):
        rules.verify(digest, b"date")


def test_a_slash_at_the_end_of_a_folder_does_not_count() -> None:
    assert rules.same_folder("/a/b/", "/a/b")
    assert not rules.same_folder("/a", "/a/b")
    assert not rules.same_folder("/a", None)
