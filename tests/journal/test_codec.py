"""Records as rows and back."""

from __future__ import annotations

from typing import Any

import pytest

from trunkline.commands import Cancel, Prompt
from trunkline.errors import Corrupt, JournalError
from trunkline.events import Custom, Raw, Text, TurnStarted
from trunkline.journal import Lease, Record, SessionKey
from trunkline.journal.codec import COMMAND, EVENT, TURN, copy, decode_command, encode, pack, unpack

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


@pytest.mark.parametrize(
    ("records", "why"),
    [
        ([record(1, event=Raw(source="a")), record(3, event=Raw(source="a"))], "without holes"),
        ([record(1, event=Raw(source="a"), fence=1)], "its lease has 2"),
        ([record(1)], "an event or a command"),
        ([record(1, event=Raw(source="a"), command=Cancel())], "only one"),
        ([record(1, event=Custom(name="n", value=object()))], "cannot be written as JSON"),
    ],
)
def test_an_append_that_is_wrong_names_the_record(records: list[Record], why: str) -> None:
    with pytest.raises(JournalError, match=why):
        pack(LEASE, records)


def test_a_value_inside_itself_is_no_json() -> None:
    endless: dict[str, Any] = {}
    endless["self"] = endless
    with pytest.raises(JournalError, match="it"):
        encode(endless, "it")


def test_a_copy_shares_nothing_with_the_value() -> None:
    value = Custom(name="n", value={"a": [1]})
    copied = copy(value, "it")
    value.value["a"].append(2)
    assert copied == Custom(name="n", value={"a": [1]})


def test_a_command_of_a_newer_version_is_kept_as_raw() -> None:
    payload = b'{"type":"dance","steps":3}'
    assert decode_command(payload) is None
    assert unpack(1, 0.0, 2, COMMAND, payload).event == Raw(
        source="trunkline", payload={"type": "dance", "steps": 3}
    )


@pytest.mark.parametrize("kind", [EVENT, COMMAND])
def test_a_damaged_row_names_the_next_step(kind: int) -> None:
    with pytest.raises(Corrupt, match="record 7 is damaged"):
        unpack(7, 0.0, 2, kind, b"{")
