"""Records as rows and back."""

from typing import Any

import pytest

from trunkline.commands import Prompt
from trunkline.errors import JournalError
from trunkline.events import Text, TurnStarted
from trunkline.journal import Lease, Record, SessionKey
from trunkline.journal.codec import COMMAND, EVENT, TURN, encode, pack, unpack

LEASE = Lease(key=SessionKey("ada", "one"), owner="A", fence=2, last_seq=0)


def record(seq: int, **fields: Any) -> Record:
    return Record(seq=seq, at=float(seq), fence=fields.pop("fence", 2), **fields)


def test_rows_have_a_kind_and_come_back_as_the_same_records() -> None:
    records = [
        record(1, command=Prompt.of("hi")),
        record(2, event=TurnStarted(turn_id="t", prompt_id="p")),
        record(3, event=Text(message_id="m", delta="é😀")),
    ]
    batch = pack(LEASE, records)
    assert [row.kind for row in batch.rows] == [COMMAND, TURN, EVENT]
    assert batch.size == sum(len(row.payload) for row in batch.rows)
    assert [unpack(*row) for row in batch.rows] == records


def test_a_value_inside_itself_is_no_json() -> None:
    endless: dict[str, Any] = {}
    endless["self"] = endless
    with pytest.raises(JournalError, match="it"):
        encode(endless, "it")
