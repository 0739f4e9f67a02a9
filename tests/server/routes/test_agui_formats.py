"""The formats of AG-UI streams, and which of them a client gets."""

import pytest
from starlette.requests import Request

from trunkline.cursor import Cursor
from trunkline.protocols.agui import wire
from trunkline.protocols.agui.protobuf import MEDIA_TYPE, frame_event
from trunkline.server.event_stream import Framing
from trunkline.server.routes.agui_formats import NDJSON, PROTOBUF, SSE, framing_for

EVENT = wire.StepStarted(step_name="one")


def test_the_last_server_sent_event_carries_the_cursor() -> None:
    frame = b'data: {"type":"STEP_STARTED","stepName":"one"}\n\n'
    assert SSE.write(Cursor(1, 2, 3), [EVENT, EVENT]) == frame + b"id: 1-2.3\n" + frame


def test_lines_of_json_carry_no_cursor() -> None:
    line = b'{"type":"STEP_STARTED","stepName":"one"}\n'
    assert NDJSON.write(Cursor(1, 2), [EVENT, EVENT]) == line * 2


def test_messages_of_protobuf_carry_no_cursor() -> None:
    assert PROTOBUF.write(Cursor(1, 2), [EVENT, EVENT]) == frame_event(EVENT) * 2


def asking(*accept: str) -> Request:
    headers = [(b"accept", one.encode()) for one in accept]
    return Request({"type": "http", "method": "POST", "path": "/", "headers": headers})


LINES = NDJSON.media_type


@pytest.mark.parametrize(
    ("accept", "framing"),
    [
        ((), SSE),
        (("",), SSE),
        (("*/*",), SSE),
        (("application/json",), SSE),
        (("text/event-stream",), SSE),
        ((LINES,), NDJSON),
        ((f"text/event-stream, {LINES}",), NDJSON),
        ((MEDIA_TYPE,), PROTOBUF),
        ((f"text/event-stream, {MEDIA_TYPE}, */*;q=0.1",), PROTOBUF),
        (("text/event-stream", MEDIA_TYPE), PROTOBUF),
        ((f"{MEDIA_TYPE.upper()} ; v=1 ; Q=0.5 , text/event-stream;q=0.25",), PROTOBUF),
        ((f"{MEDIA_TYPE};q=0.5, text/event-stream",), SSE),
        ((f"{MEDIA_TYPE};q=0.5, {LINES};q=0.7",), NDJSON),
        ((f"{MEDIA_TYPE};q=0",), SSE),
        ((f"{MEDIA_TYPE};q=0.000, {LINES};q=0",), SSE),
        ((f"{MEDIA_TYPE};q=nonsense",), PROTOBUF),
    ],
)
def test_a_client_reads_what_it_likes_best_of_what_it_names(
    accept: tuple[str, ...], framing: Framing
) -> None:
    assert framing_for(asking(*accept)) is framing


@pytest.mark.parametrize(("accept", "framing"), [(MEDIA_TYPE, SSE), (f"{MEDIA_TYPE}, {LINES};q=0.1", NDJSON)])
def test_an_older_client_is_never_given_protobuf(accept: str, framing: Framing) -> None:
    assert framing_for(asking(accept), modern=False) is framing
