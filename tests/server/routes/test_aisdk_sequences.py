"""The numbers of chunks that went to WebSockets: where a client goes on, and when that is not known."""

import pytest

from trunkline.cursor import Cursor
from trunkline.protocols.aisdk.wire import Chunk
from trunkline.server.routes.aisdk_sequences import SequenceLogs

KEY = ("local", "c1")


def delta(text: str) -> Chunk:
    return {"type": "text-delta", "id": "m:0", "delta": text}


def filled(logs: SequenceLogs, turn_id: str | None = "t1") -> None:
    """Note chunks 0, 1 to 3, and 4 to 5."""
    log = logs.begin(KEY, turn_id)
    log.add("t1", (None, [{"type": "start"}]))
    log.add("t1", (Cursor(1, 1, 0), [delta("a"), delta("b"), delta("c")]))
    log.add("t1", (Cursor(1, 2, 0), [delta("d"), delta("e")]))


@pytest.mark.parametrize(
    ("last", "rest", "record"),
    [(0, ["a", "b", "c"], 1), (1, ["b", "c"], 1), (3, [], 1), (4, ["e"], 2), (5, [], 2)],
)
def test_a_client_gets_the_rest_of_its_batch_and_goes_on_behind_it(
    last: int, rest: list[str], record: int
) -> None:
    logs = SequenceLogs()
    filled(logs)
    place = logs.find(KEY, last)
    assert place is not None
    assert [one["delta"] for one in place.rest] == rest
    assert place.start is not None
    assert (place.start.turn_id, place.start.after) == ("t1", Cursor(1, record, 0))


@pytest.mark.parametrize("last", [-1, 6])
def test_a_number_without_a_place_is_not_known(last: int) -> None:
    logs = SequenceLogs()
    assert logs.find(KEY, last) is None
    filled(logs)
    assert logs.find(KEY, last) is None


def test_what_followed_the_place_of_a_client_is_forgotten() -> None:
    logs = SequenceLogs()
    filled(logs)
    place = logs.find(KEY, 2)
    assert place is not None
    place.log.add("t1", (Cursor(1, 9, 0), [delta("defghi")]))
    assert logs.find(KEY, 5) is None
    again = logs.find(KEY, 4)
    assert again is not None
    assert again.start is not None
    assert again.start.after == Cursor(1, 9, 0)


def test_an_end_is_given_again_and_nothing_follows_it() -> None:
    logs = SequenceLogs()
    logs.begin(KEY, "t1").add("t1", (Cursor(1, 1, 0), [delta("a"), {"type": "finish"}]))
    place = logs.find(KEY, 0)
    assert place is not None
    assert (place.rest, place.start) == ([{"type": "finish"}], None)


def test_a_second_response_of_a_turn_makes_its_numbers_unknown_unless_the_first_has_ended() -> None:
    logs = SequenceLogs()
    filled(logs)
    filled(logs)
    assert logs.find(KEY, 2) is None
    filled(logs, "t2")
    assert logs.find(KEY, 2) is not None
    logs.begin(KEY, "t1").add("t1", (Cursor(1, 1, 0), [{"type": "finish"}]))
    filled(logs)
    assert logs.find(KEY, 2) is not None


def test_the_chats_that_are_remembered_are_limited() -> None:
    logs = SequenceLogs()
    filled(logs)
    for number in range(256):
        logs.begin(("local", f"other{number}"), "t")
    assert logs.find(KEY, 2) is None
