"""Frames by hand: their length, and where the numbers of the schema put a value.

What the official decoder makes of every event is in tests/peers.
"""

import struct
from typing import Any, get_args

import msgspec
import pytest

from trunkline.protocols.agui import wire
from trunkline.protocols.agui.protobuf import MEDIA_TYPE, frame_event

KINDS: tuple[type[Any], ...] = get_args(wire.AguiEvent)


def sample_of(kind: type[Any]) -> Any:
    """Give an event with only what it needs."""
    lists = ("delta",) if kind.__name__ == "StateDelta" else ("messages", "patch")
    required = [field.name for field in msgspec.structs.fields(kind) if field.required]
    return kind(**{name: [] if name in lists else "x" for name in required})


def _varint(message: bytes) -> tuple[int, bytes]:
    number, last = 0, next(at for at, byte in enumerate(message) if byte < 0x80)
    for at in range(last + 1):
        number |= (message[at] & 0x7F) << 7 * at
    return number, message[last + 1 :]


def fields_in(message: bytes) -> list[tuple[int, bytes]]:
    """Read the numbers and the bytes of a small message, as protobuf has them."""
    found: list[tuple[int, bytes]] = []
    while message:
        tag, message = _varint(message)
        size, rest = _varint(message)
        if tag & 7 == 0:
            found.append((tag >> 3, message[: len(message) - len(rest)]))
            message = rest
        else:
            found.append((tag >> 3, rest[:size]))
            message = rest[size:]
    return found


def test_the_media_type_is_the_one_that_the_client_compares() -> None:
    assert MEDIA_TYPE == "application/vnd.ag-ui.event+proto"


def test_a_frame_is_four_bytes_of_length_and_a_message() -> None:
    event = wire.TextMessageContent(message_id="m1", delta="hé", timestamp=300)
    base = b"\x0a\x05\x08\x01\x10\xac\x02"
    body = b"\x12\x10" + base + b"\x12\x02m1" + b"\x1a\x03h\xc3\xa9"
    assert frame_event(event) == b"\x00\x00\x00\x12" + body


def test_every_event_has_a_place_in_the_envelope_and_a_type_of_its_own() -> None:
    places: set[int] = set()
    types: set[bytes] = set()
    for kind in KINDS:
        frame = frame_event(sample_of(kind))
        assert struct.unpack(">I", frame[:4]) == (len(frame) - 4,)
        ((place, body),) = fields_in(frame[4:])
        number, base = fields_in(body)[0]
        assert number == 1
        places.add(place)
        types.add(base)
    assert places == set(range(1, 32))
    assert types == {b"\x08%c" % number for number in range(31)}


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, b"\x08\x00"),
        (True, b"\x20\x01"),
        (False, b"\x20\x00"),
        (1, b"\x11" + struct.pack("<d", 1.0)),
        (float("nan"), b"\x08\x00"),
        ("a", b"\x1a\x01a"),
        ([None], b"\x32\x04\x0a\x02\x08\x00"),
        ({"k": True}, b"\x2a\x09\x0a\x07\x0a\x01k\x12\x02\x20\x01"),
    ],
)
def test_a_value_of_any_kind_is_written_as_what_it_is(value: Any, written: bytes) -> None:
    ((_, body),) = fields_in(frame_event(wire.StateSnapshot(snapshot=value))[4:])
    assert fields_in(body)[1] == (2, written)


def test_a_field_that_is_absent_is_not_written_and_an_empty_one_is() -> None:
    ((_, body),) = fields_in(frame_event(wire.TextMessageStart(message_id="", name=""))[4:])
    assert fields_in(body)[1:] == [(2, b""), (4, b"")]
    message = {"id": "m", "role": "assistant", "content": None}
    ((_, body),) = fields_in(frame_event(wire.MessagesSnapshot(messages=[message]))[4:])
    assert fields_in(fields_in(body)[1][1]) == [(1, b"m"), (2, b"assistant")]


def test_what_no_wire_can_carry_is_refused_as_it_is_in_json() -> None:
    event = wire.TextMessageContent(message_id="m", delta="\ud800")
    for write in (wire.encode, frame_event):
        with pytest.raises(UnicodeEncodeError):
            write(event)
